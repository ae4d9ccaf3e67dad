// Kernels on the cycle-level GPU: they begin when their time has come, several side by side, and end when its
// clock says so.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/untimed_blocks.h"

namespace simtlab::gpu {

class CycleKernels final : public KernelEngine {
 public:
  CycleKernels(timing::CycleGpu& gpu, const device::Device& device, const Options& options,
               const Schedule& schedule, const UntimedBlocks& blocks, KernelSink& sink)
      : gpu_(gpu), device_(device), options_(options), schedule_(schedule), blocks_(blocks), sink_(sink) {}
  // Nothing of the GPU may outlive the launches that it runs.
  ~CycleKernels() override {
    if (!under_way_.empty()) gpu_.partial();
  }

  bool idle() const override { return under_way_.empty(); }
  bool full() const override { return gpu_.full(); }
  bool begin(Work& work, double at_ns) override;
  Work* advance(double until_ns) override;
  void give_up() override;

 private:
  double time_of(std::uint64_t cycle) const;
  std::uint64_t cycle_of(double ns) const;
  std::optional<timing::CycleGpu::Id> advance_clock(double until_ns);
  void run_left_out(const KernelJob& job, result::KernelResult& result);

  timing::CycleGpu& gpu_;
  const device::Device& device_;
  const Options& options_;
  const Schedule& schedule_;
  const UntimedBlocks& blocks_;
  KernelSink& sink_;
  std::vector<Work*> under_way_;
  double period_ns_ = 0;  // when the GPU's clock was 0
};

}  // namespace simtlab::gpu

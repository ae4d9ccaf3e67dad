// Kernels without a clock, on the schedule: each takes effect when it begins, unless it waits for what others
// write. Then the host goes on, as it does on a device, and the kernel is asked again whenever something has
// happened; when the host waits for it in vain, it is locked.
#pragma once

#include <vector>

#include "gpu/untimed_blocks.h"

namespace simtlab::gpu {

class UntimedKernels final : public KernelEngine {
 public:
  UntimedKernels(const device::Device& device, const Options& options, const UntimedBlocks& blocks,
                 KernelSink& sink)
      : device_(device), options_(options), blocks_(blocks), sink_(sink) {}

  bool idle() const override { return under_way_.empty(); }
  bool full() const override { return false; }
  bool begin(Work& work, double at_ns) override;
  Work* advance(double until_ns) override;
  void give_up() override { under_way_.clear(); }

 private:
  Work* first_ended();
  void end(KernelJob& job, double at_ns);

  const device::Device& device_;
  const Options& options_;
  const UntimedBlocks& blocks_;
  KernelSink& sink_;
  std::vector<Work*> under_way_;  // they wait for what others write
};

}  // namespace simtlab::gpu

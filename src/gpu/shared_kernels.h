// Kernels on a GPU that other processes use too: they take effect when they begin, and are timed there.
#pragma once

#include <vector>

#include "gpu/shared_device.h"
#include "gpu/untimed_blocks.h"

namespace simtlab::gpu {

class SharedKernels final : public KernelEngine {
 public:
  SharedKernels(SharedDevice& gpu, const device::Device& device, const Options& options,
                const UntimedBlocks& blocks, KernelSink& sink)
      : gpu_(gpu), device_(device), options_(options), blocks_(blocks), sink_(sink) {}

  bool idle() const override { return under_way_.empty(); }
  bool full() const override { return false; }
  bool begin(Work& work, double at_ns) override;
  Work* advance(double until_ns) override;
  void give_up() override;

 private:
  SharedDevice& gpu_;
  const device::Device& device_;
  const Options& options_;
  const UntimedBlocks& blocks_;
  KernelSink& sink_;
  std::vector<Work*> under_way_;
};

}  // namespace simtlab::gpu

// Kernels of the analytical models: each is counted, studied and answered when it begins, and has ended then.
#pragma once

#include <cstdint>
#include <memory>

#include "cache/study.h"
#include "gpu/device_memory.h"
#include "gpu/untimed_blocks.h"
#include "models/counts/counted.h"

namespace simtlab::gpu {

class PredictionKernels final : public KernelEngine {
 public:
  PredictionKernels(const device::Device& device, const Options& options, const DeviceMemory& memory,
                    const UntimedBlocks& blocks, KernelSink& sink)
      : device_(device), options_(options), memory_(memory), blocks_(blocks), sink_(sink) {}

  bool idle() const override { return true; }
  bool full() const override { return false; }
  bool begin(Work& work, double at_ns) override;
  Work* advance(double) override { return nullptr; }
  void give_up() override {}

 private:
  struct SampledLaunch : cache::Study::Launch {
    std::uint64_t first_block_instructions = 0;  // of a first block that was executed alone
  };
  result::KernelResult predict(const KernelJob& job);
  cache::Study& choose_study(const models::counts::CountedLaunch& source, const device::Occupancy& fit,
                             SampledLaunch& launch);
  std::uint64_t run_rest(const KernelJob& job, std::uint64_t rest, double instructions_a_block);

  const device::Device& device_;
  const Options& options_;
  const DeviceMemory& memory_;
  const UntimedBlocks& blocks_;
  KernelSink& sink_;
  std::unique_ptr<cache::Study> study_;  // of the launch before
  std::uint32_t studied_sms_ = 0;
};

}  // namespace simtlab::gpu

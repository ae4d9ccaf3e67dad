// Kernels of the cache study: each is studied when it begins, and has ended then.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cache/study.h"
#include "gpu/device_memory.h"
#include "gpu/schedule_file.h"
#include "gpu/untimed_blocks.h"

namespace simtlab::gpu {

class CacheKernels final : public KernelEngine {
 public:
  CacheKernels(const device::Device& device, const Options& options, const DeviceMemory& memory,
               const UntimedBlocks& blocks, KernelSink& sink)
      : device_(device),
        options_(options),
        memory_(memory),
        blocks_(blocks),
        sink_(sink),
        study_(device, options.cache) {
    if (!options.schedule.empty()) schedule_.emplace(options.schedule);
  }

  bool idle() const override { return true; }
  bool full() const override { return false; }
  bool begin(Work& work, double at_ns) override;
  Work* advance(double) override { return nullptr; }
  void give_up() override {}
  // What the study counted over all launches so far.
  void add_totals(result::Metrics& total) const;
  // Completes the file of Options::schedule. Throws Error(failure, "file-write").
  void finish_schedule();

 private:
  result::KernelResult study(const KernelJob& job);
  const std::vector<std::string>& parameters_of(const stream::WarpSource& source);

  const device::Device& device_;
  const Options& options_;
  const DeviceMemory& memory_;
  const UntimedBlocks& blocks_;
  KernelSink& sink_;
  cache::Study study_;
  std::map<std::string, std::vector<std::string>> parameters_;  // names in the source, by module and kernel
  std::optional<ScheduleFile> schedule_;
  double seconds_ = 0;  // of the processor, for the study alone
};

}  // namespace simtlab::gpu

// A launch on its way through the GPU, and what engines of kernels tell of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "exec/executor.h"
#include "gpu/gpu.h"
#include "gpu/schedule.h"
#include "gpu/untimed.h"
#include "stream/trace/record.h"
#include "timing/timing.h"

namespace simtlab::gpu {

struct KernelJob {
  std::shared_ptr<const std::vector<exec::Texture>> textures;
  std::unique_ptr<exec::Launch> launch;  // null: recorded
  std::unique_ptr<stream::WarpSource> source;
  std::optional<stream::trace::RecordingLaunch> recording;
  stream::trace::Writer::Place place = 0;
  std::string demangled;
  std::uint64_t number = 0;  // of the launch, from 1
  bool chosen = true;        // it is simulated cycle by cycle
  StreamId stream = 0;
  Checkpoint::Launch description;  // for a checkpoint
  std::optional<Checkpoint::Replayed>
      known;             // what it did, from the file that is resumed, while it is under way
  bool batched = false;  // launching it costs the host nothing
  timing::CycleGpu::Setup setup;
  timing::CycleGpu::Id id = 0;          // while it is under way
  std::unique_ptr<UntimedRun> untimed;  // while it is under way without a clock
  const stream::WarpSource& read() const {
    return recording ? static_cast<const stream::WarpSource&>(*recording) : *source;
  }
};

inline KernelJob& job_of(Work& work) { return *static_cast<KernelJob*>(work.kernel.get()); }

// Of a thread, as the GPU allocates them.
inline std::uint32_t registers_of(const Options& options, const ptx::Function& f) {
  return std::max(1u, options.registers_override != 0 ? options.registers_override : f.registers);
}

// Where an engine of kernels leaves what they counted.
class KernelSink {
 public:
  virtual ~KernelSink() = default;
  // The kernel has ended: its recording and its place in a checkpoint are complete, and its result is kept.
  virtual void ended(KernelJob& job, result::KernelResult&& result, double begin_ns) = 0;
  // Its result alone: of one that was stopped, or whose effects others have followed.
  virtual void keep(const KernelJob& job, result::KernelResult&& result, double begin_ns) = 0;
};

// What stands in for a deadlock where a kernel waits for what nobody can do before it has ended, though
// somebody might afterwards.
Error waits_for_others(Mode mode);

// launches.cpp: throws Error(bad_input, "launch-shape") for a shape that no launch can have, or that the
// kernel's directives exclude.
void check_launch(const device::Device& device, const ptx::Module& module, const ptx::Function& function,
                  const exec::Dim3& grid, const exec::Dim3& block);

}  // namespace simtlab::gpu

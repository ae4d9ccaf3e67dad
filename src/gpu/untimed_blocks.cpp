#include "gpu/untimed_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/pulse.h"
#include "check/checker.h"

namespace simtlab::gpu {

std::uint64_t UntimedBlocks::resident_blocks(const stream::WarpSource& source) const {
  const device::Occupancy fit = timing::fit(device_, source, registers_of(options_, source.function()));
  return std::uint64_t{fit.blocks_per_sm} * device_.sm.count;
}

std::unique_ptr<UntimedRun> UntimedBlocks::make(const KernelJob& job, std::uint64_t first,
                                                std::uint64_t count, Pulse* pulse) const {
  const stream::WarpSource& source = job.read();
  exec::FunctionalOptions functional;
  functional.max_warp_instructions = options_.max_warp_instructions;
  functional.interrupt = options_.interrupt;
  functional.first_block = first;
  functional.block_count = count;
  functional.resident_blocks = resident_blocks(source);
  if (pulse != nullptr) {
    pulse->begin_kernel(source.function().name, count);
    functional.tell_every = std::max<std::uint64_t>(64, count / 1024);
    functional.tell = [pulse, count](const exec::FunctionalResult& so_far) {
      pulse->at(so_far.blocks, count, 0, so_far.warp_instructions);
    };
  }
  if (checker_ != nullptr && job.launch && !source.function().machine)
    return make_checked_run(*job.launch, functional, *checker_, job.number, job.demangled);
  if (checker_ != nullptr)
    checker_->gap(
        fmt::format("kernel {}: it is machine code, of which only PTX could be checked", job.demangled));
  return job.launch && !job.recording ? make_fast_run(*job.launch, functional)
                                      : make_stepped_run(source, functional);
}

std::uint64_t UntimedBlocks::run(UntimedRun& blocks) const {
  if (!blocks.go_on()) {
    if (nobody_else_writes_()) blocks.report();
    throw waits_for_others(options_.mode);
  }
  return blocks.result().warp_instructions;
}

std::function<void()> UntimedBlocks::waiting() const {
  if (nobody_else_writes_()) return {};
  return [mode = options_.mode] { throw waits_for_others(mode); };
}

Error waits_for_others(Mode mode) {
  if (mode == Mode::timing)
    return {ExitCode::unsupported, "kernel-waits",
            "a kernel waits for what something else on the device is to write, and here that cannot begin "
            "before the kernel has ended",
            "kernels that wait for each other must be simulated side by side: choose both (--kernels), "
            "without --sample, checkpoints and a shared GPU"};
  return {ExitCode::unsupported, "kernel-waits",
          fmt::format("a kernel waits for what something else may still write; in {} mode nothing else runs "
                      "before a kernel has ended",
                      name_of(mode)),
          "--mode timing and --mode functional go on with other streams and the host meanwhile"};
}

}  // namespace simtlab::gpu

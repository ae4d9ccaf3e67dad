// Kernels without a clock, on the schedule: each takes effect when it begins, unless it waits for what others
// write. Then the host goes on, as it does on a device, and the kernel is asked again whenever something has
// happened; when the host waits for it in vain, it is locked.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/own_threads.h"
#include "base/pulse.h"
#include "gpu/impl.h"

namespace simtlab::gpu {

std::uint64_t Gpu::Impl::resident_blocks(const stream::WarpSource& source) const {
  return std::uint64_t{timing::fit(device, source, registers_of(source.function())).blocks_per_sm} *
         device.sm.count;
}

std::unique_ptr<UntimedRun> Gpu::Impl::untimed_run(const KernelJob& job, std::uint64_t first,
                                                   std::uint64_t count, Pulse* pulse) const {
  const stream::WarpSource& source = job.read();
  exec::FunctionalOptions functional;
  functional.max_warp_instructions = options.max_warp_instructions;
  functional.interrupt = options.interrupt;
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
  return job.launch && !job.recording ? make_fast_run(*job.launch, functional)
                                      : make_stepped_run(source, functional);
}

// Only what has been submitted can still happen where the host waits; where it does not, it may do anything
// afterwards.
bool Gpu::Impl::nobody_else_writes() const {
  return schedule.pending() == 1 &&
         (timing != nullptr || (schedule.only_default_stream() && !memory.host_writes()));
}

std::uint64_t Gpu::Impl::run_to_end(UntimedRun& run) const {
  if (!run.go_on()) {
    if (nobody_else_writes()) run.report();
    throw waits_for_others(options.mode);
  }
  return run.result().warp_instructions;
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

bool Gpu::Impl::begin_untimed(Work& work, double at_ns) {
  KernelJob& job = job_of(work);
  job.untimed = untimed_run(job, 0, job.source->block_count(), options.pulse);
  if (const WithoutOtherThreads aside; !job.untimed->go_on()) {
    work.begin_ns = at_ns;
    under_way.push_back(&work);
    return false;
  }
  end_untimed(job, at_ns);
  return true;
}

Work* Gpu::Impl::advance_untimed(double until_ns) {
  {
    const WithoutOtherThreads aside;
    if (Work* const work = ended_untimed()) return work;
  }
  if (until_ns < forever) return nullptr;
  Work* const work = ended_untimed();  // another thread of the program may have to write
  if (work == nullptr) job_of(*under_way.front()).untimed->report();
  return work;
}

// The first one that comes to its end now; null: none can.
Work* Gpu::Impl::ended_untimed() {
  for (auto at = under_way.begin(); at != under_way.end(); ++at) {
    Work& work = **at;
    KernelJob& job = job_of(work);
    if (!job.untimed->go_on()) continue;
    under_way.erase(at);
    work.end_ns = work.begin_ns;
    end_untimed(job, work.begin_ns);
    return &work;
  }
  return nullptr;
}

void Gpu::Impl::end_untimed(KernelJob& job, double at_ns) {
  const exec::FunctionalResult ran = job.untimed->result();
  job.untimed.reset();
  const stream::WarpSource& source = job.read();
  if (options.pulse != nullptr) options.pulse->at(ran.blocks, source.block_count(), 0, ran.warp_instructions);
  const device::Occupancy fit = timing::fit(device, source, registers_of(source.function()));
  result::KernelResult out;
  out.metrics.set("gpu.instructions.warp", ran.warp_instructions);
  out.metrics.set("gpu.instructions.thread", ran.thread_instructions);
  out.metrics.set("occupancy.theoretical", fit.ratio);
  out.limiter = device::name_of(fit.limit);
  if (job.recording) job.recording->finish();
  if (checkpoint) checkpoint->after(job.description, &out, printed, machine());
  keep(job, std::move(out), at_ns);
}

}  // namespace simtlab::gpu

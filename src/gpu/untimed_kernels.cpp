#include "gpu/untimed_kernels.h"

#include "base/own_threads.h"
#include "base/pulse.h"

namespace simtlab::gpu {

bool UntimedKernels::begin(Work& work, double at_ns) {
  KernelJob& job = job_of(work);
  job.untimed = blocks_.make(job, 0, job.source->block_count(), options_.pulse);
  if (const WithoutOtherThreads aside; !job.untimed->go_on()) {
    work.begin_ns = at_ns;
    under_way_.push_back(&work);
    return false;
  }
  end(job, at_ns);
  return true;
}

Work* UntimedKernels::advance(double until_ns) {
  {
    const WithoutOtherThreads aside;
    if (Work* const work = first_ended()) return work;
  }
  if (until_ns < forever) return nullptr;
  Work* const work = first_ended();  // another thread of the program may have to write
  if (work == nullptr) job_of(*under_way_.front()).untimed->report();
  return work;
}

// The first one that comes to its end now; null: none can.
Work* UntimedKernels::first_ended() {
  for (auto at = under_way_.begin(); at != under_way_.end(); ++at) {
    Work& work = **at;
    KernelJob& job = job_of(work);
    if (!job.untimed->go_on()) continue;
    under_way_.erase(at);
    work.end_ns = work.begin_ns;
    end(job, work.begin_ns);
    return &work;
  }
  return nullptr;
}

void UntimedKernels::end(KernelJob& job, double at_ns) {
  const exec::FunctionalResult ran = job.untimed->result();
  job.untimed.reset();
  const stream::WarpSource& source = job.read();
  if (options_.pulse != nullptr)
    options_.pulse->at(ran.blocks, source.block_count(), 0, ran.warp_instructions);
  const device::Occupancy fit = timing::fit(device_, source, registers_of(options_, source.function()));
  result::KernelResult out;
  out.metrics.set("gpu.instructions.warp", ran.warp_instructions);
  out.metrics.set("gpu.instructions.thread", ran.thread_instructions);
  out.metrics.set("occupancy.theoretical", fit.ratio);
  out.limiter = device::name_of(fit.limit);
  sink_.ended(job, std::move(out), at_ns);
}

}  // namespace simtlab::gpu

#include "gpu/cycle_kernels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "exec/executor.h"

namespace simtlab::gpu {

double CycleKernels::time_of(std::uint64_t cycle) const {
  return period_ns_ + static_cast<double>(cycle) / device_.sm_clock_hz * 1e9;
}

std::uint64_t CycleKernels::cycle_of(double ns) const {
  const double cycles = (ns - period_ns_) * device_.sm_clock_hz / 1e9;
  return cycles <= 0      ? 0
         : cycles >= 1e18 ? ~std::uint64_t{0}
                          : static_cast<std::uint64_t>(std::ceil(cycles - 1e-6));
}

bool CycleKernels::begin(Work& work, double at_ns) {
  KernelJob& job = job_of(work);
  if (under_way_.empty()) period_ns_ = at_ns;
  job.id = gpu_.begin(job.read(), job.setup, cycle_of(at_ns));
  under_way_.push_back(&work);
  return false;
}

// Where kernels run one after another because of how they are simulated, one that waits for the next is no
// fault of the program.
std::optional<timing::CycleGpu::Id> CycleKernels::advance_clock(double until_ns) {
  try {
    return gpu_.advance(cycle_of(until_ns));
  } catch (const exec::Fault& fault) {
    const bool one_by_one = options_.checkpoint.wanted() || options_.sample_error > 0 ||
                            options_.what_if.alone || options_.cold_caches;
    if (fault.kind() == exec::Fault::Kind::deadlock && one_by_one && schedule_.pending() > under_way_.size())
      throw waits_for_others(options_.mode);
    throw;
  }
}

Work* CycleKernels::advance(double until_ns) {
  const auto ended = advance_clock(until_ns);
  if (!ended) return nullptr;
  const auto at = std::ranges::find_if(under_way_, [&](Work* work) { return job_of(*work).id == *ended; });
  Work& work = **at;
  KernelJob& job = job_of(work);
  timing::CycleGpu::Ended end = gpu_.finish(*ended);
  under_way_.erase(at);
  run_left_out(job, end.result);
  work.begin_ns = time_of(end.begin);
  // The launch overhead is not in gpu.time: on the schedule it is the host's, so that launches pipeline.
  work.end_ns = work.begin_ns + end.result.metrics.get("gpu.time").value_or(0);
  sink_.ended(job, std::move(end.result), work.begin_ns);
  return &work;
}

// What they have counted until now stands in the result, marked.
void CycleKernels::give_up() {
  if (under_way_.empty()) return;
  std::vector<timing::CycleGpu::Ended> partial = gpu_.partial();
  std::ranges::sort(under_way_, {}, [&](Work* work) { return job_of(*work).id; });
  for (std::size_t i = 0; i < partial.size() && i < under_way_.size(); ++i) {
    partial[i].result.partial = true;
    sink_.keep(job_of(*under_way_[i]), std::move(partial[i].result), time_of(partial[i].begin));
  }
  under_way_.clear();
}

// Blocks that sampling left out take effect now.
void CycleKernels::run_left_out(const KernelJob& job, result::KernelResult& result) {
  const timing::CycleGpu::LeftOut rest = gpu_.left_out();
  std::optional<std::uint64_t> instructions;
  if (rest.count != 0 && (job.launch || job.recording))
    instructions = blocks_.run(job, rest.first, rest.count);  // a trace that is recorded holds them, too
  else if (rest.count != 0)
    instructions = job.source->recorded_instructions(rest.first, rest.count);
  gpu_.complete(result, instructions);
}

}  // namespace simtlab::gpu

#include "corun/cycle/cycle_machine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "gpu/copy_time.h"

namespace simtlab::corun::cycle {
namespace {

constexpr unsigned address_bits = 42;  // of a process: no device has more than 4 TiB

timing::Options timing_options(const CycleOptions& options) {
  timing::Options out = options.timing;
  out.share = options.sharing.policy;
  return out;
}

}  // namespace

CycleMachine::CycleMachine(const device::Device& device, const CycleOptions& options,
                           std::vector<Process> processes, OnEnd on_end)
    : device_(device),
      options_(options),
      processes_(std::move(processes)),
      on_end_(std::move(on_end)),
      gpu_(std::make_unique<timing::CycleGpu>(device, timing_options(options))) {}

// Rounded up: what has ended by a time has ended.
corun::Time CycleMachine::time_of(std::uint64_t cycle) const {
  return period_ +
         static_cast<corun::Time>(std::ceil(static_cast<double>(cycle) / device_.sm_clock_hz * 1e9 - 1e-6));
}

std::uint64_t CycleMachine::cycle_of(corun::Time time) const {
  if (time == corun::never) return ~std::uint64_t{0};
  return time <= period_ ? 0
                         : static_cast<std::uint64_t>(std::ceil(
                               static_cast<double>(time - period_) * device_.sm_clock_hz / 1e9 - 1e-6));
}

timing::CycleGpu::Setup CycleMachine::setup_of(const Job& job) const {
  const Process& process = processes_[job.process];
  const timing::CycleGpu::Setup of_kernel =
      gpu::setup_of(options_.sharing, device_, process.recording->mangled(job.launch),
                    process.recording->kernel(job.launch));
  return of_kernel.sms != 0
             ? of_kernel
             : gpu::setup_of(options_.sharing, device_, process.application, process.application);
}

void CycleMachine::begin(std::size_t process, std::uint64_t launch, corun::Time now) {
  const Recording& recording = *processes_[process].recording;
  Job job;
  job.process = process;
  job.launch = launch % recording.launches();
  const std::uint64_t move = static_cast<std::uint64_t>(process + 1) << address_bits;
  job.source = std::make_unique<stream::MovedLaunch>(recording.launch(job.launch), move);
  if (options_.copies)
    for (const Recording::Transfer& written : recording.before(job.launch))
      if (written.kind == stream::trace::OpKind::invalidate)
        gpu::written(*gpu_, device_, written.a + move, written.b);
  queue_.push_back(std::move(job));
  start_what_fits(now);
}

void CycleMachine::start_what_fits(corun::Time now) {
  while (!queue_.empty() && !gpu_->full()) {
    Job job = std::move(queue_.front());
    queue_.pop_front();
    const bool idle = gpu_->idle();
    if (idle) period_ = now;
    job.id = gpu_->begin(*job.source, setup_of(job), idle ? 0 : std::max(gpu_->clock(), cycle_of(now)));
    under_way_.push_back(std::move(job));
  }
}

corun::Time CycleMachine::advance(corun::Time now, corun::Time until, std::vector<std::size_t>& ended) {
  if (!late_) {
    if (under_way_.empty()) return until;
    const auto id = gpu_->advance(cycle_of(until));
    if (!id) return until;
    timing::CycleGpu::Ended end = gpu_->finish(*id);
    const auto at = std::ranges::find(under_way_, *id, &Job::id);
    const Job job = std::move(*at);
    under_way_.erase(at);
    // Later than the decision before, so that decisions fall where time goes on.
    late_ = Late{job.process, std::max(now + 1, time_of(end.end))};
    if (on_end_) on_end_(job.process, job.launch, std::move(end.result));
    start_what_fits(late_->at);
  }
  if (late_->at > until) return until;
  const Late late = *std::exchange(late_, std::nullopt);
  ended.push_back(late.process);
  return std::max(now + 1, late.at);
}

}  // namespace simtlab::corun::cycle

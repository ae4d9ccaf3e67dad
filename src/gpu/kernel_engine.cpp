// Kernels under way: begins them when their time has come, follows the clock of the cycle-level GPU, keeps
// what they counted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/pulse.h"
#include "gpu/impl.h"
#include "gpu/warnings.h"
#include "result/totals.h"

namespace simtlab::gpu {
namespace {

constexpr std::size_t launches_kept = 4096;
// Of all launches together: 150 MB.
constexpr std::size_t series_rows_kept = std::size_t{1} << 19;
// Lines of all launches with a profile of their own; later launches are added to the first of their kernel.
constexpr std::size_t profile_lines_kept = 20000;

// Deviations that follow from the module's directives: a limit of registers that took effect, a target above
// the device.
void note_directives(const device::Device& device, const ptx::Module& module, const ptx::Function& function,
                     result::KernelResult& result) {
  if (result.registers == function.registers && function.registers < function.unlimited_registers)
    result.not_modelled.emplace_back("D-PTX-8");
  if (module.capability() > static_cast<unsigned>(device.cc_major * 10 + device.cc_minor))
    result.not_modelled.emplace_back("D-PTX-9");
}

// Adds the time that passes while it lives.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum) {}
  ~Stopwatch() { sum_ += seconds_since(begin_); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

bool Gpu::Impl::idle() const { return under_way.empty(); }

// A checkpoint holds what each launch did to memory, one after the other.
bool Gpu::Impl::full() const {
  return !options.shared && !under_way.empty() && (checkpoint || (timing && timing->full()));
}

double Gpu::Impl::time_of(std::uint64_t cycle) const {
  return period_ns + static_cast<double>(cycle) / device.sm_clock_hz * 1e9;
}

std::uint64_t Gpu::Impl::cycle_of(double ns) const {
  const double cycles = (ns - period_ns) * device.sm_clock_hz / 1e9;
  return cycles <= 0      ? 0
         : cycles >= 1e18 ? ~std::uint64_t{0}
                          : static_cast<std::uint64_t>(std::ceil(cycles - 1e-6));
}

bool Gpu::Impl::begin(Work& work, double at_ns) {
  KernelJob& job = job_of(work);
  const Stopwatch watch(launch_wall_seconds);
  if (checkpoint)
    if (const std::optional<bool> ended = resumed(work, at_ns)) return *ended;
  if (!job.chosen) {
    if (job.launch) run_to_end(*untimed_run(job, 0, job.source->block_count(), options.pulse));
    if (checkpoint) checkpoint->after(job.description, nullptr, printed, machine());
    return true;
  }
  if (recorder) job.recording.emplace(*job.source, *recorder, job.place);
  if (options.mode == Mode::functional) return begin_untimed(work, at_ns);
  if (!timing) {
    result::KernelResult result = options.mode == Mode::predict ? run_prediction(job) : run_study(job);
    if (job.recording) job.recording->finish();
    if (checkpoint) checkpoint->after(job.description, &result, printed, machine());
    keep(job, std::move(result), at_ns);
    return true;
  }
  if (options.shared) {
    begin_shared(work, at_ns);
    return false;
  }
  if (under_way.empty()) period_ns = at_ns;
  job.id = timing->begin(job.read(), job.setup, cycle_of(at_ns));
  under_way.push_back(&work);
  return false;
}

// Where kernels run one after another because of how they are simulated, one that waits for the next is no
// fault of the program.
std::optional<timing::Gpu::Id> Gpu::Impl::advance_clock(double until_ns) {
  try {
    return timing->advance(cycle_of(until_ns));
  } catch (const exec::Fault& fault) {
    const bool one_by_one = checkpoint || options.sample_error > 0 || options.what_if.alone;
    if (fault.kind() == exec::Fault::Kind::deadlock && one_by_one && schedule.pending() > under_way.size())
      throw waits_for_others(options.mode);
    throw;
  }
}

Work* Gpu::Impl::advance(double until_ns) {
  const Stopwatch watch(launch_wall_seconds);
  if (options.shared) return advance_shared(until_ns);
  if (!timing) return advance_untimed(until_ns);
  if (job_of(*under_way.front()).known) return advance_resumed(until_ns);
  const auto ended = advance_clock(until_ns);
  if (!ended) return nullptr;
  const auto at = std::ranges::find_if(under_way, [&](Work* work) { return job_of(*work).id == *ended; });
  Work& work = **at;
  KernelJob& job = job_of(work);
  timing::Gpu::Ended end = timing->finish(*ended);
  under_way.erase(at);
  run_left_out(job, end.result);
  if (job.recording) job.recording->finish();
  if (checkpoint) checkpoint->after(job.description, &end.result, printed, machine());
  work.begin_ns = time_of(end.begin);
  // The launch overhead is not in gpu.time: on the schedule it is the host's, so that launches pipeline.
  work.end_ns = work.begin_ns + end.result.metrics.get("gpu.time").value_or(0);
  keep(job, std::move(end.result), work.begin_ns);
  return &work;
}

// What they have counted until now stands in the result, marked.
void Gpu::Impl::give_up() {
  if (options.shared)
    options.shared->give_up();
  else if (timing && !under_way.empty() && !job_of(*under_way.front()).known) {
    std::vector<timing::Gpu::Ended> partial = timing->partial();
    std::ranges::sort(under_way, {}, [&](Work* work) { return job_of(*work).id; });
    for (std::size_t i = 0; i < partial.size() && i < under_way.size(); ++i) {
      partial[i].result.partial = true;
      keep(job_of(*under_way[i]), std::move(partial[i].result), time_of(partial[i].begin));
    }
  }
  under_way.clear();
}

// Blocks that sampling left out take effect now.
void Gpu::Impl::run_left_out(const KernelJob& job, result::KernelResult& result) {
  const timing::Gpu::LeftOut rest = timing->left_out();
  std::optional<std::uint64_t> instructions;
  if (rest.count != 0 && (job.launch || job.recording))
    // A trace that is recorded holds them, too
    instructions = run_to_end(*untimed_run(job, rest.first, rest.count, nullptr));
  else if (rest.count != 0)
    instructions = job.source->recorded_instructions(rest.first, rest.count);
  timing->complete(result, instructions);
}

// Once a kernel, where clocks mean something.
void Gpu::Impl::warn(const KernelJob& job, result::KernelResult& result) {
  if (options.mode != Mode::timing) return;
  const stream::WarpSource& source = *job.source;
  if (!looked_at.insert(&source.function()).second) return;
  std::optional<result::Table> found = warnings_of(source.module(), source.function(), options.lowering);
  if (found) result.tables.push_back(std::move(*found));
}

void Gpu::Impl::keep(const KernelJob& job, result::KernelResult&& result, double begin_ns) {
  if (options.pulse != nullptr) options.pulse->end_kernel();
  wall_instructions += result.metrics.get("gpu.instructions.warp").value_or(0);
  const stream::WarpSource& source = *job.source;
  const ptx::Function& function = source.function();
  const exec::Dim3 grid = source.grid(), block = source.block();
  result.name = function.name;
  result.demangled = job.demangled;
  result.grid[0] = grid.x, result.grid[1] = grid.y, result.grid[2] = grid.z;
  result.block[0] = block.x, result.block[1] = block.y, result.block[2] = block.z;
  result.shared_bytes = source.shared_bytes();
  result.registers = registers_of(function);
  if (timing) result.metrics.set("gpu.begin", begin_ns);
  if (options.on_kernel) options.on_kernel(result);
  note_directives(device, source.module(), function, result);
  if (const stream::trace::Code* code = source.code_of(function);
      code != nullptr && !code->mnemonics.empty()) {
    result.not_modelled.emplace_back("D-TRACE-3");
    if (!code->guessed.empty()) result.not_modelled.emplace_back("D-TRACE-4");
  }
  if (source.block_count() != grid.count()) result.not_modelled.emplace_back("D-TRACE-2");
  warn(job, result);
  keep_within_bounds(job.number, std::move(result));
}

// In the order of the launches. Bounds the memory of a program with millions of them.
void Gpu::Impl::keep_within_bounds(std::uint64_t number, result::KernelResult&& result) {
  ++ended;
  if (profile_lines + result.profile.lines.size() > profile_lines_kept) {
    const auto earlier = std::ranges::find_if(
        kernels, [&](const result::KernelResult& k) { return k.name == result.name && !k.profile.empty(); });
    if (earlier != kernels.end()) {
      result::merge(earlier->profile, result.profile);
      result.profile = {};
    }
  }
  profile_lines += result.profile.lines.size();
  series_rows += result.series.rows.size();
  const bool alone = kernels.size() < launches_kept;
  if (alone) {
    const auto at = std::ranges::upper_bound(kernel_numbers, number) - kernel_numbers.begin();
    kernel_numbers.insert(kernel_numbers.begin() + at, number);
    kernels.insert(kernels.begin() + at, std::move(result));
    if (options.on_kept) options.on_kept({number, kernels[static_cast<std::size_t>(at)], false});
    while (series_rows > series_rows_kept) halve_longest_series();
    return;
  }
  series_rows -= result.series.rows.size();
  result.series = {};  // merged launches have none
  const auto same = std::find_if(merged.begin(), merged.end(),
                                 [&](const result::KernelResult& k) { return k.name == result.name; });
  const auto place = static_cast<std::size_t>(same - merged.begin());
  if (same == merged.end()) {
    merged.push_back(std::move(result));
  } else {
    std::vector<result::KernelResult> both;
    both.push_back(std::move(*same));
    both.push_back(std::move(result));
    *same = std::move(result::merge_by_name(both).front());
  }
  if (options.on_kept) options.on_kept({number, merged[place], true});
}

void Gpu::Impl::halve_longest_series() {
  const auto longest = std::ranges::max_element(
      kernels, {}, [](const result::KernelResult& k) { return k.series.rows.size(); });
  const std::size_t before = longest->series.rows.size();
  longest->series = result::thinned(longest->series, before / 2);
  series_rows -= before - longest->series.rows.size();
}

}  // namespace simtlab::gpu

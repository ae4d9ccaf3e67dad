#include "corun/fast_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "base/shown.h"

namespace simtlab::corun {
namespace {

struct Process {
  const Workload* workload = nullptr;
  std::vector<KernelId> kernels;         // of the sequence
  std::uint64_t next = 0;                // launch
};

struct Running {
  std::size_t process = 0;
  std::size_t step = 0;
  Sequence sequence = 0;
  double left = 0;                       // of its time alone, ns
  Time began = 0;
};

struct Arrival {
  Time at = 0;
  std::size_t process = 0;
  bool operator>(const Arrival& other) const { return at != other.at ? at > other.at : process > other.process; }
};

class FastHost {
 public:
  FastHost(std::span<const Workload> mix, const Policy& policy, const FastOptions& options) : options_(options), scheduler_(policy, options.settings, options.log), mix_(mix) {}

  MixResult run() {
    start();
    while (unfinished_ > 0) {
      const double ends = next_end();
      const Time arrives = arrivals_.empty() ? never : arrivals_.top().at;
      SIMTLAB_ASSERT(ends < 1e300 || arrives != never, "a policy that leaves the GPU idle while launches wait would never end");
      // An end falls on the first whole nanosecond by which all the work is done.
      const Time end_at = ends < 1e300 ? now_ + std::max<Time>(1, static_cast<Time>(std::ceil(ends))) : never;
      progress(std::min(end_at, arrives));
      ended();
      arrived();
      decide();
    }
    out_.makespan_ns = static_cast<double>(now_);
    return std::move(out_);
  }

 private:
  static constexpr Time never = ~Time{0};

  void start() {
    for (std::size_t p = 0; p < mix_.size(); ++p) {
      Process process;
      process.workload = &mix_[p];
      for (const Workload::Step& step : mix_[p].sequence)
        process.kernels.push_back(scheduler_.kernel(0, mix_[p].name + "/" + step.kernel, options_.learn ? nullptr : &step.profile));
      scheduler_.join(0, static_cast<ClientId>(p + 1), mix_[p].priority);
      processes_.push_back(std::move(process));
      ApplicationResult r;
      r.name = mix_[p].name;
      out_.applications.push_back(std::move(r));
      arrivals_.push({0, p});
    }
    unfinished_ = mix_.size();
    arrived();
    decide();
  }

  double next_end() const {
    double least = 1e300;
    for (std::size_t i = 0; i < running_.size(); ++i) least = std::min(least, running_[i].left * slow_[i]);
    return least;
  }

  void progress(Time until) {
    const auto span = static_cast<double>(until - now_);
    for (std::size_t i = 0; i < running_.size(); ++i) running_[i].left -= span / slow_[i];
    now_ = until;
  }

  void ended() {
    bool any = false;
    for (std::size_t i = 0; i < running_.size();) {
      if (running_[i].left > 1e-6) {
        ++i;
        continue;
      }
      const Running r = running_[i];
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      demands_.erase(demands_.begin() + static_cast<std::ptrdiff_t>(i));
      slow_.erase(slow_.begin() + static_cast<std::ptrdiff_t>(i));
      end(r);
      any = true;
    }
    if (any) changed_ = true;
  }

  void end(const Running& r) {
    Process& p = processes_[r.process];
    const Workload& w = *p.workload;
    const Time took = now_ - r.began;
    scheduler_.end(now_, r.sequence, took);
    if (options_.learn && scheduler_.profile(p.kernels[r.step]) == nullptr)
      scheduler_.kernel(now_, w.name + "/" + w.sequence[r.step].kernel, &w.sequence[r.step].profile);
    ApplicationResult& a = out_.applications[r.process];
    ++a.launches;
    a.gpu_ns += static_cast<double>(took);
    a.solo_ns += *w.sequence[r.step].profile.time_ns;
    a.alone_ns += *w.sequence[r.step].profile.time_ns;
    if (++p.next < w.launches()) {
      a.alone_ns += w.gap_ns;
      arrivals_.push({now_ + static_cast<Time>(std::llround(w.gap_ns)), r.process});
      return;
    }
    a.turnaround_ns = static_cast<double>(now_);
    --unfinished_;
    scheduler_.leave(now_, static_cast<ClientId>(r.process + 1));
  }

  void arrived() {
    while (!arrivals_.empty() && arrivals_.top().at <= now_) {
      const std::size_t process = arrivals_.top().process;
      arrivals_.pop();
      const Process& p = processes_[process];
      scheduler_.launch(now_, static_cast<ClientId>(process + 1), 0, p.kernels[p.next % p.kernels.size()]);
    }
  }

  void decide() {
    for (const Grant& g : scheduler_.decide()) {
      const std::size_t process = g.client - 1;
      const Process& p = processes_[process];
      const std::size_t step = p.next % p.kernels.size();
      const Profile& profile = p.workload->sequence[step].profile;
      running_.push_back({process, step, g.sequence, *profile.time_ns, now_});
      demands_.push_back(demand_of(profile));
      slow_.push_back(1);
      changed_ = true;
      ApplicationResult& a = out_.applications[process];
      a.waited_ns += static_cast<double>(g.waited);
      a.longest_wait_ns = std::max(a.longest_wait_ns, static_cast<double>(g.waited));
    }
    ++out_.decisions;
    if (std::exchange(changed_, false)) slowdowns(options_.model, demands_, slow_);
  }

  const FastOptions& options_;
  Scheduler scheduler_;
  std::span<const Workload> mix_;
  std::vector<Process> processes_;
  std::vector<Running> running_;
  std::vector<Demand> demands_;          // of running_
  std::vector<double> slow_;             // of running_
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  Time now_ = 0;
  std::size_t unfinished_ = 0;
  bool changed_ = false;
  MixResult out_;
};

}  // namespace

MixResult run_fast(std::span<const Workload> mix, const Policy& policy, const FastOptions& options) { return FastHost(mix, policy, options).run(); }

std::vector<Workload> workloads(const Profiles& profiles, std::span<const std::string> names, double shorten) {
  std::vector<Workload> out;
  for (const std::string& name : names) {
    const auto at = profiles.applications.find(name);
    if (at == profiles.applications.end()) {
      std::vector<std::string> known;
      for (const auto& [n, a] : profiles.applications) known.push_back(n);
      throw Error(ExitCode::bad_input, "corun-profiles", fmt::format("of an application {} nothing is known", shown(name)), fmt::format("the profiles have {}", fmt::join(known, ", ")));
    }
    Workload w;
    w.name = name;
    w.gap_ns = at->second.gap_ns;
    w.iterations = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(static_cast<double>(at->second.iterations) / shorten)));
    for (const std::string& kernel : at->second.sequence) {
      const KernelProfile* k = profiles.find(name, kernel);
      const std::string missing = k == nullptr ? "every figure" : missing_figures(k->profile);
      if (!missing.empty())
        throw Error(ExitCode::bad_input, "corun-profiles", fmt::format("of kernel {} of {} the fast model misses {}", shown(kernel), shown(name), missing), "simtlab corun profile fills a database of profiles from the simulator");
      w.sequence.push_back({kernel, k->profile});
    }
    out.push_back(std::move(w));
  }
  return out;
}

double disturbed(const Workload& application, const InterferenceModel& model, const Demand& by) {
  double alone = 0, beside = 0;
  for (const Workload::Step& step : application.sequence) {
    const Demand together[] = {demand_of(step.profile), by};
    double slow[2];
    slowdowns(model, together, slow);
    alone += *step.profile.time_ns;
    beside += *step.profile.time_ns * slow[0];
  }
  return beside / alone;
}

std::vector<std::vector<std::string>> random_mixes(const std::vector<std::string>& applications, std::size_t count, std::size_t size, std::uint64_t seed) {
  std::vector<std::vector<std::string>> out(count);
  // A generator for each size, so that the mixes of one size don't depend on which others are asked for.
  Rng rng(seed * 1000003 + size);
  for (auto& mix : out)
    for (std::size_t i = 0; i < size; ++i) mix.push_back(applications[rng.below(applications.size())]);
  return out;
}

double geometric_mean(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += std::log(v);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

Judged judge(std::span<const double> slowdowns) {
  Judged out;
  if (slowdowns.empty()) return out;
  const auto n = static_cast<double>(slowdowns.size());
  std::vector<double> progress;
  double squares = 0;
  for (const double s : slowdowns) {
    out.antt += s / n;
    out.stp += 1 / s;
    squares += 1 / (s * s);
    progress.push_back(1 / s);
  }
  out.gm = geometric_mean(progress);
  const auto [least, most] = std::ranges::minmax(slowdowns);
  out.fairness = most / least;
  out.jain = out.stp * out.stp / (n * squares);
  return out;
}

}  // namespace simtlab::corun

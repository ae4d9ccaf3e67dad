#include "corun/fast_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "base/shown.h"

namespace simtlab::corun {
namespace {

// Kernels that the interference model slows down, each by what runs beside it.
class ModelMachine final : public Machine {
 public:
  ModelMachine(std::span<const Workload> mix, const InterferenceModel& model) : mix_(mix), model_(model) {}

  void begin(std::size_t process, std::uint64_t launch, Time) override {
    const Workload& w = mix_[process];
    const Profile& profile = w.sequence[launch % w.sequence.size()].profile;
    running_.push_back({process, *profile.time_ns});
    demands_.push_back(demand_of(profile));
    slow_.push_back(1);
    changed_ = true;
  }

  Time advance(Time now, Time until, std::vector<std::size_t>& ended) override {
    if (std::exchange(changed_, false)) slowdowns(model_, demands_, slow_);
    double least = 1e300;
    for (std::size_t i = 0; i < running_.size(); ++i) least = std::min(least, running_[i].left * slow_[i]);
    // An end falls on the first whole nanosecond by which all the work is done.
    const Time reached = std::min(until, now + std::max<Time>(1, static_cast<Time>(std::ceil(least))));
    const auto span = static_cast<double>(reached - now);
    for (std::size_t i = 0; i < running_.size(); ++i) running_[i].left -= span / slow_[i];
    for (std::size_t i = 0; i < running_.size();) {
      if (running_[i].left > 1e-6) {
        ++i;
        continue;
      }
      ended.push_back(running_[i].process);
      const auto at = static_cast<std::ptrdiff_t>(i);
      running_.erase(running_.begin() + at);
      demands_.erase(demands_.begin() + at);
      slow_.erase(slow_.begin() + at);
      changed_ = true;
    }
    return reached;
  }

 private:
  struct Running {
    std::size_t process = 0;
    double left = 0;  // of its time alone, ns
  };

  std::span<const Workload> mix_;
  const InterferenceModel& model_;
  std::vector<Running> running_;
  std::vector<Demand> demands_;  // of running_
  std::vector<double> slow_;     // of running_
  bool changed_ = false;
};

}  // namespace

MixResult run_fast(std::span<const Workload> mix, const Policy& policy, const FastOptions& options) {
  if (options.device != nullptr) {
    ResidencyMachine machine(mix, *options.device, options.sharing);
    return run_mix(mix, policy, options, machine);
  }
  ModelMachine machine(mix, options.model);
  return run_mix(mix, policy, options, machine);
}

std::vector<Workload> workloads(const Profiles& profiles, std::span<const std::string> names,
                                double shorten) {
  std::vector<Workload> out;
  for (const std::string& name : names) {
    const auto at = profiles.applications.find(name);
    if (at == profiles.applications.end()) {
      std::vector<std::string> known;
      for (const auto& [n, a] : profiles.applications) known.push_back(n);
      throw Error(ExitCode::bad_input, "corun-profiles",
                  fmt::format("no application {} is in the profiles", shown(name)),
                  fmt::format("the profiles have {}", fmt::join(known, ", ")));
    }
    Workload w;
    w.name = name;
    w.gap_ns = at->second.gap_ns;
    w.iterations = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::llround(static_cast<double>(at->second.iterations) / shorten)));
    for (const std::string& kernel : at->second.sequence) {
      const KernelProfile* k = profiles.find(name, kernel);
      const std::string missing = k == nullptr ? "every figure" : missing_figures(k->profile);
      if (!missing.empty())
        throw Error(
            ExitCode::bad_input, "corun-profiles",
            fmt::format("of kernel {} of {} the fast model misses {}", shown(kernel), shown(name), missing),
            "simtlab corun profile fills a database of profiles from the simulator");
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

std::vector<std::vector<std::string>> random_mixes(const std::vector<std::string>& applications,
                                                   std::size_t count, std::size_t size, std::uint64_t seed) {
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

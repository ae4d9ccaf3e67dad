// Decision time of the scheduler: 64 clients of which each always has something to run, as the thesis's
// kernels; one end, one launch and one decision an iteration. The target is less than a microsecond for the
// decision.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/rng.h"
#include "corun/fast_host.h"
#include "device/catalogue.h"

namespace {

using namespace simtlab::corun;

Profiles thesis() {
  return load_profiles(std::filesystem::path(SIMTLAB_SOURCE_DIR) / "data" / "corun" / "titanx-thesis.toml");
}

void decide(benchmark::State& state, const Policy* policy) {
  const Profiles profiles = thesis();
  Settings settings;
  settings.limit = 8;
  Scheduler scheduler(*policy, settings);
  std::vector<KernelId> kernels;
  for (const auto& [key, k] : profiles.kernels)
    kernels.push_back(scheduler.kernel(0, key.first + "/" + key.second, &k.profile));
  simtlab::Rng rng(1);
  const auto clients = static_cast<ClientId>(state.range(0));
  for (ClientId c = 1; c <= clients; ++c) {
    scheduler.join(0, c, static_cast<std::int32_t>(c % 8 == 0));
    scheduler.launch(0, c, 0, kernels[rng.below(kernels.size())]);
  }
  std::vector<Grant> running;
  for (const Grant& g : scheduler.decide()) running.push_back(g);
  Time now = 1;
  std::uint64_t granted = 0;
  for (auto _ : state) {
    const std::size_t at = rng.below(running.size());
    const Grant ended = running[at];
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
    scheduler.end(++now, ended.sequence, 1000);
    scheduler.launch(now, ended.client, 0, kernels[rng.below(kernels.size())]);
    for (const Grant& g : scheduler.decide()) running.push_back(g), ++granted;
  }
  state.counters["grants"] =
      benchmark::Counter(static_cast<double>(granted), benchmark::Counter::kAvgIterations);
}

void mix_of_16(benchmark::State& state, const Policy* policy) {
  const Profiles profiles = thesis();
  std::vector<std::string> names;
  for (const auto& [name, app] : profiles.applications) names.push_back(name);
  const std::vector<Workload> mix = workloads(profiles, random_mixes(names, 1, 16, 1).front(), 10);
  FastOptions options;
  std::uint64_t launches = 0;
  for (auto _ : state) {
    for (const ApplicationResult& a : run_fast(mix, *policy, options).applications) launches += a.launches;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(launches));
}

// The same launches with SMs: the table has no shapes, so its threads are taken for blocks of 256.
void mix_of_16_sms(benchmark::State& state, const Policy* policy) {
  Profiles profiles = thesis();
  for (auto& [key, k] : profiles.kernels) {
    k.profile.grid = {static_cast<std::uint32_t>(std::max(1.0, *k.profile.threads / 256)), 1, 1};
    k.profile.block = {256, 1, 1};
    k.profile.cold_time_ns = *k.profile.time_ns * 1.2;
    k.profile.footprint = 1 << 20;
  }
  std::vector<std::string> names;
  for (const auto& [name, app] : profiles.applications) names.push_back(name);
  const std::vector<Workload> mix = workloads(profiles, random_mixes(names, 1, 16, 1).front(), 10);
  const simtlab::device::Device device = simtlab::device::load_device("titanx-maxwell").device;
  FastOptions options;
  options.device = &device;
  std::uint64_t launches = 0;
  for (auto _ : state) {
    for (const ApplicationResult& a : run_fast(mix, *policy, options).applications) launches += a.launches;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(launches));
}

const int registered = [] {
  for (const Policy* p : policies()) {
    benchmark::RegisterBenchmark(("decide/" + std::string(p->name)).c_str(),
                                 [p](benchmark::State& s) { decide(s, p); })
        ->Arg(8)
        ->Arg(64);
    benchmark::RegisterBenchmark(("mix_of_16/" + std::string(p->name)).c_str(), [p](benchmark::State& s) {
      mix_of_16(s, p);
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("mix_of_16_sms/" + std::string(p->name)).c_str(), [p](benchmark::State& s) {
      mix_of_16_sms(s, p);
    })->Unit(benchmark::kMillisecond);
  }
  return 0;
}();

}  // namespace

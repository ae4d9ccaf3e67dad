// The fast host: applications as sequences of kernels, time from event to event, kernels that run together
// slowed down by the interference model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "corun/host.h"
#include "corun/interference.h"
#include "corun/profiles.h"
#include "corun/residency.h"
#include "device/device.h"

namespace simtlab::corun {

// shorten: an application does 1/shorten of its iterations, at least one. Error(bad_input, "corun-profiles")
// if figures that the model needs are missing; `names` may repeat.
std::vector<Workload> workloads(const Profiles& profiles, std::span<const std::string> names, double shorten);

struct FastOptions : HostOptions {
  InterferenceModel model;
  // Blocks of kernels go to its SMs (residency.h); null: the interference model, which knows of none
  const device::Device* device = nullptr;
  SmSharing sharing;
};
MixResult run_fast(std::span<const Workload> mix, const Policy& policy, const FastOptions& options);

// An application's slowdown beside a micro-benchmark that never ends: time of its kernels, each slowed down
// by it, over their time alone.
double disturbed(const Workload& application, const InterferenceModel& model, const Demand& by);

// Random mixes: each application is drawn from all with equal chance. Equal seeds give equal mixes.
std::vector<std::vector<std::string>> random_mixes(const std::vector<std::string>& applications,
                                                   std::size_t count, std::size_t size, std::uint64_t seed);

// What a mix is judged by, from slowdowns against running alone.
struct Judged {
  double antt = 0;      // mean slowdown
  double stp = 0;       // sum of 1/slowdown
  double gm = 0;        // geometric mean of 1/slowdown
  double fairness = 0;  // largest over smallest slowdown: 1 is fair
  double jain = 0;      // Jain's index of 1/slowdown: 1 is fair
};
Judged judge(std::span<const double> slowdowns);
double geometric_mean(std::span<const double> values);

}  // namespace simtlab::corun

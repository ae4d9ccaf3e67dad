// The fast host: applications as sequences of kernels, time from event to event, kernels that run together slowed down by the interference model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "corun/interference.h"
#include "corun/profiles.h"
#include "corun/scheduler.h"

namespace simtlab::corun {

// An application as the host runs it.
struct Workload {
  struct Step { std::string kernel; Profile profile; };
  std::string name;
  std::vector<Step> sequence;
  std::uint64_t iterations = 1;
  double gap_ns = 0;
  std::int32_t priority = 0;
  std::uint64_t launches() const { return iterations * sequence.size(); }
};

// shorten: an application does 1/shorten of its iterations, at least one. Error(bad_input, "corun-profiles") if figures that the model needs are
// missing; `names` may repeat.
std::vector<Workload> workloads(const Profiles& profiles, std::span<const std::string> names, double shorten);

struct ApplicationResult {
  std::string name;
  std::uint64_t launches = 0;
  double solo_ns = 0;         // its kernels one after another, alone
  double gpu_ns = 0;          // the same in the mix: sum of the durations, without waiting (as the thesis counts)
  double turnaround_ns = 0;   // until its end, with waiting and gaps (what users feel)
  double alone_ns = 0;        // turnaround alone: solo_ns + gaps
  double waited_ns = 0, longest_wait_ns = 0;   // for grants: sum, and of one launch
  double slowdown_gpu() const { return gpu_ns / solo_ns; }
  double slowdown_turnaround() const { return turnaround_ns / alone_ns; }
};

struct MixResult {
  std::vector<ApplicationResult> applications;   // in the order of the workloads
  double makespan_ns = 0;
  std::uint64_t decisions = 0;
};

struct FastOptions {
  Settings settings;
  InterferenceModel model;
  bool learn = false;          // kernels are unknown to the policy until they have run once
  LineSink log;
};
MixResult run_fast(std::span<const Workload> mix, const Policy& policy, const FastOptions& options);

// An application's slowdown beside a micro-benchmark that never ends: time of its kernels, each slowed down by it, over their time alone.
double disturbed(const Workload& application, const InterferenceModel& model, const Demand& by);

// Random mixes: each application is drawn from all with equal chance. Equal seeds give equal mixes.
std::vector<std::vector<std::string>> random_mixes(const std::vector<std::string>& applications, std::size_t count, std::size_t size, std::uint64_t seed);

// What a mix is judged by, from slowdowns against running alone.
struct Judged {
  double antt = 0;       // mean slowdown
  double stp = 0;        // sum of 1/slowdown
  double gm = 0;         // geometric mean of 1/slowdown
  double fairness = 0;   // largest over smallest slowdown: 1 is fair
  double jain = 0;       // Jain's index of 1/slowdown: 1 is fair
};
Judged judge(std::span<const double> slowdowns);
double geometric_mean(std::span<const double> values);

}  // namespace simtlab::corun

// What the hosts of mixes have in common: applications as sequences of launches, a scheduler that grants
// them, a machine that runs what is granted. The machine is all that differs: the interference model
// (fast_host.h), or the cycle-level GPU (cohost/).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "corun/scheduler.h"

namespace simtlab::corun {

// Of data between host and GPU, or within its memory. Each engine does one at a time, for all processes, in
// the order in which they ask.
struct Copy {
  enum Engine : std::uint8_t { in, out, within, engines };
  Engine engine = in;
  double ns = 0;  // when nobody else has the engine
};

// An application as a host runs it.
struct Workload {
  struct Step {
    std::string kernel;
    Profile profile;
    std::vector<Copy> before = {};  // between the end of the kernel before and this launch
  };
  std::string name;
  std::vector<Step> sequence;
  std::vector<Copy> after = {};  // the last kernel of an iteration
  std::uint64_t iterations = 1;
  double gap_ns = 0;    // of the host, after each kernel
  double start_ns = 0;  // when its first launch comes
  std::int32_t priority = 0;
  std::uint64_t launches() const { return iterations * sequence.size(); }
};

// What launches moved, as far as the machine counts it.
struct Traffic {
  double l2_bytes = 0, dram_bytes = 0;
  double l2_reads = 0, l2_misses = 0;
  double instructions = 0;  // of warps
  void add(const Traffic& other);
};

// All launches of one kernel of an application.
struct KernelShare {
  std::string name;
  std::uint64_t launches = 0;
  double solo_ns = 0, gpu_ns = 0, waited_ns = 0;
  std::optional<Traffic> alone, together;
  double slowdown() const { return gpu_ns / solo_ns; }
};

struct ApplicationResult {
  std::string name;
  std::uint64_t launches = 0;
  double solo_ns = 0;  // its kernels one after another, alone
  // The same in the mix: sum of the durations, without waiting (as the thesis counts)
  double gpu_ns = 0;
  double turnaround_ns = 0;  // from its start to its end, with waiting, copies and gaps (what users feel)
  double alone_ns = 0;       // turnaround alone: solo_ns + copies + gaps
  double copied_ns = 0, copied_alone_ns = 0;  // copies, together with waiting for their engines, and alone
  double waited_ns = 0, longest_wait_ns = 0;  // for grants: sum, and of one launch
  std::vector<KernelShare> kernels;           // in the order of their first launches
  double slowdown_gpu() const { return gpu_ns / solo_ns; }
  double slowdown_turnaround() const { return turnaround_ns / alone_ns; }
};

// One launch, for a picture.
struct LaunchRecord {
  std::size_t process = 0;  // of the workloads
  std::size_t kernel = 0;   // of ApplicationResult::kernels
  Time asked = 0, granted = 0, ended = 0;
};

struct MixResult {
  std::vector<ApplicationResult> applications;  // in the order of the workloads
  // The first of HostOptions::launches, in the order of their coming
  std::vector<LaunchRecord> launches;
  double makespan_ns = 0;
  std::uint64_t decisions = 0;
};

inline constexpr Time never = std::numeric_limits<Time>::max();

// Runs what is granted. Each process has at most one launch on it.
class Machine {
 public:
  virtual ~Machine() = default;
  // The launch of a process, counted from 0, is granted.
  virtual void begin(std::size_t process, std::uint64_t launch, Time now) = 0;
  // Time goes on from `now` to where launches end, but not beyond `until`. Returns the time, and in `ended`
  // the processes whose launches ended by then, in their order. With until == never something runs.
  virtual Time advance(Time now, Time until, std::vector<std::size_t>& ended) = 0;
};

struct HostOptions {
  Settings settings;
  bool learn = false;  // kernels are unknown to the policy until they have run once
  LineSink log;
  std::size_t launches = 0;  // so many are kept in the result
};
// Each application on its own: solo_ns is what the profiles say.
MixResult run_mix(std::span<const Workload> mix, const Policy& policy, const HostOptions& options,
                  Machine& machine);

}  // namespace simtlab::corun

// The cycle-level GPU: runs launches under the clock of a device, whether executed now or recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/occupancy.h"
#include "device/what_if.h"
#include "result/metrics.h"
#include "result/timeline.h"
#include "stream/trace/bytes.h"
#include "stream/warp_source.h"
#include "timing/share_policy.h"

namespace simtlab {
struct Pulse;
}

namespace simtlab::timing {

// A window of time in which SMs record what they do, in cycles since the first launch.
struct TimelineWindow {
  static constexpr std::uint32_t all_sms = ~std::uint32_t{0};
  std::uint64_t from = 0, to = 0;  // equal: none
  std::uint32_t sm = 0;
  bool events = true;   // instructions, loads
  bool states = false;  // what each warp does or waits for
};

// What is to be collected besides metrics; costs next to nothing where nothing is asked for, and changes no
// result.
struct Observe {
  bool lines = false;        // where the slots go by line, and where loads wait
  std::uint64_t series = 0;  // cycles between two rows of a time series; 0: none
  TimelineWindow timeline;
  bool sms() const { return lines || timeline.to > timeline.from; }  // SMs have something to tell
};

struct Options {
  // Per kernel; 0 = no limit; else Error(failure "limit-cycles") partial() has the statistics
  std::uint64_t max_cycles = 0;
  const volatile bool* interrupt = nullptr;
  Pulse* pulse = nullptr;                // where it tells how far it is; null: nobody looks
  std::uint32_t registers_override = 0;  // --regs
  unsigned threads = 1;                  // of the host; results are the same for any number
  // Leave blocks out once their pace is known so well (relative); 0: simulate all
  double sample_error = 0;
  device::WhatIf what_if{};  // limits that are lifted
  // PTX costs what it becomes in machine code (lowering.h); machine code is what it is
  bool lowering = true;
  // Each launch finds the GPU idle and no data in its caches, as under a profiler that flushes them. Code
  // stays: the cycles that Nsight Compute saw of launches behind one another leave no room for fetching it
  // anew.
  bool cold_caches = false;
  // Of launches under way at the same time; serial is up to the caller
  SharePolicy share = SharePolicy::leftover;
  Observe observe{};
};

// Closed set of reasons for a scheduler slot (one scheduler, one cycle), named as Nsight Compute names warp
// states. `selected` = an instruction was issued; `no_warp` = the scheduler has no resident warp.
enum class Stall : std::uint8_t {
  selected,
  long_scoreboard,
  short_scoreboard,
  wait,
  math_pipe_throttle,
  mio_throttle,
  lg_throttle,
  tex_throttle,
  barrier,
  membar,
  branch_resolving,
  dispatch,
  imc_miss,
  no_instruction,
  drain,
  sleeping,
  no_warp,
  count_,
};
std::string_view name_of(Stall stall);  // "long_scoreboard"

// How a block of the launch fits an SM. Throws Error(bad_input "launch-resources") if it does not.
device::Occupancy fit(const device::Device& device, const stream::WarpSource& launch,
                      std::uint32_t registers);
device::Occupancy fit(const device::Device& device, const ptx::Function& kernel, unsigned threads,
                      std::uint32_t registers, std::uint64_t shared_bytes);

// A GPU: caches keep their contents between launches (as hardware does) unless they are to be cold, clocks
// start at 0.
class CycleGpu {
 public:
  CycleGpu(const device::Device& device, const Options& options);
  ~CycleGpu();
  // Simulates one launch to its end; fills every metric of scope "kernel", limiter, bottleneck and
  // not_modelled. Throws exec::Fault for faults of the program, Error(bad_input "launch-resources") if a
  // block does not fit an SM.
  result::KernelResult run(const stream::WarpSource& launch);
  result::KernelResult run(const exec::Launch& launch);  // executed
  // Blocks that the last run() left out because their pace was known (Options::sample_error): those from
  // `first` on. Nobody has executed them; complete() makes its result one of the whole grid, given the warp
  // instructions that they executed if these are known.
  struct LeftOut {
    std::uint64_t first = 0, count = 0;
  };
  LeftOut left_out() const;
  void complete(result::KernelResult& result, std::optional<std::uint64_t> warp_instructions) const;

  // Several at once. The first one that finds the GPU idle starts its clock at 0; others join it on the way.
  struct Setup {
    int priority = 0;                     // higher is served first; running blocks are not driven out
    std::uint32_t first_sm = 0, sms = 0;  // SMs that it is bound to; 0: any
  };
  using Id = std::uint64_t;
  // The launch may begin at `at`, which is not before what has been simulated. Throws as run(). The source
  // must outlive the launch.
  Id begin(const stream::WarpSource& launch, const Setup& setup, std::uint64_t at);
  bool idle() const;            // no launch is under way
  bool full() const;            // no further launch can begin
  std::uint64_t clock() const;  // has been simulated so far
  // Goes on until a launch ends (which one; finish() it before the next call) or the clock reaches `until`.
  std::optional<Id> advance(std::uint64_t until);
  struct Ended {
    result::KernelResult result;
    std::uint64_t begin = 0, end = 0;  // on the clock
  };
  Ended finish(Id id);

  // What the launches under way have counted when advance() or run() threw (limit, interrupt, fault), in the
  // order of their coming; the same shape as results, and the end is how far they came. They are given up.
  // Their sources must still exist.
  std::vector<Ended> partial();
  // Device memory was written by a copy: caches drop what they hold of it.
  void invalidate(std::uint64_t address, std::uint64_t bytes);
  // What a launch leaves to the next, for checkpoints: the contents of L2 and of the table of translations,
  // rows that are open.
  void save(stream::trace::Buffer& out) const;
  void restore(stream::trace::Bytes& in);  // throws stream::trace::Malformed
  // What was recorded of the window since the last call.
  void move_timeline_to(result::Timeline& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace simtlab::timing

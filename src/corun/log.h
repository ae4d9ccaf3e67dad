// Event traces and decision logs: text that every host writes and `simtlab corun replay` reads. A log is a
// trace with the grants in it.
//
//   simtlab-corun 1
//   policy shark limit=4 light=3 aging=64 quantum=30000000 l2-cap=3.8e+11 dram-cap=2.5e+11 memory-class=0.3
//   best-effort=1 0 kernel 1 time=60000 l2=20940000000 dram=330000000 stall=0.1127 name=IMGVF    (again,
//   whenever more is learnt) 0 join 3 priority=0 100 launch 17 client=3 stream=0 kernel=1 slots=1 ("device=1"
//   behind it: not on the first device) 100 grant 17 250 end 17 gpu=140 260 cancel 18 (waiting launches only)
//   270 pass 3                                                       (it makes no progress: its slots are
//   free, nothing is granted to it) 280 back 3                                                       (it does
//   again; what was granted before ends without slots) 290 policy fair limit=2 ...  (from now on) 300 leave 3
//   (or died; with "drain": what runs keeps its slots until it ends)
//
// Times are nanoseconds and never decrease. Decisions fall where time goes on and at the end: after all
// events of one time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "corun/policy.h"

namespace simtlab::corun {

// Takes one line at a time, without its end.
using LineSink = std::function<void(std::string_view)>;

inline constexpr std::string_view log_heading = "simtlab-corun 1";
std::string policy_line(const Policy& policy, const Settings& settings);
std::string kernel_line(Time now, KernelId kernel, std::string_view name, const Profile* profile);

// What a log says of its launches.
struct LogFigures {
  std::uint64_t granted = 0;
  double wait_mean = 0;  // ns, from asking to the grant, behind others of its stream too
  Time wait_longest = 0, last_end = 0;
  // By client, in their order: from its first launch to its last end. 0: nothing of it ended.
  std::map<ClientId, Time> turnaround;
};

struct Replayed {
  std::string log;                                                   // as the scheduler wrote it anew
  std::uint64_t launches = 0, grants = 0, waiting = 0, running = 0;  // the last two: at the end
  bool had_grants = false;                                           // the trace was a log
  const Policy* policy = nullptr;                                    // that decided
  // Kernels of the trace, and of them those of which the policy does not know at the end what it decides by;
  // the first of these.
  std::uint32_t kernels = 0, unknown = 0;
  std::string first_unknown;
  LogFigures before, after;  // of the log that was read (only if it had grants), and of the new one
  // First line in which the logs differ; empty if none does, or the trace had no grants
  std::string difference;
};

// Runs the policy over the events of a trace or log. With other == null the policy and settings of the trace;
// another policy grants at other times, and a launch then ends as long after its grant as the trace says that
// it took. Throws Error(bad_input, "corun-trace") with the line of what is malformed or impossible.
Replayed replay(std::string_view text, const std::string& file, const Policy* other = nullptr,
                const Settings* settings = nullptr);

}  // namespace simtlab::corun

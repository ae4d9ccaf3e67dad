// Whether a process does anything, as the system tells it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace simtlab::corun::live {

struct Activity {
  bool stopped = false;               // by a signal, or by a debugger
  std::uint64_t processor_ticks = 0;  // of all its threads
};
// None: there is no such process, or nothing is told of it.
std::optional<Activity> activity_of(pid_t pid);

// What is known of a client that holds grants: whether it has done anything since it was looked at last.
class Watch {
 public:
  // heard: messages that came from it. sleeps: a process that takes no processor time may be at work
  // elsewhere (it waits for a simulated GPU). Of whom nothing is told is taken to be at work. The time since
  // which it has done nothing; now: it has done something.
  std::uint64_t idle_since(const std::optional<Activity>& activity, std::uint32_t heard, bool sleeps,
                           std::uint64_t now_ns);
  void forget() { watched_ = false; }

 private:
  bool watched_ = false;
  std::uint64_t ticks_ = 0, since_ns_ = 0;
  std::uint32_t heard_ = 0;
};

}  // namespace simtlab::corun::live

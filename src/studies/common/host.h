// Whom a command serves. In the tool that is the process: its streams, its signals, its argv. In a program
// that called the library (include/simtlab) it is the caller: text is collected, nothing is printed, no
// signal handler is installed, and several commands may run at once, each in a thread of its own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/pulse.h"

namespace simtlab::studies {

class Host {
 public:
  using Clock = std::chrono::steady_clock;

  std::string command_line;  // as the manifest states it

  // What the command's threads say.
  void add_message(std::string_view text);
  // "simulating"; empty: nothing that takes long. pulse: says how far it is, until the next begin; may be
  // null.
  void begin(const std::string& activity, const Pulse* pulse = nullptr);
  void set_child(pid_t child);  // 0: none
  void set_deadline(Clock::time_point when);

  // What the one who waits for it asks and does. Both stop at the simulation's next check, and tell a child
  // as a signal would.
  void interrupt();
  void enforce_deadline();
  std::string activity() const;
  std::string detail() const;  // how far it is; may be empty
  std::string messages() const;

  const volatile bool* stop_flag() const { return &stop_; }
  bool interrupted() const { return interrupted_; }
  bool timed_out() const { return timed_out_ && !interrupted_; }

 private:
  void signal_child(int signal);  // with the lock

  mutable std::mutex mutex_;
  std::string messages_, activity_;
  std::optional<Clock::time_point> deadline_;
  const Pulse* pulse_ = nullptr;
  pid_t child_ = 0;
  bool child_warned_ = false;
  volatile bool stop_ = false, interrupted_ = false, timed_out_ = false;
};

// That of this thread; null in the tool.
Host* host();

// This thread works for `host` until the end of the scope. Threads that a command starts itself don't: what
// they have to say they hand over.
class Serving {
 public:
  explicit Serving(Host& host);
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;
};

}  // namespace simtlab::studies

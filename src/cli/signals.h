// Ctrl-C and the time limit of a run; in somebody else's program (cli/host.h), the caller's wish and the same limit. The first signal asks the simulation to stop at its next check; a
// second SIGINT or SIGTERM ends the process at once with 130. The only state of the tool that a signal
// handler can reach lives here.
#pragma once

#include <sys/types.h>

namespace simtlab::cli {

class Host;

class Signals {
 public:
  // Installs handlers for SIGINT, SIGTERM and, if max_time_s > 0, an alarm. One object at a time.
  explicit Signals(double max_time_s);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  const volatile bool* flag() const;  // set by any of them
  bool interrupted() const;           // by SIGINT or SIGTERM
  bool timed_out() const;
  // While a program runs as a child: signals sent to us go on to it. A terminal's Ctrl-C reaches the child by
  // itself.
  void forward_to(pid_t child);

 private:
  Host* host_;  // null: the process's own signals
};

}  // namespace simtlab::cli

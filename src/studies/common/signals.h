// Ctrl-C and the time limit of a run; in somebody else's program (cli/host.h), the caller's wish and the same
// limit. The first signal asks the simulation to stop at its next check; a second SIGINT or SIGTERM ends the
// process at once with 130. Ctrl-Z, too. The only state of the tool that a signal handler can reach lives
// here, and the number of rows at the bottom of the terminal (cli/status.h).
#pragma once

#include <sys/types.h>

namespace simtlab::studies {

class Host;

class Signals {
 public:
  // Installs handlers for SIGINT, SIGTERM and, if max_time_s > 0, an alarm. One within another (a command
  // that runs a command) only adds its time limit: what stopped the inner one stops the outer one, too.
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
  bool outermost_ = false, timed_ = false;
};

// Whether a first signal or the time limit has asked the command to stop. Of the process, not of a host's
// command.
bool stop_wanted();

// From now on Ctrl-Z takes the rows at the bottom of the terminal away before the process stops, and so do
// Ctrl-C and other signals that end it where nothing else handles them. What is ignored stays so.
void leave_politely();

// While one exists Ctrl-Z only sets a flag: the command has processes of its own that are to stop with it.
class Suspension {
 public:
  Suspension();
  ~Suspension();
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;
  const volatile bool* wanted() const;
  void now();  // stops this process, and returns when it is continued
};

}  // namespace simtlab::studies

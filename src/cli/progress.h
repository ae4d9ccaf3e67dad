// How far a command is, for whoever waits: a line on the terminal (stderr, only if it is one, only after a second), lines in a log
// (--progress plain), rows in a file that another program follows (--live FILE, docs/view.md). In somebody else's program it is the
// activity that the caller's callback sees.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/pulse.h"
#include "cli/options.h"

namespace simtlab::cli {

class LiveFile;

// The kernel by the name that its source gives it.
PulseReading progress_of(const Pulse& pulse);

class Progress {
 public:
  // Nothing happens if stderr is no terminal or `quiet`.
  Progress(std::string what, bool quiet);

  // Of a simulation, which tells how far it is in `pulse`.
  struct Simulation {
    const Pulse* pulse = nullptr;
    bool shares_terminal = false;   // a program writes there, too: no line that is overwritten
    std::string device, mode;
  };
  Progress(std::string what, const OutputOptions& output, const Simulation& simulation);

  ~Progress();  // removes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Whether anybody looks: else the simulation need not tell.
  static bool wanted(const OutputOptions& output, bool shares_terminal);
  // What became of it, for the file: "done", or why not.
  void end(const std::string& how);

 private:
  void start();
  void loop();
  std::string line(double seconds);

  std::string what_;
  const Pulse* pulse_ = nullptr;
  double every_ = 1;                 // seconds between two lines
  bool lines_ = true, plain_ = false;
  std::unique_ptr<LiveFile> live_;
  std::uint64_t instructions_ = 0;   // at the last line, for the rate
  double line_at_ = 0, at_ = 0;      // seconds: of the last line, of the last look
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace simtlab::cli

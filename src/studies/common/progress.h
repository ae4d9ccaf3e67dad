// How far a command is, for whoever waits: a row at the bottom of the terminal (stderr, only if it is one,
// only after a second), lines in a log
// (--progress plain, and on a terminal that can't be overwritten), rows in a file that another program
// follows (--live FILE, docs/guide/view.md). In somebody else's program it is the activity that the caller's
// callback sees.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/pulse.h"
#include "studies/common/options.h"
#include "studies/common/output.h"

namespace simtlab::studies {

class LiveFile;

// The kernel by the name that its source gives it.
PulseReading progress_of(const Pulse& pulse);

// How the user wants to see it, and can.
enum class Shown : std::uint8_t { nothing, row, lines };
// program_prints: a program writes to the terminal itself.
Shown progress_shown(const OutputOptions& output, bool program_prints = false);
inline constexpr double plain_interval_s = 10;  // between two lines

// One within another says nothing: the outer one knows more of what the user asked for.
class Progress {
 public:
  enum class Stopped : std::uint8_t { keeps, loses };  // what was done until a Ctrl-C
  // what: "simulating".
  Progress(std::string what, const OutputOptions& output, Stopped stopped = Stopped::keeps);

  // Of a simulation, which tells how far it is in `pulse`, or of another program.
  struct Simulation {
    const Pulse* pulse = nullptr;
    bool program_prints = false;
    std::string device, mode;
  };
  Progress(std::string what, const OutputOptions& output, const Simulation& simulation,
           Stopped stopped = Stopped::keeps);

  ~Progress();  // removes the row
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Whether anybody looks: else the simulation need not tell.
  static bool wanted(const OutputOptions& output, bool program_prints);
  // Whether there is a row of the terminal, or will be: what a program prints must not be mixed with it.
  static bool row_wanted(const OutputOptions& output);
  // Of commands without a pulse: "timing, 1 of 6 areas". Any thread.
  void at(std::string detail);
  // What became of it, for the file: "done", or why not.
  void end(const std::string& how);

 private:
  void start();
  void loop();
  std::string plain_line(double seconds);
  std::string row(double seconds, std::size_t columns);
  double rate(const PulseReading& now, double seconds);
  double seconds_left(const PulseReading& now, double seconds) const;

  std::string what_, detail_;
  const Pulse* pulse_ = nullptr;
  Shown shown_ = Shown::nothing;
  Stopped stopped_ = Stopped::keeps;
  std::unique_ptr<LiveFile> live_;
  std::uint64_t instructions_ = 0;  // at the last line, for the rate
  double line_at_ = 0, at_ = 0;     // seconds: of the last line, of the last look
  std::uint64_t kernel_ = 0;        // launches before the one under way, and
  double kernel_began_ = 0;         // when it was first seen
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false, is_outermost_ = false;
  std::thread thread_;
};

}  // namespace simtlab::studies

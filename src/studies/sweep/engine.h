// Engines run the points of a study that are not done.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "studies/sweep/store.h"

namespace simtlab::studies::sweep {

struct RunningPoint {
  std::uint64_t id = 0;
  std::vector<std::string> values;
  double begun = 0;
};

// Told what happens; may be slow only now and then. Called from one thread.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void finished(const Point& point, const Outcome& outcome) = 0;
  virtual void given_back(const Point& point, const std::string& why) = 0;
  // A few times a second
  virtual void tick(const Counts& counts, const std::vector<RunningPoint>& running) = 0;
  // A line worth a reader's time
  virtual void say(const std::string& text) = 0;
  // Stops this process until somebody continues it
  virtual void suspend() {}
};

struct EngineOptions {
  std::string program;             // the simtlab that runs points, a full path
  std::vector<std::string> extra;  // words for every command: --threads=1
  std::size_t jobs = 1;
  std::uint64_t most_failures = 0;  // stop when there are as many; 0: no limit
  std::uint64_t retries = 2;        // of a point that was lost with its node
  const volatile bool* stop = nullptr;
  // The user wants all to stand still: the listener's suspend() does it, when the points have stopped
  const volatile bool* suspend = nullptr;
};

enum class Ending : std::uint8_t { complete, interrupted, too_many_failures };

// The words of a point's process, and where its result goes.
std::vector<std::string> process_words(const Study& study, const Point& point, const EngineOptions& options,
                                       const std::filesystem::path& result);

// What a process that has ended left behind, as an outcome. `timed_out_s`: it was killed for that; 0: it was
// not.
Outcome outcome_of(const Store& store, const Point& point, int status, double timed_out_s);

// Takes what the processes of an earlier call wrote before that was killed, and gives back what they did not
// finish. Returns how many were taken.
std::uint64_t recover(Store& store);

// Processes on this machine. Throws Error; what was finished is kept.
Ending run_local(const Study& study, Store& store, const EngineOptions& options, Listener& listener);

}  // namespace simtlab::studies::sweep

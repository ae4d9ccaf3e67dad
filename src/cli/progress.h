// A line on the terminal that says that work goes on: stderr only, only if it is a terminal, only after one
// second. In somebody else's program it is the activity that the caller's callback sees.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace simtlab::cli {

class Progress {
 public:
  // Nothing happens if stderr is no terminal or `quiet`.
  Progress(std::string what, bool quiet);
  ~Progress();  // removes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void loop();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace simtlab::cli

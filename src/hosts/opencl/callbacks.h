// Functions of the program, called from a thread of ours that holds no lock.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace simtlab::hosts::opencl {

class Callbacks {
 public:
  static Callbacks& get();
  // Starts the thread with the first one; they run one after another.
  void post(std::function<void()> function);

 private:
  Callbacks() = default;
  void run();

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> functions_;
  bool running_ = false;
};

}  // namespace simtlab::hosts::opencl

#include "hosts/opencl/callbacks.h"

#include <signal.h>

#include <thread>

#include "base/own_threads.h"

namespace simtlab::hosts::opencl {

Callbacks& Callbacks::get() {
  static Callbacks* callbacks = new Callbacks;  // its thread never ends
  return *callbacks;
}

void Callbacks::post(std::function<void()> function) {
  const std::lock_guard lock(mutex_);
  functions_.push_back(std::move(function));
  if (!running_) {
    running_ = true;
    // Signals are for the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] {
      const OwnThread ours;
      run();
    }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  posted_.notify_one();
}

void Callbacks::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    posted_.wait(lock, [&] { return !functions_.empty(); });
    std::function<void()> next = std::move(functions_.front());
    functions_.pop_front();
    lock.unlock();
    next();
    next = nullptr;
    lock.lock();
  }
}

}  // namespace simtlab::hosts::opencl

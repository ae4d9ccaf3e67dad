#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "cli/host.h"
#include "cli/output.h"

namespace simtlab::cli {

Progress::Progress(std::string what, bool quiet) : what_(std::move(what)) {
  if (Host* const served = host()) {
    served->begin(what_);
    return;
  }
  if (quiet || ::isatty(STDERR_FILENO) != 1) return;
  // Signals are for the thread that simulates.
  sigset_t all, old;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &old);
  thread_ = std::thread([this] { loop(); });
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

Progress::~Progress() {
  if (Host* const served = host()) served->begin({});
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Progress::loop() {
  const auto begin = std::chrono::steady_clock::now();
  bool shown = false;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    talk(fmt::format("\r{}: {:.0f} s (Ctrl-C stops and keeps what was done)", what_, seconds));
    shown = true;
  }
  if (shown) talk("\r\x1b[K");
}

}  // namespace simtlab::cli

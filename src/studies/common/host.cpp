#include "studies/common/host.h"

#include <csignal>

#include "studies/common/progress.h"

namespace simtlab::studies {
namespace {

thread_local Host* served_host = nullptr;

// After the time limit a child that does not stop is killed
constexpr std::chrono::seconds grace_of_child{10};

}  // namespace

Host* host() { return served_host; }

Serving::Serving(Host& host) { served_host = &host; }
Serving::~Serving() { served_host = nullptr; }

void Host::add_message(std::string_view text) {
  const std::lock_guard lock(mutex_);
  messages_ += text;
}

void Host::begin(const std::string& activity, const Pulse* pulse) {
  const std::lock_guard lock(mutex_);
  activity_ = activity;
  pulse_ = pulse;
}

void Host::set_child(pid_t child) {
  const std::lock_guard lock(mutex_);
  child_ = child;
  child_warned_ = false;
  // A wish that came between fork and now has not been passed on.
  if (stop_) signal_child(timed_out_ ? SIGALRM : SIGINT);
}

void Host::set_deadline(Clock::time_point when) {
  const std::lock_guard lock(mutex_);
  deadline_ = when;
}

void Host::signal_child(int signal) {
  if (child_ > 0) ::kill(child_, child_warned_ ? SIGKILL : signal);
  child_warned_ = child_ > 0;
}

void Host::interrupt() {
  const std::lock_guard lock(mutex_);
  if (!interrupted_) deadline_ = Clock::now() + grace_of_child;
  interrupted_ = true;
  stop_ = true;
  if (!child_warned_) signal_child(SIGINT);
}

void Host::enforce_deadline() {
  const std::lock_guard lock(mutex_);
  if (!deadline_ || Clock::now() < *deadline_) return;
  deadline_ = Clock::now() + grace_of_child;
  timed_out_ = true;
  stop_ = true;
  signal_child(SIGALRM);
}

std::string Host::activity() const {
  const std::lock_guard lock(mutex_);
  return activity_;
}

std::string Host::detail() const {
  const std::lock_guard lock(mutex_);
  return pulse_ == nullptr ? std::string{} : text_of(progress_of(*pulse_));
}

std::string Host::messages() const {
  const std::lock_guard lock(mutex_);
  return messages_;
}

}  // namespace simtlab::studies

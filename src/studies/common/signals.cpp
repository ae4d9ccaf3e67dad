#include "studies/common/signals.h"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <initializer_list>
#include <utility>

#include "studies/common/host.h"
#include "studies/common/status.h"

namespace simtlab::studies {
namespace {

// A signal handler can only reach what is global: these, and only through this file.
volatile bool stop_requested = false;
volatile std::sig_atomic_t stop_signals = 0;
volatile std::sig_atomic_t alarms = 0;
volatile pid_t child_process = 0;
int objects = 0;  // of Signals; no handler looks
volatile bool suspension_waits = false, suspension_wanted = false;

constexpr int grace_seconds = 10;  // after the time limit a child that does not stop is killed

void on_stop(int signal, siginfo_t* info, void*) {
  if (stop_signals != 0) {
    if (child_process > 0) ::kill(child_process, SIGKILL);
    clear_status_in_handler();
    ::_exit(130);
  }
  stop_signals = 1;
  stop_requested = true;
  const bool from_terminal = info != nullptr && info->si_code == SI_KERNEL;
  if (child_process > 0 && !from_terminal) ::kill(child_process, signal);
}

void on_alarm(int, siginfo_t*, void*) {
  stop_requested = true;
  if (child_process > 0) ::kill(child_process, alarms == 0 ? SIGALRM : SIGKILL);
  alarms = 1;
}

void install(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

void on_suspend(int, siginfo_t*, void*);

// What Ctrl-Z does where nobody handles it. Not SIGSTOP: a process that no shell would continue must not
// stop.
void stop_here() {
  clear_status_in_handler();
  struct sigaction action {
  }, before{};
  action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGTSTP, &action, &before);
  sigset_t one, old;
  sigemptyset(&one);
  sigaddset(&one, SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &one, &old);
  ::raise(SIGTSTP);  // returns when the process is continued
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  ::sigaction(SIGTSTP, &before, nullptr);
}

void on_suspend(int, siginfo_t*, void*) {
  const int kept = errno;
  if (suspension_waits)
    suspension_wanted = true;
  else
    stop_here();
  errno = kept;
}

// As without a handler, but that the terminal is left in order.
void on_death(int signal, siginfo_t*, void*) {
  clear_status_in_handler();
  std::signal(signal, SIG_DFL);
  ::raise(signal);  // when the handler returns
}

}  // namespace

bool stop_wanted() { return stop_requested; }

void leave_politely() {
  const std::pair<int, void (*)(int, siginfo_t*, void*)> all[] = {{SIGTSTP, on_suspend},
                                                                  {SIGINT, on_death},
                                                                  {SIGTERM, on_death},
                                                                  {SIGHUP, on_death},
                                                                  {SIGQUIT, on_death}};
  for (const auto& [signal, handler] : all) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
        now.sa_handler == SIG_DFL)
      install(signal, handler);
  }
}

Suspension::Suspension() {
  suspension_wanted = false;
  suspension_waits = true;
  if (host() == nullptr) leave_politely();
}
Suspension::~Suspension() { suspension_waits = false; }
const volatile bool* Suspension::wanted() const { return &suspension_wanted; }
void Suspension::now() {
  suspension_wanted = false;
  stop_here();
}

Signals::Signals(double max_time_s) : host_(host()) {
  if (host_ != nullptr) {
    if (max_time_s > 0) {
      const std::chrono::duration<double> most(std::clamp(max_time_s, 1e-3, 1e9));
      host_->set_deadline(Host::Clock::now() + std::chrono::duration_cast<Host::Clock::duration>(most));
    }
    return;
  }
  outermost_ = objects++ == 0;
  if (outermost_) {
    stop_requested = false;
    stop_signals = 0;
    alarms = 0;
    child_process = 0;
    install(SIGINT, on_stop);
    install(SIGTERM, on_stop);
  }
  timed_ = max_time_s > 0;
  if (!timed_) return;
  alarms = 0;
  install(SIGALRM, on_alarm);
  const double bounded = std::clamp(max_time_s, 1e-3, 1e9);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(bounded);
  timer.it_value.tv_usec = static_cast<suseconds_t>((bounded - std::floor(bounded)) * 1e6);
  timer.it_interval.tv_sec = grace_seconds;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

Signals::~Signals() {
  if (host_ != nullptr) return;
  --objects;
  if (timed_) {
    const itimerval off{};
    ::setitimer(ITIMER_REAL, &off, nullptr);
    std::signal(SIGALRM, SIG_DFL);
    if (stop_signals == 0) stop_requested = false;  // the time that is over was this one's
  }
  if (!outermost_) return;
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
}

const volatile bool* Signals::flag() const { return host_ != nullptr ? host_->stop_flag() : &stop_requested; }
bool Signals::interrupted() const { return host_ != nullptr ? host_->interrupted() : stop_signals != 0; }
bool Signals::timed_out() const {
  return host_ != nullptr ? host_->timed_out() : alarms != 0 && stop_signals == 0;
}
void Signals::forward_to(pid_t child) {
  if (host_ != nullptr) {
    host_->set_child(child);
    return;
  }
  child_process = child;
  // A signal that came between fork and now has not been passed on.
  if (child > 0 && stop_requested) ::kill(child, alarms != 0 ? SIGALRM : SIGINT);
}

}  // namespace simtlab::studies

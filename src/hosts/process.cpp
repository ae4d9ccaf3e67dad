#include "hosts/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/own_threads.h"
#include "hosts/session.h"
#include "result/findings.h"
#include "result/json.h"
#include "result/totals.h"

namespace simtlab::hosts {
namespace {

constexpr int stop_signals[] = {SIGINT, SIGTERM, SIGALRM};
constexpr int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr char stop = 's', crash = 'c';

volatile bool interrupted = false;
int to_watcher = -1, from_watcher = -1;  // write end, read end
pid_t owner = 0;
bool watching = false;
std::string written_as;

void on_stop(int) {
  interrupted = true;
  const int saved = errno;
  [[maybe_unused]] const ssize_t n = write(to_watcher, &stop, 1);
  errno = saved;
}

// Lets the watcher write the result, then dies of the signal as it would have.
void on_crash(int signal_number) {
  signal(signal_number, SIG_DFL);
  if (getpid() == owner && write(to_watcher, &crash, 1) == 1) {
    pollfd done{from_watcher, POLLIN, 0};
    poll(&done, 1, 5000);
  }
  raise(signal_number);
}

void install(int signal_number, void (*handler)(int)) {
  struct sigaction now {};
  if (sigaction(signal_number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction ours {};
  ours.sa_handler = handler;
  ours.sa_flags = SA_RESTART;
  sigaction(signal_number, &ours, nullptr);
}

// The lock may be held by a thread that crashed, or by a launch that is about to see the flag.
bool lock_soon(Session& session, int milliseconds) {
  for (int waited = 0; waited < milliseconds; waited += 5) {
    if (session.mutex.try_lock()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

void watch(Session& session, int requests, int answers, double limit_s) {
  const OwnThread ours;
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    int wait_ms = -1;
    if (limit_s > 0) {
      const double left =
          limit_s - std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      wait_ms = left > 0 ? static_cast<int>(std::min(left * 1000 + 1, 1e9)) : 0;
    }
    pollfd request{requests, POLLIN, 0};
    const int ready = poll(&request, 1, wait_ms);
    if (ready < 0) continue;
    char what = stop;
    if (ready > 0 && read(requests, &what, 1) != 1) return;
    if (what == crash) {
      const bool locked = lock_soon(session, 1000);
      write_result(session, true);
      if (locked) session.mutex.unlock();
      [[maybe_unused]] const ssize_t n = write(answers, &crash, 1);
      return;
    }
    // A launch in progress sees the flag and ends the process itself; otherwise it is done here.
    interrupted = true;
    const bool locked = lock_soon(session, 20000);
    session.mark_interrupted();
    write_result(session, true);
    if (locked) session.mutex.unlock();
    std::fflush(stdout);
    _exit(static_cast<int>(ExitCode::interrupted));
  }
}

// False: there is nothing to write.
bool write_or_throw(Session& session, const char* path, bool last) {
  std::optional<result::Result> result = session.result(last);
  if (!result) return false;
  if (session.run().sm_timeline && session.started())
    result::add_sm_timeline(*result, session.gpu().timeline());
  if (written_as.empty()) {
    written_as = result::write_result_file(path, *result);
    return true;
  }
  result::save_result_file(written_as, *result);
  return true;
}

// Tables that are built at first use are torn down in the reverse order: whatever writing a result needs must
// exist before the object that writes at the end does.
void rehearse() {
  result::Result small;
  small.kernels.emplace_back();
  small.kernels.back().metrics.set("gpu.time", 1.0);
  small.total = result::combine(small.kernels);
  static_cast<void>(result::to_json(small));
  static_cast<void>(result::finding_rules());
}

struct AtEnd {
  Session& session;
  ~AtEnd() {
    if (getpid() != owner) return;  // a forked child has nothing to say
    const bool locked = lock_soon(session, 1000);
    if (locked && session.started()) session.settle();
    write_result(session, true);
    if (locked) session.mutex.unlock();
  }
};

// quick_exit() runs no destructors.
Session* at_quick_end = nullptr;
void quick_end() { const AtEnd end{*at_quick_end}; }

}  // namespace

const volatile bool* interrupt_flag() { return &interrupted; }

void watch_process(Session& session) {
  if (watching) return;
  watching = true;
  owner = getpid();
  rehearse();
  static const AtEnd at_end{session};
  at_quick_end = &session;
  ::at_quick_exit(quick_end);
  if (std::getenv("SIMTLAB_RESULT") == nullptr && session.run().max_time_ns <= 0) return;
  int requests[2], answers[2];
  if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) return;
  to_watcher = requests[1];
  from_watcher = answers[0];
  // The watcher takes no signals: handlers run in the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(watch, std::ref(session), requests[0], answers[1], session.run().max_time_s()).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (const int s : stop_signals) install(s, on_stop);
  for (const int s : crash_signals) install(s, on_crash);
}

std::string claim_output(const std::string& file, const std::string& kind) {
  const char* result = std::getenv("SIMTLAB_RESULT");
  if (file.empty() || result == nullptr) return file;
  for (unsigned i = 0; i < 10000; ++i) {
    const std::string number = i == 0 ? "" : "." + std::to_string(i);
    const int claim = open((result + (kind + number)).c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (claim < 0) continue;
    close(claim);
    return file + number;
  }
  return {};
}

void write_result(Session& session, bool last) {
  const char* path = std::getenv("SIMTLAB_RESULT");
  if (path == nullptr || *path == '\0') return;
  const NoFileSizeSignal quiet;
  try {
    session.finish_recording();
    session.finish_checkpoint();
    session.finish_timeline();
    if (write_or_throw(session, path, last)) session.result_is_written(written_as, last);
  } catch (const Error& error) {
    std::fprintf(stderr, "simtlab: %s", error.format().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simtlab: error: cannot write the result: %s\n", error.what());
  }
}

void stop_interrupted(Session& session, const std::string& where) {
  session.mark_interrupted(where);
  write_result(session, true);
  std::fflush(stdout);
  _exit(static_cast<int>(ExitCode::interrupted));
}

}  // namespace simtlab::hosts

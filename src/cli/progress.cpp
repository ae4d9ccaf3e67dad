#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "cli/host.h"
#include "cli/live_file.h"
#include "cli/output.h"
#include "gpu/kernel_choice.h"

namespace simtlab::cli {
namespace {

constexpr double plain_interval = 10;   // seconds
constexpr auto tick = std::chrono::milliseconds(250);

bool on_terminal(bool quiet) { return !quiet && ::isatty(STDERR_FILENO) == 1; }

}  // namespace

PulseReading progress_of(const Pulse& pulse) {
  PulseReading out = reading_of(pulse);
  const std::string name = gpu::demangle(out.kernel);
  out.kernel = name.substr(0, name.find('('));
  return out;
}

Progress::Progress(std::string what, bool quiet) : what_(std::move(what)), lines_(on_terminal(quiet)) { start(); }

Progress::Progress(std::string what, const OutputOptions& output, const Simulation& simulation)
    : what_(std::move(what)), pulse_(simulation.pulse), plain_(output.progress == "plain" && !output.quiet) {
  lines_ = plain_ || (output.progress == "auto" && !simulation.shares_terminal && on_terminal(output.quiet));
  if (plain_) every_ = plain_interval;
  if (!output.live.empty()) live_ = std::make_unique<LiveFile>(output.live, simulation.device, simulation.mode);
  start();
}

bool Progress::wanted(const OutputOptions& output, bool shares_terminal) {
  if (host() != nullptr || !output.live.empty()) return true;
  return !output.quiet && (output.progress == "plain" || (output.progress == "auto" && !shares_terminal && on_terminal(false)));
}

void Progress::start() {
  if (Host* const served = host()) {
    served->begin(what_, pulse_);
    lines_ = false;
  }
  if (!lines_ && !live_) return;
  // Signals are for the thread that simulates.
  sigset_t all, old;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &old);
  thread_ = std::thread([this] { loop(); });
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

Progress::~Progress() { end("failed"); }

void Progress::end(const std::string& how) {
  if (Host* const served = host()) served->begin({});
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  if (live_) live_->end(pulse_ != nullptr ? progress_of(*pulse_) : PulseReading{}, std::max(at_, 0.0), how);
}

// The rate is that since the last line.
std::string Progress::line(double seconds) {
  std::string out = what_;
  if (pulse_ == nullptr) return fmt::format("{}: {:.0f} s", out, seconds);
  const PulseReading now = progress_of(*pulse_);
  if (const std::string far = text_of(now); !far.empty()) out += ": " + far;
  if (seconds > line_at_ && now.instructions > instructions_)
    out += fmt::format(", {:.2f} M a second", static_cast<double>(now.instructions - instructions_) * 1e-6 / (seconds - line_at_));
  instructions_ = now.instructions;
  line_at_ = seconds;
  return fmt::format("{}, {:.0f} s", out, seconds);
}

void Progress::loop() {
  const auto begin = std::chrono::steady_clock::now();
  double next = 1;   // short ones say nothing
  bool shown = false;
  std::unique_lock lock(mutex_);
  const auto look = [&] {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (live_) live_->look(pulse_ != nullptr ? progress_of(*pulse_) : PulseReading{}, seconds);
    if (lines_ && seconds >= next) {
      next += every_;
      const std::string text = line(seconds);
      talk(plain_ ? fmt::format("{}\n", text) : fmt::format("\r{} (Ctrl-C stops and keeps what was done)\x1b[K", text));
      shown = !plain_;
    }
    at_ = seconds;
  };
  look();
  while (!changed_.wait_for(lock, tick, [this] { return done_; })) look();
  at_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (shown) talk("\r\x1b[K");
}

}  // namespace simtlab::cli

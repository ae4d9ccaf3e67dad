#include "studies/common/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <utility>

#include "base/kernel_name.h"
#include "report/format.h"
#include "studies/common/host.h"
#include "studies/common/live_file.h"
#include "studies/common/output.h"
#include "studies/common/signals.h"
#include "studies/common/status.h"

namespace simtlab::studies {
namespace {

constexpr auto tick = std::chrono::milliseconds(250);
constexpr double row_interval_s = 1;
constexpr unsigned bar_columns = 12;
constexpr double least_for_estimate = 0.01;  // of a kernel's blocks: before that it is a guess

// A piece of a row; where not all fit, those with a low number are shown.
struct Piece {
  unsigned rank;
  std::string text;
};

std::string fitting(const std::vector<Piece>& pieces, std::size_t columns) {
  std::vector<const Piece*> ranked;
  for (const Piece& p : pieces) ranked.push_back(&p);
  std::ranges::stable_sort(ranked, {}, &Piece::rank);
  std::size_t used = 0;
  std::vector<bool> shown(pieces.size());
  for (const Piece* p : ranked) {
    if (used != 0 && used + p->text.size() > columns) continue;
    used += p->text.size();
    shown[static_cast<std::size_t>(p - pieces.data())] = true;
  }
  std::string out;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (shown[i]) out += pieces[i].text;
  return out;
}

std::atomic<bool> somebody_tells{false};  // there is a Progress that shows something
std::atomic<bool> somebody_has_row{false};

// The short one counts more than details of the run, the long one less.
Piece long_hint(Progress::Stopped stopped) {
  return {9, stop_wanted()                         ? " (stopping; Ctrl-C again leaves at once)"
             : stopped == Progress::Stopped::keeps ? " (Ctrl-C stops and keeps what was done)"
                                                   : " (Ctrl-C stops)"};
}
Piece short_hint() { return {4, stop_wanted() ? " (stopping)" : " (Ctrl-C stops)"}; }

}  // namespace

PulseReading progress_of(const Pulse& pulse) {
  PulseReading out = reading_of(pulse);
  const std::string name = demangle(out.kernel);
  // It may come from a trace that somebody sent
  out.kernel = report::printable(name.substr(0, name.find('(')));
  return out;
}

Shown progress_shown(const OutputOptions& output, bool program_prints) {
  if (output.quiet || output.progress == "none" || host() != nullptr) return Shown::nothing;
  if (output.progress == "plain") return Shown::lines;
  const Screen on = screen();
  if (!on.terminal || program_prints) return Shown::nothing;
  return on.overwritable ? Shown::row : Shown::lines;
}

Progress::Progress(std::string what, const OutputOptions& output, Stopped stopped)
    : what_(std::move(what)), shown_(progress_shown(output)), stopped_(stopped) {
  start();
}

Progress::Progress(std::string what, const OutputOptions& output, const Simulation& simulation,
                   Stopped stopped)
    : what_(std::move(what)),
      pulse_(simulation.pulse),
      shown_(progress_shown(output, simulation.program_prints)),
      stopped_(stopped) {
  if (!output.live.empty())
    live_ = std::make_unique<LiveFile>(output.live, simulation.device, simulation.mode);
  start();
}

bool Progress::wanted(const OutputOptions& output, bool program_prints) {
  return host() != nullptr || !output.live.empty() ||
         progress_shown(output, program_prints) != Shown::nothing;
}

bool Progress::row_wanted(const OutputOptions& output) {
  return somebody_has_row || progress_shown(output) == Shown::row;
}

void Progress::start() {
  if (Host* const served = host()) served->begin(what_, pulse_);
  if (shown_ != Shown::nothing) {
    is_outermost_ = !somebody_tells.exchange(true);
    if (!is_outermost_)
      shown_ = Shown::nothing;
    else
      somebody_has_row = shown_ == Shown::row;
  }
  if (shown_ == Shown::nothing && !live_) return;
  // Signals are for the thread that simulates.
  sigset_t all, old;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &old);
  thread_ = std::thread([this] { loop(); });
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

Progress::~Progress() { end("failed"); }

void Progress::at(std::string detail) {
  const std::lock_guard lock(mutex_);
  detail_ = std::move(detail);
}

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
  if (std::exchange(is_outermost_, false)) somebody_tells = false, somebody_has_row = false;
  if (live_) live_->end(pulse_ != nullptr ? progress_of(*pulse_) : PulseReading{}, std::max(at_, 0.0), how);
}

// How long the kernel under way will take from now on; what follows it is not known. Negative: it can't be
// told.
double Progress::seconds_left(const PulseReading& now, double seconds) const {
  const double share =
      now.of_blocks == 0 ? 0 : static_cast<double>(now.blocks) / static_cast<double>(now.of_blocks);
  return share < least_for_estimate || share >= 1 ? -1 : (seconds - kernel_began_) * (1 - share) / share;
}

// Warp instructions a second since the last line.
double Progress::rate(const PulseReading& now, double seconds) {
  const double out = seconds > line_at_ && now.instructions > instructions_
                         ? static_cast<double>(now.instructions - instructions_) / (seconds - line_at_)
                         : 0;
  instructions_ = now.instructions;
  line_at_ = seconds;
  return out;
}

std::string Progress::plain_line(double seconds) {
  std::string out = what_;
  if (!detail_.empty()) out += ": " + detail_;
  if (pulse_ == nullptr) return fmt::format("{}{} {:.0f} s", out, detail_.empty() ? ":" : ",", seconds);
  const PulseReading now = progress_of(*pulse_);
  if (const std::string far = text_of(now); !far.empty()) out += ": " + far;
  if (const double pace = rate(now, seconds); pace > 0)
    out += fmt::format(", {:.2f} M a second", pace * 1e-6);
  out += fmt::format(", {:.0f} s", seconds);
  if (const double left = seconds_left(now, seconds); left >= 0)
    out += fmt::format(", kernel done in about {}", report::format_time(left * 1e9));
  return out;
}

std::string Progress::row(double seconds, std::size_t columns) {
  std::vector<Piece> pieces = {{0, what_ + ":"}};
  if (pulse_ != nullptr) {
    const PulseReading now = progress_of(*pulse_);
    if (now.of_blocks > 1)
      pieces.push_back({5, fmt::format(" [{}]", report::bar(static_cast<double>(now.blocks) /
                                                                static_cast<double>(now.of_blocks),
                                                            bar_columns, {}))});
    if (!now.kernel.empty())
      pieces.push_back({3, " " + report::shortened(now.kernel, std::max<std::size_t>(columns / 4, 8))});
    if (!now.kernel.empty())
      pieces.push_back({2, fmt::format(" {} of {} blocks,", now.blocks, now.of_blocks)});
    else if (now.launches != 0)
      pieces.push_back({2, fmt::format(" {} launches,", now.launches)});
    if (now.cycles != 0)
      pieces.push_back(
          {6, fmt::format(" {} cycles,", report::format_count(static_cast<double>(now.cycles)))});
    if (const double pace = rate(now, seconds); pace > 0)
      pieces.push_back({8, fmt::format(" {} instructions/s,", report::format_count(pace))});
    pieces.push_back({1, fmt::format(" {:.0f} s", seconds)});
    if (const double left = seconds_left(now, seconds); left >= 0)
      pieces.push_back({7, fmt::format(", kernel done in about {}", report::format_time(left * 1e9))});
  } else {
    if (!detail_.empty()) pieces.push_back({2, " " + detail_ + ","});
    pieces.push_back({1, fmt::format(" {:.0f} s", seconds)});
  }
  pieces.push_back(long_hint(stopped_));
  if (std::string out = fitting(pieces, columns); out.ends_with(')')) return out;
  pieces.back() = short_hint();
  return fitting(pieces, columns);
}

void Progress::loop() {
  const auto begin = std::chrono::steady_clock::now();
  double next = row_interval_s;  // short ones say nothing
  bool drawn = false, told_stop = false;
  std::unique_lock lock(mutex_);
  const auto look = [&] {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (live_) live_->look(pulse_ != nullptr ? progress_of(*pulse_) : PulseReading{}, seconds);
    if (pulse_ != nullptr)
      if (const std::uint64_t launches = pulse_->launches.load(std::memory_order_relaxed);
          launches != kernel_)
        kernel_ = launches, kernel_began_ = seconds;
    const bool stopping = stop_wanted() && !told_stop;
    if (shown_ != Shown::nothing && (seconds >= next || (stopping && drawn))) {
      told_stop = stop_wanted();
      next = seconds + (shown_ == Shown::row ? row_interval_s : plain_interval_s);
      drawn = shown_ == Shown::row;
      drawn ? show_status({row(seconds, row_columns(screen()))}) : talk(plain_line(seconds) + "\n");
    }
    at_ = seconds;
  };
  look();
  while (!changed_.wait_for(lock, tick, [this] { return done_; })) look();
  at_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (drawn) clear_status();
}

}  // namespace simtlab::studies

#include "studies/sweep/command/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/shown.h"
#include "report/format.h"
#include "studies/common/host.h"
#include "studies/common/output.h"
#include "studies/common/status.h"
#include "studies/sweep/process.h"

namespace simtlab::studies {
namespace {

constexpr std::size_t shown_running = 8, shown_ended = 4;
constexpr std::chrono::milliseconds redraw_every{250};
constexpr std::chrono::seconds silent_for{1};  // what is over at once needs no table

}  // namespace

SweepTable::SweepTable(std::vector<std::string> axes, const OutputOptions& output)
    : axes_(std::move(axes)),
      quiet_(output.quiet),
      verbose_(output.verbose > 0),
      shown_(progress_shown(output)),
      next_(begun_ + silent_for) {}

std::string SweepTable::label(const std::vector<std::string>& values) const {
  std::string out;
  for (std::size_t a = 0; a < axes_.size() && a < values.size(); ++a)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", report::printable(axes_[a]),
                       report::shortened(report::printable(values[a]), 40));
  return out;
}

void SweepTable::say(const std::string& text) {
  if (!quiet_) talk(text + "\n");
}

void SweepTable::finished(const studies::sweep::Point& p, const studies::sweep::Outcome& o) {
  ++ended_;
  const double seconds = std::max(0.0, o.ended - o.begun);
  const bool failed = !o.error.empty() || o.exit_code != 0;
  const std::string text = fmt::format(
      "point {}: {} in {} {}{}", p.id, failed ? "failed" : "done", report::format_time(seconds * 1e9),
      label(p.values), failed ? ": " + shown(o.error.substr(0, o.error.find('\n')), 160) : "");
  if (verbose_) say(text);
  last_.push_back(text);
  if (last_.size() > shown_ended) last_.erase(last_.begin());
}

void SweepTable::given_back(const studies::sweep::Point& p, const std::string& why) {
  if (verbose_) say(fmt::format("point {}: to be run again: {}", p.id, shown(why, 160)));
}

std::string SweepTable::headline(const studies::sweep::Counts& c) const {
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  const std::uint64_t left = c.pending + c.running;
  std::string out = fmt::format("{} of {} points done, {} failed, {} running, {:.0f} s", c.done, c.all(),
                                c.failed, c.running, elapsed);
  if (ended_ > 0 && left > 0)
    out += fmt::format(", about {} left", report::format_time(elapsed / static_cast<double>(ended_) *
                                                              static_cast<double>(left) * 1e9));
  if (shown_ == Shown::lines) return out;
  // The longest hint that fits.
  const std::size_t columns = row_columns(screen());
  for (const char* hint : {stop_wanted() ? " (stopping; Ctrl-C again leaves at once)"
                                         : " (Ctrl-C stops, the same command goes on)",
                           stop_wanted() ? " (stopping)" : " (Ctrl-C stops)"})
    if (out.size() + std::char_traits<char>::length(hint) <= columns) return out + hint;
  return out;
}

void SweepTable::tick(const studies::sweep::Counts& counts,
                      const std::vector<studies::sweep::RunningPoint>& running) {
  const auto now = std::chrono::steady_clock::now();
  if (Host* const served = host(); served != nullptr) served->begin("sweeping: " + headline(counts));
  if (shown_ == Shown::nothing || now < next_) return;
  if (shown_ == Shown::lines) {
    next_ = now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                      std::chrono::duration<double>(plain_interval_s));
    return talk(headline(counts) + "\n");
  }
  next_ = now + redraw_every;
  std::vector<std::string> rows = {headline(counts)};
  for (std::size_t i = 0; i < running.size() && i < shown_running; ++i)
    rows.push_back(fmt::format("  point {} for {:.0f} s  {}", running[i].id,
                               std::max(0.0, studies::sweep::unix_time() - running[i].begun),
                               label(running[i].values)));
  for (const std::string& text : last_) rows.push_back("  " + text);
  show_status(rows);
}

void SweepTable::suspend() { suspension_.now(); }

void SweepTable::clear() { clear_status(); }

}  // namespace simtlab::studies

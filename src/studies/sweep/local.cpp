// The engine of one machine: as many processes as there are cores. A point that ended is replaced by the next
// at once; what it wrote is put into the database while the others run.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <memory>

#include "base/error.h"
#include "result/json.h"
#include "studies/sweep/engine.h"
#include "studies/sweep/process.h"

namespace simtlab::studies::sweep {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds commit_every{200}, tick_every{200}, poll_at_most{100};
constexpr std::chrono::seconds patience{3};  // of a process that was asked to stop
constexpr std::size_t ahead = 256;           // points that are read at once

class Local {
 public:
  Local(const Study& study, Store& store, const EngineOptions& options, Listener& listener)
      : study_(study),
        store_(store),
        o_(options),
        listener_(listener),
        host_(host_name()),
        counts_(store.counts()),
        slots_(options.jobs) {}

  Ending run() {
    std::error_code code;
    std::filesystem::create_directory(store_.spool(), code);
    if (!std::filesystem::is_directory(store_.spool()))
      throw Error(ExitCode::failure, "sweep-database",
                  fmt::format("cannot make the folder {}: {}", store_.spool().string(), code.message()));
    for (;;) {
      if (o_.suspend != nullptr && *o_.suspend) stand_still();
      if (stopping()) break;
      fill();
      if (running() == 0) break;
      wait();
      look();
      keep();
      tick(false);
    }
    const Ending ending = ending_of();
    if (running() > 0) stop_all();
    keep_now();
    tick(true);
    return ending;
  }

 private:
  struct Slot {
    std::unique_ptr<Process> process;
    Point point;
    Clock::time_point deadline = Clock::time_point::max();
    bool timed_out = false;
  };

  std::size_t running() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(slots_, [](const Slot& s) { return s.process != nullptr; }));
  }
  bool interrupted() const { return o_.stop != nullptr && *o_.stop; }
  bool stopping() const {
    return interrupted() || (o_.most_failures != 0 && counts_.failed >= o_.most_failures);
  }
  Ending ending_of() const {
    if (interrupted()) return Ending::interrupted;
    return stopping() ? Ending::too_many_failures : Ending::complete;
  }

  bool next(Point& out) {
    if (queue_.empty()) {
      const std::vector<Point> more = store_.points(State::pending, next_, ahead);
      queue_.assign(more.begin(), more.end());
      if (queue_.empty()) return false;
      next_ = queue_.back().id + 1;
    }
    out = std::move(queue_.front());
    queue_.pop_front();
    return true;
  }

  void fill() {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].process == nullptr && !fill(i)) return;
  }
  bool fill(std::size_t i) {
    Slot& slot = slots_[i];
    if (!next(slot.point)) return false;
    Point& p = slot.point;
    p.host = host_, p.worker = fmt::format("{}", i + 1), p.begun = unix_time();
    slot.process =
        std::make_unique<Process>(Process::Start{process_words(study_, p, o_, store_.result_file(p.id)),
                                                 study_.folder, store_.error_file(p.id), store_.lock()});
    slot.timed_out = false;
    slot.deadline = study_.timeout_s > 0 ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                              std::chrono::duration<double>(study_.timeout_s))
                                         : Clock::time_point::max();
    store_.start(p.id, p.begun, p.host, p.worker);
    --counts_.pending, ++counts_.running;
    return true;
  }

  void wait() {
    std::vector<pollfd> ends;
    for (const Slot& s : slots_)
      if (s.process) ends.push_back({s.process->descriptor(), POLLIN, 0});
    ::poll(ends.data(), ends.size(), static_cast<int>(poll_at_most.count()));
  }

  struct Ended {
    Point point;
    int status = 0;
    double at = 0;
    bool timed_out = false;
  };
  void look() {
    std::vector<Ended> ended;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = slots_[i];
      if (slot.process == nullptr) continue;
      if (!slot.process->ended()) {
        if (Clock::now() > slot.deadline) slot.timed_out = true, slot.process->signal(SIGKILL);
        continue;
      }
      ended.push_back({slot.point, slot.process->status(), unix_time(), slot.timed_out});
      slot.process.reset();
      --counts_.running;
      if (!stopping()) fill(i);  // the core works on while the result is read
    }
    for (const Ended& e : ended) take(e);
  }

  void take(const Ended& e) {
    Outcome out = outcome_of(store_, e.point, e.status, e.timed_out ? study_.timeout_s : 0);
    out.ended = e.at;
    done_with_.push_back(e.point.id);
    // It could not write its result: no fault of the point, and the next one would not fare better.
    if (out.error_id == "file-write" && !out.result) {
      give_back(e.point, out.error);
      keep_now();
      throw Error(ExitCode::failure, "sweep-disk",
                  fmt::format("point {} could not write its result: {}", e.point.id, out.error),
                  "make room; the same command goes on");
    }
    store_.finish(out);
    out.error.empty() && out.exit_code == 0 ? ++counts_.done : ++counts_.failed;
    listener_.finished(e.point, out);
  }

  void give_back(const Point& p, const std::string& why) {
    store_.give_back(p.id);
    ++counts_.pending;
    listener_.given_back(p, why);
  }

  // Ctrl-Z: points are in process groups of their own, which the terminal does not stop. The time does not
  // count against their limit.
  void stand_still() {
    const auto all = [this](int signal) {
      for (const Slot& s : slots_)
        if (s.process) s.process->signal_group(signal);
    };
    const Clock::time_point begin = Clock::now();
    all(SIGSTOP);
    listener_.suspend();
    all(SIGCONT);
    for (Slot& s : slots_)
      if (s.deadline != Clock::time_point::max()) s.deadline += Clock::now() - begin;
  }

  // SIGTERM, so that programs can clean up, then the end. What they had done is not a result.
  void stop_all() {
    for (const Slot& s : slots_)
      if (s.process) s.process->signal(SIGTERM);
    const auto end = Clock::now() + patience;
    while (running() > 0) {
      for (Slot& s : slots_) {
        if (s.process == nullptr) continue;
        if (!s.process->ended()) {
          if (Clock::now() > end) s.process->signal(SIGKILL);
          continue;
        }
        s.process.reset();
        --counts_.running;
        last(s.point);
      }
      if (running() > 0) wait();
    }
  }
  // It may have ended by itself just then.
  void last(const Point& p) {
    const Outcome out = outcome_of(store_, p, 0, 0);
    done_with_.push_back(p.id);
    const bool whole = out.result && out.error.empty() && !out.result->manifest.interrupted &&
                       out.result->manifest.failure.empty() &&
                       out.result->manifest.program_exit_status.value_or(0) == 0;
    if (!whole) return give_back(p, "stopped");
    store_.finish(out);
    ++counts_.done;
    listener_.finished(p, out);
  }

  void keep() {
    if (store_.uncommitted() && Clock::now() - kept_ > commit_every) keep_now();
  }
  // Files go when what they held is safe.
  void keep_now() {
    store_.commit();
    kept_ = Clock::now();
    std::error_code ignored;
    for (const std::uint64_t id : done_with_) {
      result::remove_result_file(store_.result_file(id));
      std::filesystem::remove(store_.error_file(id), ignored);
    }
    done_with_.clear();
  }

  void tick(bool now) {
    if (!now && Clock::now() - ticked_ < tick_every) return;
    ticked_ = Clock::now();
    std::vector<RunningPoint> points;
    for (const Slot& s : slots_)
      if (s.process) points.push_back({s.point.id, s.point.values, s.point.begun});
    listener_.tick(counts_, points);
  }

  const Study& study_;
  Store& store_;
  const EngineOptions& o_;
  Listener& listener_;
  std::string host_;
  Counts counts_;
  std::vector<Slot> slots_;
  std::deque<Point> queue_;
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> done_with_;
  Clock::time_point kept_ = Clock::now(), ticked_{};
};

}  // namespace

Ending run_local(const Study& study, Store& store, const EngineOptions& options, Listener& listener) {
  return Local(study, store, options, listener).run();
}

}  // namespace simtlab::studies::sweep

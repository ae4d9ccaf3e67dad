#include "studies/sweep/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/shown.h"
#include "result/json.h"
#include "studies/sweep/process.h"
#include "studies/sweep/slurm_files.h"

namespace simtlab::studies::sweep {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint64_t most_points_a_task = 100;
constexpr std::size_t most_open = 4;  // batches that are followed at once
// Without a task and without an outcome: files of another machine may come late
constexpr int polls_until_lost = 2;
constexpr std::chrono::milliseconds nap{100};

// States of a task that can still end well; %T of squeue.
bool is_alive(std::string_view state) {
  static const std::set<std::string_view> states = {
      "PENDING",     "CONFIGURING", "RUNNING",   "COMPLETING", "SUSPENDED", "REQUEUED",     "REQUEUE_HOLD",
      "REQUEUE_FED", "RESIZING",    "SIGNALING", "STAGE_OUT",  "STOPPED",   "SPECIAL_EXIT", "RESV_DEL_HOLD"};
  return states.contains(state);
}

// What a program said, on one line.
std::string said_in(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at))
    text.replace(at, 1, "; ");
  return shown(text, 400);
}

std::string prefix_of(const Store& store) {
  return "simtlab-" + hash_bytes(store.definition() + store.spool().string()).substr(0, 10);
}

class Cluster {
 public:
  Cluster(const Study& study, Store& store, const EngineOptions& options, const SlurmOptions& slurm,
          Listener& listener)
      : study_(study), store_(store), o_(options), slurm_(slurm), listener_(listener) {}

  Ending run() {
    std::error_code code;
    std::filesystem::create_directory(store_.spool(), code);
    adopt();
    for (;;) {
      if (interrupted()) return leave(Ending::interrupted);
      const bool known = ask();
      collect();
      if (known) miss();
      close();
      store_.commit();
      clean();
      const Counts counts = store_.counts();
      listener_.tick(counts, {});
      if (o_.most_failures != 0 && counts.failed >= o_.most_failures) return leave(Ending::too_many_failures);
      while (!interrupted() && submit()) {}
      if (store_.batches(true).empty() && store_.counts().pending == 0) {
        closed_ = store_.batches(false);  // also those that an earlier sweep closed before it was killed
        clean();
        return Ending::complete;
      }
      rest();
    }
  }

 private:
  bool interrupted() const { return o_.stop != nullptr && *o_.stop; }
  void rest() const {
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(slurm_.poll_s));
    while (Clock::now() < end && !interrupted()) {
      if (o_.suspend != nullptr && *o_.suspend) listener_.suspend();  // the cluster works on
      std::this_thread::sleep_for(nap);
    }
  }

  Ending leave(Ending ending) {
    std::string names;
    for (const Batch& b : store_.batches(true)) {
      if (ending == Ending::too_many_failures) run_program({"scancel", "--name=" + b.name}, true);
      names += (names.empty() ? "" : ",") + b.name;
    }
    if (!names.empty())
      listener_.say(
          ending == Ending::interrupted
              ? fmt::format(
                    "jobs go on in the cluster; the same command follows them, `scancel --name={}` ends them",
                    names)
              : "the jobs were cancelled");
    store_.commit();
    return ending;
  }

  // A batch that was made by a sweep that was killed before it knew the job's number.
  void adopt() {
    for (const Batch& b : store_.batches(true)) {
      if (!b.job.empty()) continue;
      Tasks tasks;
      if (!query(b, tasks))
        throw Error(ExitCode::unavailable, "sweep-slurm",
                    "Slurm does not answer, and a job may have been submitted",
                    "the same command again when `squeue` works");
      if (!job_.empty())
        store_.submitted(b.id, job_);
      else if (!began(b))
        submit_again(b);
    }
    store_.commit();
  }
  bool began(const Batch& b) const {
    return std::ranges::any_of(store_.open_points(b.id), [&](const auto& point) {
      std::error_code ignored;
      return std::filesystem::exists(outcome_file(store_.spool(), point.second), ignored) ||
             std::filesystem::exists(store_.result_file(point.second), ignored);
    });
  }
  void submit_again(const Batch& b) {
    for (const auto& [task, id] : store_.open_points(b.id)) store_.give_back(id);
    store_.close_batch(b.id);
  }

  using Tasks = std::map<std::uint64_t, std::string>;  // state of each
  // By name: an unknown one gives no rows, a cluster that is away an error. job_: the number, if there are
  // rows.
  bool query(const Batch& b, Tasks& tasks) {
    job_.clear();
    const Finished f = run_program(
        {"squeue", "--noheader", "--array", "--states=all", "--name=" + b.name, "--format=%F|%K|%T"}, false);
    if (f.status != 0) return false;
    for (std::size_t at = 0; at < f.output.size();) {
      const std::size_t end = std::min(f.output.find('\n', at), f.output.size());
      const std::string_view row = std::string_view(f.output).substr(at, end - at);
      at = end + 1;
      const std::size_t first = row.find('|'), second = row.rfind('|');
      if (first == std::string_view::npos || second <= first) continue;
      const std::string_view index = row.substr(first + 1, second - first - 1);
      std::uint64_t task = 0;
      if (std::from_chars(index.data(), index.data() + index.size(), task).ec != std::errc{}) continue;
      job_ = std::string(row.substr(0, first));
      tasks[task] = std::string(row.substr(second + 1));
    }
    return true;
  }

  bool ask() {
    states_.clear();
    for (const Batch& b : store_.batches(true))
      if (!query(b, states_[b.id])) {
        if (!away_) listener_.say("Slurm does not answer; waiting");
        away_ = true;
        return false;
      }
    away_ = false;
    return true;
  }

  // Outcomes that tasks have written.
  void collect() {
    for (const Batch& b : store_.batches(true))
      for (const auto& [task, id] : store_.open_points(b.id)) {
        std::error_code ignored;
        if (!std::filesystem::exists(outcome_file(store_.spool(), id), ignored)) continue;
        take(id, read_outcome(store_.spool(), id));
      }
  }
  void take(std::uint64_t id, const TaskOutcome& seen) {
    Point p = *store_.point(id);
    p.begun = seen.begun, p.host = seen.host, p.worker = seen.worker;
    Outcome out = outcome_of(store_, p, seen.exit_code, seen.timed_out ? study_.timeout_s : 0);
    out.ended = seen.ended;
    store_.finish(out);
    done_with_.push_back(id);
    missed_.erase(id);
    listener_.finished(p, out);
  }

  // Points whose task is gone.
  void miss() {
    for (const auto& [batch, tasks] : states_)
      for (const auto& [task, id] : store_.open_points(batch)) {
        const auto state = tasks.find(task);
        if (state != tasks.end() && is_alive(state->second))
          missed_.erase(id);
        else if (++missed_[id] >= polls_until_lost)
          lose(id, state == tasks.end() ? "gone" : state->second);
      }
  }
  void lose(std::uint64_t id, const std::string& state) {
    missed_.erase(id);
    const Point p = *store_.point(id);
    std::error_code ignored;
    std::filesystem::remove(store_.error_file(id), ignored);
    if (p.attempts <= o_.retries) {
      store_.give_back(id);
      return listener_.given_back(p, fmt::format("its task ended as {}", state));
    }
    Outcome out;
    out.id = id, out.exit_code = static_cast<int>(ExitCode::failure);
    out.ended = unix_time(), out.begun = out.ended;
    out.error_id = "sweep-lost",
    out.error = fmt::format("it was lost {} times; its last task ended as {}", p.attempts, state);
    store_.finish(out);
    listener_.finished(p, out);
  }

  void close() {
    for (const Batch& b : store_.batches(true))
      if (store_.open_points(b.id).empty()) {
        store_.close_batch(b.id);
        closed_.push_back(b);
      }
  }
  void clean() {
    std::error_code ignored;
    for (const std::uint64_t id : done_with_) {
      result::remove_result_file(store_.result_file(id));
      for (const auto& file : {store_.error_file(id), outcome_file(store_.spool(), id)})
        std::filesystem::remove(file, ignored);
    }
    done_with_.clear();
    for (const Batch& b : closed_) {
      std::filesystem::remove(list_file(store_.spool(), b.id), ignored);
      std::filesystem::remove(script_file(store_.spool(), b.id), ignored);
      for (std::uint64_t t = 0; t < b.tasks; ++t)
        std::filesystem::remove(log_file(store_.spool(), b.id, fmt::format("{}", t)), ignored);
    }
    closed_.clear();
  }

  // Gives the next points to the cluster; false: there are none, or enough are there.
  bool submit() {
    if (store_.batches(true).size() >= most_open) return false;
    const std::uint64_t a_task = points_a_task(store_.counts().pending, slurm_);
    const std::vector<Point> points =
        store_.points(State::pending, 0, static_cast<std::size_t>(a_task * most_tasks));
    if (points.empty()) return false;
    std::vector<std::uint64_t> ids;
    for (const Point& p : points) ids.push_back(p.id);
    const Batch b = store_.add_batch(prefix_of(store_), ids, a_task);
    store_.commit();  // from here on a sweep that is killed will look for the job
    write_file_atomically(list_file(store_.spool(), b.id), list_text(study_, store_, points, o_, a_task));
    write_file_atomically(script_file(store_.spool(), b.id), script_text(store_, b, o_, slurm_));
    const Finished f =
        run_program({"sbatch", "--parsable", script_file(store_.spool(), b.id).string()}, true);
    std::string job = f.output.substr(0, f.output.find_first_of(";\n"));
    if (f.status != 0 || job.empty() || job.find_first_not_of("0123456789") != std::string::npos) {
      submit_again(b);
      store_.commit();
      closed_.push_back(b);
      clean();
      throw Error(ExitCode::unavailable, "sweep-slurm",
                  fmt::format("sbatch refuses the job: {}", said_in(f.output)),
                  "--sbatch OPTION for what the cluster wants (partition, account, time); --dry-run prints "
                  "the script");
    }
    store_.submitted(b.id, job);
    store_.commit();
    listener_.say(fmt::format("job {}: {} points in {} tasks", job, ids.size(), b.tasks));
    return true;
  }

  const Study& study_;
  Store& store_;
  const EngineOptions& o_;
  const SlurmOptions& slurm_;
  Listener& listener_;
  std::map<std::uint64_t, Tasks> states_;
  std::map<std::uint64_t, int> missed_;
  std::vector<std::uint64_t> done_with_;
  std::vector<Batch> closed_;
  std::string job_;
  bool away_ = false;
};

}  // namespace

Ending run_slurm(const Study& study, Store& store, const EngineOptions& options, const SlurmOptions& slurm,
                 Listener& listener) {
  return Cluster(study, store, options, slurm, listener).run();
}

std::vector<Script> slurm_scripts(const Study& study, const Store& store, const EngineOptions& options,
                                  const SlurmOptions& slurm) {
  const std::uint64_t a_task = points_a_task(store.counts().pending, slurm);
  const std::vector<Point> points =
      store.points(State::pending, 0, static_cast<std::size_t>(a_task * most_tasks));
  if (points.empty()) return {};
  const std::vector<Batch> before = store.batches(false);
  Batch b;
  b.id = before.empty() ? 1 : before.back().id + 1;
  b.name = fmt::format("{}-{}", prefix_of(store), b.id);
  b.tasks = (points.size() + a_task - 1) / a_task;
  return {{script_file(store.spool(), b.id).string(), script_text(store, b, options, slurm)},
          {list_file(store.spool(), b.id).string(), list_text(study, store, points, options, a_task)}};
}

std::uint64_t points_a_task(std::uint64_t pending, const SlurmOptions& slurm) {
  if (slurm.points_a_task != 0) return slurm.points_a_task;
  return std::clamp<std::uint64_t>((pending + most_tasks - 1) / most_tasks, 1, most_points_a_task);
}

}  // namespace simtlab::studies::sweep

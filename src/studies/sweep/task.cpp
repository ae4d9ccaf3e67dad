// What runs on a node: the points of one task, one after the other.
#include <fmt/format.h>
#include <poll.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/shown.h"
#include "studies/sweep/process.h"
#include "studies/sweep/slurm_files.h"

namespace simtlab::studies::sweep {
namespace {

using Json = nlohmann::ordered_json;
constexpr int poll_ms = 100;
constexpr std::chrono::milliseconds last_moment{1500};
constexpr std::size_t most_line = std::size_t{1} << 20;

struct Job {
  std::filesystem::path spool;
  std::string folder;
  double timeout_s = 0;
  std::string worker;
};

// Whether it ended; false: the task is to stop.
bool run_point(const Job& job, std::uint64_t id, const std::vector<std::string>& words,
               const volatile bool* stop) {
  TaskOutcome out;
  out.begun = unix_time();
  out.host = host_name(), out.worker = job.worker;
  Process process({words, job.folder, job.spool / fmt::format("{}.err", id), -1});
  while (!process.ended()) {
    if (stop != nullptr && *stop) return false;
    if (job.timeout_s > 0 && unix_time() - out.begun > job.timeout_s)
      out.timed_out = true, process.signal(SIGKILL);
    pollfd p{process.descriptor(), POLLIN, 0};
    ::poll(&p, 1, poll_ms);
  }
  out.exit_code = process.status();
  out.ended = unix_time();
  // Killed together with the task: then this process ends now, too, and the point was lost, it did not fail.
  if (!out.timed_out && (out.exit_code == 128 + SIGKILL || out.exit_code == 128 + SIGTERM)) {
    std::this_thread::sleep_for(last_moment);
    if (stop != nullptr && *stop) return false;
  }
  write_outcome(job.spool, id, out);
  return true;
}

// A result without an outcome: the task was ended in between. It is whole, and the point is not run again.
bool finish_what_is_there(const Job& job, std::uint64_t id) {
  std::error_code ignored;
  if (std::filesystem::exists(outcome_file(job.spool, id), ignored)) return true;
  if (!std::filesystem::exists(job.spool / fmt::format("{}.json", id), ignored)) return false;
  const double now = unix_time();
  write_outcome(job.spool, id, {0, now, now, false, host_name(), job.worker});
  return true;
}

std::string worker_name(std::uint64_t task) {
  const char* number = std::getenv("SLURM_ARRAY_JOB_ID");
  return fmt::format("{}_{}", number == nullptr ? "task" : number, task);
}

}  // namespace

int run_task(const std::filesystem::path& list, std::uint64_t task, const volatile bool* stop) {
  std::ifstream in(list);
  std::string line;
  const auto refuse = [&](const char* what) {
    return Error(ExitCode::bad_input, "sweep-task", fmt::format("{}: {}", shown(list.string()), what),
                 "`simtlab sweep --engine slurm` writes it; nodes must see it under the same path");
  };
  if (!std::getline(in, line)) throw refuse("cannot be read");
  try {
    const Json head = Json::parse(line);
    const Job job{head.at("spool").get<std::string>(), head.at("folder").get<std::string>(),
                  head.at("timeout_s").get<double>(), worker_name(task)};
    while (std::getline(in, line)) {
      if (line.size() > most_line) throw refuse("a line is too long");
      const Json point = Json::parse(line);
      const auto id = point.at("point").get<std::uint64_t>();
      if (point.at("task").get<std::uint64_t>() != task || finish_what_is_there(job, id)) continue;
      if (!run_point(job, id, point.at("words").get<std::vector<std::string>>(), stop))
        return static_cast<int>(ExitCode::interrupted);
    }
  } catch (const Json::exception&) { throw refuse("is no list of points"); }
  return 0;
}

}  // namespace simtlab::studies::sweep

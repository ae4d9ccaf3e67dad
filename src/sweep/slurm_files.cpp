#include "sweep/slurm_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"

namespace simtlab::sweep {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::uint64_t most_outcome_bytes = 64 * 1024;

// In a #SBATCH line: Slurm replaces what follows a % in file names.
std::string in_sbatch(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
    if (c == '%') out += '%';
  }
  return out;
}

}  // namespace

std::filesystem::path list_file(const std::filesystem::path& spool, std::uint64_t batch) { return spool / fmt::format("batch-{}.list", batch); }
std::filesystem::path script_file(const std::filesystem::path& spool, std::uint64_t batch) { return spool / fmt::format("batch-{}.sh", batch); }
std::filesystem::path log_file(const std::filesystem::path& spool, std::uint64_t batch, const std::string& task) { return spool / fmt::format("batch-{}-{}.log", batch, task); }
std::filesystem::path outcome_file(const std::filesystem::path& spool, std::uint64_t point) { return spool / fmt::format("{}.outcome", point); }

std::string script_text(const Store& store, const Batch& batch, const EngineOptions& options, const SlurmOptions& slurm) {
  const std::string log = in_sbatch((store.spool() / fmt::format("batch-{}-", batch.id)).string()) + "%a.log";
  std::string out = fmt::format("#!/bin/sh\n#SBATCH --job-name={}\n#SBATCH --array=0-{}{}\n#SBATCH --output=\"{}\"\n#SBATCH --ntasks=1\n#SBATCH --no-requeue\n", batch.name, batch.tasks - 1,
                                slurm.tasks == 0 ? "" : fmt::format("%{}", slurm.tasks), log);
  for (const std::string& option : slurm.options) out += fmt::format("#SBATCH {}\n", option);
  return out + fmt::format("exec {} --task \"$SLURM_ARRAY_TASK_ID\"\n", shell_words({options.program, "sweep", "--task-list", list_file(store.spool(), batch.id).string()}));
}

std::string list_text(const Study& study, const Store& store, const std::vector<Point>& points, const EngineOptions& options, std::uint64_t a_task) {
  const auto line = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; };
  std::string out = line({{"spool", store.spool().string()}, {"folder", study.folder}, {"timeout_s", study.timeout_s}});
  for (std::size_t i = 0; i < points.size(); ++i)
    out += line({{"task", i / a_task}, {"point", points[i].id}, {"words", process_words(study, points[i], options, store.result_file(points[i].id))}});
  return out;
}

void write_outcome(const std::filesystem::path& spool, std::uint64_t point, const TaskOutcome& o) {
  const Json json = {{"exit_code", o.exit_code}, {"begun", o.begun}, {"ended", o.ended}, {"timed_out", o.timed_out}, {"host", o.host}, {"worker", o.worker}};
  write_file_atomically(outcome_file(spool, point), json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

TaskOutcome read_outcome(const std::filesystem::path& spool, std::uint64_t point) {
  const std::filesystem::path file = outcome_file(spool, point);
  try {
    const Json json = Json::parse(read_file(file, most_outcome_bytes, "outcome"));
    return {json.at("exit_code").get<int>(), json.at("begun").get<double>(), json.at("ended").get<double>(), json.at("timed_out").get<bool>(), json.at("host").get<std::string>(), json.at("worker").get<std::string>()};
  } catch (const Json::exception&) {
    throw Error(ExitCode::bad_input, "sweep-task", fmt::format("{} is no outcome of a point", shown(file.string())), "remove it: the point is run again");
  }
}

}  // namespace simtlab::sweep

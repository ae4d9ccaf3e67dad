#include "studies/sweep/slurm_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/shell.h"
#include "base/shown.h"

namespace simtlab::studies::sweep {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::uint64_t most_outcome_bytes = 64 * 1024;

[[noreturn]] void refuse(const std::string& text, const char* what, const char* character) {
  throw Error(ExitCode::usage, "sweep-name",
              fmt::format("{} '{}' has {}, which no script for Slurm can hold", what, shown(text), character),
              "choose another name; --engine local takes any");
}

// A line's end in a name would end the line of the script that it stands in, and what follows would be a line
// of its own.
const std::string& one_line(const std::string& text, const char* what) {
  if (printable(text) != text) refuse(text, what, "a control character or a byte that is no UTF-8");
  return text;
}

// In a #SBATCH line: Slurm replaces what follows a % in file names.
std::string in_sbatch(const std::string& path) {
  std::string out;
  for (const char c : one_line(path, "the folder")) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
    if (c == '%') out += '%';
  }
  return out;
}

}  // namespace

std::filesystem::path list_file(const std::filesystem::path& spool, std::uint64_t batch) {
  return spool / fmt::format("batch-{}.list", batch);
}
std::filesystem::path script_file(const std::filesystem::path& spool, std::uint64_t batch) {
  return spool / fmt::format("batch-{}.sh", batch);
}
std::filesystem::path log_file(const std::filesystem::path& spool, std::uint64_t batch,
                               const std::string& task) {
  return spool / fmt::format("batch-{}-{}.log", batch, task);
}
std::filesystem::path outcome_file(const std::filesystem::path& spool, std::uint64_t point) {
  return spool / fmt::format("{}.outcome", point);
}

std::string script_text(const Store& store, const Batch& batch, const EngineOptions& options,
                        const SlurmOptions& slurm) {
  const std::string log = in_sbatch((store.spool() / fmt::format("batch-{}-", batch.id)).string()) + "%a.log";
  std::string out = fmt::format(
      "#!/bin/sh\n#SBATCH --job-name={}\n#SBATCH --array=0-{}{}\n#SBATCH --output=\"{}\"\n#SBATCH "
      "--ntasks=1\n#SBATCH --no-requeue\n",
      batch.name, batch.tasks - 1, slurm.tasks == 0 ? "" : fmt::format("%{}", slurm.tasks), log);
  for (const std::string& option : slurm.options)
    out += fmt::format("#SBATCH {}\n", one_line(option, "--sbatch"));
  const std::string list = list_file(store.spool(), batch.id).string();
  return out +
         fmt::format("exec {} --task \"$SLURM_ARRAY_TASK_ID\"\n",
                     script_words({one_line(options.program, "the program"), "sweep", "--task-list", list}));
}

std::string list_text(const Study& study, const Store& store, const std::vector<Point>& points,
                      const EngineOptions& options, std::uint64_t a_task) {
  // Control characters are escaped in JSON; bytes that are no UTF-8 could not be read again.
  const auto line = [](const Json& json) {
    try {
      return json.dump() + "\n";
    } catch (const Json::type_error&) {
      refuse(json.dump(-1, ' ', false, Json::error_handler_t::replace), "a point", "a byte that is no UTF-8");
    }
  };
  std::string out =
      line({{"spool", store.spool().string()}, {"folder", study.folder}, {"timeout_s", study.timeout_s}});
  for (std::size_t i = 0; i < points.size(); ++i)
    out += line({{"task", i / a_task},
                 {"point", points[i].id},
                 {"words", process_words(study, points[i], options, store.result_file(points[i].id))}});
  return out;
}

void write_outcome(const std::filesystem::path& spool, std::uint64_t point, const TaskOutcome& o) {
  const Json json = {{"exit_code", o.exit_code}, {"begun", o.begun}, {"ended", o.ended},
                     {"timed_out", o.timed_out}, {"host", o.host},   {"worker", o.worker}};
  write_file_atomically(outcome_file(spool, point),
                        json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

TaskOutcome read_outcome(const std::filesystem::path& spool, std::uint64_t point) {
  const std::filesystem::path file = outcome_file(spool, point);
  try {
    const Json json = Json::parse(read_file(file, most_outcome_bytes, "outcome"));
    return {json.at("exit_code").get<int>(),    json.at("begun").get<double>(),
            json.at("ended").get<double>(),     json.at("timed_out").get<bool>(),
            json.at("host").get<std::string>(), json.at("worker").get<std::string>()};
  } catch (const Json::exception&) {
    throw Error(ExitCode::bad_input, "sweep-task",
                fmt::format("{} is no outcome of a point", shown(file.string())),
                "remove it: the point is run again");
  }
}

}  // namespace simtlab::studies::sweep

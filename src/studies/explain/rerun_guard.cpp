#include "studies/explain/rerun_guard.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/private_folder.h"
#include "base/shell.h"
#include "base/shown.h"
#include "report/format.h"
#include "studies/common/compile.h"
#include "studies/common/output.h"
#include "studies/run/program.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& why, const std::string& hint) {
  throw Error(ExitCode::unavailable, "rerun-refused", why, hint);
}

void check_own(const std::string& file) {
  struct stat info {};
  std::string why;
  if (::stat(file.c_str(), &info) != 0)
    why = std::strerror(errno);
  else if (!S_ISREG(info.st_mode))
    why = "it is no plain file";
  else if (info.st_uid != ::geteuid())
    why = fmt::format("it belongs to user {}", info.st_uid);
  else if (others_may_write(info))
    why = fmt::format("others may write to it (mode {:o})", info.st_mode & 07777);
  if (why.empty()) return;
  refuse(fmt::format("the command in {} is not run: {}", shown(file), why),
         fmt::format("read the command first (simtlab report {0} --md); a copy (cp {0} mine.json; chmod go-w "
                     "mine.json) is yours",
                     shown(shell_quoted(file))));
}

// The sources that would be compiled, else the program behind "--".
std::vector<std::string> executed(const std::vector<std::string>& arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  std::vector<std::string> out;
  std::copy_if(arguments.begin(), dashes, std::back_inserter(out), is_source);
  if (out.empty() && arguments.end() - dashes > 1) out.push_back(*(dashes + 1));
  return out;
}

bool is_hashed(const fs::path& program, const result::Manifest& manifest) {
  std::error_code ignored;
  return std::ranges::any_of(manifest.inputs, [&](const result::InputHash& input) {
    return fs::equivalent(fs::path(manifest.working_directory) / input.path, program, ignored);
  });
}

}  // namespace

void check_may_run_again(const std::string& file, const result::Manifest& manifest,
                         const std::vector<std::string>& arguments) {
  check_own(file);
  for (const std::string& name : executed(arguments)) {
    const fs::path path =
        is_source(name) || name.find('/') != std::string::npos ? fs::path(name) : find_program(name);
    const fs::path program = fs::path(manifest.working_directory) / path;
    std::error_code ignored;
    // What is missing is said when it is run
    if (!fs::exists(program, ignored) || is_hashed(program, manifest)) continue;
    refuse(fmt::format("the command in {} is not run: its program {} is not among the inputs of the result",
                       shown(file), shown(program.string())),
           "the file has been changed, or an older version wrote it: make a new result");
  }
}

std::string time_of_a_run(const result::Manifest& manifest, bool each) {
  if (!(manifest.wall_seconds > 0)) return {};
  return fmt::format("about {}{}", report::format_time(manifest.wall_seconds * 1e9), each ? " each" : "");
}

void announce_run_again(const result::Manifest& manifest, const std::vector<std::string>& arguments,
                        const std::string& times) {
  const std::string lasts = time_of_a_run(manifest, times != "once");
  std::vector<std::string> words = {"simtlab"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  talk(fmt::format("note: running again {}{}, in {}: {}\n", times, lasts.empty() ? "" : ", " + lasts,
                   shown(manifest.working_directory), shown(shell_words(words), 2000)));
}

}  // namespace simtlab::studies

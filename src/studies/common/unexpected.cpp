// What is said of a word that a command line has and should not.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/shown.h"
#include "studies/common/command.h"
#include "studies/common/compile.h"

namespace simtlab::studies {
namespace {

// What somebody wanted who gave a file instead of a command; empty: it is no file that can be run.
std::string line_to_run(const std::string& file) {
  std::error_code ignored;
  const std::string name = shown(file);
  const auto ends = [&](std::initializer_list<const char*> endings) {
    return std::ranges::any_of(endings, [&](const char* e) { return file.ends_with(e); });
  };
  if (ends({".ptx", ".cubin"})) return fmt::format("simtlab run {} --launch FILE", name);
  if (ends({".cl"})) return fmt::format("simtlab run {} --global N --local N --arg ...", name);
  if (is_source(file) || ends({".simt", "kernelslist.g"})) return "simtlab run " + name;
  if (ends({".json"})) return "simtlab report " + name;
  if (std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0)
    return fmt::format("simtlab run -- {}{}", file.find('/') == std::string::npos ? "./" : "", name);
  return {};
}

}  // namespace

void unexpected_argument(const Command& command, const std::string& argument) {
  const std::string where = command.path();
  if (argument.starts_with("-") && argument.size() > 1) {
    const std::string name = argument.substr(0, argument.find('='));
    const std::string near = nearest_name(name.substr(0, 200), command.option_names());
    throw Error(
        ExitCode::usage, "option-unknown", fmt::format("{} has no option {}", where, shown(name)),
        near.empty() ? fmt::format("{} --help lists them", where) : fmt::format("did you mean {}?", near));
  }
  const std::string given = shown(argument);
  std::vector<std::string> names;
  for (const Command& sub : command.commands()) names.push_back(sub.name());
  // `simtlab show` means `simtlab config show`.
  for (const Command& sub : command.commands())
    for (const Command& below : sub.commands())
      if (below.name() == argument)
        throw Error(ExitCode::usage, "command-unknown", fmt::format("{} has no command '{}'", where, given),
                    fmt::format("did you mean '{} {} {}'?", where, sub.name(), argument));
  if (command.parent() == nullptr)
    if (const std::string line = line_to_run(argument); !line.empty())
      throw Error(ExitCode::usage, "command-unknown",
                  fmt::format("{} needs a command before '{}'", where, given), line);
  const std::string near = nearest_name(argument.substr(0, 200), names);
  if (!names.empty())
    throw Error(
        ExitCode::usage, "command-unknown", fmt::format("{} has no command '{}'", where, given),
        near.empty() ? fmt::format("{} --help lists them", where) : fmt::format("did you mean '{}'?", near));
  throw Error(ExitCode::usage, "argument-unexpected",
              fmt::format("{} takes no argument '{}' here", where, given),
              fmt::format("{} --help shows the usage", where));
}

}  // namespace simtlab::studies

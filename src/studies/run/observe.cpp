#include "studies/run/observe.h"

#include <filesystem>
#include <map>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace simtlab::studies {
namespace {

constexpr std::uint64_t max_shown_bytes = 16u << 20;
constexpr std::size_t longest_line = 300;

std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return lines;
  std::string text;
  try {
    text = read_file(file, max_shown_bytes, "source");
  } catch (const Error&) {
    return lines;  // the report goes without
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
    line.erase(std::min(line.find_last_not_of(" \t\r") + 1, longest_line));
    lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

}  // namespace

void check_observation(const RunOptions& given) {
  if (!given.has("timeline") && !given.has("sm-timeline") &&
      (given.has("timeline-window") || given.has("timeline-sm")))
    throw Error(ExitCode::usage, "option-conflict",
                "--timeline-window and --timeline-sm need --timeline or --sm-timeline",
                "name the file to write: --timeline=FILE");
  if (given.get("timeline") == "-")
    throw Error(ExitCode::usage, "option-value", "--timeline - is no file", "--timeline=FILE");
}

void add_source_texts(result::Result& result) {
  std::map<std::string, std::vector<std::string>> files;
  const auto text_of = [&](const std::string& file, std::uint32_t line) -> std::string {
    const auto [at, is_new] = files.try_emplace(file);
    if (is_new) at->second = lines_of(file);
    return line >= 1 && line <= at->second.size() ? at->second[line - 1] : std::string();
  };
  if (result.check)
    for (result::Finding& finding : result.check->findings)
      for (result::Access& access : finding.accesses)
        if (result::CodePlace& place = access.place; !place.file.empty() && place.text.empty())
          place.text = text_of(place.file, place.line);
  for (result::KernelResult& kernel : result.kernels)
    for (result::LineProfile& line : kernel.profile.lines) {
      if (line.file.empty()) continue;
      if (std::string text = text_of(line.file, line.line); !text.empty()) line.text = std::move(text);
    }
}

}  // namespace simtlab::studies

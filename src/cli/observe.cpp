#include "cli/observe.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "base/units.h"
#include "cli/output_option.h"

namespace simtlab::cli {
namespace {

constexpr std::uint64_t max_shown_bytes = 16u << 20;
constexpr std::size_t longest_line = 300;

[[noreturn]] void refuse(const char* option, const std::string& value, const char* expected) {
  throw Error(ExitCode::usage, "option-value",
              fmt::format("{} {} is {}", option, shown(value, 60), expected));
}

std::uint64_t whole(const char* option, const std::string& text) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos)
    refuse(option, text, "no whole number");
  return std::stoull(text);
}

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

void add_observe_options(CLI::App& command, ObserveOptions& options) {
  const auto group = "Observation";
  command
      .add_flag("--lines", options.lines,
                "Say which source lines the time goes to, where loads wait, and the stack of cycles per "
                "instruction")
      ->group(group);
  command.add_option("--series", options.series, "Record what happens every CYCLES cycles in the result")
      ->type_name("CYCLES")
      ->group(group);
  command
      .add_option("--timeline", options.timeline,
                  "Write what an SM does in a window of time as a picture for ui.perfetto.dev")
      ->check(output_file())
      ->type_name("FILE")
      ->group(group);
  command
      .add_flag("--sm-timeline", options.sm_timeline,
                "Keep in the result what the warps of an SM do in that window: a picture of its page "
                "(simtlab report --html)")
      ->group(group);
  command
      .add_option("--timeline-window", options.window,
                  "The window, in cycles since the first kernel began (default 0:10000)")
      ->type_name("FROM:TO")
      ->group(group);
  command.add_option("--timeline-sm", options.sm, "The SM, or all (default 0)")
      ->type_name("N|all")
      ->group(group);
}

Observation observation(const ObserveOptions& options, const device::ToolOptions& tool) {
  Observation out;
  out.observe.lines = options.lines;
  if (options.series) {
    out.observe.series = whole("--series", *options.series);
    if (out.observe.series == 0) refuse("--series", *options.series, "no interval");
  }
  if (!options.timeline && !options.sm_timeline && (options.window || options.sm))
    throw Error(ExitCode::usage, "option-conflict",
                "--timeline-window and --timeline-sm need --timeline or --sm-timeline",
                "name the file to write: --timeline=FILE");
  if (options.timeline) {
    if (*options.timeline == "-") refuse("--timeline", "-", "no file");
    std::error_code ignored;
    out.timeline = std::filesystem::absolute(*options.timeline, ignored).string();
  }
  if (options.timeline || options.sm_timeline) {
    const std::string window = options.window.value_or("0:10000");
    const std::size_t colon = std::min(window.find(':'), window.size());
    out.observe.timeline.from = whole("--timeline-window", window.substr(0, colon));
    out.observe.timeline.to = whole("--timeline-window", window.substr(std::min(colon + 1, window.size())));
    if (out.observe.timeline.to <= out.observe.timeline.from)
      refuse("--timeline-window", window, "no window FROM:TO with FROM below TO");
    const std::string sm = options.sm.value_or("0");
    const std::uint64_t number = sm == "all" ? timing::TimelineWindow::all_sms : whole("--timeline-sm", sm);
    if (number > timing::TimelineWindow::all_sms) refuse("--timeline-sm", sm, "no SM");
    out.observe.timeline.sm = static_cast<std::uint32_t>(number);
    out.observe.timeline.events = options.timeline.has_value();
    out.observe.timeline.states = options.sm_timeline;
  }
  if (tool.mode == "functional" && (out.observe.sms() || out.observe.series != 0))
    throw Error(ExitCode::usage, "option-conflict",
                "--lines, --series, --timeline and --sm-timeline have no meaning in functional mode: it "
                "times nothing",
                "leave one of them out");
  return out;
}

void add_to(result::RunConfig& config, const Observation& o) {
  config.lines = o.observe.lines;
  config.series = o.observe.series;
  config.timeline = o.timeline;
  config.timeline_from = o.observe.timeline.from;
  config.timeline_to = o.observe.timeline.to;
  config.timeline_sm = o.observe.timeline.sm;
  config.timeline_states = o.observe.timeline.states;
}

void add_source_texts(result::Result& result) {
  std::map<std::string, std::vector<std::string>> files;
  for (result::KernelResult& kernel : result.kernels)
    for (result::LineProfile& line : kernel.profile.lines) {
      if (line.file.empty()) continue;
      const auto [at, is_new] = files.try_emplace(line.file);
      if (is_new) at->second = lines_of(line.file);
      if (line.line >= 1 && line.line <= at->second.size()) line.text = at->second[line.line - 1];
    }
}

}  // namespace simtlab::cli

#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/shown.h"
#include "cli/option_tree.h"
#include "cli/output_option.h"
#include "gpu/run_options.h"
#include "options/rows.h"

namespace simtlab::cli {
namespace {

constexpr std::string_view readers_check = "readers ";

std::string help_of(const options::Row& row) {
  const std::string_view usual = row.default_value.substr(0, row.default_value.find(' '));
  return usual.empty() ? std::string(row.doc) : fmt::format("{} (default {})", row.doc, usual);
}

CLI::Option* add_row(CLI::App& command, const options::Row& row, RunOptions& given) {
  const std::string key(row.key), name = "--" + key;
  if (row.form == options::Form::flag)
    return command.add_flag_callback(
        name, [&given, key] { given.set(key, "on"); }, help_of(row));
  CLI::Option* option = nullptr;
  if (row.form == options::Form::list)
    option = command
                 .add_option_function<std::vector<std::string>>(
                     name,
                     [&given, key](const std::vector<std::string>& values) {
                       given.remove(key);
                       for (const std::string& value : values) given.add(key, value);
                     },
                     help_of(row))
                 ->allow_extra_args(false);
  else
    option = command.add_option_function<std::string>(
        name, [&given, key](const std::string& value) { given.set(key, value); }, help_of(row));
  option->type_name(std::string(row.value));
  if (row.kind == options::Kind::output && !row.path) only_shown(option);
  if (row.path && row.kind == options::Kind::output) return option->check(output_file());
  return option->check(CLI::Validator(refuse_empty, ""));
}

}  // namespace

std::string refuse_empty(std::string& value) { return value.empty() ? "is empty" : ""; }

void add_options(CLI::App& command, options::Studies studies, RunOptions& given) {
  for (const options::Row& row : options::rows())
    if (row.read_by.meets(studies))
      read_by(add_row(command, row, given)->group(std::string(row.group)), row.read_by & studies);
}

// Studies ride on an option as the name of a check that checks nothing.
CLI::Option* read_by(CLI::Option* option, options::Studies studies) {
  return option->check(CLI::Validator([](std::string&) { return std::string(); }, "",
                                      fmt::format("{}{}", readers_check, studies.bits())));
}

options::Studies readers_of(const CLI::Option& option) {
  for (int i = 0;; ++i) {
    const CLI::Validator* check = nullptr;
    try {
      check = const_cast<CLI::Option&>(option).get_validator(i);
    } catch (const CLI::OptionNotFound&) { return options::Studies::all(); }
    const std::string& name = check->get_name();
    if (!name.starts_with(readers_check)) continue;
    std::uint64_t bits = 0;
    std::from_chars(name.data() + readers_check.size(), name.data() + name.size(), bits);
    return options::Studies::of_bits(bits);
  }
}

ReadBy::ReadBy(CLI::App& command, options::Studies studies)
    : command_(command), studies_(studies), before_(command.get_options().size()) {}

ReadBy::~ReadBy() {
  const std::vector<CLI::Option*> all = command_.get_options({});
  for (std::size_t i = before_; i < all.size(); ++i)
    if (readers_of(*all[i]) == options::Studies::all()) read_by(all[i], studies_);
}

namespace {
thread_local bool asking = false;
}

Asking::Asking() { asking = true; }
Asking::~Asking() { asking = false; }

void refuse_unread(const CLI::App& command, options::Study study) {
  if (asking) throw Asked{study};
  for (const CLI::Option* option : command.get_options()) {
    const options::Studies studies = readers_of(*option);
    if (option->count() == 0 || studies.contains(study)) continue;
    const TreeCommand tree = option_tree(const_cast<CLI::App&>(command));
    TreeOption unread;
    unread.read_by = studies;
    throw Error(ExitCode::usage, "option-conflict",
                fmt::format("{} has no effect on {}", option->get_name(), name_of(study)),
                fmt::format("leave it out; what reads it: {}", readers(tree, unread)));
  }
}

const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

void add_output_options(CLI::App& command, OutputOptions& options) {
  const auto group = "Output";
  command.add_option("-o,--output,--report", options.output, "Write the text report to FILE (- is stdout)")
      ->check(output_file())
      ->type_name("FILE")
      ->group(group);
  // `--json` alone is turned into `--json=-` before parsing, so that it never takes the next argument.
  command
      .add_option("--json", options.json, "Write the result as JSON to stdout, or with --json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]")
      ->group(group);
  command.add_option("--csv", options.csv, "Write the metrics as CSV to stdout, or with --csv=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]")
      ->group(group);
  only_shown(command.add_option("--color", options.color, "auto (default), always or never")
                 ->check(CLI::IsMember({"auto", "always", "never"}))
                 ->type_name("WHEN")
                 ->group(group));
  only_shown(
      command.add_flag("--all", options.all, "Every kernel, stall reason and metric in the text report")
          ->group(group));
  only_shown(
      command
          .add_flag("-q,--quiet", options.quiet, "No report on stderr, no notes, no progress; errors only")
          ->group(group));
  only_shown(command
                 .add_flag("-v,--verbose", options.verbose,
                           "As --all, and say what is being done on stderr; twice (-vv): which files are "
                           "read, and a program's environment, too")
                 ->group(group));
}

void add_progress_option(CLI::App& command, OutputOptions& options) {
  only_shown(command
                 .add_option("--progress", options.progress,
                             "auto (default: a line on the terminal), plain (a line on stderr every ten "
                             "seconds) or none")
                 ->check(CLI::IsMember({"auto", "plain", "none"}))
                 ->type_name("HOW")
                 ->group("Output"));
}

void add_live_option(CLI::App& command, OutputOptions& options) {
  command
      .add_option("--live", options.live,
                  "Write how far the run is to FILE as it goes on, for `simtlab view FILE`")
      ->check(output_file())
      ->type_name("FILE")
      ->group("Output");
}

std::vector<std::filesystem::path> files_of(const options::Configuration& configuration,
                                            const device::LoadedDevice& device) {
  std::vector<std::filesystem::path> files = configuration.files;
  // A device file may state no value of its own; the name of the catalogue is no file.
  const std::string& gpu = configuration.options.gpu;
  if (device::names_file(gpu)) files.emplace_back(gpu);
  for (const device::Entry& e : device.entries) {
    // "file:line" of a value that a device file states; a file that it inherits from is read as well.
    std::filesystem::path file = e.origin.where.substr(0, e.origin.where.rfind(':'));
    if (e.origin.layer == "device" && std::ranges::find(files, file) == files.end())
      files.push_back(std::move(file));
  }
  return files;
}

options::Configuration resolve(const RunOptions& given) {
  options::Configuration configuration = options::gather(options::current_process(), given);
  if (given.has("cache")) configuration.options.mode = "cache";
  if (given.has("predict")) configuration.options.mode = "predict";
  static_cast<void>(gpu::options_of(configuration.options));  // throws: before a program or a compiler runs
  return configuration;
}

std::string at_place(const std::string& where) {
  return where.empty() || where == "interrupted" ? "" : (where.starts_with("in ") ? " " : " at ") + where;
}

Error time_limit(const options::Options& options, const std::string& where) {
  return {
      ExitCode::failure, "limit-time",
      fmt::format("stopped after the time limit of {:g} s{}", options.max_time_ns * 1e-9, at_place(where)),
      "raise --max-time, or a smaller problem"};
}

}  // namespace simtlab::cli

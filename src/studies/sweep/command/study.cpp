// From options and a study file to a study.
#include "report/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "base/units.h"
#include "studies/common/command.h"
#include "studies/common/studies.h"
#include "studies/sweep/command/options.h"
#include "studies/sweep/study_file.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

constexpr const char* sweep_axis_hint =
    "--axis dram=[hbm2,hbm3], --axis sm.count=[60:132:12], --axis l1.bytes=[16K:128K]; docs/guide/sweep.md "
    "has all forms";

// Commands whose --json is a result file.
const std::vector<std::string>& sweepable() {
  static const std::vector<std::string> names = {"run", "predict", "cache", "dram", "probe", "corun"};
  return names;
}

const Option* swept_option(const Command& tool, const std::string& command, const std::string& option) {
  const Command* const found = tool.find_command(command);
  return found == nullptr ? nullptr : found->find_option("--" + option);
}

std::vector<std::string> long_options(const Command& tool, const std::string& command) {
  std::vector<std::string> out;
  for (const Option& o : tool.find_command(command)->options())
    for (const std::string& name : o.long_) out.push_back(name);
  return out;
}

// Where the study came from, for messages about its axes.
struct AxisPlaces {
  std::vector<SourcePos> places;  // of a file's axes; those of the command line have none

  [[noreturn]] void refuse(std::size_t axis, const std::string& message, const std::string& hint) const {
    if (axis < places.size() && places[axis].line != 0)
      throw Error(ExitCode::bad_input, "sweep-axis", Diagnostic{message, places[axis], "", hint});
    throw Error(ExitCode::usage, "sweep-axis", message, hint);
  }
};

studies::sweep::Binding binding_of(const Command& app, const studies::sweep::Study& study, std::size_t a,
                                   const AxisPlaces& places) {
  const std::string& name = study.axes[a].name;
  const std::string mark = "{" + name + "}";
  if (std::ranges::any_of(study.command,
                          [&](const std::string& w) { return w.find(mark) != std::string::npos; }))
    return name == "kernel" ? studies::sweep::Binding::words : studies::sweep::Binding::placeholder;
  const std::string& command = study.command.front();
  if (const Option* option = swept_option(app, command, name)) {
    if (!option->flag()) return studies::sweep::Binding::option;
    for (const std::string& v : study.axes[a].values)
      if (v != "true" && v != "false")
        places.refuse(a,
                      fmt::format("axis '{}': --{} of `simtlab {}` takes no value, so '{}' means nothing",
                                  name, name, command, shown(v, 40)),
                      "true or false");
    return studies::sweep::Binding::flag;
  }
  if (name.find('.') != std::string::npos && swept_option(app, command, "set") != nullptr)
    return studies::sweep::Binding::setting;
  std::vector<std::string> known = long_options(app, command);
  const std::string near = nearest_name(name.substr(0, 200), known);
  places.refuse(a,
                fmt::format("axis '{}' is no option of `simtlab {}`, no key of a device (those have a dot), "
                            "and no {} is in the command",
                            shown(name, 60), command, shown(mark, 60)),
                near.empty()
                    ? "the command's options, keys of `simtlab config show`, or {NAME} in the command's words"
                    : fmt::format("did you mean '{}'?", near));
}

void add_kernels(studies::sweep::Study& study, const std::vector<std::string>& kernels, AxisPlaces& places) {
  if (kernels.empty()) return;
  study.axes.insert(study.axes.begin(), {"kernel", kernels, std::nullopt});
  places.places.insert(places.places.begin(), SourcePos{});
  const bool named = std::ranges::any_of(
      study.command, [](const std::string& w) { return w.find("{kernel}") != std::string::npos; });
  if (!named) study.command.insert(study.command.begin() + 1, "{kernel}");
}

void refuse_outputs(std::span<const std::string> words) {
  for (const std::string& w : words)
    for (const char* ours : {"--json", "-o", "--output", "--report", "--csv"})
      if (w == ours || w.starts_with(std::string(ours) + "="))
        throw Error(ExitCode::usage, "sweep-what",
                    fmt::format("{} in the command of a study: every point would write to the same file",
                                shown(w, 60)),
                    "leave it out; `simtlab report STUDY.db --point N --json` gives a point's result");
}

void check_command(studies::sweep::Study& study) {
  if (!study.command.empty() && study.command.front() == "simtlab")
    study.command.erase(study.command.begin());
  if (study.command.empty())
    throw Error(ExitCode::usage, "sweep-what", "no command is named that is to run at each point",
                "simtlab sweep --axis ... -- run kernel.ptx --launch l.toml, or --kernels FILE...");
  const std::string& name = study.command.front();
  if (std::ranges::find(sweepable(), name) == sweepable().end()) {
    const std::string near = nearest_name(name.substr(0, 100), sweepable());
    throw Error(ExitCode::usage, "sweep-what",
                fmt::format("`simtlab {}` gives no result that a study could keep", shown(name, 60)),
                near.empty() ? "run, predict, cache, dram, probe and corun do"
                             : fmt::format("did you mean '{}'?", near));
  }
  refuse_outputs(studies::sweep::own_words(study.command));
}

// What an option's word sets: "gpu" of --gpu=v100 and of --gpu; empty: it is no option.
std::string option_in(const std::string& word) {
  return word.starts_with("--") ? word.substr(2, word.find('=') - 2) : std::string();
}

bool names_option(std::span<const std::string> words, const std::string& option) {
  return std::ranges::any_of(words, [&](const std::string& w) { return option_in(w) == option; });
}

// A value of words may have options of its own, but none that the rest of the command gives, too: which of
// them held would be a matter of luck.
void check_words(const Command& app, const studies::sweep::Study& study, std::size_t axis,
                 const AxisPlaces& places) {
  for (const std::string& value : study.axes[axis].values) {
    const std::vector<std::string> words = studies::sweep::value_words(value);
    refuse_outputs(studies::sweep::own_words(words));
    for (const std::string& word : studies::sweep::own_words(words)) {
      const std::string name = option_in(word);
      const Option* option = name.empty() ? nullptr : swept_option(app, study.command.front(), name);
      if (option == nullptr || option->most_values() > 1 || option->repeatable())
        continue;  // run says what it thinks of the first; others may be repeated
      if (names_option(studies::sweep::own_words(study.command), name))
        places.refuse(axis,
                      fmt::format("axis '{}': '{}' sets --{}, and so does the command", study.axes[axis].name,
                                  shown(value, 60), name),
                      "leave one of them out");
    }
  }
}

// What a command asks for depends on its words and its mode, not on values of other options: it is looked at
// once for all points that agree in these, for that takes milliseconds.
auto asks_once_a_shape(const studies::sweep::Study& study, decltype(Call::reads) reads) {
  std::vector<std::size_t> shaping;
  for (std::size_t a = 0; a < study.axes.size(); ++a)
    if (study.bindings[a] == studies::sweep::Binding::words ||
        study.bindings[a] == studies::sweep::Binding::placeholder || study.axes[a].name == "mode")
      shaping.push_back(a);
  using Values = std::vector<std::string>;
  return [shaping, reads = std::move(reads), known = std::make_shared<std::map<Values, bool>>()](
             const Values& values, const Values& words) {
    Values key;
    for (const std::size_t a : shaping) key.push_back(values[a]);
    const auto [at, is_new] = known->try_emplace(std::move(key), false);
    if (is_new) at->second = reads(words, "seed");
    return at->second;
  };
}

bool first_reads_seed(const studies::sweep::Study& study) {
  std::vector<std::string> values;
  for (const studies::sweep::Axis& axis : study.axes) {
    if (axis.values.empty()) return true;  // a range
    values.push_back(axis.values.front());
  }
  return study.takes_seed(values, studies::sweep::point_command(study, values, 0));
}

void check_axes(const Call& call, studies::sweep::Study& study, const AxisPlaces& places) {
  const Command& app = call.command.root();
  for (std::size_t a = 0; a < study.axes.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b)
      if (study.axes[a].name == study.axes[b].name)
        places.refuse(a, fmt::format("axis '{}' is there twice", shown(study.axes[a].name, 60)),
                      "one list has all its values");
    study.bindings.push_back(binding_of(app, study, a, places));
  }
  for (std::size_t a = 0; a < study.axes.size(); ++a) {
    const std::string& name = study.axes[a].name;
    if (study.bindings[a] == studies::sweep::Binding::words) check_words(app, study, a, places);
    const bool is_option = study.bindings[a] == studies::sweep::Binding::option ||
                           study.bindings[a] == studies::sweep::Binding::flag;
    if (is_option && sets_option(study, name))
      places.refuse(a, fmt::format("axis '{}' varies what --{} in the command sets", name, name),
                    "leave one of them out");
  }
  const std::string& command = study.command.front();
  const bool sets = sets_option(study, "seed");
  const bool varies =
      std::ranges::any_of(study.axes, [](const studies::sweep::Axis& a) { return a.name == "seed"; });
  if (swept_option(app, command, "seed") != nullptr && !sets && !varies)
    study.takes_seed = asks_once_a_shape(study, call.reads);
  if (study.repeats > 1 && (!study.takes_seed || !first_reads_seed(study)))
    throw Error(ExitCode::usage, "sweep-what",
                sets || varies
                    ? "repeats have a seed each, and the study sets the seed itself"
                    : fmt::format("repeats differ by their seed, and what `simtlab {}` does here reads none",
                                  command),
                "leave out repeats");
}

// What the command line says goes before the file.
void override(studies::sweep::Study& study, const SweepOptions& o, AxisPlaces& places) {
  for (const std::string& text : o.axes) {
    studies::sweep::Axis axis = studies::sweep::parse_axis(text, {"--axis", "sweep-axis", sweep_axis_hint});
    const auto same = std::ranges::find(study.axes, axis.name, &studies::sweep::Axis::name);
    if (same != study.axes.end() &&
        static_cast<std::size_t>(same - study.axes.begin()) < places.places.size()) {
      places.places[static_cast<std::size_t>(same - study.axes.begin())] = {};
      *same = std::move(axis);
    } else {
      study.axes.push_back(std::move(axis));
    }
  }
  if (o.design) study.design = studies::sweep::parse_design(*o.design);
  if (o.points) study.points = *o.points;
  if (o.repeats) study.repeats = *o.repeats;
  if (o.seed) study.seed = *o.seed;
  if (o.timeout) study.timeout_s = parse_quantity(*o.timeout, Unit::nanoseconds) / 1e9;
  for (const auto& [given, kept] :
       {std::pair(&o.metrics, &study.metrics), std::pair(&o.minimise, &study.minimise),
        std::pair(&o.maximise, &study.maximise)})
    if (!given->empty()) *kept = *given;
}

}  // namespace

bool sets_option(const studies::sweep::Study& study, const std::string& option) {
  if (names_option(studies::sweep::own_words(study.command), option)) return true;
  for (std::size_t a = 0; a < study.axes.size() && a < study.bindings.size(); ++a)
    if (study.bindings[a] == studies::sweep::Binding::words)
      for (const std::string& value : study.axes[a].values)
        if (names_option(studies::sweep::own_words(studies::sweep::value_words(value)), option)) return true;
  return false;
}

bool command_has(const Command& app, const std::string& command, const std::string& option) {
  return swept_option(app, command, option) != nullptr;
}

studies::sweep::Study study_of(const Call& call, const SweepOptions& o) {
  const std::optional<std::vector<std::string>>& command = call.after_dashes;
  studies::sweep::StudyFile file;
  std::error_code code;
  fs::path folder = fs::current_path(code);
  if (!o.study.empty()) {
    file = studies::sweep::read_study(read_file(o.study, studies::sweep::max_study_bytes, "study"), o.study);
    if (file.study.name == "sweep") file.study.name = fs::path(o.study).stem().string();
    folder = fs::absolute(o.study).parent_path();
  }
  studies::sweep::Study study = std::move(file.study);
  study.folder = fs::weakly_canonical(folder, code).string();
  AxisPlaces places{file.axis_positions};
  override(study, o, places);
  if (command && !command->empty()) study.command = *command;
  const std::vector<std::string>& kernels = o.kernels.empty() ? file.kernels : o.kernels;
  if (study.command.empty() && !kernels.empty()) study.command = {"run"};
  check_command(study);
  add_kernels(study, kernels, places);
  check_axes(call, study, places);
  std::vector<std::string> names;
  for (const studies::sweep::Axis& a : study.axes) names.push_back(a.name);
  std::vector<studies::sweep::Constraint> constraints;
  // Their axes have moved
  for (const studies::sweep::Constraint& c : study.constraints) constraints.emplace_back(c.text(), names);
  for (const std::string& text : o.constraints) constraints.emplace_back(text, names);
  study.constraints = std::move(constraints);
  return study;
}

Outcome study_outcome(result::Study&& found, const StudyForms& forms, const OutputOptions& output) {
  const auto study = std::make_shared<const result::Study>(std::move(found));
  Outcome out;
  out.output = output;
  out.json = [study] { return report::study_json(*study); };
  out.csv = [study] { return report::study_csv(*study); };
  out.more = {{forms.markdown, [study] { return report::study_markdown(*study); }},
              {forms.html, [study] { return report::study_html(*study); }},
              {forms.timeline, [study] { return report::study_timeline(*study); }}};
  out.text = [study, all = output.all, next = forms.next_command](const report::Style& style) {
    return report::study_text(*study, {style, all, next});
  };
  out.text_on_stdout = forms.text;
  return out;
}

}  // namespace simtlab::studies

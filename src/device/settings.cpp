#include "device/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <system_error>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/shown.h"
#include "base/units.h"
#include "device/document.h"
#include "device/main_memory.h"
#include "device/parameters.h"
#include "device/what_if.h"

namespace simtlab::device {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_diagnostics = 20;
constexpr std::size_t max_parents = 64;

using OptionField =
    std::variant<std::string ToolOptions::*, std::uint64_t ToolOptions::*, double ToolOptions::*>;

struct ToolOption {
  std::string_view key;
  Unit unit;
  std::uint64_t maximum;  // of whole numbers
  std::string_view default_value;
  std::string_view choices;  // of texts, separated by '|'; empty: any
  std::string_view doc;
  OptionField field;
};

constexpr std::uint64_t any = UINT64_MAX;

std::span<const ToolOption> tool_options() {
  static const auto rows = std::to_array<ToolOption>({
      {"gpu", Unit::none, any, "h100", "", "The simulated GPU: a name of the catalogue or a device file",
       &ToolOptions::gpu},
      {"mode", Unit::none, any, "timing", "timing|functional", "Cycle by cycle, or results only",
       &ToolOptions::mode},
      {"seed", Unit::none, any, "0", "", "Seed of random buffers and policies", &ToolOptions::seed},
      {"threads", Unit::none, 256, "0", "",
       "Host threads that simulate the SMs; 0: all that the process may use. Results do not depend on it",
       &ToolOptions::threads},
      {"sample", Unit::none, any, "0", "",
       "Relative error (0.02: 2 %) at which the pace of a large grid's blocks counts as known and the rest "
       "is extrapolated; 0: never",
       &ToolOptions::sample},
      {"kernels", Unit::none, any, "*", "",
       "Launches that are simulated cycle by cycle (names with * and ?, numbers, NAME:N); the others are "
       "only executed",
       &ToolOptions::kernels},
      {"sharing", Unit::none, any, "leftover", "",
       "How kernels of different streams share the GPU: leftover, spatial, smk, serial, or SMs by kernel "
       "(NAME=0-39,NAME=40-79)",
       &ToolOptions::sharing},
      {"max-cycles", Unit::none, any, "0", "", "Simulated cycles after which a kernel is stopped; 0: never",
       &ToolOptions::max_cycles},
      {"max-time", Unit::nanoseconds, any, "0 ns", "", "Wall time after which a run is stopped; 0: never",
       &ToolOptions::max_time_ns},
      {"max-memory", Unit::bytes, any, "0 B", "",
       "Host memory for device allocations, resident blocks and the lines of cache studies; 0: three "
       "quarters of what is free",
       &ToolOptions::max_memory},
      {"regs", Unit::none, 255, "0", "", "Registers per thread; 0: the compiler's or the estimate",
       &ToolOptions::registers},
      {"what-if", Unit::none, any, "none", "",
       "Limits of the GPU that are lifted, separated by commas (docs/guide/explain.md)",
       &ToolOptions::what_if},
      {"lowering", Unit::none, any, "on", "on|off",
       "Time PTX as the machine instructions that it becomes, or each of its instructions as one "
       "(docs/concepts/timing.md)",
       &ToolOptions::lowering},
  });
  return rows;
}

const ToolOption* find_option(std::string_view key) {
  const auto rows = tool_options();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const ToolOption& o) { return o.key == key; });
  return found == rows.end() ? nullptr : &*found;
}

[[noreturn]] void refuse(const ToolOption& option, std::string_view what, std::string hint) {
  throw Error(ExitCode::bad_input, "config-value", fmt::format("{}: {}", option.key, what), std::move(hint));
}

bool is_choice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const std::size_t end = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, end) == text) return true;
    choices.remove_prefix(std::min(end + 1, choices.size()));
  }
  return false;
}

void store_text(const ToolOption& option, const std::string& text, std::string& out) {
  if (text.empty()) refuse(option, "is empty", std::string(option.doc));
  if (!option.choices.empty() && !is_choice(option.choices, text))
    refuse(option, fmt::format("unknown value '{}'", shown(text, 40)),
           fmt::format("one of {}", option.choices));
  if (option.key == "what-if") parse_what_if(text);  // says what is wrong with it
  out = text;
}

void store_option(const ToolOption& option, const std::string& text, ToolOptions& out) {
  try {
    if (const auto* member = std::get_if<std::string ToolOptions::*>(&option.field)) {
      store_text(option, text, out.**member);
    } else if (const auto* real = std::get_if<double ToolOptions::*>(&option.field)) {
      out.** real = parse_quantity(text, option.unit);
    } else {
      const std::uint64_t value = parse_whole_quantity(text, option.unit);
      if (value > option.maximum)
        refuse(option, fmt::format("'{}' is out of range", shown(text, 40)),
               fmt::format("0 to {}", option.maximum));
      out.*std::get<std::uint64_t ToolOptions::*>(option.field) = value;
    }
  } catch (const Error& e) {
    if (e.id() != "quantity") throw;
    refuse(option, e.diagnostics().front().message, e.diagnostics().front().hint);
  }
}

std::string hint_for(const std::string& key) {
  std::vector<std::string> options;
  for (const ToolOption& option : tool_options()) options.emplace_back(option.key);
  return unknown_key_hint(key, std::move(options));
}

// The error in the form of an entry of a configuration file; empty if there is none.
std::string wrong_form(const Node& node) {
  const ToolOption* option = find_option(node.key);
  if (node.is_empty_table)
    return option != nullptr ? fmt::format("{}: a table is no value", node.key)
                             : wrong_with_empty_table(node.key);
  if (option == nullptr || node.is_text || !std::holds_alternative<std::string ToolOptions::*>(option->field))
    return {};
  return fmt::format("{}: {} is no text", node.key, shown(node.value, 40));
}

// A path in a file is meant relative to that file.
std::string gpu_relative_to(const std::string& gpu, const fs::path& file) {
  const bool is_path = gpu.find('/') != std::string::npos || gpu.ends_with(".toml");
  if (!is_path || fs::path(gpu).is_absolute()) return gpu;
  return (file.parent_path() / gpu).lexically_normal().string();
}

class Gathering {
 public:
  Gathering() {
    for (const ToolOption& option : tool_options()) {
      store_option(option, std::string(option.default_value), out_.options);
      out_.option_entries.push_back({std::string(option.key), std::string(option.default_value),
                                     std::string(name_of(option.unit)), std::string(option.doc),
                                     Origin{"default", "", "", false}});
    }
  }

  void add_file(const fs::path& path, const std::string& layer) {
    const Document document = read_document(path, Form::plain);
    out_.files.push_back(path);
    for (const Node& node : document.nodes) {
      const auto diagnostic = [&](std::string message, std::string hint) {
        return document.diagnostic(node.pos, std::move(message), std::move(hint));
      };
      if (std::string wrong = wrong_form(node); !wrong.empty()) {
        if (find_option(node.key) != nullptr)
          keep("config-value", diagnostic(std::move(wrong), "write for example: gpu = \"a100\""));
        else
          keep("config-unknown-key", diagnostic(std::move(wrong), hint_for(node.key)));
      }
      if (node.is_empty_table) continue;
      Setting setting{node.key, node.value,
                      Origin{layer, fmt::format("{}:{}", path.string(), node.pos.line), "", false}, node.pos,
                      diagnostic({}, {}).text};
      if (setting.key == "gpu") setting.value = gpu_relative_to(setting.value, path);
      if (setting.key == "dram.model" || setting.key == "dram.controller")
        setting.value = memory_model_in(setting.value, path.parent_path());
      add(setting, diagnostic);
    }
    fail_if_any();
  }

  void add_texts(const std::vector<Setting>& settings) {
    for (const Setting& setting : settings)
      add(setting, [&](std::string message, std::string hint) {
        Diagnostic d;
        d.message = fmt::format("{}: {}", setting.origin.where, message);
        d.hint = std::move(hint);
        return d;
      });
    fail_if_any();
  }

  Configuration finish() { return std::move(out_); }

 private:
  template <class MakeDiagnostic>
  void add(const Setting& setting, const MakeDiagnostic& diagnostic) {
    try {
      if (const ToolOption* option = find_option(setting.key)) {
        store_option(*option, setting.value, out_.options);
        Entry& entry = out_.option_entries[static_cast<std::size_t>(option - tool_options().data())];
        entry.value = setting.value;
        entry.origin = setting.origin;
        if (option->key == "gpu") out_.gpu = setting;
      } else if (const Parameter* parameter = find_parameter(setting.key)) {
        store(*parameter, setting.value, scratch_);
        out_.settings.push_back(setting);
      } else {
        keep("config-unknown-key",
             diagnostic(fmt::format("unknown key '{}'", shown(setting.key, 60)), hint_for(setting.key)));
      }
    } catch (const Error& e) {
      keep(e.id(), diagnostic(e.diagnostics().front().message, e.diagnostics().front().hint));
    }
  }

  // The first finding names the error.
  void keep(std::string id, Diagnostic d) {
    if (diagnostics_.empty()) id_ = std::move(id);
    if (diagnostics_.size() < max_diagnostics) diagnostics_.push_back(std::move(d));
  }

  void fail_if_any() {
    if (!diagnostics_.empty()) throw Error(ExitCode::bad_input, id_, std::move(diagnostics_));
  }

  Configuration out_;
  Device scratch_;  // values are checked by storing them
  std::string id_;
  std::vector<Diagnostic> diagnostics_;
};

Setting parse_setting(std::string_view text, std::string layer, std::string where) {
  const std::size_t equals = text.find('=');
  const auto trimmed = [](std::string_view s) {
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    return std::string(s);
  };
  const std::string key = trimmed(text.substr(0, equals));
  if (equals == std::string_view::npos || key.empty())
    throw Error(ExitCode::usage, "option-set",
                fmt::format("{}: '{}' is not of the form key=value", where, shown(text, 60)),
                "write for example sm.count=4; 'simtlab config show' lists the keys");
  return {key, trimmed(text.substr(equals + 1)), Origin{std::move(layer), std::move(where), "", false}};
}

std::vector<Setting> environment_settings(const Surroundings& surroundings) {
  std::vector<Setting> out;
  if (const auto gpu = surroundings.environment("SIMTLAB_GPU"); gpu && !gpu->empty())
    out.push_back({"gpu", *gpu, Origin{"environment", "SIMTLAB_GPU", "", false}});
  std::string rest = surroundings.environment("SIMTLAB_SET").value_or("");
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    if (rest.find_first_not_of(' ') < end)
      out.push_back(parse_setting(rest.substr(0, end), "environment", "SIMTLAB_SET"));
    rest.erase(0, end + 1);
  }
  return out;
}

fs::path user_file(const Surroundings& surroundings) {
  if (const auto config = surroundings.environment("XDG_CONFIG_HOME"); config && !config->empty())
    return fs::path(*config) / "simtlab" / "config.toml";
  if (const auto home = surroundings.environment("HOME"); home && !home->empty())
    return fs::path(*home) / ".config" / "simtlab" / "config.toml";
  return {};
}

fs::path project_file(const fs::path& working_directory) {
  std::error_code ignored;
  fs::path folder = working_directory;
  for (std::size_t i = 0; i < max_parents; ++i) {
    if (fs::exists(folder / "simtlab.toml", ignored)) return folder / "simtlab.toml";
    if (fs::exists(folder / ".git", ignored) || !folder.has_relative_path()) break;
    folder = folder.parent_path();
  }
  return {};
}

}  // namespace

Surroundings current_process() {
  std::error_code ignored;
  return {fs::current_path(ignored), [](const char* name) -> std::optional<std::string> {
            const char* const value = std::getenv(name);
            return value == nullptr ? std::nullopt : std::optional<std::string>(value);
          }};
}

Setting command_line_setting(std::string_view text) {
  return parse_setting(text, "command line", fmt::format("--set {}", shown(text, 60)));
}

Configuration gather(const Surroundings& surroundings, const std::vector<fs::path>& config_files,
                     const std::vector<Setting>& command_line) {
  Gathering gathering;
  std::error_code ignored;
  if (const fs::path path = user_file(surroundings); !path.empty() && fs::exists(path, ignored))
    gathering.add_file(path, "user");
  if (const fs::path path = project_file(surroundings.working_directory); !path.empty())
    gathering.add_file(path, "project");
  gathering.add_texts(environment_settings(surroundings));
  for (const fs::path& path : config_files) gathering.add_file(path, "command line");
  gathering.add_texts(command_line);
  return gathering.finish();
}

LoadedDevice load_device(const Configuration& configuration) {
  try {
    return load_device(configuration.options.gpu, configuration.settings);
  } catch (const Error& e) {
    const Setting& gpu = configuration.gpu;
    std::vector<Diagnostic> diagnostics = e.diagnostics();
    for (Diagnostic& d : diagnostics) {
      if (!d.pos.file.empty()) continue;
      d.pos = gpu.pos;
      d.text = gpu.line;
      if (d.pos.file.empty()) d.pos.file = gpu.origin.where;
    }
    throw Error(e.code(), e.id(), std::move(diagnostics));
  }
}

std::string option_reference() {
  std::string out = "| key | default | meaning |\n|---|---|---|\n";
  for (const ToolOption& option : tool_options())
    out += fmt::format("| `{}` | `{}` | {} |\n", option.key, option.default_value, option.doc);
  return out;
}

}  // namespace simtlab::device

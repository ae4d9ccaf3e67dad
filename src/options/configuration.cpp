#include "options/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/shown.h"
#include "base/units.h"
#include "device/document.h"
#include "device/main_memory.h"
#include "device/parameters.h"
#include "options/rows.h"

namespace simtlab::options {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_diagnostics = 20;
constexpr std::size_t max_parents = 64;

using device::Entry;
using device::Origin;
using device::Setting;

// Of configuration files, the environment and --set.
const Row* layered_row(std::string_view key) {
  const Row* const row = find_row(key);
  return row != nullptr && row->layered ? row : nullptr;
}

std::string hint_for(const std::string& key) {
  std::vector<std::string> options;
  for (const Row& row : rows())
    if (row.layered) options.emplace_back(row.key);
  return device::unknown_key_hint(key, std::move(options));
}

// The error in the form of an entry of a configuration file; empty if there is none.
std::string wrong_form(const device::Node& node) {
  const Row* const option = layered_row(node.key);
  if (node.is_empty_table)
    return option != nullptr ? fmt::format("{}: a table is no value", node.key)
                             : device::wrong_with_empty_table(node.key);
  if (option == nullptr || node.is_text || std::holds_alternative<std::uint64_t Options::*>(option->field) ||
      std::holds_alternative<double Options::*>(option->field))
    return {};
  return fmt::format("{}: {} is no text", node.key, shown(node.value, 40));
}

// A path in a file is meant relative to that file.
std::string gpu_relative_to(const std::string& gpu, const fs::path& file) {
  if (!device::names_file(gpu) || fs::path(gpu).is_absolute()) return gpu;
  return (file.parent_path() / gpu).lexically_normal().string();
}

class Gathering {
 public:
  Gathering() {
    out_.options = defaults();
    for (const Row& row : rows())
      if (row.layered)
        out_.option_entries.push_back({std::string(row.key), std::string(row.default_value),
                                       std::string(name_of(row.unit)), std::string(row.doc),
                                       Origin{"default", "", "", false}});
  }

  void add_file(const fs::path& path, const std::string& layer) {
    const device::Document document = device::read_document(path, device::Form::plain);
    out_.files.push_back(path);
    for (const device::Node& node : document.nodes) {
      const auto diagnostic = [&](std::string message, std::string hint) {
        return document.diagnostic(node.pos, std::move(message), std::move(hint));
      };
      if (std::string wrong = wrong_form(node); !wrong.empty()) {
        if (layered_row(node.key) != nullptr)
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
        setting.value = device::memory_model_in(setting.value, path.parent_path());
      add(setting, layered_row(node.key), diagnostic);
    }
    fail_if_any();
  }

  // own: they are options of the command line, not keys.
  void add_texts(const std::vector<Setting>& settings, bool own) {
    for (const Setting& setting : settings)
      add(setting, own ? find_row(setting.key) : layered_row(setting.key),
          [&](std::string message, std::string hint) {
            // The option says which key it is.
            if (const std::string key = setting.key + ": "; own && message.starts_with(key))
              message.erase(0, key.size());
            Diagnostic d;
            d.message = fmt::format("{}: {}", setting.origin.where, message);
            d.hint = std::move(hint);
            return d;
          });
    if (own && !diagnostics_.empty())
      throw Error(ExitCode::usage, id_ == "config-value" ? "option-value" : id_, std::move(diagnostics_));
    fail_if_any();
  }

  Configuration finish() { return std::move(out_); }

 private:
  template <class MakeDiagnostic>
  void add(const Setting& setting, const Row* row, const MakeDiagnostic& diagnostic) {
    try {
      if (row != nullptr) {
        store(*row, setting.value, out_.options);
        if (const auto entry = std::ranges::find(out_.option_entries, row->key, &Entry::key);
            entry != out_.option_entries.end()) {
          entry->value = setting.value;
          entry->origin = setting.origin;
        }
        if (row->key == "gpu") out_.gpu = setting;
      } else if (const device::Parameter* parameter = device::find_parameter(setting.key)) {
        device::store(*parameter, setting.value, scratch_);
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
  device::Device scratch_;  // values are checked by storing them
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

Configuration gather(const Surroundings& surroundings, const Given& given) {
  Gathering gathering;
  std::error_code ignored;
  if (const fs::path path = user_file(surroundings); !path.empty() && fs::exists(path, ignored))
    gathering.add_file(path, "user");
  if (const fs::path path = project_file(surroundings.working_directory); !path.empty())
    gathering.add_file(path, "project");
  gathering.add_texts(environment_settings(surroundings), false);
  for (const std::string& path : given.all("config")) gathering.add_file(path, "command line");
  std::vector<Setting> settings;
  for (const std::string& text : given.all("set")) settings.push_back(command_line_setting(text));
  gathering.add_texts(settings, false);
  gathering.add_texts(given.settings(), true);
  return gathering.finish();
}

device::LoadedDevice load_device(const Configuration& configuration) {
  try {
    return device::load_device(configuration.options.gpu, configuration.settings);
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
  for (const Row& row : rows())
    if (row.layered) out += fmt::format("| `{}` | `{}` | {} |\n", row.key, row.default_value, row.doc);
  return out;
}

}  // namespace simtlab::options

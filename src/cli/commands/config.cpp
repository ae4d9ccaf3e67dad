// simtlab config show: the effective values of a device, a memory technology or a memory controller and where
// each came from. simtlab config diff and init: command_config_files.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/commands/config_files.h"
#include "device/memory_controller.h"
#include "device/technology.h"
#include "result/json.h"
#include "studies/common/command.h"
#include "studies/common/options.h"
#include "studies/common/output.h"

namespace simtlab::cli {
namespace {

struct Show {
  RunOptions given;
  std::optional<std::string> dram, controller;
  bool origin = false;
  std::string json;
};

// What is shown: its name, the words for it, its values.
struct ShownConfig {
  std::string kind, name;        // "gpu", "h100": the first member of the JSON
  std::string title_key, title;  // "product", "NVIDIA H100 80GB HBM3"
  std::vector<device::Entry> entries;
  std::vector<std::filesystem::path> files;  // that were read
};

std::string origin_text(const device::Origin& o) {
  std::string text = o.layer;
  if (!o.where.empty() && o.where != o.layer) text += fmt::format(" ({})", o.where);
  if (o.estimated) text += ", estimated";
  if (!o.source.empty()) text += ": " + o.source;
  return text;
}

std::string as_json(const ShownConfig& shown) {
  std::string out = fmt::format("{{\n  \"schema\": 1,\n  {}: {},\n  {}: {},\n  \"values\": [",
                                result::json_string(shown.kind), result::json_string(shown.name),
                                result::json_string(shown.title_key), result::json_string(shown.title));
  const char* separator = "\n";
  for (const device::Entry& e : shown.entries) {
    out += fmt::format(
        "{}    {{\"key\": {}, \"value\": {}, \"unit\": {}, \"layer\": {}, \"where\": {}, \"source\": {}, "
        "\"estimated\": {}, \"doc\": {}}}",
        separator, result::json_string(e.key), result::json_string(e.value), result::json_string(e.unit),
        result::json_string(e.origin.layer), result::json_string(e.origin.where),
        result::json_string(e.origin.source), e.origin.estimated, result::json_string(e.doc));
    separator = ",\n";
  }
  return out + "\n  ]\n}\n";
}

std::string as_text(const ShownConfig& shown, bool origins) {
  std::string out = fmt::format("# {}: {}\n", shown.name, shown.title);
  std::size_t keys = 0, values = 0;
  for (const device::Entry& e : shown.entries) {
    keys = std::max(keys, e.key.size());
    values = std::max(values, e.value.size());
  }
  const std::size_t column = keys + 3 + std::min<std::size_t>(values, 24);
  for (const device::Entry& e : shown.entries) {
    const std::string head = fmt::format("{} = {}", report::padded(e.key, keys), e.value);
    out += origins ? fmt::format("{}  # {}\n", report::padded(head, column), origin_text(e.origin))
                   : head + "\n";
  }
  return out;
}

ShownConfig gpu(const Show& options) {
  const options::Configuration configuration = resolve(options.given);
  const device::LoadedDevice loaded = options::load_device(configuration);
  ShownConfig out{"gpu",
                  loaded.device.name,
                  "product",
                  loaded.device.product,
                  configuration.option_entries,
                  files_of(configuration, loaded)};
  out.entries.insert(out.entries.end(), loaded.entries.begin(), loaded.entries.end());
  return out;
}

// Technologies and controllers have no layers but their file and --set: configuration files hold values of
// devices.
std::vector<device::Setting> settings_of(const Show& options, const char* option, const char* what) {
  const bool both = options.dram && options.controller;
  if (options.given.has("gpu") || options.given.has("config") || both)
    throw Error(ExitCode::usage, "option-conflict",
                fmt::format("{} shows a {}, {}", option, what,
                            both                       ? "--controller a memory controller"
                            : options.given.has("gpu") ? "--gpu is about a device"
                                                       : "--config is about a device"),
                "give one of the two");
  std::vector<device::Setting> settings;
  for (const std::string& text : options.given.all("set"))
    settings.push_back(options::command_line_setting(text));
  return settings;
}

ShownConfig dram(const Show& options) {
  device::LoadedTechnology loaded =
      device::load_technology(*options.dram, settings_of(options, "--dram", "memory technology"));
  return {"dram",
          loaded.technology.name,
          "standard",
          loaded.technology.standard,
          std::move(loaded.entries),
          std::move(loaded.files)};
}

ShownConfig controller(const Show& options) {
  device::LoadedMemoryController loaded = device::load_memory_controller(
      *options.controller, settings_of(options, "--controller", "memory controller"));
  return {"controller",
          loaded.controller.name,
          "description",
          loaded.controller.description,
          std::move(loaded.entries),
          std::move(loaded.files)};
}

int show(const Show& options) {
  const ShownConfig shown = options.dram         ? dram(options)
                            : options.controller ? controller(options)
                                                 : gpu(options);
  OutputOptions output;
  output.json = options.json;
  check_outputs(output);
  check_inputs(output, shown.files);
  if (output.json.empty())
    print(as_text(shown, options.origin));
  else
    write_to(output.json, as_json(shown));
  return 0;
}

}  // namespace

void add_config(Command& app) {
  Command* config = app.add_subcommand("config", "Look at the configuration, compare two, begin one");
  config->require_subcommand(1, 1);
  add_config_files(*config);
  Command* sub = config->add_subcommand(
      "show",
      "Every effective value of the device (--gpu, --set, files, environment), of a memory technology "
      "(--dram, --set) or of a memory controller (--controller, --set)");
  const auto options = std::make_shared<Show>();
  add_options(*sub, options::Study::show_configuration, options->given);
  sub->add_option("--dram", options->dram,
                  "A memory technology instead: a name of `simtlab list drams` or a file")
      ->check(not_empty())
      ->type_name("NAME|FILE")
      ->group("Configuration");
  sub->add_option("--controller", options->controller,
                  "A memory controller instead: a name of `simtlab list controllers` or a file")
      ->check(not_empty())
      ->type_name("NAME|FILE")
      ->group("Configuration");
  sub->add_flag("--origin", options->origin, "Also the layer and the source of each value");
  sub->add_option("--json", options->json, "As JSON to stdout, or with --json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]");
  sub->action([options](const Call&) { return show(*options); });
}

}  // namespace simtlab::cli

// simtlab config show: the effective values of a device and where each came from.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/output.h"
#include "result/json.h"

namespace simtlab::cli {
namespace {

struct Show {
  DeviceOptions device;
  bool origin = false;
  std::string json;
};

std::string origin_text(const device::Origin& o) {
  std::string text = o.layer;
  if (!o.where.empty() && o.where != o.layer) text += fmt::format(" ({})", o.where);
  if (o.estimated) text += ", estimated";
  if (!o.source.empty()) text += ": " + o.source;
  return text;
}

std::string as_json(const device::LoadedDevice& loaded, const std::vector<device::Entry>& entries) {
  std::string out =
      fmt::format("{{\n  \"schema\": 1,\n  \"gpu\": {},\n  \"product\": {},\n  \"values\": [",
                  result::json_string(loaded.device.name), result::json_string(loaded.device.product));
  const char* separator = "\n";
  for (const device::Entry& e : entries) {
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

std::string as_text(const device::LoadedDevice& loaded, const std::vector<device::Entry>& entries,
                    bool origins) {
  std::string out = fmt::format("# {}: {}\n", loaded.device.name, loaded.device.product);
  std::size_t keys = 0, values = 0;
  for (const device::Entry& e : entries) {
    keys = std::max(keys, e.key.size());
    values = std::max(values, e.value.size());
  }
  const std::size_t column = keys + 3 + std::min<std::size_t>(values, 24);
  for (const device::Entry& e : entries) {
    const std::string head = fmt::format("{} = {}", report::padded(e.key, keys), e.value);
    out += origins ? fmt::format("{}  # {}\n", report::padded(head, column), origin_text(e.origin))
                   : head + "\n";
  }
  return out;
}

int show(const Show& options) {
  const device::Configuration configuration = resolve(options.device);
  const device::LoadedDevice loaded = device::load_device(configuration);
  OutputOptions output;
  output.json = options.json;
  check_outputs(output);
  check_inputs(output, files_of(configuration, loaded));
  std::vector<device::Entry> entries = configuration.option_entries;
  entries.insert(entries.end(), loaded.entries.begin(), loaded.entries.end());
  if (output.json.empty())
    print(as_text(loaded, entries, options.origin));
  else
    write_to(output.json, as_json(loaded, entries));
  return 0;
}

}  // namespace

void add_config(CLI::App& app, Action& chosen) {
  CLI::App* config = app.add_subcommand("config", "Look at the configuration");
  config->require_subcommand(1);
  CLI::App* sub = config->add_subcommand(
      "show", "Every effective value of the device (--gpu, --set, files, environment)");
  const auto options = std::make_shared<Show>();
  add_device_options(*sub, options->device);
  sub->add_flag("--origin", options->origin, "Also the layer and the source of each value");
  sub->add_option("--json", options->json, "As JSON to stdout, or with --json=FILE to FILE")
      ->check(CLI::Validator(refuse_empty, ""))
      ->type_name("[=FILE]");
  sub->callback([&chosen, options] { chosen = [options] { return show(*options); }; });
}

}  // namespace simtlab::cli

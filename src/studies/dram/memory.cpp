#include "studies/dram/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "device/main_memory.h"
#include "device/memory_controller.h"
#include "device/memory_controller_keys.h"
#include "options/configuration.h"

namespace simtlab::studies {
namespace {

using Settings = std::vector<device::Setting>;

// --set changes the technology or the controller: they have no section in common.
bool of_controller(const std::string& key) {
  const std::string section = key.substr(0, key.find('.') + 1);
  return std::ranges::any_of(device::memory_controller_keys(), [&](const device::Key& k) {
    return k.key == key || (!section.empty() && k.key.starts_with(section));
  });
}

void append(std::vector<result::ConfigValue>& out, const std::vector<device::Entry>& entries) {
  for (const device::Entry& e : entries) {
    const std::string origin =
        e.origin.where.empty() ? e.origin.layer : fmt::format("{} ({})", e.origin.layer, e.origin.where);
    out.push_back(
        {e.key, e.value, origin, e.origin.estimated ? "estimated: " + e.origin.source : e.origin.source});
  }
}

DrivenMemory make_plugin(const MemoryOptions& options, const device::MemoryChoice& choice) {
  if (options.controller || !options.set.empty())
    throw Error(ExitCode::usage, "option-conflict",
                fmt::format("{} has no effect: a plug-in has a controller and values of its own",
                            options.controller ? "--controller" : "--set"),
                "configure it with ?config=");
  memory::dram::PluginConfig config{.library = choice.library, .config = choice.config};
  config.channels = options.channels.value_or(1);
  auto plugin = std::make_unique<memory::dram::PluginChannels>(config);
  DrivenMemory out;
  out.name = plugin->name();
  out.peak = plugin->peak_bytes_per_second() * config.channels;
  out.plugin = plugin.get();
  out.channels = std::move(plugin);
  out.configuration.push_back({"dram.model", options.dram, "command line (--dram)", ""});
  out.configuration.push_back({"dram.channels", std::to_string(config.channels),
                               options.channels ? "command line (--channels)" : "default", ""});
  out.files.emplace_back(choice.library);
  return out;
}

}  // namespace

DrivenMemory make_memory(const MemoryOptions& options) {
  const std::uint32_t channels = options.channels.value_or(1);
  if (channels == 0)
    throw Error(ExitCode::usage, "option-value", "a memory of 0 channels", "--channels is 1 or more");
  const device::MemoryChoice choice = device::memory_choice(options.dram);
  if (choice.kind == device::MemoryKind::plugin) return make_plugin(options, choice);
  Settings technology_settings, controller_settings;
  for (const std::string& text : options.set) {
    device::Setting setting = options::command_line_setting(text);
    Settings& settings = of_controller(setting.key) ? controller_settings : technology_settings;
    settings.push_back(std::move(setting));
  }
  const std::string controller_name = options.controller.value_or("default");
  const device::LoadedTechnology technology = device::load_technology(options.dram, technology_settings);
  const device::LoadedMemoryController controller =
      device::load_memory_controller(controller_name, controller_settings);

  // For its errors: it knows where the pattern was written, the memory does not.
  const memory::dram::AddressMapping mapping(technology.technology, channels,
                                             controller.controller.mapping.pattern,
                                             controller.controller.mapping.hash, controller.pattern_at);

  DrivenMemory out;
  out.name = technology.technology.name;
  auto system =
      std::make_unique<memory::dram::OwnChannels>(technology.technology, controller.controller, channels);
  out.system = system.get();
  out.channels = std::move(system);
  out.peak = out.system->report(0).peak_bandwidth;
  out.configuration.push_back({"dram.channels", std::to_string(channels),
                               options.channels ? "command line (--channels)" : "default", ""});
  out.configuration.push_back({"dram.controller", controller.controller.name,
                               options.controller ? "command line (--controller)" : "default", ""});
  append(out.configuration, technology.entries);
  append(out.configuration, controller.entries);
  out.files = technology.files;
  out.files.insert(out.files.end(), controller.files.begin(), controller.files.end());
  return out;
}

}  // namespace simtlab::studies

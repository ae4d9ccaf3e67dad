// Configuration layers: defaults < device < user file < project file < environment < command line.
//
// A configuration file is TOML with the keys of device parameters (`[sm] count = 4` or `sm.count = 4`) and
// the options of rows.h that are layered (`gpu = "a100"`, `seed = 7`). gather() reads all layers, checks
// every key and value where it stands and keeps its origin; load_device() then applies the device settings on
// top of the device file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/catalogue.h"
#include "options/given.h"
#include "options/options.h"

namespace simtlab::options {

// Where gather() looks. current_process() fills it for the tool; tests fill it by hand.
struct Surroundings {
  std::filesystem::path working_directory;
  std::function<std::optional<std::string>(const char*)> environment;  // nullopt: not set
};
Surroundings current_process();

struct Configuration {
  Options options;
  std::vector<device::Entry> option_entries;  // those that are layered, with their origins
  device::Setting gpu;                        // what chose options.gpu
  std::vector<device::Setting> settings;      // device parameters, lowest layer first
  std::vector<std::filesystem::path> files;   // configuration files read, lowest layer first
};

// "sm.count=4" as a setting of the command line. Throws Error(usage).
device::Setting command_line_setting(std::string_view text);

// given: what the command line says, which overrides all else; files of --config are read before. A later
// setting wins. Throws Error(bad_input) "config-unknown-key", "config-value", "toml-syntax" with position;
// Error(usage) for malformed --set and SIMTLAB_SET, and for the value of an option of the command line.
//
// Layers read: $XDG_CONFIG_HOME/simtlab/config.toml (else ~/.config/...); simtlab.toml in the working
// directory or the nearest parent that has one, up to a repository root (a folder with .git);
// SIMTLAB_SET="a=1;b=2" and SIMTLAB_GPU.
Configuration gather(const Surroundings& surroundings, const Given& given);

// The device that the configuration asks for, with its settings. Errors about the choice itself (no such GPU,
// no such file) say where it was made.
device::LoadedDevice load_device(const Configuration& configuration);

// The layered options as a Markdown table for the documentation.
std::string option_reference();

}  // namespace simtlab::options

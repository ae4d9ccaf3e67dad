// Configuration layers: defaults < device < user file < project file < environment < command line.
//
// A configuration file is TOML with the keys of device parameters (`[sm] count = 4` or `sm.count = 4`) and
// the tool options below (`gpu = "a100"`, `seed = 7`). gather() reads all layers, checks every key and value
// where it stands and keeps its origin; load_device() then applies the device settings on top of the device
// file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/catalogue.h"

namespace simtlab::device {

// Options of the tool that are no device parameters; declared once in settings.cpp.
struct ToolOptions {
  std::string gpu;      // catalogue name, or the path of a device file
  std::string mode;     // "timing", "functional"; "cache" of `simtlab cache`, "predict" of `simtlab predict`
  std::string kernels;  // gpu::KernelChoice; "*": all
  std::string sharing;  // gpu::Sharing; "leftover"
  std::uint64_t seed = 0;
  std::uint64_t threads = 0;     // of the host; 0: all that the process may use
  double sample = 0;             // relative error; 0: every block is simulated
  std::uint64_t max_cycles = 0;  // per kernel; 0: no limit
  std::uint64_t max_memory = 0;  // bytes of host memory for device allocations; 0: default
  double max_time_ns = 0;        // wall time; 0: no limit
  std::uint64_t registers = 0;   // per thread; 0: the compiler's or the estimate
  std::string what_if;           // device/what_if.h; "none"
  std::string lowering;          // "on", "off": timing/lowering.h
  // Cachesim::Options as text, of `simtlab cache`; no option of the configuration
  std::string cache;
  std::string predict;  // gpu::PredictOptions as text, of `simtlab predict`; the same
};

// Where gather() looks. current_process() fills it for the tool; tests fill it by hand.
struct Surroundings {
  std::filesystem::path working_directory;
  std::function<std::optional<std::string>(const char*)> environment;  // nullopt: not set
};
Surroundings current_process();

struct Configuration {
  ToolOptions options;
  std::vector<Entry> option_entries;         // effective tool options with their origins
  Setting gpu;                               // what chose options.gpu
  std::vector<Setting> settings;             // device parameters, lowest layer first
  std::vector<std::filesystem::path> files;  // configuration files read, lowest layer first
};

// "sm.count=4" as a setting of the command line. Throws Error(usage).
Setting command_line_setting(std::string_view text);

// config_files: those of --config, in order. command_line: --set and the tool options that were given ("gpu",
// "seed"
// ...), which override all else. A later setting wins. Throws Error(bad_input) "config-unknown-key",
// "config-value", "toml-syntax" with position; Error(usage) for malformed --set and SIMTLAB_SET.
//
// Layers read: $XDG_CONFIG_HOME/simtlab/config.toml (else ~/.config/...); simtlab.toml in the working
// directory or the nearest parent that has one, up to a repository root (a folder with .git);
// SIMTLAB_SET="a=1;b=2" and SIMTLAB_GPU.
Configuration gather(const Surroundings& surroundings, const std::vector<std::filesystem::path>& config_files,
                     const std::vector<Setting>& command_line);

// The device that the configuration asks for, with its settings. Errors about the choice itself (no such GPU,
// no such file) say where it was made.
LoadedDevice load_device(const Configuration& configuration);

// The tool options as a Markdown table for the documentation.
std::string option_reference();

}  // namespace simtlab::device

// Options that mean the same in every sub-command; they are the uppermost configuration layer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/settings.h"

namespace CLI {
class App;
}

namespace simtlab::cli {

struct DeviceOptions {
  std::optional<std::string> gpu;
  std::vector<std::string> set;  // key=value
  std::vector<std::string> config;
};

struct RunOptions {
  DeviceOptions device;
  std::optional<std::string> dram, channels, controller;
  std::optional<std::string> mode, what_if, lowering;
  std::optional<std::string> cache;    // cache::Options as text; the run is a cache study
  std::optional<std::string> predict;  // gpu::PredictOptions as text; the run is a prediction
  // As typed; device::gather() checks them.
  std::optional<std::string> threads, sample, kernels, sharing, seed, max_cycles, max_time, max_memory,
      registers;
};

struct OutputOptions {
  std::string output;     // -o
  std::string json, csv;  // file name, "-" for stdout, empty for none
  std::string color = "auto";
  bool all = false, quiet = false;
  unsigned verbose = 0;           // -v 1, -vv 2
  std::string progress = "auto";  // plain: lines in a log, none
  std::string live;               // file that says how far the command is (cli/live_file.h)
  // What a command writes besides: the option, and the name it was given, which outlives this. "-" is stdout.
  struct More {
    const char* option;
    std::string* file;
  };
  std::vector<More> more;
};

void add_device_options(CLI::App& command, DeviceOptions& options);
// Those of a run that a cache study has as well, without the device's.
void add_study_options(CLI::App& command, RunOptions& options);
void add_run_options(CLI::App& command, RunOptions& options);
void add_output_options(CLI::App& command, OutputOptions& options);
// Of commands that may take long.
void add_progress_option(CLI::App& command, OutputOptions& options);
// Of those that tell others how far they are, too.
void add_live_option(CLI::App& command, OutputOptions& options);

// A check for options that name something: an empty value is a script's variable that was not set.
std::string refuse_empty(std::string& value);

// The layers resolved: what a run uses. The configuration files are those of device/settings.h. Throws Error.
device::Configuration resolve(const DeviceOptions& options);
device::Configuration resolve(const RunOptions& options);

// " at warp 3 of ...", " in kernel ...", or nothing, as the simulation names the place.
std::string at_place(const std::string& where);
// What a run that --max-time stopped ends with. where: in a kernel, in words; may be empty.
Error time_limit(const device::ToolOptions& options, const std::string& where);

// The configuration and device files that were read: no output may go there.
std::vector<std::filesystem::path> files_of(const device::Configuration& configuration,
                                            const device::LoadedDevice& device);

}  // namespace simtlab::cli

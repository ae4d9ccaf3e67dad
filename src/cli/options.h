// Options that mean the same in every sub-command; they are the uppermost configuration layer.
#pragma once

#include <cstdint>
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
  std::string dram;
  std::optional<std::string> mode;
  // As typed; device::gather() checks them.
  std::optional<std::string> threads, seed, max_cycles, max_time, max_memory, registers;
};

struct OutputOptions {
  std::string output;     // -o
  std::string json, csv;  // file name, "-" for stdout, empty for none
  std::string color = "auto";
  bool all = false, quiet = false, verbose = false;
};

void add_device_options(CLI::App& command, DeviceOptions& options);
void add_run_options(CLI::App& command, RunOptions& options);
void add_output_options(CLI::App& command, OutputOptions& options);

// The layers resolved: what a run uses. The configuration files are those of device/settings.h. Throws Error.
device::Configuration resolve(const DeviceOptions& options);
device::Configuration resolve(const RunOptions& options);

// What a run that --max-time stopped ends with. where: in a kernel, in words; may be empty.
Error time_limit(const device::ToolOptions& options, const std::string& where);

}  // namespace simtlab::cli

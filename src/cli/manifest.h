// What the tool knows about a run and the models don't: command, host, times, hashes of inputs.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/options.h"
#include "result/metrics.h"

namespace simtlab::cli {

// The command line as typed, quoted for a shell; that of the process, or of the command that this thread runs for a caller.
void remember_command_line(const std::vector<std::string>& words);

std::string typed_command();

class RunClock {
 public:
  RunClock();
  // Fills the tool's part of the manifest and the host.* metrics of the total.
  void finish(result::Result& result) const;

 private:
  std::chrono::steady_clock::time_point begin_;
  std::string start_time_;
};

std::vector<result::InputHash> hash_inputs(const std::vector<std::filesystem::path>& paths);
std::vector<result::ConfigValue> configuration_of(const device::Configuration& configuration,
                                                  const device::LoadedDevice& device);

std::string_view version();

}  // namespace simtlab::cli

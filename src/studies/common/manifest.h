// What the tool knows about a run and the models don't: command, host, times, hashes of inputs.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "result/metrics.h"
#include "studies/common/options.h"
#include "studies/common/output.h"

namespace simtlab::studies {

// The command line as typed, quoted for a shell; that of the process, or of the command that this thread runs
// for a caller.
void remember_command_line(const std::vector<std::string>& words);

std::string typed_command();

// What ended a run before its end: for the manifest of what it has done.
void note_stop(result::Manifest& manifest, const Error& error);

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
std::vector<result::ConfigValue> configuration_of(const options::Configuration& configuration,
                                                  const device::LoadedDevice& device);

// With -v the device and the mode, with -vv every file that was read for them, and the inputs.
void narrate_setup(const OutputOptions& output, const options::Configuration& configuration,
                   const device::LoadedDevice& device, const std::vector<result::InputHash>& inputs);

std::string_view version();

}  // namespace simtlab::studies

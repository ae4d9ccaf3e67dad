// The message of `simtlab run -- ./app` to the runtime library inside the program's process, and how the
// results come back.
//
// The command line resolves every configuration layer, writes a RunConfig to a file and starts the program
// with
//   SIMTLAB_RUN_CONFIG  path of that file (JSON, run_config_from_json)
//   SIMTLAB_RESULT      path that the result file gets (write_result_file of result/json.h)
//   SIMTLAB_DATA        directory of the data files (device::data_directory honours it)
//   LD_LIBRARY_PATH     the directory of our libcudart.so first
// The runtime library writes its result when the process ends, and at once when a launch fails or is
// interrupted. An error that ends or poisons the CUDA context goes into manifest.failure, failure_id and
// failure_code. SIGINT, SIGTERM and SIGALRM (the time limit) ask it to stop at the next check: partial
// result, manifest.interrupted, exit status 130. Without SIMTLAB_RUN_CONFIG the library runs on its defaults
// and writes no result unless SIMTLAB_RESULT is set.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simtlab::result {

// One layered setting, as device::Setting.
struct RunSetting {
  std::string key, value;
  std::string layer;  // "user", "project", "environment", "command line"
  std::string where;  // file:line or the option's text
  bool operator==(const RunSetting&) const = default;
};

struct RunConfig {
  std::string gpu = "h100";            // catalogue name or absolute path of a device file
  std::vector<RunSetting> settings;    // in layer order, later ones win
  std::string mode = "timing";         // "timing" | "functional" | "cache" | "predict"
  std::string cache;                   // cache::Options as text
  std::string predict;                 // gpu::PredictOptions as text
  std::uint64_t max_cycles = 0;        // per kernel; 0 = no limit
  double max_time_s = 0;               // wall seconds of the whole run; 0 = no limit
  std::uint64_t max_memory_bytes = 0;  // host memory for device allocations; 0 = default
  std::uint32_t registers = 0;         // --regs; 0 = the compiler's or the estimate
  std::string kernels = "*";           // launches that are simulated cycle by cycle
  std::string sharing = "leftover";    // of the GPU by kernels of different streams
  double sample = 0;                   // relative error of sampled kernels; 0 = all blocks are simulated
  std::uint32_t threads = 0;           // of the host; 0 = all that the process may use
  std::uint64_t seed = 0;
  // File where the program tells how far it is (base/pulse.h); empty: nobody looks
  std::string pulse;
  std::string record;                  // absolute path of the trace to write; empty: none
  std::string checkpoint, resume;      // absolute paths; empty: none
  std::uint64_t checkpoint_every = 0;  // launches; 0 = a minute
  std::string what_if = "none";        // limits that are lifted
  bool lowering = true;                // timing/lowering.h
  bool lines = false;                  // to be observed: scheduler slots by line (timing/timing.h)
  std::uint64_t series = 0;
  std::string timeline;  // absolute path; empty: none
  std::uint64_t timeline_from = 0, timeline_to = 0;
  std::uint32_t timeline_sm = 0;
  bool timeline_states = false;  // states of warps as a table of the result
  bool operator==(const RunConfig&) const = default;
};

std::string to_json(const RunConfig& config);
// All keys but the host's, with their values: runs that agree in these values and in the device have equal
// results.
std::vector<std::pair<std::string, std::string>> what_results_depend_on(const RunConfig& config);
// Throws Error(bad_input, "run-config") naming `file` and the key.
RunConfig run_config_from_json(std::string_view text, const std::string& file);

}  // namespace simtlab::result

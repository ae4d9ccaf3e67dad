// The message of `simtlab run -- ./app` to the runtime library inside the program's process, and how the
// results come back.
//
// The command line resolves every configuration layer, writes a RunFile and starts the program
// with
//   SIMTLAB_RUN_CONFIG  path of that file (JSON, run_file_from_json)
//   SIMTLAB_RESULT      path that the result file gets (write_result_file of result/json.h)
//   SIMTLAB_DATA        directory of the data files (device::data_directory honours it)
//   LD_LIBRARY_PATH     the directory of our libcudart.so first
// The runtime library writes its result when the process ends, and at once when a launch fails or is
// interrupted. An error that ends or poisons the CUDA context goes into manifest.failure, failure_id and
// failure_code. SIGINT, SIGTERM and SIGALRM (the time limit) ask it to stop at the next check: partial
// result, manifest.interrupted, exit status 130. Without SIMTLAB_RUN_CONFIG the library runs on its defaults
// and writes no result unless SIMTLAB_RESULT is set.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/catalogue.h"
#include "options/configuration.h"
#include "options/options.h"

namespace simtlab::options {

struct RunFile {
  Options options = {};
  std::vector<device::Setting> settings;  // device parameters, in layer order: later ones win
};

// What a program is run with. A device file is named by its absolute path: the program may run elsewhere.
RunFile run_file(const Configuration& configuration);
std::string to_json(const RunFile& run);
// Throws Error(bad_input, "run-config") naming `file` and the key.
RunFile run_file_from_json(std::string_view text, const std::string& file);

// Options that change results, with their values: runs that agree in these and in the device's values have
// equal results. (The GPU's name is not among them: its values count.)
std::vector<std::pair<std::string, std::string>> what_results_depend_on(const Options& options);

}  // namespace simtlab::options

#include "studies/common/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/run_options.h"

namespace simtlab::studies {

std::vector<std::filesystem::path> files_of(const options::Configuration& configuration,
                                            const device::LoadedDevice& device) {
  std::vector<std::filesystem::path> files = configuration.files;
  // A device file may state no value of its own; the name of the catalogue is no file.
  const std::string& gpu = configuration.options.gpu;
  if (device::names_file(gpu)) files.emplace_back(gpu);
  for (const device::Entry& e : device.entries) {
    // "file:line" of a value that a device file states; a file that it inherits from is read as well.
    std::filesystem::path file = e.origin.where.substr(0, e.origin.where.rfind(':'));
    if (e.origin.layer == "device" && std::ranges::find(files, file) == files.end())
      files.push_back(std::move(file));
  }
  return files;
}

options::Configuration resolve(const RunOptions& given) {
  options::Configuration configuration = options::gather(options::current_process(), given);
  if (given.has("cache")) configuration.options.mode = "cache";
  if (given.has("predict")) configuration.options.mode = "predict";
  if (given.has("check")) configuration.options.mode = "functional";
  static_cast<void>(gpu::options_of(configuration.options));  // throws: before a program or a compiler runs
  return configuration;
}

std::string at_place(const std::string& where) {
  return where.empty() || where == "interrupted" ? "" : (where.starts_with("in ") ? " " : " at ") + where;
}

Error time_limit(const options::Options& options, const std::string& where) {
  return {
      ExitCode::failure, "limit-time",
      fmt::format("stopped after the time limit of {:g} s{}", options.max_time_ns * 1e-9, at_place(where)),
      "raise --max-time, or a smaller problem"};
}

}  // namespace simtlab::studies

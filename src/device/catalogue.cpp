#include "device/catalogue.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/shown.h"
#include "device/assembly.h"
#include "device/consistency.h"
#include "device/data_files.h"
#include "device/main_memory.h"
#include "device/parameters.h"

namespace simtlab::device {
namespace {

namespace fs = std::filesystem;

constexpr Subject devices;

// A measured bandwidth belongs to the peak of its file: a setting of the peak scales the measured bandwidth,
// too.
void scale_measured_bandwidth(Assembly& assembly, Device& device, double file_bandwidth) {
  const char* const peak = "dram.bandwidth";
  if (!assembly.is_overridden(peak) || file_bandwidth <= 0) return;
  const auto scale = [&](const char* key, double& value) {
    if (assembly.is_overridden(key)) return;
    value *= device.dram.bandwidth / file_bandwidth;
    assembly.follow(key, peak, "in proportion to dram.bandwidth");
  };
  scale("dram.bandwidth_measured", device.dram.bandwidth_measured);
  scale("dram.read_bandwidth_measured", device.dram.read_bandwidth_measured);
}

}  // namespace

std::vector<std::string> list_devices() { return list_data_files(devices); }

LoadedDevice load_device(const std::string& name_or_file, const std::vector<Setting>& settings) {
  const fs::path path = find_data_file(devices, name_or_file);
  if (path.empty())
    throw Error(ExitCode::bad_input, "device-unknown",
                fmt::format("unknown GPU '{}'", shown(name_or_file, 60)),
                unknown_name_hint(devices, name_or_file));
  const std::vector<Document> chain = read_chain(devices, path);
  LoadedDevice out;
  Device& device = out.device;
  RecordOf record(parameters(), device);
  Assembly assembly(record, devices);
  for (auto document = chain.rbegin(); document != chain.rend(); ++document) assembly.add(*document);
  const double file_bandwidth = device.dram.bandwidth;
  for (const Setting& setting : settings) assembly.add(setting);
  assembly.require_all(path.string());
  scale_measured_bandwidth(assembly, device, file_bandwidth);
  assembly.refuse(contradictions(device), path.string());
  const std::vector<Entry> memory = apply_main_memory(assembly, device, path.string());
  device.name = path.stem().string();
  derive(device);
  out.entries = assembly.entries();
  out.entries.insert(out.entries.end(), memory.begin(), memory.end());
  return out;
}

}  // namespace simtlab::device

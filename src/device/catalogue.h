// Device files: finding, loading, layering, origins. Contract between device/ and its users.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "device/source_kind.h"

namespace simtlab::device {

// Where a value came from, for `config show --origin`.
struct Origin {
  std::string layer;   // "default", "device", "technology", "user", "project", "environment", "command line"
  std::string where;   // file:line or option text
  std::string source;  // the source or the reason of an estimate, as the data file says
  bool estimated = false;
  SourceKind kind = SourceKind::unstated;  // of the source
};

struct Entry {        // one effective value, printable
  std::string key;    // "sm.count"
  std::string value;  // with unit: "1.98 GHz"
  std::string unit;   // "" for plain numbers
  std::string doc;    // one sentence
  Origin origin;
};

struct LoadedDevice {
  Device device;
  std::vector<Entry> entries;  // in declaration order
};

// One `--set key=value` or a line of a configuration file.
struct Setting {
  std::string key, value;
  Origin origin;
  SourcePos pos = {};  // of a configuration file's: its place and that line, for messages
  std::string line = {};
};

// Whether a text that names a device, a memory or a controller is the path of a file: it has a slash, or ends
// in .toml.
bool names_file(std::string_view name);
// Directory of the data files: $SIMTLAB_DATA, else beside the executable (../share/simtlab/data, then the
// source tree).
std::filesystem::path data_directory();
std::vector<std::string> list_devices();
// name_or_file: "h100" or a path to a .toml. Throws Error(bad_input) with position; unknown names suggest the
// nearest.
LoadedDevice load_device(const std::string& name_or_file, const std::vector<Setting>& settings = {});

}  // namespace simtlab::device

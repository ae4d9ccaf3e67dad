// Findings as a device file that run, predict, cache and corun read, and as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "device/catalogue.h"
#include "probe/finding.h"

namespace simtlab::probe {

struct Provenance {
  std::string board, driver, clocks, date, tool;   // date: empty for simulated boards, whose files are the same every day
  bool partial = false;                            // something ended the measurement early
  std::string base_name;
};

// Values that are keys of device files and known, each with its method, interval and samples as its source; those that are not known are absent, unless `base` (may be null) has
// them: they are then marked as estimates from there.
std::string device_file(const Findings& findings, const Provenance& provenance, const device::LoadedDevice* base);

// The interval that the source of a value in such a file says; nullopt: it says none.
std::optional<Interval> interval_in(std::string_view source);
// Whether the source is that of a value that was queried or follows exactly.
bool is_exact(std::string_view source);

// "16 KiB", "1.401 GHz", "lru".
std::string value_text(const Finding& finding);

}  // namespace simtlab::probe

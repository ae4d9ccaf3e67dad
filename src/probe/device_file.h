// Findings as a device file that run, predict, cache and corun read, and as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/parameters.h"
#include "probe/analysis/finding.h"
#include "probe/loans.h"

namespace simtlab::probe {

struct Provenance {
  // Date: empty for simulated boards, whose files are the same every day
  std::string board, driver, clocks, date, tool;
  bool partial = false;          // something ended the measurement early
  std::string base_name;         // empty: nobody lends anything
  std::string base_remark = {};  // why it is only the nearest (base.h); may be empty
};

struct DeviceFile {
  std::string text;
  std::size_t measured = 0, missing = 0;  // values: of the board; of nobody, though a device must have them
  std::vector<std::pair<std::string, std::size_t>> lent;  // by lender, the base first
  std::vector<std::string> given_way;  // keys that were measured and go together with nobody's values
};

// Values that are keys of device files and known, each with its method, interval and samples as its source;
// those that were not measured are absent, unless they are lent: they are then marked as estimates from
// there.
DeviceFile device_file(const Findings& findings, const Provenance& provenance, const Loans& loans);

// A finding as the file has it; empty: the key does not take it.
std::string file_value(const device::Parameter& parameter, const Finding& finding);

// The interval that the source of a value in such a file says; nullopt: it says none.
std::optional<Interval> interval_in(std::string_view source);
// Whether the source is that of a value that was queried or follows exactly.
bool is_exact(std::string_view source);

// "16 KiB", "1.401 GHz", "lru".
std::string value_text(const Finding& finding);

}  // namespace simtlab::probe

// What varies in a sweep: an axis has a name and values, or a range that a design draws from.
//
//   dram=[hbm2,hbm3]          words
//   sm.count=[60:132:12]      from 60 to 132 in steps of 12
//   l1.bytes=[16K:128K]       doublings
//   sm.count=[60..132]        any whole number of them (random and Latin-hypercube designs)
//   core.clock=[1.0..2.0 GHz] any number; "log" behind it: as many below as above the geometric mean
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::studies::sweep {

struct Range {
  double from = 0, to = 0;
  bool whole = false, log = false;
  std::string unit;  // behind the drawn number, "" or " GHz"
  bool operator==(const Range&) const = default;
};

struct Axis {
  std::string name;
  std::vector<std::string> values;  // empty: `range`
  std::optional<Range> range;
};

inline constexpr std::size_t most_values = 1'000'000;  // of an axis

// Where a text came from, for messages: how the option is called, the error's id, what to do.
struct AxisErrors {
  const char* option;
  const char* id;
  std::string hint;
};

// NAME=VALUES. Throws Error(usage, errors.id).
Axis parse_axis(const std::string& text, const AxisErrors& errors);
// VALUES alone, for an axis of that name.
Axis parse_values(const std::string& name, const std::string& text, const AxisErrors& errors);
// "16K", "128 KiB", "1.4 GHz", "350 ns", "0.5" as a number in the unit's canonical scale; nullopt: a word.
std::optional<double> number_of(std::string_view text);
// The value of a range at u, 0 <= u < 1.
std::string drawn(const Range& range, double u);

}  // namespace simtlab::studies::sweep

// A measured curve: latency by footprint, as a file of a user's.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::probe {

struct CurvePoint {
  double bytes = 0, cycles = 0;
  double weight = 1;  // how many samples are behind it
  bool operator==(const CurvePoint&) const = default;
};
using Curve = std::vector<CurvePoint>;  // sizes rising

inline constexpr std::size_t most_points = 50'000, least_points = 8;

// CSV: comment lines with #, a line of column names (size_bytes, cycles and perhaps weight, in any order),
// rows with rising sizes. Throws Error(bad_input) with line and column: "curve-syntax", "curve-value",
// "curve-order", "curve-points".
Curve parse_curve(std::string_view text, const std::string& file);
Curve read_curve(const std::filesystem::path& file);

}  // namespace simtlab::probe

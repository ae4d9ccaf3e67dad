// Samples of a user's own: intervals that were timed and readings of the clock alone, from text files to the
// distribution of what was timed (Sanchez, thesis, 6.1 and figure 21), and that distribution taken apart
// (6.3): at boundaries, by what counters say, around its mode.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probe/analysis/histogram.h"
#include "probe/analysis/timer.h"

namespace simtlab::probe {

inline constexpr std::size_t most_samples = 20'000'000;
inline constexpr double largest_sample = 0x1p53;
// Pairs of different values that a difference goes through
inline constexpr std::uint64_t most_pairs = std::uint64_t{1} << 24;

// Numbers in the order of the threads, apart by spaces, commas, semicolons or lines; # begins a comment, and
// the first line may be one word, the column's name. Throws Error(bad_input) with line and column:
// "samples-syntax", "samples-value", "samples-count".
std::vector<double> parse_samples(std::string_view text, const std::string& file);
std::vector<double> read_samples(const std::filesystem::path& file);

// What the clock costs is taken out of: `measured` and `cost` are rounded to whole cycles. Throws
// Error(bad_input, "timer-range") where there are more different values than can be gone through.
struct Processed {
  Histogram measured, cost;  // one sample a warp
  Distribution latency;
};
Processed process(std::span<const double> measured, std::span<const double> cost, std::size_t warp_size,
                  Correction correction);

struct Piece {
  std::int64_t first = 0, last = 0;  // smallest and largest value on it
  std::int64_t mode = 0;             // the smallest of equally frequent values
  double share = 0;                  // of the whole
  double mean = 0, deviation = 0;
};
std::int64_t mode_of(const Distribution& distribution);
Piece piece_of(const Distribution& distribution, double share = 1);
// What of it lies between two values, both taken in; none: nothing does.
std::optional<Distribution> between(const Distribution& whole, std::int64_t low, std::int64_t high,
                                    double* share = nullptr);
// Parts between boundaries, which rise: a value that is a boundary belongs to the part below it. Parts that
// nothing lies on are left out.
std::vector<Piece> split_at(const Distribution& whole, std::span<const double> boundaries);
// Boundaries where the shares that counters say, nearer levels first, are reached.
std::vector<double> boundaries_by(const Distribution& whole, std::span<const double> counts);
// As wide on both sides of the mode as from the mode to `bound` (what lies above it belongs to the next
// level); none: the mode is not below it.
std::optional<Piece> around_mode(const Distribution& whole, std::int64_t bound);

}  // namespace simtlab::probe

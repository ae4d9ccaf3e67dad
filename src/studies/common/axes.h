// Axes of a sweep as a command line names them: "size=16K:128K", "policy=lru,fifo".
#pragma once

#include <string>
#include <vector>

namespace simtlab::studies {

struct Axis {
  std::string name;
  std::vector<std::string> values;
};

// FIRST:LAST are doublings; commas part values. Throws Error(usage, error_id) with `hint`.
Axis parse_axis(const std::string& text, const char* error_id, const std::string& hint);
// "--sweep a=1 b=2": moves the words after the first one, which stand among the others, to their axis.
void take_axes(std::vector<std::string>& words, std::vector<std::string>& axes);
// The values of one point of all combinations, the last axis fastest.
std::vector<std::string> point_of(const std::vector<Axis>& axes, std::size_t index);
// Of all combinations. Throws Error(usage, error_id) if there are more than 10,000.
std::size_t count_points(const std::vector<Axis>& axes, const char* error_id);

}  // namespace simtlab::studies

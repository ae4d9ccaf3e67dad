// Set numbers made of chosen address bits.
#pragma once

#include <string_view>
#include <vector>

namespace simtlab::device {

// "7 8 9 10 13" (blanks or commas), lowest bit of the set number first; "none" is empty. Throws
// Error(bad_input, "config-value").
std::vector<unsigned> parse_set_bits(std::string_view text);

}  // namespace simtlab::device

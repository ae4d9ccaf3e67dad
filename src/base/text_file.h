// What every text input must be before a parser sees it: UTF-8 without control characters, in lines of
// bounded length. The TOML library asserts on broken UTF-8 and nests without bound, so its input goes through
// here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab {

// The lines of `text` without their ends. Throws Error(bad_input, "text-encoding") with the position of the
// first byte that is no UTF-8 or a control character other than tab and line ends, or of the end of a line of
// more than max_line_bytes.
std::vector<std::string> checked_lines(std::string_view text, const std::string& file,
                                       std::size_t max_line_bytes);

}  // namespace simtlab

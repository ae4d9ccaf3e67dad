// Foreign text (names, options, values) as it may stand in a message or on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace simtlab {

// At most `most` bytes, cut between characters and marked with "..."; control characters become '?'.
std::string shown(std::string_view text, std::size_t most = 200);

// The same for a whole message of several lines: line ends and tabs stay, each line has its own limit.
std::string shown_lines(std::string_view text, std::size_t most_in_line);

}  // namespace simtlab

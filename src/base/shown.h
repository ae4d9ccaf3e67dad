// Foreign text (names, options, values) as it may stand in a message, in a table or on a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace simtlab {

// Whether a terminal or an editor may take the character for a command: C0, DEL, C1, line and paragraph
// separators, and the characters that turn the direction of the text behind them.
bool is_command(std::uint32_t code);

// The text with '?' for each such character and for each byte that is no UTF-8. Line ends and tabs are such
// characters, too.
std::string printable(std::string_view text);

// The same of at most `most` bytes, cut between characters and marked with "...".
std::string shown(std::string_view text, std::size_t most = 200);

// The same for a whole message of several lines: line ends and tabs stay, each line has its own limit.
std::string shown_lines(std::string_view text, std::size_t most_in_line);

}  // namespace simtlab

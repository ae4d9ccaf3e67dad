// The last look at text before it reaches a stream that may be a terminal.
#pragma once

#include <string>
#include <string_view>

namespace simtlab::studies {

// Whoever writes text makes foreign names printable; this is for those who forgot. Line ends, tabs and the
// sequences that set colours (ESC [ numbers m) pass, of everything else that printable() replaces nothing
// does.
std::string terminal_text(std::string_view text);

}  // namespace simtlab::studies

// Finding one's way in C++ text without parsing it.
#pragma once

#include <cstddef>
#include <string_view>

namespace simtlab::compile {

// Position behind a comment, string or character literal that starts at i, or i if none does.
std::size_t skip_literal(std::string_view text, std::size_t i);
std::size_t skip_blanks(std::string_view text, std::size_t i);
// Behind white space, comments and continued lines.
std::size_t skip_space(std::string_view text, std::size_t i);
// The identifier that begins at i; empty: there is none, or i is inside one.
std::string_view word_at(std::string_view text, std::size_t i);
// The last identifier or character before i, but for white space.
std::string_view token_before(std::string_view text, std::size_t i);

}  // namespace simtlab::compile

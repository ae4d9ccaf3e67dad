// Patterns of names: * is any text, ? any character.
#pragma once

#include <string_view>

namespace simtlab::studies {

// Whether the pattern is the whole text.
bool glob_matches(std::string_view pattern, std::string_view text);

// Of a path: the whole, its part below `folder`, or, of a pattern without /, the name of the file.
bool glob_names_file(std::string_view pattern, std::string_view path, std::string_view folder);

}  // namespace simtlab::studies

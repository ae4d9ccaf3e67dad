// `k<< <g, b>> >(...)`: nvcc accepts blanks inside the launch brackets, clang does not.
#pragma once

#include <string>

namespace simtlab::compile {

// Joins split launch brackets, keeping every character's line and the length of the text. Strings and
// comments are left alone; `>> >` is joined only where a launch is open. Returns true if anything changed.
bool join_launch_brackets(std::string& text);

}  // namespace simtlab::compile

// `k<< <g, b>> >(...)`: nvcc accepts blanks inside the launch brackets, clang does not.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace simtlab::compile {

// Joins split launch brackets, keeping every character's line and the length of the text. Strings and
// comments are left alone; `>> >` is joined only where a launch is open. Returns true if anything changed.
bool join_launch_brackets(std::string& text);

struct RewrittenFile {
  std::filesystem::path original;  // absolute
  std::string text;
};
// The source and every file that it reaches through #include "..." (beside the includer or in one of the
// folders), as far as they need rewriting. Unreadable files and files above 16 MiB are skipped: the compiler
// will have its say.
std::vector<RewrittenFile> rewrite_launches(const std::filesystem::path& source,
                                            const std::vector<std::filesystem::path>& folders);

}  // namespace simtlab::compile

// Sources as clang takes them, where nvcc takes more: launch brackets with blanks in them (launch_syntax.h),
// `#pragma unroll` with numbers of no use (unrolling.h), `__shared__ alignas(16) float s[64]`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "compile/unrolling.h"

namespace simtlab::compile {

class ScratchFolder;

struct RewrittenFile {
  std::filesystem::path original;  // absolute
  std::string text;
};
struct Rewritten {
  std::vector<RewrittenFile> files;
  std::vector<std::string> warnings;  // "/src/app.cu:2: warning: ..."
  bool counts = false, many = false;  // as in Unrolling
};
struct RewriteWish {
  std::vector<std::filesystem::path> folders;                    // for #include "..."
  std::vector<std::pair<std::string, std::string>> macros = {};  // -D
  bool cuda = true;
  std::int64_t most_copies = any_copies;  // that `#pragma unroll` may wish
};

// The source and every file that it reaches through #include "..." (beside the includer or in one of the
// folders), as far as they need rewriting; every character keeps its line and column. Unreadable files and
// files above 16 MiB are skipped: the compiler will have its say.
Rewritten rewrite(const std::filesystem::path& source, const RewriteWish& wish);
// The wish of a command line: "-I", "folder", "-D", "N=8".
RewriteWish wish_of(const std::vector<std::string>& options);

// An alignment behind `__shared__` and its like gets a name of the same length that clang takes there, which
// overlay_options defines. Returns true if anything changed.
bool name_alignments(std::string& text);

// clang's options that show it the rewritten files under their own names; the copies are put into the folder.
std::vector<std::string> overlay_options(const Rewritten& rewritten, const ScratchFolder& folder);
// In clang's messages, what name_alignments has changed.
void name_as_written(std::string& messages);
// clang's options of device code besides.
std::vector<std::string> device_options(const Rewritten& rewritten);

}  // namespace simtlab::compile

// The supported part of PTX: the opcode table in readable form, for `simtlab list ptx` and
// docs/reference/ptx-coverage.md.
#pragma once

#include <string>
#include <vector>

namespace simtlab::ptx {

struct CoverageEntry {
  // "add{.rn|.rz|.rm|.rp}{.ftz}{.sat}.type": braces = may be left out; "mma.*" = all forms
  std::string form;
  std::string types;  // "f32"; "f16, bf16 <- f32" where result and source differ; may be empty
  bool supported = false;
  std::string note;  // why refused, or how it is executed; may be empty
};

// In the order of the table: by group of instructions.
std::vector<CoverageEntry> coverage();

}  // namespace simtlab::ptx

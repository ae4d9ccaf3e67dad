#include "check/patch.h"

#include "check/checker.h"

namespace simtlab::check {

std::vector<bool> places_of(const Patch& patch) {
  if (patch.kind == Patch::Kind::none) return {};
  const std::vector<ptx::Inst>& code = patch.at.function->function->code;
  const ptx::Inst& like = code[patch.at.pc];
  std::vector<bool> out(code.size() + 1);
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    const ptx::Inst& inst = code[pc];
    const bool same = inst.op == like.op && inst.source_line != 0 && inst.source_line == like.source_line &&
                      inst.file == like.file;
    if (same || pc == patch.at.pc) out[pc + (patch.behind ? 1 : 0)] = true;
  }
  return out;
}

}  // namespace simtlab::check

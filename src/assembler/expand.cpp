#include "assembler/expand.h"

#include <utility>
#include <vector>

#include "assembler/expand_parts.h"

namespace simtlab::assembler {
namespace {

using ptx::Inst;
using ptx::Op;

bool starts_block(Op op) { return op == Op::bra || op == Op::brx || op == Op::call; }

// Before which instructions the carry flag holds what a later one in the same run of code reads. Nothing
// jumps in between: the flag does not outlive a branch in what compilers write.
std::vector<bool> carries_in_use(const std::vector<Inst>& code) {
  std::vector<bool> in_use(code.size(), false);
  bool wanted = false;
  for (std::size_t pc = code.size(); pc-- > 0;) {
    const Inst& inst = code[pc];
    if (starts_block(inst.op)) wanted = false;
    if (inst.mods.cc_out) wanted = false;
    if (inst.mods.cc_in) wanted = true;
    in_use[pc] = wanted;
  }
  return in_use;
}

bool expand_one(Expansion& b) {
  constexpr bool (*parts[])(Expansion&) = {expand_single,     expand_real,    expand_half,
                                           expand_division,   expand_integer, expand_bits,
                                           expand_comparison, expand_atomic,  expand_video};
  for (const auto part : parts)
    if (part(b)) return true;
  return false;
}

}  // namespace

bool expand(ptx::VirtualFunction& function, unsigned generation, std::string& why) {
  const std::vector<Inst> code = std::move(function.fn.code);
  Expansion b(function, generation);
  b.find_joined(code);
  const std::vector<bool> carries = carries_in_use(code);
  std::vector<std::uint32_t> new_place(code.size() + 1);
  bool changed = false;
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    new_place[pc] = b.place();
    b.start(code[pc], carries[pc]);
    if (expand_one(b))
      changed = true;
    else
      b.keep(code[pc]);
    if (!b.why().empty()) {
      why = b.why();
      function.fn.code = code;
      return false;
    }
  }
  new_place[code.size()] = b.place();
  function.fn.code = changed ? b.finished(new_place) : code;
  return true;
}

}  // namespace simtlab::assembler

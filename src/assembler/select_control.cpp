// Branches and exits.
#include "assembler/selector.h"

namespace simtlab::assembler {
namespace {

void branch(Selector& s, const Inst& inst) {
  Instruction& i = s.out().emit("BRA", {}, {});
  i.target = s.block_at(inst.target);
}

void leave(Selector& s, const Inst&) { s.out().emit("EXIT", {}, {}); }

void trap(Selector& s, const Inst& inst) {
  s.out().emit("BPT", {}, {number(1)}, {{"kind", inst.op == Op::trap ? "TRAP" : "INT"}});
  if (inst.op == Op::trap) s.out().emit("EXIT", {}, {});
}

void nothing(Selector&, const Inst&) {}

}  // namespace

std::span<const SelectionRow> control_selections() {
  static constexpr SelectionRow rows[] = {
      {Op::bra, branch}, {Op::exit, leave},  {Op::ret, leave},       {Op::trap, trap},
      {Op::brkpt, trap}, {Op::nop, nothing}, {Op::pmevent, nothing},
  };
  return rows;
}

}  // namespace simtlab::assembler

// Where values live: for each 32-bit part of a register and each predicate ("unit"), of one thread.
//
// A place in the code is a gap: before the first instruction of a block, or behind an instruction. A value
// lives in the gaps from behind its instruction to before the last one that reads it. What nobody reads takes
// the gap behind its instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "assembler/program.h"

namespace simtlab::assembler {

// Gaps from `from` to before `to`. Two units with the same `value` in a gap hold the same there.
struct Segment {
  std::uint32_t from = 0, to = 0, value = 0;
  std::uint32_t where = 0;  // 0: in all threads; else in those where a predicate holds, as LiveScan has it

  // No thread needs both.
  bool apart_from(const Segment& o) const { return where >= 2 && (where ^ 1u) == o.where; }
};

struct Liveness {
  std::vector<std::uint32_t> first_unit;    // of a register; one more at the end
  std::vector<std::uint32_t> first_gap;     // of a block; one more at the end
  std::vector<std::vector<Segment>> lives;  // of a unit: apart from each other, in order

  std::uint32_t unit(const Ref& ref) const { return first_unit[ref.reg] + ref.part; }
};

// What an instruction that only copies writes and reads. False: it does more.
bool copies(const Instruction& instruction, Ref& to, Ref& from);

// A value that is undefined on some way to its reader lives from its definitions on alone.
Liveness liveness_of(const Program& program);

}  // namespace simtlab::assembler

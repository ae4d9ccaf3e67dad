#include "assembler/yield.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "assembler/build.h"
#include "assembler/control_effects.h"
#include "assembler/flow.h"

namespace simtlab::assembler {
namespace {

// Atomic operations: on Ampere and Ada all, on Hopper those whose results are waited for. Before, none: of 28
// loops with some, ptxas has YIELD in all for sm_80, in none for sm_70 and 75. A loop around a volatile load
// has none.
bool may_wait(const Instruction& i) {
  constexpr std::array<std::string_view, 2> waiting = {"ATOM", "ATOMG"}, others = {"ATOMS", "RED"};
  constexpr unsigned ampere = 80, hopper = 90;
  const std::string_view base = base_mnemonic(i.code);
  const unsigned generation = i.code.generation;
  if (generation < ampere) return false;
  return is_one_of_names(base, waiting) || (generation < hopper && is_one_of_names(base, others));
}

struct Waits {
  bool any = false, several_lines = false;
  std::uint32_t line = 0;

  void add(const Instruction& i) {
    any = any || may_wait(i);
    if (i.line == 0) return;
    several_lines = several_lines || (line != 0 && line != i.line);
    line = i.line;
  }
};

void insert_at(Program& program, std::uint32_t block) {
  Builder out(program, program.generation);
  out.start(block);
  Instruction i = out.emit("YIELD", {}, {});
  std::vector<Instruction>& code = program.blocks[block].code;
  code.pop_back();
  if (!code.empty())
    i.line = code.front().line, i.file = code.front().file, i.source_line = code.front().source_line;
  std::size_t first = 0;
  while (first < code.size() && base_mnemonic(code[first].code) == "BSYNC") ++first;
  code.insert(code.begin() + static_cast<std::ptrdiff_t>(first), std::move(i));
}

}  // namespace

void yield_in_loops(Program& program) {
  const Flow flow(program);
  std::vector<Waits> loops(flow.loop_count());
  for (std::uint32_t b = 0; b < flow.blocks(); ++b)
    if (flow.loop_of(b) != none)
      for (const Instruction& i : program.blocks[b].code) loops[flow.loop_of(b)].add(i);
  for (std::uint32_t l = 0; l < loops.size(); ++l)
    if (loops[l].any && loops[l].several_lines && flow.loop(l).header != none)
      insert_at(program, flow.loop(l).header);
}

}  // namespace simtlab::assembler

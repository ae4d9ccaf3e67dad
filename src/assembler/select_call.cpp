// Calls of the driver's functions: arguments from R4 on, those of 64 bits in even pairs, the result from R4
// on. What instructions name by number is nobody else's (allocate.h).
#include <array>

#include "assembler/selector.h"
#include "machine/code.h"

namespace simtlab::assembler {
namespace {

using machine::SystemCall;

constexpr std::uint8_t first_argument = 4;

void set_argument_word(Selector& s, std::uint8_t to, const Value& value) {
  Instruction& i = s.out().emit("MOV", {}, {value});
  i.code.operands[0].number = to;
  i.copy = i.remakes = false;
}

void take_word(Selector& s, Ref d, std::uint8_t from) {
  Instruction& i = s.out().emit("MOV", d, {zero()});
  i.code.operands[1].number = from;
  i.copy = i.remakes = false;
}

void call(Selector& s, const Inst& inst, SystemCall which, unsigned arguments, unsigned result_words) {
  Builder& out = s.out();
  std::array<Value, ptx::max_src> values{};
  for (unsigned k = 0; k < arguments; ++k) values[k] = s.plain_source(inst, k);
  unsigned next = first_argument;
  for (unsigned k = 0; k < arguments; ++k) {
    const bool line = which == SystemCall::fail_assertion && k == 2;
    const Value& v = values[k];
    if (line) {
      set_argument_word(s, static_cast<std::uint8_t>(next++), v.wide ? half_of(v, false) : v);
      continue;
    }
    next += next % 2;
    set_argument_word(s, static_cast<std::uint8_t>(next++), v.wide ? half_of(v, false) : v);
    set_argument_word(s, static_cast<std::uint8_t>(next++), v.wide ? half_of(v, true) : zero());
  }
  Instruction& i = out.emit("CALL.ABS", {}, {}, {{"noinc", "NOINC"}});
  i.code.operands[static_cast<std::size_t>(i.code.form->operand("target"))].value =
      static_cast<std::int64_t>(machine::system_call_address(which));
  out.split();
  const Ref d = s.result(inst);
  for (unsigned word = 0; d && word < std::min<unsigned>(result_words, d.count); ++word)
    take_word(s, word == 0 ? s.low(d) : s.high(d), static_cast<std::uint8_t>(first_argument + word));
}

void print(Selector& s, const Inst& inst) { call(s, inst, SystemCall::print, 2, 1); }
void fail_assertion(Selector& s, const Inst& inst) {
  call(s, inst, SystemCall::fail_assertion, inst.src_count, 0);
}
void allocate_memory(Selector& s, const Inst& inst) { call(s, inst, SystemCall::allocate, 1, 2); }
void release_memory(Selector& s, const Inst& inst) { call(s, inst, SystemCall::release, 1, 0); }

}  // namespace

std::span<const SelectionRow> call_selections() {
  static constexpr SelectionRow rows[] = {{Op::vprintf, print},
                                          {Op::assertfail, fail_assertion},
                                          {Op::heap_alloc, allocate_memory},
                                          {Op::heap_free, release_memory}};
  return rows;
}

}  // namespace simtlab::assembler

// What conversions of integers and of floats share.
#pragma once

#include "assembler/selector.h"

namespace simtlab::assembler {

// The low `kept` bits of a value, with their sign (or zeros) above them, and zeros from bit `until` on.
struct Extension {
  unsigned kept = 0, until = 0;
  bool sign = false;
};

inline unsigned bits_of(Type type) { return 8 * ptx::size_of(type); }
inline unsigned result_bits(const Inst& inst) {
  return 8 * (inst.dst[0].bytes != 0 ? inst.dst[0].bytes : ptx::size_of(inst.type));
}
// From which bit on the register of a source is known to be zero.
unsigned zeros_from(const Selector& s, const Operand& source);
// d = an extension of a value that has zeros from bit `zeros` on
void extend(Selector& s, Ref d, const Value& from, unsigned zeros, const Extension& e);
// d = p ? a : b
void choose_word(Selector& s, Ref d, Condition p, Value a, Value b);
void convert_between_integers(Selector& s, const Inst& inst);

}  // namespace simtlab::assembler

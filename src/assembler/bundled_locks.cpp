// Atomics on shared memory of Fermi and Kepler: one round of the loop that takes a lock.
#include <vector>

#include "assembler/bundled_rewriter.h"
#include "assembler/control_effects.h"

namespace simtlab::assembler {

void Bundler::locked(const Instruction& i) {
  const Ref done = locks_done_.at(b_.out().block());
  const bool swaps = i.code.mnemonic() == "ATOMS.CAS", wide = word(i, "type").ends_with("64"),
             conditional = b_.out().has_form("STSCUL");
  const std::vector<Value> v = sources(i);
  // What lanes without the lock get is overwritten in the next round, unless that reads the register.
  const Ref mine = conditional ? b_.out().new_predicate() : done, d = result(i);
  const bool later = d && reads(i, d);
  const Ref old = d && !later ? d : b_.temporary(wide ? 2 : 1);
  Instruction load = b_.out().access_like("LDSLK", old, i);
  b_.out().set_word(load, {"size", wide ? "64" : ""});
  b_.out().set_result(load, "Pd", mine);
  append(std::move(load), i);
  b_.out().guard({mine, false});
  const Ref changed = swaps ? swapped(old, v[0], v[1], wide) : changed_by(i, old, v[0], wide);
  Instruction store = b_.out().access_like(conditional ? "STSCUL" : "STSUL", {}, i);
  b_.out().set_word(store, {"size", wide ? "64" : ""});
  store.refs[static_cast<std::size_t>(store.code.form->operand("Rb"))] = changed;
  if (conditional) b_.out().set_result(store, "Pd", done);
  append(std::move(store), i);
  if (later) b_.out().move(d, value_of(old));
  b_.out().guard(always());
}

Value Bundler::word_of(const Value& v, unsigned k, bool wide) {
  if (!wide) return v;
  return v.kind == Value::Kind::reg && v.ref ? value_of(part_of(v.ref, k)) : half_of(v, k > 0);
}

Ref Bundler::swapped(Ref old, const Value& expected, const Value& wanted, bool wide) {
  const unsigned words = wide ? 2 : 1;
  const Ref same = b_.out().new_predicate(), out = b_.temporary(words);
  for (unsigned k = 0; k < words; ++k) {
    const Value other = b_.out().as_register(word_of(expected, k, wide));
    Instruction& equal = b_.emit("ISETP", {}, {value_of(part_of(old, k)), other},
                                 {{"cmp", "EQ"}, {"u32", "U32"}, {"bool", "AND"}});
    b_.out().set_result(equal, "Pd", same);
    if (k > 0) b_.out().set_condition(equal, "Pc", {same, false});
  }
  for (unsigned k = 0; k < words; ++k) {
    const Value value = b_.out().as_register(word_of(wanted, k, wide));
    Instruction& choice = b_.emit("SEL", part_of(out, k), {value, value_of(part_of(old, k))});
    b_.out().set_condition(choice, "Pc", {same, false});
  }
  return out;
}

Ref Bundler::changed_by(const Instruction& i, Ref old, const Value& given, bool wide) {
  const std::string_view op = word(i, "op");
  const Ref out = b_.temporary(wide ? 2 : 1);
  if (op == "EXCH") {
    for (unsigned k = 0; k < (wide ? 2u : 1u); ++k) b_.out().move(part_of(out, k), word_of(given, k, wide));
    return out;
  }
  if (wide) throw GivenUp{"an atomic of 64 bits on shared memory of this kind"};
  const Value x = value_of(old), v = b_.out().as_register(given);
  if (op == "ADD") {
    b_.add(out, x, v);
  } else if (op == "AND" || op == "OR" || op == "XOR") {
    b_.emit("LOP", out, {x, v}, {{"op", op}});
  } else if (op == "MIN" || op == "MAX") {
    Instruction& least = b_.emit("IMNMX", out, {x, v}, {{"u32", word(i, "type") == "S32" ? "" : "U32"}});
    b_.out().set_condition(least, "min", op == "MIN" ? always() : never());
  } else if (op == "INC" || op == "DEC") {
    count(out, x, v, op == "INC");
  } else {
    throw GivenUp{"an atomic on shared memory of this kind"};
  }
  return out;
}

void Bundler::count(Ref d, const Value& x, const Value& most, bool up) {
  const Ref next = b_.temporary(), ends = b_.out().new_predicate();
  if (!up) {
    Instruction& empty = b_.emit("ISETP", {}, {x, zero()}, {{"cmp", "EQ"}, {"u32", "U32"}, {"bool", "AND"}});
    b_.out().set_result(empty, "Pd", ends);
  }
  Instruction& full = b_.emit("ISETP", {}, {x, most},
                              {{"cmp", up ? "GE" : "GT"}, {"u32", "U32"}, {"bool", up ? "AND" : "OR"}});
  b_.out().set_result(full, "Pd", ends);
  if (!up) b_.out().set_condition(full, "Pc", {ends, false});
  b_.add(next, x, number(up ? 1 : 0xffffffffu));
  Instruction& choice = b_.emit("SEL", d, {up ? zero() : most, value_of(next)});
  b_.out().set_condition(choice, "Pc", {ends, false});
}

}  // namespace simtlab::assembler

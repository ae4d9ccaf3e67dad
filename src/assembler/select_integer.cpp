// Sums and products of integers, minima, counts of bits.
#include <array>
#include <bit>
#include <utility>

#include "assembler/selector.h"

namespace simtlab::assembler {
namespace {

struct Term {
  Value value;
  bool negated = false;
};

struct Terms {
  std::array<Term, 3> list{};
  unsigned count = 0;
  void add(const Value& value, bool negated) { list[count++] = {value, negated}; }
};

// What is added, with the sum that one of the terms is.
Terms terms_of(Selector& s, const Inst& inst) {
  Terms out;
  for (unsigned i = 0; i < 2; ++i) {
    const bool negated = inst.op == Op::sub && i == 1;
    const Inst* const inner = inst.takes == Fold::sum ? s.taken(inst, i, Fold::sum) : nullptr;
    if (inner == nullptr || out.count + 2 > 3 - (1 - i)) {
      Value v = s.source(inst, i);
      const bool sign = v.negated;
      v.negated = false;
      out.add(v, negated != sign);
      continue;
    }
    for (unsigned k = 0; k < 2; ++k) {
      Value v = s.source(*inner, k);
      const bool sign = v.negated;
      v.negated = false;
      out.add(v, (negated != sign) != (inner->op == Op::sub && k == 1));
    }
  }
  return out;
}

// What is no register stands in the middle, if it can.
std::array<Value, 3> ordered(const Terms& terms, unsigned word) {
  std::array<Value, 3> out{}, registers{};
  unsigned count = 0;
  bool middle = false;
  for (unsigned i = 0; i < terms.count; ++i) {
    Value v = terms.list[i].value;
    if (v.wide) v = half_of(v, word == 1);
    v.negated = terms.list[i].negated;
    if (v.kind != Value::Kind::reg && !middle) {
      out[1] = v;
      middle = true;
    } else {
      registers[count++] = v;
    }
  }
  out[0] = registers[0];
  out[middle ? 2 : 1] = registers[1];
  if (!middle) out[2] = registers[2];
  return out;
}

// Carries of a sum: what comes in, and where what goes out is kept.
struct Carries {
  Condition in = never();
  Ref out{};
  bool extended = false;
};

// carry: of the word; second: of three terms.
void sum_word(Selector& s, Ref d, const Terms& terms, unsigned word, const Carries& carries,
              Condition second_in = never(), Ref second_out = {}) {
  std::array<Value, 3> v = ordered(terms, word);
  if (carries.extended)
    for (Value& term : v) term.inverted = std::exchange(term.negated, false);
  Builder& out = s.out();
  Instruction& i = out.emit(carries.extended ? "IADD3.X" : "IADD3", d, {v[0], v[1], v[2]});
  if (carries.out) out.set_result(i, "Pcarry0", carries.out);
  if (second_out) out.set_result(i, "Pcarry1", second_out);
  if (!carries.extended) return;
  out.set_condition(i, "Pcin0", carries.in);
  out.set_condition(i, "Pcin1", second_in);
}

// Two words; a negated term enters the upper one as its complement, and its 1 is the lower one's carry.
void sum_wide(Selector& s, Ref d, const Terms& terms, const Carries& carries = {}) {
  Builder& out = s.out();
  const Ref carry = out.new_predicate(), second = terms.count == 3 ? out.new_predicate() : Ref{};
  Carries lower = carries;
  lower.out = carry;
  sum_word(s, s.low(d), terms, 0, lower, never(), second);
  sum_word(s, s.high(d), terms, 1, {.in = {carry}, .out = carries.out, .extended = true},
           second ? Condition{second} : never());
}

std::string_view word_of_sign(Type type) { return ptx::is_signed(type) ? "" : "U32"; }

// d = a << n, of a word
void shift_left(Selector& s, Ref d, const Value& a, unsigned n) {
  s.out().emit("SHF", d, {a, number(n), zero()}, {{"dir", "L"}, {"type", "U32"}});
}

void shift_wide(Selector& s, Ref d, const Value& a, unsigned n) {
  // The upper word first: the result may be in the registers of the source.
  s.out().emit("SHF", s.high(d), {half_of(a, false), number(n), half_of(a, true)},
               {{"dir", "L"}, {"type", "U64"}, {"hi", "HI"}});
  shift_left(s, s.low(d), half_of(a, false), n);
}

std::optional<unsigned> power_of_two(const Selector& s, const Inst& inst, unsigned i) {
  const auto n = s.known(inst.src[i]);
  if (!n || !std::has_single_bit(*n)) return std::nullopt;
  return static_cast<unsigned>(std::countr_zero(*n));
}

// A product of words with something added. a must be a register; numbers stand second.
void multiply_add(Selector& s, std::string_view name, Ref d, Value a, Value b, const Value& c, bool sign) {
  if (a.kind != Value::Kind::reg) std::swap(a, b);
  s.out().emit(name, d, {a, b, c}, {{"u32", sign ? "" : "U32"}});
}

void multiply_wide_by_wide(Selector& s, const Inst& inst, Ref d, bool low_half) {
  Value a = s.plain_source(inst, 0), b = s.plain_source(inst, 1);
  if (low_half) return multiply_add(s, "IMAD", d, half_of(a, false), half_of(b, false), zero(), true);
  if (a.kind != Value::Kind::reg) std::swap(a, b);
  Builder& out = s.out();
  const Ref product = out.new_register(2);
  Value cross = zero();
  for (const bool first : {true, false}) {
    const Value x = half_of(a, first), y = half_of(b, !first);
    if ((x.is_number() && x.bits == 0) || (y.is_number() && y.bits == 0)) continue;
    const Ref t = out.new_register();
    multiply_add(s, "IMAD", t, x, y, cross, true);
    cross = value_of(t);
  }
  multiply_add(s, "IMAD.WIDE", product, half_of(a, false), half_of(b, false), zero(), false);
  out.move(s.low(d), value_of(s.low(product)));
  out.emit("IADD3", s.high(d), {value_of(s.high(product)), cross, zero()});
}

void multiply_narrow(Selector& s, const Inst& inst, Ref d) {
  const bool sign = ptx::is_signed(inst.type);
  const unsigned bits = 8 * ptx::size_of(inst.type);
  const auto operand = [&](unsigned i) {
    return sign && inst.mods.mul != ptx::MulMode::lo ? s.extended(inst, i, bits) : s.plain_source(inst, i);
  };
  Builder& out = s.out();
  const Value a = operand(0), b = operand(1);
  if (inst.mods.mul == ptx::MulMode::wide) return multiply_add(s, "IMAD", d, a, b, zero(), sign);
  const Ref product = out.new_register();
  multiply_add(s, "IMAD", product, a, b, zero(), sign);
  Value whole = value_of(product);
  if (inst.mods.mul == ptx::MulMode::hi) {
    const Ref upper = out.new_register();
    out.emit("SHF", upper, {zero(), number(bits), whole}, {{"dir", "R"}, {"type", "U32"}, {"hi", "HI"}});
    whole = value_of(upper);
  }
  if (inst.op == Op::mad) {
    const Ref sum = out.new_register();
    out.emit("IADD3", sum, {whole, s.plain_source(inst, 2), zero()});
    whole = value_of(sum);
  }
  s.mask(d, whole, bits);
}

// A sum that reads or writes the carry flag. A difference carries where it does not borrow.
void sum_with_flag(Selector& s, const Inst& inst, const Value& a, const Value& b, bool difference) {
  if (ptx::size_of(inst.type) < 4) s.give_up("a sum of 16 bits with the carry flag");
  Carries carries;
  carries.extended = inst.mods.cc_in;
  if (inst.mods.cc_in) {
    const std::optional<Condition> flag = s.flag();
    if (!flag) s.give_up("a carry flag from another block");
    carries.in = *flag;
    carries.in.inverted = flag->inverted != difference;
  }
  if (inst.mods.cc_out) {
    carries.out = s.out().new_predicate();
    s.set_flag(Condition{carries.out, difference});
  }
  Terms terms;
  terms.add(a, false);
  terms.add(b, difference);
  const Ref d = s.result(inst);
  if (ptx::size_of(inst.type) == 8 && d.count == 2) return sum_wide(s, d, terms, carries);
  sum_word(s, d, terms, 0, carries);
}

void refuse_saturation(const Inst& inst) {
  if (inst.mods.sat) Selector::give_up("a saturated sum");
}

// (a << n) + other. False: LEA does not do that.
bool sum_with_shift(Selector& s, const Inst& inst, const Inst& shift, bool shift_negated,
                    const Value& other) {
  const Ref d = s.result(inst);
  const unsigned bytes = ptx::size_of(inst.type);
  const bool whole = bytes == 8 && d.count == 2;
  if (other.negated || (bytes != 4 && (!whole || shift_negated))) return false;
  const bool shl = shift.op == Op::shl;
  const unsigned at = shl || power_of_two(s, shift, 1) ? 0 : 1;
  const unsigned n = shl ? static_cast<unsigned>(*s.known(shift.src[1])) : *power_of_two(s, shift, 1 - at);
  if (n == 0 || n > 31) return false;
  Builder& out = s.out();
  Value a = s.in_register(shift, at);
  if (bytes == 4) {
    a.negated = shift_negated;
    out.set_number(out.emit("LEA", d, {a, other}), "shift", n);
    return true;
  }
  const Ref carry = out.new_predicate();
  // The upper word reads the lower one of the source, whose registers may be the result's.
  const bool in_place = a.ref.reg == d.reg;
  const Ref low = in_place ? out.new_register() : s.low(d);
  Instruction& lower = out.emit("LEA", low, {half_of(a, false), half_of(other, false)});
  out.set_number(lower, "shift", n);
  out.set_result(lower, "Pd", carry);
  Instruction& upper =
      out.emit("LEA.HI.X", s.high(d), {half_of(a, false), half_of(other, true), half_of(a, true)});
  out.set_number(upper, "shift", n);
  out.set_condition(upper, "Pcin", {carry});
  if (in_place) out.move(s.low(d), value_of(low));
  return true;
}

// Of a product of a block's number and its size ptxas has on Hopper in a uniform register what the PTX reads
// first: in 97 of 97 kernels the number where that comes first, in 86 of 86 the size where that does.
void note_first_factor(Selector& s, const Inst& product) {
  const auto reads = [](const Inst* made, ptx::Special first, ptx::Special last) {
    return made != nullptr && made->op == Op::mov && made->src[0].kind == ptx::OperandKind::special &&
           made->src[0].index >= static_cast<std::uint32_t>(first) &&
           made->src[0].index <= static_cast<std::uint32_t>(last);
  };
  for (unsigned i = 0; i < 2; ++i) {
    const Inst *const number = s.definition(product.src[i]), *const size = s.definition(product.src[1 - i]);
    if (reads(number, ptx::Special::ctaid_x, ptx::Special::ctaid_z) &&
        reads(size, ptx::Special::ntid_x, ptx::Special::ntid_z) && number < size)
      if (const Value v = s.plain_source(product, i); v.ref)
        s.program().registers[v.ref.reg].first_factor = true;
  }
}

// a * b + other. False: IMAD does not do that.
bool sum_with_product(Selector& s, const Inst& inst, const Inst& product, const Value& other) {
  const Ref d = s.result(inst);
  const unsigned bytes = ptx::size_of(inst.type);
  if (bytes != 4 && bytes != 8) return false;
  if (other.negated && (bytes == 8 || other.kind == Value::Kind::number)) return false;
  if (bytes == 8 && inst.takes != Fold::wide) return false;
  const Value a = s.plain_source(product, 0), b = s.plain_source(product, 1);
  const auto word = [](const Value& v) { return v.wide ? half_of(v, false) : v; };
  if (bytes == 8 && d.count == 2)
    multiply_add(s, "IMAD.WIDE", d, a, b, other, ptx::is_signed(product.type));
  else
    multiply_add(s, "IMAD", s.low(d), word(a), word(b), word(other), true);
  note_first_factor(s, product);
  return true;
}

// With the product or shift that one of its terms is.
bool sum_with_taken(Selector& s, const Inst& inst) {
  if (inst.takes != Fold::wide && inst.takes != Fold::product && inst.takes != Fold::shift) return false;
  for (unsigned i = 0; i < 2; ++i) {
    const Inst* const made = s.taken(inst, i, inst.takes);
    if (made == nullptr) continue;
    const bool made_negated = inst.op == Op::sub && i == 1;
    Value other = s.source(inst, 1 - i);
    if (inst.op == Op::sub && i == 0) other.negated = !other.negated;
    if (inst.takes == Fold::shift) return sum_with_shift(s, inst, *made, made_negated, other);
    return !made_negated && sum_with_product(s, inst, *made, other);
  }
  return false;
}

void add(Selector& s, const Inst& inst) {
  if (ptx::is_float(inst.type)) {
    for (const SelectionRow& row : floating_selections())
      if (row.op == inst.op) return row.select(s, inst);
  }
  refuse_saturation(inst);
  if (inst.mods.cc_in || inst.mods.cc_out)
    return sum_with_flag(s, inst, s.plain_source(inst, 0), s.plain_source(inst, 1),
                         inst.op == Op::sub || inst.op == Op::subc);
  if (sum_with_taken(s, inst)) return;
  const Ref d = s.result(inst);
  const unsigned bytes = ptx::size_of(inst.type);
  const Terms terms = terms_of(s, inst);
  if (bytes == 8 && d.count == 2) return sum_wide(s, d, terms);
  if (bytes >= 4) return sum_word(s, s.low(d), terms, 0, {});
  const Ref sum = s.out().new_register();
  sum_word(s, sum, terms, 0, {});
  s.mask(d, value_of(sum), 8 * bytes);
}

void multiply(Selector& s, const Inst& inst) {
  if (ptx::is_float(inst.type)) {
    for (const SelectionRow& row : floating_selections())
      if (row.op == inst.op) return row.select(s, inst);
  }
  refuse_saturation(inst);
  const Ref d = s.result(inst);
  const unsigned bytes = ptx::size_of(inst.type);
  const bool sign = ptx::is_signed(inst.type);
  Builder& out = s.out();
  if (bytes < 4) return multiply_narrow(s, inst, d);
  if (bytes == 8) {
    if (inst.mods.mul != ptx::MulMode::lo) s.give_up("the upper half of a product of 64 bits");
    const bool low_half = d.count == 1;
    const Ref product = inst.op == Op::mad ? out.new_register(low_half ? 1 : 2) : d;
    const auto second = power_of_two(s, inst, 1);
    if (second && !low_half)
      shift_wide(s, product, s.in_register(inst, 0), *second);
    else
      multiply_wide_by_wide(s, inst, product, low_half);
    if (inst.op != Op::mad) return;
    const Value c = s.plain_source(inst, 2);
    if (!low_half) return s.add_wide(d, value_of(product), c);
    out.emit("IADD3", d, {value_of(product), half_of(c, false), zero()});
    return;
  }
  const Value a = s.plain_source(inst, 0), b = s.plain_source(inst, 1);
  if (inst.mods.cc_in || inst.mods.cc_out) {
    if (inst.mods.mul == ptx::MulMode::wide) s.give_up("a wide product with the carry flag");
    const Ref product = out.new_register();
    multiply_add(s, inst.mods.mul == ptx::MulMode::hi ? "IMAD.HI" : "IMAD", product, a, b, zero(), sign);
    return sum_with_flag(s, inst, value_of(product), s.plain_source(inst, 2), false);
  }
  const Value c = inst.op == Op::mad || inst.op == Op::madc ? s.source(inst, 2) : zero();
  switch (inst.mods.mul) {
    case ptx::MulMode::hi: {
      if (inst.op != Op::mad) return multiply_add(s, "IMAD.HI", d, a, b, zero(), sign);
      const Ref upper = out.new_register();
      multiply_add(s, "IMAD.HI", upper, a, b, zero(), sign);
      out.emit("IADD3", d, {value_of(upper), c, zero()});
      return;
    }
    case ptx::MulMode::wide:
      if (d.count == 2) return multiply_add(s, "IMAD.WIDE", d, a, b, c, sign);
      return multiply_add(s, "IMAD", d, a, b, c.wide ? half_of(c, false) : c, true);
    default: break;
  }
  if (const auto n = power_of_two(s, inst, 1); n && inst.op == Op::mad && *n > 0) {
    Instruction& lea = out.emit("LEA", d, {out.as_register(a), c});
    return out.set_number(lea, "shift", *n);
  }
  multiply_add(s, "IMAD", d, a, b, c, true);
  note_first_factor(s, inst);
}

void negate(Selector& s, const Inst& inst) {
  if (ptx::is_float(inst.type)) {
    for (const SelectionRow& row : floating_selections())
      if (row.op == inst.op) return row.select(s, inst);
  }
  const Ref d = s.result(inst);
  Terms terms;
  terms.add(s.in_register(inst, 0), true);
  if (d.count == 2) return sum_wide(s, d, terms);
  if (ptx::size_of(inst.type) >= 4) {
    sum_word(s, s.low(d), terms, 0, {});
    return;
  }
  const Ref sum = s.out().new_register();
  sum_word(s, sum, terms, 0, {});
  s.mask(d, value_of(sum), 8 * ptx::size_of(inst.type));
}

void absolute(Selector& s, const Inst& inst) {
  if (ptx::is_float(inst.type)) {
    for (const SelectionRow& row : floating_selections())
      if (row.op == inst.op) return row.select(s, inst);
  }
  const unsigned bytes = ptx::size_of(inst.type);
  if (bytes == 8) s.give_up("an absolute value of 64 bits");
  if (bytes == 4) {
    s.out().emit("IABS", s.result(inst), {s.plain_source(inst, 0)});
    return;
  }
  const Ref d = s.out().new_register();
  s.out().emit("IABS", d, {s.extended(inst, 0, 8 * bytes)});
  s.mask(s.result(inst), value_of(d), 8 * bytes);
}

void extremum(Selector& s, const Inst& inst) {
  if (ptx::is_float(inst.type)) {
    for (const SelectionRow& row : floating_selections())
      if (row.op == inst.op) return row.select(s, inst);
  }
  const unsigned bytes = ptx::size_of(inst.type);
  if (bytes == 8 || inst.type == Type::u16x2 || inst.type == Type::s16x2 || inst.mods.relu)
    s.give_up("a minimum of this type");
  const bool sign = ptx::is_signed(inst.type), narrow = bytes < 4;
  Value a = narrow && sign ? s.extended(inst, 0, 8 * bytes) : s.plain_source(inst, 0);
  Value b = narrow && sign ? s.extended(inst, 1, 8 * bytes) : s.plain_source(inst, 1);
  if (a.kind != Value::Kind::reg) std::swap(a, b);
  Builder& out = s.out();
  const Ref d = narrow && sign ? out.new_register() : s.result(inst);
  const bool old = out.has_form("IMNMX");
  Instruction& i = old ? out.emit("IMNMX", d, {a, b}, {{"u32", word_of_sign(inst.type)}})
                       : out.emit("VIMNMX", d, {a, b}, {{"fmt", sign ? "" : "U32"}});
  out.set_condition(i, "min", {{}, inst.op == Op::max});
  if (narrow && sign) s.mask(s.result(inst), value_of(d), 8 * bytes);
}

void count_ones(Selector& s, const Inst& inst) {
  if (ptx::size_of(inst.type) != 4) s.give_up("a count of bits of 64");
  s.out().emit("POPC", s.result(inst), {s.plain_source(inst, 0)});
}

void count_zeros(Selector& s, const Inst& inst) {
  if (ptx::size_of(inst.type) != 4) s.give_up("a count of leading zeros of 64 bits");
  const Ref found = s.out().new_register();
  s.out().emit("FLO", found, {s.plain_source(inst, 0)}, {{"u32", "U32"}});
  Value place = value_of(found);
  place.negated = true;
  s.out().emit("IADD3", s.result(inst), {place, number(31), zero()});
}

void find_bit(Selector& s, const Inst& inst) {
  if (ptx::size_of(inst.type) != 4) s.give_up("a search of bits in 64");
  s.out().emit("FLO", s.result(inst), {s.plain_source(inst, 0)},
               {{"u32", word_of_sign(inst.type)}, {"sh", inst.mods.shift_amount ? "SH" : ""}});
}

void reverse(Selector& s, const Inst& inst) {
  if (ptx::size_of(inst.type) != 4) s.give_up("a reversal of 64 bits");
  s.out().emit("BREV", s.result(inst), {s.plain_source(inst, 0)});
}

void dot_product(Selector& s, const Inst& inst) {
  const bool two = inst.op == Op::dp2a;
  const std::string_view mode = !two ? "4A" : inst.mods.src_type_hi != 0 ? "2A.HI" : "2A.LO";
  Instruction& i = s.out().emit("IDP", s.result(inst),
                                {s.in_register(inst, 0), s.in_register(inst, 1), s.in_register(inst, 2)},
                                {{"mode", mode}});
  s.out().set_field(i, "ta", ptx::is_signed(inst.type) ? 1 : 0);
  s.out().set_field(i, "tb", ptx::is_signed(inst.stype) ? 1 : 0);
}

void absolute_difference(Selector& s, const Inst& inst) {
  if (ptx::size_of(inst.type) != 4) s.give_up("an absolute difference of this type");
  s.out().emit("VABSDIFF", s.result(inst),
               {s.in_register(inst, 0), s.in_register(inst, 1), s.in_register(inst, 2)},
               {{"u32", word_of_sign(inst.type)}});
}

// Others were expanded.
void absolute_difference_of_bytes(Selector& s, const Inst& inst) {
  s.out().emit(
      "VABSDIFF4", s.result(inst),
      {s.in_register(inst, 0), s.in_register(inst, 1), inst.src_count > 2 ? s.in_register(inst, 2) : zero()},
      {{"s", "U8"}, {"acc", inst.mods.atom == ptx::AtomOp::add ? "ACC" : ""}});
}

}  // namespace

void Selector::add_wide(Ref d, const Value& a, const Value& b) {
  Terms terms;
  terms.add(a, false);
  terms.add(b, false);
  sum_wide(*this, d, terms);
}

std::span<const SelectionRow> integer_selections() {
  static constexpr SelectionRow rows[] = {
      {Op::add, add},
      {Op::sub, add},
      {Op::mul, multiply},
      {Op::mad, multiply},
      {Op::addc, add},
      {Op::subc, add},
      {Op::madc, multiply},
      {Op::neg, negate},
      {Op::abs, absolute},
      {Op::min, extremum},
      {Op::max, extremum},
      {Op::popc, count_ones},
      {Op::clz, count_zeros},
      {Op::bfind, find_bit},
      {Op::brev, reverse},
      {Op::dp4a, dot_product},
      {Op::dp2a, dot_product},
      {Op::sad, absolute_difference},
      {Op::vabsdiff4, absolute_difference_of_bytes},
  };
  return rows;
}

}  // namespace simtlab::assembler

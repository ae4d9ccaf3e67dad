#include <algorithm>
#include <bit>
#include <utility>

#include "assembler/bundled_rewriter.h"

namespace simtlab::assembler {

void Bundler::three_terms(const Instruction& i) {
  const std::vector<Value> v = sources(i);
  const Ref carry = result(i, "Pcarry0"), second = result(i, "Pcarry1");
  if (!carry && !second) return b_.add_three(result(i), v[0], v[1], v[2]);
  low_word(i, carry, second);
}

void Bundler::scaled(const Instruction& i) {
  if (const Ref carry = result(i, "Pd")) return low_word(i, carry, {});
  const std::vector<Value> v = sources(i);
  b_.add_shifted(result(i), v[0], v[1], number_of(i, "shift"));
}

void Bundler::scaled_high(const Instruction& i) {
  const std::vector<Value> v = sources(i);
  const unsigned n = number_of(i, "shift");
  if (result(i, "Pd")) throw GivenUp{"a carry of the upper word of a sum"};
  if (i.code.field("sx32") != 0) {
    const Ref high = b_.temporary();
    b_.shift_right(high, plain(v[0]), 32 - n, true);
    if (v[0].negated) throw GivenUp{"the upper word of a negated product"};
    b_.add(result(i), value_of(high), v[1]);
    return;
  }
  if (b_.out().has_form("LEA.HI")) {
    b_.out().set_number(b_.emit("LEA.HI", result(i), {v[0], v[1], v[2]}), "shift", n);
    return;
  }
  if (v[0].negated) throw GivenUp{"the upper word of a negated product"};
  b_.add(result(i), upper_of_shifted(v[0], v[2], n), v[1]);
}

Value Bundler::upper_of_shifted(const Value& low, const Value& high, unsigned n) {
  if (n == 0) return high;
  const Value above = b_.shifted_right(low, 32 - n, false);
  if (high.is_zero_register()) return above;
  const Ref upper = b_.temporary();
  if (b_.out().has_form("LEA.HI"))
    b_.out().set_number(b_.emit("LEA.HI", upper, {low, zero(), high}), "shift", n);
  else
    b_.add_shifted(upper, b_.out().as_register(high), above, n);
  return value_of(upper);
}

void Bundler::low_word(const Instruction& low, const Ref& carry, const Ref& second) {
  const std::size_t high = reader_of(at_, low, carry);
  const bool pair = high != 0 && is_high_word(old_[high]) && uses_[carry.reg] == 1 &&
                    (!second || (reads(old_[high], second) && uses_[second.reg] == 1)) &&
                    adds_carry_plainly(old_[high]) && goes_on_plainly(high) &&
                    (!second || !result(old_[high], "Pcarry0"));
  if (!pair) return apart(low, carry, second);
  make_with_this(high);
  both_words(low, old_[high]);
  // Sums of more words go on with the carry.
  for (std::size_t at = high; const Ref more = result(old_[at], "Pcarry0");) {
    at = reader_of(at, old_[at], more);
    make_with_this(at);
    add_high(result(old_[at]), high_terms(old_[at]), bool(result(old_[at], "Pcarry0")));
  }
}

void Bundler::make_with_this(std::size_t later) {
  done_[later] = true;
  also_made_.push_back(later);
}

void Bundler::gather_sums() {
  constexpr std::size_t farthest = 8;
  for (std::size_t low = 0; low < old_.size(); ++low) {
    if (!result(old_[low], "Pcarry0")) continue;
    for (std::size_t k = low + 1; k < old_.size() && k <= low + farthest; ++k) {
      if (old_[k].code.mnemonic() != "MOV" || old_[k].guarded()) continue;
      bool free = true;
      for (std::size_t m = low; m < k && free; ++m)
        for_each_ref(old_[k], [&](const Ref& r, bool is_write) {
          if (writes(old_[m], r) || (is_write && reads(old_[m], r))) free = false;
        });
      if (!free) continue;
      const auto at = [&](std::size_t n) { return old_.begin() + static_cast<std::ptrdiff_t>(n); };
      std::rotate(at(low), at(k), at(k + 1));
      ++low;
    }
  }
}

std::size_t Bundler::reader_of(std::size_t from, const Instruction& writer, const Ref& p) const {
  constexpr std::size_t farthest = 12;
  for (std::size_t k = from + 1; k < old_.size() && k <= from + farthest; ++k) {
    if (!reads(old_[k], p)) continue;
    const bool same =
        old_[k].guard == writer.guard && old_[k].code.guard_negated == writer.code.guard_negated;
    bool free = same && !done_[k];
    for (std::size_t m = at_ + 1; m < k && free; ++m)
      for_each_ref(old_[k], [&](const Ref& r, bool is_write) {
        if (m == from || r == p) return;
        if (writes(old_[m], r) && !is_carry_chain(old_[m], old_[k])) free = false;
        if (is_write && reads(old_[m], r)) free = false;
      });
    return free ? k : 0;
  }
  return 0;
}

bool Bundler::is_carry_chain(const Instruction& earlier, const Instruction& later) {
  const Ref carry = result(earlier, "Pcarry0");
  return carry && reads(later, carry);
}

bool Bundler::is_high_word(const Instruction& i) {
  const std::string_view name = i.code.mnemonic();
  return name == "IADD3.X" || name == "LEA.HI.X";
}

bool Bundler::adds_carry_plainly(const Instruction& i) {
  for (const std::string_view name : {"Pcin0", "Pcin1", "Pcin"})
    if (const Condition c = condition(i, name); c.ref && c.inverted) return false;
  return !result(i, "Pcarry1") && !result(i, "Pd");
}

bool Bundler::goes_on_plainly(std::size_t high) const {
  const Ref carry = result(old_[high], "Pcarry0");
  if (!carry) return true;
  const std::size_t next = reader_of(high, old_[high], carry);
  return next != 0 && uses_[carry.reg] == 1 && old_[next].code.mnemonic() == "IADD3.X" &&
         condition(old_[next], "Pcin0").ref == carry && is_false(condition(old_[next], "Pcin1")) &&
         adds_carry_plainly(old_[next]) && goes_on_plainly(next);
}

Bundler::Terms Bundler::terms_of(const Instruction& i) const {
  Terms out;
  const std::string_view name = i.code.mnemonic();
  out.scaled = name.starts_with("LEA");
  if (out.scaled) out.shift = number_of(i, "shift");
  for (Value v : sources(i)) {
    v.negated = v.negated || std::exchange(v.inverted, false);
    // A negated 0 of a low word carries: it stays.
    if (out.scaled || !is_nothing(v) || v.negated) out.values.push_back(v);
  }
  return out;
}

void Bundler::both_words(const Instruction& low, const Instruction& high) {
  Ref d = result(low);
  const Ref wanted = d;
  const bool later = d && reads(high, d);
  if (later) d = b_.temporary();
  emit_pair(low, high, d);
  if (later) b_.out().move(wanted, value_of(d));
}

void Bundler::emit_pair(const Instruction& low, const Instruction& high, Ref d) {
  Terms a = terms_of(low);
  const Ref top = result(high);
  const bool carries = bool(result(high, "Pcarry0"));
  if (a.scaled && high.code.mnemonic() == "LEA.HI.X" && scaled_pair(a, high, d, top)) return;
  const std::vector<Value> b = high_terms(high);
  if (a.scaled) {
    b_.add_shifted(d, a.values[0], a.values[1], a.shift, {.out = true});
    return add_high(top, b, carries);
  }
  while (a.values.size() < 2) a.values.push_back(zero());
  if (a.values.size() == 2) {
    b_.add(d, a.values[0], a.values[1], {.out = true});
    return add_high(top, b, carries);
  }
  // Three terms: two sums after another.
  if (b.size() != 3) throw GivenUp{"a sum of 64 bits of this kind"};
  const Ref first = b_.temporary(), upper = b_.temporary();
  b_.add(first, a.values[0], a.values[1], {.out = true});
  b_.add(upper, b[0], b[1], {.in = true});
  b_.add(d, value_of(first), a.values[2], {.out = true});
  b_.add(top, value_of(upper), b[2], {.in = true});
}

std::vector<Value> Bundler::high_terms(const Instruction& high) {
  std::vector<Value> out = sources(high);
  for (Value& v : out) v.negated = v.negated || std::exchange(v.inverted, false);
  if (high.code.mnemonic() != "LEA.HI.X") return out;
  // The upper word of the shifted pair
  const unsigned n = number_of(high, "shift");
  const bool extended = high.code.field("sx32") != 0;
  const Value low = plain(out[0]);
  Value top;
  if (extended) {
    top = b_.shifted_right(low, n == 0 ? 31 : 32 - n, true);
  } else {
    top = upper_of_shifted(low, out[2], n);
  }
  top.negated = out[0].negated;
  return {top, out[1]};
}

void Bundler::add_high(Ref top, const std::vector<Value>& terms, bool carries) {
  std::vector<Value> left;
  for (const Value& v : terms)
    if (!is_nothing(v) || v.negated) left.push_back(v);
  while (left.size() < 2) left.push_back(zero());
  if (left.size() == 2) return b_.add(top, left[0], left[1], {.in = true, .out = carries});
  if (carries) throw GivenUp{"a sum of more than 64 bits and more than two values"};
  const Ref t = b_.temporary();
  b_.add(t, left[0], left[1], {.in = true});
  b_.add(top, value_of(t), left[2]);
}

bool Bundler::scaled_pair(const Terms& a, const Instruction& high, Ref d, Ref top) {
  const std::vector<Value> v = sources(high);
  const bool plainly = !a.values[0].negated && v[0].plain() && v[1].plain() && v[2].plain();
  if (b_.whole_products()) return plainly && scaled_by_product(a, high, v, d, top);
  if (high.code.field("sx32") != 0 || v[2].is_zero_register() || !plainly) return false;
  b_.out().set_number(b_.emit("LEA", d, {a.values[0], a.values[1]}, {{"cc", "CC"}}), "shift", a.shift);
  b_.out().set_number(b_.emit("LEA.HI", top, {v[0], v[1], v[2]}, {{"x", "X"}}), "shift",
                      number_of(high, "shift"));
  return true;
}

bool Bundler::scaled_by_product(const Terms& a, const Instruction& high, const std::vector<Value>& v, Ref d,
                                Ref top) {
  // The upper word of a value of 32 bits and its sum in one instruction
  const bool is_signed = high.code.field("sx32") != 0;
  if (!is_signed && !v[2].is_zero_register()) return false;
  const unsigned n = number_of(high, "shift");
  b_.add_shifted(d, a.values[0], a.values[1], a.shift, {.out = true});
  b_.add_product(BundledBuilder::Word::high, top, v[0], number(1u << n), v[1], is_signed);
  return true;
}

void Bundler::apart(const Instruction& low, const Ref& carry, const Ref& second) {
  const Terms a = terms_of(low);
  if (second || a.values.size() > 2)
    throw GivenUp{"a sum of three values whose carries are needed elsewhere"};
  Value first = a.values.empty() ? zero() : a.values[0];
  if (a.scaled) {
    const Ref t = b_.temporary();
    b_.shift_left(t, plain(first), a.shift);
    const bool negated = first.negated;
    first = value_of(t);
    first.negated = negated;
  }
  Value other = a.values.size() > 1 ? a.values[1] : zero();
  if (first.negated) std::swap(first, other);
  if (first.negated) throw GivenUp{"a sum of two negated values whose carry is needed elsewhere"};
  const Value x = b_.out().as_register(first);
  if (other.negated) {
    Value least = plain(other);
    if (least.is_number()) least = b_.number_or_literal("ISETP", {x, least}, 1);
    Instruction& p = b_.emit("ISETP", {}, {x, least}, {{"cmp", "GE"}, {"u32", "U32"}, {"bool", "AND"}});
    b_.out().set_result(p, "Pd", carry);
    return b_.add(result(low), x, other);
  }
  const Ref t = b_.temporary();
  b_.add(t, x, other);
  Instruction& p = b_.emit("ISETP", {}, {value_of(t), x}, {{"cmp", "LT"}, {"u32", "U32"}, {"bool", "AND"}});
  b_.out().set_result(p, "Pd", carry);
  if (result(low)) b_.out().move(result(low), value_of(t));
}

void Bundler::high_word(const Instruction& i) {
  if (result(i, "Pcarry0") || result(i, "Pcarry1") || result(i, "Pd"))
    throw GivenUp{"a sum of more than 64 bits"};
  const Condition c = i.code.form->operand("Pcin0") >= 0 ? condition(i, "Pcin0") : condition(i, "Pcin");
  if (const Condition other = condition(i, "Pcin1");
      other.ref || is_true(other) != (i.code.form->operand("Pcin1") < 0))
    throw GivenUp{"two carries from elsewhere"};
  const std::vector<Value> terms = high_terms(i);
  // The carry as a number; a complement is -x - 1.
  const Ref one = b_.temporary();
  Instruction& select = b_.emit("SEL", one, {zero(), number(1)});
  b_.out().set_condition(select, "Pc", {c.ref, !c.inverted});
  std::uint32_t less = 0;
  for (const Value& v : terms) less += v.negated ? 1 : 0;
  Value sum = value_of(one);
  if (less != 0) {
    const Ref t = b_.temporary();
    b_.add(t, sum, number(0u - less));
    sum = value_of(t);
  }
  std::vector<Value> left;
  for (const Value& v : terms)
    if (!is_nothing(v)) left.push_back(v);
  left.push_back(sum);
  while (left.size() > 3) {
    const Ref t = b_.temporary();
    b_.add(t, left[0], left[1]);
    left.erase(left.begin());
    left[0] = value_of(t);
  }
  while (left.size() < 3) left.push_back(zero());
  b_.add_three(result(i), left[0], left[1], left[2]);
}

void Bundler::product(const Instruction& i) {
  if (result(i, "Pd")) throw GivenUp{"a product with a carry"};
  const std::vector<Value> v = sources(i);
  Value a = v[0], b = v[1];
  const Value& c = v[2];
  if (known_number(plain(a)) && !known_number(plain(b))) std::swap(a, b);
  const auto known = known_number(plain(b));
  if (a.is_zero_register() || (known && *known == 0)) return b_.add_three(result(i), c, zero(), zero());
  if (known && std::has_single_bit(*known)) {
    Value first = a;
    first.negated = a.negated != b.negated;
    const auto n = static_cast<unsigned>(std::countr_zero(*known));
    if (n == 0) return b_.add_three(result(i), first, c, zero());
    return b_.add_shifted(result(i), first, c, n);
  }
  b_.multiply_add(result(i), a, b, c);
}

void Bundler::high_product(const Instruction& i) {
  const std::vector<Value> v = sources(i);
  if (result(i, "Pd") || !v[2].is_zero_register()) return wide_into(i, {}, result(i));
  b_.multiply_high(result(i), v[0], v[1], i.code.field("u32") != 0);
}

void Bundler::wide_product(const Instruction& i) {
  const Ref d = result(i);
  wide_into(i, part_of(d, 0), part_of(d, 1));
}

Bundler::WideProduct Bundler::wide_factors(const Instruction& i) const {
  if (result(i, "Pd")) throw GivenUp{"a product with a carry"};
  const std::vector<Value> v = sources(i);
  WideProduct out{.a = v[0], .b = v[1], .is_signed = i.code.field("u32") != 0};
  if (known_number(out.a) && !known_number(out.b)) std::swap(out.a, out.b);
  const Value& c = v[2];
  if (out.a.negated || out.b.negated || c.negated || c.inverted)
    throw GivenUp{"a negated product of 64 bits"};
  out.adds = !is_nothing(c);
  if (!out.adds) return out;
  out.low = half_of(c, false);
  out.high = half_of(c, true);
  if (c.is_number() && !c.wide) out.high = number(static_cast<std::int32_t>(c.bits) < 0 ? 0xffffffffu : 0u);
  return out;
}

void Bundler::wide_into(const Instruction& i, Ref low, Ref high) {
  const WideProduct p = wide_factors(i);
  const auto reads_low = [&](const Value& v) {
    return v.kind == Value::Kind::reg && v.ref && v.ref.reg == low.reg && v.ref.part == low.part;
  };
  const Ref wanted = low;
  const bool later = low && (reads_low(p.a) || reads_low(p.b) || reads_low(p.high));
  if (!low || later) low = b_.temporary();
  const auto known = known_number(p.b);
  if (b_.whole_products() && p.adds) {
    if (known && std::has_single_bit(*known))
      b_.add_shifted(low, p.a, p.low, static_cast<unsigned>(std::countr_zero(*known)), {.out = true});
    else
      b_.add_product(BundledBuilder::Word::low, low, p.a, p.b, p.low, p.is_signed);
    b_.add_product(BundledBuilder::Word::high, high, p.a, p.b, p.high, p.is_signed);
  } else if (known && std::has_single_bit(*known) && *known < 1u << 16) {
    shift_into(p, low, high, static_cast<unsigned>(std::countr_zero(*known)));
  } else {
    const auto [first, top] = b_.multiply_wide(p.a, p.b, p.is_signed);
    add_words(p, low, high, first, top);
  }
  if (later) b_.out().move(wanted, value_of(low));
}

bool Bundler::is_repeated(const WideProduct& p) {
  if (p.a.kind != Value::Kind::reg || !p.a.ref) return false;
  const auto found = products_.find({b_.out().block(), p.a.ref.reg, p.a.ref.part, *known_number(p.b)});
  return found != products_.end() && found->second > 1;
}

void Bundler::shift_into(const WideProduct& p, Ref low, Ref high, unsigned n) {
  const Value x = b_.out().as_register(p.a);
  Value above = zero();
  if (n != 0)
    above = b_.shifted_right(x, 32 - n, p.is_signed);
  else if (p.is_signed)
    above = b_.shifted_right(x, 31, true);
  if (n == 0) return add_words(p, low, high, x, above);
  if (p.adds && is_repeated(p)) {
    // ptxas shifts once what it adds to several addresses.
    add_words(p, low, high, b_.shifted_left(x, n), above);
  } else if (p.adds) {
    b_.add_shifted(low, x, p.low, n, {.out = true});
    b_.add(high, above, p.high, {.in = true});
  } else {
    b_.shift_left(low, x, n);
    b_.out().move(high, above);
  }
}

void Bundler::add_words(const WideProduct& p, Ref low, Ref high, const Value& first, const Value& top) {
  if (p.adds) {
    b_.add(low, first, p.low, {.out = true});
    b_.add(high, top, p.high, {.in = true});
  } else {
    b_.out().move(low, first);
    b_.out().move(high, top);
  }
}

}  // namespace simtlab::assembler

#include "assembler/bundled_builder.h"

#include <utility>

#include "machine/bundles.h"

namespace simtlab::assembler {
namespace {

constexpr std::uint32_t one_half = 1u << 16;

}  // namespace

BundledBuilder::BundledBuilder(Program& program, unsigned generation)
    : program_(program), out_(program, generation), generation_(generation) {
  for (const std::uint64_t bits : program.literals)
    literals_.try_emplace(bits, static_cast<std::uint32_t>(literals_.size()));
}

void BundledBuilder::stand_for(const Instruction& i) {
  origin_.line = i.line;
  origin_.file = i.file;
  origin_.source_line = i.source_line;
  out_.at(origin_);
  out_.guard({i.guard, i.code.guard_negated});
}

Instruction& BundledBuilder::emit(std::string_view name, Ref d, std::initializer_list<Value> sources,
                                  std::initializer_list<FieldWord> fields) {
  return out_.emit(name, d, sources, fields);
}

void BundledBuilder::start(std::uint32_t block) {
  out_.start(block);
  made_.clear();
}

void BundledBuilder::note_writes(const Instruction& i) {
  for_each_ref(i, [&](const Ref& r, bool writes) {
    if (writes && r.reg < versions_.size()) ++versions_[r.reg];
  });
}

Value BundledBuilder::shared(std::string_view name, std::initializer_list<Value> sources,
                             std::initializer_list<FieldWord> fields) {
  std::vector<std::uint64_t> key = {std::hash<std::string_view>{}(name)};
  for (const Value& v : sources) {
    const bool old = v.ref && v.ref.reg < versions_.size();
    key.push_back(std::uint64_t{v.ref.reg} << 32 | (old ? versions_[v.ref.reg] : 0u));
    key.push_back(v.bits);
    key.push_back(std::uint64_t{v.offset} << 32 | std::uint64_t{v.bank} << 24 |
                  std::uint64_t{v.ref.part} << 16 | static_cast<std::uint64_t>(v.kind) << 8 |
                  (v.negated ? 1u : 0u) | (v.absolute ? 2u : 0u) | (v.inverted ? 4u : 0u) |
                  (v.wide ? 8u : 0u));
  }
  for (const FieldWord& f : fields) key.push_back(std::hash<std::string_view>{}(f.word) ^ f.field.size());
  const bool always = !out_.guard().ref;
  if (const auto found = made_.find(key); always && found != made_.end()) return value_of(found->second);
  const Ref d = temporary();
  emit(name, d, sources, fields);
  if (always) made_.emplace(std::move(key), d);
  return value_of(d);
}

Value BundledBuilder::literal(const Value& number) {
  const std::uint64_t bits = number.wide ? number.bits : number.bits & 0xffffffffu;
  std::vector<std::uint64_t>& all = program_.literals;
  const auto [place, fresh] = literals_.try_emplace(bits, static_cast<std::uint32_t>(all.size()));
  if (fresh) all.push_back(bits);
  Value out = parameter(8 * place->second, number.wide);
  out.bank = 2;
  out.negated = number.negated;
  out.absolute = number.absolute;
  return out;
}

Value BundledBuilder::number_or_literal(std::string_view name, std::vector<Value> sources, std::size_t at) {
  if (out_.form_for(name, sources) != nullptr) return sources[at];
  return literal(sources[at]);
}

void BundledBuilder::note_writers() {
  short_.assign(program_.registers.size(), false);
  versions_.assign(program_.registers.size(), 0);
  std::vector<std::uint8_t> writers(program_.registers.size(), 0);
  for (const Block& b : program_.blocks)
    for (const Instruction& i : b.code)
      for_each_ref(i, [&](const Ref& r, bool writes) {
        if (!writes) return;
        if (writers[r.reg] < 2) ++writers[r.reg];
        const std::string_view name = i.code.mnemonic();
        bool is_short = false;
        if (r.count == 1 && program_.registers[r.reg].width == 1 && !i.guarded()) {
          if (const std::string_view size = "size"; name == "LDG" || name == "LDS" || name == "LD")
            is_short = i.code.field(size) == 0 || i.code.field(size) == 2;
          if (name == "LOP3")
            for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
              const int lut = i.code.form->operand("lut");
              if (i.code.operands[k].kind == machine::OperandKind::immediate && static_cast<int>(k) != lut &&
                  i.code.operands[static_cast<std::size_t>(lut)].value == 0xc0 &&
                  i.code.operands[k].value >= 0 && i.code.operands[k].value < one_half)
                is_short = true;
            }
        }
        short_[r.reg] = is_short;
      });
  for (std::size_t r = 0; r < writers.size(); ++r)
    if (writers[r] != 1) short_[r] = false;
}

bool BundledBuilder::is_short(const Value& v) const {
  if (v.is_number()) return v.plain() && v.bits < one_half;
  return v.kind == Value::Kind::reg && v.ref && v.plain() && v.ref.reg < short_.size() && short_[v.ref.reg];
}

void BundledBuilder::add(Ref d, Value a, Value b, Flags flags) {
  if (a.is_number() || a.kind == Value::Kind::constant || a.is_zero_register()) std::swap(a, b);
  a.negated = a.negated || std::exchange(a.inverted, false);
  b.negated = b.negated || std::exchange(b.inverted, false);
  if (a.kind != Value::Kind::reg) {
    const bool negated = a.negated;
    a = out_.as_register(plain(a));
    a.negated = negated;
  }
  const FieldWord x{"x", flags.in ? "X" : ""}, cc{"cc", flags.out ? "CC" : ""};
  if (b.is_number() && b.bits != 0) {
    std::uint32_t bits = static_cast<std::uint32_t>(b.bits);
    if (b.negated) bits = flags.in ? ~bits : 0u - bits;
    if (bits != 0) {
      emit("IADD32I", d, {a, number(bits)}, {x, cc});
      return;
    }
    b = number(0);
  }
  if (b.is_number()) {
    const bool negated = b.negated;
    b = zero();
    b.negated = negated;
  }
  if (!flags.in && !flags.out && b.is_zero_register() && !a.negated) {
    out_.move(d, a);
    return;
  }
  if (a.negated && b.negated) {
    // a + b + 1 is what both signs would say.
    const Ref t = temporary();
    if (flags.in || flags.out) throw GivenUp{"a sum of two negated values with a carry"};
    a.negated = false;
    emit("IADD", t, {a, plain(b)});
    a = value_of(t);
    a.negated = true;
    b = zero();
  }
  emit("IADD", d, {a, b}, {x, cc});
}

void BundledBuilder::add_shifted(Ref d, Value a, Value b, unsigned n, Flags flags) {
  if (n == 0) return add(d, a, b, flags);
  a.negated = a.negated || std::exchange(a.inverted, false);
  b.negated = b.negated || std::exchange(b.inverted, false);
  if (!flags.out && b.is_zero_register() && !a.negated) return shift_left(d, a, n);
  if (b.is_number() && b.bits == 0) b = zero();
  if (a.negated && b.negated) {
    const Ref t = temporary();
    shift_left(t, plain(a), n);
    Value shifted = value_of(t);
    shifted.negated = true;
    return add(d, shifted, b, flags);
  }
  out_.set_number(emit("ISCADD", d, {a, b}, {{"cc", flags.out ? "CC" : ""}}), "shift", n);
}

void BundledBuilder::add_three(Ref d, Value a, Value b, Value c) {
  Value terms[3] = {a, b, c};
  std::size_t count = 0;
  for (Value v : {a, b, c}) {
    v.negated = v.negated || std::exchange(v.inverted, false);
    if (!is_nothing(v)) terms[count++] = v;
  }
  if (count == 0) return out_.move(d, zero());
  if (count == 1) {
    if (!terms[0].negated) return out_.move(d, terms[0]);
    return add(d, terms[0], zero());
  }
  if (count == 2) return add(d, terms[0], terms[1]);
  if (!out_.has_form("IADD3")) {
    const Ref t = temporary();
    add(t, terms[0], terms[1]);
    return add(d, value_of(t), terms[2]);
  }
  // A number or a constant stands in the middle.
  for (const std::size_t k : {std::size_t{0}, std::size_t{2}})
    if (terms[k].kind != Value::Kind::reg) std::swap(terms[k], terms[1]);
  const Value order[3] = {terms[0], terms[1], terms[2]};
  if (terms[1].is_number() && out_.form_for("IADD3", order) == nullptr) {
    const Ref t = temporary();
    add(t, terms[0], terms[2]);
    return add(d, value_of(t), terms[1]);
  }
  emit("IADD3", d, {terms[0], terms[1], terms[2]});
}

void BundledBuilder::shift_left(Ref d, const Value& a, unsigned n) {
  emit("SHL", d, {out_.as_register(a), number(n)});
}
void BundledBuilder::shift_right(Ref d, const Value& a, unsigned n, bool is_signed) {
  emit("SHR", d, {out_.as_register(a), number(n)}, {{"u32", is_signed ? "" : "U32"}});
}

void BundledBuilder::move_between(Ref d, const PairShift& s) {
  constexpr std::uint32_t word_bits = 32;
  const Value &from = s.left ? s.low : s.high, &own = s.left ? s.high : s.low;
  const FieldWord type{"u32", s.is_signed && !s.left ? "" : "U32"};
  // What comes from the other word, shifted as itself by so much
  const auto other = [&](Ref to, const Value& by) {
    if (s.left)
      emit("SHL", to, {from, by});
    else
      emit("SHR", to, {from, by}, {type});
  };
  if (const auto known = known_number(s.by)) {
    if (*known == 0) return out_.move(d, own);
    if (*known == word_bits) return out_.move(d, from);
    if (*known > word_bits) return other(d, number(*known - word_bits));
  }
  Value by = s.by;
  if (!by.is_number()) {
    const Ref bounded = temporary();
    if (s.wraps)
      emit("LOP32I", bounded, {by, number(s.most)}, {{"op", "AND"}});
    else
      emit("IMNMX", bounded, {by, number(s.most)}, {{"u32", "U32"}});
    by = value_of(bounded);
  }
  Value rest = number(word_bits - static_cast<std::uint32_t>(by.bits));
  if (!by.is_number()) {
    const Ref left_over = temporary();
    Value minus = by;
    minus.negated = true;
    add(left_over, minus, number(word_bits));
    rest = value_of(left_over);
  }
  // Amounts above 32, and so negative ones, leave nothing of an unsigned word.
  const Ref own_part = temporary(), other_part = temporary();
  if (s.left)
    emit("SHL", own_part, {own, by});
  else
    emit("SHR", own_part, {own, by}, {{"u32", "U32"}});
  if (s.left)
    emit("SHR", other_part, {from, rest}, {{"u32", "U32"}});
  else
    emit("SHL", other_part, {from, rest});
  const bool whole = by.is_number() || s.most <= word_bits;
  const Ref both = whole ? d : temporary();
  emit("LOP", both, {value_of(own_part), value_of(other_part)}, {{"op", "OR"}});
  if (whole) return;
  const Ref beyond = temporary(), far = temporary();
  add(beyond, by, number(0u - word_bits));
  other(far, value_of(beyond));
  const Ref p = out_.new_predicate();
  Instruction& is_far =
      emit("ISETP", {}, {by, number(word_bits)}, {{"cmp", "GE"}, {"u32", "U32"}, {"bool", "AND"}});
  out_.set_result(is_far, "Pd", p);
  Instruction& choice = emit("SEL", d, {value_of(far), value_of(both)});
  out_.set_condition(choice, "Pc", {p, false});
}

// The first one in a register.
void BundledBuilder::order_factors(Value& a, Value& b) {
  if (a.kind != Value::Kind::reg || a.is_zero_register()) std::swap(a, b);
  if (a.kind != Value::Kind::reg) a = out_.as_register(a);
  if (const auto bits = known_number(b); bits && *bits >= one_half) b = out_.as_register(number(*bits));
}

void BundledBuilder::multiply_add(Ref d, Value a, Value b, Value c) {
  const bool negated = a.negated != b.negated;
  a.negated = b.negated = false;
  order_factors(a, b);
  if (whole_products() && !negated && !c.inverted) {
    if (is_nothing(c))
      emit("IMUL", d, {a, b}, {{"types", ""}});
    else
      emit("IMAD", d, {a, b, fit_addend(a, b, c)}, {{"types", ""}});
    return;
  }
  if (c.negated || c.inverted) {
    const Ref t = temporary();
    multiply_add(t, a, b, zero());
    return add(d, value_of(t), c);
  }
  if (negated) {
    const Ref t = temporary();
    a.negated = true;
    add(t, a, zero());
    a = value_of(t);
  }
  if (c.is_number() && c.bits != 0) c = out_.as_register(c);
  if (is_short(a) && is_short(b)) {
    emit("XMAD", d, {a, b, c});
    return;
  }
  const Value low = shared("XMAD", {a, b, c});
  if (b.is_number()) {
    emit("XMAD", d, {a, b, low}, {{"ha", "H1"}, {"psl", "PSL"}});
    return;
  }
  const Value merged = shared("XMAD", {a, b, zero()}, {{"hb", "H1"}, {"mrg", "MRG"}});
  emit("XMAD", d, {a, merged, low}, {{"ha", "H1"}, {"hb", "H1"}, {"psl", "PSL"}, {"mode", "CBCC"}});
}

Value BundledBuilder::fit_addend(const Value& a, Value& b, const Value& c) {
  const Value plainly[] = {a, b, c};
  if (out_.form_for("IMAD", plainly) != nullptr) return c;
  // A number or a constant may be one of the factors, or what is added.
  if (c.kind != Value::Kind::reg && b.kind != Value::Kind::reg) b = out_.as_register(b);
  const Value others[] = {a, b, c};
  if (out_.form_for("IMAD", others) != nullptr) return c;
  Value out = out_.as_register(plain(c));
  out.negated = c.negated;
  return out;
}

void BundledBuilder::add_product(Word word, Ref d, Value a, Value b, const Value& c, bool is_signed) {
  order_factors(a, b);
  const std::string_view types = is_signed ? "" : "U32.U32";
  const Value addend = fit_addend(a, b, c);
  if (word == Word::low)
    emit("IMAD", d, {a, b, addend}, {{"types", types}, {"cc", "CC"}});
  else
    emit("IMAD", d, {a, b, addend}, {{"types", types}, {"hi", "HI"}, {"x", "X"}});
}

Value BundledBuilder::high_word(const Value& a, const Value& given, const Value& x0, bool is_signed) {
  const Value b = given.is_number() ? out_.as_register(given) : given;
  const Value x1 = shared("XMAD", {a, b, zero()}, {{"hb", "H1"}, {"s16", is_signed ? "U16.S16" : ""}});
  const Value x2 = shared(
      "XMAD", {a, b, zero()},
      {{"ha", "H1"}, {"hb", "H1"}, {"s16", is_signed ? "S16.S16" : ""}, {"mode", is_signed ? "CSFU" : ""}});
  const Value x3 =
      shared("XMAD", {a, b, x0}, {{"ha", "H1"}, {"s16", is_signed ? "S16.U16" : ""}, {"mode", "CHI"}});
  return shared("IADD3", {x3, x1, x2}, {{"shift", "RS"}});
}

void BundledBuilder::multiply_high(Ref d, Value a, Value b, bool is_signed) {
  order_factors(a, b);
  if (whole_products()) {
    emit("IMUL", d, {a, b}, {{"types", is_signed ? "" : "U32.U32"}, {"hi", "HI"}});
    return;
  }
  out_.move(d, high_word(a, b, shared("XMAD", {a, b, zero()}), is_signed));
}

std::pair<Value, Value> BundledBuilder::multiply_wide(Value a, Value b, bool is_signed) {
  order_factors(a, b);
  if (whole_products())
    return {shared("IMUL", {a, b}, {{"types", ""}}),
            shared("IMUL", {a, b}, {{"types", is_signed ? "" : "U32.U32"}, {"hi", "HI"}})};
  const Value x0 = shared("XMAD", {a, b, zero()});
  Value low;
  if (b.is_number()) {
    low = shared("XMAD", {a, b, x0}, {{"ha", "H1"}, {"psl", "PSL"}});
  } else {
    const Value merged = shared("XMAD", {a, b, zero()}, {{"hb", "H1"}, {"mrg", "MRG"}});
    low = shared("XMAD", {a, merged, x0}, {{"ha", "H1"}, {"hb", "H1"}, {"psl", "PSL"}, {"mode", "CBCC"}});
  }
  return {low, high_word(a, b, x0, is_signed)};
}

}  // namespace simtlab::assembler

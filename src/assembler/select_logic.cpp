// Logic, shifts, comparisons, selections.
#include <algorithm>
#include <array>
#include <vector>

#include "assembler/selector.h"

namespace simtlab::assembler {
namespace {

using ptx::BoolOp;
using ptx::Compare;

// A table over up to three inputs, index a << 2 | b << 1 | c.
constexpr std::array<std::uint8_t, 3> input_tables = {0xf0, 0xcc, 0xaa};

std::uint8_t combined(Op op, std::uint8_t a, std::uint8_t b) {
  switch (op) {
    case Op::and_: return a & b;
    case Op::or_: return a | b;
    case Op::xor_: return a ^ b;
    default: return static_cast<std::uint8_t>(~a);
  }
}

bool is_same(const Value& a, const Value& b) {
  return a.kind == b.kind && a.ref == b.ref && a.bits == b.bits && a.offset == b.offset && a.bank == b.bank;
}

// The inputs of a logic operation with the one that it takes in, and how they are combined.
struct Logic {
  std::vector<Value> inputs;
  // Table over the inputs, once their places are known
  struct Node {
    Op op;
    int a, b;  // an input; 3: the result of the node before
  };
  std::vector<Node> nodes;

  int input(const Value& v) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (is_same(inputs[i], v)) return static_cast<int>(i);
    inputs.push_back(v);
    return static_cast<int>(inputs.size() - 1);
  }
  std::uint8_t table(const std::array<unsigned, 3>& place) const {
    std::uint8_t last = 0;
    for (const Node& n : nodes) {
      const auto of = [&](int i) { return i == 3 ? last : input_tables[place[static_cast<std::size_t>(i)]]; };
      last = combined(n.op, of(n.a), n.op == Op::not_ ? std::uint8_t{0} : of(n.b));
    }
    return last;
  }
};

Logic logic_of(Selector& s, const Inst& inst) {
  Logic out;
  int results[2] = {0, 0};
  for (unsigned i = 0; i < inst.src_count; ++i) {
    const Inst* const inner = inst.takes == Fold::logic ? s.taken(inst, i, Fold::logic) : nullptr;
    if (inner == nullptr || !out.nodes.empty()) {
      results[i] = out.input(s.plain_source(inst, i));
      continue;
    }
    const int a = out.input(s.plain_source(*inner, 0));
    const int b = inner->op == Op::not_ ? 0 : out.input(s.plain_source(*inner, 1));
    out.nodes.push_back({inner->op, a, b});
    results[i] = 3;
  }
  out.nodes.push_back({inst.op, results[0], results[1]});
  return out;
}

void logic_word(Selector& s, const Logic& logic, Ref d, unsigned word) {
  std::array<Value, 3> v{};
  std::array<unsigned, 3> place{};
  // What is no register stands in the middle.
  unsigned next = 0;
  bool middle = false;
  for (std::size_t i = 0; i < logic.inputs.size(); ++i) {
    Value in = logic.inputs[i];
    if (in.wide) in = half_of(in, word == 1);
    if (in.kind != Value::Kind::reg && !(in.is_number() && in.bits == 0) && !middle) {
      middle = true;
      place[i] = 1;
      v[1] = in;
    }
  }
  for (std::size_t i = 0; i < logic.inputs.size(); ++i) {
    Value in = logic.inputs[i];
    if (in.wide) in = half_of(in, word == 1);
    if (middle && place[i] == 1) continue;
    if (middle && next == 1) ++next;
    place[i] = next;
    v[next++] = in;
  }
  Instruction& i = s.out().emit("LOP3", d, {v[0], v[1], v[2]});
  s.out().set_number(i, "lut", logic.table(place));
}

void predicate_logic(Selector& s, const Inst& inst);

void logic(Selector& s, const Inst& inst) {
  if (inst.type == Type::pred) return predicate_logic(s, inst);
  const Logic l = logic_of(s, inst);
  const Ref d = s.result(inst);
  const unsigned bits = 8 * ptx::size_of(inst.type);
  if (bits < 32 && l.table({0, 1, 2}) != 0 && (l.table({0, 1, 2}) & 1) != 0) {  // ones from zeros
    const Ref whole = s.out().new_register();
    logic_word(s, l, whole, 0);
    return s.mask(d, value_of(whole), bits);
  }
  logic_word(s, l, s.low(d), 0);
  if (d.count == 2) logic_word(s, l, s.high(d), 1);
}

void logic_of_three(Selector& s, const Inst& inst) {
  Value v[3];
  for (unsigned i = 0; i < 3; ++i) v[i] = s.plain_source(inst, i);
  const Ref p = inst.dst_count > 1 ? s.result(inst, 1) : Ref{};
  // Numbers stand in the middle: the others change places, and the table with them.
  std::array<unsigned, 3> place = {0, 1, 2};
  if (v[0].kind != Value::Kind::reg && v[1].kind == Value::Kind::reg)
    std::swap(place[0], place[1]);
  else if (v[2].kind != Value::Kind::reg && v[1].kind == Value::Kind::reg)
    std::swap(place[2], place[1]);
  std::array<Value, 3> sources{};
  for (unsigned k = 0; k < 3; ++k) sources[place[k]] = v[k];
  unsigned table = 0;
  for (unsigned k = 0; k < 8; ++k) {
    unsigned from = 0;  // the index in PTX's table of what index k of the new one says
    for (unsigned n = 0; n < 3; ++n) from |= (k >> (2 - place[n]) & 1u) << (2 - n);
    table |= (inst.mods.lut >> from & 1u) << k;
  }
  Instruction& i = s.out().emit("LOP3", s.result(inst), {sources[0], sources[1], sources[2]},
                                {{"pand", p && inst.mods.bool_op == BoolOp::and_ ? "PAND" : ""}});
  s.out().set_number(i, "lut", table);
  if (!p) return;
  s.out().set_result(i, "Pd", p);
  if (inst.src_count > 3) s.out().set_condition(i, "Pc", s.condition(inst, 3));
}

// PLOP3 of up to three predicates
void emit_predicates(Selector& s, Ref d, std::uint8_t table, Condition a, Condition b = always(),
                     bool copy = false) {
  Builder& out = s.out();
  Instruction& i = out.emit("PLOP3", {}, {});
  out.set_result(i, "Pd", d);
  out.set_condition(i, "Pa", a);
  out.set_condition(i, "Pb", b);
  out.set_number(i, "lut", table);
  i.copy = copy;
}

// ---- comparisons ----

struct Comparing {
  Compare compare;
  std::string_view word;
  bool is_unsigned = false;
};
constexpr Comparing integer_words[] = {
    {Compare::eq, "EQ"},       {Compare::ne, "NE"},      {Compare::lt, "LT"},       {Compare::le, "LE"},
    {Compare::gt, "GT"},       {Compare::ge, "GE"},      {Compare::lo, "LT", true}, {Compare::ls, "LE", true},
    {Compare::hi, "GT", true}, {Compare::hs, "GE", true}};
constexpr Comparing float_words[] = {{Compare::eq, "EQ"},   {Compare::ne, "NE"},   {Compare::lt, "LT"},
                                     {Compare::le, "LE"},   {Compare::gt, "GT"},   {Compare::ge, "GE"},
                                     {Compare::equ, "EQU"}, {Compare::neu, "NEU"}, {Compare::ltu, "LTU"},
                                     {Compare::leu, "LEU"}, {Compare::gtu, "GTU"}, {Compare::geu, "GEU"},
                                     {Compare::num, "NUM"}, {Compare::nan, "NAN"}};

}  // namespace

std::string_view combination_word(BoolOp op) {
  return op == BoolOp::or_ ? "OR" : op == BoolOp::xor_ ? "XOR" : "AND";
}

std::string_view float_comparison(Compare compare) {
  const auto* const row = std::ranges::find(float_words, compare, &Comparing::compare);
  return row == std::end(float_words) ? std::string_view() : row->word;
}

Compare swapped_comparison(Compare c) {
  switch (c) {
    case Compare::lt: return Compare::gt;
    case Compare::le: return Compare::ge;
    case Compare::gt: return Compare::lt;
    case Compare::ge: return Compare::le;
    case Compare::lo: return Compare::hi;
    case Compare::ls: return Compare::hs;
    case Compare::hi: return Compare::lo;
    case Compare::hs: return Compare::ls;
    case Compare::ltu: return Compare::gtu;
    case Compare::leu: return Compare::geu;
    case Compare::gtu: return Compare::ltu;
    case Compare::geu: return Compare::leu;
    default: return c;
  }
}

namespace {

// Where a comparison goes, and what it is combined with.
struct Target {
  Ref p, q;
  BoolOp combine = BoolOp::none;
  Condition with = always();
};

void finish_comparison(Selector& s, Instruction& i, const Target& to) {
  Builder& out = s.out();
  if (to.p) out.set_result(i, "Pd", to.p);
  if (to.q) out.set_result(i, "Pd2", to.q);
  out.set_condition(i, "Pc", to.with);
}

void compare_floats(Selector& s, const Inst& inst, const Target& to) {
  const bool real = inst.type == Type::f64;
  if (inst.type != Type::f32 && !real) return compare_halves(s, inst, to.p, to.q, to.combine, to.with);
  Value a = s.source(inst, 0), b = s.source(inst, 1);
  Compare compare = inst.mods.compare;
  if (a.kind != Value::Kind::reg) {
    std::swap(a, b);
    compare = swapped_comparison(compare);
  }
  const std::string_view word = float_comparison(compare);
  if (word.empty()) s.give_up("a comparison of floats of this kind");
  Instruction& i =
      real
          ? s.out().emit("DSETP", {}, {a, s.in_bank(b)},
                         {{"cmp", word}, {"bool", combination_word(to.combine)}})
          : s.out().emit(
                "FSETP", {}, {a, b},
                {{"cmp", word}, {"bool", combination_word(to.combine)}, {"ftz", inst.mods.ftz ? "FTZ" : ""}});
  finish_comparison(s, i, to);
}

void compare(Selector& s, const Inst& inst, const Target& to) {
  if (ptx::is_float(inst.type) || is_half_pair(inst.type)) return compare_floats(s, inst, to);
  const unsigned bytes = ptx::size_of(inst.type);
  Compare c = inst.mods.compare;
  const auto* row = std::ranges::find(integer_words, c, &Comparing::compare);
  if (row == std::end(integer_words)) s.give_up("a comparison of this kind");
  const bool equality = c == Compare::eq || c == Compare::ne;
  const bool sign = ptx::is_signed(inst.type) && !row->is_unsigned;
  const bool extend = bytes < 4 && sign && !equality;
  Value a = extend ? s.extended(inst, 0, 8 * bytes) : s.plain_source(inst, 0);
  Value b = extend ? s.extended(inst, 1, 8 * bytes) : s.plain_source(inst, 1);
  if (a.kind != Value::Kind::reg) {
    std::swap(a, b);
    row = std::ranges::find(integer_words, swapped_comparison(c), &Comparing::compare);
  }
  Builder& out = s.out();
  const std::string_view unsigned_word = sign && bytes != 8 ? "" : "U32";
  if (bytes != 8) {
    Instruction& i =
        out.emit("ISETP", {}, {a, b},
                 {{"cmp", row->word}, {"u32", unsigned_word}, {"bool", combination_word(to.combine)}});
    return finish_comparison(s, i, to);
  }
  const Ref lower = out.new_predicate();
  Instruction& first = out.emit("ISETP", {}, {half_of(a, false), half_of(b, false)},
                                {{"cmp", row->word}, {"u32", "U32"}, {"bool", "AND"}});
  out.set_result(first, "Pd", lower);
  Instruction& i = out.emit(
      "ISETP", {}, {half_of(a, true), half_of(b, true)},
      {{"cmp", row->word}, {"u32", sign ? "" : "U32"}, {"bool", combination_word(to.combine)}, {"ex", "EX"}});
  out.set_condition(i, "Pex", {lower});
  finish_comparison(s, i, to);
}

void set_predicate(Selector& s, const Inst& inst) {
  Target to{s.result(inst), s.result(inst, 1), inst.mods.bool_op};
  if (inst.mods.bool_op != BoolOp::none) to.with = s.condition(inst, 2);
  compare(s, inst, to);
}

// An `and` or `or` of a comparison and something else is a part of the comparison.
void predicate_logic(Selector& s, const Inst& inst) {
  const Ref d = s.result(inst);
  if (inst.op == Op::not_) {
    Condition a = s.condition(inst, 0);
    a.inverted = !a.inverted;
    return emit_predicates(s, d, 0xf0, a);
  }
  if (inst.fold == Fold::predicate)
    for (unsigned i = 0; i < 2; ++i) {
      const Inst* const made = s.comparison(inst, i);
      if (made == nullptr || inst.src[i].negated) continue;
      return compare(s, *made,
                     {d, {}, inst.op == Op::and_ ? BoolOp::and_ : BoolOp::or_, s.condition(inst, 1 - i)});
    }
  s.make_comparisons(inst);
  const std::uint8_t table = combined(inst.op, input_tables[0], input_tables[1]);
  emit_predicates(s, d, table, s.condition(inst, 0), s.condition(inst, 1));
}

void set(Selector& s, const Inst& inst) {
  if (is_single_half(inst.stype) || is_half_pair(inst.stype))
    for (const SelectionRow& row : half_selections())
      if (row.op == inst.op) return row.select(s, inst);
  const Ref p = s.out().new_predicate();
  Inst as_predicate = inst;
  as_predicate.type = inst.stype;
  Target to{p, {}, inst.mods.bool_op};
  if (inst.mods.bool_op != BoolOp::none) to.with = s.condition(inst, 2);
  compare(s, as_predicate, to);
  const bool is_float = inst.type == Type::f32;
  if (ptx::size_of(inst.type) != 4) s.give_up("set with a result of this type");
  const Value yes = s.out().as_register(number(is_float ? 0x3f800000u : 0xffffffffu));
  Instruction& i = s.out().emit("SEL", s.result(inst), {yes, zero()});
  s.out().set_condition(i, "Pc", {p});
}

// d = p ? a : b
void select_word(Selector& s, Ref d, Value a, Value b, Condition p) {
  if (a.is_number() && a.bits == 0) a = zero();
  if (a.kind != Value::Kind::reg) {
    std::swap(a, b);
    p.inverted = !p.inverted;
  }
  Instruction& i = s.out().emit("SEL", d, {a, b});
  s.out().set_condition(i, "Pc", p);
}

void select_value(Selector& s, const Inst& inst) {
  const Ref d = s.result(inst);
  const Condition p = s.condition(inst, 2);
  const Value a = s.plain_source(inst, 0), b = s.plain_source(inst, 1);
  select_word(s, s.low(d), a.wide ? half_of(a, false) : a, b.wide ? half_of(b, false) : b, p);
  if (d.count == 2) select_word(s, s.high(d), half_of(a, true), half_of(b, true), p);
}

void select_by_sign(Selector& s, const Inst& inst) {
  const Ref p = s.out().new_predicate(), d = s.result(inst);
  const Value c = s.plain_source(inst, 2), a = s.plain_source(inst, 0), b = s.plain_source(inst, 1);
  Instruction& i =
      inst.stype == Type::f32
          ? s.out().emit("FSETP", {}, {s.out().as_register(c), zero()},
                         {{"cmp", "GE"}, {"bool", "AND"}, {"ftz", inst.mods.ftz ? "FTZ" : ""}})
          : s.out().emit("ISETP", {}, {s.out().as_register(c), zero()}, {{"cmp", "GE"}, {"bool", "AND"}});
  s.out().set_result(i, "Pd", p);
  select_word(s, s.low(d), a.wide ? half_of(a, false) : a, b.wide ? half_of(b, false) : b, {p});
  if (d.count == 2) select_word(s, s.high(d), half_of(a, true), half_of(b, true), {p});
}

// ---- shifts ----

void shift_left(Selector& s, const Inst& inst) {
  const Ref d = s.result(inst);
  const unsigned bytes = ptx::size_of(inst.type);
  Value a = s.plain_source(inst, 0), by = s.plain_source(inst, 1);
  if (by.wide) by = half_of(by, false);
  Builder& out = s.out();
  const Ref low = bytes < 4 ? out.new_register() : s.low(d);
  // The upper word first: the result may be in the registers of the source.
  if (d.count == 2)
    out.emit("SHF", s.high(d), {half_of(a, false), by, half_of(a, true)},
             {{"dir", "L"}, {"type", "U64"}, {"hi", "HI"}});
  out.emit("SHF", low, {a.wide ? half_of(a, false) : a, by, zero()}, {{"dir", "L"}, {"type", "U32"}});
  if (bytes < 4) s.mask(d, value_of(low), 8 * bytes);
}

void shift_right(Selector& s, const Inst& inst) {
  const Ref d = s.result(inst);
  const unsigned bytes = ptx::size_of(inst.type);
  const bool sign = ptx::is_signed(inst.type), narrow = bytes < 4;
  Value a = narrow && sign ? s.extended(inst, 0, 8 * bytes) : s.plain_source(inst, 0);
  const Value by = s.plain_source(inst, 1);
  Builder& out = s.out();
  if (bytes == 8) {
    out.emit("SHF", s.low(d), {half_of(a, false), by, half_of(a, true)},
             {{"dir", "R"}, {"type", sign ? "S64" : "U64"}});
    if (d.count == 2)
      out.emit("SHF", s.high(d), {zero(), by, half_of(a, true)},
               {{"dir", "R"}, {"type", sign ? "S32" : "U32"}, {"hi", "HI"}});
    return;
  }
  const Ref shifted = narrow && sign ? out.new_register() : d;
  out.emit("SHF", shifted, {zero(), by, a}, {{"dir", "R"}, {"type", sign ? "S32" : "U32"}, {"hi", "HI"}});
  if (narrow && sign) s.mask(d, value_of(shifted), 8 * bytes);
}

// shf.l: the high word of b:a shifted left; shf.r: the low word of it shifted right.
void funnel_shift(Selector& s, const Inst& inst) {
  const Value a = s.plain_source(inst, 0), b = s.plain_source(inst, 1), by = s.plain_source(inst, 2);
  s.out().emit("SHF", s.result(inst), {a, by, b},
               {{"dir", inst.mods.left ? "L" : "R"},
                {"type", "U32"},
                {"w", inst.mods.wrap ? "W" : ""},
                {"hi", inst.mods.left ? "HI" : ""}});
}

void permute(Selector& s, const Inst& inst) {
  constexpr std::string_view modes[] = {"", "F4E", "B4E", "RC8", "ECL", "ECR", "RC16"};
  const Value a = s.plain_source(inst, 0), b = s.plain_source(inst, 1), by = s.plain_source(inst, 2);
  s.out().emit("PRMT", s.result(inst), {a, by, b},
               {{"mode", modes[static_cast<std::size_t>(inst.mods.prmt)]}});
}

void make_mask(Selector& s, const Inst& inst) {
  s.out().emit("BMSK", s.result(inst), {s.in_register(inst, 0), s.plain_source(inst, 1)},
               {{"w", inst.mods.wrap ? "W" : ""}});
}
void extend_field(Selector& s, const Inst& inst) {
  s.out().emit("SGXT", s.result(inst), {s.in_register(inst, 0), s.plain_source(inst, 1)},
               {{"u32", ptx::is_signed(inst.type) ? "" : "U32"}, {"w", inst.mods.wrap ? "W" : ""}});
}

}  // namespace

std::span<const SelectionRow> logic_selections() {
  static constexpr SelectionRow rows[] = {
      {Op::and_, logic},     {Op::or_, logic},           {Op::xor_, logic},
      {Op::not_, logic},     {Op::lop3, logic_of_three}, {Op::setp, set_predicate},
      {Op::set, set},        {Op::selp, select_value},   {Op::slct, select_by_sign},
      {Op::shl, shift_left}, {Op::shr, shift_right},     {Op::shf, funnel_shift},
      {Op::prmt, permute},   {Op::bmsk, make_mask},      {Op::szext, extend_field},
  };
  return rows;
}

}  // namespace simtlab::assembler

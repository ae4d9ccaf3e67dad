#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "assembler/bundled_rewriter.h"
#include "machine/logic_table.h"

namespace simtlab::assembler {
namespace {

// The table with two of its inputs in each other's places.
unsigned with_swapped(unsigned table, unsigned one, unsigned other) {
  unsigned out = 0;
  for (unsigned k = 0; k < 8; ++k) {
    const unsigned x = k >> (2 - one) & 1u, y = k >> (2 - other) & 1u;
    const unsigned rest = k & ~(1u << (2 - one)) & ~(1u << (2 - other));
    out |= (table >> (rest | y << (2 - one) | x << (2 - other)) & 1u) << k;
  }
  return out;
}

// What LOP makes of two inputs.
struct TwoInputs {
  unsigned table;  // over both: bit 0 where they are 0 and 0
  std::string_view op;
  bool not_a, not_b;
};
constexpr TwoInputs two_input_tables[] = {
    {8, "AND", false, false}, {4, "AND", false, true}, {2, "AND", true, false}, {1, "AND", true, true},
    {14, "OR", false, false}, {13, "OR", false, true}, {11, "OR", true, false}, {7, "OR", true, true},
    {6, "XOR", false, false}, {9, "XOR", false, true}};

constexpr std::string_view predicate_operations[] = {"AND", "OR", "XOR"};
constexpr unsigned input_orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}};
using Inputs = std::array<Condition, 3>;

// PSETP of (x first y) second z.
struct PredicateChoice {
  unsigned order, first, second;  // of input_orders and predicate_operations
  unsigned inverted;              // a bit an input
  bool inverts(unsigned input) const { return (inverted >> input & 1u) != 0; }
};

bool applied(unsigned operation, bool x, bool y) {
  return operation == 0 ? x && y : operation == 1 ? x || y : x != y;
}

// Inputs that are constants are PT: the table has their values in it already.
unsigned table_of(const PredicateChoice& choice, const Inputs& inputs) {
  unsigned out = 0;
  for (unsigned k = 0; k < 8; ++k) {
    bool in[3];
    for (unsigned n = 0; n < 3; ++n) {
      const unsigned from = input_orders[choice.order][n];
      in[n] = (!inputs[from].ref || (k >> (2 - from) & 1u) != 0) != choice.inverts(n);
    }
    out |= (applied(choice.second, applied(choice.first, in[0], in[1]), in[2]) ? 1u : 0u) << k;
  }
  return out;
}

std::optional<PredicateChoice> predicate_choice(const Inputs& inputs, unsigned table) {
  for (unsigned order = 0; order < 3; ++order)
    for (unsigned first = 0; first < 3; ++first)
      for (unsigned second = 0; second < 3; ++second)
        for (unsigned inverted = 0; inverted < 8; ++inverted)
          if (const PredicateChoice out{order, first, second, inverted}; table_of(out, inputs) == table)
            return out;
  return std::nullopt;
}

}  // namespace

void Bundler::logic(const Instruction& i) {
  const unsigned table = number_of(i, "lut");
  const std::vector<Value> v = sources(i);
  const Ref p = result(i, "Pd");
  Ref d = result(i);
  const Condition other = condition(i, "Pc");
  const bool conjunction = i.code.field("pand") != 0;
  const bool alone = conjunction ? is_true(other) : is_false(other);
  if (p && !alone) {
    if (!d) d = b_.temporary();
    emit_logic(d, {}, table, v);
    Instruction& set = b_.emit("ISETP", {}, {value_of(d), zero()},
                               {{"cmp", "NE"}, {"u32", ""}, {"bool", conjunction ? "AND" : "OR"}});
    b_.out().set_result(set, "Pd", p);
    b_.out().set_condition(set, "Pc", other);
    return;
  }
  emit_logic(d, p, table, v);
}

void Bundler::emit_logic(Ref d, Ref p, unsigned table, const std::vector<Value>& v) {
  if (p && !b_.out().has_form("LOP3")) {
    // No predicate comes with a result before Maxwell.
    if (!d) d = b_.temporary();
    emit_logic(d, {}, table, v);
    Instruction& set =
        b_.emit("ISETP", {}, {value_of(d), zero()}, {{"cmp", "NE"}, {"u32", ""}, {"bool", "AND"}});
    return b_.out().set_result(set, "Pd", p);
  }
  for (unsigned k = 0; k < 3; ++k) {
    const auto bits = known_number(v[k]);
    if (bits && *bits == 0) table = machine::with_constant(table, k, false);
    if (bits && *bits == 0xffffffffu) table = machine::with_constant(table, k, true);
  }
  std::vector<unsigned> inputs;
  for (unsigned k = 0; k < 3; ++k)
    if (machine::with_constant(table, k, false) != machine::with_constant(table, k, true))
      inputs.push_back(k);
  if (inputs.size() == 3) return three_inputs(d, p, table, v);
  if (inputs.size() == 2 && two_inputs(d, p, table, v[inputs[0]], v[inputs[1]], inputs)) return;
  if (inputs.size() == 1 && !p) {
    const bool inverts = (table >> (1u << (2 - inputs[0])) & 1u) == 0;
    if (!inverts) return b_.out().move(d, v[inputs[0]]);
    Value x = v[inputs[0]];
    x.inverted = true;
    b_.emit("LOP", d, {zero(), x}, {{"op", "PASS_B"}});
    return;
  }
  if (inputs.empty() && !p) return b_.out().move(d, number(table == 0 ? 0 : 0xffffffffu));
  three_inputs(d, p, table, v);
}

bool Bundler::two_inputs(Ref d, Ref p, unsigned table, Value a, Value b,
                         const std::vector<unsigned>& inputs) {
  unsigned four = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned index = (k >> 1) << (2 - inputs[0]) | (k & 1u) << (2 - inputs[1]);
    four |= (table >> index & 1u) << k;
  }
  for (const TwoInputs& k : two_input_tables) {
    if (k.table != four) continue;
    a.inverted = k.not_a;
    b.inverted = k.not_b;
    if (a.kind != Value::Kind::reg) std::swap(a, b);
    if (b.is_number()) b = number(static_cast<std::uint32_t>(b.bits) ^ (b.inverted ? ~0u : 0u));
    if (b.is_number() && !p) {
      b_.emit("LOP32I", d, {a, b}, {{"op", k.op}});
      return true;
    }
    a = in_register(a);
    if (b.is_number()) b = b_.number_or_literal("LOP", {a, b}, 1);
    Instruction& made = b_.emit("LOP", d, {a, b}, {{"op", k.op}});
    if (p) {
      b_.out().set_word(made, {"test", "NZ"});
      b_.out().set_result(made, "Pd", p);
    }
    return true;
  }
  return false;
}

void Bundler::by_two_inputs(Ref d, unsigned table, const std::vector<Value>& v) {
  const Inputs any = {Condition{{.reg = 0}}, Condition{{.reg = 1}}, Condition{{.reg = 2}}};
  const auto both = [](unsigned op) { return op == 0 ? 8u : op == 1 ? 14u : 6u; };
  const auto inverted = [](unsigned four, bool x, bool y) {
    unsigned out = 0;
    for (unsigned k = 0; k < 4; ++k) out |= (four >> (k ^ (x ? 2u : 0u) ^ (y ? 1u : 0u)) & 1u) << k;
    return out;
  };
  // A table over the first two of three inputs
  const auto wide = [](unsigned four) {
    unsigned out = 0;
    for (unsigned k = 0; k < 8; ++k) out |= (four >> (k >> 1) & 1u) << k;
    return out;
  };
  const Ref first = b_.temporary();
  if (const auto choice = predicate_choice(any, table)) {
    const unsigned* const order = input_orders[choice->order];
    emit_logic(first, {}, wide(inverted(both(choice->first), choice->inverts(0), choice->inverts(1))),
               {v[order[0]], v[order[1]], zero()});
    emit_logic(d, {}, wide(inverted(both(choice->second), false, choice->inverts(2))),
               {value_of(first), v[order[2]], zero()});
    return;
  }
  // (c and what the table is with it) or (not c and what it is without)
  const Ref second = b_.temporary(), with = b_.temporary(), without = b_.temporary();
  emit_logic(first, {}, machine::with_constant(table, 2, true), v);
  emit_logic(second, {}, machine::with_constant(table, 2, false), v);
  emit_logic(with, {}, wide(inverted(8, false, false)), {value_of(first), v[2], zero()});
  emit_logic(without, {}, wide(inverted(8, false, true)), {value_of(second), v[2], zero()});
  emit_logic(d, {}, wide(14), {value_of(with), value_of(without), zero()});
}

void Bundler::three_inputs(Ref d, Ref p, unsigned table, const std::vector<Value>& v) {
  if (!b_.out().has_form("LOP3")) return by_two_inputs(d, table, v);
  std::vector<Value> x = v;
  if (p) {
    for (Value& value : x)
      if (value.kind != Value::Kind::reg) value = b_.out().as_register(value);
  }
  // A number or a constant stands in the middle.
  for (const std::size_t k : {std::size_t{0}, std::size_t{2}})
    if (x[k].kind != Value::Kind::reg && x[1].kind == Value::Kind::reg) {
      std::swap(x[k], x[1]);
      table = with_swapped(table, k == 0 ? 0 : 1, k == 0 ? 1 : 2);
    }
  if (x[1].is_number() && b_.out().form_for("LOP3", x) == nullptr) x[1] = b_.out().as_register(x[1]);
  Instruction& made = b_.emit("LOP3", d, {x[0], x[1], x[2]});
  b_.out().set_number(made, "lut", table);
  if (!p) return;
  b_.out().set_word(made, {"test", "NZ"});
  b_.out().set_result(made, "Pd", p);
}

void Bundler::shift(const Instruction& i) {
  const std::vector<Value> v = sources(i);
  const std::string_view type = word(i, "type");
  const bool left = word(i, "dir") == "L", wide = type.ends_with("64"), is_signed = type.starts_with("S"),
             upper = i.code.field("hi") != 0, wraps = i.code.field("w") != 0;
  const FieldWord w{"w", wraps ? "W" : ""};
  const bool low_only = left ? !upper : !upper && v[2].is_zero_register();
  const bool high_only = left ? upper && v[0].is_zero_register() : upper;
  const Value by = v[1];
  if (low_only || high_only) {
    const Value x = b_.out().as_register(v[low_only ? 0 : 2]);
    // Of 64 bits, an amount from 32 on leaves nothing of one word.
    if (wide && wraps) throw GivenUp{"a shift of 64 bits that wraps"};
    if (left)
      b_.emit("SHL", result(i), {x, by}, {w});
    else
      b_.emit("SHR", result(i), {x, by}, {w, {"u32", low_only || !is_signed ? "U32" : ""}});
    return;
  }
  const Value a = b_.out().as_register(v[0]), c = b_.out().as_register(v[2]);
  static constexpr std::string_view left_out[] = {"hi", "type", "x"};
  const std::uint32_t most = wide ? 63 : 31;
  const Value amount = by.is_number()
                           ? number(wraps ? by.bits & most : std::min<std::uint64_t>(by.bits, most + 1))
                           : b_.out().as_register(by);
  const Value order[] = {a, amount, c};
  for (const machine::Form* form : b_.out().forms("SHF"))
    if (auto out = b_.out().with_form(i, *form, order, left_out)) {
      b_.out().set_word(append(std::move(*out), i), {"type", !wide ? "" : is_signed ? "S64" : "U64"});
      return;
    }
  b_.move_between(result(i), {.low = a,
                              .high = c,
                              .by = amount,
                              .left = left,
                              .is_signed = is_signed,
                              .most = wraps ? most : most + 1,
                              .wraps = wraps});
}

void Bundler::reverse(const Instruction& i) {
  b_.emit("BFE", result(i), {b_.out().as_register(sources(i)[0]), number(0x2000)},
          {{"u32", "U32"}, {"brev", "BREV"}});
}

void Bundler::magnitude(const Instruction& i) {
  Value v = sources(i)[0];
  v.absolute = true;
  Instruction& out = b_.emit("I2I", result(i), {v}, {});
  constexpr unsigned word_size = 2;
  b_.out().set_field(out, "dst", word_size);
  b_.out().set_field(out, "src", word_size);
  // Result and source have a field of this name each.
  for (std::size_t f = 0; f < out.code.form->fields.size(); ++f)
    if (out.code.form->fields[f]->name == "signed") out.code.fields[f] = 1;
}

void Bundler::difference(const Instruction& i) {
  if (result(i, "Pd")) throw GivenUp{"a difference with a predicate"};
  const std::vector<Value> v = sources(i);
  const Value a = b_.out().as_register(v[0]);
  const FieldWord sign{"u32", word(i, "u32")};
  const Ref larger = b_.temporary(), smaller = b_.temporary();
  Instruction& most = b_.emit("IMNMX", larger, {a, v[1]}, {sign});
  b_.out().set_condition(most, "min", never());
  b_.emit("IMNMX", smaller, {a, v[1]}, {sign});
  Value less = value_of(smaller);
  less.negated = true;
  b_.add_three(result(i), value_of(larger), less, v[2]);
}

void Bundler::difference_of_bytes(const Instruction& i) {
  if (!b_.out().has_form("VABSDIFF4")) throw GivenUp{"no form of VABSDIFF4"};
  const std::vector<Value> v = sources(i);
  Instruction& out =
      b_.emit("VABSDIFF4", result(i), {v[0], v[1], v[2]}, {{"types", "U8.U8"}, {"acc", word(i, "acc")}});
  constexpr unsigned every_byte = 15, in_order = 4;
  b_.out().set_field(out, "lanes", every_byte);
  b_.out().set_field(out, "swa", in_order);
  b_.out().set_field(out, "swb", in_order);
}

void Bundler::extend(const Instruction& i) {
  const std::vector<Value> v = sources(i);
  const bool wraps = i.code.field("w") != 0;
  const FieldWord sign{"u32", i.code.field("u32") != 0 ? "" : "U32"};
  const Value a = b_.out().as_register(v[0]);
  if (const auto bits = known_number(v[1])) {
    const std::uint32_t n = wraps ? *bits & 31u : std::min(*bits, 32u);
    b_.emit("BFE", result(i), {a, number(n << 8)}, {sign});
    return;
  }
  const Ref bits = b_.temporary(), place = b_.temporary();
  bound_amount(bits, v[1], wraps);
  b_.shift_left(place, value_of(bits), 8);
  b_.emit("BFE", result(i), {a, value_of(place)}, {sign});
}

void Bundler::bound_amount(Ref d, const Value& x, bool wraps) {
  if (wraps)
    b_.emit("LOP32I", d, {b_.out().as_register(x), number(31)}, {{"op", "AND"}});
  else
    b_.emit("IMNMX", d, {b_.out().as_register(x), number(32)}, {{"u32", "U32"}});
}

void Bundler::mask(const Instruction& i) {
  const std::vector<Value> v = sources(i);
  const bool wraps = i.code.field("w") != 0;
  const auto bounded = [&](const Value& x) {
    const Ref t = b_.temporary();
    bound_amount(t, x, wraps);
    return value_of(t);
  };
  const Ref place = b_.temporary(), ones = b_.temporary();
  b_.shift_left(place, bounded(v[1]), 8);
  b_.emit("BFE", ones, {b_.out().as_register(number(0xffffffffu)), value_of(place)}, {{"u32", "U32"}});
  b_.emit("SHL", result(i), {value_of(ones), bounded(v[0])}, {});
}

void Bundler::predicate_logic(const Instruction& i) {
  if (result(i, "Pd2")) throw GivenUp{"two tables over predicates"};
  const unsigned table = number_of(i, "lut");
  const Inputs inputs = {condition(i, "Pa"), condition(i, "Pb"), condition(i, "Pc")};
  unsigned reduced = table;
  for (unsigned k = 0; k < 3; ++k)
    if (!inputs[k].ref) reduced = machine::with_constant(reduced, k, !inputs[k].inverted);
  const auto choice = predicate_choice(inputs, reduced);
  if (!choice) throw GivenUp{"a table over predicates"};
  Instruction& set = b_.emit(
      "PSETP", {}, {},
      {{"bool2", predicate_operations[choice->first]}, {"bool", predicate_operations[choice->second]}});
  b_.out().set_result(set, "Pd", result(i, "Pd"));
  static constexpr std::string_view places[] = {"Pa", "Pb", "Pc"};
  for (unsigned n = 0; n < 3; ++n) {
    const Condition& from = inputs[input_orders[choice->order][n]];
    b_.out().set_condition(set, places[n], {from.ref, (from.ref && from.inverted) != choice->inverts(n)});
  }
  set.copy = i.copy;
}

void Bundler::compare(const Instruction& i) {
  const std::vector<Value> v = sources(i);
  if (i.code.field("ex") != 0) return compare_high(i, v);
  if (only_for_high_words(i)) return;
  with_name(i, "ISETP", v);
}

bool Bundler::only_for_high_words(const Instruction& i) const {
  const Ref p = result(i, "Pd");
  if (!p || uses_[p.reg] != 1 || result(i, "Pd2")) return false;
  for (std::size_t k = at_ + 1; k < old_.size() && k - at_ <= farthest_pair; ++k) {
    const Instruction& other = old_[k];
    if (other.code.mnemonic() == "ISETP" && other.code.field("ex") != 0 && condition(other, "Pex").ref == p &&
        low_words(other, k) == &i)
      return true;
    if (reads(other, p)) return false;
  }
  return false;
}

const Instruction* Bundler::low_words(const Instruction& high, std::size_t at) const {
  const Condition low = condition(high, "Pex");
  if (!low.ref || low.inverted) return nullptr;
  const Instruction* const i = writer_in_block(low.ref, at);
  if (i == nullptr || i->code.mnemonic() != "ISETP" || i->code.field("ex") != 0) return nullptr;
  const Condition c = condition(*i, "Pc");
  if (word(*i, "bool") != "AND" || !is_true(c) || word(*i, "cmp") != word(high, "cmp")) return nullptr;
  return result(*i, "Pd") == low.ref ? i : nullptr;
}

void Bundler::compare_high(const Instruction& i, std::vector<Value> v) {
  const std::string_view cmp = word(i, "cmp"), is_unsigned = word(i, "u32"), op = word(i, "bool");
  if (const Instruction* low = low_words(i, at_)) {
    const std::vector<Value> words = sources(*low);
    Value right = words[1];
    right.negated = true;
    const Value left = words[0].kind == Value::Kind::reg ? words[0] : b_.out().as_register(words[0]);
    b_.add({}, left, right, {.out = true});
    if (v[1].is_number() && v[1].bits == 0) v[1] = zero();
    if (v[1].is_number()) v[1] = b_.number_or_literal("ISETP", {v[0], v[1]}, 1);
    Instruction& set =
        b_.emit("ISETP", {}, {v[0], v[1]}, {{"cmp", cmp}, {"u32", is_unsigned}, {"bool", op}, {"x", "X"}});
    finish_comparison(set, i);
    return;
  }
  // high op high, or equal and the answer of the low words
  const Condition low = condition(i, "Pex");
  std::string_view strict = cmp;
  if (cmp == "LE") strict = "LT";
  if (cmp == "GE") strict = "GT";
  if (cmp == "EQ" || cmp == "NE") {
    const bool equal = cmp == "EQ";
    Instruction& set = b_.emit("ISETP", {}, {v[0], v[1]},
                               {{"cmp", cmp}, {"u32", is_unsigned}, {"bool", equal ? "AND" : "OR"}});
    b_.out().set_condition(set, "Pc", low);
    return combine(set, i, op);
  }
  const Ref t = b_.out().new_predicate();
  Instruction& same =
      b_.emit("ISETP", {}, {v[0], v[1]}, {{"cmp", "EQ"}, {"u32", is_unsigned}, {"bool", "AND"}});
  b_.out().set_result(same, "Pd", t);
  b_.out().set_condition(same, "Pc", low);
  Instruction& set =
      b_.emit("ISETP", {}, {v[0], v[1]}, {{"cmp", strict}, {"u32", is_unsigned}, {"bool", "OR"}});
  b_.out().set_condition(set, "Pc", {t, false});
  combine(set, i, op);
}

void Bundler::finish_comparison(Instruction& set, const Instruction& like) {
  if (const Ref p = result(like, "Pd")) b_.out().set_result(set, "Pd", p);
  if (const Ref p = result(like, "Pd2")) b_.out().set_result(set, "Pd2", p);
  b_.out().set_condition(set, "Pc", condition(like, "Pc"));
}

void Bundler::combine(Instruction& set, const Instruction& like, std::string_view op) {
  const Condition c = condition(like, "Pc");
  const bool alone = op == "AND" ? is_true(c) : is_false(c);
  if (alone && !result(like, "Pd2")) return b_.out().set_result(set, "Pd", result(like, "Pd"));
  const Ref t = b_.out().new_predicate();
  b_.out().set_result(set, "Pd", t);
  Instruction& both = b_.emit("PSETP", {}, {}, {{"bool2", "AND"}, {"bool", op}});
  b_.out().set_condition(both, "Pa", {t, false});
  finish_comparison(both, like);
}

}  // namespace simtlab::assembler

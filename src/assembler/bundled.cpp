#include "assembler/bundled.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "assembler/bundled_builder.h"
#include "assembler/clean.h"
#include "assembler/control_effects.h"
#include "machine/launch_state.h"

namespace simtlab::assembler {
namespace {

using machine::OperandKind;

class Bundler {
 public:
  Bundler(Program& program, unsigned generation) : p_(program), b_(program, generation) {}

  void run() {
    b_.note_writers();
    find_uses();
    find_numbers();
    p_.generation = b_.generation();
    for (std::uint32_t block = 0; block < p_.blocks.size(); ++block) {
      old_ = std::move(p_.blocks[block].code);
      p_.blocks[block].code.clear();
      gather_sums();
      b_.start(block);
      done_.assign(old_.size(), false);
      for (at_ = 0; at_ < old_.size(); ++at_) {
        if (done_[at_]) continue;
        const std::vector<bool> before = done_;
        rewrite(old_[at_]);
        b_.note_writes(old_[at_]);
        for (std::size_t k = at_ + 1; k < old_.size(); ++k)
          if (done_[k] && !before[k]) b_.note_writes(old_[k]);
      }
    }
  }

 private:
  using Rewrite = void (Bundler::*)(const Instruction&);
  struct Row {
    std::string_view name;
    Rewrite rewrite;
  };
  static std::span<const Row> rows();

  void rewrite(const Instruction& i) {
    if (i.guard && std::ranges::find(settled_, i.guard.reg) != settled_.end()) return;
    b_.stand_for(i);
    const std::string_view name = i.code.mnemonic();
    for (const Row& row : rows())
      if (row.name == name) return (this->*row.rewrite)(i);
    same(i);
  }

  // ---- what an instruction says ----

  static Ref result(const Instruction& i, std::string_view name = "Rd") {
    const int at = i.code.form->operand(name);
    return at < 0 ? Ref{} : i.refs[static_cast<std::size_t>(at)];
  }
  static Condition condition(const Instruction& i, std::string_view name) {
    const int at = i.code.form->operand(name);
    if (at < 0) return always();
    return {i.refs[static_cast<std::size_t>(at)], i.code.operands[static_cast<std::size_t>(at)].inverted};
  }
  static bool is_true(const Condition& c) { return !c.ref && !c.inverted; }
  static bool is_false(const Condition& c) { return !c.ref && c.inverted; }
  static std::string_view word(const Instruction& i, std::string_view field) {
    const int at = i.code.form->field(field);
    if (at < 0) return {};
    const std::string* const w =
        i.code.form->fields[static_cast<std::size_t>(at)]->word(i.code.fields[static_cast<std::size_t>(at)]);
    return w == nullptr ? std::string_view() : std::string_view(*w);
  }
  static unsigned shift_of(const Instruction& i) {
    return static_cast<unsigned>(i.code.operands[static_cast<std::size_t>(i.code.form->operand("shift"))].value);
  }

  // The sources, constants of bank 0 where this generation has them, of 64 bits those that are pairs.
  std::vector<Value> sources(const Instruction& i) const {
    const auto values = source_values(i, true);
    if (!values) throw GivenUp{"sources of " + std::string(i.code.mnemonic()) + " that are not known"};
    std::vector<Value> out(values->all().begin(), values->all().end());
    for (Value& v : out)
      if (v.kind == Value::Kind::constant && v.bank == 0)
        v.offset = place_of(v.offset);
      else if (v.kind == Value::Kind::reg && v.ref && v.ref.count == 1 && v.ref.part == 0 && numbers_[v.ref.reg])
        v = with_number(v, *numbers_[v.ref.reg]);
    return out;
  }
  std::uint32_t place_of(std::uint32_t offset) const {
    const machine::LaunchSlots from = machine::launch_slots(selected_as(b_.generation())),
                               to = machine::launch_slots(b_.generation());
    if (offset >= from.parameters) return offset - from.parameters + to.parameters;
    for (const std::uint32_t word : {0u, 4u, 8u}) {
      if (offset == from.block + word) return to.block + word;
      if (offset == from.grid + word) return to.grid + word;
    }
    if (offset == from.stack) return to.stack;
    if (offset == from.shared_window) return to.shared_window;
    if (offset == from.shared_window + 4) return to.shared_window_high;
    if (offset == from.local_window) return to.local_window;
    if (offset == from.local_window + 4) return to.local_window_high;
    if (offset == from.grid_id) return to.grid_id;
    if (offset == from.sm_count) return to.sm_count;
    throw GivenUp{"a value of the launch that this generation keeps elsewhere"};
  }

  static Value with_number(const Value& v, std::uint32_t bits) {
    Value out = number(bits);
    out.negated = v.negated;
    out.absolute = v.absolute;
    out.inverted = v.inverted;
    return out;
  }

  // Registers that always hold one number of few bits: Volta's forms had no room for it.
  void find_numbers() {
    constexpr std::int32_t limit = 1 << 19;
    std::vector<std::uint8_t> writers(p_.registers.size(), 0);
    numbers_.assign(p_.registers.size(), std::nullopt);
    for (const Block& block : p_.blocks)
      for (const Instruction& i : block.code)
        for_each_ref(i, [&](const Ref& r, bool writes) {
          if (!writes) return;
          if (writers[r.reg] < 2) ++writers[r.reg];
          if (i.code.mnemonic() != "MOV" || i.guarded() || p_.registers[r.reg].width != 1) return;
          const auto values = source_values(i);
          if (!values || i.address != none) return;
          if (!values->values[0].is_number() && !values->values[0].is_zero_register()) return;
          const auto bits = static_cast<std::int32_t>(values->values[0].bits);
          if (bits >= -limit && bits < limit) numbers_[r.reg] = static_cast<std::uint32_t>(bits);
        });
    for (std::size_t r = 0; r < writers.size(); ++r)
      if (writers[r] != 1 || p_.registers[r].fixed != Register::anywhere) numbers_[r] = std::nullopt;
  }

  // ---- who uses predicates ----

  void find_uses() {
    uses_.assign(p_.registers.size(), 0);
    for (const Block& block : p_.blocks)
      for (const Instruction& i : block.code)
        for_each_ref(i, [&](const Ref& r, bool writes) { uses_[r.reg] += writes ? 0 : 1; });
  }
  bool writes(const Instruction& i, const Ref& r) const {
    bool out = false;
    for_each_ref(i, [&](const Ref& w, bool is_write) {
      out |= is_write && w.reg == r.reg && w.part < r.part + r.count && r.part < w.part + w.count;
    });
    return out;
  }
  bool reads(const Instruction& i, const Ref& r) const {
    bool out = false;
    for_each_ref(i, [&](const Ref& w, bool is_write) {
      out |= !is_write && w.reg == r.reg && w.part < r.part + r.count && r.part < w.part + w.count;
    });
    return out;
  }
  // Of an instruction from `at` back in this block: who wrote the register, if nothing that it read has been
  // written since.
  const Instruction* writer_in_block(const Ref& r) const {
    for (std::size_t k = at_; k-- > 0;) {
      if (!writes(old_[k], r)) continue;
      bool stands = !old_[k].guarded();
      for (std::size_t m = k; m < at_ && stands; ++m)
        for_each_ref(old_[k], [&](const Ref& source, bool is_write) {
          if (!is_write && writes(old_[m], source)) stands = false;
        });
      return stands ? &old_[k] : nullptr;
    }
    return nullptr;
  }

  // ---- the same instruction under another form ----

  void same(const Instruction& i) { with_name(i, i.code.mnemonic()); }

  Instruction& with_name(const Instruction& i, std::string_view name) { return with_name(i, name, sources(i)); }

  Instruction& with_name(Instruction like, std::string_view name, std::vector<Value> values) {
    static constexpr std::string_view left_out[] = {"sem", "scope", "evict", "defer", "ntz",
                                                    "l2",  "zd",    "x",     "hi",    "kind"};
    // Numbers that no form takes become literals or registers, later ones first.
    for (std::size_t tried = 0; tried <= values.size(); ++tried) {
      for (const machine::Form* form : b_.out().forms(name))
        if (auto out = b_.out().with_form(like, *form, values, left_out)) return append(std::move(*out), like);
      if (tried < values.size()) make_fit(name, values);
    }
    throw GivenUp{"no form of " + std::string(name) + " on sm_" + std::to_string(b_.generation()) +
                  " says the same"};
  }

  // One value that keeps all forms from taking the sources: a literal where one is taken there, else a
  // register.
  void make_fit(std::string_view name, std::vector<Value>& values) {
    if (b_.out().form_for(name, values) != nullptr) return;
    for (std::size_t k = values.size(); k-- > 0;) {
      if (!values[k].is_number() || values[k].bits == 0) continue;
      std::vector<Value> tried = values;
      tried[k] = b_.literal(values[k]);
      if (b_.out().form_for(name, tried) != nullptr) {
        values = std::move(tried);
        return;
      }
    }
    for (Value& v : values) {
      if (v.is_number() && v.bits == 0 && !v.inverted) {
        const Value before = v;
        v = zero();
        v.negated = before.negated;
        v.absolute = before.absolute;
        if (b_.out().form_for(name, values) != nullptr) return;
        v = before;
      }
    }
    for (std::size_t k = values.size(); k-- > 0;) {
      Value& v = values[k];
      if (v.kind == Value::Kind::reg) continue;
      std::vector<Value> tried = values;
      const Value kept = plain(v);
      tried[k].kind = Value::Kind::reg;
      tried[k].ref = {.reg = 0};
      const bool enough = b_.out().form_for(name, tried) != nullptr;
      if (!enough && k > 0) continue;
      v.ref = b_.out().in_register(kept);
      v.kind = Value::Kind::reg;
      return;
    }
  }

  Instruction& append(Instruction i, const Instruction& like) {
    i.copy = like.copy;
    i.remakes = like.remakes;
    std::vector<Instruction>& code = p_.blocks[b_.out().block()].code;
    code.push_back(std::move(i));
    return code.back();
  }

  static void clear(Instruction& i, std::string_view field) {
    const int at = i.code.form->field(field);
    if (at < 0) return;
    for (const auto& [value, word] : i.code.form->fields[static_cast<std::size_t>(at)]->values)
      if (word.empty()) i.code.fields[static_cast<std::size_t>(at)] = static_cast<std::uint16_t>(value);
  }

  void drop(const Instruction&) {}

  // ---- moves ----

  void move(const Instruction& i) {
    const Value v = sources(i)[0];
    const bool number = v.kind == Value::Kind::number || v.kind == Value::Kind::address;
    Instruction& made = !number           ? b_.emit("MOV", result(i), {v})
                        : v.is_number() && v.bits == 0 ? b_.emit("MOV", result(i), {zero()})
                                          : b_.emit("MOV32I", result(i), {v});
    made.copy = i.copy;
    made.remakes = i.remakes;
  }

  // ---- sums ----

  void three_terms(const Instruction& i) {
    const std::vector<Value> v = sources(i);
    const Ref carry = result(i, "Pcarry0"), second = result(i, "Pcarry1");
    if (!carry && !second) return b_.add_three(result(i), v[0], v[1], v[2]);
    low_word(i, carry, second);
  }
  void scaled(const Instruction& i) {
    if (const Ref carry = result(i, "Pd")) return low_word(i, carry, {});
    const std::vector<Value> v = sources(i);
    b_.add_shifted(result(i), v[0], v[1], shift_of(i));
  }
  void scaled_high(const Instruction& i) {
    std::vector<Value> v = sources(i);
    const unsigned n = shift_of(i);
    if (result(i, "Pd")) throw GivenUp{"a carry of the upper word of a sum"};
    if (i.code.field("sx32") != 0) {
      const Ref high = b_.temporary();
      b_.shift_right(high, plain(v[0]), 32 - n, true);
      Value top = value_of(high);
      if (v[0].negated) throw GivenUp{"the upper word of a negated product"};
      b_.add(result(i), top, v[1]);
      return;
    }
    b_.out().set_number(b_.emit("LEA.HI", result(i), {v[0], v[1], v[2]}), "shift", n);
  }

  // The low word of a sum of 64 bits: `carry` (and `second`) are read by who makes the high word, mostly the
  // next instruction.
  void low_word(const Instruction& low, const Ref& carry, const Ref& second) {
    const std::size_t high = reader_of(at_, low, carry);
    const bool pair = high != 0 && is_high_word(old_[high]) && uses_[carry.reg] == 1 &&
                      (!second || (reads(old_[high], second) && uses_[second.reg] == 1)) &&
                      adds_carry_plainly(old_[high]) && goes_on_plainly(high) &&
                      (!second || !result(old_[high], "Pcarry0"));
    if (!pair) return apart(low, carry, second);
    done_[high] = true;
    both_words(low, old_[high]);
    // Sums of more words go on with the carry.
    for (std::size_t at = high; const Ref more = result(old_[at], "Pcarry0");) {
      at = reader_of(at, old_[at], more);
      done_[at] = true;
      add_high(result(old_[at]), high_terms(old_[at]), bool(result(old_[at], "Pcarry0")));
    }
  }
  // Moves between the words of a sum go in front of it, where they may.
  void gather_sums() {
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
  // The next instruction that reads a predicate of `writer`, which stands at `from`, if it may be made here:
  // with the same guard, and nothing between has to do with what it reads and writes. 0: there is none.
  std::size_t reader_of(std::size_t from, const Instruction& writer, const Ref& p) const {
    constexpr std::size_t farthest = 12;
    for (std::size_t k = from + 1; k < old_.size() && k <= from + farthest; ++k) {
      if (!reads(old_[k], p)) continue;
      const bool same = old_[k].guard == writer.guard && old_[k].code.guard_negated == writer.code.guard_negated;
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
  // Of the same sum: it is made before.
  bool is_carry_chain(const Instruction& earlier, const Instruction& later) const {
    const Ref carry = result(earlier, "Pcarry0");
    return carry && reads(later, carry);
  }
  static bool is_high_word(const Instruction& i) {
    const std::string_view name = i.code.mnemonic();
    return name == "IADD3.X" || name == "LEA.HI.X";
  }
  static bool adds_carry_plainly(const Instruction& i) {
    for (const std::string_view name : {"Pcin0", "Pcin1", "Pcin"})
      if (const Condition c = condition(i, name); c.ref && c.inverted) return false;
    return !result(i, "Pcarry1") && !result(i, "Pd");
  }
  // Whether the carry of a high word, if it has one, goes to one that may be made here, and so on.
  bool goes_on_plainly(std::size_t high) const {
    const Ref carry = result(old_[high], "Pcarry0");
    if (!carry) return true;
    const std::size_t next = reader_of(high, old_[high], carry);
    return next != 0 && uses_[carry.reg] == 1 && old_[next].code.mnemonic() == "IADD3.X" &&
           condition(old_[next], "Pcin0").ref == carry && is_false(condition(old_[next], "Pcin1")) &&
           adds_carry_plainly(old_[next]) && goes_on_plainly(next);
  }

  struct Terms {
    std::vector<Value> values;  // at most three
    unsigned shift = 0;         // of the first one
    bool scaled = false;
  };
  Terms terms_of(const Instruction& i) const {
    Terms out;
    const std::string_view name = i.code.mnemonic();
    out.scaled = name.starts_with("LEA");
    if (out.scaled) out.shift = shift_of(i);
    std::vector<Value> v = sources(i);
    for (std::size_t k = 0; k < v.size(); ++k) {
      v[k].negated = v[k].negated || std::exchange(v[k].inverted, false);
      const bool nothing = v[k].is_zero_register() || (v[k].is_number() && v[k].bits == 0);
      // A negated 0 of a low word carries: it stays.
      if (out.scaled || !nothing || v[k].negated) out.values.push_back(v[k]);
    }
    return out;
  }

  // Writes results at the end if a source of the high word is the low result.
  void both_words(const Instruction& low, const Instruction& high) {
    Ref d = result(low);
    bool read = false;
    if (d) read = reads(high, d);
    const Ref kept = d;
    if (d && read) d = b_.temporary();
    emit_pair(low, high, d);
    if (kept && read) b_.out().move(kept, value_of(d));
  }

  void emit_pair(const Instruction& low, const Instruction& high, Ref d) {
    Terms a = terms_of(low);
    const Ref top = result(high);
    if (a.scaled && high.code.mnemonic() == "LEA.HI.X" && scaled_pair(a, high, d, top)) return;
    const Terms b = high_terms(high);
    if (a.scaled) {
      if (b.values.size() > 3) throw GivenUp{"a sum of 64 bits of this kind"};
      b_.add_shifted(d, a.values[0], a.values[1], a.shift, {.out = true});
      return add_high(top, b, bool(result(high, "Pcarry0")));
    }
    while (a.values.size() < 2) a.values.push_back(zero());
    if (a.values.size() == 2) {
      b_.add(d, a.values[0], a.values[1], {.out = true});
      return add_high(top, b, bool(result(high, "Pcarry0")));
    }
    // Three terms: two sums after another.
    if (b.values.size() != 3) throw GivenUp{"a sum of 64 bits of this kind"};
    const Ref first = b_.temporary(), upper = b_.temporary();
    b_.add(first, a.values[0], a.values[1], {.out = true});
    b_.add(upper, b.values[0], b.values[1], {.in = true});
    b_.add(d, value_of(first), a.values[2], {.out = true});
    b_.add(top, value_of(upper), b.values[2], {.in = true});
  }
  // The terms of a high word in their places: those that are nothing count, since a low word stands for each.
  Terms high_terms(const Instruction& high) {
    Terms out;
    for (Value v : sources(high)) {
      v.negated = v.negated || std::exchange(v.inverted, false);
      out.values.push_back(v);
    }
    if (high.code.mnemonic() != "LEA.HI.X") return out;
    // The upper word of the shifted pair
    const unsigned n = shift_of(high);
    const bool extended = high.code.field("sx32") != 0;
    const Value low = plain(out.values[0]);
    Value top;
    if (extended) {
      top = b_.shifted_right(low, n == 0 ? 31 : 32 - n, true);
    } else if (out.values[2].is_zero_register() && n > 0) {
      top = b_.shifted_right(low, 32 - n, false);
    } else {
      const Ref upper = b_.temporary();
      b_.out().set_number(b_.emit("LEA.HI", upper, {low, zero(), out.values[2]}), "shift", n);
      top = value_of(upper);
    }
    top.negated = out.values[0].negated;
    out.values = {top, out.values[1]};
    return out;
  }
  void add_high(Ref top, const Terms& b, bool carries) {
    std::vector<Value> left;
    for (const Value& v : b.values)
      if (!(v.is_zero_register() || (v.is_number() && v.bits == 0)) || v.negated) left.push_back(v);
    while (left.size() < 2) left.push_back(zero());
    if (left.size() == 2) return b_.add(top, left[0], left[1], {.in = true, .out = carries});
    if (carries) throw GivenUp{"a sum of more than 64 bits and more than two values"};
    const Ref t = b_.temporary();
    b_.add(t, left[0], left[1], {.in = true});
    b_.add(top, value_of(t), left[2]);
  }

  // LEA and LEA.HI.X. False: other instructions are better.
  bool scaled_pair(const Terms& a, const Instruction& high, Ref d, Ref top) {
    const std::vector<Value> v = sources(high);
    const bool plainly = !a.values[0].negated && v[0].plain() && v[1].plain() && v[2].plain();
    if (high.code.field("sx32") != 0 || v[2].is_zero_register() || !plainly) return false;
    b_.out().set_number(b_.emit("LEA", d, {a.values[0], a.values[1]}, {{"cc", "CC"}}), "shift", a.shift);
    b_.out().set_number(b_.emit("LEA.HI", top, {v[0], v[1], v[2]}, {{"x", "X"}}), "shift", shift_of(high));
    return true;
  }

  // The two words stand apart: the carry as a predicate. It is what the sum of two numbers is below the first
  // one, or that the difference does not borrow.
  void apart(const Instruction& low, const Ref& carry, const Ref& second) {
    const Terms a = terms_of(low);
    if (second || a.values.size() > 2) throw GivenUp{"a sum of three values whose carries are needed elsewhere"};
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
      Instruction& p = b_.emit("ISETP", {}, {x, plain(other).is_number() ? fitting("ISETP", x, plain(other)) : plain(other)},
                               {{"cmp", "GE"}, {"u32", "U32"}, {"bool", "AND"}});
      b_.out().set_result(p, "Pd", carry);
      return b_.add(result(low), x, other);
    }
    const Ref t = b_.temporary();
    b_.add(t, x, other);
    Instruction& p = b_.emit("ISETP", {}, {value_of(t), x}, {{"cmp", "LT"}, {"u32", "U32"}, {"bool", "AND"}});
    b_.out().set_result(p, "Pd", carry);
    if (result(low)) b_.out().move(result(low), value_of(t));
  }
  Value fitting(std::string_view name, const Value& first, const Value& number) {
    return b_.number_or_literal(name, {first, number}, 1);
  }

  // A high word whose low one is elsewhere.
  void high_word(const Instruction& i) {
    if (result(i, "Pcarry0") || result(i, "Pcarry1") || result(i, "Pd"))
      throw GivenUp{"a sum of more than 64 bits"};
    const Condition c = i.code.form->operand("Pcin0") >= 0 ? condition(i, "Pcin0") : condition(i, "Pcin");
    if (const Condition other = condition(i, "Pcin1"); other.ref || is_true(other) != (i.code.form->operand("Pcin1") < 0))
      throw GivenUp{"two carries from elsewhere"};
    const Terms b = high_terms(i);
    // The carry as a number; a complement is -x - 1.
    const Ref one = b_.temporary();
    Instruction& select = b_.emit("SEL", one, {zero(), number(1)});
    b_.out().set_condition(select, "Pc", {c.ref, !c.inverted});
    std::uint32_t less = 0;
    for (const Value& v : b.values) less += v.negated ? 1 : 0;
    Value sum = value_of(one);
    if (less != 0) {
      const Ref t = b_.temporary();
      b_.add(t, sum, number(0u - less));
      sum = value_of(t);
    }
    std::vector<Value> left;
    for (const Value& v : b.values)
      if (!(v.is_zero_register() || (v.is_number() && v.bits == 0))) left.push_back(v);
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

  // ---- products ----

  void product(const Instruction& i) {
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

  void high_product(const Instruction& i) {
    const std::vector<Value> v = sources(i);
    if (result(i, "Pd") || !v[2].is_zero_register()) return wide_into(i, {}, result(i));
    b_.multiply_high(result(i), v[0], v[1], i.code.field("u32") != 0);
  }

  void wide_product(const Instruction& i) {
    const Ref d = result(i);
    wide_into(i, part_of(d, 0), part_of(d, 1));
  }

  // low:high = a * b + c
  void wide_into(const Instruction& i, Ref low, Ref high) {
    if (result(i, "Pd")) throw GivenUp{"a product with a carry"};
    const std::vector<Value> v = sources(i);
    Value a = v[0], b = v[1], c = v[2];
    if (known_number(a) && !known_number(b)) std::swap(a, b);
    const bool is_signed = i.code.field("u32") != 0;
    if (a.negated || b.negated || c.negated || c.inverted) throw GivenUp{"a negated product of 64 bits"};
    Value c_low = c, c_high = c;
    bool nothing = c.is_zero_register() || (c.is_number() && c.bits == 0);
    if (nothing) c_low = c_high = zero();
    if (!nothing) {
      if (c.kind == Value::Kind::reg && c.ref.count == 1) {
        c_low = value_of(part_of(c.ref, 0));
        c_high = value_of(part_of(c.ref, 1));
      } else {
        c_low = half_of(c, false);
        c_high = half_of(c, true);
        if (c.kind == Value::Kind::constant) c_high.offset = c.offset + 4;
        if (c.is_number()) {
          c_low = number(c.bits & 0xffffffffu);
          c_high = number(c.wide ? c.bits >> 32 : (static_cast<std::int32_t>(c.bits) < 0 ? 0xffffffffu : 0u));
        }
      }
    }
    // Sources may be where the result goes: results last.
    const auto clashes = [&](const Ref& r) {
      for (const Value& x : {a, b, c_high})
        if (x.kind == Value::Kind::reg && x.ref && r && x.ref.reg == r.reg && x.ref.part == r.part) return true;
      return false;
    };
    const Ref wanted = low;
    const bool later = low && clashes(low);
    if (!low || later) low = b_.temporary();
    const auto known = known_number(b);
    if (known && std::has_single_bit(*known) && *known < 1u << 16) {
      const auto n = static_cast<unsigned>(std::countr_zero(*known));
      const Value x = b_.out().as_register(a);
      const Value above = n != 0 ? b_.shifted_right(x, 32 - n, is_signed)
                          : is_signed ? b_.shifted_right(x, 31, true)
                                      : zero();
      if (nothing) {
        if (n == 0)
          b_.out().move(low, x);
        else
          b_.shift_left(low, x, n);
        b_.out().move(high, above);
      } else {
        b_.add_shifted(low, x, c_low, n, {.out = true});
        b_.add(high, above, c_high, {.in = true});
      }
    } else if (nothing) {
      const auto [first, top] = b_.multiply_wide(a, b, is_signed);
      b_.out().move(low, first);
      b_.out().move(high, top);
    } else {
      const auto [first, top] = b_.multiply_wide(a, b, is_signed);
      b_.add(low, first, c_low, {.out = true});
      b_.add(high, top, c_high, {.in = true});
    }
    if (later) b_.out().move(wanted, value_of(low));
  }

  // ---- logic, shifts ----

  void logic(const Instruction& i) {
    const auto table = static_cast<unsigned>(
        i.code.operands[static_cast<std::size_t>(i.code.form->operand("lut"))].value);
    std::vector<Value> v = sources(i);
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

  static unsigned fixed(unsigned table, unsigned input, bool value) {
    unsigned out = 0;
    for (unsigned k = 0; k < 8; ++k) {
      const unsigned bit = 1u << (2 - input), from = value ? k | bit : k & ~bit;
      out |= (table >> from & 1u) << k;
    }
    return out;
  }

  void emit_logic(Ref d, Ref p, unsigned table, std::vector<Value>& v) {
    for (unsigned k = 0; k < 3; ++k) {
      const auto bits = known_number(v[k]);
      if (bits && *bits == 0) table = fixed(table, k, false);
      if (bits && *bits == 0xffffffffu) table = fixed(table, k, true);
    }
    std::vector<unsigned> inputs;
    for (unsigned k = 0; k < 3; ++k)
      if (fixed(table, k, false) != fixed(table, k, true)) inputs.push_back(k);
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

  bool two_inputs(Ref d, Ref p, unsigned table, Value a, Value b, const std::vector<unsigned>& inputs) {
    unsigned four = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned index = (k >> 1) << (2 - inputs[0]) | (k & 1u) << (2 - inputs[1]);
      four |= (table >> index & 1u) << k;
    }
    struct Known {
      unsigned table;
      std::string_view op;
      bool not_a, not_b;
    };
    static constexpr Known all[] = {{8, "AND", false, false}, {4, "AND", false, true}, {2, "AND", true, false},
                                    {1, "AND", true, true},   {14, "OR", false, false}, {13, "OR", false, true},
                                    {11, "OR", true, false},  {7, "OR", true, true},   {6, "XOR", false, false},
                                    {9, "XOR", false, true}};
    for (const Known& k : all) {
      if (k.table != four) continue;
      a.inverted = k.not_a;
      b.inverted = k.not_b;
      if (a.kind != Value::Kind::reg) std::swap(a, b);
      if (b.is_number() && !p) {
        const std::uint32_t bits = static_cast<std::uint32_t>(b.bits) ^ (b.inverted ? ~0u : 0u);
        b_.emit("LOP32I", d, {a, number(bits)}, {{"op", k.op}});
        return true;
      }
      if (a.kind != Value::Kind::reg) {
        const bool inverted = std::exchange(a.inverted, false);
        a = b_.out().as_register(a);
        a.inverted = inverted;
      }
      if (b.is_number()) {
        const std::uint32_t bits = static_cast<std::uint32_t>(b.bits) ^ (b.inverted ? ~0u : 0u);
        b = number(bits);
        b = b_.number_or_literal("LOP", {a, b}, 1);
      }
      Instruction& made = b_.emit("LOP", d, {a, b}, {{"op", k.op}});
      if (p) {
        b_.out().set_word(made, {"test", "NZ"});
        b_.out().set_result(made, "Pd", p);
      }
      return true;
    }
    return false;
  }

  void three_inputs(Ref d, Ref p, unsigned table, const std::vector<Value>& v) {
    std::vector<Value> x = v;
    if (p) {
      for (Value& value : x)
        if (value.kind != Value::Kind::reg) value = b_.out().as_register(value);
    }
    // A number or a constant stands in the middle.
    for (const std::size_t k : {std::size_t{0}, std::size_t{2}})
      if (x[k].kind != Value::Kind::reg && x[1].kind == Value::Kind::reg) {
        std::swap(x[k], x[1]);
        table = swapped(table, k == 0 ? 0 : 1, k == 0 ? 1 : 2);
      }
    if (x[1].is_number() && b_.out().form_for("LOP3", x) == nullptr) x[1] = b_.out().as_register(x[1]);
    Instruction& made = b_.emit("LOP3", d, {x[0], x[1], x[2]});
    b_.out().set_number(made, "lut", table);
    if (!p) return;
    b_.out().set_word(made, {"test", "NZ"});
    b_.out().set_result(made, "Pd", p);
  }
  // The table with two of its inputs in each other's places.
  static unsigned swapped(unsigned table, unsigned one, unsigned other) {
    unsigned out = 0;
    for (unsigned k = 0; k < 8; ++k) {
      const unsigned x = k >> (2 - one) & 1u, y = k >> (2 - other) & 1u;
      const unsigned rest = k & ~(1u << (2 - one)) & ~(1u << (2 - other));
      out |= (table >> (rest | y << (2 - one) | x << (2 - other)) & 1u) << k;
    }
    return out;
  }

  void shift(const Instruction& i) {
    std::vector<Value> v = sources(i);
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
    const Value amount = by.is_number() ? number(wraps ? by.bits & most : std::min<std::uint64_t>(by.bits, most + 1))
                                        : b_.out().as_register(by);
    const Value order[] = {a, amount, c};
    for (const machine::Form* form : b_.out().forms("SHF"))
      if (auto out = b_.out().with_form(i, *form, order, left_out)) {
        b_.out().set_word(append(std::move(*out), i), {"type", !wide ? "" : is_signed ? "S64" : "U64"});
        return;
      }
    throw GivenUp{"a shift of a pair of this kind"};
  }

  void reverse(const Instruction& i) {
    b_.emit("BFE", result(i), {b_.out().as_register(sources(i)[0]), number(0x2000)},
            {{"u32", "U32"}, {"brev", "BREV"}});
  }
  void magnitude(const Instruction& i) {
    Value v = sources(i)[0];
    v.absolute = true;
    b_.emit("I2I", result(i), {v}, {});
    set_types(6, 6);
  }
  // Codes of integer types: the size, and 4 if they are signed.
  void set_types(unsigned to, unsigned from) {
    Instruction& i = p_.blocks[b_.out().block()].code.back();
    b_.out().set_field(i, "dst", to & 3u);
    b_.out().set_field(i, "src", from & 3u);
    i.code.fields[static_cast<std::size_t>(i.code.form->field("signed"))] = (to & 4u) != 0;
    set_source_sign(i, (from & 4u) != 0);
  }
  // The second field of this name.
  static void set_source_sign(Instruction& i, bool is_signed) {
    bool first = true;
    for (std::size_t f = 0; f < i.code.form->fields.size(); ++f) {
      if (i.code.form->fields[f]->name != "signed") continue;
      if (!std::exchange(first, false)) i.code.fields[f] = is_signed;
    }
  }
  // VABSDIFF: |a - b| + c
  void difference(const Instruction& i) {
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
  // SGXT: the lower bits of a, extended
  void extend(const Instruction& i) {
    std::vector<Value> v = sources(i);
    const bool wraps = i.code.field("w") != 0;
    const FieldWord sign{"u32", i.code.field("u32") != 0 ? "" : "U32"};
    const Value a = b_.out().as_register(v[0]);
    if (const auto bits = known_number(v[1])) {
      const std::uint32_t n = wraps ? *bits & 31u : std::min(*bits, 32u);
      b_.emit("BFE", result(i), {a, number(n << 8)}, {sign});
      return;
    }
    const Ref bits = b_.temporary(), place = b_.temporary();
    if (wraps)
      b_.emit("LOP32I", bits, {b_.out().as_register(v[1]), number(31)}, {{"op", "AND"}});
    else
      b_.emit("IMNMX", bits, {b_.out().as_register(v[1]), number(32)}, {{"u32", "U32"}});
    b_.shift_left(place, value_of(bits), 8);
    b_.emit("BFE", result(i), {a, value_of(place)}, {sign});
  }

  // BMSK: as many ones as b says, from bit a on
  void mask(const Instruction& i) {
    const std::vector<Value> v = sources(i);
    const bool wraps = i.code.field("w") != 0;
    const auto bounded = [&](const Value& x) {
      const Ref t = b_.temporary();
      if (wraps)
        b_.emit("LOP32I", t, {b_.out().as_register(x), number(31)}, {{"op", "AND"}});
      else
        b_.emit("IMNMX", t, {b_.out().as_register(x), number(32)}, {{"u32", "U32"}});
      return value_of(t);
    };
    const Ref place = b_.temporary(), ones = b_.temporary();
    b_.shift_left(place, bounded(v[1]), 8);
    b_.emit("BFE", ones, {b_.out().as_register(number(0xffffffffu)), value_of(place)}, {{"u32", "U32"}});
    b_.emit("SHL", result(i), {value_of(ones), bounded(v[0])}, {});
  }

  // ---- predicates ----

  void predicate_logic(const Instruction& i) {
    if (result(i, "Pd2")) throw GivenUp{"two tables over predicates"};
    const auto table = static_cast<unsigned>(
        i.code.operands[static_cast<std::size_t>(i.code.form->operand("lut"))].value);
    const Condition inputs[3] = {condition(i, "Pa"), condition(i, "Pb"), condition(i, "Pc")};
    unsigned reduced = table;
    for (unsigned k = 0; k < 3; ++k)
      if (!inputs[k].ref) reduced = fixed(reduced, k, !inputs[k].inverted);
    static constexpr std::string_view ops[] = {"AND", "OR", "XOR"};
    const auto apply = [](unsigned op, bool x, bool y) { return op == 0 ? x && y : op == 1 ? x || y : x != y; };
    static constexpr unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}};
    for (const auto& order : orders)
      for (unsigned first = 0; first < 3; ++first)
        for (unsigned second = 0; second < 3; ++second)
          for (unsigned inverted = 0; inverted < 8; ++inverted) {
            // Inputs that are constants: PT in all places beyond those that are read.
            unsigned made = 0;
            for (unsigned k = 0; k < 8; ++k) {
              bool in[3];
              for (unsigned n = 0; n < 3; ++n) {
                const bool value = inputs[order[n]].ref ? (k >> (2 - order[n]) & 1u) != 0 : true;
                in[n] = value != ((inverted >> n & 1u) != 0);
              }
              made |= (apply(second, apply(first, in[0], in[1]), in[2]) ? 1u : 0u) << k;
            }
            if (made != reduced) continue;
            Instruction& set = b_.emit("PSETP", {}, {}, {{"bool2", ops[first]}, {"bool", ops[second]}});
            b_.out().set_result(set, "Pd", result(i, "Pd"));
            static constexpr std::string_view places[] = {"Pa", "Pb", "Pc"};
            for (unsigned n = 0; n < 3; ++n) {
              const Condition& from = inputs[order[n]];
              const bool flips = (inverted >> n & 1u) != 0;
              b_.out().set_condition(set, places[n], {from.ref, from.ref ? from.inverted != flips : flips});
            }
            set.copy = i.copy;
            return;
          }
    throw GivenUp{"a table over predicates"};
  }

  void compare(const Instruction& i) {
    std::vector<Value> v = sources(i);
    if (i.code.field("ex") != 0) return compare_high(i, v);
    if (only_for_high_words(i)) return;
    with_name(i, "ISETP", v);
  }

  // Whether nobody but comparisons of high words that make the low one themselves reads its result.
  bool only_for_high_words(const Instruction& i) {
    const Ref p = result(i, "Pd");
    if (!p || uses_[p.reg] != 1 || result(i, "Pd2")) return false;
    for (std::size_t k = at_ + 1; k < old_.size(); ++k) {
      const Instruction& other = old_[k];
      if (other.code.mnemonic() == "ISETP" && other.code.field("ex") != 0) {
        const std::size_t here = std::exchange(at_, k);
        const bool taken = condition(other, "Pex").ref == p && low_words(other) == &i;
        at_ = here;
        if (taken) return true;
      }
      if (reads(other, p)) return false;
    }
    return false;
  }
  // The comparison of the low words, if it may be made here.
  const Instruction* low_words(const Instruction& high) const {
    const Condition low = condition(high, "Pex");
    if (!low.ref || low.inverted) return nullptr;
    const Instruction* const i = writer_in_block(low.ref);
    if (i == nullptr || i->code.mnemonic() != "ISETP" || i->code.field("ex") != 0) return nullptr;
    const Condition c = condition(*i, "Pc");
    if (word(*i, "bool") != "AND" || !is_true(c) || word(*i, "cmp") != word(high, "cmp")) return nullptr;
    const int at = i->code.form->operand("Pd");
    return i->refs[static_cast<std::size_t>(at)] == low.ref ? i : nullptr;
  }

  void compare_high(const Instruction& i, std::vector<Value>& v) {
    const std::string_view cmp = word(i, "cmp"), is_unsigned = word(i, "u32"), op = word(i, "bool");
    if (const Instruction* low = low_words(i)) {
      const std::vector<Value> words = sources(*low);
      Value right = words[1];
      right.negated = true;
      const Value left = words[0].kind == Value::Kind::reg ? words[0] : b_.out().as_register(words[0]);
      b_.add({}, left, right, {.out = true});
      if (v[1].is_number() && v[1].bits == 0) v[1] = zero();
      if (v[1].is_number()) v[1] = fitting("ISETP", v[0], v[1]);
      Instruction& set = b_.emit("ISETP", {}, {v[0], v[1]},
                                 {{"cmp", cmp}, {"u32", is_unsigned}, {"bool", op}, {"x", "X"}});
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
    Instruction& same = b_.emit("ISETP", {}, {v[0], v[1]}, {{"cmp", "EQ"}, {"u32", is_unsigned}, {"bool", "AND"}});
    b_.out().set_result(same, "Pd", t);
    b_.out().set_condition(same, "Pc", low);
    Instruction& set = b_.emit("ISETP", {}, {v[0], v[1]}, {{"cmp", strict}, {"u32", is_unsigned}, {"bool", "OR"}});
    b_.out().set_condition(set, "Pc", {t, false});
    combine(set, i, op);
  }
  void finish_comparison(Instruction& set, const Instruction& like) {
    if (const Ref p = result(like, "Pd")) b_.out().set_result(set, "Pd", p);
    if (const Ref p = result(like, "Pd2")) b_.out().set_result(set, "Pd2", p);
    b_.out().set_condition(set, "Pc", condition(like, "Pc"));
  }
  // `set` has its own condition: the other one comes with a PSETP.
  void combine(Instruction& set, const Instruction& like, std::string_view op) {
    const Condition c = condition(like, "Pc");
    const bool alone = op == "AND" ? is_true(c) : is_false(c);
    if (alone && !result(like, "Pd2")) return b_.out().set_result(set, "Pd", result(like, "Pd"));
    const Ref t = b_.out().new_predicate();
    b_.out().set_result(set, "Pd", t);
    Instruction& both = b_.emit("PSETP", {}, {}, {{"bool2", "AND"}, {"bool", op}});
    b_.out().set_condition(both, "Pa", {t, false});
    finish_comparison(both, like);
  }

  // ---- floats ----

  // FADD, FMUL: a number that does not fit has an instruction of its own.
  void float_sum(const Instruction& i) {
    const std::vector<Value> v = sources(i);
    const std::string name(i.code.mnemonic());
    const bool plain_rounding = word(i, "rnd").empty() && word(i, "sat").empty() && no_scale(i);
    for (std::size_t k = 0; k < 2; ++k) {
      const Value &x = v[k], &other = v[1 - k];
      if (!x.is_number() || x.bits == 0 || other.kind != Value::Kind::reg || !plain_rounding) continue;
      if (b_.out().form_for(name, std::vector<Value>{other, x}) != nullptr) continue;
      Value first = other;
      std::uint32_t bits = static_cast<std::uint32_t>(x.bits);
      if (x.absolute) bits &= 0x7fffffffu;
      if (x.negated) bits ^= 0x80000000u;
      if (name == "FMUL" && first.negated) {
        bits ^= 0x80000000u;
        first.negated = false;
      }
      if (name == "FMUL" && first.absolute) break;
      b_.emit(name + "32I", result(i), {first, number(bits)}, {{"ftz", word(i, "ftz")}});
      return;
    }
    float_product(i);
  }
  static bool no_scale(const Instruction& i) { return word(i, "scale").empty(); }

  // FMUL, FFMA, DMUL, DFMA: one sign of the product, no absolute values
  void float_product(const Instruction& i) {
    std::vector<Value> v = sources(i);
    const std::string_view name = i.code.mnemonic();
    if (name == "FMUL" || name == "FFMA" || name == "DMUL" || name == "DFMA") {
      const bool wide = name.starts_with('D');
      for (std::size_t k = 0; k < v.size(); ++k)
        if (v[k].absolute) v[k] = absolute(v[k], wide);
      const bool negated = v[0].negated != v[1].negated;
      v[0].negated = v[1].negated = false;
      if (v[0].kind != Value::Kind::reg || v[0].is_zero_register()) std::swap(v[0], v[1]);
      v[1].negated = negated;
    } else if ((name == "FADD" || name == "DADD") && v[0].kind != Value::Kind::reg) {
      std::swap(v[0], v[1]);
    }
    with_name(i, name, v);
  }
  Value absolute(Value v, bool wide) {
    const bool negated = std::exchange(v.negated, false);
    Value nothing = zero();
    nothing.negated = true;
    const Ref t = b_.temporary(wide ? 2 : 1);
    if (v.kind != Value::Kind::reg) {
      const Value kept = plain(v);
      v = b_.out().as_register(kept);
      v.absolute = true;
    }
    b_.emit(wide ? "DADD" : "FADD", t, {v, nothing}, {});
    Value out = value_of(t);
    out.negated = negated;
    return out;
  }

  void float_select(const Instruction& i) {
    std::vector<Value> v = sources(i);
    if (!word(i, "ftz").empty()) {
      // A sum with -0 flushes.
      const Condition which = condition(i, "sel");
      if (which.ref) throw GivenUp{"a choice of floats that flushes"};
      Value nothing = zero();
      nothing.negated = true;
      b_.emit("FADD", result(i), {in_register(v[which.inverted ? 1 : 0]), nothing}, {{"ftz", "FTZ"}});
      return;
    }
    for (Value& x : v)
      if (!x.plain()) {
        if (x.is_number()) {
          std::uint32_t bits = static_cast<std::uint32_t>(x.bits);
          if (x.absolute) bits &= 0x7fffffffu;
          if (x.negated) bits ^= 0x80000000u;
          x = number(bits);
          continue;
        }
        const bool flips = std::exchange(x.negated, false), clears = std::exchange(x.absolute, false);
        Value y = b_.out().as_register(x);
        const Ref t = b_.temporary();
        if (clears) b_.emit("LOP32I", t, {y, number(0x7fffffffu)}, {{"op", "AND"}});
        if (flips) b_.emit("LOP32I", t, {clears ? value_of(t) : y, number(0x80000000u)}, {{"op", "XOR"}});
        x = value_of(t);
      }
    Condition c = condition(i, "sel");
    if (v[0].kind != Value::Kind::reg) {
      std::swap(v[0], v[1]);
      c.inverted = !c.inverted;
    }
    make_fit("SEL", v);
    Instruction& made = b_.emit("SEL", result(i), {v[0], v[1]});
    b_.out().set_condition(made, "Pc", c);
  }

  void choose(const Instruction& i) {
    std::vector<Value> v = sources(i);
    if (chooses_word(i, v)) return;
    Condition c = condition(i, "Pc");
    if (v[0].kind != Value::Kind::reg && !(v[0].is_number() && v[0].bits == 0)) {
      std::swap(v[0], v[1]);
      c.inverted = !c.inverted;
    }
    make_fit("SEL", v);
    Instruction& made = b_.emit("SEL", result(i), {v[0], v[1]});
    b_.out().set_condition(made, "Pc", c);
  }

  // DSETP.MIN says which of two doubles it is and whether both are NaN, for who chooses the words by it: all of
  // it becomes DMNMX.
  void compare_doubles(const Instruction& i) {
    const std::string_view cmp = word(i, "cmp");
    if (cmp != "MIN" && cmp != "MAX") return float_product(i);
    const Ref first = result(i, "Pd"), both = result(i, "Pd2");
    if (i.guarded() || !first || !both) throw GivenUp{"a minimum of doubles of this kind"};
    const std::vector<Value> v = sources(i);
    const Ref d = b_.temporary(2);
    Instruction& out = b_.emit("DMNMX", d, {v[0], v[1]});
    b_.out().set_condition(out, "min", {{}, cmp == "MAX"});
    extrema_.push_back({first.reg, v[0].ref, d});
    settled_.push_back(both.reg);
  }
  // SEL of a word by such a predicate
  bool chooses_word(const Instruction& i, const std::vector<Value>& v) {
    const Condition c = condition(i, "Pc");
    for (const Extremum& e : extrema_) {
      if (!c.ref || c.ref.reg != e.predicate) continue;
      b_.out().move(result(i), value_of(part_of(e.result, v[0].ref == part_of(e.operand, 0) ? 0 : 1)));
      return true;
    }
    return false;
  }

  void check_division(const Instruction& i) {
    std::vector<Value> v = sources(i);
    v[0] = in_register(v[0]);
    make_fit("FCHK", v);
    b_.out().set_result(b_.emit("FCHK", {}, {v[0], v[1]}, {}), "Pd", result(i, "Pd"));
  }

  // A half as a float: -0 is added.
  void half_sum(const Instruction& i) {
    const std::vector<Value> v = sources(i);
    const std::size_t from = v[0].is_zero_register() ? 1 : 0;
    if (word(i, "f32").empty() || !v[1 - from].is_zero_register() || v[from].kind != Value::Kind::reg)
      return same(i);
    constexpr std::uint8_t low = 2, high = 3;
    if (v[from].half != low && v[from].half != high) throw GivenUp{"a conversion of a pair of halves"};
    Value x = v[from];
    x.half = 0;
    Instruction& out = b_.emit("F2F", result(i), {x}, {});
    constexpr unsigned f16 = 1, f32 = 2;
    b_.out().set_field(out, "dst", f32);
    b_.out().set_field(out, "src", f16);
    if (v[from].half == high) b_.out().set_field(out, "h1", 1);
  }

  // MUFU takes what RRO makes of angles, instead of turns; and of exponents.
  void special(const Instruction& i) {
    std::vector<Value> v = sources(i);
    const std::string_view op = word(i, "op");
    if (op == "TANH") throw GivenUp{"a hyperbolic tangent on this generation"};
    if (op == "SQRT") {
      // 1 / (1 / sqrt(x))
      const Ref t = b_.temporary();
      b_.emit("MUFU", t, {in_register(v[0])}, {{"op", "RSQ"}});
      b_.emit("MUFU", result(i), {value_of(t)}, {{"op", "RCP"}});
      return;
    }
    if (op == "SIN" || op == "COS") {
      constexpr std::uint32_t turns_a_radian = 0x3e22f983u;
      const Instruction* const by = v[0].kind == Value::Kind::reg && v[0].plain() ? writer_in_block(v[0].ref) : nullptr;
      std::optional<Value> angle;
      if (by != nullptr && by->code.mnemonic() == "FMUL") {
        const std::vector<Value> factors = sources(*by);
        for (const std::size_t k : {std::size_t{0}, std::size_t{1}})
          if (factors[k].is_number() && static_cast<std::uint32_t>(factors[k].bits) == turns_a_radian &&
              factors[k].plain())
            angle = factors[1 - k];
      }
      if (!angle) throw GivenUp{"turns that are not made of an angle"};
      const Ref t = b_.temporary();
      b_.emit("RRO", t, {*angle}, {{"op", "SINCOS"}});
      v[0] = value_of(t);
    }
    if (op == "EX2") {
      const Ref t = b_.temporary();
      b_.emit("RRO", t, {v[0]}, {{"op", "EX2"}});
      v[0] = value_of(t);
    }
    v[0] = in_register(v[0]);
    with_name(i, "MUFU", v);
  }
  Value in_register(Value v) {
    if (v.kind == Value::Kind::reg) return v;
    const Value kept = plain(v);
    Value out = b_.out().as_register(kept);
    out.negated = v.negated;
    out.absolute = v.absolute;
    return out;
  }

  // Conversions have their types as numbers in fields of the same codes.
  void convert(const Instruction& i) {
    const std::string_view base = base_mnemonic(i.code);
    std::string name(base);
    const bool rounds = base == "FRND";
    if (rounds) name = "F2F.ROUND";
    std::vector<Value> v = sources(i);
    if (v[0].half != 0 || v[0].part > 1) throw GivenUp{"a part of a register that is converted"};
    const bool upper = v[0].part == 1;
    v[0].part = 0;
    if (v[0].is_number() && v[0].bits != 0) v[0] = in_register(v[0]);
    if (v[0].is_number()) v[0] = zero();
    if (v[0].wide && v[0].kind == Value::Kind::reg && v[0].ref.count == 1) v[0].ref.count = 2;
    const bool byte = base == "F2I" && i.code.field("dst") == 0;
    const Ref d = byte ? b_.temporary() : result(i);
    Instruction& out = b_.emit(name, d, {v[0]}, {});
    b_.out().set_field(out, "dst", byte ? 2 : i.code.field("dst"));
    b_.out().set_field(out, "src", i.code.field("src"));
    if (out.code.form->field("ftz") >= 0) b_.out().set_field(out, "ftz", i.code.field("ftz"));
    if (out.code.form->field("rnd") >= 0) b_.out().set_field(out, "rnd", i.code.field("rnd"));
    if (i.code.form->field("sat") >= 0) b_.out().set_field(out, "sat", i.code.field("sat"));
    if (base == "F2I" || base == "I2F") {
      b_.out().set_field(out, "signed", i.code.field("signed"));
      // Bytes instead of parts
      if (const unsigned sub = i.code.field("sub"); sub != 0)
        b_.out().set_field(out, "sub", sub * (i.code.field("src") == 1 ? 2 : 1));
    }
    if (upper) b_.out().set_field(out, "h1", 1);
    if (!byte) return;
    // Bytes are bounded by themselves.
    const bool is_signed = i.code.field("signed") != 0;
    const FieldWord sign{"u32", is_signed ? "" : "U32"};
    if (is_signed) {
      const Ref t = b_.temporary();
      Instruction& most = b_.emit("IMNMX", t, {value_of(d), number(0u - 128)}, {sign});
      b_.out().set_condition(most, "min", never());
      b_.emit("IMNMX", result(i), {value_of(t), number(127)}, {sign});
    } else {
      b_.emit("IMNMX", result(i), {value_of(d), number(255)}, {sign});
    }
  }

  // ---- memory ----

  void load(const Instruction& i) {
    Instruction& out = with_name(i, i.code.mnemonic());
    const std::string_view order = word(i, "sem");
    if (out.code.form->field("cache") < 0) return;
    if (order == "CONSTANT") b_.out().set_word(out, {"cache", "CI"});
    if (order == "STRONG" || order == "MMIO") b_.out().set_word(out, {"cache", "CV"});
  }
  // The words of its sizes stand elsewhere.
  void shared_load(const Instruction& given) {
    Instruction i = given;
    const unsigned size = i.code.field("size"), u = i.code.field("u");
    if (u != 0) throw GivenUp{"a load of shared memory of this kind"};
    clear(i, "size");
    b_.out().set_field(with_name(i, "LDS"), "size", size);
  }
  // LDC: mostly with a register in the place
  void load_constant(const Instruction& i) {
    const int at = i.code.form->operand("c");
    const machine::Operand& from = i.code.operands[static_cast<std::size_t>(at)];
    Value c = parameter(static_cast<std::uint32_t>(from.value));
    c.bank = from.number;
    const Ref index = i.refs[static_cast<std::size_t>(at)];
    if (c.bank == 0 && index)
      c.offset = c.offset - machine::launch_slots(selected_as(b_.generation())).parameters +
                 machine::launch_slots(b_.generation()).parameters;
    else if (c.bank == 0)
      c.offset = place_of(c.offset);
    Instruction& out = b_.emit("LDC", result(i), {c}, {{"size", word(i, "size")}});
    const auto place = static_cast<std::size_t>(out.code.form->operand("c"));
    out.refs[place] = index;
    out.code.operands[place].base = from.base;
    out.remakes = i.remakes;
  }
  void store(const Instruction& i) {
    Instruction& out = with_name(i, i.code.mnemonic());
    const std::string_view order = word(i, "sem");
    if (order == "STRONG" || order == "MMIO") b_.out().set_word(out, {"cache", "WT"});
  }
  void atomic(const Instruction& given) {
    Instruction i = given;
    const std::string_view type = word(i, "type");
    clear(i, "type");
    const std::string_view base = base_mnemonic(i.code);
    Instruction& out = with_name(i, base == "ATOMG" ? "ATOM" : base);
    if (!type.empty()) b_.out().set_word(out, {"type", type == "64" ? "U64" : type});
  }
  // The value to compare with and the new one side by side
  void swap(const Instruction& given) {
    Instruction i = given;
    const bool wide = word(i, "type") == "64";
    if (!wide && !word(i, "type").empty()) throw GivenUp{"an exchange of more than 64 bits"};
    clear(i, "type");
    const std::vector<Value> v = sources(i);
    const unsigned each = wide ? 2 : 1;
    const Ref both = b_.temporary(2 * each);
    for (unsigned k = 0; k < 2; ++k)
      for (unsigned w = 0; w < each; ++w) {
        Value x = v[k];
        if (wide && x.kind == Value::Kind::reg && x.ref) x = value_of(part_of(x.ref, w));
        b_.out().move(part_of(both, k * each + w), x);
      }
    const std::string_view name = base_mnemonic(i.code) == "ATOMS" ? "ATOMS.CAS" : "ATOM.CAS";
    Instruction& out = with_name(i, name, {value_of(both)});
    if (wide) b_.out().set_word(out, {"type", "64"});
  }
  void fence(const Instruction& i) {
    const std::string_view scope = word(i, "scope");
    b_.emit("MEMBAR", {}, {},
            {{"scope", scope == "CTA" || scope == "SM" ? "CTA" : scope == "SYS" ? "SYS" : "GL"},
             {"ivalld", scope == "CTA" || scope == "SM" ? "" : "IVALLD"}});
  }
  void counter(const Instruction& i) {
    const int at = i.code.form->operand("sr");
    const machine::Operand& sr = i.code.operands[static_cast<std::size_t>(at)];
    const Ref d = result(i);
    const bool pair = word(i, "w64") != "32";
    for (unsigned k = 0; k < (pair ? 2u : 1u); ++k) {
      if (sr.number == machine::zero_register) {
        b_.out().move(part_of(d, k), zero());
        continue;
      }
      Instruction& out = b_.emit("CS2R", part_of(d, k), {}, {});
      out.code.operands[static_cast<std::size_t>(out.code.form->operand("sr"))].number =
          static_cast<std::uint8_t>(sr.number + k);
    }
  }
  void barrier(const Instruction& i) {
    with_name(i, "BAR");
    if (word(i, "mode") != "ARV") b_.emit("MEMBAR", {}, {}, {{"scope", "CTA"}});
  }

  // ---- where lanes meet ----

  void set_meeting(const Instruction& i) {
    Instruction& out = b_.emit("SSY", {}, {}, {});
    out.target = i.target;
    out.barrier = i.barrier;
  }
  void meet(const Instruction& i) { b_.emit("SYNC", {}, {}, {}).barrier = i.barrier; }
  void refuse(const Instruction& i) { throw GivenUp{std::string(i.code.mnemonic()) + " on this generation"}; }

  Program& p_;
  BundledBuilder b_;
  std::vector<Instruction> old_;  // of this block
  std::vector<bool> done_;        // made earlier
  std::size_t at_ = 0;
  struct Extremum {
    std::uint32_t predicate = 0;
    Ref operand, result;
  };
  std::vector<Extremum> extrema_;
  std::vector<std::uint32_t> settled_;  // predicates that guard nothing any more
  std::vector<std::uint32_t> uses_;  // reads by register
  std::vector<std::optional<std::uint32_t>> numbers_;
};


std::span<const Bundler::Row> Bundler::rows() {
  static constexpr Row all[] = {
      {"MOV", &Bundler::move},
      {"IADD3", &Bundler::three_terms},
      {"IADD3.X", &Bundler::high_word},
      {"LEA", &Bundler::scaled},
      {"LEA.HI", &Bundler::scaled_high},
      {"LEA.HI.X", &Bundler::high_word},
      {"LEA.X", &Bundler::refuse},
      {"IMAD", &Bundler::product},
      {"IMAD.X", &Bundler::refuse},
      {"IMAD.HI", &Bundler::high_product},
      {"IMAD.WIDE", &Bundler::wide_product},
      {"LOP3", &Bundler::logic},
      {"SHF", &Bundler::shift},
      {"BREV", &Bundler::reverse},
      {"IABS", &Bundler::magnitude},
      {"SGXT", &Bundler::extend},
      {"PLOP3", &Bundler::predicate_logic},
      {"ISETP", &Bundler::compare},
      {"FADD", &Bundler::float_sum},
      {"FMUL", &Bundler::float_sum},
      {"FFMA", &Bundler::float_product},
      {"DADD", &Bundler::float_product},
      {"DMUL", &Bundler::float_product},
      {"DFMA", &Bundler::float_product},
      {"DSETP", &Bundler::compare_doubles},
      {"BMSK", &Bundler::mask},
      {"FSEL", &Bundler::float_select},
      {"FCHK", &Bundler::check_division},
      {"HADD2", &Bundler::half_sum},
      {"SEL", &Bundler::choose},
      {"MUFU", &Bundler::special},
      {"F2F", &Bundler::convert},
      {"F2F.64", &Bundler::convert},
      {"F2I", &Bundler::convert},
      {"F2I.64", &Bundler::convert},
      {"I2F", &Bundler::convert},
      {"I2F.64", &Bundler::convert},
      {"FRND", &Bundler::convert},
      {"FRND.64", &Bundler::convert},
      {"LDG", &Bundler::load},
      {"LD", &Bundler::load},
      {"LDS", &Bundler::shared_load},
      {"LDC", &Bundler::load_constant},
      {"VABSDIFF", &Bundler::difference},
      {"STG", &Bundler::store},
      {"ST", &Bundler::store},
      {"ATOM", &Bundler::atomic},
      {"ATOMG", &Bundler::atomic},
      {"ATOMS", &Bundler::atomic},
      {"RED", &Bundler::atomic},
      {"ATOM.CAS", &Bundler::swap},
      {"ATOMG.CAS", &Bundler::swap},
      {"ATOMS.CAS", &Bundler::swap},
      {"MEMBAR", &Bundler::fence},
      {"CS2R", &Bundler::counter},
      {"BAR", &Bundler::barrier},
      {"BSSY", &Bundler::set_meeting},
      {"BSYNC", &Bundler::meet},
      {"WARPSYNC", &Bundler::drop},
      {"YIELD", &Bundler::drop},
      {"NANOSLEEP", &Bundler::drop},
      {"ERRBAR", &Bundler::drop},
      {"CCTL", &Bundler::drop},
      {"MATCH", &Bundler::refuse},
      {"CALL.ABS", &Bundler::refuse},
  };
  return all;
}

}  // namespace

void to_bundles(Program& program, unsigned generation) {
  if (selected_as(generation) == generation) return;
  Bundler(program, generation).run();
  clean(program);
}

}  // namespace simtlab::assembler

#include "assembler/test_bits.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assembler/build.h"

namespace simtlab::assembler {
namespace {

constexpr std::size_t farthest_test = 64;  // instructions between the two

std::size_t place_of(const Instruction& i, const char* operand) {
  return static_cast<std::size_t>(i.code.form->operand(machine::Name(operand)));
}

// x == 0 or x != 0, joined with a condition by `and` or `or`.
struct ZeroTest {
  Ref value, result;
  bool equal = false, either = false;
  Condition with;
};

std::optional<ZeroTest> zero_test(const Instruction& i) {
  constexpr unsigned equal = 2, unequal = 5, joined_by_or = 1;
  if (i.code.mnemonic() != "ISETP" || i.guarded() || i.code.field("ex") != 0 ||
      i.code.field("bool") > joined_by_or)
    return std::nullopt;
  const unsigned compare = i.code.field("cmp");
  if (compare != equal && compare != unequal) return std::nullopt;
  const std::size_t a = place_of(i, "Ra"), p = place_of(i, "Pd"), q = place_of(i, "Pd2"),
                    c = place_of(i, "Pc");
  if (!i.refs[a] || !i.refs[p] || i.refs[q]) return std::nullopt;
  bool zero = false;
  if (const int imm = i.code.form->operand("imm"); imm >= 0)
    zero = i.address == none && i.code.operands[static_cast<std::size_t>(imm)].value == 0;
  if (const int b = i.code.form->operand("Rb"); b >= 0)
    zero = !i.refs[static_cast<std::size_t>(b)] &&
           i.code.operands[static_cast<std::size_t>(b)].number == machine::zero_register;
  ZeroTest out{i.refs[a],
               i.refs[p],
               compare == equal,
               i.code.field("bool") == joined_by_or,
               {i.refs[c], i.code.operands[c].inverted}};
  const bool trivial = !out.with.ref && !out.with.inverted && !out.either;
  return zero && (out.with.ref || trivial) ? std::optional(out) : std::nullopt;
}

class BitTests {
 public:
  explicit BitTests(Program& program)
      : p_(program),
        out_(program, program.generation),
        readers_(program.registers.size(), 0),
        writers_(program.registers.size(), 0),
        flips_(program.registers.size(), true),
        flipped_(program.registers.size(), false) {}

  void run() {
    for (const Block& b : p_.blocks)
      for (const Instruction& i : b.code) count(i);
    for (Block& b : p_.blocks) block(b.code);
    for (Block& b : p_.blocks)
      for (Instruction& i : b.code) flip(i);
  }

 private:
  void count(const Instruction& i) {
    for_each_ref(i, [&](const Ref& r, bool writes) { ++(writes ? writers_ : readers_)[r.reg]; });
    for (std::size_t k = 0; k < i.code.operand_count(); ++k)
      if (i.refs[k] && !i.is_write(k) && i.code.form->operands[k].invert == machine::no_bit)
        flips_[i.refs[k].reg] = false;
  }

  void block(std::vector<Instruction>& code) {
    std::unordered_map<std::uint32_t, std::size_t> made;  // LOP3 by its result
    std::vector<bool> gone(code.size(), false);
    for (std::size_t k = 0; k < code.size(); ++k) {
      if (code[k].code.mnemonic() == "LOP3" && !code[k].guarded() && !code[k].refs[place_of(code[k], "Pd")])
        made[code[k].refs[place_of(code[k], "Rd")].reg] = k;
      const auto test = zero_test(code[k]);
      if (!test) continue;
      const auto at = made.find(test->value.reg);
      if (at == made.end() || !is_only_for(code, at->second, k, *test)) continue;
      replace(code[k], code[at->second], *test);
      gone[at->second] = true;
    }
    std::size_t n = 0;
    std::erase_if(code, [&](const Instruction&) { return gone[n++]; });
  }

  // Nobody else reads its result, and its sources are what they were.
  bool is_only_for(const std::vector<Instruction>& code, std::size_t logic, std::size_t at,
                   const ZeroTest& test) const {
    if (at - logic > farthest_test || p_.registers[test.value.reg].width != 1) return false;
    if (readers_[test.value.reg] != 1 || writers_[test.value.reg] != 1) return false;
    if (test.equal && (writers_[test.result.reg] != 1 || !flips_[test.result.reg])) return false;
    bool same = true;
    for_each_ref(code[logic], [&](const Ref& source, bool writes) {
      if (writes) return;
      for (std::size_t k = logic + 1; k < at; ++k)
        for_each_ref(code[k],
                     [&](const Ref& r, bool written) { same = same && !(written && r.reg == source.reg); });
    });
    return same;
  }

  // Its predicate is `!= 0`, or a condition (PAND: and it). The opposite of a test for 0 is what is made.
  void replace(Instruction& test, const Instruction& logic, const ZeroTest& t) {
    Instruction made = logic;
    const std::size_t d = place_of(made, "Rd");
    made.refs[d] = {};
    made.code.operands[d].number = machine::zero_register;
    out_.set_result(made, "Pd", t.result);
    Condition with = t.with;
    if (t.equal) {
      flipped_[t.result.reg] = true;
      with.inverted = !with.inverted;
    }
    const bool both = bool(with.ref) && t.either == t.equal;
    out_.set_condition(made, "Pc", with.ref ? with : never());
    out_.set_word(made, {"pand", both ? "PAND" : ""});
    made.line = test.line, made.file = test.file, made.source_line = test.source_line;
    test = std::move(made);
  }

  void flip(Instruction& i) const {
    if (i.guard && flipped_[i.guard.reg]) i.code.guard_negated = !i.code.guard_negated;
    for (std::size_t k = 0; k < i.code.operand_count(); ++k)
      if (i.refs[k] && !i.is_write(k) && flipped_[i.refs[k].reg]) {
        i.code.operands[k].inverted = !i.code.operands[k].inverted;
        i.copy = false;
      }
  }

  Program& p_;
  Builder out_;
  std::vector<std::uint32_t> readers_, writers_;  // instructions, by register
  std::vector<bool> flips_;                       // all that read it can read the opposite
  std::vector<bool> flipped_;                     // it is the opposite now
};

}  // namespace

void test_bits(Program& program) { BitTests(program).run(); }

}  // namespace simtlab::assembler

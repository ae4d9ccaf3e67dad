#include "assembler/combine_atomics.h"

#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "assembler/build.h"
#include "assembler/control_effects.h"
#include "assembler/flow.h"
#include "assembler/uniform.h"

namespace simtlab::assembler {
namespace {

constexpr std::uint8_t lane_number = 0x00, lanes_below = 0x39;  // S2R's
constexpr unsigned oldest_with_reductions = 80;

constexpr std::array<std::string_view, 4> atomic_names = {"RED", "ATOM", "ATOMG", "ATOMS"};

std::string_view word_of(const Instruction& i, std::string_view field) {
  const int at = i.code.form->field(machine::Name(field));
  if (at < 0) return {};
  const auto k = static_cast<std::size_t>(at);
  const std::string* const word = i.code.form->fields[k]->word(i.code.fields[k]);
  return word == nullptr ? std::string_view{} : std::string_view(*word);
}

struct Atomic {
  std::size_t value = 0;  // operands
  std::optional<std::size_t> result;
  std::string_view op;
  bool is_signed = false;
};

// Of 32 bits, on one place for all lanes.
std::optional<Atomic> atomic_of(const Instruction& i, const std::vector<bool>& differs) {
  const std::string_view base = base_mnemonic(i.code);
  if (!is_one_of_names(base, atomic_names)) return std::nullopt;
  if (i.code.mnemonic().find("CAS") != std::string::npos || i.beside) return std::nullopt;
  const std::string_view type = word_of(i, "type");
  const int value = i.code.form->operand("Rb"), result = i.code.form->operand("Rd");
  if (value < 0 || (type != "" && type != "S32")) return std::nullopt;
  Atomic out{.value = static_cast<std::size_t>(value), .result = {}, .op = word_of(i, "op")};
  out.is_signed = type == "S32";
  if (!i.refs[out.value] || i.refs[out.value].count != 1) return std::nullopt;
  if (result >= 0 && i.refs[static_cast<std::size_t>(result)]) out.result = static_cast<std::size_t>(result);
  for (std::size_t k = 0; k < i.code.operand_count(); ++k)
    if (i.code.operands[k].kind == machine::OperandKind::memory && i.refs[k] && differs[i.refs[k].reg])
      return std::nullopt;
  return out;
}

class Combining {
 public:
  Combining(Program& program, unsigned generation)
      : p_(program),
        out_(program, program.generation),
        shuffles_(Builder(program, generation).has_form("SHFL")),
        shared_too_(Builder(program, generation).has_form("ATOMS")),
        flow_(program),
        uniform_(find_uniform(program, flow_)) {}

  void run() {
    find_numbers();
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) {
      bool any = false;
      for (const Instruction& i : p_.blocks[b].code) any = any || atomic_of(i, uniform_.differs);
      if (any) rewrite(b);
    }
    std::vector<Instruction>& first = p_.blocks[0].code;
    first.insert(first.begin(), entry_.begin(), entry_.end());
  }

 private:
  void find_numbers() {
    for (const Block& b : p_.blocks)
      for (const Instruction& i : b.code) {
        const std::optional<SourceValues> sources = source_values(i);
        const int d = i.code.form->operand("Rd");
        if (i.code.mnemonic() != "MOV" || d < 0 || !sources || !sources->values[0].is_number()) continue;
        const Ref& result = i.refs[static_cast<std::size_t>(d)];
        if (result && result.count == 1 && i.remakes) numbers_[result.reg] = sources->values[0].bits;
      }
  }

  void rewrite(std::uint32_t block) {
    std::vector<Instruction> before = std::exchange(p_.blocks[block].code, {});
    std::vector<Instruction>& code = p_.blocks[block].code;
    out_.start(block);
    for (Instruction& i : before) {
      const std::optional<Atomic> atomic = atomic_of(i, uniform_.differs);
      const std::size_t first = code.size();
      if (!atomic || !combine(i, *atomic)) code.push_back(i);
      for (std::size_t k = first; k < code.size(); ++k)
        code[k].line = i.line, code[k].file = i.file, code[k].source_line = i.source_line;
    }
  }

  // False: as it is.
  bool combine(const Instruction& i, const Atomic& a) {
    if ((a.result && !shuffles_) || (!shared_too_ && base_mnemonic(i.code) == "ATOMS")) return false;
    const bool same = !uniform_.differs[i.refs[a.value].reg], sums = a.op == "ADD";
    const bool reduces = !a.result && p_.generation >= oldest_with_reductions && !reduction_of(a.op).empty();
    if (a.result ? !(sums && same) || i.guarded() : !(sums && same) && !reduces) return false;
    const Condition given{i.guard, i.code.guard_negated};
    if (i.guarded() && !i.guard) return false;
    if (i.guard) out_.guard(given);
    const Ref lanes = out_.new_register(), leader = out_.new_register();
    out_.emit("VOTE", lanes, {}, {{"mode", "ANY"}});
    Instruction& vote = p_.blocks[out_.block()].code.back();
    out_.set_condition(vote, "Pa", always());
    out_.emit("FLO", leader, {value_of(lanes)}, {{"u32", "U32"}});
    const Ref value = sums && same ? sum_of(lanes, i.refs[a.value]) : reduced(i.refs[a.value], a);
    out_.guard(always());  // what stands at the begin, too
    Instruction one = i;
    one.refs[a.value] = value;
    const Ref lane = special(lane_number), chosen = out_.new_predicate();
    Instruction& is_leader =
        out_.emit("ISETP", {}, {value_of(lane), value_of(leader)}, {{"cmp", "EQ"}, {"u32", "U32"}});
    out_.set_result(is_leader, "Pd", chosen);
    out_.set_condition(is_leader, "Pc", i.guard ? given : always());
    one.guard = chosen;
    one.code.guard_negated = false;
    if (!a.result) {
      p_.blocks[out_.block()].code.push_back(one);
      return true;
    }
    const Ref result = i.refs[*a.result], old = out_.new_register();
    one.refs[*a.result] = old;
    p_.blocks[out_.block()].code.push_back(one);
    return give(result, old, leader, lanes, i.refs[a.value]);
  }

  // What the leader got, and what the lanes below would have added.
  bool give(Ref result, Ref old, Ref leader, Ref lanes, Ref value) {
    const Ref first = out_.new_register(), below = out_.new_register(), rank = out_.new_register();
    Instruction& shuffle =
        out_.emit("SHFL", first, {value_of(old), value_of(leader), number(1)}, {{"mode", "IDX"}});
    out_.set_number(shuffle, "clamp", 0x1f);
    Instruction& both = out_.emit("LOP3", below, {value_of(lanes), value_of(special(lanes_below)), zero()});
    out_.set_number(both, "lut", 0xc0);
    out_.emit("POPC", rank, {value_of(below)});
    if (is_one(value))
      out_.emit("IADD3", result, {value_of(first), value_of(rank), zero()});
    else
      out_.emit("IMAD", result, {value_of(rank), value_of(value), value_of(first)});
    return true;
  }

  bool is_one(Ref value) const {
    const auto n = numbers_.find(value.reg);
    return n != numbers_.end() && n->second == 1;
  }

  Ref sum_of(Ref lanes, Ref value) {
    const Ref count = out_.new_register();
    out_.emit("POPC", count, {value_of(lanes)});
    if (is_one(value)) return count;
    const Ref product = out_.new_register();
    out_.emit("IMAD", product, {value_of(count), value_of(value), zero()});
    return product;
  }

  static std::string_view reduction_of(std::string_view op) {
    if (op == "ADD") return "SUM";
    return op == "MIN" || op == "MAX" || op == "OR" || op == "XOR" ? op : std::string_view{};
  }

  Ref reduced(Ref value, const Atomic& a) {
    Instruction& i = out_.emit("REDUX", {}, {value_of(value)},
                               {{"op", reduction_of(a.op)}, {"s32", a.is_signed ? "S32" : ""}});
    set_uniform_result(i);
    const Ref out = out_.new_register();
    out_.move(out, uniform_register(uniform_result));
    return out;
  }

  // Read where the kernel begins: it is the same in each round of a loop.
  Ref special(std::uint8_t number) {
    Ref& d = specials_[number];
    if (d) return d;
    d = out_.new_register();
    Instruction& i = out_.emit("S2R", d, {});
    i.code.operands[static_cast<std::size_t>(i.code.form->operand("sr"))].number = number;
    std::vector<Instruction>& code = p_.blocks[out_.block()].code;
    entry_.push_back(std::move(code.back()));
    code.pop_back();
    return d;
  }

  Program& p_;
  Builder out_;
  const bool shuffles_, shared_too_;
  const Flow flow_;
  const Uniformity uniform_;
  std::map<std::uint32_t, std::uint64_t> numbers_;
  std::map<std::uint8_t, Ref> specials_;
  std::vector<Instruction> entry_;
};

}  // namespace

void combine_atomics(Program& program, unsigned generation) {
  // Most kernels have none, and what is uniform takes long to find.
  for (const Block& b : program.blocks)
    for (const Instruction& i : b.code)
      if (is_one_of_names(base_mnemonic(i.code), atomic_names)) return Combining(program, generation).run();
}

}  // namespace simtlab::assembler

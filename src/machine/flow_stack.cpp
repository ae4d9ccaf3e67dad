#include "machine/flow_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "machine/bundles.h"

namespace simtlab::machine {
namespace {

constexpr std::size_t most_depth = 16;
constexpr std::uint32_t no_function = 0xffffffffu;

enum class Token : std::uint8_t { sync, brk, cont };
struct Entry {
  Token token = Token::sync;
  std::int64_t target = 0;
  bool operator==(const Entry&) const = default;
};

std::optional<Token> pushed_by(std::string_view name) {
  if (name == "SSY") return Token::sync;
  if (name == "PBK") return Token::brk;
  if (name == "PCNT") return Token::cont;
  return std::nullopt;
}
std::optional<Token> taken_by(std::string_view name) {
  if (name == "SYNC") return Token::sync;
  if (name == "BRK") return Token::brk;
  if (name == "CONT") return Token::cont;
  return std::nullopt;
}
bool is_call(std::string_view name) { return name == "CAL" || name == "JCAL"; }

bool is_unconditional(const Instruction& i) { return i.always() && i.field("test", 15) == 15; }

std::optional<std::int64_t> target_of(const Instruction& i) {
  for (std::size_t k = 0; k < i.operand_count(); ++k)
    if (i.operands[k].kind == OperandKind::target || i.operands[k].kind == OperandKind::absolute)
      return i.operands[k].value;
  return std::nullopt;
}

// What is on the stack before an instruction.
struct State {
  std::uint32_t function = no_function;  // that it is in; none: the kernel
  std::vector<Entry> stack;              // of this function
  bool operator==(const State&) const = default;
};
// By different ways it may be different: code that leaves the places which some ways have pushed. What it
// takes must be the same.
using States = std::vector<State>;
constexpr std::size_t most_states = 8;

class Finder {
 public:
  Finder(std::span<const Instruction> code, const BranchTable& branches,
         std::span<const std::uint32_t> functions, const std::string& kernel)
      : code_(code), branches_(branches), functions_(functions), kernel_(kernel), states_(code.size()) {}

  FlowStack find() {
    if (!needs_one()) return {};
    out_.effects.resize(code_.size());
    reach(0, {});
    for (;;) {
      while (!left_.empty()) {
        const auto [i, state] = std::move(left_.back());
        left_.pop_back();
        step(i, state);
      }
      if (!settle_switch()) break;
    }
    for (std::size_t i = 0; i < code_.size(); ++i)
      if (!states_[i].empty()) number(i);
    return std::move(out_);
  }

 private:
  bool needs_one() const {
    return std::ranges::any_of(code_, [](const Instruction& i) {
      const std::string_view name = i.mnemonic();
      return pushed_by(name) || taken_by(name) || is_call(name) || name == "RET" || name == "PRET";
    });
  }

  [[noreturn]] void refuse(std::size_t at, std::string_view why) const {
    throw Error(ExitCode::unsupported, "machine-instruction",
                fmt::format("{} at 0x{:04x} of kernel {} {}", code_[at].mnemonic(),
                            address_in_file(code_[at].generation, code_[at].address), kernel_, why),
                "run the program's PTX instead (--code ptx), if it has some");
  }

  std::size_t index_of(std::size_t from, std::int64_t address) const {
    const auto at = static_cast<std::size_t>(address / static_cast<std::int64_t>(word_bytes));
    if (address < 0 || address % static_cast<std::int64_t>(word_bytes) != 0 || at >= code_.size())
      refuse(from, "leaves the kernel's code");
    return at;
  }

  void reach(std::size_t at, const State& state) {
    if (at >= code_.size()) return;  // the executor says so
    States& known = states_[at];
    if (std::ranges::find(known, state) != known.end()) return;
    if (!known.empty() && known.front().function != state.function) refuse(at, "belongs to two functions");
    if (known.size() == most_states)
      refuse(at, "is reached with other places on the stack of branches by another way");
    known.push_back(state);
    left_.push_back({at, state});
  }

  static std::size_t deepest(const States& states) {
    std::size_t out = 0;
    for (const State& state : states) out = std::max(out, state.stack.size());
    return out;
  }

  static std::size_t found(const std::vector<Entry>& stack, Token token) {
    std::size_t depth = stack.size();
    while (depth > 0 && stack[depth - 1].token != token) --depth;
    return depth;  // 0: none, else one above its index
  }

  void step(std::size_t i, const State& state) {
    const Instruction& inst = code_[i];
    const std::string_view name = inst.mnemonic();
    State next = state;
    bool goes_on = true;
    const auto always_leaves = [&] { goes_on = !is_unconditional(inst); };
    if (const auto token = pushed_by(name)) {
      next.stack.push_back({*token, target_of(inst).value_or(0)});
      if (next.stack.size() > most_depth) refuse(i, "nests deeper than 16 places of meeting");
    } else if (const auto wanted = taken_by(name)) {
      const std::size_t depth = found(state.stack, *wanted);
      if (depth == 0) refuse(i, "has nowhere to go: nothing was pushed for it");
      State there = state;
      const std::int64_t target = there.stack[depth - 1].target;
      there.stack.resize(depth - 1);
      reach(index_of(i, target), there);
      always_leaves();
    } else if (is_call(name)) {
      if (!calls_driver(inst)) call(i);
    } else if (name == "PRET") {
      call_by_register(i, state);
      goes_on = false;
    } else if (name == "JMX" || name == "BRX") {
      branch_by_register(i, state);
      always_leaves();
    } else if (name == "BRA" || name == "JMP") {
      if (const auto target = target_of(inst)) reach(index_of(i, *target), state);
      always_leaves();
    } else if (name == "RET" || name == "EXIT" || name == "KIL") {
      if (name == "RET" && state.function == no_function) refuse(i, "returns from the kernel itself");
      always_leaves();
    }
    if (goes_on) reach(i + 1, next);
  }

  void call(std::size_t i) {
    const auto target = target_of(code_[i]);
    if (!target) refuse(i, "calls what a register says, which is not executed on this generation");
    const auto entry = static_cast<std::uint32_t>(index_of(i, *target));
    reach(entry, {entry, {}});
  }

  // PRET L; JMX R: calls a function of the driver, and PRET L; BRX R one of the program, which goes on at L.
  void call_by_register(std::size_t i, const State& state) {
    const std::size_t back = index_of(i, target_of(code_[i]).value_or(-1));
    const std::string_view next = i + 1 < code_.size() ? code_[i + 1].mnemonic() : "";
    if ((next != "JMX" && next != "BRX") || !is_unconditional(code_[i]) || !is_unconditional(code_[i + 1]))
      refuse(i, "is no call by a register: no JMX or BRX is behind it");
    if (next == "BRX" && functions_.empty())
      refuse(i, "calls a function by its address, and the file does not say where functions begin");
    for (const std::uint32_t entry : functions_) reach(entry, {entry, {}});
    if (states_[i + 1].empty()) states_[i + 1].push_back(state);
    out_.effects[i + 1].calls = true;
    reach(back, state);
  }

  // Tables of a switch. Where the file does not say where it goes, any place of this function behind it may
  // be meant, and compiled code has the same on the stack at all of them. What no other way leads to is
  // reached with it.
  void branch_by_register(std::size_t i, const State& state) {
    if (const auto known = branches_.find(i); known != branches_.end()) {
      for (const std::size_t target : known->second) reach(target, state);
      return;
    }
    for (std::size_t at = i + 1; at < code_.size(); ++at) {
      const std::string_view before = code_[at - 1].mnemonic();
      const bool begins = code_[at - 1].always() &&
                          (before == "BRA" || before == "EXIT" || before == "SYNC" || before == "BRK" ||
                           before == "BRX" || before == "RET" || before == "CONT");
      if (begins && states_[at].empty()) switches_.try_emplace(at, state);
    }
  }

  // One at a time and in the order of the code: what is reached from there is no target of its own.
  bool settle_switch() {
    while (!switches_.empty()) {
      const auto first = switches_.begin();
      const auto [at, state] = *first;
      switches_.erase(first);
      if (!states_[at].empty()) continue;
      reach(at, state);
      return true;
    }
    return false;
  }

  void number(std::size_t i) {
    const std::string_view name = code_[i].mnemonic();
    const States& states = states_[i];
    const State& state = states.front();
    StackEffect& effect = out_.effects[i];
    if (pushed_by(name)) {
      const std::size_t depth = state.stack.size();
      if (std::ranges::any_of(states, [&](const State& s) { return s.stack.size() != state.stack.size(); }))
        refuse(i, "pushes to other places on the stack of branches by another way");
      effect.barrier = static_cast<std::uint8_t>(depth);
    } else if (const auto wanted = taken_by(name)) {
      const std::size_t depth = found(state.stack, *wanted);
      effect.barrier = static_cast<std::uint8_t>(depth - 1);
      effect.target = state.stack[depth - 1].target;
      // To leave a barrier where lanes are not waited for changes nothing.
      std::size_t leaves = 0;
      for (const State& other : states) {
        if (found(other.stack, *wanted) != depth || other.stack[depth - 1].target != effect.target)
          refuse(i, "takes another place from the stack of branches by another way");
        leaves = std::max(leaves, other.stack.size() - depth);
      }
      effect.leaves = static_cast<std::uint8_t>(leaves);
    } else if (is_call(name) || name == "PRET") {
      effect.barrier = static_cast<std::uint8_t>(deepest(states));
      if (name == "PRET") effect.target = *target_of(code_[i]);
    } else if (name == "RET") {
      effect.leaves = static_cast<std::uint8_t>(deepest(states));
    }
  }

  std::span<const Instruction> code_;
  const BranchTable& branches_;
  std::span<const std::uint32_t> functions_;
  const std::string& kernel_;
  FlowStack out_;
  std::vector<States> states_;
  std::vector<std::pair<std::size_t, State>> left_;
  std::map<std::size_t, State> switches_;  // targets that may be, with what is on the stack there
};

}  // namespace

bool calls_driver(const Instruction& i) {
  return i.mnemonic() == "JCAL" &&
         address_in_file(i.generation, target_of(i).value_or(0)) >= first_driver_call;
}

FlowStack find_flow_stack(std::span<const Instruction> code, const BranchTable& branches,
                          std::span<const std::uint32_t> functions, const std::string& kernel) {
  return Finder(code, branches, functions, kernel).find();
}

}  // namespace simtlab::machine

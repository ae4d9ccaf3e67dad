#include "assembler/predicate.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "assembler/control_effects.h"
#include "assembler/converge.h"

namespace simtlab::assembler {
namespace {

// Instructions of an arm that is guarded, the jump at its end included, as the vendor's assembler does it
// (ptxas 12.9, sm_75 and sm_90, arms of multiply-adds, loads and stores of growing length). Arms that load
// from memory may be long: what they load is then asked for early. So may the other arm of such a one.
constexpr std::size_t longest_arm = 8, longest_with_load = 20, longest_beside_load = 17;
constexpr std::size_t longest_end_of_loop = 7;

// Lanes take part in it together, or it is no plain instruction.
bool needs_all_lanes(const Instruction& i) {
  constexpr std::array<std::string_view, 24> names = {
      "BAR",       "B2R",    "SHFL", "VOTE",  "MATCH",  "REDUX",     "WARPSYNC", "BSSY",
      "BSYNC",     "CALL",   "BPT",  "ELECT", "LDGSTS", "LDSM",      "DEPBAR",   "LDGDEPBAR",
      "NANOSLEEP", "MEMBAR", "R2UR", "CCTL",  "ERRBAR", "CGAERRBAR", "PRET",     "JMX"};
  const std::string_view base = base_mnemonic(i.code);
  return i.code.form->uniform || i.target != none || i.barrier != none || base == "EXIT" || base == "BRA" ||
         is_one_of_names(base, names);
}

class Predication {
 public:
  explicit Predication(Program& program) : p_(program) {}

  void run() {
    ways_.assign(p_.blocks.size(), 0);
    ways_[0] = 1;
    rest_.assign(p_.blocks.size(), none);
    last_.assign(p_.blocks.size(), none);
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) skip_.push_back(b + 1);
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      for (const std::uint32_t to : successors(p_, b)) ++ways_[to];
    // Inner ones first: they lie behind.
    for (std::uint32_t b = static_cast<std::uint32_t>(p_.blocks.size()); b-- > 0;) {
      block(b);
      go_on(b);
    }
    put_together();
  }

 private:
  Block& at(std::uint32_t b) { return p_.blocks[b]; }

  // Where a block goes if it does not branch; none: elsewhere.
  std::uint32_t only_way(std::uint32_t b) {
    const std::vector<Instruction>& code = at(rest_[b] == none ? b : last_[b]).code;
    if (const std::uint32_t next = at(b).next; next != none)
      return code.empty() || code.back().target == none ? next : none;
    if (code.empty() || code.back().target == none || code.back().guarded()) return none;
    return code.back().target;
  }

  // Its instructions, without the branch at the end.
  std::size_t length(std::uint32_t b) {
    const Block& block = at(b);
    return block.code.size() - (block.next == none && !block.code.empty() ? 1 : 0);
  }

  bool loads(std::uint32_t b) {
    return std::ranges::any_of(at(b).code, [](const Instruction& i) {
      constexpr std::array<std::string_view, 3> names = {"LDG", "LD", "LDL"};
      return is_one_of_names(base_mnemonic(i.code), names);
    });
  }
  // With the jump at its end.
  bool is_short(std::uint32_t b, bool beside_load) {
    const std::size_t count = at(b).code.size();
    return count <= longest_arm || (count <= longest_beside_load && beside_load) ||
           (count <= longest_with_load && loads(b));
  }

  bool can_be_guarded(std::uint32_t b, std::uint32_t predicate) {
    if (ways_[b] != 1 || rest_[b] != none) return false;
    const Block& block = at(b);
    for (std::size_t k = 0; k < length(b); ++k) {
      const Instruction& i = block.code[k];
      if (i.guarded() || needs_all_lanes(i)) return false;
      bool changes = false;
      for_each_ref(i,
                   [&](const Ref& r, bool writes) { changes = changes || (writes && r.reg == predicate); });
      if (changes) return false;
    }
    return true;
  }

  void take_in(std::uint32_t into, std::uint32_t body, const Ref& guard, bool negated) {
    const std::size_t count = length(body);
    for (std::size_t k = 0; k < count; ++k) {
      Instruction i = std::move(at(body).code[k]);
      i.guard = guard;
      i.code.guard_negated = negated;
      i.remakes = false;
      at(into).code.push_back(std::move(i));
    }
    at(body).code = {};
    at(body).next = none;
    ways_[body] = 0;
  }

  void block(std::uint32_t b) {
    Block& block = at(b);
    if (block.code.empty() || block.next == none) return;
    const Instruction end = block.code.back();
    if (end.target == none || end.barrier != none || !end.guard || end.target == block.next) return;
    const std::uint32_t taken = end.target, other = block.next;
    if (taken == b || other == b) return;
    const bool negated = end.code.guard_negated;  // the guard of the branch, and so of `taken`
    std::uint32_t meet = none;
    bool first = false, second = false;
    if (only_way(other) == taken) {
      second = is_short(other, false) && can_be_guarded(other, end.guard.reg);
      meet = taken;
    } else if (only_way(taken) == other) {
      first = is_short(taken, false) && can_be_guarded(taken, end.guard.reg);
      meet = other;
    } else if (only_way(taken) != none && only_way(taken) == only_way(other)) {
      first = second = is_short(taken, loads(other)) && is_short(other, loads(taken)) &&
                       can_be_guarded(taken, end.guard.reg) && can_be_guarded(other, end.guard.reg);
      meet = only_way(taken);
    }
    if (!first && !second) return turn_back(b, end);
    if (meet == b || meet == none) return;
    // Lanes that have nothing left to do exit where they branch (converge()): a warp of such lanes is
    // through.
    if (first != second && only_exits(at(meet))) return;
    block.code.pop_back();
    if (second) take_in(b, other, end.guard, !negated);
    if (first) take_in(b, taken, end.guard, negated);
    at(b).next = meet;
    ways_[meet] = static_cast<std::uint32_t>(ways_[meet] - 1);
  }

  // The block behind it, of those that are left.
  std::uint32_t behind(std::uint32_t b) {
    std::uint32_t next = b + 1;
    while (next < ways_.size() && ways_[next] == 0) next = skip_[next];
    return skip_[b] = next;
  }

  // What follows without a choice is of one block with it: its instructions may be ordered together. What
  // lies elsewhere is rare.
  //
  // This goes from the end to the begin, where moving all that follows each time would take the square of it:
  // what is too long to be guarded anyway waits for put_together().
  void go_on(std::uint32_t b) {
    const std::uint32_t next = at(b).next;
    const bool branches = !at(b).code.empty() && at(b).code.back().target != none;
    if (ways_[b] == 0 || next == none || branches || next != behind(b) || ways_[next] != 1) return;
    at(b).next = std::exchange(at(next).next, none);
    ways_[next] = 0;
    if (rest_[next] == none && at(next).code.size() <= longest_with_load) return append(b, next);
    rest_[b] = next;
    last_[b] = rest_[next] == none ? next : last_[next];
  }

  void append(std::uint32_t to, std::uint32_t from) {
    std::ranges::move(at(from).code, std::back_inserter(at(to).code));
    at(from).code = {};
  }

  void put_together() {
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      for (std::uint32_t rest = rest_[b]; rest != none; rest = std::exchange(rest_[rest], none))
        append(b, rest);
  }

  // The end of a loop: of the two ways one is left by, the other one goes a few instructions on and back.
  // These are guarded, and the branch goes back.
  void turn_back(std::uint32_t b, Instruction end) {
    for (const bool falls : {true, false}) {
      const std::uint32_t body = falls ? at(b).next : end.target, out = falls ? end.target : at(b).next;
      const std::uint32_t top = only_way(body);
      if (top == none || top > b || top == out || body == b || out == b) continue;
      if (length(body) > longest_end_of_loop || !can_be_guarded(body, end.guard.reg)) continue;
      const bool negated = end.code.guard_negated != falls;
      at(b).code.pop_back();
      take_in(b, body, end.guard, negated);
      end.code.guard_negated = negated;
      end.target = top;
      at(b).code.push_back(end);
      at(b).next = out;
      return;
    }
  }

  Program& p_;
  std::vector<std::uint32_t> ways_;  // that lead to a block
  std::vector<std::uint32_t> skip_;  // where to look for the next one that is left
  // Of a block that goes on in others: the next of them, or none, and the last one
  std::vector<std::uint32_t> rest_, last_;
};

}  // namespace

void predicate(Program& program) { Predication(program).run(); }

}  // namespace simtlab::assembler

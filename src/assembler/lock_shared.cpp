#include "assembler/lock_shared.h"

#include <algorithm>
#include <utility>

#include "assembler/build.h"
#include "assembler/control_effects.h"

namespace simtlab::assembler {
namespace {

bool is_atomic(const Instruction& i) { return base_mnemonic(i.code) == "ATOMS"; }

class Splitting {
 public:
  explicit Splitting(Program& program) : p_(program), out_(program, program.generation) {}

  std::vector<Ref> run() {
    std::vector<Block> before = std::exchange(p_.blocks, {});
    std::vector<std::uint32_t> first;  // new number of a block, by its old one
    std::uint32_t count = 0;
    for (const Block& block : before) {
      first.push_back(count);
      count += 1 + 2 * static_cast<std::uint32_t>(std::ranges::count_if(block.code, is_atomic));
    }
    for (Block& block : before) {
      if (block.next != none) block.next = first[block.next];
      for (Instruction& i : block.code)
        if (i.target != none) i.target = first[i.target];
      split(block);
    }
    done_.resize(p_.blocks.size());
    return std::move(done_);
  }

 private:
  void start(const Block& like, unsigned deeper = 0) {
    const auto number = static_cast<std::uint32_t>(p_.blocks.size());
    Block& block = p_.blocks.emplace_back();
    block.depth = like.depth + deeper;
    block.apart = like.apart;
    out_.start(number);
  }

  void split(Block& block) {
    start(block);
    for (Instruction& i : block.code) {
      if (is_atomic(i))
        loop(i, block);
      else
        p_.blocks.back().code.push_back(std::move(i));
    }
    p_.blocks.back().next = block.next;
  }

  // Lanes that its guard leaves out go around it.
  void loop(Instruction& i, const Block& around) {
    const auto at = static_cast<std::uint32_t>(p_.blocks.size()), behind = at + 1;
    const Ref done = out_.new_predicate();
    Instruction& begin = out_.emit("ISETP", {}, {zero(), zero()}, {{"cmp", "NE"}, {"bool", "AND"}});
    out_.set_result(begin, "Pd", done);
    take_lines(begin, i);
    if (i.guarded()) {
      branch(i, behind, i.guard, i.code.guard, !i.code.guard_negated);
      i.guard = {};
      i.code.guard = machine::true_predicate;
      i.code.guard_negated = false;
    }
    p_.blocks.back().next = at;
    start(around, 1);
    done_.resize(p_.blocks.size());
    done_.back() = done;
    p_.blocks.back().code.push_back(i);
    branch(i, at, done, 0, true);
    p_.blocks.back().next = behind;
    start(around);
  }

  void branch(const Instruction& like, std::uint32_t target, Ref guard, std::uint8_t number, bool negated) {
    Instruction& i = out_.emit("BRA", {}, {});
    i.target = target;
    i.guard = guard;
    i.code.guard = number;
    i.code.guard_negated = negated;
    take_lines(i, like);
  }

  static void take_lines(Instruction& i, const Instruction& like) {
    i.line = like.line;
    i.file = like.file;
    i.source_line = like.source_line;
  }

  Program& p_;
  Builder out_;
  std::vector<Ref> done_;
};

}  // namespace

std::vector<Ref> loop_on_locks(Program& program) {
  const auto has_one = [](const Block& b) { return std::ranges::any_of(b.code, is_atomic); };
  if (std::ranges::none_of(program.blocks, has_one)) return {};
  return Splitting(program).run();
}

}  // namespace simtlab::assembler

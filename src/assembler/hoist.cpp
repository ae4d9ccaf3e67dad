#include "assembler/hoist.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "assembler/clean.h"
#include "assembler/control_effects.h"
#include "assembler/flow.h"
#include "assembler/schedule.h"
#include "assembler/schedule_live.h"

namespace simtlab::assembler {
namespace {

// Registers that may be in use at once where an address from a constant bank stays in two, and where a value
// stays that takes a computation.
constexpr unsigned most_for_address = 28, most_for_hard = 56;
constexpr std::size_t many_writers = 8;

// Before each loop a block that all ways to it lead through.
void add_blocks_before_loops(Program& program) {
  const Flow flow(program);
  const auto count = static_cast<std::uint32_t>(program.blocks.size());
  std::vector<std::uint32_t> number(count), before(count, none);
  std::uint32_t next = 0;
  for (std::uint32_t b = 0; b < count; ++b) {
    const std::uint32_t loop = flow.loop_of(b);
    if (b > 0 && loop != none && flow.loop(loop).header == b) before[b] = next++;
    number[b] = next++;
  }
  if (next == count) return;
  const auto leads = [&](std::uint32_t from, std::uint32_t to) {
    if (to == none) return none;
    return before[to] != none && !flow.contains(flow.loop_of(to), from) ? before[to] : number[to];
  };
  std::vector<Block> blocks(next);
  for (std::uint32_t b = 0; b < count; ++b) {
    Block& block = program.blocks[b];
    block.next = leads(b, block.next);
    for (Instruction& i : block.code)
      if (i.target != none) i.target = leads(b, i.target);
    blocks[number[b]] = std::move(block);
    if (before[b] != none) blocks[before[b]].next = number[b];
  }
  program.blocks = std::move(blocks);
}

// Nothing but what it reads has a part in what it writes, and that is in registers that have no numbers.
bool computes(const Program& program, const Instruction& i) {
  constexpr std::array<std::string_view, 8> others = {"LD",  "LDG",  "LDS", "LDL",
                                                      "S2R", "CS2R", "P2R", "BMOV"};
  if (acts(i) || i.guarded() || i.code.field("cc") != 0 ||
      (i.code.field("x") != 0 && i.code.form->bundled()) || is_one_of_names(base_mnemonic(i.code), others))
    return false;
  for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
    const machine::Operand& o = i.code.operands[k];
    if (i.refs[k] && program.registers[i.refs[k].reg].fixed != Register::anywhere) return false;
    if (o.kind == machine::OperandKind::reg && !i.refs[k] && o.number != machine::zero_register) return false;
    if (i.is_write(k) && i.refs[k] && program.registers[i.refs[k].reg].file != File::general) return false;
  }
  return true;
}

class Hoisting {
 public:
  explicit Hoisting(Program& program)
      : p_(program),
        flow_(program),
        writers_(program.registers.size()),
        once_(program.registers.size(), true),
        easy_(program.registers.size(), true),
        now_(program.registers.size()) {}

  void run() {
    if (flow_.loop_count() == 0) return;
    find_writers();
    in_use_ = registers_in_use(p_, LiveRegisters(p_));
    std::vector<std::vector<std::uint32_t>> own(flow_.loop_count()), all(flow_.loop_count());
    for (std::uint32_t b = 0; b < flow_.blocks(); ++b)
      for (std::uint32_t l = flow_.loop_of(b); l != none; l = flow_.loop(l).outer) {
        if (l == flow_.loop_of(b)) own[l].push_back(b);
        all[l].push_back(b);
      }
    for (std::uint32_t r = 0; r < now_.size(); ++r) now_[r] = r;
    // Inner ones first: what leaves them may leave the outer ones, too.
    for (std::uint32_t l = flow_.loop_count(); l-- > 0;)
      if (const std::uint32_t before = block_before(l); before != none) empty(l, before, own[l], all[l]);
    for (Block& b : p_.blocks)
      for (Instruction& i : b.code) {
        for (std::size_t k = 0; k < i.code.operand_count(); ++k)
          if (!i.is_write(k)) rename(i.refs[k]);
        rename(i.guard);
      }
  }

 private:
  using Key = std::vector<std::uint64_t>;

  void find_writers() {
    std::vector<std::uint8_t> written(p_.registers.size(), 0);  // parts
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      for (const Instruction& i : p_.blocks[b].code)
        for_each_ref(i, [&](const Ref& r, bool writes) {
          if (!writes) return;
          const auto parts = static_cast<std::uint8_t>(((1u << r.count) - 1) << r.part);
          if ((written[r.reg] & parts) != 0 || i.guarded()) once_[r.reg] = false;
          written[r.reg] |= parts;
          if (!i.remakes) easy_[r.reg] = false;
          if (writers_[r.reg].size() < many_writers) writers_[r.reg].push_back(b);
        });
  }

  unsigned width_of(std::uint32_t reg) const {
    return p_.registers[reg].file == File::general ? p_.registers[reg].width : 0u;
  }

  std::uint32_t block_before(std::uint32_t loop) const {
    const std::uint32_t header = flow_.loop(loop).header;
    if (header == none) return none;
    std::uint32_t out = none;
    for (const std::uint32_t b : flow_.before(header)) {
      if (flow_.contains(loop, b)) continue;
      if (out != none) return none;
      out = b;
    }
    return out != none && flow_.after(out).size() == 1 && flow_.is_reachable(out) ? out : none;
  }

  // Others may be for what rarely happens.
  bool is_in_each_round(std::uint32_t loop, std::uint32_t block) const {
    return std::ranges::all_of(flow_.before(flow_.loop(loop).header), [&](std::uint32_t b) {
      return !flow_.contains(loop, b) || flow_.dominates(block, b);
    });
  }

  bool changes_in(std::uint32_t loop, std::uint32_t reg) const {
    const std::vector<std::uint32_t>& blocks = writers_[reg];
    return blocks.size() >= many_writers ||
           std::ranges::any_of(blocks, [&](std::uint32_t b) { return flow_.contains(loop, b); });
  }

  // As ptxas does it: a number or a word of a constant bank is made again in each round, an address of two
  // words stays in its registers. In its code for 700 kernels 4,700 of 5,000 such numbers are made in the
  // loop.
  unsigned most_in_use_for(const Instruction& i, std::uint32_t reg) const {
    if (!i.remakes || i.code.mnemonic() == "LDC") return most_for_hard;
    const bool from_bank =
        i.code.operand_count() > 1 && i.code.operands[1].kind == machine::OperandKind::constant;
    return width_of(reg) == 2 && from_bank ? most_for_address : 0;
  }

  // The only result; none: it may not leave the loop.
  std::uint32_t result_that_may_leave(const Instruction& i, std::uint32_t loop) const {
    if (!computes(p_, i)) return none;
    std::uint32_t out = none;
    bool may = true;
    for_each_ref(i, [&](const Ref& r, bool writes) {
      if (!writes) {
        may = may && !changes_in(loop, now(r.reg));
        return;
      }
      // Parts that are made one by one leave all or none.
      const bool whole = r.count == p_.registers[r.reg].width || easy_[r.reg];
      may = may && out == none && whole && once_[r.reg] && writers_[r.reg].size() < many_writers;
      out = r.reg;
    });
    return may ? out : none;
  }

  Key key_of(const Instruction& i) const {
    Key key = {reinterpret_cast<std::uintptr_t>(i.code.form), i.address};
    for (std::size_t f = 0; f < i.code.form->fields.size(); ++f) key.push_back(i.code.fields[f]);
    for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
      const machine::Operand& o = i.code.operands[k];
      const Ref& r = i.refs[k];
      const bool named = bool(r) && !i.is_write(k);
      key.push_back(named ? now(r.reg) : i.is_write(k) ? r.part + 1u : std::uint64_t{none} + 1);
      key.push_back(std::uint64_t{r.part} << 8 | r.count | (named ? 0u : std::uint64_t{o.number} << 16) |
                    std::uint64_t{o.negated} << 24 | std::uint64_t{o.absolute} << 25 |
                    std::uint64_t{o.inverted} << 26 | std::uint64_t{o.half} << 32 |
                    std::uint64_t{o.part} << 40);
      key.push_back(static_cast<std::uint64_t>(o.value));
    }
    return key;
  }

  void empty(std::uint32_t loop, std::uint32_t before, const std::vector<std::uint32_t>& own,
             const std::vector<std::uint32_t>& all) {
    std::map<Key, std::uint32_t> made;  // in front of the loop, by what it is
    std::vector<Instruction>& front = p_.blocks[before].code;
    unsigned used = 0;
    for (const std::uint32_t b : all) used = std::max(used, in_use_[b]);
    const unsigned before_all = used, most = p_.most_registers - std::min(p_.most_registers, lost_registers);
    for (const std::uint32_t b : own) {
      const bool each_round = is_in_each_round(loop, b);
      std::vector<Instruction>& code = p_.blocks[b].code;
      std::size_t kept = 0;
      for (std::size_t k = 0; k < code.size(); ++k) {
        const std::uint32_t reg = each_round || code[k].remakes ? result_that_may_leave(code[k], loop) : none;
        bool leaves = false;
        if (reg != none) {
          const Key key = key_of(code[k]);
          const auto same = made.find(key);
          const bool shared =
              same != made.end() && p_.registers[same->second].width == 1 && p_.registers[reg].width == 1;
          if (shared) now_[reg] = same->second;
          const unsigned more = width_of(reg);
          const bool fits = used + more <= std::min(most, most_in_use_for(code[k], reg));
          leaves = shared || fits;
          if (leaves) move_writer(reg, b, before);
          if (!shared && fits) {
            made.try_emplace(key, reg);
            used += more;
            front.push_back(std::move(code[k]));
          }
        }
        if (leaves) continue;
        if (kept != k) code[kept] = std::move(code[k]);
        ++kept;
      }
      code.resize(kept);
    }
    for (const std::uint32_t b : all) in_use_[b] += used - before_all;
  }

  void move_writer(std::uint32_t reg, std::uint32_t from, std::uint32_t to) {
    *std::ranges::find(writers_[reg], from) = to;
  }

  // What stood for a register in an inner loop may itself have become another one further out.
  std::uint32_t now(std::uint32_t reg) const {
    while (now_[reg] != reg) reg = now_[reg];
    return reg;
  }

  void rename(Ref& ref) const {
    if (ref) ref.reg = now(ref.reg);
  }

  Program& p_;
  const Flow flow_;
  std::vector<std::vector<std::uint32_t>> writers_;  // blocks, by register
  std::vector<bool> once_;                           // by register: each part is written once, for all lanes
  std::vector<bool> easy_;                           // ... and made again anywhere
  std::vector<std::uint32_t> now_;                   // the register that has its value
  std::vector<unsigned> in_use_;                     // by block
};

}  // namespace

void hoist(Program& program) {
  add_blocks_before_loops(program);
  Hoisting(program).run();
}

}  // namespace simtlab::assembler

#include "assembler/recompute.h"

#include <algorithm>
#include <array>
#include <deque>
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

constexpr unsigned most_rounds = 3;
constexpr std::size_t longest = 8;      // instructions that make a value again
constexpr std::size_t most_places = 3;  // blocks where it is made again

bool is_cheap(const Instruction& i) {
  constexpr std::array<std::string_view, 22> names = {
      "MOV", "MOV32I", "IADD3", "IADD", "IADD32I", "LOP3", "LOP",   "LOP32I", "SHF",  "SHL",  "SHR",
      "LEA", "ISCADD", "IMAD",  "XMAD", "SEL",     "BFE",  "IMNMX", "FADD",   "FMUL", "PRMT", "FADD32I"};
  if (i.guarded() || acts(i) || (i.code.field("x") != 0 && i.code.form->bundled())) return false;
  for (std::size_t k = 0; k < i.code.operand_count(); ++k)
    if (i.code.operands[k].kind == machine::OperandKind::reg && !i.refs[k] &&
        i.code.operands[k].number != machine::zero_register)
      return false;
  return is_one_of_names(base_mnemonic(i.code), names);
}

class Recomputation {
 public:
  Recomputation(Program& program, unsigned most)
      : p_(program),
        flow_(program),
        live_(program),
        in_use_(registers_in_use(program, live_)),
        values_(program.registers.size()),
        places_(program.blocks.size()),
        most_(most) {}

  // Whether anything has changed.
  bool run() {
    if (std::ranges::all_of(in_use_, [&](unsigned used) { return used <= most_; })) return false;
    look();
    std::vector<std::uint32_t> candidates;
    for (std::uint32_t r = 0; r < values_.size(); ++r)
      if (may_go(r)) candidates.push_back(r);
    std::ranges::stable_sort(candidates, {}, [&](std::uint32_t r) { return weight_of_places(r); });
    bool changed = false;
    for (const std::uint32_t r : candidates) changed = try_to_free(r) || changed;
    if (changed) insert();
    return changed;
  }

 private:
  struct Spot {
    std::uint32_t block = none, index = 0;
  };
  struct Value {
    std::array<Spot, 4> writers{};
    bool once = true;   // each part is written once, for all lanes
    bool gone = false;  // it ends in its block now
    std::vector<Spot> reads;
    std::vector<std::uint32_t> blocks;  // that read it, without the one that writes it
  };
  // An instruction that is made again in a block
  struct Again {
    std::uint32_t before = 0;  // of the instruction there
    Instruction code;
    std::vector<std::size_t> needs;
  };
  struct Place {
    std::vector<Again> again;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> made;  // by where it stands
    std::map<std::uint32_t, std::uint32_t> now;                           // registers, by what they were
  };

  void look() {
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      for (std::uint32_t k = 0; k < p_.blocks[b].code.size(); ++k) {
        const Instruction& i = p_.blocks[b].code[k];
        for_each_ref(i, [&](const Ref& r, bool writes) {
          Value& v = values_[r.reg];
          if (!writes) v.reads.push_back({b, k});
          for (unsigned part = r.part; writes && part < unsigned{r.part} + r.count; ++part) {
            v.once = v.once && v.writers[part].block == none && !i.guarded();
            v.writers[part] = {b, k};
          }
        });
      }
    for (Value& v : values_) {
      const std::uint32_t home = home_of(v);
      for (const Spot& s : v.writers) v.once = v.once && (s.block == none || s.block == home);
      for (const Spot& s : v.reads)
        if (s.block != home && (v.blocks.empty() || v.blocks.back() != s.block)) v.blocks.push_back(s.block);
    }
  }

  static std::uint32_t home_of(const Value& v) {
    for (const Spot& s : v.writers)
      if (s.block != none) return s.block;
    return none;
  }

  unsigned width_of(std::uint32_t reg) const {
    return p_.registers[reg].file == File::general ? p_.registers[reg].width : 0u;
  }

  std::uint64_t weight_of_places(std::uint32_t reg) const {
    std::uint64_t out = 0;
    for (const std::uint32_t b : values_[reg].blocks) out += turns_of(p_.blocks[b]);
    return out;
  }

  bool may_go(std::uint32_t reg) const {
    const Value& v = values_[reg];
    if (width_of(reg) == 0 || p_.registers[reg].fixed != Register::anywhere || !v.once) return false;
    const std::uint32_t home = home_of(v);
    return home != none && !v.blocks.empty() && v.blocks.size() <= most_places && flow_.is_reachable(home) &&
           std::ranges::all_of(v.blocks, [&](std::uint32_t b) { return flow_.dominates(home, b); });
  }

  // Of the blocks that need too many and that it lives through unread, the weight of the innermost.
  std::uint64_t saves(std::uint32_t reg) const {
    std::uint64_t out = 0;
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      if (in_use_[b] > most_ && live_.in(b, reg) && live_.out(b, reg) &&
          std::ranges::find(values_[reg].blocks, b) == values_[reg].blocks.end())
        out = std::max(out, turns_of(p_.blocks[b]));
    return out;
  }

  // What makes it again in the block, in order. False: it takes too much.
  bool find_tree(std::uint32_t reg, std::uint32_t block, std::vector<Spot>& out) const {
    if (places_[block].now.contains(reg)) return true;
    for (const Spot& s : values_[reg].writers) {
      if (s.block == none) continue;
      const auto same = [&](const Spot& o) { return o.block == s.block && o.index == s.index; };
      if (std::ranges::any_of(out, same) || places_[block].made.contains({s.block, s.index})) continue;
      const Instruction& i = p_.blocks[s.block].code[s.index];
      if (out.size() >= longest || !is_cheap(i)) return false;
      bool fits = true;
      for_each_ref(i, [&](const Ref& r, bool writes) {
        if (writes) {
          fits = fits && values_[r.reg].once && p_.registers[r.reg].fixed == Register::anywhere;
        } else if (fits) {
          const Value& v = values_[r.reg];
          const Spot& by = v.writers[r.part];
          fits = v.once && by.block != none &&
                 (by.block == s.block ? by.index < s.index : flow_.dominates(by.block, s.block));
          if (fits && (v.gone || !live_.in(block, r.reg))) fits = find_tree(r.reg, block, out);
        }
      });
      if (!fits || out.size() >= longest) return false;
      out.push_back(s);
    }
    return true;
  }

  bool try_to_free(std::uint32_t reg) {
    Value& v = values_[reg];
    const std::uint64_t saved = saves(reg) * width_of(reg);
    if (saved == 0) return false;
    std::uint64_t cost = 0;
    std::vector<std::vector<Spot>> trees(v.blocks.size());
    for (std::size_t n = 0; n < v.blocks.size(); ++n) {
      if (!find_tree(reg, v.blocks[n], trees[n])) return false;
      cost += trees[n].size() * turns_of(p_.blocks[v.blocks[n]]);
    }
    if (cost > saved) return false;
    for (std::size_t n = 0; n < v.blocks.size(); ++n) make_again(reg, v.blocks[n], trees[n]);
    v.gone = true;
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      if (live_.in(b, reg) && std::ranges::find(v.blocks, b) == v.blocks.end()) in_use_[b] -= width_of(reg);
    return true;
  }

  // What reads it stays.
  std::uint32_t another(std::uint32_t reg) {
    values_.emplace_back().once = false;
    return p_.add(p_.registers[reg]);
  }

  void make_again(std::uint32_t reg, std::uint32_t block, const std::vector<Spot>& tree) {
    Place& place = places_[block];
    for (const Spot& s : tree) {
      Again again{.before = none, .code = p_.blocks[s.block].code[s.index], .needs = {}};
      const auto change = [&](Ref& r, bool writes) {
        if (!r) return;
        if (writes && !place.now.contains(r.reg)) place.now[r.reg] = another(r.reg);
        const auto now = place.now.find(r.reg);
        if (now == place.now.end() || (!writes && !values_[r.reg].gone && live_.in(block, r.reg))) return;
        for (const Spot& w : values_[r.reg].writers)
          if (const auto at = place.made.find({w.block, w.index}); !writes && at != place.made.end())
            again.needs.push_back(at->second);
        r.reg = now->second;
      };
      for (std::size_t k = 0; k < again.code.code.operand_count(); ++k)
        change(again.code.refs[k], again.code.is_write(k));
      place.made[{s.block, s.index}] = place.again.size();
      place.again.push_back(std::move(again));
    }
    for (const Spot& s : values_[reg].reads) {
      if (s.block != block) continue;
      Instruction& i = p_.blocks[block].code[s.index];
      const auto change = [&](Ref& r) {
        if (r.reg == reg) r.reg = place.now.at(reg);
      };
      for (std::size_t k = 0; k < i.code.operand_count(); ++k)
        if (!i.is_write(k)) change(i.refs[k]);
      change(i.guard);
      change(i.beside);
      for (const Spot& w : values_[reg].writers)
        if (w.block != none) {
          std::uint32_t& before = place.again[place.made.at({w.block, w.index})].before;
          before = std::min(before, s.index);
        }
    }
  }

  void insert() {
    for (std::uint32_t b = 0; b < places_.size(); ++b) {
      std::vector<Again>& again = places_[b].again;
      for (std::size_t k = again.size(); k-- > 0;)
        for (const std::size_t need : again[k].needs)
          again[need].before = std::min(again[need].before, again[k].before);
      std::ranges::stable_sort(again, {}, &Again::before);
      std::vector<Instruction> code;
      auto next = again.begin();
      for (std::uint32_t k = 0; k < p_.blocks[b].code.size(); ++k) {
        for (; next != again.end() && next->before == k; ++next) code.push_back(std::move(next->code));
        code.push_back(std::move(p_.blocks[b].code[k]));
      }
      p_.blocks[b].code = std::move(code);
    }
  }

  Program& p_;
  const Flow flow_;
  const LiveRegisters live_;
  std::vector<unsigned> in_use_;  // by block
  std::deque<Value> values_;      // by register; some are added, and references stay
  std::vector<Place> places_;     // by block
  const unsigned most_;
};

}  // namespace

void recompute(Program& program, unsigned most) {
  for (unsigned round = 0; round < most_rounds; ++round) {
    if (!Recomputation(program, most).run()) break;
    clean(program);
  }
}

void recompute(Program& program) { recompute(program, free_registers(program.generation)); }

}  // namespace simtlab::assembler

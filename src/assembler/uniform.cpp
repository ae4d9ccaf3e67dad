#include "assembler/uniform.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "assembler/control_effects.h"

namespace simtlab::assembler {
namespace {

// Instructions whose result differs between lanes whatever they read.
bool differs_by_itself(const Instruction& i) {
  constexpr std::array<std::string_view, 21> names = {
      "LD",   "LDG",   "LDS", "LDL",  "ATOM",  "ATOMG",   "ATOMS", "SHFL",  "CS2R",  "TEX",   "TLD",
      "TLD4", "MATCH", "P2R", "LDSM", "LDGMC", "FSWZADD", "MOVM",  "ELECT", "LDSLK", "STSCUL"};
  const std::string_view base = base_mnemonic(i.code);
  if (base == "S2R") {
    const int at = i.code.form->operand("sr");
    const std::uint8_t number = i.code.operands[static_cast<std::size_t>(at)].number;
    const bool of_block = number >= 0x25 && number <= 0x27;
    return !of_block;
  }
  if (is_one_of_names(base, names)) return true;
  // What a function of the driver has left in a register; R1 is the stack.
  for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
    const machine::Operand& o = i.code.operands[k];
    if (o.kind == machine::OperandKind::reg && !i.refs[k] && !i.is_write(k) && o.number > 1 &&
        o.number != machine::zero_register)
      return true;
  }
  return false;
}

class Search {
 public:
  Search(const Program& program, const Flow& flow) : p_(program), flow_(flow) {
    out_.differs.assign(p_.registers.size(), false);
    out_.diverges.assign(p_.blocks.size(), false);
    inside_.assign(p_.blocks.size(), false);
    writers_.assign(p_.registers.size(), 0);
    for (const Block& b : p_.blocks)
      for (const Instruction& i : b.code)
        for_each_ref(i, [&](const Ref& r, bool writes) {
          if (writes && writers_[r.reg] < 255) ++writers_[r.reg];
        });
  }

  Uniformity run() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::uint32_t b = 0; b < p_.blocks.size(); ++b) changed = visit(b) || changed;
    }
    return std::move(out_);
  }

 private:
  bool visit(std::uint32_t b) {
    bool changed = false;
    const Block& block = p_.blocks[b];
    for (const Instruction& i : block.code) {
      bool differs = differs_by_itself(i);
      for_each_ref(i,
                   [&](const Ref& r, bool writes) { differs = differs || (!writes && out_.differs[r.reg]); });
      for_each_ref(i, [&](const Ref& r, bool writes) {
        // Parts of one register are written one by one; two ways to write it make it differ where lanes are
        // apart.
        const bool apart = inside_[b] && writers_[r.reg] > p_.registers[r.reg].width;
        if (!writes || out_.differs[r.reg] || (!differs && !apart && !leaves_[b])) return;
        out_.differs[r.reg] = true;
        changed = true;
      });
    }
    if (block.code.empty()) return changed;
    const Instruction& end = block.code.back();
    const bool branch = end.target != none && end.barrier == none && end.guard && block.next != none;
    if (!branch || out_.diverges[b] || !out_.differs[end.guard.reg]) return changed;
    out_.diverges[b] = true;
    mark(b);
    return true;
  }

  // Blocks that lanes may run apart: from the branch to where they meet again. If they leave a loop apart,
  // all that it makes differs outside.
  void mark(std::uint32_t branch) {
    const std::uint32_t meet = flow_.post_dominator(branch);
    std::vector<std::uint32_t> left = flow_.after(branch);
    std::vector<bool> seen(p_.blocks.size(), false);
    while (!left.empty()) {
      const std::uint32_t b = left.back();
      left.pop_back();
      if (b == meet || seen[b]) continue;
      seen[b] = true;
      inside_[b] = true;
      if (--budget_ == 0) {
        inside_.assign(inside_.size(), true);
        leaves_.assign(leaves_.size(), true);
        return;
      }
      for (const std::uint32_t to : flow_.after(b)) left.push_back(to);
    }
    const std::uint32_t loop = meet == none ? flow_.loop_of(branch) : flow_.outermost_without(branch, meet);
    if (loop == none) return;
    for (std::uint32_t b = 0; b < p_.blocks.size(); ++b)
      if (flow_.contains(loop, b)) inside_[b] = leaves_[b] = true;
  }

  const Program& p_;
  const Flow& flow_;
  Uniformity out_;
  std::vector<bool> inside_;                                               // blocks that lanes may run apart
  std::vector<bool> leaves_ = std::vector<bool>(p_.blocks.size(), false);  // of loops that lanes leave apart
  std::vector<std::uint8_t> writers_;
  std::uint64_t budget_ = 4'000'000;
};

}  // namespace

Uniformity find_uniform(const Program& program, const Flow& flow) { return Search(program, flow).run(); }

}  // namespace simtlab::assembler

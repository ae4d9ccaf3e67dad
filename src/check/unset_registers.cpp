#include "check/unset_registers.h"

#include <algorithm>

#include "ptx/cfg.h"

namespace simtlab::check {
namespace {

using ptx::Inst;
using ptx::Operand;

constexpr std::uint64_t most_words = 1u << 22;  // of sets of registers, all blocks together

const ptx::CallSite* call_of(const ptx::Function& f, const Inst& inst) {
  return inst.op == ptx::Op::call && inst.target < f.call_sites.size() ? &f.call_sites[inst.target] : nullptr;
}

template <class Do>
void for_each_read(const ptx::Function& f, const Inst& inst, const Do& act) {
  for (unsigned i = 0; i < inst.src_count; ++i)
    if (inst.src[i].kind == ptx::OperandKind::reg) act(inst.src[i].index);
  if (const ptx::CallSite* call = call_of(f, inst))
    for (const ptx::CallArg& value : call->args)
      if (value.reg.kind == ptx::OperandKind::reg) act(value.reg.index);
}

template <class Do>
void for_each_write(const ptx::Function& f, const Inst& inst, const Do& act) {
  if (inst.guard.kind != ptx::OperandKind::none) return;
  for (unsigned i = 0; i < inst.dst_count; ++i)
    if (inst.dst[i].kind == ptx::OperandKind::reg) act(inst.dst[i].index);
  if (const ptx::CallSite* call = call_of(f, inst))
    for (const ptx::CallArg& value : call->returns)
      if (value.reg.kind == ptx::OperandKind::reg) act(value.reg.index);
}

// Sets of rows, one a block of the graph.
class Sets {
 public:
  Sets(std::size_t blocks, std::uint32_t rows, std::uint64_t value)
      : words_((rows + 63) / 64), bits_(blocks * words_, value) {}
  std::uint64_t* at(std::size_t block) { return bits_.data() + block * words_; }
  std::size_t words() const { return words_; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

void put(std::uint64_t* set, std::uint32_t row) { set[row / 64] |= std::uint64_t{1} << row % 64; }
bool has(const std::uint64_t* set, std::uint32_t row) { return (set[row / 64] >> row % 64 & 1) != 0; }

}  // namespace

std::vector<std::uint32_t> may_be_unset(const ptx::Function& f) {
  if (f.code.empty() || f.reg_rows == 0) return {};
  const ptx::Cfg cfg = ptx::build_cfg(f);
  const std::size_t blocks = cfg.blocks.size();
  if (std::uint64_t{blocks} * ((f.reg_rows + 63) / 64) > most_words) return {};
  // What a block writes, and what is written for certain when it begins.
  Sets written(blocks, f.reg_rows, 0), before(blocks, f.reg_rows, ~std::uint64_t{0});
  for (std::size_t b = 0; b < blocks; ++b)
    for (std::uint32_t pc = cfg.blocks[b].first; pc < cfg.blocks[b].last; ++pc)
      for_each_write(f, f.code[pc], [&](std::uint32_t row) { put(written.at(b), row); });
  std::fill_n(before.at(0), before.words(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 1; b < blocks; ++b)
      for (std::uint32_t e = cfg.predecessor_start[b]; e < cfg.predecessor_start[b + 1]; ++e) {
        const std::uint32_t from = cfg.predecessors[e];
        if (from >= blocks) continue;
        for (std::size_t w = 0; w < before.words(); ++w) {
          const std::uint64_t both = before.at(b)[w] & (before.at(from)[w] | written.at(from)[w]);
          changed = changed || both != before.at(b)[w];
          before.at(b)[w] = both;
        }
      }
  }
  std::vector<std::uint32_t> out;
  for (std::size_t b = 0; b < blocks; ++b) {
    std::uint64_t* const now = before.at(b);
    for (std::uint32_t pc = cfg.blocks[b].first; pc < cfg.blocks[b].last; ++pc) {
      for_each_read(f, f.code[pc], [&](std::uint32_t row) {
        if (!has(now, row)) out.push_back(row);
      });
      for_each_write(f, f.code[pc], [&](std::uint32_t row) { put(now, row); });
    }
  }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

}  // namespace simtlab::check

#include "ptx/flow.h"

#include <utility>

namespace simtlab::ptx {
namespace {

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// First pcs of the blocks that follow; nodes of tables have no code and stand for what follows them.
void add_entries(const Cfg& cfg, std::uint32_t from_pc, std::uint32_t block, Edges& edges) {
  for (std::uint32_t e = cfg.successor_start[block]; e < cfg.successor_start[block + 1]; ++e) {
    const std::uint32_t next = cfg.successors[e];
    if (next == cfg.exit()) continue;
    if (cfg.blocks[next].empty())
      add_entries(cfg, from_pc, next, edges);
    else
      edges.emplace_back(from_pc, cfg.blocks[next].first);
  }
}

void fill(std::size_t size, const Edges& edges, std::vector<std::uint32_t>& start,
          std::vector<std::uint32_t>& out) {
  start.assign(size + 1, 0);
  for (const auto& [from, to] : edges) ++start[from + 1];
  for (std::size_t i = 0; i < size; ++i) start[i + 1] += start[i];
  out.resize(edges.size());
  std::vector<std::uint32_t> next(start.begin(), start.end() - 1);
  for (const auto& [from, to] : edges) out[next[from]++] = to;
}

}  // namespace

Flow::Flow(const Function& function) {
  const Cfg cfg = build_cfg(function);
  Edges edges;
  for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    const Cfg::Block& block = cfg.blocks[b];
    if (block.empty()) continue;
    for (std::uint32_t pc = block.first; pc + 1 < block.last; ++pc) edges.emplace_back(pc, pc + 1);
    add_entries(cfg, block.last - 1, b, edges);
  }
  fill(function.code.size(), edges, after_start_, after_);
  for (auto& [from, to] : edges) std::swap(from, to);
  fill(function.code.size(), edges, before_start_, before_);
}

}  // namespace simtlab::ptx

// Control-flow graph of a function and immediate post-dominators: where a diverged warp comes together again.
//
// A node per basic block and a virtual exit. ret, exit and trap lead to the exit (and on, when guarded). A
// block from which the exit can't be reached (an endless loop) is tied to it by an extra edge from the last
// such block in reverse post-order, so that lanes in the loop have a place to meet. A table of targets that
// several brx.idx use is a node without code between them and the targets: edges grow with branches plus
// targets, not with their product.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace simtlab::ptx {

struct Cfg {
  struct Block {
    std::uint32_t first = 0, last = 0;            // pcs [first, last)
    bool empty() const { return first == last; }  // the node of a table
  };
  std::vector<Block> blocks;            // in order of pc, then nodes of tables
  std::vector<std::uint32_t> block_of;  // pc -> block
  // Edges in compressed rows: successors of b are edges[start[b] .. start[b + 1]). Block blocks.size() is the
  // exit.
  std::vector<std::uint32_t> successor_start, successors;
  std::vector<std::uint32_t> predecessor_start, predecessors;

  std::uint32_t exit() const { return static_cast<std::uint32_t>(blocks.size()); }
};

Cfg build_cfg(const Function& function);

// Immediate post-dominator of each block; the exit is that of itself and of unreachable blocks.
// Lengauer-Tarjan with path compression: O(edges * log(blocks)).
std::vector<std::uint32_t> immediate_post_dominators(const Cfg& cfg);

// Fills Inst::reconverge of every bra and brx.
void set_reconvergence(Function& function, const Cfg& cfg);

// The graph algorithm alone, for tests: idom of each node of a graph given by successor lists, from `root`;
// nodes that `root` does not reach get no_pc.
std::vector<std::uint32_t> dominators(const std::vector<std::vector<std::uint32_t>>& successors,
                                      std::uint32_t root);

}  // namespace simtlab::ptx

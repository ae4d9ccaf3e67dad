// Control flow of a program: dominators, loops, where ways meet.
#pragma once

#include <cstdint>
#include <vector>

#include "assembler/program.h"

namespace simtlab::assembler {

// Lanes that end (EXIT) are waited for by nobody: a way that ends counts as none where others go on.
class Flow {
 public:
  explicit Flow(const Program& program);

  std::uint32_t blocks() const { return static_cast<std::uint32_t>(successors_.size()); }
  const std::vector<std::uint32_t>& after(std::uint32_t block) const { return successors_[block]; }
  const std::vector<std::uint32_t>& before(std::uint32_t block) const { return predecessors_[block]; }
  bool is_reachable(std::uint32_t block) const { return block == 0 || dominator_[block] != none; }
  // Immediate ones; none: of the entry, or if the ways end apart.
  std::uint32_t dominator(std::uint32_t block) const { return dominator_[block]; }
  std::uint32_t post_dominator(std::uint32_t block) const { return post_dominator_[block]; }
  bool dominates(std::uint32_t a, std::uint32_t b) const { return dominators_.is_above(a, b); }
  bool post_dominates(std::uint32_t a, std::uint32_t b) const { return post_dominators_.is_above(a, b); }
  // Dominators come before those that they dominate in this order.
  std::uint32_t order(std::uint32_t block) const { return dominators_.enter[block]; }

  // Cycles: the innermost one that a block is in; none: it is in none. Numbers are of outer ones first.
  struct Loop {
    std::uint32_t header = none;  // none: it has several entries
    std::uint32_t outer = none;
    unsigned depth = 1;
  };
  std::uint32_t loop_of(std::uint32_t block) const { return loop_of_[block]; }
  std::uint32_t loop_count() const { return static_cast<std::uint32_t>(loops_.size()); }
  const Loop& loop(std::uint32_t number) const { return loops_[number]; }
  unsigned depth(std::uint32_t block) const {
    return loop_of_[block] == none ? 0 : loops_[loop_of_[block]].depth;
  }
  bool contains(std::uint32_t loop, std::uint32_t block) const;
  // The outermost cycle around `block` that `other` is not in; none.
  std::uint32_t outermost_without(std::uint32_t block, std::uint32_t other) const;

 private:
  void find_loops();

  std::vector<std::vector<std::uint32_t>> successors_, predecessors_;
  std::vector<std::uint32_t> dominator_, post_dominator_;
  // When a walk over a tree comes to a node and leaves it
  struct Tree {
    std::vector<std::uint32_t> enter, leave;
    void walk(const std::vector<std::uint32_t>& parent, std::uint32_t root);
    bool is_above(std::uint32_t a, std::uint32_t b) const {
      return enter[a] <= enter[b] && enter[b] < leave[a];
    }
  };
  Tree dominators_, post_dominators_;
  std::vector<Loop> loops_;
  std::vector<std::uint32_t> loop_of_;
};

}  // namespace simtlab::assembler

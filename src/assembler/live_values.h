// Which units hold the same value where: what copies and joins of the control flow make of values.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace simtlab::assembler {

// Each definition is a node, and so is what a unit holds at the begin of a block where definitions meet. A
// node without inputs is a value of its own.
class LiveValues {
 public:
  static constexpr std::uint32_t undefined = 0xffffffffu;

  explicit LiveValues(std::uint32_t nodes) : values_(nodes) {}
  // Blocks in the order of the code, and where they may go on.
  void begin_block() { blocks_.push_back({static_cast<std::uint32_t>(nodes_.size()), next_size()}); }
  void add_next(std::uint32_t block) { next_.push_back(block); }
  // What a unit holds at the begin of the block; its inputs are from each way there, the ways in the same
  // order for all nodes of a block; or `undefined`.
  void add_meeting(std::uint32_t node) { nodes_.push_back({node, true}); }
  // A copy has one input.
  void add_copy(std::uint32_t node) { nodes_.push_back({node, false}); }
  void add_input(std::uint32_t node, std::uint32_t input) { edges_.emplace_back(node, input); }
  void solve();
  // Two nodes with the same number are the same value, wherever both are the last ones of their units.
  std::uint32_t value(std::uint32_t node) const { return values_[node]; }

 private:
  static constexpr std::uint32_t unknown = 0xfffffffeu;
  struct Node {
    std::uint32_t number;
    bool meets;
  };
  struct Block {
    std::uint32_t first, first_next;
    unsigned visits = 0;
    bool due = true;
  };

  std::uint32_t next_size() const { return static_cast<std::uint32_t>(next_.size()); }
  void group_inputs();
  std::uint32_t value_of_input(std::uint32_t input) const {
    return input == undefined ? undefined : values_[input];
  }
  bool visit(std::uint32_t block);
  bool visit_all();
  std::uint32_t met(const Node& node);
  std::uint32_t like(std::uint32_t node);

  std::vector<std::uint32_t> values_;
  std::vector<Node> nodes_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> next_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::vector<std::uint32_t> first_, inputs_;  // of a node
  std::vector<std::uint32_t> table_;           // nodes of a block by what their inputs are
};

}  // namespace simtlab::assembler

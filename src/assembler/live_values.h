// Which units hold the same value where: what copies and joins of the control flow make of values.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace simtlab::assembler {

// Each definition is a node, and so is what a unit holds at the begin of a block where definitions meet. A
// node without inputs is a value of its own; one with inputs is the same value as they are, where they agree.
class LiveValues {
 public:
  static constexpr std::uint32_t undefined = 0xffffffffu;

  explicit LiveValues(std::uint32_t nodes) : values_(nodes, undefined) {}
  void add_input(std::uint32_t node, std::uint32_t input) { edges_.emplace_back(node, input); }
  void solve();
  // Two nodes with the same number are the same value, wherever both are the last ones of their units.
  std::uint32_t value(std::uint32_t node) const { return values_[node]; }

 private:
  struct Lists {
    std::vector<std::uint32_t> first, other;
  };
  Lists grouped(bool by_input) const;
  std::uint32_t met(const Lists& inputs, std::uint32_t node) const;

  std::vector<std::uint32_t> values_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
};

}  // namespace simtlab::assembler

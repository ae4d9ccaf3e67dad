#include "assembler/live_values.h"

#include <algorithm>
#include <bit>

namespace simtlab::assembler {
namespace {

constexpr unsigned most_visits = 16;  // of a block
constexpr std::uint32_t empty = 0xffffffffu;

std::uint64_t hashed(std::uint64_t hash, std::uint32_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

}  // namespace

void LiveValues::group_inputs() {
  first_.assign(values_.size() + 1, 0);
  for (const auto& [node, input] : edges_) ++first_[node + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  inputs_.resize(edges_.size());
  std::vector<std::uint32_t> at(first_.begin(), first_.end() - 1);
  for (const auto& [node, input] : edges_) inputs_[at[node]++] = input;
}

// The first node of the block that meets the same values.
std::uint32_t LiveValues::like(std::uint32_t node) {
  const std::uint32_t count = first_[node + 1] - first_[node];
  std::uint64_t hash = 0;
  for (std::uint32_t k = 0; k < count; ++k) hash = hashed(hash, value_of_input(inputs_[first_[node] + k]));
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash & mask;
  for (; table_[at] != empty; at = (at + 1) & mask) {
    const std::uint32_t other = table_[at];
    if (first_[other + 1] - first_[other] != count) continue;
    bool same = true;
    for (std::uint32_t k = 0; same && k < count; ++k)
      same = value_of_input(inputs_[first_[node] + k]) == value_of_input(inputs_[first_[other] + k]);
    if (same) return other;
  }
  table_[at] = node;
  return node;
}

// What the inputs that are known agree on, or a value that begins here.
std::uint32_t LiveValues::met(const Node& node) {
  std::uint32_t value = unknown;
  for (std::uint32_t k = first_[node.number]; k < first_[node.number + 1]; ++k) {
    const std::uint32_t v = value_of_input(inputs_[k]);
    if (v == unknown) continue;
    if (v == undefined || (value != unknown && v != value))
      return node.meets ? like(node.number) : node.number;
    value = v;
  }
  return value;
}

// Whether anything has changed.
bool LiveValues::visit(std::uint32_t block) {
  const std::uint32_t first = blocks_[block].first, last = blocks_[block + 1].first;
  table_.assign(std::bit_ceil(2 * std::size_t{last - first} + 1), empty);
  bool changed = false;
  for (std::uint32_t k = first; k < last; ++k) {
    std::uint32_t& value = values_[nodes_[k].number];
    const std::uint32_t now = met(nodes_[k]);
    changed = changed || now != value;
    value = now;
  }
  return changed;
}

// False: there is no end to it.
bool LiveValues::visit_all() {
  const auto count = static_cast<std::uint32_t>(blocks_.size() - 1);
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t b = 0; b < count; ++b) {
      if (!blocks_[b].due) continue;
      if (blocks_[b].visits++ == most_visits) return false;
      blocks_[b].due = false;
      if (!visit(b)) continue;
      for (std::uint32_t k = blocks_[b].first_next; k < blocks_[b + 1].first_next; ++k) {
        blocks_[next_[k]].due = true;
        again = again || next_[k] <= b;
      }
    }
  }
  return true;
}

void LiveValues::solve() {
  group_inputs();
  begin_block();  // behind the last one
  for (std::uint32_t n = 0; n < values_.size(); ++n) values_[n] = n;
  for (const Node& node : nodes_) values_[node.number] = unknown;
  if (!visit_all()) {
    // Then every meeting makes a value, and copies are what they copy.
    for (const Node& node : nodes_) values_[node.number] = node.number;
    for (const Node& node : nodes_)
      if (!node.meets) values_[node.number] = met(node);
  }
  for (std::uint32_t n = 0; n < values_.size(); ++n)
    if (values_[n] == unknown) values_[n] = n;
}

}  // namespace simtlab::assembler

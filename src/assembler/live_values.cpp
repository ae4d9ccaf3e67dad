#include "assembler/live_values.h"

#include <deque>

namespace simtlab::assembler {
namespace {

// A value that changed this often is one of its own: the search ends.
constexpr std::uint8_t most_changes = 8;
constexpr std::uint32_t not_known = LiveValues::undefined;

}  // namespace

LiveValues::Lists LiveValues::grouped(bool by_input) const {
  Lists lists;
  lists.first.assign(values_.size() + 1, 0);
  const auto key = [&](const auto& edge) { return by_input ? edge.second : edge.first; };
  for (const auto& edge : edges_)
    if (key(edge) != undefined) ++lists.first[key(edge) + 1];
  for (std::size_t i = 1; i < lists.first.size(); ++i) lists.first[i] += lists.first[i - 1];
  lists.other.resize(lists.first.back());
  std::vector<std::uint32_t> at(lists.first.begin(), lists.first.end() - 1);
  for (const auto& edge : edges_)
    if (key(edge) != undefined) lists.other[at[key(edge)]++] = by_input ? edge.first : edge.second;
  return lists;
}

// What the inputs that are known agree on; the node itself where they do not.
std::uint32_t LiveValues::met(const Lists& inputs, std::uint32_t node) const {
  std::uint32_t value = not_known;
  for (std::uint32_t k = inputs.first[node]; k < inputs.first[node + 1]; ++k) {
    const std::uint32_t input = inputs.other[k];
    if (input == undefined) return node;
    const std::uint32_t v = values_[input];
    if (v == not_known) continue;
    if (value != not_known && v != value) return node;
    value = v;
  }
  return value;
}

void LiveValues::solve() {
  const Lists inputs = grouped(false), readers = grouped(true);
  const auto count = static_cast<std::uint32_t>(values_.size());
  std::vector<std::uint8_t> changes(count, 0), queued(count, 0);
  std::deque<std::uint32_t> queue;
  const auto has_inputs = [&](std::uint32_t node) { return inputs.first[node] != inputs.first[node + 1]; };
  for (std::uint32_t n = 0; n < count; ++n)
    if (has_inputs(n)) {
      queue.push_back(n);
      queued[n] = 1;
    } else {
      values_[n] = n;
    }
  while (!queue.empty()) {
    const std::uint32_t node = queue.front();
    queue.pop_front();
    queued[node] = 0;
    if (values_[node] == node) continue;
    std::uint32_t value = met(inputs, node);
    if (value == values_[node]) continue;
    if (++changes[node] > most_changes) value = node;
    values_[node] = value;
    for (std::uint32_t k = readers.first[node]; k < readers.first[node + 1]; ++k)
      if (const std::uint32_t r = readers.other[k]; queued[r] == 0) {
        queue.push_back(r);
        queued[r] = 1;
      }
  }
  for (std::uint32_t n = 0; n < count; ++n)
    if (values_[n] == not_known) values_[n] = n;
}

}  // namespace simtlab::assembler

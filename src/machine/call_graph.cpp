#include "machine/call_graph.h"

#include <algorithm>
#include <utility>

#include "base/immortal.h"

namespace simtlab::machine {

// One more node stands for all functions whose address is taken: each call through a register leads there.
CallGraph::CallGraph(const std::vector<CalledFunction>& functions, const std::set<std::size_t>& taken)
    : functions_(functions), depth_(functions.size() + 1, unknown), edges_(functions.size() + 1) {
  for (std::size_t i = 0; i < functions.size(); ++i) {
    edges_[i].assign(functions[i].calls.begin(), functions[i].calls.end());
    if (functions[i].calls_pointers) edges_[i].push_back(functions.size());
  }
  edges_.back().assign(taken.begin(), taken.end());
}

const CalledFunction& CallGraph::function(std::size_t number) const {
  static const Immortal<CalledFunction> pointers;
  return number < functions_.size() ? functions_[number] : *pointers;
}

CallNeeds CallGraph::needs(std::size_t root) {
  CallNeeds out;
  std::vector<bool> seen(edges_.size());
  std::vector<std::size_t> open = {root};
  seen[root] = true;
  while (!open.empty()) {
    const std::size_t i = open.back();
    open.pop_back();
    const CalledFunction& f = function(i);
    out.registers = std::max(out.registers, f.registers);
    out.barriers = std::max(out.barriers, f.barriers);
    out.uses_dynamic_shared |= f.uses_dynamic_shared;
    out.shared.insert(f.shared.begin(), f.shared.end());
    for (const std::size_t next : edges_[i])
      if (!seen[next]) {
        seen[next] = true;
        open.push_back(next);
      }
  }
  out.stack_bytes = stack_of(root);
  return out;
}

// Depth first without a stack of calls of ours: a file may chain any number of functions. A call back to a
// function that is under way is recursion, whose depth nobody knows, and counts nothing.
std::uint32_t CallGraph::stack_of(std::size_t root) {
  if (depth_[root] >= 0) return static_cast<std::uint32_t>(depth_[root]);
  std::vector<std::pair<std::size_t, std::size_t>> way = {{root, 0}};  // with the next call to follow
  depth_[root] = under_way;
  while (!way.empty()) {
    const auto [i, at] = way.back();
    if (at < edges_[i].size()) {
      ++way.back().second;
      const std::size_t next = edges_[i][at];
      if (depth_[next] != unknown) continue;
      depth_[next] = under_way;
      way.emplace_back(next, 0);
      continue;
    }
    std::int64_t deepest = 0;
    for (const std::size_t next : edges_[i]) deepest = std::max(deepest, depth_[next]);
    constexpr std::int64_t most = 0xfffffff0u;
    depth_[i] = std::min<std::int64_t>(deepest + function(i).stack_bytes, most);
    way.pop_back();
  }
  return static_cast<std::uint32_t>(depth_[root]);
}

}  // namespace simtlab::machine

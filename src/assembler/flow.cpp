#include "assembler/flow.h"

#include <algorithm>

#include "ptx/cfg.h"

namespace simtlab::assembler {
namespace {

constexpr unsigned deepest = 64;  // loops within loops; what is within is one cycle with several entries

// Strongly connected components of the nodes given, of more than one node or with an edge to itself.
// `in` says which nodes take part; edges to `cut` do not.
std::vector<std::vector<std::uint32_t>> components(const std::vector<std::vector<std::uint32_t>>& edges,
                                                   const std::vector<std::uint32_t>& nodes,
                                                   const std::vector<std::uint32_t>& mark, std::uint32_t in,
                                                   std::uint32_t cut, std::vector<std::uint32_t>& index,
                                                   std::vector<std::uint32_t>& low) {
  struct Visit {
    std::uint32_t node;
    std::size_t next;
  };
  std::vector<std::vector<std::uint32_t>> out;
  std::vector<Visit> visits;
  std::vector<std::uint32_t> stack;
  std::uint32_t count = 0;
  constexpr std::uint32_t done = none - 1;
  for (const std::uint32_t n : nodes) index[n] = none;
  for (const std::uint32_t root : nodes) {
    if (index[root] != none) continue;
    visits.push_back({root, 0});
    index[root] = low[root] = count++;
    stack.push_back(root);
    while (!visits.empty()) {
      const std::uint32_t n = visits.back().node;
      if (visits.back().next < edges[n].size()) {
        const std::uint32_t to = edges[n][visits.back().next++];
        if (mark[to] != in || to == cut) continue;
        if (index[to] == none) {
          index[to] = low[to] = count++;
          stack.push_back(to);
          visits.push_back({to, 0});
        } else if (index[to] != done) {
          low[n] = std::min(low[n], index[to]);
        }
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) low[visits.back().node] = std::min(low[visits.back().node], low[n]);
      if (low[n] != index[n]) continue;
      std::vector<std::uint32_t> component;
      for (;;) {
        const std::uint32_t member = stack.back();
        stack.pop_back();
        index[member] = done;
        component.push_back(member);
        if (member == n) break;
      }
      const bool cycle =
          component.size() > 1 || (n != cut && std::ranges::find(edges[n], n) != edges[n].end());
      if (cycle) out.push_back(std::move(component));
    }
  }
  return out;
}

}  // namespace

Flow::Flow(const Program& program) {
  const auto n = static_cast<std::uint32_t>(program.blocks.size());
  successors_.resize(n);
  predecessors_.resize(n);
  for (std::uint32_t b = 0; b < n; ++b) {
    successors_[b] = successors(program, b);
    for (const std::uint32_t to : successors_[b]) predecessors_[to].push_back(b);
  }
  dominator_ = ptx::dominators(successors_, 0);
  dominator_[0] = none;
  // Backwards, from an exit that all ends lead to. Cycles without an end are tied to it.
  std::vector<std::vector<std::uint32_t>> backwards(n + 1);
  std::vector<bool> ends(n, false);
  std::vector<std::uint32_t> reached;
  const auto reach = [&](std::uint32_t from) {
    reached.push_back(from);
    ends[from] = true;
    while (!reached.empty()) {
      const std::uint32_t b = reached.back();
      reached.pop_back();
      for (const std::uint32_t p : predecessors_[b])
        if (!ends[p]) {
          ends[p] = true;
          reached.push_back(p);
        }
    }
  };
  for (std::uint32_t b = 0; b < n; ++b) backwards[b] = predecessors_[b];
  for (std::uint32_t b = 0; b < n; ++b)
    if (successors_[b].empty()) {
      backwards[n].push_back(b);
      reach(b);
    }
  for (std::uint32_t b = n; b-- > 0;)
    if (!ends[b]) {
      backwards[n].push_back(b);
      reach(b);
    }
  post_dominator_ = ptx::dominators(backwards, n);
  post_dominators_.walk(post_dominator_, n);
  post_dominator_.resize(n);
  for (std::uint32_t& p : post_dominator_)
    if (p == n) p = none;
  dominators_.walk(dominator_, 0);
  find_loops();
}

void Flow::Tree::walk(const std::vector<std::uint32_t>& parent, std::uint32_t root) {
  const std::size_t n = parent.size();
  std::vector<std::vector<std::uint32_t>> children(n);
  for (std::uint32_t b = 0; b < n; ++b)
    if (b != root && parent[b] != none) children[parent[b]].push_back(b);
  enter.assign(n, 0);
  leave.assign(n, 0);
  std::uint32_t clock = 1;
  std::vector<std::pair<std::uint32_t, std::size_t>> stack;
  stack.emplace_back(root, 0);
  enter[root] = clock++;
  while (!stack.empty()) {
    auto& [b, next] = stack.back();
    if (next < children[b].size()) {
      const std::uint32_t child = children[b][next++];
      enter[child] = clock++;
      stack.emplace_back(child, 0);
    } else {
      leave[b] = clock;
      stack.pop_back();
    }
  }
}

void Flow::find_loops() {
  const std::uint32_t n = blocks();
  loop_of_.assign(n, none);
  struct Task {
    std::vector<std::uint32_t> nodes;
    std::uint32_t outer, cut;
    unsigned depth;
  };
  std::vector<Task> tasks;
  std::vector<std::uint32_t> mark(n, 0), index(n, none), low(n, 0);
  Task all{{}, none, none, 1};
  for (std::uint32_t b = 0; b < n; ++b)
    if (is_reachable(b)) all.nodes.push_back(b);
  tasks.push_back(std::move(all));
  std::uint32_t round = 0;
  while (!tasks.empty()) {
    const Task task = std::move(tasks.back());
    tasks.pop_back();
    ++round;
    for (const std::uint32_t b : task.nodes) mark[b] = round;
    for (std::vector<std::uint32_t>& nodes :
         components(successors_, task.nodes, mark, round, task.cut, index, low)) {
      std::ranges::sort(nodes);
      const auto number = static_cast<std::uint32_t>(loops_.size());
      for (const std::uint32_t b : nodes) loop_of_[b] = number;
      Loop loop{.outer = task.outer, .depth = task.depth};
      bool several = task.depth >= deepest;
      for (const std::uint32_t b : nodes)
        for (const std::uint32_t p : predecessors_[b]) {
          if (!is_reachable(p) || (loop_of_[p] == number && p != task.cut)) continue;
          several = several || (loop.header != none && loop.header != b);
          loop.header = b;
        }
      if (nodes.front() == 0) {  // the kernel begins in it
        several = several || (loop.header != none && loop.header != 0);
        loop.header = 0;
      }
      if (several) loop.header = none;
      loops_.push_back(loop);
      if (loop.header != none) tasks.push_back({std::move(nodes), number, loop.header, task.depth + 1});
    }
  }
}

bool Flow::contains(std::uint32_t loop, std::uint32_t block) const {
  for (std::uint32_t l = loop_of_[block]; l != none; l = loops_[l].outer)
    if (l == loop) return true;
  return false;
}

std::uint32_t Flow::outermost_without(std::uint32_t block, std::uint32_t other) const {
  std::uint32_t out = none;
  for (std::uint32_t l = loop_of_[block]; l != none; l = loops_[l].outer)
    if (!contains(l, other)) out = l;
  return out;
}

}  // namespace simtlab::assembler

#include "ptx/cfg.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace simtlab::ptx {
namespace {

constexpr std::uint32_t none = no_pc;

// A graph in compressed rows.
struct Rows {
  const std::vector<std::uint32_t>& start;
  const std::vector<std::uint32_t>& edges;
};

void compress(std::size_t nodes, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges,
              bool reverse, std::vector<std::uint32_t>& start, std::vector<std::uint32_t>& out) {
  start.assign(nodes + 1, 0);
  for (const auto& [from, to] : edges) ++start[(reverse ? to : from) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  out.resize(edges.size());
  std::vector<std::uint32_t> next(start.begin(), start.end() - 1);
  for (const auto& [from, to] : edges) out[next[reverse ? to : from]++] = reverse ? from : to;
}

// Lengauer and Tarjan's algorithm, simple linking, no recursion. Nodes are renumbered in depth-first order.
class LengauerTarjan {
 public:
  LengauerTarjan(Rows forward, Rows backward, std::uint32_t nodes)
      : forward_(forward),
        backward_(backward),
        number_(nodes, none),
        ancestor_(nodes, none),
        label_(nodes),
        semi_(nodes, none),
        idom_(nodes, none) {}

  std::vector<std::uint32_t> run(std::uint32_t root) {
    search(root);
    const auto n = static_cast<std::uint32_t>(vertex_.size());
    std::vector<std::vector<std::uint32_t>> bucket(n);
    for (std::uint32_t i = n; i-- > 1;) {
      const std::uint32_t w = vertex_[i];
      for (std::uint32_t e = backward_.start[w]; e < backward_.start[w + 1]; ++e) {
        const std::uint32_t v = backward_.edges[e];
        if (number_[v] == none) continue;
        semi_[w] = std::min(semi_[w], semi_[evaluate(v)]);
      }
      bucket[semi_[w]].push_back(w);
      ancestor_[w] = parent_[i];
      const std::uint32_t p = number_[parent_[i]];
      for (const std::uint32_t v : bucket[p]) {
        const std::uint32_t u = evaluate(v);
        idom_[v] = semi_[u] < semi_[v] ? u : parent_[i];
      }
      bucket[p].clear();
    }
    for (std::uint32_t i = 1; i < n; ++i) {
      const std::uint32_t w = vertex_[i];
      if (idom_[w] != vertex_[semi_[w]]) idom_[w] = idom_[idom_[w]];
    }
    idom_[root] = root;
    return std::move(idom_);
  }

 private:
  void search(std::uint32_t root) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> stack{{root, forward_.start[root]}};
    visit(root, root);
    while (!stack.empty()) {
      auto& [v, e] = stack.back();
      if (e == forward_.start[v + 1]) {
        stack.pop_back();
        continue;
      }
      const std::uint32_t w = forward_.edges[e++];
      if (number_[w] != none) continue;
      visit(w, v);
      stack.emplace_back(w, forward_.start[w]);
    }
  }
  void visit(std::uint32_t v, std::uint32_t parent) {
    number_[v] = semi_[v] = static_cast<std::uint32_t>(vertex_.size());
    label_[v] = v;
    vertex_.push_back(v);
    parent_.push_back(parent);
  }
  // The node of least semi-dominator on the path to the root of v's tree in the forest.
  std::uint32_t evaluate(std::uint32_t v) {
    if (ancestor_[v] == none) return v;
    path_.clear();
    for (std::uint32_t u = v; ancestor_[ancestor_[u]] != none; u = ancestor_[u]) path_.push_back(u);
    for (std::size_t i = path_.size(); i-- > 0;) {
      const std::uint32_t u = path_[i], a = ancestor_[u];
      if (semi_[label_[a]] < semi_[label_[u]]) label_[u] = label_[a];
      ancestor_[u] = ancestor_[a];
    }
    return label_[v];
  }

  Rows forward_, backward_;
  std::vector<std::uint32_t> number_, ancestor_, label_, semi_, idom_;
  std::vector<std::uint32_t> vertex_, parent_;  // by depth-first number
  std::vector<std::uint32_t> path_;
};

bool leaves(Op op) { return op == Op::ret || op == Op::exit || op == Op::trap; }

// Pcs where a block begins.
std::vector<bool> leaders(const Function& f) {
  std::vector<bool> lead(f.code.size() + 1, false);
  lead[0] = true;
  for (std::size_t pc = 0; pc < f.code.size(); ++pc) {
    const Inst& inst = f.code[pc];
    if (inst.op == Op::bra) lead[inst.target] = true;
    if (inst.op == Op::bra || inst.op == Op::brx || leaves(inst.op)) lead[pc + 1] = true;
  }
  for (const std::vector<std::uint32_t>& table : f.branch_tables)
    for (const std::uint32_t target : table) lead[target] = true;
  return lead;
}

using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Sorts the edges from `first` on, which leave one block, and drops repetitions.
void tidy(Edges& edges, std::size_t first) {
  const auto begin = edges.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, edges.end());
  edges.erase(std::unique(begin, edges.end()), edges.end());
}

// A node for each table that several branches use, so that edges do not multiply: branch -> table -> target.
// Gives the node of each table; no_pc where there is none.
std::vector<std::uint32_t> add_table_nodes(Cfg& cfg, const Function& f) {
  std::vector<std::uint32_t> uses(f.branch_tables.size(), 0), node(f.branch_tables.size(), none);
  for (const Inst& inst : f.code)
    if (inst.op == Op::brx) ++uses[inst.target];
  const auto end = static_cast<std::uint32_t>(f.code.size());
  for (std::size_t t = 0; t < uses.size(); ++t) {
    if (uses[t] < 2) continue;
    node[t] = cfg.exit();
    cfg.blocks.push_back({end, end});
  }
  return node;
}

// Ties every block that can't reach the exit to it: see the header.
void tie_endless_loops(Cfg& cfg, Edges& edges) {
  const std::uint32_t exit = cfg.exit();
  std::vector<bool> reaches(exit + 1, false);
  std::vector<std::uint32_t> work;
  auto flood = [&](std::uint32_t from) {
    reaches[from] = true;
    work.push_back(from);
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      for (std::uint32_t e = cfg.predecessor_start[b]; e < cfg.predecessor_start[b + 1]; ++e) {
        const std::uint32_t p = cfg.predecessors[e];
        if (!reaches[p]) reaches[p] = true, work.push_back(p);
      }
    }
  };
  flood(exit);
  // Depth-first finishing order from the entry: what finishes first is last in reverse post-order.
  std::vector<bool> seen(exit + 1, false);
  std::vector<std::uint32_t> finished;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stack{{0, cfg.successor_start[0]}};
  seen[0] = true;
  while (!stack.empty()) {
    auto& [b, e] = stack.back();
    if (e == cfg.successor_start[b + 1]) {
      finished.push_back(b);
      stack.pop_back();
      continue;
    }
    const std::uint32_t s = cfg.successors[e++];
    if (!seen[s]) seen[s] = true, stack.emplace_back(s, cfg.successor_start[s]);
  }
  const std::size_t before = edges.size();
  for (const std::uint32_t b : finished) {
    if (reaches[b] || cfg.blocks[b].empty()) continue;
    edges.emplace_back(b, exit);
    flood(b);
  }
  for (std::uint32_t b = 0; b < exit; ++b)  // code that nothing reaches
    if (!reaches[b] && !cfg.blocks[b].empty()) edges.emplace_back(b, exit), flood(b);
  if (edges.size() == before) return;
  compress(exit + 1, edges, false, cfg.successor_start, cfg.successors);
  compress(exit + 1, edges, true, cfg.predecessor_start, cfg.predecessors);
}

}  // namespace

Cfg build_cfg(const Function& f) {
  Cfg cfg;
  const auto size = static_cast<std::uint32_t>(f.code.size());
  const std::vector<bool> lead = leaders(f);
  cfg.block_of.resize(size);
  for (std::uint32_t pc = 0; pc < size; ++pc) {
    if (lead[pc]) cfg.blocks.push_back({pc, pc});
    cfg.block_of[pc] = static_cast<std::uint32_t>(cfg.blocks.size() - 1);
    cfg.blocks.back().last = pc + 1;
  }
  const auto code_blocks = static_cast<std::uint32_t>(cfg.blocks.size());
  const std::vector<std::uint32_t> table_node = add_table_nodes(cfg, f);
  const std::uint32_t exit = cfg.exit();
  Edges edges;
  auto add_targets = [&](std::uint32_t from, const std::vector<std::uint32_t>& table) {
    for (const std::uint32_t target : table)
      edges.emplace_back(from, target < size ? cfg.block_of[target] : exit);
  };
  auto block_at = [&](std::uint32_t pc) { return pc < size ? cfg.block_of[pc] : exit; };
  for (std::uint32_t b = 0; b < code_blocks; ++b) {
    const std::uint32_t last = cfg.blocks[b].last - 1;
    const Inst& inst = f.code[last];
    const bool guarded = inst.guard.kind != OperandKind::none;
    const std::size_t first = edges.size();
    if (inst.op == Op::bra) edges.emplace_back(b, block_at(inst.target));
    if (inst.op == Op::brx && table_node[inst.target] != none)
      edges.emplace_back(b, table_node[inst.target]);
    else if (inst.op == Op::brx)
      add_targets(b, f.branch_tables[inst.target]);
    if (leaves(inst.op)) edges.emplace_back(b, exit);
    const bool ends = inst.op == Op::bra || inst.op == Op::brx || leaves(inst.op);
    if (!ends || guarded) edges.emplace_back(b, block_at(last + 1));
    tidy(edges, first);
  }
  for (std::size_t t = 0; t < table_node.size(); ++t) {
    if (table_node[t] == none) continue;
    const std::size_t first = edges.size();
    add_targets(table_node[t], f.branch_tables[t]);
    tidy(edges, first);
  }
  compress(exit + 1, edges, false, cfg.successor_start, cfg.successors);
  compress(exit + 1, edges, true, cfg.predecessor_start, cfg.predecessors);
  if (exit != 0) tie_endless_loops(cfg, edges);
  return cfg;
}

std::vector<std::uint32_t> immediate_post_dominators(const Cfg& cfg) {
  const std::uint32_t exit = cfg.exit();
  const Rows forward{cfg.predecessor_start, cfg.predecessors}, backward{cfg.successor_start, cfg.successors};
  std::vector<std::uint32_t> out = LengauerTarjan(forward, backward, exit + 1).run(exit);
  for (std::uint32_t& d : out)
    if (d == none) d = exit;
  return out;
}

void set_reconvergence(Function& function, const Cfg& cfg) {
  const std::vector<std::uint32_t> post = immediate_post_dominators(cfg);
  for (std::size_t pc = 0; pc < function.code.size(); ++pc) {
    Inst& inst = function.code[pc];
    if (inst.op != Op::bra && inst.op != Op::brx) continue;
    std::uint32_t d = post[cfg.block_of[pc]];
    while (d != cfg.exit() && cfg.blocks[d].empty()) d = post[d];  // lanes meet in code, not in a table
    inst.reconverge = d == cfg.exit() ? no_pc : cfg.blocks[d].first;
  }
}

std::vector<std::uint32_t> dominators(const std::vector<std::vector<std::uint32_t>>& successors,
                                      std::uint32_t root) {
  Edges edges;
  for (std::uint32_t v = 0; v < successors.size(); ++v)
    for (const std::uint32_t w : successors[v]) edges.emplace_back(v, w);
  std::vector<std::uint32_t> fs, fe, bs, be;
  compress(successors.size(), edges, false, fs, fe);
  compress(successors.size(), edges, true, bs, be);
  return LengauerTarjan({fs, fe}, {bs, be}, static_cast<std::uint32_t>(successors.size())).run(root);
}

}  // namespace simtlab::ptx

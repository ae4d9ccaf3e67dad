#include "ptx/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace simtlab::ptx {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) / align * align;
}

std::string cycle_text(const std::vector<VirtualFunction>& functions, const std::vector<std::uint32_t>& stack,
                       std::uint32_t again) {
  std::string out;
  const auto from = std::find(stack.begin(), stack.end(), again);
  std::size_t shown = 0;
  for (auto it = from; it != stack.end(); ++it) {
    if (++shown > 8) {
      out += "... -> ";
      break;
    }
    out += functions[*it].fn.name.substr(0, 128) + " -> ";
  }
  return out + functions[again].fn.name.substr(0, 128);
}

[[noreturn]] void too_many_edges(const ModuleScope& scope) {
  throw Error(ExitCode::bad_input, "ptx-limit",
              fmt::format("{}: kernels, functions and indirect calls combine to more than {} possible calls",
                          scope.source->name(), Limits::call_edges));
}

// Properties that two signatures must have in common for a call through a pointer.
std::vector<std::uint64_t> layout_key(const AstSignature& s) {
  std::vector<std::uint64_t> key{s.returns.size()};
  for (const std::vector<AstVariable>* list : {&s.returns, &s.params})
    for (const AstVariable& v : *list) key.push_back(v.bytes << 20 | v.align);
  return key;
}

void find_candidates(ModuleScope& scope, std::vector<VirtualFunction>& functions,
                     const std::vector<std::uint32_t>& ast_of) {
  std::vector<std::uint32_t> taken;
  for (const VirtualFunction& f : functions)
    taken.insert(taken.end(), f.addresses_taken.begin(), f.addresses_taken.end());
  std::sort(taken.begin(), taken.end());
  taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
  // Functions of one layout are found once; a site then has a list to copy.
  std::map<std::vector<std::uint64_t>, std::vector<std::uint32_t>> by_layout;
  for (const std::uint32_t candidate : taken) {
    const AstFunction& callee = scope.ast->functions[ast_of[candidate]];
    if (!callee.is_entry) by_layout[layout_key(callee.signature)].push_back(candidate);
  }
  std::size_t total = 0;
  for (VirtualFunction& f : functions) {
    for (const VirtualFunction::Indirect& indirect : f.indirect) {
      std::vector<std::uint32_t>& out = f.fn.call_sites[indirect.site].candidates;
      const std::vector<std::uint64_t> wanted = layout_key(indirect.prototype);
      if (indirect.targets.empty()) {
        if (const auto it = by_layout.find(wanted); it != by_layout.end()) out = it->second;
      } else {
        for (const std::uint32_t target : indirect.targets) {
          const AstFunction& callee = scope.ast->functions[ast_of[target]];
          if (!callee.is_entry && layout_key(callee.signature) == wanted) out.push_back(target);
        }
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
      }
      total += out.size();
      if (total > Limits::call_edges) too_many_edges(scope);
    }
  }
}

}  // namespace

CallGraph build_call_graph(ModuleScope& scope, std::vector<VirtualFunction>& functions,
                           const std::vector<std::uint32_t>& ast_of) {
  find_candidates(scope, functions, ast_of);
  CallGraph graph;
  const auto n = static_cast<std::uint32_t>(functions.size());
  for (const VirtualFunction& f : functions) {
    std::vector<std::uint32_t> callees = f.callees;
    for (const VirtualFunction::Indirect& i : f.indirect) {
      const auto& more = f.fn.call_sites[i.site].candidates;
      callees.insert(callees.end(), more.begin(), more.end());
    }
    std::sort(callees.begin(), callees.end());
    callees.erase(std::unique(callees.begin(), callees.end()), callees.end());
    graph.callees.push_back(std::move(callees));
  }
  graph.back.resize(n);
  enum : std::uint8_t { fresh, open, done };
  std::vector<std::uint8_t> state(n, fresh);
  std::vector<std::uint32_t> path;
  std::vector<std::size_t> next(n, 0);
  for (std::uint32_t root = 0; root < n; ++root) {
    if (state[root] != fresh) continue;
    path.push_back(root);
    state[root] = open;
    while (!path.empty()) {
      const std::uint32_t f = path.back();
      if (next[f] == graph.callees[f].size()) {
        state[f] = done;
        graph.bottom_up.push_back(f);
        path.pop_back();
        continue;
      }
      const std::uint32_t callee = graph.callees[f][next[f]];
      if (state[callee] == open) {
        const auto& direct = functions[f].callees;
        if (!std::binary_search(direct.begin(), direct.end(), callee)) {
          graph.back[f].push_back(callee);
          graph.callees[f].erase(graph.callees[f].begin() + static_cast<std::ptrdiff_t>(next[f]));
          continue;
        }
        const AstFunction& where = scope.ast->functions[ast_of[callee]];
        scope.report(where.at,
                     fmt::format("recursion is not supported: {}", cycle_text(functions, path, callee)),
                     "rewrite it as a loop with an explicit stack");
        graph.callees[f].erase(graph.callees[f].begin() + static_cast<std::ptrdiff_t>(next[f]));
        continue;
      }
      ++next[f];
      if (state[callee] == fresh) state[callee] = open, path.push_back(callee);
    }
  }
  return graph;
}

namespace {

// For each shared variable the kernels that reach it, and whether a function (not a kernel itself) uses it.
struct SharedUsers {
  std::vector<std::vector<std::uint32_t>> kernels;      // by variable, kernel numbers in order, unique
  std::vector<std::vector<std::uint32_t>> by_function;  // kernels that reach each function
};

SharedUsers shared_users(const ModuleScope& scope, const std::vector<VirtualFunction>& functions,
                         const CallGraph& graph) {
  SharedUsers users;
  const std::size_t n = functions.size();
  users.kernels.resize(scope.module->variables.size());
  users.by_function.resize(n);
  std::vector<std::uint32_t> seen(n, no_index), work;
  std::size_t steps = 0;
  for (std::uint32_t k = 0; k < n; ++k) {
    if (!functions[k].fn.is_entry) continue;
    work.assign(1, k);
    seen[k] = k;
    while (!work.empty()) {
      const std::uint32_t f = work.back();
      work.pop_back();
      users.by_function[f].push_back(k);
      steps += 1 + functions[f].shared_uses.size() + graph.callees[f].size();
      if (steps > Limits::call_edges) too_many_edges(scope);
      for (const auto& use : functions[f].shared_uses) {
        auto& kernels = users.kernels[use.variable];
        if (kernels.empty() || kernels.back() != k) kernels.push_back(k);
      }
      for (const std::uint32_t callee : graph.callees[f])
        if (seen[callee] != k) seen[callee] = k, work.push_back(callee);
    }
  }
  return users;
}

}  // namespace

void lay_out_shared(ModuleScope& scope, std::vector<VirtualFunction>& functions, const CallGraph& graph,
                    const std::vector<const AstVariable*>& origin) {
  std::vector<Variable>& variables = scope.module->variables;
  const SharedUsers users = shared_users(scope, functions, graph);
  std::vector<std::uint32_t> order;
  for (std::uint32_t v = 0; v < variables.size(); ++v)
    if (variables[v].space == Space::shared) order.push_back(v);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return users.kernels[a].size() != users.kernels[b].size()
               ? users.kernels[a].size() > users.kernels[b].size()
               : a < b;
  });
  auto dynamic = [&](std::uint32_t v) { return variables[v].external && variables[v].bytes == 0; };
  std::vector<std::uint64_t> end(functions.size(), 0), align(functions.size(), 0);
  for (const std::uint32_t v : order) {
    if (dynamic(v)) {
      for (const std::uint32_t k : users.kernels[v])
        align[k] = std::max<std::uint64_t>(align[k], variables[v].align);
      continue;
    }
    std::uint64_t at = 0;
    for (const std::uint32_t k : users.kernels[v]) at = std::max(at, end[k]);
    at = round_up(at, variables[v].align);
    if (variables[v].bytes > Limits::shared_bytes || at + variables[v].bytes > Limits::shared_bytes)
      scope.source->fail(origin[v]->at, "ptx-limit",
                         fmt::format("shared variables need more than {} MiB with '{}'",
                                     Limits::shared_bytes >> 20, origin[v]->name.substr(0, 64)));
    variables[v].shared_offset = static_cast<std::uint32_t>(at);
    for (const std::uint32_t k : users.kernels[v]) end[k] = at + variables[v].bytes;
  }
  for (std::size_t k = 0; k < functions.size(); ++k)
    if (align[k] != 0) end[k] = round_up(end[k], align[k]);
  // Kernels that reach one function with dynamic shared memory must agree: sets joined by such functions, the
  // largest counts.
  std::vector<std::uint32_t> set(functions.size());
  std::iota(set.begin(), set.end(), 0u);
  auto root = [&](std::uint32_t k) {
    while (set[k] != k) k = set[k] = set[set[k]];
    return k;
  };
  for (std::uint32_t f = 0; f < functions.size(); ++f) {
    const auto& uses = functions[f].shared_uses;
    const auto& kernels = users.by_function[f];
    if (functions[f].fn.is_entry || kernels.empty() ||
        std::none_of(uses.begin(), uses.end(), [&](const auto& use) { return dynamic(use.variable); }))
      continue;
    for (const std::uint32_t k : kernels) set[root(k)] = root(kernels.front());
  }
  std::vector<std::uint64_t> most(functions.size(), 0);
  for (std::uint32_t k = 0; k < functions.size(); ++k) most[root(k)] = std::max(most[root(k)], end[k]);
  for (std::uint32_t k = 0; k < functions.size(); ++k) end[k] = most[root(k)];
  for (std::uint32_t f = 0; f < functions.size(); ++f) {
    Function& fn = functions[f].fn;
    if (fn.is_entry) fn.shared_bytes = static_cast<std::uint32_t>(end[f]);
    const std::uint32_t kernel = fn.is_entry                    ? f
                                 : users.by_function[f].empty() ? no_index
                                                                : users.by_function[f].front();
    for (const auto& use : functions[f].shared_uses) {
      const std::uint64_t offset = dynamic(use.variable) ? (kernel == no_index ? 0 : end[kernel])
                                                         : variables[use.variable].shared_offset;
      fn.constants[use.constant].value += offset;
    }
  }
}

}  // namespace simtlab::ptx

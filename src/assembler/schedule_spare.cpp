#include "assembler/schedule_spare.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

namespace simtlab::assembler {
namespace {

class SparingOrder {
 public:
  SparingOrder(const Program& program, std::uint32_t block, const LiveRegisters& live,
               const ScheduleGraph& graph)
      : code_(program.blocks[block].code),
        reads_(code_.size()),
        writes_(code_.size()),
        before_(code_.size()),
        left_(code_.size()),
        more_(code_.size(), 0) {
    for (std::uint32_t n = 0; n < code_.size(); ++n) {
      add_values(n);
      left_[n] = static_cast<std::uint32_t>(graph.after(n).size());
      for (const ScheduleGraph::Edge& e : graph.after(n)) before_[e.to].push_back(n);
    }
    for (const auto& [place, value] : last_)
      alive_[value] = static_cast<char>(live.out(block, place / registers_a_value));
  }

  std::vector<std::uint32_t> run() && {
    for (std::uint32_t n = 0; n < code_.size(); ++n)
      if (left_[n] == 0) open(n);
    while (!open_.empty()) {
      const std::uint32_t n = ~open_.begin()->second;
      open_.erase(open_.begin());
      left_[n] = none;
      place(n);
    }
    std::ranges::reverse(order_);
    return std::move(order_);
  }

 private:
  using Choice = std::pair<int, std::uint32_t>;  // values more, then the last one in the code

  // What a guarded instruction leaves is the value before.
  void add_values(std::uint32_t n) {
    const bool guarded = code_[n].guarded();
    for_each_ref(code_[n], [&](const Ref& r, bool writes) {
      for (unsigned k = 0; (!writes || guarded) && k < r.count; ++k)
        read(n, r.reg * registers_a_value + r.part + k);
    });
    for_each_ref(code_[n], [&](const Ref& r, bool writes) {
      for (unsigned k = 0; writes && !guarded && k < r.count; ++k)
        writes_[n].push_back(last_[r.reg * registers_a_value + r.part + k] = new_value());
    });
  }
  std::uint32_t new_value() {
    readers_.emplace_back();
    alive_.push_back(0);
    return static_cast<std::uint32_t>(readers_.size() - 1);
  }
  void read(std::uint32_t n, std::uint32_t place) {
    const auto [it, fresh] = last_.try_emplace(place, 0u);
    if (fresh) it->second = new_value();
    if (std::ranges::find(reads_[n], it->second) != reads_[n].end()) return;
    reads_[n].push_back(it->second);
    readers_[it->second].push_back(n);
  }

  void open(std::uint32_t n) {
    more_[n] = 0;
    for (const std::uint32_t value : reads_[n]) more_[n] += alive_[value] == 0 ? 1 : 0;
    for (const std::uint32_t value : writes_[n]) more_[n] -= alive_[value];
    open_.insert(Choice{more_[n], ~n});
  }

  void place(std::uint32_t n) {
    order_.push_back(n);
    for (const std::uint32_t value : writes_[n]) alive_[value] = 0;
    for (const std::uint32_t value : reads_[n]) {
      if (alive_[value] != 0) continue;
      alive_[value] = 1;
      for (const std::uint32_t m : readers_[value]) {
        if (left_[m] != 0) continue;
        open_.erase(Choice{more_[m], ~m});
        --more_[m];
        open_.insert(Choice{more_[m], ~m});
      }
    }
    for (const std::uint32_t m : before_[n])
      if (--left_[m] == 0) open(m);
  }

  const std::vector<Instruction>& code_;
  std::unordered_map<std::uint32_t, std::uint32_t> last_;  // the value that a part of a register has last
  std::vector<std::vector<std::uint32_t>> reads_, writes_, before_;  // by instruction
  std::vector<std::vector<std::uint32_t>> readers_;                  // by value
  std::vector<char> alive_;                                          // by value: behind what is placed
  std::vector<std::uint32_t> left_;  // instructions behind it that are not placed yet; none: it is placed
  std::vector<int> more_;
  std::set<Choice> open_;
  std::vector<std::uint32_t> order_;
};

// What an instruction needs comes just before it, and of that first what takes most registers to compute: as
// Sethi and Ullman order an expression.
class DepthFirstOrder {
 public:
  DepthFirstOrder(const std::vector<Instruction>& code, const ScheduleGraph& graph)
      : graph_(graph), before_(code.size()), written_(code.size(), 0), needed_(code.size(), 0) {
    for (std::uint32_t n = 0; n < code.size(); ++n) {
      for_each_ref(code[n], [&](const Ref& r, bool writes) { written_[n] += writes ? r.count : 0u; });
      sort_before(n);
      for (const ScheduleGraph::Edge& e : graph.after(n))
        if (before_[e.to].empty() || before_[e.to].back() != n) before_[e.to].push_back(n);
    }
  }

  std::vector<std::uint32_t> run() && {
    std::vector<char> placed(before_.size(), 0);
    std::vector<std::size_t> next(before_.size(), 0);
    std::vector<std::uint32_t> way;
    for (std::uint32_t end = 0; end < before_.size(); ++end) {
      if (!graph_.after(end).empty()) continue;
      way.push_back(end);
      while (!way.empty()) {
        const std::uint32_t n = way.back();
        if (next[n] < before_[n].size()) {
          const std::uint32_t m = before_[n][next[n]++];
          if (placed[m] == 0) way.push_back(m);
          continue;
        }
        way.pop_back();
        if (std::exchange(placed[n], 1) == 0) order_.push_back(n);
      }
    }
    return std::move(order_);
  }

 private:
  void sort_before(std::uint32_t n) {
    std::ranges::stable_sort(before_[n], [&](std::uint32_t x, std::uint32_t y) {
      return needed_[x] + written_[y] > needed_[y] + written_[x];
    });
    std::uint32_t kept = 0;
    for (const std::uint32_t m : before_[n]) {
      needed_[n] = std::max(needed_[n], kept + needed_[m]);
      kept += written_[m];
    }
    needed_[n] = std::max(needed_[n], written_[n]);
  }

  const ScheduleGraph& graph_;
  std::vector<std::vector<std::uint32_t>> before_;
  std::vector<std::uint32_t> written_, needed_;  // registers
  std::vector<std::uint32_t> order_;
};

}  // namespace

std::vector<std::uint32_t> depth_first_order(const std::vector<Instruction>& code,
                                             const ScheduleGraph& graph) {
  return DepthFirstOrder(code, graph).run();
}

std::vector<std::uint32_t> sparing_order(const Program& program, std::uint32_t block,
                                         const LiveRegisters& live, const ScheduleGraph& graph) {
  return SparingOrder(program, block, live, graph).run();
}

std::vector<std::uint32_t> order_of_ptx(const std::vector<Instruction>& code, const ScheduleGraph& graph) {
  std::vector<std::uint32_t> left(code.size()), order;
  std::set<std::pair<std::uint32_t, std::uint32_t>> open;  // line, instruction
  for (std::uint32_t n = 0; n < code.size(); ++n)
    if ((left[n] = graph.predecessors(n)) == 0) open.insert({code[n].line, n});
  order.reserve(code.size());
  while (!open.empty()) {
    const std::uint32_t n = open.begin()->second;
    open.erase(open.begin());
    order.push_back(n);
    for (const ScheduleGraph::Edge& e : graph.after(n))
      if (--left[e.to] == 0) open.insert({code[e.to].line, e.to});
  }
  return order;
}

}  // namespace simtlab::assembler

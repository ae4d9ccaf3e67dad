// The order of a block's instructions when registers have numbers: what most depends on comes first.
//
// Nothing changes where the block takes no fewer cycles for it.
#include "assembler/schedule.h"

#include <algorithm>
#include <array>
#include <queue>
#include <utility>

#include "assembler/schedule_issue.h"

namespace simtlab::assembler {
namespace {

using ScheduleOrder = std::vector<std::uint32_t>;

// Of the instructions that may issue now always the one of the highest rank; of equal ones the first.
class ListScheduler {
 public:
  ListScheduler(std::span<const Instruction> code, const ScheduleGraph& graph,
                std::span<const std::uint32_t> ranks)
      : graph_(graph), ranks_(ranks), times_(code, graph), left_(code.size()) {
    for (std::uint32_t n = 0; n < code.size(); ++n) {
      left_[n] = graph.predecessors(n);
      if (left_[n] == 0) waiting_.push({0, n});
    }
    order_.reserve(code.size());
  }

  // The block's cycles.
  std::uint32_t run() {
    while (order_.size() < left_.size()) {
      collect();
      const std::uint32_t n = choose();
      if (n == none) {
        times_.pass_to(next_time());
        continue;
      }
      times_.issue(n);
      order_.push_back(n);
      for (const ScheduleGraph::Edge& e : graph_.after(n))
        if (--left_[e.to] == 0) waiting_.push({times_.ready(e.to), e.to});
    }
    return times_.now();
  }
  const ScheduleOrder& order() const { return order_; }

 private:
  struct Best {
    std::uint32_t rank = 0, n = 0;
    bool operator<(const Best& other) const { return rank != other.rank ? rank < other.rank : n > other.n; }
  };
  using Waiting = std::pair<std::uint32_t, std::uint32_t>;  // time, instruction

  // Those whose operands are there.
  void collect() {
    while (!waiting_.empty() && waiting_.top().first <= times_.now()) {
      const std::uint32_t n = waiting_.top().second;
      waiting_.pop();
      ready_[static_cast<std::size_t>(times_.pipe(n))].push({ranks_[n], n});
    }
  }
  std::uint32_t choose() {
    std::priority_queue<Best>* best = nullptr;
    for (std::size_t k = 0; k < ready_.size(); ++k)
      if (!ready_[k].empty() && times_.free(static_cast<PipeKind>(k)) <= times_.now() &&
          (best == nullptr || best->top() < ready_[k].top()))
        best = &ready_[k];
    if (best == nullptr) return none;
    const std::uint32_t n = best->top().n;
    best->pop();
    return n;
  }
  std::uint32_t next_time() const {
    std::uint32_t time = waiting_.empty() ? none : waiting_.top().first;
    for (std::size_t k = 0; k < ready_.size(); ++k)
      if (!ready_[k].empty()) time = std::min(time, times_.free(static_cast<PipeKind>(k)));
    return time;
  }

  const ScheduleGraph& graph_;
  std::span<const std::uint32_t> ranks_;
  IssueTimes times_;
  std::vector<std::uint32_t> left_;
  ScheduleOrder order_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  std::array<std::priority_queue<Best>, static_cast<std::size_t>(PipeKind::count_)> ready_;
};

void schedule_block(Block& block) {
  if (block.code.size() < 3) return;
  std::vector<Effects> effects;
  effects.reserve(block.code.size());
  for (const Instruction& i : block.code) effects.push_back(effects_of(i));
  const ScheduleGraph graph(block.code, effects);
  const std::uint32_t own = cycles_in_order(block.code, graph);
  // Who comes first in the code comes first; then who has the longest way to the end.
  const std::vector<std::uint32_t> none_ranked(block.code.size(), 0);
  const std::vector<std::uint32_t> ranked = graph.cycles_to_end();
  ListScheduler near(block.code, graph, none_ranked), far(block.code, graph, ranked);
  const std::uint32_t near_cycles = near.run(), far_cycles = far.run();
  if (std::min(near_cycles, far_cycles) >= own) return;
  const ScheduleOrder& order = near_cycles <= far_cycles ? near.order() : far.order();
  std::vector<Instruction> code;
  code.reserve(block.code.size());
  for (const std::uint32_t n : order) code.push_back(std::move(block.code[n]));
  block.code = std::move(code);
}

}  // namespace

void schedule_after_allocation(Program& program) {
  for (Block& block : program.blocks) schedule_block(block);
}

}  // namespace simtlab::assembler

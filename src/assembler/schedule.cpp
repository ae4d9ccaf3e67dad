// The order of a block's instructions when registers have numbers: what most depends on comes first.
//
// Nothing changes where the block takes no fewer cycles for it.
#include "assembler/schedule.h"

#include <algorithm>
#include <array>
#include <queue>
#include <utility>

#include "assembler/schedule_estimate.h"
#include "assembler/schedule_issue.h"

namespace simtlab::assembler {
namespace {

// An instruction, perhaps with its factors the other way round.
struct Placed {
  std::uint32_t n = none;
  bool swapped = false;
  bool operator==(const Placed&) const = default;
};

// Of the instructions that may issue now always one of the highest rank; of equal ones the first.
// Multiply-adds that wait for the banks of the register file let others pass that do not: with `banks`, those
// of a similar rank.
class ListScheduler {
 public:
  ListScheduler(std::span<const Instruction> code, std::span<const Effects> effects,
                const ScheduleGraph& graph, std::span<const std::uint32_t> ranks, bool banks)
      : graph_(graph), ranks_(ranks), banks_(banks), times_(code, effects, graph, true), left_(code.size()) {
    for (std::uint32_t n = 0; n < code.size(); ++n) {
      left_[n] = graph.predecessors(n);
      if (left_[n] == 0) waiting_.push({0, n});
    }
    order_.reserve(code.size());
  }

  void run() {
    while (order_.size() < left_.size()) {
      collect();
      const Placed next = choose();
      if (next.n == none) {
        times_.pass_to(next_time());
        continue;
      }
      times_.issue(next.n, next.swapped);
      order_.push_back(next);
      for (const ScheduleGraph::Edge& e : graph_.after(next.n))
        if (--left_[e.to] == 0) waiting_.push({times_.ready(e.to), e.to});
    }
  }
  const std::vector<Placed>& order() const { return order_; }

 private:
  static constexpr std::size_t most_looked_at = 32;
  static constexpr std::uint32_t similar_rank = 8;
  struct Best {
    std::uint32_t rank = 0, n = 0;
    bool operator<(const Best& other) const { return rank != other.rank ? rank < other.rank : n > other.n; }
  };
  using Waiting = std::pair<std::uint32_t, std::uint32_t>;  // time, instruction
  using Queue = std::priority_queue<Best>;

  // Those whose operands are there.
  void collect() {
    while (!waiting_.empty() && waiting_.top().first <= times_.now()) {
      const std::uint32_t n = waiting_.top().second;
      waiting_.pop();
      ready_[static_cast<std::size_t>(times_.pipe(n))].push({ranks_[n], n});
    }
  }
  Placed choose() {
    Queue* best = nullptr;
    for (std::size_t k = 0; k < ready_.size(); ++k)
      if (!ready_[k].empty() && times_.free(static_cast<PipeKind>(k)) <= times_.now() &&
          (best == nullptr || best->top() < ready_[k].top()))
        best = &ready_[k];
    if (best == nullptr) return {none, false};
    if (banks_ && best == &ready_[static_cast<std::size_t>(PipeKind::fma)]) return choose_by_banks(*best);
    const std::uint32_t n = best->top().n;
    best->pop();
    return {n, false};
  }
  Placed choose_by_banks(Queue& queue) {
    std::array<Best, most_looked_at> seen;
    std::size_t count = 0, chosen = 0;
    Placed out{none, false};
    unsigned least = ~0u;
    while (least > 0 && count < seen.size() && !queue.empty() &&
           (count == 0 || queue.top().rank + similar_rank >= seen[0].rank)) {
      const Best next = seen[count] = queue.top();
      queue.pop();
      for (const bool swapped : {false, true}) {
        if (swapped && !times_.can_swap(next.n)) continue;
        if (const unsigned c = times_.conflicts(next.n, swapped); c < least) {
          least = c;
          chosen = count;
          out = {next.n, swapped};
        }
      }
      ++count;
    }
    for (std::size_t k = 0; k < count; ++k)
      if (k != chosen) queue.push(seen[k]);
    return out;
  }
  std::uint32_t next_time() const {
    std::uint32_t time = waiting_.empty() ? none : waiting_.top().first;
    for (std::size_t k = 0; k < ready_.size(); ++k)
      if (!ready_[k].empty()) time = std::min(time, times_.free(static_cast<PipeKind>(k)));
    return time;
  }

  const ScheduleGraph& graph_;
  std::span<const std::uint32_t> ranks_;
  const bool banks_;
  IssueTimes times_;
  std::vector<std::uint32_t> left_;
  std::vector<Placed> order_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  std::array<Queue, static_cast<std::size_t>(PipeKind::count_)> ready_;
};

// a * b = b * a
void swap_factors(Instruction& i) {
  const auto a = static_cast<std::size_t>(i.code.form->operand("Ra")),
             b = static_cast<std::size_t>(i.code.form->operand("Rb"));
  std::swap(i.code.operands[a], i.code.operands[b]);
  std::swap(i.refs[a], i.refs[b]);
}

Block in_order(const Block& block, const std::vector<Placed>& order) {
  Block out = block;
  for (std::size_t k = 0; k < order.size(); ++k) {
    out.code[k] = block.code[order[k].n];
    if (order[k].swapped) swap_factors(out.code[k]);
  }
  return out;
}

// The best of the block's own order and some others.
void schedule_block(Block& block, unsigned generation, bool in_loop) {
  if (block.code.size() < 3) return;
  std::vector<Effects> effects;
  effects.reserve(block.code.size());
  for (const Instruction& i : block.code) effects.push_back(effects_of(i));
  const ScheduleGraph graph(block.code, effects);
  std::vector<Placed> own(block.code.size());
  for (std::uint32_t n = 0; n < own.size(); ++n) own[n].n = n;
  // Who comes first in the code comes first; then who has the longest way to the end.
  const std::vector<std::uint32_t> unranked(block.code.size(), 0), ranked = graph.cycles_to_end();
  std::vector<std::vector<Placed>> seen = {std::move(own)};
  std::uint32_t least = estimated_cycles(block, generation, in_loop);
  Block best;
  for (const bool banks : {false, true})
    for (const auto* ranks : {&unranked, &ranked}) {
      ListScheduler scheduler(block.code, effects, graph, *ranks, banks);
      scheduler.run();
      if (std::ranges::find(seen, scheduler.order()) != seen.end()) continue;
      seen.push_back(scheduler.order());
      Block tried = in_order(block, scheduler.order());
      const std::uint32_t cycles = estimated_cycles(tried, generation, in_loop);
      if (cycles >= least) continue;
      least = cycles;
      best = std::move(tried);
    }
  if (!best.code.empty()) block.code = std::move(best.code);
}

}  // namespace

void schedule_after_allocation(Program& program) {
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    const std::vector<std::uint32_t> next = successors(program, b);
    schedule_block(program.blocks[b], program.generation, std::ranges::find(next, b) != next.end());
  }
}

}  // namespace simtlab::assembler

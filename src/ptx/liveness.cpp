#include "ptx/liveness.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace simtlab::ptx {
namespace {

// Steps of the backward walks in one function; a hostile graph could ask for their square. Beyond it
// registers are taken to live throughout the function: sound, only wasteful.
constexpr std::uint64_t walk_budget = 100'000'000;

struct Interval {
  std::uint32_t start = std::numeric_limits<std::uint32_t>::max(), end = 0;
  bool used() const { return start <= end; }
  void cover(std::uint32_t position) {
    start = std::min(start, position);
    end = std::max(end, position);
  }
};

bool is_register(const Operand& o) { return o.kind == OperandKind::reg || o.kind == OperandKind::pred; }

// Uses are at position 2 * pc, writes at 2 * pc + 1.
class Analysis {
 public:
  Analysis(const Function& f, const Cfg& cfg, const std::vector<Type>& types)
      : f_(f),
        cfg_(cfg),
        types_(types),
        intervals_(types.size()),
        live_out_rows_(cfg.blocks.size(), 0),
        live_out_(cfg.blocks.size()) {}

  Allocation run() {
    weigh();
    gather();
    for (std::uint32_t r = 0; r < types_.size(); ++r) walk(r);
    measure_pressure();
    widen_at_instructions();
    return scan();
  }

 private:
  std::uint32_t rows_of(std::uint32_t r) const {
    return types_[r] == Type::pred ? 0 : size_of(types_[r]) > 4 ? 2 : 1;
  }

  // Registers that a value takes in machine code: parameters and constants are operands there, a folded
  // address is its base, a folded index its own 32 bits, and of 64 bits of which only the lower half counts
  // there is only that.
  void weigh() {
    weight_.resize(types_.size());
    for (std::uint32_t r = 0; r < types_.size(); ++r) weight_[r] = static_cast<std::uint8_t>(rows_of(r));
    for (const Inst& inst : f_.code) {
      if (inst.dst_count != 1 || !is_register(inst.dst[0])) continue;
      std::uint8_t& weight = weight_[inst.dst[0].index];
      if (inst.low_half) weight = std::min<std::uint8_t>(weight, 1);
      if (inst.fold == Fold::address) weight = 0;
      if (inst.fold == Fold::wide) weight = 1;
      if (inst.fold != Fold::operand) continue;
      if (inst.op == Op::ld || inst.src[0].kind != OperandKind::reg || weight_[inst.src[0].index] == 0)
        weight = 0;
    }
  }

  // Local facts: for each register, the blocks that read it before writing it, and the blocks that write it
  // for certain.
  void gather() {
    std::vector<std::uint32_t> killed_in(types_.size(), no_pc), exposed_in(types_.size(), no_pc),
        mentioned_in(types_.size(), no_pc);
    exposed_.resize(types_.size());
    killed_.resize(types_.size());
    mentioned_.resize(types_.size());
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      for (std::uint32_t pc = cfg_.blocks[b].first; pc < cfg_.blocks[b].last; ++pc) {
        accesses_of(f_, f_.code[pc], now_);
        for (const std::uint32_t r : now_.reads) {
          intervals_[r].cover(2 * pc);
          if (mentioned_in[r] != b) mentioned_in[r] = b, mentioned_[r].push_back(b);
          if (killed_in[r] != b && exposed_in[r] != b) exposed_in[r] = b, exposed_[r].push_back(b);
        }
        for (const std::uint32_t r : now_.writes) {
          intervals_[r].cover(2 * pc + 1);
          if (mentioned_in[r] != b) mentioned_in[r] = b, mentioned_[r].push_back(b);
          if (f_.code[pc].guard.kind == OperandKind::none && killed_in[r] != b)
            killed_in[r] = b, killed_[r].push_back(b);
        }
      }
    }
    block_stamp_.assign(cfg_.blocks.size(), no_pc);
    kill_stamp_.assign(cfg_.blocks.size(), no_pc);
    out_stamp_.assign(cfg_.blocks.size(), no_pc);
    mention_stamp_.assign(cfg_.blocks.size(), no_pc);
  }

  // All blocks into which r is live, backwards from the blocks that read it first.
  void walk(std::uint32_t r) {
    if (exposed_[r].empty()) return;
    if (steps_ > walk_budget) return live_everywhere(r);
    for (const std::uint32_t b : killed_[r]) kill_stamp_[b] = r;
    for (const std::uint32_t b : mentioned_[r]) mention_stamp_[b] = r;
    work_.assign(exposed_[r].begin(), exposed_[r].end());
    for (const std::uint32_t b : work_) block_stamp_[b] = r;
    while (!work_.empty()) {
      const std::uint32_t b = work_.back();
      work_.pop_back();
      if (!cfg_.blocks[b].empty()) intervals_[r].cover(2 * cfg_.blocks[b].first);
      for (std::uint32_t e = cfg_.predecessor_start[b]; e < cfg_.predecessor_start[b + 1]; ++e) {
        const std::uint32_t p = cfg_.predecessors[e];
        ++steps_;
        if (out_stamp_[p] == r) continue;
        mark_live_out(r, p);
        if (kill_stamp_[p] == r || block_stamp_[p] == r) continue;
        block_stamp_[p] = r;
        work_.push_back(p);
      }
    }
  }

  void mark_live_out(std::uint32_t r, std::uint32_t b) {
    out_stamp_[b] = r;
    if (!cfg_.blocks[b].empty()) intervals_[r].cover(2 * cfg_.blocks[b].last - 1);
    live_out_rows_[b] += weight_[r];
    if (mention_stamp_[b] == r) live_out_[b].push_back(r);
  }

  void live_everywhere(std::uint32_t r) {
    intervals_[r].cover(0);
    intervals_[r].cover(static_cast<std::uint32_t>(2 * f_.code.size()));
    everywhere_rows_ += weight_[r];
  }

  // Registers alive after each instruction, backwards through each block.
  void measure_pressure() {
    live_at_call_.assign(f_.call_sites.size(), 0);
    // Block in which the register is known to be live now
    std::vector<std::uint32_t> live(types_.size(), no_pc);
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      std::uint32_t rows = live_out_rows_[b];
      for (const std::uint32_t r : live_out_[b]) live[r] = b;
      max_live_ = std::max(max_live_, rows);
      for (std::uint32_t pc = cfg_.blocks[b].last; pc-- > cfg_.blocks[b].first;) {
        const Inst& inst = f_.code[pc];
        accesses_of(f_, inst, now_);
        std::uint32_t dead_results = 0;
        for (const std::uint32_t r : now_.writes) {
          if (live[r] != b)
            dead_results += weight_[r];
          else if (inst.guard.kind == OperandKind::none)
            live[r] = no_pc, rows -= weight_[r];
        }
        if (inst.op == Op::call) live_at_call_[inst.target] = rows + everywhere_rows_;
        for (const std::uint32_t r : now_.reads)
          if (live[r] != b) live[r] = b, rows += weight_[r];
        max_live_ = std::max(max_live_, std::max(rows, dead_results));
      }
    }
    max_live_ += everywhere_rows_;
  }

  // Sources that must not share rows with a result stay alive until the results are written.
  void widen_at_instructions() {
    for (std::uint32_t pc = 0; pc < f_.code.size(); ++pc) {
      const Inst& inst = f_.code[pc];
      accesses_of(f_, inst, now_);
      if (now_.writes.empty()) continue;
      const bool several = now_.writes.size() > 1 || inst.op == Op::call;
      for (const std::uint32_t r : now_.reads)
        if (several || rows_of(r) != rows_of(now_.writes.front())) intervals_[r].cover(2 * pc + 1);
    }
  }

  Allocation scan();

  const Function& f_;
  const Cfg& cfg_;
  const std::vector<Type>& types_;
  std::vector<Interval> intervals_;
  std::vector<std::uint8_t> weight_;
  std::vector<std::vector<std::uint32_t>> exposed_, killed_, mentioned_;
  std::vector<std::uint32_t> block_stamp_, kill_stamp_, out_stamp_, mention_stamp_, work_;
  std::vector<std::uint32_t> live_out_rows_;
  std::vector<std::vector<std::uint32_t>> live_out_;  // registers live out of a block that mentions them
  std::vector<std::uint32_t> live_at_call_;
  Accesses now_;
  std::uint64_t steps_ = 0;
  std::uint32_t max_live_ = 0, everywhere_rows_ = 0;
};

// Numbers in use of one kind of slot: the lowest free one first.
class SlotPool {
 public:
  std::uint32_t take() {
    if (free_.empty()) return size_++;
    const std::uint32_t p = free_.top();
    free_.pop();
    return p;
  }
  void give(std::uint32_t p) { free_.push(p); }
  std::uint32_t size() const { return size_; }

 private:
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_;
  std::uint32_t size_ = 0;
};

Allocation Analysis::scan() {
  Allocation out;
  out.slot.assign(types_.size(), 0);
  out.max_live = max_live_;
  out.live_at_call = std::move(live_at_call_);
  std::vector<std::uint32_t> order;
  for (std::uint32_t r = 0; r < types_.size(); ++r)
    if (intervals_[r].used()) order.push_back(r);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return intervals_[a].start != intervals_[b].start ? intervals_[a].start < intervals_[b].start : a < b;
  });
  using Active = std::pair<std::uint32_t, std::uint32_t>;  // end, register
  std::priority_queue<Active, std::vector<Active>, std::greater<>> active;
  // Narrow and wide values never share rows. Lane i of a 64-bit value lies in bytes 8i.. of its two rows,
  // lane i of a 32-bit value in bytes 4i.. of one: on divergent paths a value that is dead for some lanes
  // would otherwise overwrite what other lanes still need.
  SlotPool narrow, wide, preds;
  auto pool_of = [&](std::uint32_t r) -> SlotPool& {
    return types_[r] == Type::pred ? preds : rows_of(r) == 2 ? wide : narrow;
  };
  for (const std::uint32_t r : order) {
    while (!active.empty() && active.top().first < intervals_[r].start) {
      const std::uint32_t done = active.top().second;
      active.pop();
      pool_of(done).give(out.slot[done]);
    }
    out.slot[r] = pool_of(r).take();
    active.emplace(intervals_[r].end, r);
  }
  for (const std::uint32_t r : order) {
    if (types_[r] == Type::pred) continue;
    out.slot[r] = rows_of(r) == 2 ? 2 * out.slot[r] : 2 * wide.size() + out.slot[r];
  }
  out.rows = (2 * wide.size() + narrow.size() + 1) & ~1u;
  out.preds = preds.size();
  return out;
}

}  // namespace

void accesses_of(const Function& f, const Inst& inst, Accesses& out) {
  out.reads.clear();
  out.writes.clear();
  if (is_register(inst.guard)) out.reads.push_back(inst.guard.index);
  for (unsigned i = 0; i < inst.src_count; ++i)
    if (is_register(inst.src[i])) out.reads.push_back(inst.src[i].index);
  for (unsigned i = 0; i < inst.dst_count; ++i)
    if (is_register(inst.dst[i])) out.writes.push_back(inst.dst[i].index);
  if (inst.op != Op::call) return;
  const CallSite& site = f.call_sites[inst.target];
  if (site.indirect && is_register(site.pointer)) out.reads.push_back(site.pointer.index);
  for (const CallArg& arg : site.args)
    if (is_register(arg.reg)) out.reads.push_back(arg.reg.index);
  for (const CallArg& arg : site.returns)
    if (is_register(arg.reg)) out.writes.push_back(arg.reg.index);
}

Allocation allocate(const Function& f, const Cfg& cfg, const std::vector<Type>& types) {
  return Analysis(f, cfg, types).run();
}

void apply(Function& f, const Allocation& allocation) {
  auto place = [&](Operand& o) {
    if (is_register(o)) o.index = allocation.slot[o.index];
  };
  for (Inst& inst : f.code) {
    place(inst.guard);
    for (unsigned i = 0; i < inst.dst_count; ++i) place(inst.dst[i]);
    for (unsigned i = 0; i < inst.src_count; ++i) place(inst.src[i]);
  }
  for (CallSite& site : f.call_sites) {
    place(site.pointer);
    for (CallArg& arg : site.args) place(arg.reg);
    for (CallArg& arg : site.returns) place(arg.reg);
  }
  f.reg_rows = allocation.rows;
  f.pred_count = allocation.preds;
}

}  // namespace simtlab::ptx

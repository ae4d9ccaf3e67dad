// Looking ahead: does a warp ever do anything but read, as long as memory stays as it is?
//
// A warp is run on from where it is, with its state put back afterwards. Stores and atomics are let happen
// and taken back, for only what they leave shows whether they change anything. Barriers are walked past:
// whether one lets a warp go only decides when it goes round, not where.
#include "exec/spin.h"

#include <bit>
#include <cstring>
#include <utility>

#include "exec/spin_loop.h"
#include "exec/state.h"

namespace simtlab::exec {
namespace {

using ptx::Op;
using ptx::Space;

constexpr unsigned most_bytes = 32;  // of a lane's store

// What clocks show while a loop is looked for: later than any time that a loop compares with. After that the
// loop goes round a few times more while clocks run far ahead with each read: by a number that no mask and no
// remainder takes for the same time.
constexpr std::uint64_t far_ahead = (std::uint64_t{1} << 61) + (1u << 30);
constexpr std::uint64_t ahead_each = (std::uint64_t{1} << 40) + (1u << 26) + 977;
constexpr unsigned rounds_ahead = 4;

// All that decides what a warp does next, but for memory that others see.
class Image {
 public:
  void take(const Block::Impl& b, const Warp& w) {
    warp_ = w;
    if (w.splits != nullptr) splits_ = *w.splits;
    if (w.delays != nullptr) delays_ = *w.delays;
    for_each_part(b, w, [](std::vector<std::byte>& kept, const void* from, std::size_t bytes) {
      const auto* const first = static_cast<const std::byte*>(from);
      kept.assign(first, first + bytes);
    });
  }
  // But for registers and predicates.
  bool same_place(const Block::Impl& b, const Warp& w) {
    if (w.pc != warp_.pc || w.active != warp_.active || w.depth != warp_.depth || w.rpc != warp_.rpc ||
        w.frame_depth != warp_.frame_depth || w.ctx.carry != warp_.ctx.carry)
      return false;
    if (w.splits != nullptr && !w.splits->same_place(splits_)) return false;
    if (w.delays != nullptr && !(*w.delays == delays_)) return false;
    return equal(stack, w.stack) && equal(frames, w.frames) &&
           equal(local, w.ctx.local, warp_size * b.launch->local_bytes);
  }
  bool same_registers(const Warp& w) const { return equal(preds, w.preds) && equal(rows, w.rows); }
  // Of the frame that runs, then.
  const std::byte* frame_rows(const Warp& w) const { return parts_[rows].data() + (w.ctx.bases[0] - w.rows); }
  const std::uint32_t* frame_preds(const Warp& w) const {
    return reinterpret_cast<const std::uint32_t*>(parts_[preds].data()) + (w.ctx.preds - w.preds);
  }
  void put_back(const Block::Impl& b, Warp& w) {
    w = warp_;
    if (w.splits != nullptr) *w.splits = splits_;
    if (w.delays != nullptr) *w.delays = delays_;
    for_each_part(b, w, [](const std::vector<std::byte>& kept, void* to, std::size_t bytes) {
      if (bytes != 0) std::memcpy(to, kept.data(), bytes);  // a part without bytes may be a null pointer
    });
  }

 private:
  // Stack entries and frames have no padding: their bytes are their values.
  static_assert(std::has_unique_object_representations_v<StackEntry> &&
                std::has_unique_object_representations_v<Frame>);
  enum Part { preds, stack, frames, rows, local, part_count };
  bool equal(Part part, const void* now) const { return equal(part, now, parts_[part].size()); }
  bool equal(Part part, const void* now, std::size_t bytes) const {
    return bytes == 0 || std::memcmp(parts_[part].data(), now, bytes) == 0;
  }
  template <class F>
  void for_each_part(const Block::Impl& b, const Warp& w, const F& f) {
    const Launch::Impl& l = *b.launch;
    f(parts_[preds], w.preds, l.warp_preds * sizeof(std::uint32_t));
    f(parts_[stack], w.stack, w.depth * sizeof(StackEntry));
    f(parts_[frames], w.frames, (w.frame_depth + 1) * sizeof(Frame));
    f(parts_[rows], w.rows, std::size_t{l.warp_rows} * row_bytes);
    f(parts_[local], w.ctx.local, warp_size * l.local_bytes);
  }

  Warp warp_;
  Splits splits_;  // of machine code
  Delays delays_;  // of results that come late
  std::vector<std::byte> parts_[part_count];
};

// Where a lane's store or atomic goes.
struct Target {
  std::byte* host = nullptr;
  bool own = false;  // local memory: part of the warp's state
};

Target target_of(const Block::Impl& b, const Warp& w, const XInst& x, unsigned lane, unsigned bytes) {
  const std::uint64_t address = address_of(w.ctx, x, 0, lane), offset = address % ptx::window_bytes;
  const auto in_shared = [&]() -> Target {
    const bool variable = x.inst->src[0].kind == ptx::OperandKind::imm;
    return {shared_host(b.view, variable ? offset + b.view.shared_first : offset, bytes)};
  };
  switch (x.inst->mods.space) {
    case Space::local:
    case Space::param: return {nullptr, true};
    case Space::shared: return in_shared();
    case Space::global:
    case Space::generic: break;
    default: return {};
  }
  switch (address / ptx::window_bytes) {
    case ptx::shared_window / ptx::window_bytes: return in_shared();
    case ptx::local_window / ptx::window_bytes: return {nullptr, true};
    case ptx::param_window / ptx::window_bytes: return {};
    default:
      return {b.launch->memory->find(address, bytes) == nullptr ? nullptr : b.launch->memory->host(address)};
  }
}

// The bytes that a store or atomic finds, to be compared with the bytes that it leaves.
class Before {
 public:
  // false: not understood.
  bool take(const Block::Impl& b, const Warp& w, const XInst& x, std::uint32_t lanes) {
    lanes_ = lanes;
    bytes_ = ptx::size_of(x.inst->type) * x.inst->mods.vector;
    if (bytes_ == 0 || bytes_ > most_bytes) return false;
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      targets_[lane] = target_of(b, w, x, lane, bytes_);
      if (targets_[lane].own) continue;
      if (targets_[lane].host == nullptr) return false;
      std::memcpy(old_[lane], targets_[lane].host, bytes_);
    }
    return single_writers() || x.inst->op != Op::red;
  }
  // Nothing was changed, at no time: lanes that share a word are asked one by one.
  bool unchanged(const Warp& w, const XInst& x) const {
    for (std::uint32_t m = lanes_; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      if (!targets_[lane].own && std::memcmp(old_[lane], targets_[lane].host, bytes_) != 0) return false;
    }
    if (single_writers()) return true;
    if (x.inst->mods.vector != 1 || bytes_ > 8) return false;
    const bool store = x.inst->op == Op::st;
    if (!store && x.inst->dst[0].kind != ptx::OperandKind::reg) return false;
    const std::byte* const row = w.ctx.row(store ? x.src[1] : x.dst);
    for (std::uint32_t m = lanes_; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      if (!targets_[lane].own && std::memcmp(old_[lane], row + lane * (bytes_ == 8 ? 8u : 4u), bytes_) != 0)
        return false;
    }
    return true;
  }
  void put_back() const {
    for (std::uint32_t m = lanes_; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      if (!targets_[lane].own) std::memcpy(targets_[lane].host, old_[lane], bytes_);
    }
  }

 private:
  bool single_writers() const {
    for (std::uint32_t m = lanes_; m != 0; m &= m - 1)
      for (std::uint32_t n = m & (m - 1); n != 0; n &= n - 1)
        if (targets_[std::countr_zero(m)].host != nullptr &&
            targets_[std::countr_zero(m)].host == targets_[std::countr_zero(n)].host)
          return false;
    return true;
  }

  std::uint32_t lanes_ = 0;
  unsigned bytes_ = 0;
  Target targets_[warp_size];
  std::byte old_[warp_size][most_bytes];
};

// Plain instructions that do more than compute.
bool acts(Op op) {
  switch (op) {
    case Op::vprintf:
    case Op::assertfail:
    case Op::heap_alloc:
    case Op::heap_free:
    case Op::trap:
    case Op::brkpt: return true;
    default: return false;
  }
}

// Machine code that does more than go elsewhere in its own code.
bool leaves(const machine::Action& action) {
  using enum machine::Flow;
  return action.flow == exit || action.flow == trap || action.flow == block_barrier ||
         action.flow == branch_register;
}

bool only_reads(Op op) {
  return op == Op::ld || op == Op::ldu || op == Op::tex || op == Op::tld4 || op == Op::txq ||
         op == Op::prefetch || op == Op::prefetchu;
}

// One warp, run on with memory as it is.
class Foresight {
 public:
  Foresight(Block::Impl& b, Warp& w, std::uint32_t steps) : b_(b), w_(w), left_(steps) {}

  // True: the warp does nothing but read, for ever. Leaves the warp as it was.
  bool confined(Stuck& out) {
    Image now;
    now.take(b_, w_);
    StoreBuffer* const buffer = std::exchange(b_.view.buffer, nullptr);
    const std::size_t stacks = b_.deep_stacks.size();
    bool still = false;
    try {
      still = all_go_round();
    } catch (const Error&) {  // it will fail when it gets there
    }
    b_.view.buffer = buffer;
    now.put_back(b_, w_);
    b_.deep_stacks.resize(stacks);
    if (!still || (reads_host_memory_ && b_.launch->memory->host_runs())) return false;
    out = found_;
    out.waiting_lanes = waiting_lanes();
    return true;
  }
  bool passes_barriers() const { return passes_barriers_; }

 private:
  std::uint32_t waiting_lanes() const {
    std::uint32_t all = w_.splits == nullptr ? 0 : w_.splits->alive;
    for (std::uint32_t i = 0; i < w_.depth; ++i) all |= w_.stack[i].mask;
    return static_cast<std::uint32_t>(std::popcount(all & ~went_round_ & ~w_.active));
  }

  // Where lanes may part (check_spin()), those that wait get their turn at some time: they must go round,
  // too. What each does depends on itself alone there, so each needs to be looked at once only.
  bool all_go_round() {
    for (;;) {
      if (!goes_round()) return false;
      went_round_ |= w_.active;
      if (w_.splits != nullptr) {
        let_next_split_go(w_);
        if ((w_.active & ~went_round_) == 0) return true;
        continue;
      }
      if (!b_.launch->may_part || w_.depth == 0 || !let_others_go(w_)) return true;
      if ((w_.active & ~went_round_) == 0) return true;
    }
  }

  // Comes back to a state that it was in: the kept one is renewed after 1, 2, 4 ... steps.
  bool goes_round() {
    keep();
    for (std::uint64_t since = 0, most = 1; left_ > 0; --left_) {
      if (!step()) return false;
      if (has_gone_round()) return !reads_clock_ || goes_round_at_any_time();
      if (++since < most) continue;
      keep();
      since = 0;
      most *= 2;
      rank_ = went_round_ == 0 ? 0 : rank_;  // what it read before may be no part of the loop
    }
    return false;
  }

  // Clocks stood still so far, at a time by which every timeout is over; the loop goes the same way while
  // they run. A loop that times itself would not.
  bool goes_round_at_any_time() {
    const std::vector<std::uint32_t> way = std::exchange(pcs_, {});
    for (unsigned round = 0; round < rounds_ahead; ++round)
      for (const std::uint32_t pc : way) {
        if (w_.pc != pc || left_ == 0) return false;
        --left_;
        clock_ += ahead_each;
        if (!step()) return false;
      }
    clock_ = far_ahead;
    reads_clock_ = false;
    return true;
  }

  void keep() {
    kept_.take(b_, w_);
    pcs_.clear();
    reads_clock_ = false;
    const auto& machine = b_.launch->entry->function->machine;
    way_.begin(w_, machine == nullptr ? WayRound::none : machine->layout.temporary);
  }

  // Registers that decide nothing need not be the same: tries are counted by many a loop. Finding out which
  // do may take as long as the steps did.
  bool has_gone_round() {
    if (!kept_.same_place(b_, w_)) return false;
    if (kept_.same_registers(w_)) return true;
    if (way_.cost() != 0 && spent_ > 4 * steps_) return false;
    spent_ += way_.cost();
    return way_.same_decisions(w_, kept_.frame_rows(w_), kept_.frame_preds(w_));
  }

  bool step() {
    const XInst& x = w_.code[w_.pc];
    if (w_.delays != nullptr) deliver_results(b_, w_);
    ++steps_;
    way_.add(x, w_);
    pcs_.push_back(w_.pc);
    const std::uint32_t lanes = x.kind & flag_guarded ? w_.active & w_.ctx.pred(x.guard) : w_.active;
    const std::uint16_t kind = x.kind & kind_mask;
    if (rank_ == 0) note(x, Stuck::Why::loop);
    if (lanes != 0) {
      if (kind == kind_exit || (kind == kind_plain && acts(x.inst->op))) return false;
      reads_clock_ = reads_clock_ || kind == kind_timed;
      if (kind == kind_barrier) return pass_barrier(x);
      if (kind == kind_flow && leaves(*x.machine->action)) return false;
      if (kind == kind_memory && !only_reads(x.inst->op)) {
        if (!writes_nothing(x, lanes)) return false;
        if (x.inst->op == Op::atom) note_read(x, lanes);
        look_for_host(lanes);
        settle(w_);
        return true;
      }
    }
    execute(b_, w_, x, clock_);
    if (lanes != 0 && kind == kind_memory && (x.inst->op == Op::ld || x.inst->op == Op::ldu)) {
      note_read(x, lanes);
      look_for_host(lanes);
    }
    settle(w_);
    return true;
  }

  bool pass_barrier(const XInst& x) {
    if (x.inst->op == Op::barrier_cluster) return false;  // other blocks may go on for it
    const ptx::BarMode mode = x.inst->mods.bar;
    if (mode != ptx::BarMode::sync && mode != ptx::BarMode::arrive)
      return false;  // its result depends on others
    passes_barriers_ = true;
    ++w_.pc;
    settle(w_);
    return true;
  }

  // The operation that accesses memory; what it needs has been computed.
  const XInst& access_of(const XInst& x) {
    if (!runs_operations(x.fn)) return x;
    const MachineStep& step = *x.machine;
    for (std::uint32_t i = 0; i < step.memory; ++i) step.operations[i].fn(w_.ctx, step.operations[i]);
    return step.operations[step.memory];
  }

  bool writes_nothing(const XInst& x, std::uint32_t lanes) {
    const Op op = x.inst->op;
    const XInst& access = access_of(x);
    if (access.inst->mods.behind_copies && b_.late != nullptr) return false;
    if ((op != Op::st && op != Op::atom && op != Op::red) || !before_.take(b_, w_, access, lanes))
      return false;
    bool unchanged = false;
    try {
      execute(b_, w_, x, clock_);
      unchanged = before_.unchanged(w_, access);
    } catch (const Error&) {}
    if (!unchanged) before_.put_back();
    return unchanged;
  }

  void note(const XInst& x, Stuck::Why why) {
    found_.why = why;
    found_.launch = b_.launch;
    found_.inst = x.inst;
    found_.block = b_.index;
    found_.warp = w_.ctx.warp;
  }

  // The read to be told of: rather one that asks for what others write than an ordinary one.
  void note_read(const XInst& x, std::uint32_t lanes) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    Space space = w_.ctx.space;
    const std::uint64_t address = w_.ctx.addresses[lane];
    if (space == Space::generic) space = Space::global;
    if (space != Space::global && space != Space::shared) return;
    const bool asks = x.inst->op == Op::atom || x.inst->mods.order != ptx::MemOrder::weak ||
                      x.inst->mods.cache == ptx::CacheOp::cv;
    const unsigned rank = asks ? 2 : 1;
    if (rank <= rank_) return;
    const unsigned bytes = ptx::size_of(x.inst->type);
    std::uint64_t value = 0;
    const bool window = w_.ctx.space == Space::shared;
    if (!read_generic(w_.ctx, lane, window ? ptx::shared_window + address % ptx::window_bytes : address,
                      reinterpret_cast<std::byte*>(&value), std::min<std::size_t>(bytes, sizeof value)))
      return;
    rank_ = rank;
    note(x, Stuck::Why::read);
    found_.lane = lane;
    found_.space = space;
    found_.bytes = static_cast<std::uint16_t>(bytes);
    found_.address = address;
    found_.value = value;
  }

  // Memory that a thread of the host may write meanwhile.
  void look_for_host(std::uint32_t lanes) {
    const GlobalMemory& memory = *b_.launch->memory;
    if (!memory.host_writes() || reads_host_memory_) return;
    for (std::uint32_t m = lanes; m != 0; m &= m - 1)
      if (const Allocation* const in = memory.find(w_.ctx.addresses[std::countr_zero(m)]);
          in != nullptr && in->host_writes)
        reads_host_memory_ = true;
  }

  Block::Impl& b_;
  Warp& w_;
  std::uint32_t left_;
  std::uint64_t steps_ = 0, spent_ = 0, clock_ = far_ahead;
  Image kept_;
  std::vector<std::uint32_t> pcs_;  // since then
  WayRound way_;                    // since then
  Before before_;
  Stuck found_;
  unsigned rank_ = 0;
  std::uint32_t went_round_ = 0;
  bool passes_barriers_ = false, reads_host_memory_ = false, reads_clock_ = false;  // a clock: since kept_
};

Stuck at_barrier(const Block::Impl& b, const Warp& w) {
  if (w.waits_at == cluster_barrier)
    return {.why = Stuck::Why::barrier,
            .launch = b.launch,
            .inst = w.wait->inst,
            .block = b.index,
            .warp = w.ctx.warp,
            .barrier = cluster_barrier,
            .arrived = static_cast<std::uint32_t>(b.cluster->arrived()),
            .expected = static_cast<std::uint32_t>(b.cluster->expected())};
  const Barrier& barrier = b.barriers[w.waits_at];
  return {.why = Stuck::Why::barrier,
          .launch = b.launch,
          .inst = w.wait->inst,
          .block = b.index,
          .warp = w.ctx.warp,
          .barrier = w.waits_at,
          .arrived = barrier.arrivals,
          .expected = barrier.expected != 0 ? barrier.expected / warp_size
                                            : static_cast<std::uint32_t>(b.warps.size())};
}

// It stays so even if the barrier lets it go.
bool confined_behind_barrier(Block::Impl& b, Warp& w, std::uint32_t steps) {
  const ptx::BarMode mode = w.wait->inst->mods.bar;
  if (mode != ptx::BarMode::sync) return false;
  Stuck unused;
  return Foresight(b, w, steps).confined(unused);
}

}  // namespace

bool stuck(Block::Impl& b, std::uint32_t steps, std::vector<Stuck>& who) {
  if (b.late != nullptr && !b.late->empty()) return false;
  b.refresh_bounds();
  bool passes_barriers = false, any = false;
  for (Warp& w : b.warps) {
    if (w.status == WarpStatus::exited) continue;
    any = true;
    if (w.status == WarpStatus::barrier) {
      who.push_back(at_barrier(b, w));
      continue;
    }
    Foresight ahead(b, w, steps);
    Stuck& found = who.emplace_back();
    if (!ahead.confined(found)) return false;
    passes_barriers = passes_barriers || ahead.passes_barriers();
  }
  if (passes_barriers)
    for (Warp& w : b.warps)
      if (w.status == WarpStatus::barrier && !confined_behind_barrier(b, w, steps)) return false;
  return any;
}

bool Block::stuck(std::uint32_t steps, std::vector<Stuck>& who) { return exec::stuck(*impl_, steps, who); }

}  // namespace simtlab::exec

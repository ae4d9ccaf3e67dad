// Issue of one warp instruction: run it, occupy its pipeline, set when its results are there, find out when
// the warp can go on.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "timing/scoreboard.h"
#include "timing/sm.h"

namespace simtlab::timing {

// Up to issue_width instructions of one warp in a cycle (dual issue takes the next instruction of the same
// warp).
bool Sm::issue(WarpScheduler& scheduler, unsigned local, Cycle now) {
  bool any = false;
  for (unsigned left = config_.device.sm.issue_width; left > 0; --left) {
    const Issued issued = issue_one(scheduler, local, now, left > 1);
    if (issued != Issued::nothing && !any && observer_ != nullptr) observer_->selected();
    any = any || issued != Issued::nothing;
    if (issued != Issued::more) break;
  }
  if (any) scheduler.last = static_cast<std::uint8_t>(local);
  return any;
}

// more: the same warp may issue again in this cycle.
Sm::Issued Sm::issue_one(WarpScheduler& scheduler, unsigned local, Cycle now, bool more) {
  const auto number = static_cast<std::uint32_t>(local * schedulers_.size() +
                                                 static_cast<std::size_t>(&scheduler - schedulers_.data()));
  Warp& warp = warps_[number];
  const InstInfo& info = (*warp.program)[warp.pc];
  const Program& program = *warp.program;
  work_for(warp);
  if (warp.part + 1u < info.count) return issue_part(scheduler, local, warp, info, now);
  const stream::Step& step = warp.block->step(warp.in_block, epoch_ + now);
  scheduler.ready &= ~WarpScheduler::bit(local);
  if (step.blocked) {  // by an atomic of this SM, which acts at the end of the quantum
    warp.floor = std::max(end_, now + 1);
    scheduler.why[local] = Stall::long_scoreboard;
    scheduler.wake(local, warp.floor);
    return Issued::nothing;
  }
  warp.part = 0;
  ++account_->machine_instructions;
  count(info, step);
  if (observer_ != nullptr)
    observer_->issued(warp.tenant->context->slot, number, program, warp.pc,
                      static_cast<unsigned>(std::popcount(step.mask)), now);
  occupy(scheduler, info.pipe, info.interval, now);
  if (info.conflicts != 0) [[unlikely]] {
    scheduler.conflicts = info.conflicts;
    scheduler.gated = true;
    account_->register_conflicts += info.conflicts;
  }
  scheduler.next_pipe[static_cast<std::size_t>(info.pipe)] &= ~WarpScheduler::bit(local);
  const Cycle next = more ? now : now + 1;
  switch (info.kind) {
    case Kind::compute: {
      Cycle ready = now + latency(warp, info.latency);
      // A shuffle takes its turn at the unit that it shares with shared memory.
      if (info.pipe == Pipe::mio) {
        ready += take(mio_port_, number, info.sm_cost, now) - now;
        account_->shared_busy += info.sm_cost;
      }
      set_destinations(number, program, info, entry(ready, info.stall));
      advance_warp(number, next, Stall::dispatch);
      break;
    }
    case Kind::memory:
      memory(number, info, step, now);
      advance_warp(number, next, Stall::dispatch);
      break;
    case Kind::control: after_control(number, info, now); break;
    case Kind::barrier: after_barrier(number, info, now); break;
    case Kind::fence: after_fence(number, info, now); break;
    case Kind::async_commit:
      warp.async_group = static_cast<std::uint8_t>(warp.async_group + 1);
      advance_warp(number, next, Stall::dispatch);
      break;
    case Kind::async_wait: after_async_wait(number, info, now); break;
    case Kind::sleep: advance_warp(number, now + sleep_cycles(warp, info), Stall::sleeping); break;
  }
  if (!more || (scheduler.ready & WarpScheduler::bit(local)) == 0) return Issued::last;
  const InstInfo& following = (*warp.program)[warp.pc];
  if (!pairs(info, following)) return Issued::last;
  const Pipe pipe = following.pipe_of(0);
  // Within this turn
  const bool free =
      (scheduler.pipe_free[static_cast<std::size_t>(pipe)] >> memory::fixed_bits) <= now + tick_mask_ &&
      (pipe != Pipe::mio && pipe != Pipe::lg && pipe != Pipe::tex
           ? true
           : throttled_until(scheduler, pipe, now) <= now);
  return free ? Issued::more : Issued::last;
}

// Two of a warp in one cycle: not both to memory, which have one way out of the SM; double precision only
// where the generation pairs it.
bool Sm::pairs(const InstInfo& first, const InstInfo& second) const {
  const auto memory = [](Pipe pipe) {
    return pipe == Pipe::mio || pipe == Pipe::constant || pipe == Pipe::lg || pipe == Pipe::tex;
  };
  if (memory(first.pipe) && memory(second.pipe_of(0))) return false;
  return config_.device.sm.pairs_fp64 || (first.pipe != Pipe::fp64 && second.pipe_of(0) != Pipe::fp64);
}

// One of the machine instructions before the last, with which the instruction happens.
Sm::Issued Sm::issue_part(WarpScheduler& scheduler, unsigned local, Warp& warp, const InstInfo& info,
                          Cycle now) {
  const auto bit = WarpScheduler::bit(local);
  const Pipe pipe = info.pipe_of(warp.part++), next = info.pipe_of(warp.part);
  ++account_->machine_instructions;
  if (observer_ != nullptr) observer_->issued_part(warp.tenant->context->slot, *warp.program, warp.pc);
  occupy(scheduler, pipe, info.part_interval, now);
  scheduler.next_pipe[static_cast<std::size_t>(pipe)] &= ~bit;
  scheduler.next_pipe[static_cast<std::size_t>(next)] |= bit;
  scheduler.ready &= ~bit;
  scheduler.why[local] = Stall::wait;
  scheduler.wake(local, now + info.gap);
  return Issued::last;
}

void Sm::occupy(WarpScheduler& scheduler, Pipe pipe, FixedCycles interval, Cycle now) {
  FixedCycles& free = scheduler.pipe_free[static_cast<std::size_t>(pipe)];
  free = std::max(free, now << memory::fixed_bits) + interval;
  if ((free >> memory::fixed_bits) > now) scheduler.busy_pipes |= 1u << static_cast<unsigned>(pipe);
  account_->pipe_busy[static_cast<std::size_t>(pipe)] += interval;
}

void Sm::count(const InstInfo& info, const stream::Step& step) {
  const auto lanes = static_cast<unsigned>(std::popcount(step.mask));
  const auto c = static_cast<std::size_t>(info.op_class);
  ++account_->warp_instructions;
  account_->thread_instructions += lanes;
  ++account_->by_class[c];
  account_->flops_by_class[c] += std::uint64_t{lanes} * info.flops;
  if (info.inst->op != ptx::Op::bra && info.inst->op != ptx::Op::brx) return;
  ++account_->branches;
  if (step.mask != 0 && step.mask != step.active) ++account_->divergent_branches;
}

// Whole cycles of a latency with a fraction; the fraction is carried on, so that the mean is exact.
Cycle Sm::latency(Warp& warp, std::uint32_t fine) const {
  const std::uint32_t sum = fine + warp.fraction;
  warp.fraction = static_cast<std::uint8_t>(sum & 0xff);
  return sum >> 8;
}

void Sm::set_destinations(std::uint32_t warp, const Program& program, const InstInfo& info,
                          std::uint64_t value) {
  std::uint64_t* board = &scoreboard_[std::size_t{warp} * slots_];
  for (const std::uint16_t slot : program.registers(info).first(info.dst_count)) board[slot] = value;
}

const InstInfo& Sm::look(Warp& warp) {
  const stream::Next next = warp.block->next(warp.in_block);
  if (warp.program == nullptr || &warp.program->function() != next.function)
    warp.program = warp.tenant->context->programs.of(*next.function);
  warp.pc = next.pc;
  return (*warp.program)[warp.pc];
}

// Looks at the warp's next instruction; those that are none in machine code happen on the way. floor: no
// issue before that cycle, for that reason.
void Sm::advance_warp(std::uint32_t number, Cycle floor, Stall reason) {
  Warp& warp = warps_[number];
  const InstInfo* info = &look(warp);
  while (info->count == 0 && pass(number, *info, floor)) info = &look(warp);
  warp.floor = floor;
  if (info->reach != warp.reach || warp.reach_at > floor) reason = fetch(warp, *info, reason);
  WarpScheduler& scheduler = schedulers_[warp.scheduler];
  scheduler.next_pipe[static_cast<std::size_t>(info->pipe_of(0))] |= WarpScheduler::bit(warp.local);
  if (!try_ready(number, reason)) scheduler.waiting |= WarpScheduler::bit(warp.local);
}

// Asks for lines that the warp's instruction buffer has not asked for yet; one that comes late delays the
// next issue. The target of a branch is asked for when it is known.
Stall Sm::fetch(Warp& warp, const InstInfo& info, Stall reason) {
  Cycle at = info.line == warp.reach ? warp.reach_at : now_;
  if (info.reach != warp.reach) {
    Cycle there = now_;
    for (std::uint32_t line = info.line; line <= info.reach; ++line) {
      there = line == warp.reach ? warp.reach_at
                                 : front_end_.fetch(warp.scheduler, line, now_, warp.tenant->counters.fetch);
      if (line == info.line) at = there;
    }
    warp.reach = info.reach;
    warp.reach_at = there;
  }
  if (at <= now_) return reason;
  const Cycle floor = reason == Stall::branch_resolving ? warp.floor + (at - now_) : std::max(warp.floor, at);
  if (floor == warp.floor) return reason;
  warp.floor = floor;
  return Stall::no_instruction;
}

// An instruction that is folded into others happens without a slot: its results are there when its operands
// are. false: too many wait for loads already, or it may need what an atomic answers, which is in no register
// yet; it has to issue in its turn.
bool Sm::pass(std::uint32_t number, const InstInfo& info, Cycle at) {
  Warp& warp = warps_[number];
  const Program& program = *warp.program;
  const std::uint64_t* board = &scoreboard_[std::size_t{number} * slots_];
  // The answer of an atomic comes to its register at the end of a quantum, on top of what is there: also one
  // that nobody reads, whose register others use already.
  if (warp.answers > 0)
    for (const std::uint16_t slot : program.registers(info).first(info.dst_count))
      if (cycle_of(board[slot]) == no_cycle) return false;
  Forward later{.program = &program, .info = &info};
  std::uint64_t latest = 0;
  for (const std::uint16_t slot : program.registers(info).subspan(info.dst_count)) {
    latest = std::max(latest, board[slot]);
    if (cycle_of(board[slot]) != no_cycle) {
      later.latest = std::max(later.latest, board[slot]);
    } else {
      if (warp.answers > 0 || warp.forwards == max_forwards || later.count == later.open.size()) return false;
      later.open[later.count++] = slot;
    }
  }
  if (later.count > 0) forwards_[std::size_t{number} * max_forwards + warp.forwards++] = later;
  const std::uint32_t pc = warp.pc;
  work_for(warp);
  const stream::Step& step = warp.block->step(warp.in_block, epoch_ + at);
  count(info, step);
  if (observer_ != nullptr)
    observer_->issued(warp.tenant->context->slot, number, program, pc,
                      static_cast<unsigned>(std::popcount(step.mask)), at);
  set_destinations(number, program, info, latest);
  return true;
}

// A load has come: so have results of folded instructions that waited for it alone.
void Sm::forward(std::uint32_t number) {
  Warp& warp = warps_[number];
  const std::uint64_t* board = &scoreboard_[std::size_t{number} * slots_];
  Forward* waiting = &forwards_[std::size_t{number} * max_forwards];
  unsigned left = 0;
  for (unsigned i = 0; i < warp.forwards; ++i) {
    Forward f = waiting[i];
    unsigned open = 0;
    for (unsigned k = 0; k < f.count; ++k) {
      const std::uint64_t value = board[f.open[k]];
      if (cycle_of(value) == no_cycle)
        f.open[open++] = f.open[k];
      else
        f.latest = std::max(f.latest, value);
    }
    f.count = static_cast<std::uint8_t>(open);
    if (open == 0)
      set_destinations(number, *f.program, *f.info, f.latest);
    else
      waiting[left++] = f;
  }
  warp.forwards = static_cast<std::uint8_t>(left);
}

// Sets the wake-up of a warp whose registers all have a ready cycle; otherwise it stays on_register.
bool Sm::try_ready(std::uint32_t number, Stall reason) {
  Warp& warp = warps_[number];
  WarpScheduler& scheduler = schedulers_[warp.scheduler];
  const std::uint64_t* board = &scoreboard_[std::size_t{number} * slots_];
  std::uint64_t latest = entry(warp.floor, reason);
  for (const std::uint16_t slot : warp.program->registers((*warp.program)[warp.pc]))
    latest = std::max(latest, board[slot]);
  scheduler.why[warp.local] = reason_of(latest);
  if (cycle_of(latest) == no_cycle) {
    warp.state = State::on_register;
    return false;
  }
  warp.state = State::running;
  scheduler.wake(warp.local, cycle_of(latest));
  return true;
}

void Sm::wait_for_event(std::uint32_t number, State state, Stall reason) {
  Warp& warp = warps_[number];
  warp.state = state;
  WarpScheduler& scheduler = schedulers_[warp.scheduler];
  scheduler.waiting |= WarpScheduler::bit(warp.local);
  scheduler.why[warp.local] = reason;
}

// Branch, call, return, exit and device calls: the next instruction is known after branch_latency.
void Sm::after_control(std::uint32_t number, const InstInfo& info, Cycle now) {
  Warp& warp = warps_[number];
  const stream::WarpStatus status = warp.block->status(warp.in_block);
  if (status == stream::WarpStatus::exited) {
    if (blocks_[warp.block_slot].at_barrier > 0) release_barriers(warp.block_slot, now);
    if (warp.loads + warp.stores == 0) {
      end_warp(number, now + 1);
    } else {
      wait_for_event(number, State::drain, Stall::drain);
    }
    return;
  }
  const Cycle after = now + config_.latencies.branch;
  set_destinations(number, *warp.program, info, entry(after, Stall::branch_resolving));
  advance_warp(number, after, Stall::branch_resolving);
}

void Sm::after_barrier(std::uint32_t number, const InstInfo& info, Cycle now) {
  Warp& warp = warps_[number];
  ++account_->barriers;
  if (warp.block->status(warp.in_block) == stream::WarpStatus::barrier) {
    ++blocks_[warp.block_slot].at_barrier;
    wait_for_event(number, State::at_barrier, Stall::barrier);
    return;
  }
  // Last to arrive, or an arrival that does not wait.
  if (blocks_[warp.block_slot].at_barrier > 0) release_barriers(warp.block_slot, now);
  const bool waits = info.inst->mods.bar != ptx::BarMode::arrive;
  advance_warp(number, now + (waits ? config_.latencies.barrier : 1), Stall::barrier);
}

// Warps of a block that the executor let go.
void Sm::release_barriers(std::uint32_t block_slot, Cycle now) {
  const std::uint32_t first = blocks_[block_slot].first_warp;
  for (std::uint32_t number = first; number < first + blocks_[block_slot].tenant->context->warps_per_block;
       ++number) {
    Warp& warp = warps_[number];
    if (warp.state != State::at_barrier || warp.block->status(warp.in_block) != stream::WarpStatus::ready)
      continue;
    --blocks_[block_slot].at_barrier;
    schedulers_[warp.scheduler].waiting &= ~WarpScheduler::bit(warp.local);
    advance_warp(number, now + config_.latencies.barrier, Stall::barrier);
  }
}

// A fence beyond the block waits until L2 has acknowledged the warp's stores; one within the block only
// orders this SM.
void Sm::after_fence(std::uint32_t number, const InstInfo& info, Cycle now) {
  Warp& warp = warps_[number];
  ++account_->fences;
  if (info.inst->mods.scope == ptx::Scope::cta) {
    advance_warp(number, now + latency(warp, config_.pipes[ptx::OpClass::int_alu].latency), Stall::membar);
    return;
  }
  warp.floor = now + config_.latencies.fence;
  if (warp.stores > 0) {
    wait_for_event(number, State::on_stores, Stall::membar);
  } else {
    advance_warp(number, warp.floor, Stall::membar);
  }
}

std::uint64_t Sm::immediate(const Warp& warp, const ptx::Operand& operand) const {
  const auto& constants = warp.program->function().constants;
  return operand.kind == ptx::OperandKind::imm && operand.index < constants.size()
             ? constants[operand.index].value
             : 0;
}

// All groups older than the newest `async_wait` committed ones. The ring holds the open group and seven
// committed ones; older copies count with the group whose place they share.
bool Sm::async_done(const Warp& warp) const {
  for (unsigned back = warp.async_wait; back + 1 < async_groups; ++back)
    if (warp.async[(warp.async_group + 2 * async_groups - 1 - back) % async_groups] > 0) return false;
  return true;
}

void Sm::after_async_wait(std::uint32_t number, const InstInfo& info, Cycle now) {
  Warp& warp = warps_[number];
  if (info.inst->mods.wait_all) warp.async_group = static_cast<std::uint8_t>(warp.async_group + 1);
  const std::uint64_t open = info.inst->mods.wait_all ? 0 : immediate(warp, info.inst->src[0]);
  warp.async_wait = static_cast<std::uint8_t>(std::min<std::uint64_t>(open, async_groups - 1));
  warp.floor = now + 1;
  if (async_done(warp)) {
    advance_warp(number, warp.floor, Stall::long_scoreboard);
  } else {
    wait_for_event(number, State::on_async, Stall::long_scoreboard);
  }
}

// The time is exact for an immediate operand; the executor does not tell values of registers: then one
// microsecond.
Cycle Sm::sleep_cycles(const Warp& warp, const InstInfo& info) const {
  const ptx::Operand& operand = info.inst->src[0];
  const double ns =
      operand.kind == ptx::OperandKind::imm ? static_cast<double>(immediate(warp, operand)) : 1000.0;
  return std::max<Cycle>(1, static_cast<Cycle>(std::min(ns, 1e6) * config_.device.sm_clock_hz / 1e9));
}

}  // namespace simtlab::timing

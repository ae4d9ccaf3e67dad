#include "timing/instruction_unit.h"

#include <algorithm>
#include <array>
#include <bit>

#include "ptx/machine_ops.h"

namespace simtlab::timing {

namespace {

std::uint64_t immediate(const Warp& warp, const ptx::Operand& operand) {
  const auto& constants = warp.program->function().constants;
  return operand.kind == ptx::OperandKind::imm && operand.index < constants.size()
             ? constants[operand.index].value
             : 0;
}

bool is_memory(Pipe pipe) { return UnitPorts::has_port(pipe) || pipe == Pipe::constant; }

}  // namespace

InstructionUnit::InstructionUnit(SmContext& sm, const Parts& parts)
    : sm_(sm),
      parts_(parts),
      schedulers_(sm.config.device.sm.schedulers),
      turn_mask_(sm.config.device.sm.issue_turns - 1),
      yield_cycles_(sm.config.device.sm.yield_cycles),
      buffer_(sm.config.device.instruction.buffer),
      fetch_cost_(!sm.config.device.instruction.caches || sm.config.device.instruction.fetched == 0
                      ? 0
                      : memory::to_fixed(1.0 / sm.config.device.instruction.fetched)) {}

bool InstructionUnit::issue(WarpScheduler& scheduler, unsigned local, Cycle now) {
  bool any = false;
  for (unsigned left = sm_.config.device.sm.issue_width; left > 0; --left) {
    const Issued issued = issue_one(scheduler, local, now, left > 1);
    if (issued != Issued::nothing && !any && sm_.observer != nullptr) sm_.observer->selected();
    any = any || issued != Issued::nothing;
    if (issued != Issued::more) break;
  }
  if (any) scheduler.last = static_cast<std::uint8_t>(local);
  return any;
}

// more: the same warp may issue again in this cycle.
InstructionUnit::Issued InstructionUnit::issue_one(WarpScheduler& scheduler, unsigned local, Cycle now,
                                                   bool more) {
  const std::uint32_t number = local * schedulers_ + scheduler.index;
  Warp& warp = parts_.warps[number];
  const Program& program = *warp.program;
  const InstInfo& info = warp.next();
  sm_.work_for(warp);
  if (warp.part + 1u < info.count) return issue_part(scheduler, local, warp, info, now);
  if (info.constant != 0 && !has_constant(scheduler, local, warp, info, now)) return Issued::nothing;
  const stream::Step& step = warp.block->step(warp.in_block, sm_.epoch + now);
  scheduler.ready &= ~warp_bit(local);
  if (step.blocked) {  // by an atomic of this SM, which acts at the end of the quantum
    warp.floor = std::max(sm_.quantum_end, now + 1);
    scheduler.why[local] = Stall::long_scoreboard;
    scheduler.wake(local, warp.floor);
    return Issued::nothing;
  }
  warp.part = 0;
  ++sm_.counters->machine_instructions;
  sm_.count(info, step);
  if (sm_.observer != nullptr)
    sm_.observer->issued(warp.tenant->context->slot, number, program, warp.pc,
                         static_cast<unsigned>(std::popcount(step.mask)), now);
  occupy(scheduler, info.pipe, info.interval, now);
  if (fetch_cost_ != 0) fetch(scheduler, now);
  if (info.conflicts != 0) [[unlikely]] {
    scheduler.closed.conflicts = info.conflicts;
    scheduler.gated = true;
    sm_.counters->register_conflicts += info.conflicts;
  }
  scheduler.next_pipe[static_cast<std::size_t>(info.pipe)] &= ~warp_bit(local);
  queued_ = UnitPorts::has_port(info.pipe) ? parts_.ports.enter(scheduler.index, info.operand_read, now) : 0;
  if (info.controlled) {
    if (info.read_counter != no_counter)
      parts_.scoreboard.hold(number, info.read_counter,
                             entry(now + queued_ + info.operand_read, Stall::short_scoreboard));
    scheduler.yielded = info.yields;
    // A warp that could go on at once is chosen already when the scheduler learns that it yields. One that
    // has to wait anyway costs nothing.
    if (info.yields && info.stall_count <= 1 && yield_cycles_ != 0) [[unlikely]] {
      scheduler.closed.conflicts = static_cast<std::uint8_t>(info.conflicts + yield_cycles_);
      scheduler.gated = true;
    }
    complete(number, info, step, now,
             now + (more ? info.stall_count : std::max<std::uint32_t>(info.stall_count, 1)));
  } else {
    complete(number, info, step, now, info.stall_count > 1 ? now + info.stall_count : more ? now : now + 1);
  }
  if (!more || (scheduler.ready & warp_bit(local)) == 0) return Issued::last;
  return can_pair(scheduler, info, warp.next(), now) ? Issued::more : Issued::last;
}

// Whether the constant among the operands is there; else the warp waits for it, and another one may issue.
// What it has waited for it has, though others may have driven the line out again: else those that want more
// lines than there is room for would wait for ever.
bool InstructionUnit::has_constant(WarpScheduler& scheduler, unsigned local, Warp& warp, const InstInfo& info,
                                   Cycle now) {
  if (warp.constant == info.constant) {
    warp.constant = 0;
    return true;
  }
  const Cycle at = parts_.front_end.operand(scheduler.index, info.constant, now, warp.tenant->counters.fetch);
  if (at <= now) return true;
  warp.constant = info.constant;
  warp.floor = at;
  scheduler.ready &= ~warp_bit(local);
  scheduler.why[local] = Stall::imc_miss;
  scheduler.wake(local, at);
  return false;
}

// What the instruction does, and where it takes its warp. next: the earliest cycle for the warp's next
// instruction.
inline void InstructionUnit::complete(std::uint32_t number, const InstInfo& info, const stream::Step& step,
                                      Cycle now, Cycle next) {
  Warp& warp = parts_.warps[number];
  // The stall counts of machine code wait for results of fixed latency.
  const Stall until_next = info.controlled ? Stall::wait : Stall::dispatch;
  switch (info.kind) {
    case Kind::compute: compute(number, info, now); return parts_.sequencer.advance(number, next, until_next);
    case Kind::memory:
      access_memory(number, info, step, now);
      return parts_.sequencer.advance(number, next, until_next);
    case Kind::bulk_copy:
      copy_bulk(number, info, step, now);
      return parts_.sequencer.advance(number, next, until_next);
    case Kind::async_arrival:
      access_memory(number, info, step, now);
      return arrive_behind_copies(number, step, now, next, until_next);
    case Kind::async_commit: warp.async.commit(); return parts_.sequencer.advance(number, next, until_next);
    case Kind::control:
      // The lanes that are left wait at a barrier of the block: the warp has arrived there.
      return step.arrives ? barrier(number, info, now) : control(number, info, now);
    case Kind::barrier: return barrier(number, info, now);
    case Kind::fence: return fence(number, info, now);
    case Kind::async_wait: return wait_for_copies(number, info, now);
    case Kind::sleep:
      return parts_.sequencer.advance(number, now + sleep_cycles(warp, info), Stall::sleeping);
  }
}

// Whether the warp's next instruction issues in the same cycle. Not both go to memory, which has one way out
// of the SM; double precision takes part only where the generation pairs it; and its pipeline must take it
// within this turn.
bool InstructionUnit::can_pair(const WarpScheduler& scheduler, const InstInfo& first, const InstInfo& second,
                               Cycle now) const {
  const Pipe pipe = second.pipe_of(0);
  if (is_memory(first.pipe) && is_memory(pipe)) return false;
  if (!sm_.config.device.sm.pairs_fp64 && (first.pipe == Pipe::fp64 || pipe == Pipe::fp64)) return false;
  if ((scheduler.pipe_free[static_cast<std::size_t>(pipe)] >> memory::fixed_bits) > now + turn_mask_)
    return false;
  return !parts_.ports.serves(pipe) || parts_.ports.free_from(pipe, scheduler.index, now) <= now;
}

// One of the machine instructions before the last, with which the instruction happens.
InstructionUnit::Issued InstructionUnit::issue_part(WarpScheduler& scheduler, unsigned local, Warp& warp,
                                                    const InstInfo& info, Cycle now) {
  const Pipe pipe = info.pipe_of(warp.part++), next = info.pipe_of(warp.part);
  ++sm_.counters->machine_instructions;
  if (sm_.observer != nullptr) sm_.observer->issued_part(warp.tenant->context->slot, *warp.program, warp.pc);
  occupy(scheduler, pipe, info.part_interval, now);
  if (parts_.ports.is_fp64_unit(pipe))
    parts_.ports.book_fp64(scheduler.index, info.part_interval / schedulers_, now);
  scheduler.next_pipe[static_cast<std::size_t>(pipe)] &= ~warp_bit(local);
  scheduler.next_pipe[static_cast<std::size_t>(next)] |= warp_bit(local);
  scheduler.ready &= ~warp_bit(local);
  scheduler.why[local] = Stall::wait;
  scheduler.wake(local, now + info.gap);
  return Issued::last;
}

void InstructionUnit::occupy(WarpScheduler& scheduler, Pipe pipe, FixedCycles interval, Cycle now) {
  sm_.counters->pipe_busy[static_cast<std::size_t>(pipe)] += interval;
  if (parts_.ports.is_fp64_unit(pipe)) return;  // its turn is booked
  FixedCycles& free = scheduler.pipe_free[static_cast<std::size_t>(pipe)];
  free = std::max(free, now << memory::fixed_bits) + interval;
  if ((free >> memory::fixed_bits) > now) scheduler.busy_pipes |= 1u << static_cast<unsigned>(pipe);
}

void InstructionUnit::compute(std::uint32_t number, const InstInfo& info, Cycle now) {
  Warp& warp = parts_.warps[number];
  Cycle ready = now + warp.whole_cycles(info.latency);
  // A shuffle takes its turn at the unit that it shares with shared memory.
  if (info.pipe == Pipe::mio) {
    Cycle start = parts_.ports.book_mio(warp.scheduler, info.sm_cost, now + queued_);
    if (info.special) start = std::max(start, parts_.ports.read_special(now + queued_));
    ready += start - now;
    sm_.counters->shared_busy += info.sm_cost;
  } else if (parts_.ports.is_fp64_unit(info.pipe)) {
    ready += parts_.ports.book_fp64(warp.scheduler, info.interval / schedulers_, now) - now;
  }
  parts_.scoreboard.set_destinations(number, *warp.program, info, entry(ready, info.stall));
}

void InstructionUnit::access_memory(std::uint32_t number, const InstInfo& info, const stream::Step& step,
                                    Cycle now) {
  if (step.mask == 0 || step.addresses == nullptr) return access_nothing(number, info, now);
  switch (step.space) {
    case ptx::Space::shared: return parts_.shared.access(number, info, step, now + queued_);
    case ptx::Space::constant:
    case ptx::Space::param: return parts_.constants.access(number, info, step, now);
    default: return parts_.load_store.access(number, info, step, now, now + queued_);
  }
}

// An access to memory whose guard holds for no lane takes its turn at the unit, and its result, which nobody
// gets, comes as late as one that is found. An H100 counts a wavefront of the data stage for it
// (l1tex__data_pipe_lsu_wavefronts_mem_shared: 21.6 a warp of the sum that halves its threads, of which 19.5
// are loads and stores of shared memory without a lane).
void InstructionUnit::access_nothing(std::uint32_t number, const InstInfo& info, Cycle now) {
  Warp& warp = parts_.warps[number];
  Cycle ready = now + 1;
  Stall reason = Stall::wait;
  if (info.pipe == Pipe::mio) {
    const FixedCycles busy =
        std::max(sm_.config.pipes[ptx::OpClass::shared].sm_cost, sm_.config.pipes.shared_interval);
    sm_.counters->shared_busy += busy;
    ready = parts_.ports.book_mio(warp.scheduler, busy, now + queued_) +
            warp.whole_cycles(sm_.config.latencies.shared);
    reason = Stall::short_scoreboard;
  } else if (info.pipe == Pipe::lg) {
    ready = parts_.ports.book_lg(warp.scheduler, info.sm_cost, 0, now + queued_) +
            warp.whole_cycles(sm_.config.latencies.l1_hit);
    reason = Stall::long_scoreboard;
  }
  parts_.scoreboard.set_destinations(number, *warp.program, info, entry(ready, reason));
}

// Branch, call, return, exit and device calls: the next instruction is known after the branch latency.
void InstructionUnit::control(std::uint32_t number, const InstInfo& info, Cycle now) {
  Warp& warp = parts_.warps[number];
  if (warp.block->status(warp.in_block) == stream::WarpStatus::exited)
    return parts_.sequencer.exit(number, now);
  const Cycle after = now + std::max<Cycle>(sm_.config.latencies.branch, info.stall_count);
  parts_.scoreboard.set_destinations(number, *warp.program, info, entry(after, Stall::branch_resolving));
  const std::uint32_t behind = warp.pc + 1;
  parts_.sequencer.advance(number, after, Stall::branch_resolving);
  // What its buffer held behind a taken branch was fetched in vain.
  if (fetch_cost_ == 0 || warp.pc == behind) return;
  WarpScheduler& scheduler = parts_.schedulers[warp.scheduler];
  scheduler.closed.fetched += fetch_cost_ * buffer_;
  scheduler.gated = scheduler.gated || behind_with_fetching(scheduler, now);
}

// An instruction that issues has been fetched. The scheduler can have fetched ahead what the buffers of its
// warps hold.
void InstructionUnit::fetch(WarpScheduler& scheduler, Cycle now) {
  const FixedCycles ahead = fetch_cost_ * buffer_ * scheduler.warps, from = now << memory::fixed_bits;
  scheduler.closed.fetched = std::max(scheduler.closed.fetched, from - std::min(from, ahead)) + fetch_cost_;
  scheduler.gated = scheduler.gated || behind_with_fetching(scheduler, now);
}

bool InstructionUnit::behind_with_fetching(const WarpScheduler& scheduler, Cycle now) {
  return (scheduler.closed.fetched >> memory::fixed_bits) > now + 1;
}

void InstructionUnit::barrier(std::uint32_t number, const InstInfo& info, Cycle now) {
  Warp& warp = parts_.warps[number];
  ++sm_.counters->barriers;
  const Cycle counted = parts_.ports.count_arrival(sm_.config.pipes[ptx::OpClass::barrier].sm_cost, now);
  if (warp.block->status(warp.in_block) == stream::WarpStatus::barrier)
    return parts_.sequencer.wait_at_barrier(number);
  // The last to arrive, or an arrival that does not wait.
  parts_.sequencer.release_barriers(warp.block_slot, counted);
  const bool waits = info.inst->mods.bar != ptx::BarMode::arrive;
  parts_.sequencer.advance(number, waits ? counted + sm_.config.latencies.barrier : now + 1, Stall::barrier);
}

// A fence beyond the block waits until L2 has acknowledged the warp's stores; one within the block only
// orders this SM.
void InstructionUnit::fence(std::uint32_t number, const InstInfo& info, Cycle now) {
  Warp& warp = parts_.warps[number];
  ++sm_.counters->fences;
  if (info.inst->mods.scope == ptx::Scope::cta) {
    const Cycle after = now + warp.whole_cycles(sm_.config.pipes[ptx::OpClass::int_alu].latency);
    return parts_.sequencer.advance(number, after, Stall::membar);
  }
  warp.floor = now + sm_.config.latencies.fence;
  if (warp.stores > 0) return parts_.sequencer.wait_for_event(number, WarpState::on_stores, Stall::membar);
  parts_.sequencer.advance(number, warp.floor, Stall::membar);
}

// All groups of asynchronous copies but the newest few.
void InstructionUnit::wait_for_copies(std::uint32_t number, const InstInfo& info, Cycle now) {
  Warp& warp = parts_.warps[number];
  if (info.inst->mods.wait_all) warp.async.commit();
  warp.async.wait_for(info.inst->mods.wait_all ? 0 : immediate(warp, info.inst->src[0]));
  warp.floor = now + 1;
  if (warp.async.wait_is_over()) return parts_.sequencer.advance(number, warp.floor, Stall::long_scoreboard);
  parts_.sequencer.wait_for_event(number, WarpState::on_async, Stall::long_scoreboard);
}

// The bytes go 512 at a time, as accesses of a warp that pass by L1; those to global memory like stores.
void InstructionUnit::copy_bulk(std::uint32_t number, const InstInfo& info, const stream::Step& step,
                                Cycle now) {
  constexpr unsigned grain = 16, most = exec::warp_size * grain;
  InstInfo stores = info;
  stores.op_class = ptx::OpClass::store;
  const bool load = info.inst->mods.space == ptx::Space::shared;
  std::array<std::uint64_t, exec::warp_size> addresses{};
  stream::Step part = step;
  part.addresses = addresses.data();
  part.addresses2 = nullptr;
  part.space = ptx::Space::global;
  part.bytes = grain;
  for (std::uint32_t m = step.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t bytes = step.addresses2[lane] >> ptx::bulk_bytes_at;
    for (std::uint64_t at = 0; at < bytes; at += most) {
      const auto lanes =
          static_cast<unsigned>(std::min<std::uint64_t>((bytes - at) / grain, exec::warp_size));
      part.mask = lanes == exec::warp_size ? ~0u : (1u << lanes) - 1;
      for (unsigned i = 0; i < exec::warp_size; ++i)
        addresses[i] = step.addresses[lane] + at + std::uint64_t{i < lanes ? i : 0} * grain;
      parts_.load_store.access(number, load ? info : stores, part, now, now + queued_);
    }
  }
}

// The lanes arrive at a barrier in shared memory once the copies that the warp has issued are done. Beyond so
// many such arrivals under way the warp waits.
void InstructionUnit::arrive_behind_copies(std::uint32_t number, const stream::Step& step, Cycle now,
                                           Cycle next, Stall until_next) {
  Warp& warp = parts_.warps[number];
  if (step.mask == 0) return parts_.sequencer.advance(number, next, until_next);
  warp.async.arrive();
  for (; warp.async.may_arrive(); warp.async.has_arrived()) warp.block->copies_done(warp.in_block);
  if (!warp.async.arrivals_full()) return parts_.sequencer.advance(number, next, until_next);
  warp.async.wait_for(0);
  warp.floor = now + 1;
  parts_.sequencer.wait_for_event(number, WarpState::on_async, Stall::long_scoreboard);
}

// The time is exact for an immediate operand; the executor does not tell values of registers: then one
// microsecond.
Cycle InstructionUnit::sleep_cycles(const Warp& warp, const InstInfo& info) const {
  const ptx::Operand& operand = info.inst->src[0];
  const double ns =
      operand.kind == ptx::OperandKind::imm ? static_cast<double>(immediate(warp, operand)) : 1000.0;
  return std::max<Cycle>(1, static_cast<Cycle>(std::min(ns, 1e6) * sm_.config.device.sm_clock_hz / 1e9));
}

}  // namespace simtlab::timing

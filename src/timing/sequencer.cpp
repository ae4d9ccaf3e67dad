#include "timing/sequencer.h"

#include <algorithm>
#include <functional>

namespace simtlab::timing {

void Sequencer::begin() {
  started_warps_ = 0;
  draining_.clear();
  draining_.reserve(parts_.warps.size());
  const std::size_t schedulers = parts_.schedulers.size();
  for (std::size_t i = 0; i < parts_.warps.size(); ++i) {
    Warp& warp = parts_.warps[i];
    warp = {};
    warp.scheduler = static_cast<std::uint8_t>(i % schedulers);
    warp.local = static_cast<std::uint8_t>(i / schedulers);
  }
}

void Sequencer::start_block(std::uint32_t number, Cycle now) {
  parts_.blocks[number].tenant->count_residency(now);
  BlockSlot& slot = parts_.blocks.start(number, sm_.id);
  const std::uint32_t warps = slot.tenant->context->warps_per_block;
  if (sm_.observer != nullptr) sm_.observer->block_begins(number, slot.number, now);
  parts_.scoreboard.clear(slot.first_warp, warps);
  for (std::uint32_t i = 0; i < warps; ++i) {
    Warp& warp = parts_.warps[slot.first_warp + i];
    warp = {.block = slot.block.get(),
            .tenant = slot.tenant,
            .place = slot.block->place(i),
            .in_block = static_cast<std::uint16_t>(i),
            .block_slot = static_cast<std::uint16_t>(number),
            .scheduler = warp.scheduler,
            .local = warp.local,
            .life = (warp.life + 1) % StoreTag::lives};
    WarpScheduler& scheduler = scheduler_of(warp);
    scheduler.resident |= warp_bit(warp.local);
    ++scheduler.warps;
    scheduler.age[warp.local] = started_warps_++;
    advance(slot.first_warp + i, now + ((i * warp_interval_) >> memory::fixed_bits), Stall::dispatch);
    scheduler.try_at(
        now);  // its slots have another reason from now on, even if the first instruction comes later
  }
  if (parts_.policies.events().block_started) [[unlikely]]
    parts_.policies.block_started(parts_.warps, slot.first_warp, warps, now);
}

const InstInfo& Sequencer::decode(Warp& warp) {
  const stream::Next next = warp.block->next(warp.in_block);
  if (warp.program == nullptr || &warp.program->function() != next.function)
    warp.program = warp.tenant->context->programs.of(*next.function);
  warp.pc = next.pc;
  return warp.next();
}

void Sequencer::advance(std::uint32_t number, Cycle floor, Stall reason) {
  Warp& warp = parts_.warps[number];
  const InstInfo* info = &decode(warp);
  while (info->count == 0 && fold(number, *info, floor)) info = &decode(warp);
  warp.floor = floor;
  if (info->reach != warp.reach || warp.reach_at > floor) reason = fetch(warp, *info, reason);
  WarpScheduler& scheduler = scheduler_of(warp);
  scheduler.next_pipe[static_cast<std::size_t>(info->pipe_of(0))] |= warp_bit(warp.local);
  if (!wake_when_ready(number, reason)) scheduler.waiting |= warp_bit(warp.local);
}

// A folded instruction happens without an issue slot. False: it has to issue in its turn.
bool Sequencer::fold(std::uint32_t number, const InstInfo& info, Cycle at) {
  Warp& warp = parts_.warps[number];
  const Program& program = *warp.program;
  const auto results = parts_.scoreboard.fold(number, program, info, warp.answers > 0);
  if (!results) return false;
  const std::uint32_t pc = warp.pc;
  sm_.work_for(warp);
  const stream::Step& step = warp.block->step(warp.in_block, sm_.epoch + at);
  sm_.count(info, step);
  if (sm_.observer != nullptr)
    sm_.observer->issued(warp.tenant->context->slot, number, program, pc,
                         static_cast<unsigned>(std::popcount(step.mask)), at);
  parts_.scoreboard.set_destinations(number, program, info, *results);
  return true;
}

// Asks for lines that the warp's instruction buffer has not asked for yet; one that comes late delays the
// next issue. The target of a branch is asked for when it is known.
Stall Sequencer::fetch(Warp& warp, const InstInfo& info, Stall reason) {
  const Cycle now = sm_.now;
  Cycle at = info.line == warp.reach ? warp.reach_at : now;
  if (info.reach != warp.reach) {
    Cycle there = now;
    for (std::uint32_t line = info.line; line <= info.reach; ++line) {
      there = line == warp.reach
                  ? warp.reach_at
                  : parts_.front_end.fetch(warp.scheduler, line, now, warp.tenant->counters.fetch);
      if (line == info.line) at = there;
    }
    warp.reach = info.reach;
    warp.reach_at = there;
  }
  if (at <= now) return reason;
  const Cycle floor = reason == Stall::branch_resolving ? warp.floor + (at - now) : std::max(warp.floor, at);
  if (floor == warp.floor) return reason;
  warp.floor = floor;
  return Stall::no_instruction;
}

// True: all operands have a cycle, and the warp wakes up at the latest of them. Else it waits for a register.
bool Sequencer::wake_when_ready(std::uint32_t number, Stall reason) {
  Warp& warp = parts_.warps[number];
  WarpScheduler& scheduler = scheduler_of(warp);
  const std::uint64_t latest =
      parts_.scoreboard.latest(number, *warp.program, warp.next(), entry(warp.floor, reason));
  scheduler.why[warp.local] = reason_of(latest);
  if (cycle_of(latest) == no_cycle) {
    warp.state = WarpState::on_register;
    return false;
  }
  warp.state = WarpState::running;
  scheduler.wake(warp.local, cycle_of(latest));
  return true;
}

void Sequencer::wait_for_event(std::uint32_t number, WarpState state, Stall reason) {
  Warp& warp = parts_.warps[number];
  warp.state = state;
  WarpScheduler& scheduler = scheduler_of(warp);
  scheduler.waiting |= warp_bit(warp.local);
  scheduler.why[warp.local] = reason;
}

void Sequencer::wait_at_barrier(std::uint32_t number) {
  ++parts_.blocks[parts_.warps[number].block_slot].at_barrier;
  wait_for_event(number, WarpState::at_barrier, Stall::barrier);
}

void Sequencer::release(std::uint32_t block_slot, Cycle now) {
  BlockSlot& slot = parts_.blocks[block_slot];
  const std::uint32_t end = slot.first_warp + slot.tenant->context->warps_per_block;
  for (std::uint32_t number = slot.first_warp; number < end; ++number) {
    Warp& warp = parts_.warps[number];
    if (warp.state != WarpState::at_barrier || warp.block->status(warp.in_block) != stream::WarpStatus::ready)
      continue;
    --slot.at_barrier;
    resume(warp);
    advance(number, now + sm_.config.latencies.barrier, Stall::barrier);
  }
}

void Sequencer::meet_in_clusters(Cycle now) {
  for (std::uint32_t slot = 0; slot < parts_.blocks.size(); ++slot)
    if (const BlockSlot& at = parts_.blocks[slot];
        at.resident && at.at_barrier > 0 && at.tenant->context->cluster_blocks > 1)
      release(slot, now);
}

void Sequencer::exit(std::uint32_t number, Cycle now) {
  const Warp& warp = parts_.warps[number];
  release_barriers(warp.block_slot, now);
  wait_for_event(number, WarpState::drain, Stall::drain);
  if (warp.loads + warp.held_stores == 0) drain(number, now + 1);
}

// A warp keeps its place until its stores have left the SM. Nobody waits for L2's answers.
void Sequencer::drain(std::uint32_t number, Cycle now) {
  const Warp& warp = parts_.warps[number];
  if (warp.stores_at <= now) return end_warp(number, now);
  draining_.push_back({warp.stores_at, number});
  std::ranges::push_heap(draining_, std::greater{});
}

void Sequencer::end_drained(Cycle now) {
  while (next_drained() <= now) {
    std::ranges::pop_heap(draining_, std::greater{});
    const Draining ended = draining_.back();
    draining_.pop_back();
    end_warp(ended.warp, ended.at);
  }
}

void Sequencer::load_done(const Load& load, Cycle at) {
  Warp& warp = parts_.warps[load.warp];
  parts_.scoreboard.arrive(load.warp, *load.program, *load.info, entry(at, load.info->stall));
  parts_.scoreboard.resolve_folded(load.warp);
  if (parts_.policies.events().data_returned) [[unlikely]]
    parts_.policies.data_returned(warp, at);
  switch (warp.state) {
    case WarpState::on_register:
      if (wake_when_ready(load.warp, scheduler_of(warp).why[warp.local])) resume(warp);
      break;
    case WarpState::on_async:
      if (!warp.async.wait_is_over()) break;
      resume(warp);
      advance(load.warp, std::max(at, warp.floor), Stall::long_scoreboard);
      break;
    case WarpState::drain:
      if (warp.loads + warp.held_stores == 0) drain(load.warp, at);
      break;
    default: break;
  }
}

void Sequencer::stores_done(std::uint32_t number, Cycle now) {
  Warp& warp = parts_.warps[number];
  if (warp.state != WarpState::on_stores) return;
  resume(warp);
  advance(number, std::max(now, warp.floor), Stall::membar);
}

void Sequencer::stores_left(std::uint32_t number, Cycle now) {
  const Warp& warp = parts_.warps[number];
  if (warp.state == WarpState::drain && warp.loads == 0) drain(number, now);
}

// The warp is through; the last warp of a block frees the block's place.
void Sequencer::end_warp(std::uint32_t number, Cycle now) {
  Warp& warp = parts_.warps[number];
  WarpScheduler& scheduler = scheduler_of(warp);
  warp.state = WarpState::empty;
  resume(warp);
  scheduler.resident &= ~warp_bit(warp.local);
  --scheduler.warps;
  scheduler.try_at(now);
  Tenant& tenant = *warp.tenant;
  tenant.count_residency(now);
  --tenant.resident_warps;
  tenant.finished_at = std::max(tenant.finished_at, now);
  if (--parts_.blocks[warp.block_slot].warps_left > 0) return;
  if (sm_.observer != nullptr) sm_.observer->block_ends(warp.block_slot, now);
  parts_.blocks.end(warp.block_slot, now);
  if (parts_.policies.events().block_ended) [[unlikely]]
    parts_.policies.block_ended(parts_.warps, parts_.blocks[warp.block_slot].first_warp,
                                tenant.context->warps_per_block, now);
}

}  // namespace simtlab::timing

#include "timing/issue_stage.h"

#include <algorithm>

#include "base/error.h"

namespace simtlab::timing {

IssueStage::IssueStage(SmContext& sm, const Parts& parts)
    : sm_(sm), parts_(parts), turn_mask_(sm.config.device.sm.issue_turns - 1) {}

void IssueStage::begin() {
  for (std::size_t i = 0; i < parts_.schedulers.size(); ++i) {
    WarpScheduler& scheduler = parts_.schedulers[i];
    scheduler = WarpScheduler{};
    scheduler.index = static_cast<std::uint8_t>(i);
    scheduler.turn = static_cast<std::uint8_t>(i & turn_mask_);
    scheduler.gated = turn_mask_ != 0;
    scheduler.slots.set(Stall::no_warp, parts_.accounts.unowned_slots());
  }
  parts_.policies.begin();
}

void IssueStage::run(Cycle now) {
  WarpScheduler* const schedulers = parts_.schedulers.data();
  WarpScheduler* const first = schedulers + parts_.ports.first_scheduler();
  WarpScheduler* const end = schedulers + parts_.schedulers.size();
  for (WarpScheduler* scheduler = first; scheduler != end; ++scheduler)
    if (scheduler->next_try <= now) evaluate(*scheduler, now);
  for (WarpScheduler* scheduler = schedulers; scheduler != first; ++scheduler)
    if (scheduler->next_try <= now) evaluate(*scheduler, now);
}

void IssueStage::try_all(Cycle now) {
  for (WarpScheduler& scheduler : parts_.schedulers) scheduler.try_at(now);
}

// One scheduler, one cycle: charge the slots that were skipped, find out who could issue, let the policy
// select, issue.
void IssueStage::evaluate(WarpScheduler& scheduler, Cycle now) {
  if (scheduler.gated && !may_issue(scheduler, now)) [[unlikely]]
    return;
  if (sm_.observer != nullptr) observe_charge(scheduler, now);
  scheduler.slots.charge(now);
  scheduler.collect(now);
  scheduler.next_try = never;
  scheduler.held_back = false;
  const Throttle throttle = throttled(scheduler, now);
  WarpMask held_back = 0;
  for (WarpMask eligible = scheduler.ready & ~throttle.warps; eligible != 0; eligible &= scheduler.ready) {
    if (scheduler.yielded) [[unlikely]] {
      scheduler.yielded = false;
      if (const WarpMask others = eligible & ~warp_bit(scheduler.last); others != 0) eligible = others;
    }
    const unsigned warp = scheduler.policy->select_warp(scheduler, eligible, now);
    if (warp == WarpPolicy::nobody) [[unlikely]] {
      held_back = eligible;
      break;
    }
    if (!parts_.issuer.issue(scheduler, warp, now)) continue;
    if (sm_.observer != nullptr && sm_.observer->states(now))
      observe_warps(scheduler, warp, throttle.warps, now);
    scheduler.slots.charge_issue(now, sm_.counters->slots);
    scheduler.next_try = now + 1;
    if (parts_.policies.events().issued) [[unlikely]]
      parts_.policies.issued(scheduler, warp, now);
    if (scheduler.gated) [[unlikely]]
      close(scheduler);
    return;
  }
  wait(scheduler, throttle, held_back, now);
}

// Pipelines of the scheduler itself, and units that all schedulers share.
inline IssueStage::Throttle IssueStage::throttled(WarpScheduler& scheduler, Cycle now) const {
  Throttle throttle;
  if (scheduler.ready == 0) return throttle;
  for (std::uint32_t pipes = scheduler.busy_pipes; pipes != 0; pipes &= pipes - 1) {
    const auto pipe = static_cast<unsigned>(std::countr_zero(pipes));
    const Cycle free = scheduler.pipe_free[pipe] >> memory::fixed_bits;
    if (free <= now + turn_mask_) {  // within this turn
      scheduler.busy_pipes &= ~(1u << pipe);
    } else if ((scheduler.next_pipe[pipe] & scheduler.ready) != 0) {
      throttle.warps |= scheduler.next_pipe[pipe];
      throttle.until = std::min(throttle.until, free - turn_mask_);
    }
  }
  const auto ask = [&](Pipe pipe) __attribute__((always_inline)) {
    const WarpMask wanting = scheduler.next_pipe[static_cast<std::size_t>(pipe)] & scheduler.ready;
    if (wanting == 0 || !parts_.ports.serves(pipe)) return;
    const Cycle free = parts_.ports.free_from(pipe, scheduler.index, now);
    if (free <= now) return;
    throttle.warps |= wanting;
    throttle.until = std::min(throttle.until, free);
  };
  ask(Pipe::mio);
  ask(Pipe::lg);
  ask(Pipe::tex);
  ask(Pipe::fp64);
  return throttle;
}

// Nothing issues: when to look again, and why the slots until then are lost. The warp nearest to issue gives
// the reason: first one that has its operands, then one whose operands come soonest, then one that waits for
// an event.
inline void IssueStage::wait(WarpScheduler& scheduler, const Throttle& throttle, WarpMask held_back,
                             Cycle now) {
  const WakeUps::Next next = scheduler.wake_ups.next();
  scheduler.next_try = std::min(throttle.until, next.at);
  Stall reason;
  if (held_back != 0) [[unlikely]] {
    scheduler.held_back = true;
    scheduler.try_at(std::max(now + 1, scheduler.policy->ask_again(now)));
    reason = Stall::dispatch;
  } else if (scheduler.ready != 0) {
    const Warp& warp = warp_of(scheduler, static_cast<unsigned>(std::countr_zero(scheduler.ready)));
    reason = throttle_stall(warp.next().pipe_of(warp.part));
  } else if (next.at != never) {
    reason = scheduler.why[next.warp];
  } else {
    reason = event_reason(scheduler);
  }
  if (sm_.observer != nullptr && sm_.observer->states(now))
    observe_warps(scheduler, nobody, throttle.warps, now);
  const auto& tenants = parts_.accounts.all();
  if (tenants.size() == 1 && sm_.observer == nullptr) {
    // Slots without a warp are nobody's: this SM may be charged beyond the launch's end while others still
    // run.
    scheduler.slots.set(
        reason, reason == Stall::no_warp ? parts_.accounts.unowned_slots() : tenants.front()->counters.slots);
    return;
  }
  const unsigned local =
      held_back != 0 ? static_cast<unsigned>(std::countr_zero(held_back)) : blamed(scheduler, next, reason);
  scheduler.slots.set(reason, local == nobody ? parts_.accounts.unowned_slots()
                                              : warp_of(scheduler, local).tenant->counters.slots);
  if (sm_.observer != nullptr) observe_stall(scheduler, local);
}

// Whether the scheduler's turn has come and the registers of what issued last have been read; else it is
// evaluated again then. A scheduler without warps needs no turn, for nothing of it may come after the
// launch's end. Out of line, as close(): most schedulers have no turns, and conflicts are rare.
[[gnu::noinline]] bool IssueStage::may_issue(WarpScheduler& scheduler, Cycle now) const {
  const Cycle from = std::max(now, scheduler.closed.until);
  const Cycle turn = from + ((scheduler.turn - from) & turn_mask_);
  if (turn > now && scheduler.resident != 0) {
    scheduler.next_try = turn;
    return false;
  }
  scheduler.gated = turn_mask_ != 0;
  return true;
}

// Closes the scheduler after an issue: the cycles until its next turn belong to what has issued, and so do
// those in which registers are read one after the other. The launch may have ended with that instruction.
[[gnu::noinline]] void IssueStage::close(WarpScheduler& scheduler) {
  if (scheduler.resident == 0) {  // that was its last one: no slot beyond it
    scheduler.closed.conflicts = 0;
    return;
  }
  const Warp& warp = warp_of(scheduler, scheduler.last);
  const bool ended = warp.state == WarpState::empty;
  Stall reason = ended ? Stall::no_warp : turn_mask_ != 0 ? Stall::selected : Stall::dispatch;
  scheduler.next_try = scheduler.closed.until =
      scheduler.next_try + turn_mask_ + scheduler.closed.conflicts * (turn_mask_ + 1);
  scheduler.closed.conflicts = 0;
  if (const Cycle fetched = scheduler.closed.fetched >> memory::fixed_bits;
      !ended && fetched > scheduler.closed.until) {
    scheduler.next_try = scheduler.closed.until = fetched;
    reason = Stall::no_instruction;
  }
  scheduler.slots.set(reason, ended ? parts_.accounts.unowned_slots() : sm_.counters->slots);
  if (sm_.observer == nullptr) return;
  if (ended)
    sm_.observer->blame_nobody(scheduler.index);
  else if (reason == Stall::no_instruction)  // what is being fetched
    sm_.observer->blame(scheduler.index, warp.tenant->context->slot, *warp.program, warp.pc);
  else
    sm_.observer->blame_issued(scheduler.index, warp.tenant->context->slot);
}

// All warps wait for events: first for data, then for what the program itself orders.
Stall IssueStage::event_reason(const WarpScheduler& scheduler) const {
  static constexpr std::array order = {Stall::long_scoreboard, Stall::imc_miss, Stall::short_scoreboard,
                                       Stall::membar, Stall::barrier};
  std::uint32_t seen = 0;
  for (WarpMask rest = scheduler.waiting; rest != 0; rest &= rest - 1)
    seen |= 1u << static_cast<unsigned>(scheduler.why[static_cast<std::size_t>(std::countr_zero(rest))]);
  for (const Stall stall : order)
    if (seen & (1u << static_cast<unsigned>(stall))) return stall;
  return seen != 0 ? static_cast<Stall>(std::countr_zero(seen)) : Stall::no_warp;
}

unsigned IssueStage::blamed(const WarpScheduler& scheduler, const WakeUps::Next& next, Stall reason) const {
  if (scheduler.ready != 0) return static_cast<unsigned>(std::countr_zero(scheduler.ready));
  if (next.at != never) return next.warp;
  for (WarpMask rest = scheduler.waiting; rest != 0; rest &= rest - 1)
    if (const auto warp = static_cast<unsigned>(std::countr_zero(rest)); scheduler.why[warp] == reason)
      return warp;
  return nobody;
}

void IssueStage::charge(Cycle now) {
  for (WarpScheduler& scheduler : parts_.schedulers) {
    if (sm_.observer != nullptr) observe_charge(scheduler, now);
    scheduler.slots.charge(now);
  }
}

void IssueStage::disown(const Tenant& tenant) {
  for (WarpScheduler& scheduler : parts_.schedulers) {
    if (!scheduler.slots.belongs_to(tenant.counters.slots)) continue;
    SIMTLAB_ASSERT(scheduler.slots.charged_until() >= tenant.finished_at,
                   "slots are charged until the launch's end");
    scheduler.slots.set_owner(parts_.accounts.unowned_slots());
  }
}

void IssueStage::add_uncharged(Cycle now, SlotCounts& out) const {
  for (const WarpScheduler& scheduler : parts_.schedulers)
    out[static_cast<std::size_t>(scheduler.slots.reason())] += scheduler.slots.uncharged(now);
}

// ---- what an observer is told

void IssueStage::observe_charge(const WarpScheduler& scheduler, Cycle now) {
  if (const Cycle slots = scheduler.slots.uncharged(now); slots > 0)
    sm_.observer->charge(scheduler.index, scheduler.slots.reason(), slots);
}

// The slots from now on are charged to the instruction of the warp that gave them their reason.
void IssueStage::observe_stall(const WarpScheduler& scheduler, unsigned local) {
  if (local == nobody) return sm_.observer->blame_nobody(scheduler.index);
  const Warp& warp = warp_of(scheduler, local);
  sm_.observer->blame(scheduler.index, warp.tenant->context->slot, *warp.program, warp.pc);
}

// For a timeline: what each warp of the scheduler does from this cycle on.
void IssueStage::observe_warps(const WarpScheduler& scheduler, unsigned issued, WarpMask throttled,
                               Cycle now) {
  SmObserver& observer = *sm_.observer;
  const std::size_t stride = parts_.schedulers.size();
  for (unsigned local = 0; local * stride + scheduler.index < parts_.warps.size(); ++local) {
    const auto number = static_cast<std::uint32_t>(local * stride + scheduler.index);
    const WarpMask bit = warp_bit(local);
    const bool there = (scheduler.resident & bit) != 0;
    if (local == issued) {
      observer.state(number, name_of(Stall::selected), now);
      if (!there) observer.state(number, {}, now + 1);  // that was its last one
    } else if (!there) {
      observer.state(number, {}, now);
    } else if ((scheduler.ready & bit) == 0) {
      observer.state(number, name_of(scheduler.why[local]), now);
    } else if ((throttled & bit) != 0) {
      const Warp& warp = parts_.warps[number];
      observer.state(number, name_of(throttle_stall(warp.next().pipe_of(warp.part))), now);
    } else {
      observer.state(number, "not_selected", now);
    }
  }
}

}  // namespace simtlab::timing

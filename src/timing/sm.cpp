#include "timing/sm.h"

#include <algorithm>

#include "base/error.h"

namespace simtlab::timing {
namespace {

memory::CacheConfig cache_config(const device::CacheParams& params, std::uint64_t bytes, std::uint64_t seed) {
  return {.bytes = bytes,
          .line_bytes = params.line_bytes,
          .sector_bytes = params.sector_bytes,
          .ways = params.ways,
          .replacement = params.replacement,
          .hashed_sets = params.hashed_sets,
          .seed = seed};
}

// Cycles of work that a unit's queue holds before it pushes back: about a dozen instructions.
constexpr Cycle queue_ahead = 16;
constexpr std::size_t lg_queue_depth = 8;
constexpr std::uint32_t constant_misses = 64;

}  // namespace

Sm::Sm(std::uint32_t id, const SmConfig& config, Interconnect& network)
    : id_(id),
      config_(config),
      network_(network),
      schedulers_(config.device.sm.schedulers),
      l1_(cache_config(config.device.l1, config.device.l1.bytes, id)),
      constant_cache_(cache_config(config.device.constant, config.device.constant.bytes, id)),
      mshr_(config.device.l1.mshr_entries, config.device.l1.mshr_merge),
      constant_mshr_(constant_misses, 1u << 20),
      banks_{config.device.shared.banks, config.device.shared.bank_bytes},
      l1_unit_(static_cast<unsigned>(std::countr_zero(config.device.l1.sector_bytes / stream::sector_bytes))),
      l1_sector_cost_(memory::to_fixed(32 / config.device.l1.bytes_per_cycle)) {}

void Sm::begin(const LaunchContext& context) {
  context_ = context;
  unused_ = true;
  free_blocks_ = context.blocks_per_sm;
  resident_blocks_ = resident_warps_ = 0;
  launches_.clear();
  outbox_.clear();
  finished_at_ = 0;
  counters_ = {};
  if (observer_ != nullptr) observer_->begin(context.epoch);
  watch_.reset();
}

void Sm::prepare() {
  const LaunchContext& context = context_;
  unused_ = false;
  const unsigned warps = context.blocks_per_sm * context.warps_per_block;
  std::ranges::fill(schedulers_, WarpScheduler{});
  warps_.assign(warps, Warp{});
  for (unsigned i = 0; i < warps; ++i) {
    warps_[i].scheduler = static_cast<std::uint8_t>(i % schedulers_.size());
    warps_[i].local = static_cast<std::uint8_t>(i / schedulers_.size());
  }
  slots_ = context.programs->scoreboard_slots();
  scoreboard_.assign(std::size_t{warps} * slots_, 0);
  forwards_.resize(std::size_t{warps} * max_forwards);
  blocks_.clear();
  blocks_.resize(context.blocks_per_sm);
  work_ = context.launch->make_share();
  launch_order_ = 0;
  residency_since_ = 0;
  if (context.l1_ways != l1_.ways()) l1_.resize_ways(context.l1_ways);
  l1_.clear();
  constant_cache_.clear();
  mshr_.clear();
  constant_mshr_.clear();
  lg_port_.reset();
  mio_port_.reset();
  lg_queue_.clear();
  lg_segments_.clear();
  lg_retry_at_ = lg_blocked_since_ = never;
  loads_.clear();
  free_loads_.clear();
  stores_outstanding_ = direct_outstanding_ = 0;
}

void Sm::assign(std::uint64_t block, Cycle at) {
  SIMTLAB_ASSERT(free_blocks_ > 0, "a block is handed only to an SM with room");
  if (unused_) prepare();
  --free_blocks_;
  launches_.push({block, at});
}

Cycle Sm::next_event() const {
  if (unused_) return never;
  Cycle next = lg_retry_at_;
  const auto& inbox = network_.inbox(id_);
  if (!inbox.empty()) next = std::min(next, inbox.front().at);
  if (!launches_.empty()) next = std::min(next, launches_.front().at);
  for (const WarpScheduler& scheduler : schedulers_) next = std::min(next, scheduler.next_try);
  return next;
}

void Sm::run(Cycle end) {
  end_ = end;
  for (Cycle now = next_event(); now < end; now = next_event()) {
    deliver(now);
    launch_blocks(now);
    if (lg_retry_at_ <= now) retry_lg(now);
    for (WarpScheduler& scheduler : schedulers_)
      if (scheduler.next_try <= now) evaluate(scheduler, now);
  }
}

void Sm::deliver(Cycle now) {
  auto& inbox = network_.inbox(id_);
  for (; !inbox.empty() && inbox.front().at <= now; inbox.pop()) {
    const Reply reply = inbox.front();
    const Cycle at = reply.at;
    if (observer_ != nullptr) observer_->reply(at);
    if (!lg_queue_.empty()) lg_retry_at_ = now;
    switch (reply.route) {
      case Route::l1: {
        memory::Evictions evicted;
        l1_.fill(reply.line, reply.sectors, false, evicted);
        write_back(evicted, at);
        mshr_.fill(reply.line, reply.sectors, [&](std::uint64_t load) { answer_load(static_cast<std::uint32_t>(load), at); });
        break;
      }
      case Route::direct:
        direct_outstanding_ -= stream::count_sectors(reply.sectors);
        for (unsigned i = stream::count_sectors(reply.sectors); i > 0; --i) answer_load(reply.tag, at);
        break;
      case Route::constant: {
        memory::Evictions none;
        constant_cache_.fill(reply.line, reply.sectors, false, none);
        constant_mshr_.fill(reply.line, reply.sectors, [&](std::uint64_t load) { answer_load(static_cast<std::uint32_t>(load), at); });
        break;
      }
      case Route::store:
        acknowledge_store(reply.tag, at);
        break;
    }
  }
  if (observer_ != nullptr) observer_->replies_end();
}

void Sm::launch_blocks(Cycle now) {
  for (; !launches_.empty() && launches_.front().at <= now; launches_.pop()) start_block(launches_.front().block, now);
}

void Sm::start_block(std::uint64_t block, Cycle now) {
  const auto free = std::ranges::find_if(blocks_, [](const BlockSlot& slot) { return !slot.busy; });
  const auto number = static_cast<std::uint32_t>(free - blocks_.begin());
  const std::uint32_t first_warp = number * context_.warps_per_block;
  if (!free->block) free->block = work_->make_block();
  free->block->reset(block, id_, first_warp);
  count_residency(now);
  free->busy = true;
  free->warps_left = context_.warps_per_block;
  free->at_barrier = 0;
  ++resident_blocks_;
  resident_warps_ += context_.warps_per_block;
  ++counters_.blocks;
  counters_.warps += context_.warps_per_block;
  free->number = block;
  if (observer_ != nullptr) observer_->block_begins(number, block, now);
  if (watch_ != nullptr) watch_->block_changed();
  std::fill_n(scoreboard_.begin() + static_cast<std::ptrdiff_t>(std::size_t{first_warp} * slots_),
              std::size_t{context_.warps_per_block} * slots_, 0);
  for (std::uint32_t i = 0; i < context_.warps_per_block; ++i) {
    Warp& warp = warps_[first_warp + i];
    WarpScheduler& scheduler = schedulers_[warp.scheduler];
    warp = {.block = free->block.get(),
            .in_block = static_cast<std::uint16_t>(i),
            .block_slot = static_cast<std::uint16_t>(number),
            .scheduler = warp.scheduler,
            .local = warp.local};
    scheduler.resident |= WarpScheduler::bit(warp.local);
    scheduler.age[warp.local] = launch_order_++;
    advance_warp(first_warp + i, now, Stall::dispatch);
  }
}

// One scheduler, one cycle: account for what was skipped, find who could issue, let the policy choose, issue.
void Sm::evaluate(WarpScheduler& scheduler, Cycle now) {
  if (observer_ != nullptr) observe_charge(scheduler, now);
  scheduler.charge(now);
  scheduler.collect(now);
  scheduler.next_try = never;
  WarpScheduler::Mask throttled = 0;
  Cycle free_again = never;
  for (std::uint32_t pipes = scheduler.busy_pipes; pipes != 0; pipes &= pipes - 1) {
    const auto pipe = static_cast<unsigned>(std::countr_zero(pipes));
    const Cycle free = scheduler.pipe_free[pipe] >> memory::fixed_bits;
    if (free <= now) {
      scheduler.busy_pipes &= ~(1u << pipe);
    } else if ((scheduler.next_pipe[pipe] & scheduler.ready) != 0) {
      throttled |= scheduler.next_pipe[pipe];
      free_again = std::min(free_again, free);
    }
  }
  for (const Pipe pipe : {Pipe::mio, Pipe::lg, Pipe::tex}) {
    const WarpScheduler::Mask wanting = scheduler.next_pipe[static_cast<std::size_t>(pipe)] & scheduler.ready;
    if (wanting == 0) continue;
    const Cycle free = throttled_until(pipe, now);
    if (free <= now) continue;
    throttled |= wanting;
    free_again = std::min(free_again, free);
  }
  for (WarpScheduler::Mask eligible = scheduler.ready & ~throttled; eligible != 0; eligible &= scheduler.ready) {
    if (!issue(scheduler, config_.policy.pick(scheduler, eligible), now)) continue;
    scheduler.charge_issue(now);
    scheduler.next_try = now + 1;
    return;
  }
  const WarpScheduler::Next next = scheduler.next_wake();
  scheduler.next_try = std::min(free_again, next.at);
  // The warp nearest to issue gives the reason: operands ready, then soonest known, then waiting for an event.
  if (scheduler.ready != 0) {
    const Warp& warp = warps_[static_cast<std::size_t>(std::countr_zero(scheduler.ready)) * schedulers_.size() +
                              static_cast<std::size_t>(&scheduler - schedulers_.data())];
    scheduler.reason = throttle_stall((*warp.program)[warp.pc].pipe_of(warp.part));
  } else if (next.at != never) {
    scheduler.reason = scheduler.why[next.warp];
  } else {
    scheduler.reason = waiting_reason(scheduler);
  }
  if (observer_ != nullptr) observe_stall(scheduler, next);
}

// First cycle at which the unit's queue takes another instruction; never: an event will say.
Cycle Sm::throttled_until(Pipe pipe, Cycle now) const {
  const memory::Port& port = pipe == Pipe::mio ? mio_port_ : lg_port_;
  if (pipe != Pipe::mio && lg_queue_.size() >= lg_queue_depth) return never;
  return port.free_at() > now + queue_ahead ? port.free_at() - queue_ahead : now;
}

// All warps wait for events: data first, then what the program itself orders.
Stall Sm::waiting_reason(const WarpScheduler& scheduler) const {
  static constexpr std::array order = {Stall::long_scoreboard, Stall::imc_miss, Stall::short_scoreboard, Stall::membar, Stall::barrier};
  std::uint32_t seen = 0;
  for (WarpScheduler::Mask rest = scheduler.waiting; rest != 0; rest &= rest - 1)
    seen |= 1u << static_cast<unsigned>(scheduler.why[static_cast<std::size_t>(std::countr_zero(rest))]);
  for (const Stall stall : order)
    if (seen & (1u << static_cast<unsigned>(stall))) return stall;
  return seen != 0 ? static_cast<Stall>(std::countr_zero(seen)) : Stall::no_warp;
}

// The warp is through, its memory operations included; the last one of a block frees the block's place.
void Sm::end_warp(std::uint32_t number, Cycle now) {
  Warp& warp = warps_[number];
  WarpScheduler& scheduler = schedulers_[warp.scheduler];
  const auto bit = WarpScheduler::bit(warp.local);
  warp.state = State::empty;
  scheduler.waiting &= ~bit;
  scheduler.resident &= ~bit;
  scheduler.next_try = std::min(scheduler.next_try, now);
  count_residency(now);
  --resident_warps_;
  finished_at_ = std::max(finished_at_, now);
  BlockSlot& block = blocks_[warp.block_slot];
  if (--block.warps_left == 0) {
    if (observer_ != nullptr) observer_->block_ends(warp.block_slot, now);
    if (watch_ != nullptr) watch_->block_changed();
    block.busy = false;
    --resident_blocks_;
    ++free_blocks_;
  }
}

void Sm::count_residency(Cycle now) {
  if (now <= residency_since_) return;
  const Cycle span = now - residency_since_;
  counters_.warp_cycles += span * resident_warps_;
  if (resident_blocks_ > 0) counters_.active_cycles += span;
  residency_since_ = now;
}

SmCounters Sm::counters_at(Cycle now) {
  count_residency(unused_ ? 0 : now);
  SmCounters counters = counters_;
  if (unused_) {
    counters.slots[static_cast<std::size_t>(Stall::no_warp)] = now * schedulers_.size();
    return counters;
  }
  for (WarpScheduler& scheduler : schedulers_) {
    if (observer_ != nullptr) observe_charge(scheduler, now);
    scheduler.charge(now);
    for (std::size_t i = 0; i < stall_count; ++i) counters.slots[i] += scheduler.slots[i];
  }
  counters.l1_busy = lg_port_.busy();
  counters.shared_busy = mio_port_.busy();
  return counters;
}

void Sm::finish(Cycle end) {
  counters_ = counters_at(end);
  if (unused_) return;
  blocks_.clear();   // they belong to the launch
  work_.reset();
}

std::string Sm::whereabouts() const {
  for (const BlockSlot& slot : blocks_)
    if (slot.busy) return slot.block->whereabouts();
  return {};
}

void Sm::check_progress() const {
  for (const BlockSlot& slot : blocks_)
    if (slot.busy) slot.block->check_progress();
}

}  // namespace simtlab::timing

#include "timing/sm.h"

#include <algorithm>

#include "base/error.h"

namespace simtlab::timing {
namespace {

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
      tick_mask_(config.device.sm.issue_turns - 1),
      front_end_(config.device),
      l1_(memory::cache_config(config.device.l1, config.device.l1.bytes, id)),
      constant_cache_(memory::cache_config(config.device.constant, config.device.constant.bytes, id)),
      mshr_(config.device.l1.mshr_entries, config.device.l1.mshr_merge),
      constant_mshr_(constant_misses, 1u << 20),
      banks_{config.device.shared.banks, config.device.shared.bank_bytes},
      l1_unit_(static_cast<unsigned>(std::countr_zero(config.device.l1.sector_bytes / stream::sector_bytes))),
      l1_sector_cost_(memory::to_fixed(32 / config.device.l1.bytes_per_cycle)) {
  if (config.what_if.perfect_coalescing)
    as_written_ = std::make_unique<AsWritten>(
        memory::cache_config(config.device.l1, config.device.l1.bytes, id), config.device);
}

void Sm::begin(std::uint64_t epoch) {
  epoch_ = epoch;
  unused_ = true;
  launches_.clear();
  outbox_.clear();
  blocks_.clear();  // they belong to the shares of tenants
  tenants_.clear();
  account_ = &past_;
  past_ = {};
  nobody_ = {};
  held_ = {};
  front_end_.restart();
  if (observer_ != nullptr) observer_->begin(epoch);
}

void Sm::prepare() {
  unused_ = false;
  const unsigned warps = config_.device.sm.max_warps;
  std::ranges::fill(schedulers_, WarpScheduler{});
  for (std::size_t i = 0; i < schedulers_.size(); ++i) {
    schedulers_[i].account = &nobody_;
    schedulers_[i].turn = static_cast<std::uint8_t>(i & tick_mask_);
    schedulers_[i].gated = tick_mask_ != 0;
  }
  warps_.assign(warps, Warp{});
  for (unsigned i = 0; i < warps; ++i) {
    warps_[i].scheduler = static_cast<std::uint8_t>(i % schedulers_.size());
    warps_[i].local = static_cast<std::uint8_t>(i / schedulers_.size());
  }
  taken_warps_.assign(warps, false);
  slots_ = 0;
  scoreboard_.clear();
  forwards_.resize(std::size_t{warps} * max_forwards);
  launch_order_ = 0;
  front_end_.begin();
  mshr_.clear();
  constant_mshr_.clear();
  lg_port_.reset();
  first_scheduler_ = 0;
  mio_port_.reset();
  lg_queue_.clear();
  lg_segments_.clear();
  lg_retry_at_ = lg_blocked_since_ = never;
  loads_.clear();
  free_loads_.clear();
  stores_outstanding_ = direct_outstanding_ = 0;
}

// ---- launches and the blocks they place here

Tenant* Sm::tenant(unsigned slot) {
  for (const auto& tenant : tenants_)
    if (tenant->context->slot == slot) return tenant.get();
  return nullptr;
}

// A launch that has the SM for itself fits as often as the occupancy calculator says; beside others what they
// hold counts.
bool Sm::takes(const LaunchContext& launch) const {
  if (held_.blocks == 0) return launch.blocks_per_sm > 0;
  const auto own =
      std::ranges::find_if(tenants_, [&](const auto& tenant) { return tenant->context == &launch; });
  if (own != tenants_.end() && (*own)->blocks >= launch.blocks_per_sm) return false;
  return launch.blocks_per_sm > 0 &&
         device::fits_beside(config_.device, held_, launch.occupancy, launch.warps_per_block, shared_room_) &&
         free_run(launch.warps_per_block) < warps_.size();
}

std::uint32_t Sm::free_run(std::uint32_t warps) const {
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < taken_warps_.size() && i - first < warps; ++i)
    if (taken_warps_[i]) first = i + 1;
  return first + warps <= taken_warps_.size() ? first : static_cast<std::uint32_t>(taken_warps_.size());
}

// Where L1 and shared memory share their storage, the launch that finds the SM empty decides on the parts, as
// drivers do; later ones have to do with them until it is empty again.
void Sm::make_cold(const LaunchContext& launch) {
  const device::Device& device = config_.device;
  if (launch.l1_ways != l1_.ways()) l1_.resize_ways(launch.l1_ways);
  l1_.clear();
  if (as_written_ != nullptr) as_written_->make_cold(launch.l1_ways);
  constant_cache_.clear();
  const std::uint64_t own = std::uint64_t{launch.occupancy.blocks_per_sm} * launch.occupancy.shared_per_block;
  const std::uint64_t l1_bytes = device.l1.bytes / device.l1.ways * launch.l1_ways;
  shared_room_ = device.l1_unified_bytes == 0
                     ? device.sm.shared_bytes
                     : std::min<std::uint64_t>(device.l1_unified_bytes -
                                                   std::min<std::uint64_t>(l1_bytes, device.l1_unified_bytes),
                                               device.sm.shared_bytes);
  shared_room_ = std::max(shared_room_, own);
}

Tenant& Sm::admit(LaunchContext& launch) {
  if (Tenant* known = tenant(launch.slot)) return *known;
  if (held_.blocks == 0) make_cold(launch);
  widen_scoreboard(launch.programs.scoreboard_slots());
  auto& tenant = tenants_.emplace_back(std::make_unique<Tenant>());
  tenant->context = &launch;
  tenant->work = launch.launch->make_share(stream::Effects::at_commit);
  if (observer_ != nullptr) observer_->begin_launch(launch.slot);
  return *tenant;
}

void Sm::widen_scoreboard(std::uint32_t slots) {
  if (slots <= slots_) return;
  std::vector<std::uint64_t> wide(warps_.size() * slots);
  for (std::size_t warp = 0; slots_ != 0 && warp < warps_.size(); ++warp)
    std::copy_n(&scoreboard_[warp * slots_], slots_, &wide[warp * slots]);
  scoreboard_ = std::move(wide);
  slots_ = slots;
}

void Sm::assign(LaunchContext& launch, std::uint64_t block, Cycle at) {
  if (unused_) prepare();
  Tenant& tenant = admit(launch);
  const std::uint32_t first = free_run(launch.warps_per_block);
  SIMTLAB_ASSERT(first < warps_.size(), "a block is handed only to an SM with room");
  std::fill_n(taken_warps_.begin() + first, launch.warps_per_block, true);
  auto slot = std::ranges::find(blocks_, false, &BlockSlot::taken);
  if (slot == blocks_.end()) slot = blocks_.insert(slot, BlockSlot{});
  if (slot->tenant != &tenant) slot->block.reset();
  slot->tenant = &tenant;
  slot->first_warp = first;
  slot->number = block;
  slot->taken = true;
  ++tenant.blocks;
  held_.add(launch.occupancy, launch.warps_per_block);
  launches_.push({static_cast<std::uint32_t>(slot - blocks_.begin()), at});
}

void Sm::leave(unsigned slot) {
  const auto at =
      std::ranges::find_if(tenants_, [&](const auto& tenant) { return tenant->context->slot == slot; });
  if (at == tenants_.end()) return;
  Tenant& tenant = **at;
  for (WarpScheduler& scheduler : schedulers_) {
    if (scheduler.account != &tenant.counters.slots) continue;
    SIMTLAB_ASSERT(scheduler.charged_until >= tenant.finished_at, "settled until the launch's end");
    scheduler.account = &nobody_;
  }
  if (account_ == &tenant.counters) account_ = &past_;
  for (BlockSlot& block : blocks_)
    if (block.tenant == &tenant) block = {};
  past_.add(tenant.counters);
  if (observer_ != nullptr) observer_->leave(slot);
  tenants_.erase(at);
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
    now_ = now;
    deliver(now);
    launch_blocks(now);
    if (lg_retry_at_ <= now) retry_lg(now);
    // Who used a unit of the whole SM last comes last: schedulers take turns at it.
    const std::size_t first = first_scheduler_;
    for (std::size_t i = first; i < schedulers_.size(); ++i)
      if (schedulers_[i].next_try <= now) evaluate(schedulers_[i], now);
    for (std::size_t i = 0; i < first; ++i)
      if (schedulers_[i].next_try <= now) evaluate(schedulers_[i], now);
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
        mshr_.fill(reply.line, reply.sectors, [&](std::uint64_t load) {
          if (load != no_load) answer_load(static_cast<std::uint32_t>(load), at);
        });
        break;
      }
      case Route::direct:
        direct_outstanding_ -= stream::count_sectors(reply.sectors);
        for (unsigned i = stream::count_sectors(reply.sectors); i > 0; --i) answer_load(reply.tag, at);
        break;
      case Route::constant: {
        memory::Evictions none;
        constant_cache_.fill(reply.line, reply.sectors, false, none);
        constant_mshr_.fill(reply.line, reply.sectors,
                            [&](std::uint64_t load) { answer_load(static_cast<std::uint32_t>(load), at); });
        break;
      }
      case Route::store: acknowledge_store(reply.tag, at); break;
    }
  }
  if (observer_ != nullptr) observer_->replies_end();
}

void Sm::launch_blocks(Cycle now) {
  for (; !launches_.empty() && launches_.front().at <= now; launches_.pop())
    start_block(launches_.front().slot, now);
}

void Sm::start_block(std::uint32_t number, Cycle now) {
  BlockSlot& slot = blocks_[number];
  Tenant& tenant = *slot.tenant;
  const std::uint32_t warps = tenant.context->warps_per_block;
  if (!slot.block) slot.block = tenant.work->make_block();
  slot.block->reset(slot.number, id_, slot.first_warp);
  tenant.count_residency(now);
  slot.busy = true;
  slot.warps_left = warps;
  slot.at_barrier = 0;
  ++tenant.resident_blocks;
  tenant.resident_warps += warps;
  ++tenant.counters.blocks;
  tenant.counters.warps += warps;
  if (observer_ != nullptr) observer_->block_begins(number, slot.number, now);
  std::fill_n(scoreboard_.begin() + static_cast<std::ptrdiff_t>(std::size_t{slot.first_warp} * slots_),
              std::size_t{warps} * slots_, 0);
  for (std::uint32_t i = 0; i < warps; ++i) {
    Warp& warp = warps_[slot.first_warp + i];
    WarpScheduler& scheduler = schedulers_[warp.scheduler];
    warp = {.block = slot.block.get(),
            .tenant = &tenant,
            .in_block = static_cast<std::uint16_t>(i),
            .block_slot = static_cast<std::uint16_t>(number),
            .scheduler = warp.scheduler,
            .local = warp.local};
    scheduler.resident |= WarpScheduler::bit(warp.local);
    scheduler.age[warp.local] = launch_order_++;
    advance_warp(slot.first_warp + i, now, Stall::dispatch);
    // Its slots have another reason from now on, though the first instruction may come later
    scheduler.next_try = std::min(scheduler.next_try, now);
  }
}

// One scheduler, one cycle: account for what was skipped, find who could issue, let the policy choose, issue.
void Sm::evaluate(WarpScheduler& scheduler, Cycle now) {
  if (scheduler.gated && !open(scheduler, now)) [[unlikely]]
    return;
  if (observer_ != nullptr) observe_charge(scheduler, now);
  scheduler.charge(now);
  scheduler.collect(now);
  scheduler.next_try = never;
  WarpScheduler::Mask throttled = 0;
  Cycle free_again = never;
  for (std::uint32_t pipes = scheduler.busy_pipes; pipes != 0; pipes &= pipes - 1) {
    const auto pipe = static_cast<unsigned>(std::countr_zero(pipes));
    const Cycle free = scheduler.pipe_free[pipe] >> memory::fixed_bits;
    if (free <= now + tick_mask_) {  // within this turn
      scheduler.busy_pipes &= ~(1u << pipe);
    } else if ((scheduler.next_pipe[pipe] & scheduler.ready) != 0) {
      throttled |= scheduler.next_pipe[pipe];
      free_again = std::min(free_again, free - tick_mask_);
    }
  }
  for (const Pipe pipe : {Pipe::mio, Pipe::lg, Pipe::tex}) {
    const WarpScheduler::Mask wanting = scheduler.next_pipe[static_cast<std::size_t>(pipe)] & scheduler.ready;
    if (wanting == 0) continue;
    const Cycle free = throttled_until(scheduler, pipe, now);
    if (free <= now) continue;
    throttled |= wanting;
    free_again = std::min(free_again, free);
  }
  for (WarpScheduler::Mask eligible = scheduler.ready & ~throttled; eligible != 0;
       eligible &= scheduler.ready) {
    if (!issue(scheduler, config_.policy.pick(scheduler, eligible), now)) continue;
    if (observer_ != nullptr && observer_->states(now))
      observe_warps(scheduler, scheduler.last, throttled, now);
    scheduler.charge_issue(now, account_->slots);
    scheduler.next_try = now + 1;
    if (scheduler.gated) [[unlikely]]
      hold(scheduler);
    return;
  }
  const WarpScheduler::Next next = scheduler.next_wake();
  scheduler.next_try = std::min(free_again, next.at);
  // The warp nearest to issue gives the reason: operands ready, then soonest known, then waiting for an
  // event.
  if (scheduler.ready != 0) {
    const Warp& warp = warp_of(scheduler, static_cast<unsigned>(std::countr_zero(scheduler.ready)));
    scheduler.reason = throttle_stall((*warp.program)[warp.pc].pipe_of(warp.part));
  } else if (next.at != never) {
    scheduler.reason = scheduler.why[next.warp];
  } else {
    scheduler.reason = waiting_reason(scheduler);
  }
  if (observer_ != nullptr && observer_->states(now)) observe_warps(scheduler, nobody, throttled, now);
  if (tenants_.size() == 1 && observer_ == nullptr) {
    // Slots without a warp are nobody's: this SM may be settled beyond the launch's end while others still
    // run.
    scheduler.account = scheduler.reason == Stall::no_warp ? &nobody_ : &tenants_.front()->counters.slots;
    return;
  }
  const unsigned local = blamed(scheduler, next);
  scheduler.account = local == nobody ? &nobody_ : &warp_of(scheduler, local).tenant->counters.slots;
  if (observer_ != nullptr) observe_stall(scheduler, local);
}

// Not before its turn, and the end of what has issued; one without warps is done at once, for nothing comes
// after the launch's end. Out of line, as hold(): most schedulers have no turns, and rarely conflicts.
[[gnu::noinline]] bool Sm::open(WarpScheduler& scheduler, Cycle now) const {
  const Cycle from = std::max(now, scheduler.closed_until);
  const Cycle turn = from + ((scheduler.turn - from) & tick_mask_);
  if (turn > now && scheduler.resident != 0) {
    scheduler.next_try = turn;
    return false;
  }
  scheduler.gated = tick_mask_ != 0;
  return true;
}

// The cycles until its next turn belong to what has issued, and those in which its registers are read; the
// launch may have ended with it.
[[gnu::noinline]] void Sm::hold(WarpScheduler& scheduler) {
  if (scheduler.resident == 0) {  // that was its last one: no slot beyond it
    scheduler.conflicts = 0;
    return;
  }
  const Warp& warp = warp_of(scheduler, scheduler.last);
  const bool ended = warp.state == State::empty;
  scheduler.reason = ended ? Stall::no_warp : tick_mask_ != 0 ? Stall::selected : Stall::dispatch;
  scheduler.next_try = scheduler.closed_until =
      scheduler.next_try + tick_mask_ + scheduler.conflicts * (tick_mask_ + 1);
  scheduler.conflicts = 0;
  scheduler.account = ended ? &nobody_ : &account_->slots;
  if (observer_ == nullptr) return;
  if (ended)
    observer_->blame_nobody(index_of(scheduler));
  else
    observer_->blame_issued(index_of(scheduler), warp.tenant->context->slot);
}

unsigned Sm::blamed(const WarpScheduler& scheduler, const WarpScheduler::Next& next) const {
  if (scheduler.ready != 0) return static_cast<unsigned>(std::countr_zero(scheduler.ready));
  if (next.at != never) return next.warp;
  for (WarpScheduler::Mask rest = scheduler.waiting; rest != 0; rest &= rest - 1)
    if (const auto warp = static_cast<unsigned>(std::countr_zero(rest));
        scheduler.why[warp] == scheduler.reason)
      return warp;
  return nobody;
}

// First cycle at which the unit's queue takes another instruction; never: an event will say.
// Of schedulers that issue in turns (Fermi) the one whose turn comes as the unit takes more would always be
// the same: who used it last waits for the others' turns.
Cycle Sm::throttled_until(const WarpScheduler& scheduler, Pipe pipe, Cycle now) const {
  const memory::Port& port = pipe == Pipe::mio ? mio_port_ : lg_port_;
  if (pipe != Pipe::mio && lg_queue_.size() >= lg_queue_depth) return never;
  const Cycle ahead = queue_ahead - (index_of(scheduler) + 1 == first_scheduler_ ? tick_mask_ : 0);
  return port.free_at() > now + ahead ? port.free_at() - ahead : now;
}

// All warps wait for events: data first, then what the program itself orders.
Stall Sm::waiting_reason(const WarpScheduler& scheduler) const {
  static constexpr std::array order = {Stall::long_scoreboard, Stall::imc_miss, Stall::short_scoreboard,
                                       Stall::membar, Stall::barrier};
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
  Tenant& tenant = *warp.tenant;
  tenant.count_residency(now);
  --tenant.resident_warps;
  tenant.finished_at = std::max(tenant.finished_at, now);
  if (--blocks_[warp.block_slot].warps_left == 0) end_block(warp.block_slot, now);
}

void Sm::end_block(std::uint32_t number, Cycle now) {
  if (observer_ != nullptr) observer_->block_ends(number, now);
  BlockSlot& block = blocks_[number];
  Tenant& tenant = *block.tenant;
  const LaunchContext& launch = *tenant.context;
  block.taken = block.busy = false;
  std::fill_n(taken_warps_.begin() + block.first_warp, launch.warps_per_block, false);
  --tenant.resident_blocks;
  --tenant.blocks;
  ++tenant.ended;
  held_.remove(launch.occupancy, launch.warps_per_block);
}

void Sm::settle(Cycle now) {
  if (unused_) return;
  for (const auto& tenant : tenants_) tenant->count_residency(now);
  for (WarpScheduler& scheduler : schedulers_) {
    if (observer_ != nullptr) observe_charge(scheduler, now);
    scheduler.charge(now);
  }
}

SmCounters Sm::counters() const {
  SmCounters all = past_;
  for (const auto& tenant : tenants_) all.add(tenant->counters);
  return all;
}

std::string Sm::whereabouts(const LaunchContext* launch) const {
  for (const BlockSlot& slot : blocks_)
    if (slot.busy && slot.tenant->context == launch) return slot.block->whereabouts();
  return {};
}

void Sm::check_progress() const {
  for (const BlockSlot& slot : blocks_)
    if (slot.busy) slot.block->check_progress();
}

std::uint64_t Sm::warp_instructions() const {
  std::uint64_t sum = past_.warp_instructions;
  for (const auto& tenant : tenants_) sum += tenant->counters.warp_instructions;
  return sum;
}

bool Sm::stuck(std::uint32_t steps, std::vector<exec::Stuck>& who) {
  if (unused_) return true;
  return launches_.empty() && std::ranges::all_of(blocks_, [&](BlockSlot& slot) {
           return !slot.busy || slot.block->stuck(steps, who);
         });
}

}  // namespace simtlab::timing

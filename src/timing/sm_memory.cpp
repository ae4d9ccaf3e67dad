// The load-store side of an SM: shared memory, constant cache, L1 and the way to the network.
#include <algorithm>

#include "base/error.h"
#include "memory/l1_rules.h"
#include "stream/local_memory.h"
#include "stream/pack.h"
#include "timing/scoreboard.h"
#include "timing/sm.h"

namespace simtlab::timing {
namespace {

using ptx::OpClass;
using ptx::Space;

constexpr auto popcount = stream::count_sectors;

// Answers to write-backs of L1 belong to no warp.
constexpr std::uint32_t no_warp = ~std::uint32_t{0};
// Stores of an SM that may be under way at once, 128-byte lines; estimated: covers latency times the write
// bandwidth of an SM.
constexpr std::uint32_t store_credits = 256;
// Requests wait in the SM, not in the network, when its port is so far behind.
constexpr Cycle port_backlog = 64;

}  // namespace

void Sm::memory(std::uint32_t number, const InstInfo& info, const stream::Step& step, Cycle now) {
  if (step.mask == 0 || step.addresses == nullptr) {
    set_destinations(number, *warps_[number].program, info, entry(now + 1, Stall::wait));
    return;
  }
  switch (step.space) {
    case Space::shared: shared_access(number, info, step, now); break;
    case Space::constant:
    case Space::param: constant_access(number, info, step, now); break;
    default: global_access(number, info, step, now); break;
  }
}

void Sm::shared_access(std::uint32_t number, const InstInfo& info, const stream::Step& step, Cycle now) {
  const bool atomic = info.op_class == OpClass::shared_atomic || info.op_class == OpClass::atomic;
  const unsigned ideal = stream::shared_passes_ideal(step.mask, step.bytes, banks_);
  const unsigned passes = config_.what_if.no_bank_conflicts ? ideal
                          : atomic
                              ? stream::shared_atomic_passes(step.addresses, step.mask, step.bytes, banks_)
                              : stream::shared_passes(step.addresses, step.mask, step.bytes, banks_);
  const bool store = info.inst->op == ptx::Op::st;
  ++(atomic ? account_->shared_atomics : store ? account_->shared_stores : account_->shared_loads);
  account_->shared_passes += passes;
  account_->shared_conflicts += passes - std::min(ideal, passes);
  if (observer_ != nullptr) observer_->shared(passes, passes - std::min(ideal, passes));
  account_->shared_bytes += std::uint64_t{step.bytes} * static_cast<unsigned>(std::popcount(step.mask));
  // One pass is what a full warp of 32-bit words takes: 32 / throughput cycles.
  const FixedCycles pass = config_.pipes[atomic ? OpClass::shared_atomic : OpClass::shared].sm_cost;
  const Cycle start = take(mio_port_, number, passes * pass, now);
  account_->shared_busy += passes * pass;
  const Cycle behind = ((passes - 1) * pass) >> memory::fixed_bits;
  account_->memory_stage_cycles += behind;
  Warp& warp = warps_[number];
  const std::uint32_t fine =
      atomic ? config_.pipes[OpClass::shared_atomic].latency : config_.latencies.shared;
  set_destinations(number, *warp.program, info,
                   entry(start + behind + latency(warp, fine), Stall::short_scoreboard));
}

// Parameters always hit (the launch puts them there); constants come through a small cache, one address at a
// time.
void Sm::constant_access(std::uint32_t number, const InstInfo& info, const stream::Step& step, Cycle now) {
  Warp& warp = warps_[number];
  const unsigned passes = stream::constant_passes(step.addresses, step.mask);
  const Cycle ready = now + passes - 1 + latency(warp, config_.latencies.constant);
  account_->constant_accesses += passes;
  account_->memory_stage_cycles += passes - 1;
  if (step.space == Space::param) {
    set_destinations(number, *warp.program, info, entry(ready, Stall::short_scoreboard));
    return;
  }
  stream::coalesce(step.addresses, step.mask, step.bytes, segments_);
  const std::uint32_t load = new_load(number, info);
  loads_[load].ready_at = ready;
  for (unsigned i = 0; i < segments_.count; ++i) {
    const std::uint64_t line = segments_.items[i].line;
    const std::uint8_t wanted = constant_cache_.widen(segments_.items[i].sectors);
    const std::uint8_t miss = constant_cache_.read(line, wanted).miss;
    if (miss == 0) continue;
    ++account_->constant_misses;
    const memory::Mshr::Look look = constant_mshr_.look(line);
    const auto fetch = static_cast<std::uint8_t>(miss & ~look.pending);
    Request request{.line = line, .tag = load, .route = Route::constant, .sectors = fetch};
    if (look.room) {
      constant_mshr_.add(line, miss, fetch, load);
      ++loads_[load].remaining;
    } else {  // no register left: fetched for this load alone
      request.route = Route::direct;
      request.sectors = miss;
      direct_outstanding_ += popcount(miss);
      loads_[load].remaining += popcount(miss);
    }
    if (request.sectors != 0) send(request, now + config_.latencies.to_network, 0);
  }
  const Stall reason = loads_[load].remaining > 1 ? Stall::imc_miss : Stall::short_scoreboard;
  set_destinations(number, *warp.program, info, open_entry(reason));
  answer_load(load, now);
}

bool Sm::looks_into_l1(const InstInfo& info, bool local) const {
  if (local || (config_.what_if.perfect_l1 && info.inst->mods.order == ptx::MemOrder::weak)) return true;
  return memory::looks_into_l1(*info.inst, config_.device);
}

void Sm::count_global(std::uint32_t number, const InstInfo& info, const stream::Step& step, bool local) {
  const auto lanes = static_cast<unsigned>(std::popcount(step.mask));
  const SpaceCounters one{1, segments_.sector_count(), std::uint64_t{step.bytes} * lanes};
  if (observer_ != nullptr) observer_->requested(static_cast<unsigned>(one.sectors));
  const Warp& warp = warps_[number];
  if (!local && info.op_class != OpClass::texture) warp.tenant->accesses.at(*warp.program, info).add(one);
  if (info.op_class == OpClass::atomic) {
    account_->atomic.add(one);
    account_->atomic_operations += lanes;
    return;
  }
  if (info.op_class == OpClass::texture) ++account_->texture_requests;
  if (info.op_class == OpClass::async_copy) ++account_->async_copies;
  const bool store = info.op_class == OpClass::store;
  SpaceCounters& space = local ? (store ? account_->local_store : account_->local_load)
                               : (store ? account_->global_store : account_->global_load);
  space.add(one);
}

// --what-if perfect-coalescing: as few sectors as the bytes fill. Tells whether the access as it is written
// finds its data in L1.
bool Sm::pack(const InstInfo& info, const stream::Step& step, bool looks_into_l1) {
  const bool store = info.op_class == OpClass::store;
  if (store) as_written_->stores(segments_);
  const bool found = !store && looks_into_l1 && as_written_->finds(segments_);
  stream::pack(step.addresses[std::countr_zero(step.mask)], step.bytes, segments_);
  return found;
}

void Sm::global_access(std::uint32_t number, const InstInfo& info, const stream::Step& step, Cycle now) {
  Warp& warp = warps_[number];
  const bool local = step.space == Space::local;
  const bool atomic = info.op_class == OpClass::atomic;
  bool found = false;
  if (local) {
    const LaunchContext& launch = *warp.tenant->context;
    const std::uint64_t place = std::uint64_t{id_} * config_.device.sm.max_warps + number;
    const std::uint64_t base =
        stream::local_address(launch.slot, place, stream::local_bytes_of_warp(launch.launch->function()));
    stream::coalesce_local(step.addresses, step.mask, step.bytes, base, segments_);
  } else if (atomic) {
    stream::coalesce_atomic(step.addresses, step.mask, step.bytes, segments_);
  } else {
    stream::coalesce(step.addresses, step.mask, step.bytes, segments_);
    if (as_written_ != nullptr) found = pack(info, step, looks_into_l1(info, local));
  }
  count_global(number, info, step, local);

  LgInstruction instruction{.local = local, .found = found, .warp = static_cast<std::uint16_t>(number)};
  instruction.access = info.op_class == OpClass::store ? Access::store
                       : !atomic                       ? Access::load
                       : info.returns                  ? Access::atomic
                                                       : Access::reduction;
  instruction.cached = looks_into_l1(info, local);
  if (info.op_class == OpClass::texture) instruction.extra = config_.latencies.texture_extra;
  const bool answers = instruction.access == Access::load || instruction.access == Access::atomic;
  if (answers) {
    instruction.load = new_load(number, info);
    if (as_written_ != nullptr && instruction.cached && !local && !atomic)
      as_written_->begins(instruction.load);
    if (observer_ != nullptr) observer_->load_begins(instruction.load, number, *info.inst, now);
    set_destinations(number, *warp.program, info, open_entry(Stall::long_scoreboard));
  }

  // The port is taken for the whole instruction: its lanes at the unit's rate, or its tags and bytes at L1's.
  FixedCycles cost = 0;
  for (unsigned i = 0; i < segments_.count; ++i) cost += l1_cost(segments_.items[i]);
  account_->l1_bytes += std::uint64_t{segments_.sector_count()} * 32;
  const Cycle start = take(lg_port_, number, std::max(cost, info.sm_cost), now);
  account_->l1_busy += std::max(cost, info.sm_cost);
  unsigned done = 0;
  FixedCycles turn = 0;
  if (lg_queue_.empty())
    while (done < segments_.count &&
           process(instruction, segments_.items[done], start + (turn >> memory::fixed_bits), now))
      turn += l1_cost(segments_.items[done++]);
  if (done > 1) account_->memory_stage_cycles += (turn - l1_cost(segments_.items[0])) >> memory::fixed_bits;
  if (done < segments_.count) {
    queue_rest(instruction, done, now);
  } else if (answers) {
    answer_load(instruction.load, now);
  }
}

FixedCycles Sm::l1_cost(const stream::Segment& segment) const {
  return std::max(FixedCycles{1} << memory::fixed_bits, popcount(segment.sectors) * l1_sector_cost_);
}

void Sm::queue_rest(LgInstruction& instruction, unsigned first, Cycle now) {
  instruction.segments = segments_.count - first;
  if (instruction.access == Access::store || instruction.access == Access::reduction) {
    // Stands for the stores not sent yet, so that neither a fence nor the warp's end overtakes them.
    ++warps_[instruction.warp].stores;
    ++stores_outstanding_;
  }
  if (lg_queue_.empty()) lg_queued_since_ = now;
  lg_queue_.push(instruction);
  for (unsigned i = first; i < segments_.count; ++i) lg_segments_.push(segments_.items[i]);
}

std::uint32_t Sm::new_load(std::uint32_t number, const InstInfo& info) {
  std::uint32_t index;
  if (free_loads_.empty()) {
    index = static_cast<std::uint32_t>(loads_.size());
    loads_.emplace_back();
  } else {
    index = free_loads_.back();
    free_loads_.pop_back();
  }
  Warp& warp = warps_[number];
  loads_[index] = {&info, warp.program, 0, 1, static_cast<std::uint16_t>(number), warp.async_group};
  ++warp.loads;
  warp.answers += info.returns ? 1 : 0;
  if (info.op_class == OpClass::async_copy) ++warp.async[warp.async_group % async_groups];
  return index;
}

// One of the things that a load waits for has come.
void Sm::answer_load(std::uint32_t index, Cycle now) {
  Load& load = loads_[index];
  if (--load.remaining == 0) complete_load(index, std::max(now, load.ready_at));
}

void Sm::complete_load(std::uint32_t index, Cycle at) {
  const Load load = loads_[index];
  free_loads_.push_back(index);
  if (as_written_ != nullptr) as_written_->ends(index);
  if (observer_ != nullptr) observer_->load_ends(index, at);
  Warp& warp = warps_[load.warp];
  WarpScheduler& scheduler = schedulers_[warp.scheduler];
  --warp.loads;
  warp.answers -= load.info->returns ? 1 : 0;
  set_destinations(load.warp, *load.program, *load.info, entry(at, load.info->stall));
  if (warp.forwards > 0) forward(load.warp);
  if (load.info->op_class == OpClass::async_copy) --warp.async[load.async_group % async_groups];
  switch (warp.state) {
    case State::on_register:
      if (try_ready(load.warp, scheduler.why[warp.local]))
        scheduler.waiting &= ~WarpScheduler::bit(warp.local);
      break;
    case State::on_async:
      if (!async_done(warp)) break;
      scheduler.waiting &= ~WarpScheduler::bit(warp.local);
      advance_warp(load.warp, std::max(at, warp.floor), Stall::long_scoreboard);
      break;
    case State::drain:
      if (warp.loads + warp.stores == 0) end_warp(load.warp, at);
      break;
    default: break;
  }
}

void Sm::acknowledge_store(std::uint32_t number, Cycle now) {
  --stores_outstanding_;
  if (number == no_warp) return;
  Warp& warp = warps_[number];
  if (--warp.stores > 0) return;
  if (warp.state == State::on_stores) {
    schedulers_[warp.scheduler].waiting &= ~WarpScheduler::bit(warp.local);
    advance_warp(number, std::max(now, warp.floor), Stall::membar);
  } else if (warp.state == State::drain && warp.loads == 0) {
    end_warp(number, now);
  }
}

bool Sm::process(LgInstruction& instruction, const stream::Segment& segment, Cycle at, Cycle now) {
  if (network_full(now)) {
    if (observer_ != nullptr && is_load(instruction.access))
      observer_->load_refused(instruction.load, LoadStage::crossbar, now);
    return false;
  }
  switch (instruction.access) {
    case Access::load: return process_load(instruction, segment, at, now);
    case Access::store: return process_store(instruction, segment, at, now);
    default: return process_atomic(instruction, segment, at, now);
  }
}

bool Sm::process_load(LgInstruction& instruction, const stream::Segment& segment, Cycle at, Cycle now) {
  Load& load = loads_[instruction.load];
  if (!instruction.cached) {
    if (direct_outstanding_ >= mshr_.entries() * stream::sectors_per_line) {
      if (observer_ != nullptr) observer_->load_refused(instruction.load, LoadStage::mshr, now);
      return false;
    }
    if (observer_ != nullptr) observer_->load_looked_up(instruction.load, at);
    direct_outstanding_ += popcount(segment.sectors);
    load.remaining += popcount(segment.sectors);
    send({.line = segment.line, .tag = instruction.load, .route = Route::direct, .sectors = segment.sectors},
         at + config_.latencies.to_network, 0);
    return true;
  }
  // A cache without sectors counts lines.
  const std::uint8_t wanted = l1_.widen(segment.sectors);
  const memory::Cache::Probe probe =
      config_.what_if.perfect_l1 ? memory::Cache::Probe{.hit = wanted} : l1_.read(segment.line, wanted);
  memory::Mshr::Look look;
  if (probe.miss != 0) {
    look = mshr_.look(segment.line);
    if (!look.room) {
      if (lg_blocked_since_ == never) lg_blocked_since_ = now;
      if (observer_ != nullptr) observer_->load_refused(instruction.load, LoadStage::mshr, now);
      return false;
    }
  }
  if (observer_ != nullptr) observer_->load_looked_up(instruction.load, at);
  const auto fresh = static_cast<std::uint8_t>(probe.miss & ~look.pending);
  account_->l1.read_accesses += popcount(wanted) >> l1_unit_;
  account_->l1.read_hits += popcount(probe.hit) >> l1_unit_;
  account_->l1.read_misses += popcount(fresh) >> l1_unit_;
  account_->l1.read_pending += (popcount(probe.miss) - popcount(fresh)) >> l1_unit_;
  if (probe.miss == 0 || probe.hit != 0 || instruction.found)
    load.ready_at = std::max(
        load.ready_at, at + latency(warps_[instruction.warp], config_.latencies.l1_hit + instruction.extra));
  if (probe.miss == 0) return true;
  mshr_.add(segment.line, probe.miss, fresh, instruction.found ? no_load : instruction.load);
  load.remaining += instruction.found ? 0 : 1;
  if (fresh != 0)
    send({.line = segment.line, .route = Route::l1, .sectors = fresh}, at + config_.latencies.to_network, 0);
  return true;
}

bool Sm::process_store(LgInstruction& instruction, const stream::Segment& segment, Cycle at, Cycle) {
  if (stores_outstanding_ >= store_credits) return false;
  memory::Evictions evicted;
  // Lines of this model have a place only while they hold data: there is always one to be had.
  const std::uint8_t present =
      memory::store_in_l1(l1_, config_.device, segment, instruction.local, true, evicted).present;
  const unsigned touched = popcount(l1_.widen(segment.sectors)) >> l1_unit_;
  account_->l1.write_accesses += touched;
  account_->l1.write_hits += std::min(touched, popcount(l1_.widen(present)) >> l1_unit_);
  write_back(evicted, at + config_.latencies.to_network);
  if (instruction.local) return true;
  ++warps_[instruction.warp].stores;
  ++stores_outstanding_;
  send({.line = segment.line,
        .bytes = segment.bytes,
        .tag = instruction.warp,
        .kind = RequestKind::write,
        .route = Route::store,
        .sectors = segment.sectors},
       at + config_.latencies.to_network, popcount(segment.sectors));
  return true;
}

bool Sm::process_atomic(LgInstruction& instruction, const stream::Segment& segment, Cycle at, Cycle) {
  const bool returns = instruction.access == Access::atomic;
  if (!returns && stores_outstanding_ >= store_credits) return false;
  if (returns && observer_ != nullptr) observer_->load_looked_up(instruction.load, at);
  l1_.invalidate(segment.line, l1_.widen(segment.sectors));
  Request request{.line = segment.line,
                  .tag = returns ? instruction.load : instruction.warp,
                  .kind = RequestKind::atomic,
                  .route = returns ? Route::direct : Route::store,
                  .sectors = segment.sectors,
                  .lanes = segment.lane_count,
                  .same_address = segment.same_address,
                  .returns = returns};
  if (returns) {
    direct_outstanding_ += popcount(segment.sectors);
    loads_[instruction.load].remaining += popcount(segment.sectors);
  } else {
    ++warps_[instruction.warp].stores;
    ++stores_outstanding_;
  }
  send(request, at + config_.latencies.to_network, popcount(segment.sectors));
  return true;
}

// Segments that found no register, credit or room in the network, in order.
void Sm::retry_lg(Cycle now) {
  lg_retry_at_ = never;
  if (!lg_queue_.empty()) work_for(warps_[lg_queue_.front().warp]);
  if (lg_blocked_since_ != never) {
    account_->mshr_stall_cycles += now - lg_blocked_since_;
    lg_blocked_since_ = never;
  }
  while (!lg_queue_.empty()) {
    LgInstruction& instruction = lg_queue_.front();
    work_for(warps_[instruction.warp]);
    while (instruction.segments > 0 && process(instruction, lg_segments_.front(), now, now)) {
      lg_segments_.pop();
      --instruction.segments;
    }
    if (instruction.segments > 0) return;
    const LgInstruction done = instruction;
    lg_queue_.pop();
    if (done.access == Access::load || done.access == Access::atomic) {
      answer_load(done.load, now);
    } else {
      acknowledge_store(done.warp, now);
    }
    // There is room again for whoever the queue pushed back.
    for (WarpScheduler& scheduler : schedulers_) scheduler.next_try = std::min(scheduler.next_try, now);
    if (lg_queue_.empty()) account_->memory_stage_cycles += now - lg_queued_since_;
  }
}

bool Sm::network_full(Cycle now) {
  const Cycle free = network_.request_port_free(id_);
  if (free <= now + port_backlog) return false;
  lg_retry_at_ = std::min(lg_retry_at_, free - port_backlog);
  return true;
}

void Sm::send(Request request, Cycle at, unsigned data_sectors) {
  request.sm = static_cast<std::uint16_t>(id_);
  request.launch = asker_;
  account_->request_bytes += header_bytes + std::uint64_t{data_sectors} * stream::sector_bytes;
  account_->request_flits += network_.flits(data_sectors);
  outbox_.push_back({network_.send(id_, at, data_sectors), request});
  if (observer_ != nullptr) observer_->sent(at, outbox_.back().at);
}

void Sm::write_back(const memory::Evictions& evicted, Cycle at) {
  for (unsigned i = 0; i < evicted.count; ++i) {
    ++stores_outstanding_;
    send({.line = evicted.items[i].line,
          .bytes = {~0u, ~0u, ~0u, ~0u},
          .tag = no_warp,
          .kind = RequestKind::write,
          .route = Route::store,
          .sectors = evicted.items[i].sectors},
         at, popcount(evicted.items[i].sectors));
  }
}

}  // namespace simtlab::timing

#include "timing/load_store_unit.h"

#include <algorithm>
#include <cmath>

#include "memory/l1_rules.h"
#include "stream/bank_conflicts.h"
#include "stream/local_memory.h"
#include "stream/pack.h"

namespace simtlab::timing {

using ptx::OpClass;
using ptx::Space;

namespace {

constexpr auto popcount = stream::count_sectors;

// In a miss register: the sectors are fetched for a load that has found its data as it is written.
constexpr std::uint64_t waits_for_nothing = ~std::uint64_t{0};

}  // namespace

LoadStoreUnit::LoadStoreUnit(SmContext& sm, const Parts& parts)
    : sm_(sm),
      parts_(parts),
      l1_(memory::cache_config(sm.config.device.l1, sm.config.device.l1.bytes, sm.id)),
      misses_(sm.config.device.l1.mshr_entries, sm.config.device.l1.mshr_merge),
      counted_in_(
          static_cast<unsigned>(std::countr_zero(sm.config.device.l1.sector_bytes / stream::sector_bytes))),
      sector_cost_(memory::to_fixed(32 / sm.config.device.l1.bytes_per_cycle)),
      byte_cost_(memory::to_fixed(1 / sm.config.device.l1.bytes_per_cycle)),
      partial_store_cycles_(static_cast<Cycle>(std::llround(sm.config.device.sm.partial_store_cycles))),
      tag_banks_(sm.config.device.l1_tag_banks, sm.config.what_if.unlimited_tags) {}

void LoadStoreUnit::begin() {
  misses_.clear();
  queue_.clear();
  queued_segments_.clear();
  retry_at_ = blocked_since_ = never;
}

void LoadStoreUnit::make_cold(std::uint32_t l1_ways) {
  if (l1_ways != l1_.ways()) l1_.resize_ways(l1_ways);
  l1_.clear();
}

bool LoadStoreUnit::looks_into_l1(const InstInfo& info, bool local) const {
  if (local || (sm_.config.what_if.perfect_l1 && info.inst->mods.order == ptx::MemOrder::weak)) return true;
  return memory::looks_into_l1(*info.inst, sm_.config.device);
}

FixedCycles LoadStoreUnit::l1_cost(const stream::Segment& segment) const {
  return std::max(FixedCycles{1} << memory::fixed_bits, popcount(segment.sectors) * sector_cost_);
}

// The port is taken for the whole instruction: for its lanes at the unit's rate, or for its tags and bytes at
// L1's. Local memory is laid out so that lanes never conflict; atomics get their data from L2.
LoadStoreUnit::Turn LoadStoreUnit::turn_of(const InstInfo& info, const stream::Step& step) const {
  Turn turn;
  if (!tag_banks_.there()) {
    for (unsigned i = 0; i < sm_.segments.count; ++i) turn.tags += l1_cost(sm_.segments.items[i]);
    turn.tags = std::max(turn.tags, info.sm_cost);
    return turn;
  }
  turn.tags = std::max(FixedCycles{tag_banks_.cycles(sm_.segments)} << memory::fixed_bits, info.sm_cost);
  if (info.op_class == OpClass::atomic) return turn;
  const auto bytes = stream::count_lanes(step.mask) * unsigned{step.bytes};
  static constexpr stream::Banks banks{32, 4};
  const bool packed = parts_.as_written != nullptr || step.space == Space::local;
  const unsigned wavefronts = packed || sm_.segments.count == 1
                                  ? stream::shared_passes_ideal(step.mask, step.bytes, banks)
                                  : stream::shared_passes(step.addresses, step.mask, step.bytes, banks);
  turn.data = std::max(FixedCycles{wavefronts} << memory::fixed_bits, bytes * byte_cost_);
  return turn;
}

void LoadStoreUnit::count(const Warp& warp, const InstInfo& info, const stream::Step& step) {
  const bool local = step.space == Space::local;
  const unsigned lanes = stream::count_lanes(step.mask);
  const SpaceCounters one{1, sm_.segments.sector_count(), std::uint64_t{step.bytes} * lanes};
  SmCounters& counters = *sm_.counters;
  if (sm_.observer != nullptr) sm_.observer->requested(static_cast<unsigned>(one.sectors));
  if (!local && info.op_class != OpClass::texture) warp.tenant->accesses.at(*warp.program, info).add(one);
  if (info.op_class == OpClass::atomic) {
    counters.atomic.add(one);
    counters.atomic_operations += lanes;
    return;
  }
  if (info.op_class == OpClass::texture) ++counters.texture_requests;
  if (info.op_class == OpClass::async_copy) ++counters.async_copies;
  const bool store = info.op_class == OpClass::store;
  SpaceCounters& space = local ? (store ? counters.local_store : counters.local_load)
                               : (store ? counters.global_store : counters.global_load);
  space.add(one);
}

// --what-if perfect-coalescing: as few sectors as the bytes fill. Tells whether the access as it is written
// finds its data in L1.
bool LoadStoreUnit::pack(const InstInfo& info, const stream::Step& step) {
  const bool store = info.op_class == OpClass::store;
  if (store) parts_.as_written->stores(sm_.segments);
  const bool found = !store && looks_into_l1(info, false) && parts_.as_written->finds(sm_.segments);
  stream::pack(step.addresses[std::countr_zero(step.mask)], step.bytes, sm_.segments);
  return found;
}

// Makes segments of the lanes' addresses. True: --what-if perfect-coalescing, and the access as it is
// written finds its data in L1.
bool LoadStoreUnit::coalesce(std::uint32_t number, const InstInfo& info, const stream::Step& step) {
  if (step.space == Space::local) {
    const LaunchContext& launch = *parts_.warps[number].tenant->context;
    const std::uint64_t place = std::uint64_t{sm_.id} * sm_.config.device.sm.max_warps + number;
    const std::uint64_t base =
        stream::local_address(launch.slot, place, stream::local_bytes_of_warp(*launch.launch));
    stream::coalesce_local(step.addresses, step.mask, step.bytes, base, sm_.segments);
  } else if (info.op_class == OpClass::atomic) {
    stream::coalesce_atomic(step.addresses, step.mask, step.bytes, sm_.segments);
  } else {
    stream::coalesce(step.addresses, step.mask, step.bytes, sm_.segments);
    if (parts_.as_written != nullptr) return pack(info, step);
  }
  return false;
}

void LoadStoreUnit::begin_load(Instruction& instruction, const Warp& warp, const InstInfo& info, Cycle now) {
  instruction.load = parts_.loads.add(instruction.warp, info);
  if (parts_.as_written != nullptr && instruction.cached && !instruction.local &&
      info.op_class != OpClass::atomic)
    parts_.as_written->begins(instruction.load);
  if (sm_.observer != nullptr) sm_.observer->load_begins(instruction.load, instruction.warp, now);
  parts_.scoreboard.set_destinations(instruction.warp, *warp.program, info,
                                     open_entry(Stall::long_scoreboard));
}

void LoadStoreUnit::access(std::uint32_t number, const InstInfo& info, const stream::Step& step, Cycle now,
                           Cycle at) {
  const Warp& warp = parts_.warps[number];
  const bool local = step.space == Space::local;
  const bool found = coalesce(number, info, step);
  count(warp, info, step);
  Instruction instruction{.local = local, .found = found, .warp = static_cast<std::uint16_t>(number)};
  instruction.access = info.op_class == OpClass::store    ? Access::store
                       : info.op_class != OpClass::atomic ? Access::load
                       : info.returns                     ? Access::atomic
                                                          : Access::reduction;
  instruction.cached = looks_into_l1(info, local);
  if (info.op_class == OpClass::texture)
    instruction.extra = sm_.config.latencies.texture_extra;
  else if (info.op_class == OpClass::load && step.bytes > 4)  // asynchronous copies fill no registers
    instruction.extra = sm_.config.latencies.l1_register * (step.bytes / 4 - 1);
  if (instruction.returns()) begin_load(instruction, warp, info, now);

  const Turn taken = turn_of(info, step);
  sm_.counters->l1_bytes += std::uint64_t{sm_.segments.sector_count()} * 32;
  sm_.counters->l1_busy += std::max(taken.tags, taken.data);
  const Cycle start = parts_.ports.book_lg(warp.scheduler, taken.tags, taken.data, at);
  // Segments follow each other evenly
  const FixedCycles step_of_segment =
      tag_banks_.there() ? taken.tags / std::max(1u, sm_.segments.count) : FixedCycles{0};
  const auto cost_of = [&](unsigned segment) {
    return tag_banks_.there() ? step_of_segment : l1_cost(sm_.segments.items[segment]);
  };
  unsigned done = 0;
  FixedCycles turn = 0;
  if (queue_.empty())
    while (done < sm_.segments.count &&
           process(instruction, sm_.segments.items[done], start + (turn >> memory::fixed_bits), now))
      turn += cost_of(done++);
  if (done > 1) sm_.counters->memory_stage_cycles += (turn - cost_of(0)) >> memory::fixed_bits;
  if (done < sm_.segments.count) {
    enqueue_from(done, instruction, now);
  } else if (instruction.returns()) {
    parts_.loads.answer(instruction.load, now);
  }
}

void LoadStoreUnit::enqueue_from(unsigned first, Instruction& instruction, Cycle now) {
  instruction.segments = sm_.segments.count - first;
  if (!instruction.returns()) {
    // Stands for the stores that are not sent yet, so that neither a fence nor the warp's end overtakes them.
    Warp& warp = parts_.warps[instruction.warp];
    add_store(warp);
    ++warp.held_stores;
  }
  if (queue_.empty()) queued_since_ = now;
  queue_.push(instruction);
  for (unsigned i = first; i < sm_.segments.count; ++i) queued_segments_.push(sm_.segments.items[i]);
  parts_.ports.set_lg_waiting(queue_.size());
}

void LoadStoreUnit::add_store(Warp& warp) {
  ++warp.stores;
  ++warp.tenant->stores;
  parts_.requests.add_store();
}

// The warp cannot end before its store has left the SM. Parts of sectors stay there for others that may fill
// them, it seems.
void LoadStoreUnit::leaves(Warp& warp, const Request& request, Cycle arrives) const {
  const bool waits = request.kind == RequestKind::write && masked(request);
  warp.stores_at =
      std::max(warp.stores_at, arrives - sm_.config.latencies.network + (waits ? partial_store_cycles_ : 0));
}

bool LoadStoreUnit::process(Instruction& instruction, const stream::Segment& segment, Cycle at, Cycle now) {
  if (Cycle until = 0; parts_.requests.full(now, until)) {
    retry_at_ = std::min(retry_at_, until);
    if (sm_.observer != nullptr && instruction.returns())
      sm_.observer->load_refused(instruction.load, LoadStage::crossbar, now);
    return false;
  }
  switch (instruction.access) {
    case Access::load:
      return instruction.cached ? process_load(instruction, segment, at, now)
                                : process_direct_load(instruction, segment, at, now);
    case Access::store: return process_store(instruction, segment, at);
    default: return process_atomic(instruction, segment, at);
  }
}

// Past L1. The loads under way are limited as those through L1 are: by the sectors that fill all miss
// registers.
bool LoadStoreUnit::process_direct_load(Instruction& instruction, const stream::Segment& segment, Cycle at,
                                        Cycle now) {
  if (parts_.requests.direct_sectors() >= misses_.entries() * stream::sectors_per_line) {
    if (sm_.observer != nullptr) sm_.observer->load_refused(instruction.load, LoadStage::mshr, now);
    return false;
  }
  if (sm_.observer != nullptr) sm_.observer->load_looked_up(instruction.load, at);
  parts_.requests.add_direct(popcount(segment.sectors));
  parts_.loads[instruction.load].remaining += popcount(segment.sectors);
  parts_.requests.send(
      {.line = segment.line, .tag = instruction.load, .route = Route::direct, .sectors = segment.sectors},
      leaves_at(at), 0);
  return true;
}

bool LoadStoreUnit::process_load(Instruction& instruction, const stream::Segment& segment, Cycle at,
                                 Cycle now) {
  const std::uint8_t wanted = l1_.widen(segment.sectors);  // a cache without sectors counts lines
  const memory::Cache::Probe probe =
      sm_.config.what_if.perfect_l1 ? memory::Cache::Probe{.hit = wanted} : l1_.read(segment.line, wanted);
  memory::Mshr::Look look;
  if (probe.miss != 0) {
    look = misses_.look(segment.line);
    if (!look.room) {
      if (blocked_since_ == never) blocked_since_ = now;
      if (sm_.observer != nullptr) sm_.observer->load_refused(instruction.load, LoadStage::mshr, now);
      return false;
    }
  }
  if (sm_.observer != nullptr) sm_.observer->load_looked_up(instruction.load, at);
  const auto fresh = static_cast<std::uint8_t>(probe.miss & ~look.pending);
  CacheCounters& counters = sm_.counters->l1;
  counters.read_accesses += popcount(wanted) >> counted_in_;
  counters.read_hits += popcount(probe.hit) >> counted_in_;
  counters.read_misses += popcount(fresh) >> counted_in_;
  counters.read_pending += (popcount(probe.miss) - popcount(fresh)) >> counted_in_;
  Load& load = parts_.loads[instruction.load];
  if (probe.miss == 0 || probe.hit != 0 || instruction.found) {
    const std::uint32_t latency = sm_.config.latencies.l1_hit + instruction.extra;
    load.ready_at = std::max(load.ready_at, at + parts_.warps[instruction.warp].whole_cycles(latency));
  }
  if (probe.miss == 0) return true;
  misses_.add(segment.line, probe.miss, fresh, instruction.found ? waits_for_nothing : instruction.load);
  load.remaining += instruction.found ? 0 : 1;
  if (fresh == 0) return true;
  parts_.requests.send({.line = segment.line, .route = Route::l1, .sectors = fresh}, leaves_at(at), 0);
  if (parts_.policies.events().load_missed) [[unlikely]]
    parts_.policies.load_missed(parts_.warps[instruction.warp], segment.line, fresh, now);
  return true;
}

bool LoadStoreUnit::process_store(Instruction& instruction, const stream::Segment& segment, Cycle at) {
  if (!parts_.requests.takes_store()) return false;
  memory::Evictions evicted;
  // Lines of this model have a place only while they hold data: there is always one to be had.
  const std::uint8_t present =
      memory::store_in_l1(l1_, sm_.config.device, segment, instruction.local, true, evicted).present;
  const unsigned touched = popcount(l1_.widen(segment.sectors)) >> counted_in_;
  sm_.counters->l1.write_accesses += touched;
  sm_.counters->l1.write_hits += std::min(touched, popcount(l1_.widen(present)) >> counted_in_);
  parts_.requests.write_back(evicted, leaves_at(at));
  if (instruction.local) return true;
  Warp& warp = parts_.warps[instruction.warp];
  add_store(warp);
  const Request request{.line = segment.line,
                        .bytes = segment.bytes,
                        .tag = StoreTag::of(instruction.warp, warp.life),
                        .kind = RequestKind::write,
                        .route = Route::store,
                        .sectors = segment.sectors};
  leaves(warp, request, parts_.requests.send(request, leaves_at(at), popcount(segment.sectors)));
  return true;
}

// Atomics act in L2. L1 must not keep what they change.
bool LoadStoreUnit::process_atomic(Instruction& instruction, const stream::Segment& segment, Cycle at) {
  const bool returns = instruction.access == Access::atomic;
  if (!returns && !parts_.requests.takes_store()) return false;
  if (returns && sm_.observer != nullptr) sm_.observer->load_looked_up(instruction.load, at);
  l1_.invalidate(segment.line, l1_.widen(segment.sectors));
  Warp& warp = parts_.warps[instruction.warp];
  const Request request{.line = segment.line,
                        .tag = returns ? instruction.load : StoreTag::of(instruction.warp, warp.life),
                        .kind = RequestKind::atomic,
                        .route = returns ? Route::direct : Route::store,
                        .sectors = segment.sectors,
                        .lanes = segment.lane_count,
                        .same_address = segment.same_address,
                        .returns = returns};
  if (returns) {
    parts_.requests.add_direct(popcount(segment.sectors));
    parts_.loads[instruction.load].remaining += popcount(segment.sectors);
  } else {
    add_store(warp);
  }
  const Cycle arrives = parts_.requests.send(request, leaves_at(at), popcount(segment.sectors));
  if (!returns) leaves(warp, request, arrives);
  return true;
}

bool LoadStoreUnit::retry(Cycle now) {
  retry_at_ = never;
  if (!queue_.empty()) sm_.work_for(parts_.warps[queue_.front().warp]);
  if (blocked_since_ != never) {
    sm_.counters->mshr_stall_cycles += now - blocked_since_;
    blocked_since_ = never;
  }
  bool any = false;
  while (!queue_.empty()) {
    Instruction& instruction = queue_.front();
    sm_.work_for(parts_.warps[instruction.warp]);
    while (instruction.segments > 0 && process(instruction, queued_segments_.front(), now, now)) {
      queued_segments_.pop();
      --instruction.segments;
    }
    if (instruction.segments > 0) break;
    const Instruction done = instruction;
    queue_.pop();
    parts_.ports.set_lg_waiting(queue_.size());
    any = true;
    if (done.returns()) {
      parts_.loads.answer(done.load, now);
    } else {
      Warp& warp = parts_.warps[done.warp];
      acknowledge_store(StoreTag::of(done.warp, warp.life), warp.tenant, now);
      if (--warp.held_stores == 0) parts_.waiter.stores_left(done.warp, now);
    }
    if (queue_.empty()) sm_.counters->memory_stage_cycles += now - queued_since_;
  }
  return any;
}

void LoadStoreUnit::fill(const Reply& reply) {
  memory::Evictions evicted;
  l1_.fill(reply.line, reply.sectors, false, evicted);
  parts_.requests.write_back(evicted, reply.at);
  misses_.fill(reply.line, reply.sectors, [&](std::uint64_t load) {
    if (load != waits_for_nothing) parts_.loads.answer(static_cast<std::uint32_t>(load), reply.at);
  });
}

void LoadStoreUnit::answer_direct(const Reply& reply) {
  const unsigned sectors = popcount(reply.sectors);
  parts_.requests.answer_direct(sectors);
  for (unsigned i = sectors; i > 0; --i) parts_.loads.answer(reply.tag, reply.at);
}

void LoadStoreUnit::acknowledge_store(std::uint32_t tag, Tenant* tenant, Cycle now) {
  parts_.requests.acknowledge_store();
  if (tag == RequestPort::no_warp) return;
  --tenant->stores;
  tenant->finished_at = std::max(tenant->finished_at, now);
  const auto [number, life] = StoreTag::from(tag);
  Warp& warp = parts_.warps[number];
  if (warp.life == life && --warp.stores == 0) parts_.waiter.stores_done(number, now);
}

}  // namespace simtlab::timing

// From counters to the result of a launch, of one that had the GPU for itself or shared it.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "timing/cycle_gpu_impl.h"

namespace simtlab::timing {

SharedUse CycleGpu::Impl::shared_use() const {
  SharedUse use;
  const memory::MemoryStatistics dram = memory.dram_statistics();
  const L2Counters l2 = memory.counters();
  use.parts = {dram.read_bytes,      dram.write_bytes,       dram.row_hits,        dram.row_misses,
               network.read_bytes(), network.request_busy(), network.reply_busy(), l2.busy,
               l2.full_cycles,       l2.reply_held_cycles,   l2.writebacks,        network.reply_flits()};
  return use;
}

// What was used until now goes to the launches that were under way.
void CycleGpu::Impl::account(Cycle now) {
  if (active.empty()) return;
  SharedUse since = shared_use();
  for (std::size_t i = 0; i < since.parts.size(); ++i)
    since.parts[i] -= std::exchange(accounted.used.parts[i], since.parts[i]);
  std::vector<ActiveLaunch*> launches;
  std::vector<std::uint64_t> moved;
  for (const auto& launch : active) {
    const std::uint64_t all = memory.served(launch->context.slot).sectors_moved;
    launches.push_back(launch.get());
    moved.push_back(all - std::exchange(launch->weighed, all));
    const Cycle end = launch->over() ? launch->ended : now;
    const Cycle begin = std::max(launch->begun, accounted.until);
    if (active.size() > 1 && end > begin) launch->overlapped += end - begin;
  }
  apportion(since, launches, moved);
  accounted.until = now;
}

Snapshot CycleGpu::Impl::snapshot(Cycle at) const {
  Snapshot out;
  out.end = at;
  for (const Sm& sm : sms) {
    const SmCounters c = sm.accounts().counters();
    out.warp_instructions += c.warp_instructions;
    out.thread_instructions += c.thread_instructions;
    out.l1_accesses += c.l1.read_accesses;
    out.l1_hits += c.l1.read_hits;
    out.l1_pending += c.l1.read_pending;
    out.warp_cycles += sm.accounts().warp_cycles(at);
    sm.add_slots(at, out.slots);
  }
  const CacheCounters l2 = memory.served().cache;
  out.l2_accesses = l2.read_accesses;
  out.l2_hits = l2.read_hits;
  out.l2_pending = l2.read_pending;
  const memory::MemoryStatistics dram = memory.dram_statistics();
  out.dram_read_bytes = dram.read_bytes;
  out.dram_write_bytes = dram.write_bytes;
  out.slices = memory.slice_accesses();
  return out;
}

// Before anything happens at `now`: of the quantum that has ended, and of intervals in which nothing happens.
void CycleGpu::Impl::take_snapshots(Cycle now) {
  if (options.observe.series == 0) return;
  for (const auto& launch : active) {
    Series& series = launch->series;
    if (series.due(horizon)) series.take(snapshot(horizon));
    while (series.next() <= now && series.next() > horizon) series.take(snapshot(series.next()));
  }
}

void CycleGpu::Impl::sample(ActiveLaunch& launch, Cycle now) {
  if (launch.grid.all_handed_out() || !launch.sampler->note(launch.grid.next, now)) return;
  for (Sm& sm : sms) sm.settle(now);
  LaunchStatistics statistics = statistics_of(launch, now, false);
  InstTable none;
  add_tenants(launch, statistics, none);
  launch.sampler->keep(to_metrics(statistics));
  if (!launch.sampler->steady()) return;
  launch.left_out = launch.grid.blocks - launch.grid.next;
  launch.grid.blocks = launch.grid.next;
}

// Slots that none of its warps lost or used count as those without a warp.
void CycleGpu::Impl::add_tenants(const ActiveLaunch& launch, LaunchStatistics& statistics, InstTable& lines) {
  for (Sm& sm : sms) {
    const Tenant* tenant = sm.accounts().find(launch.context.slot);
    if (tenant == nullptr) continue;
    statistics.sm.add(tenant->counters);
    statistics.accesses.add(tenant->accesses);
    const SmObserver::Observed* observed =
        sm.observer() == nullptr ? nullptr : sm.observer()->of(launch.context.slot);
    if (observed == nullptr) continue;
    statistics.loads.add(observed->latency);
    lines.add(observed->table);
  }
  std::uint64_t own = 0;
  for (const std::uint64_t count : statistics.sm.slots) own += count;
  const std::uint64_t all = statistics.cycles * device.sm.count * device.sm.schedulers;
  SIMTLAB_ASSERT(own <= all, "a scheduler slot has one reason");
  statistics.sm.slots[static_cast<std::size_t>(Stall::no_warp)] += all - own;
}

// channels: the end of the launch, when the clocks of a detailed memory may be settled.
LaunchStatistics CycleGpu::Impl::statistics_of(const ActiveLaunch& launch, Cycle end, bool channels) {
  LaunchStatistics statistics(device, launch.context.occupancy, end - launch.begun);
  statistics.machine_code = launch.context.machine_code;
  statistics.unlimited_dram = options.what_if.infinite_dram_bandwidth;
  statistics.served = memory.served(launch.context.slot);
  if (launch.alone) {
    if (channels) {
      statistics.channel_clocks = memory.settle(end);
      statistics.channels = memory.channel_memory();
    }
    statistics.l2 = memory.counters();
    statistics.dram = memory.dram_statistics();
    statistics.interconnect_read_bytes = network.read_bytes();
    statistics.reply_flits = network.reply_flits();
    statistics.request_busy = network.request_busy();
    statistics.reply_busy = network.reply_busy();
    return statistics;
  }
  const auto& part = launch.use.parts;
  statistics.overlapped = launch.overlapped;
  statistics.dram = {.read_bytes = part[SharedUse::dram_read_bytes],
                     .write_bytes = part[SharedUse::dram_write_bytes],
                     .row_hits = part[SharedUse::row_hits],
                     .row_misses = part[SharedUse::row_misses]};
  statistics.interconnect_read_bytes = part[SharedUse::network_read_bytes];
  statistics.reply_flits = part[SharedUse::reply_flits];
  statistics.request_busy = part[SharedUse::request_busy];
  statistics.reply_busy = part[SharedUse::reply_busy];
  statistics.l2.busy = part[SharedUse::l2_busy];
  statistics.l2.full_cycles = part[SharedUse::l2_full];
  statistics.l2.reply_held_cycles = part[SharedUse::l2_held];
  statistics.l2.writebacks = part[SharedUse::l2_writebacks];
  return statistics;
}

result::KernelResult CycleGpu::Impl::collect(ActiveLaunch& launch, Cycle end, bool channels) {
  LaunchStatistics statistics = statistics_of(launch, end, channels);
  InstTable lines;
  add_tenants(launch, statistics, lines);
  const stream::WarpSource& source = *launch.context.launch;
  result::KernelResult result;
  result.name = result.demangled = source.function().name;
  result.shared_bytes = source.shared_bytes();
  result.registers = launch.context.registers;
  result.metrics = to_metrics(statistics);
  result.limiter = std::string(device::name_of(launch.context.occupancy.limit));
  if (result::Table wasteful = statistics.accesses.wasteful(source.module()); !wasteful.rows.empty())
    result.tables.push_back(std::move(wasteful));
  result.bottleneck = bottleneck_of(result, statistics);
  result.not_modelled = not_modelled(statistics);
  if (launch.context.cluster_blocks > 1) result.not_modelled.emplace_back("D-TIMING-23");
  if (options.observe.lines) result.profile = lines.profile(source.module(), statistics.sm.slots);
  if (launch.series.on()) {
    result.series = launch.series.finish(snapshot(end), device);
    for (result::Table& table : launch.series.slices()) result.tables.push_back(std::move(table));
  }
  return result;
}

CycleGpu::Ended CycleGpu::Impl::finish(ActiveLaunch& launch) {
  SIMTLAB_ASSERT(launch.over(), "the launch has ended");
  const bool only_one = active.size() == 1;
  if (only_one) {
    drain();
    accounted.slots_until = std::max(accounted.slots_until, launch.ended);
    for (Sm& sm : sms) sm.settle(accounted.slots_until);
    check_end(accounted.slots_until);
    // Programs of many short kernels would show little else
    if (options.pulse != nullptr) tell(launch, launch.ended);
  } else {
    accounted.slots_until = horizon;
    for (Sm& sm : sms) sm.settle(horizon);
  }
  account(launch.ended);
  Ended out{collect(launch, launch.ended, true), launch.begun, launch.ended};
  last.left_out = {launch.grid.next, launch.left_out};
  last.blocks = launch.grid.blocks;
  last.sampler = std::move(launch.sampler);
  for (Sm& sm : sms) sm.leave(launch.context.slot);
  memory.close_account(launch.context.slot);
  std::erase_if(active, [&](const auto& other) { return other.get() == &launch; });
  reshare();
  if (only_one)
    epoch += out.end;
  else
    hand_out(horizon);
  return out;
}

std::vector<CycleGpu::Ended> CycleGpu::Impl::partial() {
  for (Sm& sm : sms) sm.settle(horizon);
  account(horizon);
  std::vector<ActiveLaunch*> order;
  for (const auto& launch : active) order.push_back(launch.get());
  std::ranges::sort(order, {}, &ActiveLaunch::id);
  std::vector<Ended> out;
  for (ActiveLaunch* launch : order) {
    const Cycle end = launch->over() ? launch->ended : std::max(horizon, launch->begun);
    try {
      out.push_back({collect(*launch, end, true), launch->begun, end});
    } catch (const Error&) {  // a plug-in that failed is not asked again
      out.push_back({collect(*launch, end, false), launch->begun, end});
    }
  }
  give_up();
  return out;
}

void CycleGpu::Impl::give_up() {
  if (active.empty()) return;
  epoch += horizon;
  for (Sm& sm : sms) sm.begin(epoch);  // blocks go before their launches do
  active.clear();
  contexts.clear();
}

}  // namespace simtlab::timing

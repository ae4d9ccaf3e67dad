#include "timing/constant_unit.h"

#include "stream/bank_conflicts.h"

namespace simtlab::timing {
ConstantUnit::ConstantUnit(SmContext& sm, std::vector<Warp>& warps, Scoreboard& scoreboard, LoadTable& loads,
                           RequestPort& requests)
    : sm_(sm),
      warps_(warps),
      scoreboard_(scoreboard),
      loads_(loads),
      requests_(requests),
      cache_(memory::cache_config(sm.config.device.constant, sm.config.device.constant.bytes, sm.id)),
      misses_(sm.config.device.constant.mshr_entries, 1u << 20) {}

void ConstantUnit::access(std::uint32_t number, const InstInfo& info, const stream::Step& step, Cycle now) {
  Warp& warp = warps_[number];
  const unsigned passes = stream::constant_passes(step.addresses, step.mask);
  const Cycle ready = now + passes - 1 + warp.whole_cycles(sm_.config.latencies.constant);
  sm_.counters->constant_accesses += passes;
  sm_.counters->memory_stage_cycles += passes - 1;
  if (step.space == ptx::Space::param) {
    scoreboard_.set_destinations(number, *warp.program, info, entry(ready, Stall::short_scoreboard));
    return;
  }
  stream::coalesce(step.addresses, step.mask, step.bytes, sm_.segments);
  const std::uint32_t load = loads_.add(number, info);
  loads_[load].ready_at = ready;
  for (unsigned i = 0; i < sm_.segments.count; ++i) {
    const std::uint64_t line = sm_.segments.items[i].line;
    const std::uint8_t missing = cache_.read(line, cache_.widen(sm_.segments.items[i].sectors)).miss;
    if (missing != 0) fetch(load, line, missing, now);
  }
  const Stall reason = loads_[load].remaining > 1 ? Stall::imc_miss : Stall::short_scoreboard;
  scoreboard_.set_destinations(number, *warp.program, info, open_entry(reason));
  loads_.answer(load, now);
}

void ConstantUnit::fetch(std::uint32_t load, std::uint64_t line, std::uint8_t missing, Cycle now) {
  ++sm_.counters->constant_misses;
  const memory::Mshr::Look look = misses_.look(line);
  const auto wanted = static_cast<std::uint8_t>(missing & ~look.pending);
  Request request{.line = line, .tag = load, .route = Route::constant, .sectors = wanted};
  if (look.room) {
    misses_.add(line, missing, wanted, load);
    ++loads_[load].remaining;
  } else {  // no register left: fetched for this load alone
    const unsigned sectors = stream::count_sectors(missing);
    request.route = Route::direct;
    request.sectors = missing;
    requests_.add_direct(sectors);
    loads_[load].remaining += sectors;
  }
  if (request.sectors != 0) requests_.send(request, now + sm_.config.latencies.to_network, 0);
}

void ConstantUnit::fill(const Reply& reply) {
  memory::Evictions none;
  cache_.fill(reply.line, reply.sectors, false, none);
  misses_.fill(reply.line, reply.sectors,
               [&](std::uint64_t load) { loads_.answer(static_cast<std::uint32_t>(load), reply.at); });
}

}  // namespace simtlab::timing

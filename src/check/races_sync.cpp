// Races: what orders accesses.
#include <algorithm>

#include "check/races.h"

namespace simtlab::check {
namespace {

bool acquires(ptx::MemOrder order) {
  return order == ptx::MemOrder::acquire || order == ptx::MemOrder::acq_rel || order == ptx::MemOrder::sc;
}
bool releases(ptx::MemOrder order) {
  return order == ptx::MemOrder::release || order == ptx::MemOrder::acq_rel || order == ptx::MemOrder::sc;
}
// A scope that is not named is that of the GPU.
bool small(ptx::Scope scope) { return scope == ptx::Scope::cta || scope == ptx::Scope::cluster; }
ptx::Scope smaller(ptx::Scope a, ptx::Scope b) { return small(a) ? a : b; }

}  // namespace

// A warp has synchronised, or released something: what it does now is later.
void Races::step(Block& b, unsigned warp) {
  Warp& w = b.warps[warp];
  ++w.step;
  const bool same_epoch = b.epoch == w.begin.epoch;
  if (w.step - (same_epoch ? w.begin.step : 0) <= most_steps) return;
  w.begin = {b.epoch, w.step};
  w.instance = instances_.add({b.block, b.launch, w.begin, b.fine});
}

void Races::barrier(Block& b) {
  if (b.fine) {
    for (std::vector<Clocks::Id>* const clocks : {&b.knows, &b.seen, &b.near, &b.flags}) {
      Clocks::Id all = 0;
      for (const Clocks::Id clock : *clocks) all = clocks_.merge(all, clock);
      std::ranges::fill(*clocks, all);
    }
  }
  ++b.epoch;
  if (b.epoch - b.begin.epoch > most_epochs) {
    b.begin = {b.epoch, 0};
    b.instance = instances_.add({b.block, b.launch, b.begin, b.fine});
  }
  for (Warp& w : b.warps) w = {b.instance, b.begin, 0, 0};
}

// What lanes of a warp know, and what they have done.
Clocks::Id Races::snapshot(const Block& b, unsigned warp, std::uint32_t lanes, Clocks::Id knew) const {
  const Warp& w = b.warps[warp];
  Clocks::Id out = knew;
  if (b.epoch != 0) out = clocks_.with(out, {b.launch, b.block, Known::all_warps, ~0u, {b.epoch, 0}});
  if (w.synced != 0) out = clocks_.with(out, {b.launch, b.block, warp, ~0u, {b.epoch, w.synced}});
  return clocks_.with(out, {b.launch, b.block, warp, lanes, {b.epoch, w.step + 1}});
}

Clocks::Id Races::known_to(const Block& b, unsigned warp, std::uint32_t lanes) {
  Clocks::Id out = 0;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1)
    out = clocks_.merge(out, b.knows[warp * warp_lanes + static_cast<unsigned>(__builtin_ctz(m))]);
  return out;
}

void Races::arrive(Block& b, unsigned number, unsigned warp, std::uint32_t lanes, bool waits) {
  if (!b.fine) return;
  Arrived& a = b.arrived[number];
  a.clock = clocks_.merge(a.clock, snapshot(b, warp, lanes, known_to(b, warp, lanes)));
  if (waits) a.waiting.emplace_back(warp, lanes);
  step(b, warp);
}

void Races::go_on(Block& b, unsigned number) {
  if (!b.fine) return;
  Arrived& a = b.arrived[number];
  for (const auto& [warp, lanes] : a.waiting)
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      Clocks::Id& knows = b.knows[warp * warp_lanes + static_cast<unsigned>(__builtin_ctz(m))];
      knows = clocks_.merge(knows, a.clock);
    }
  a = {};
}

void Races::sync_warp(Block& b, unsigned warp, std::uint32_t lanes, std::uint32_t alive) {
  if (lanes == alive) {
    if (b.fine) {
      const Clocks::Id all = known_to(b, warp, lanes);
      for (std::uint32_t m = lanes; m != 0; m &= m - 1)
        b.knows[warp * warp_lanes + static_cast<unsigned>(__builtin_ctz(m))] = all;
    }
    step(b, warp);
    b.warps[warp].synced = b.warps[warp].step;
    return;
  }
  if (!b.fine) return;
  const Clocks::Id all = snapshot(b, warp, lanes, known_to(b, warp, lanes));
  for (std::uint32_t m = lanes; m != 0; m &= m - 1)
    b.knows[warp * warp_lanes + static_cast<unsigned>(__builtin_ctz(m))] = all;
  step(b, warp);
}

void Races::fence(Block& b, unsigned warp, std::uint32_t lanes, ptx::Scope scope) {
  if (!b.fine) return;
  const Warp w = b.warps[warp];
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const unsigned thread = warp * warp_lanes + static_cast<unsigned>(__builtin_ctz(m));
    b.knows[thread] = clocks_.merge(b.knows[thread], small(scope) ? b.near[thread] : b.seen[thread]);
    b.near[thread] = 0;
    if (!small(scope)) b.seen[thread] = b.flags[thread] = 0;
    b.fenced[thread] = {b.knows[thread],
                        {b.epoch, w.step + 1},
                        w.synced,
                        scope == ptx::Scope::none ? ptx::Scope::gpu : scope};
  }
  step(b, warp);
}

void Races::synchronise(Block& b, const Going& g) {
  const Site& site = sites_.at(g.site);
  const bool shared = g.space == ptx::Space::shared;
  for (std::uint32_t m = g.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    synchronise(b, shared ? b.released : released_, site, g.warp, lane, g.addresses[lane]);
  }
  if (site.writes && releases(site.inst().mods.order)) step(b, g.warp);
}

void Races::synchronise(Block& b, Locations& locations, const Site& site, unsigned warp, unsigned lane,
                        std::uint64_t address) {
  const unsigned thread = warp * warp_lanes + lane;
  const ptx::MemOrder order = site.inst().mods.order;
  Released* const there = [&]() -> Released* {
    const auto at = locations.find(address);
    return at == locations.end() ? nullptr : &at->second;
  }();
  if (site.reads && there != nullptr) {
    Clocks::Id read = 0;
    if (!small(site.scope) || (!there->wide_several && there->wide_block == b.block)) read = there->wide;
    if (there->narrow_block == b.block) read = clocks_.merge(read, there->narrow);
    Clocks::Id& into = acquires(order) ? b.knows[thread] : b.seen[thread];
    into = clocks_.merge(into, read);
    Clocks::Id& near = b.near[thread];
    if (!there->wide_several && there->wide_block == b.block) near = clocks_.merge(near, there->wide);
    if (there->narrow_block == b.block) near = clocks_.merge(near, there->narrow);
    if (site.inst().mods.atom != ptx::AtomOp::cas) b.flags[thread] = clocks_.merge(b.flags[thread], read);
  }
  if (!site.writes) return;
  Clocks::Id clock = 0;
  ptx::Scope scope = site.scope;
  const Fenced& fenced = b.fenced[thread];
  if (releases(order)) {
    clock = snapshot(b, warp, 1u << lane, b.knows[thread]);
  } else if (fenced.before != Time{}) {
    clock = fenced.knew;
    if (fenced.before.epoch != 0)
      clock = clocks_.with(clock, {b.launch, b.block, Known::all_warps, ~0u, {fenced.before.epoch, 0}});
    if (fenced.synced != 0)
      clock = clocks_.with(clock, {b.launch, b.block, warp, ~0u, {fenced.before.epoch, fenced.synced}});
    clock = clocks_.with(clock, {b.launch, b.block, warp, 1u << lane, fenced.before});
    scope = smaller(fenced.scope, site.scope);
  }
  // A read-modify-write goes on with what the write that it reads has released; any other write ends it.
  Released out;
  if (site.reads && there != nullptr) out = *there;
  if (clock != 0 && small(scope)) {
    out.narrow = out.narrow_block == b.block ? clocks_.merge(out.narrow, clock) : clock;
    out.narrow_block = b.block;
  } else if (clock != 0) {
    out.wide_several = out.wide != 0 && (out.wide_several || out.wide_block != b.block);
    out.wide = clocks_.merge(out.wide, clock);
    out.wide_block = b.block;
  }
  if (out.wide == 0 && out.narrow == 0)
    locations.erase(address);
  else
    locations[address] = out;
}

}  // namespace simtlab::check

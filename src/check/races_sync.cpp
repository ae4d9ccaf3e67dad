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

// Locks that are taken and released make clocks without end, and few of them are in use at a time.
void Races::collect() {
  if (clocks_.held() < collect_from_) return;
  const auto of_locations = [](Locations& locations, const auto& f) {
    for (auto& [address, released] : locations) f(released.wide), f(released.narrow);
  };
  clocks_.collect([&](const auto& f) {
    of_locations(released_, f);
    for (Block* const b : blocks_) {
      if (b->knows.empty()) continue;
      for (std::vector<Clocks::Id>* const clocks : {&b->knows, &b->seen, &b->near, &b->flags, &b->left})
        for (Clocks::Id& clock : *clocks) f(clock);
      for (Fenced& fenced : b->fenced) f(fenced.knew);
      for (Arrived& arrived : b->arrived) f(arrived.clock), f(arrived.left);
      of_locations(b->released, f);
    }
  });
  collect_from_ = std::max(garbage_, 2 * clocks_.held());
}

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
    collect();
    for (std::vector<Clocks::Id>* const clocks : {&b.knows, &b.seen, &b.near, &b.flags}) {
      Clocks::Id all = 0;
      for (const Clocks::Id clock : *clocks) all = clocks_.merge(all, clock);
      std::ranges::fill(*clocks, all);
    }
    if (b.has_left) {
      Clocks::Id all = 0;
      for (unsigned warp = 0; warp < b.warps.size(); ++warp) all = clocks_.merge(all, left_by(b, warp, ~0u));
      std::ranges::fill(b.left, all);
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

// What the last fence of these lanes has released.
Clocks::Id Races::released_by(const Block& b, unsigned warp, std::uint32_t lanes, const Fenced& fenced) {
  Clocks::Id out = fenced.knew;
  if (fenced.before.epoch != 0)
    out = clocks_.with(out, {b.launch, b.block, Known::all_warps, ~0u, {fenced.before.epoch, 0}});
  if (fenced.synced != 0)
    out = clocks_.with(out, {b.launch, b.block, warp, ~0u, {fenced.before.epoch, fenced.synced}});
  return clocks_.with(out, {b.launch, b.block, warp, lanes, fenced.before});
}

// What lanes leave to those who pass a barrier with them.
Clocks::Id Races::left_by(const Block& b, unsigned warp, std::uint32_t lanes) {
  const std::size_t first = std::size_t{warp} * warp_lanes, count = b.fenced.size() - first;
  if (count < warp_lanes) lanes &= (1u << count) - 1;
  Clocks::Id out = 0;
  while (lanes != 0) {
    const Fenced& fenced = b.fenced[first + static_cast<unsigned>(__builtin_ctz(lanes))];
    std::uint32_t same = 0;
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m));
      if (b.fenced[first + lane] != fenced) continue;
      same |= 1u << lane;
      out = clocks_.merge(out, b.left[first + lane]);
    }
    lanes &= ~same;
    // Of fences before the last barrier it is known already.
    if (fenced.in_sequence && !small(fenced.scope) && fenced.before.epoch == b.epoch)
      out = clocks_.merge(out, released_by(b, warp, same, fenced));
  }
  return out;
}

void Races::arrive(Block& b, unsigned number, unsigned warp, std::uint32_t lanes, bool waits) {
  if (!b.fine) return;
  collect();
  Arrived& a = b.arrived[number];
  a.clock = clocks_.merge(a.clock, snapshot(b, warp, lanes, known_to(b, warp, lanes)));
  if (b.has_left) a.left = clocks_.merge(a.left, left_by(b, warp, lanes));
  if (waits) a.waiting.emplace_back(warp, lanes);
  step(b, warp);
}

void Races::go_on(Block& b, unsigned number) {
  if (!b.fine) return;
  Arrived& a = b.arrived[number];
  for (const auto& [warp, lanes] : a.waiting)
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      const unsigned thread = warp * warp_lanes + static_cast<unsigned>(__builtin_ctz(m));
      b.knows[thread] = clocks_.merge(b.knows[thread], a.clock);
      b.left[thread] = clocks_.merge(b.left[thread], a.left);
    }
  a = {};
}

void Races::sync_warp(Block& b, unsigned warp, std::uint32_t lanes, std::uint32_t alive) {
  if (b.fine) collect();
  if (b.fine && b.has_left) {
    const Clocks::Id left = left_by(b, warp, lanes);
    for (std::uint32_t m = lanes; m != 0; m &= m - 1)
      b.left[warp * warp_lanes + static_cast<unsigned>(__builtin_ctz(m))] = left;
  }
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

void Races::fence(Block& b, unsigned warp, std::uint32_t lanes, ptx::Scope scope, bool in_sequence) {
  if (!b.fine) return;
  collect();
  b.has_left = b.has_left || (in_sequence && !small(scope));
  const Warp w = b.warps[warp];
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const unsigned thread = warp * warp_lanes + static_cast<unsigned>(__builtin_ctz(m));
    b.knows[thread] = clocks_.merge(b.knows[thread], small(scope) ? b.near[thread] : b.seen[thread]);
    b.near[thread] = 0;
    if (!small(scope)) b.seen[thread] = b.flags[thread] = 0;
    b.fenced[thread] = {b.knows[thread],
                        {b.epoch, w.step + 1},
                        w.synced,
                        scope == ptx::Scope::none ? ptx::Scope::gpu : scope,
                        in_sequence};
  }
  step(b, warp);
}

void Races::synchronise(Block& b, const Going& g) {
  collect();
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
  if (site.reads && !site.arrives && there != nullptr) {
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
  Clocks::Id wide = 0, narrow = 0;
  const Fenced& fenced = b.fenced[thread];
  if (releases(order)) {
    (small(site.scope) ? narrow : wide) = snapshot(b, warp, 1u << lane, b.knows[thread]);
  } else {
    (small(site.scope) ? narrow : wide) = b.left[thread];
    if (fenced.before != Time{}) {
      Clocks::Id& clock = small(smaller(fenced.scope, site.scope)) ? narrow : wide;
      clock = clocks_.merge(clock, released_by(b, warp, 1u << lane, fenced));
    }
  }
  ++releases_;
  // A read-modify-write goes on with what the write that it reads has released; any other write ends it.
  Released out;
  if (site.reads && there != nullptr) out = *there;
  if (narrow != 0) {
    out.narrow = out.narrow_block == b.block ? clocks_.merge(out.narrow, narrow) : narrow;
    out.narrow_block = b.block;
  }
  if (wide != 0) {
    out.wide_several = out.wide != 0 && (out.wide_several || out.wide_block != b.block);
    out.wide = clocks_.merge(out.wide, wide);
    out.wide_block = b.block;
  }
  if (out.wide == 0 && out.narrow == 0)
    locations.erase(address);
  else
    locations[address] = out;
}

}  // namespace simtlab::check

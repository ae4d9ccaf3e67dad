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
// Among Races::scopes. A scope that is not named is that of the GPU.
unsigned rank(ptx::Scope scope) {
  return scope == ptx::Scope::cta ? 2 : scope == ptx::Scope::cluster ? 1 : 0;
}

}  // namespace

// Locks that are taken and released make clocks without end, and few of them are in use at a time.
void Races::collect() {
  if (clocks_.held() < collect_from_) return;
  const auto of_locations = [](Locations& locations, const auto& f) {
    for (auto& [address, released] : locations)
      for (Tier& tier : released) f(tier.clock);
  };
  clocks_.collect([&](const auto& f) {
    std::vector<const Shared*> done;  // each once
    of_locations(released_, f);
    for (Block* const b : blocks_) {
      if (b->knows.empty()) continue;
      for (std::vector<Clocks::Id>* const clocks :
           {&b->knows, &b->seen[0], &b->seen[1], &b->seen[2], &b->flags, &b->left})
        for (Clocks::Id& clock : *clocks) f(clock);
      for (Fenced& fenced : b->fenced) f(fenced.knew);
      for (Arrived& arrived : b->arrived) f(arrived.clock), f(arrived.left);
      if (std::ranges::find(done, b->shared.get()) != done.end()) continue;
      done.push_back(b->shared.get());
      of_locations(b->shared->released, f);
      f(b->shared->arrived), f(b->shared->left), f(b->shared->done), f(b->shared->done_left);
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
  w.instance = instances_.add({b.block, b.launch, w.begin, b.fine, b.cluster});
}

void Races::barrier(Block& b) {
  if (b.fine) {
    collect();
    for (std::vector<Clocks::Id>* const clocks : {&b.knows, &b.seen[0], &b.seen[1], &b.seen[2], &b.flags}) {
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
    b.instance = instances_.add({b.block, b.launch, b.begin, b.fine, b.cluster});
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
    if (fenced.in_sequence && rank(fenced.scope) == 0 && fenced.before.epoch == b.epoch)
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
  const unsigned narrow = rank(scope);
  b.has_left = b.has_left || (in_sequence && narrow == 0);
  const Warp w = b.warps[warp];
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const unsigned thread = warp * warp_lanes + static_cast<unsigned>(__builtin_ctz(m));
    b.knows[thread] = clocks_.merge(b.knows[thread], b.seen[narrow][thread]);
    for (unsigned r = narrow; r < scopes; ++r) b.seen[r][thread] = 0;
    if (narrow == 0) b.flags[thread] = 0;
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
    synchronise(b, shared ? b.shared->released : released_, site, g.warp, lane, g.addresses[lane]);
  }
  if (site.writes && releases(site.inst().mods.order)) step(b, g.warp);
}

// What is released there for a thread of the block that acquires with a scope: both scopes have to include
// the other's thread.
Clocks::Id Races::acquired(const Block& b, const Released& there, unsigned scope) const {
  Clocks::Id out = 0;
  for (unsigned r = 0; r < scopes; ++r) {
    const Tier& tier = there[r];
    const bool block = tier.block == b.block, cluster = tier.cluster == b.cluster;
    if ((r == 1 && !cluster) || (r == 2 && !block)) continue;
    if ((scope == 1 && (!cluster || tier.clusters)) || (scope == 2 && (!block || tier.blocks))) continue;
    out = clocks_.merge(out, tier.clock);
  }
  return out;
}

void Races::release(const Block& b, Tier& tier, unsigned scope, Clocks::Id clock) const {
  if (clock == 0) return;
  // Of another block or cluster, nobody who reads this one reads that one.
  if ((scope == 1 && tier.cluster != b.cluster) || (scope == 2 && tier.block != b.block)) tier = {};
  if (tier.clock != 0) {
    tier.blocks = tier.blocks || tier.block != b.block;
    tier.clusters = tier.clusters || tier.cluster != b.cluster;
  }
  tier.clock = clocks_.merge(tier.clock, clock);
  tier.block = b.block;
  tier.cluster = b.cluster;
}

void Races::synchronise(Block& b, Locations& locations, const Site& site, unsigned warp, unsigned lane,
                        std::uint64_t address) {
  const unsigned thread = warp * warp_lanes + lane;
  const ptx::MemOrder order = site.inst().mods.order;
  const unsigned scope = rank(site.scope);
  Released* const there = [&]() -> Released* {
    const auto at = locations.find(address);
    return at == locations.end() ? nullptr : &at->second;
  }();
  if (site.reads && !site.arrives && there != nullptr) {
    const Clocks::Id read = acquired(b, *there, scope);
    if (acquires(order)) b.knows[thread] = clocks_.merge(b.knows[thread], read);
    for (unsigned r = acquires(order) ? scope + 1 : 0; r < scopes; ++r)
      b.seen[r][thread] = clocks_.merge(b.seen[r][thread], acquired(b, *there, std::max(r, scope)));
    if (site.inst().mods.atom != ptx::AtomOp::cas) b.flags[thread] = clocks_.merge(b.flags[thread], read);
  }
  if (!site.writes) return;
  Clocks::Id by[scopes] = {};
  const Fenced& fenced = b.fenced[thread];
  if (releases(order)) {
    by[scope] = snapshot(b, warp, 1u << lane, b.knows[thread]);
  } else {
    by[scope] = b.left[thread];
    if (fenced.before != Time{}) {
      Clocks::Id& clock = by[std::max(rank(fenced.scope), scope)];
      clock = clocks_.merge(clock, released_by(b, warp, 1u << lane, fenced));
    }
  }
  ++releases_;
  // A read-modify-write goes on with what the write that it reads has released; any other write ends it.
  Released out;
  if (site.reads && there != nullptr) out = *there;
  bool any = false;
  for (unsigned r = 0; r < scopes; ++r) {
    release(b, out[r], r, by[r]);
    any = any || out[r].clock != 0;
  }
  if (any)
    locations[address] = out;
  else
    locations.erase(address);
}

// ---- clusters

void Races::arrive_in_cluster(Block& b, unsigned warp, std::uint32_t lanes, bool does_release) {
  collect();
  Shared& s = *b.shared;
  if (does_release) {
    s.arrived = clocks_.merge(s.arrived, snapshot(b, warp, lanes, known_to(b, warp, lanes)));
    if (b.has_left) s.left = clocks_.merge(s.left, left_by(b, warp, lanes));
  }
  step(b, warp);
}

void Races::cluster_met(Shared& s) {
  s.done = s.arrived;
  s.done_left = s.left;
  s.arrived = s.left = 0;
}

void Races::go_on_in_cluster(Block& b, unsigned warp, std::uint32_t lanes) {
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const unsigned thread = warp * warp_lanes + static_cast<unsigned>(__builtin_ctz(m));
    b.knows[thread] = clocks_.merge(b.knows[thread], b.shared->done);
    b.left[thread] = clocks_.merge(b.left[thread], b.shared->done_left);
  }
}

bool Races::knows_of(const Block& b, unsigned thread, std::uint64_t other) const {
  return clocks_.knows_of(b.knows[thread], b.launch, other);
}

}  // namespace simtlab::check

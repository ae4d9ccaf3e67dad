// Bulk copies: what they read and write, piece by piece, and the fences between them and ordinary stores.
#include <fmt/format.h>

#include "check/places.h"
#include "check/watch.h"
#include "ptx/machine_ops.h"

namespace simtlab::check {

void Watch::behind_bulk(WatchedBlock& b, exec::Warp& w, const exec::XInst& x, CheckedFunction& f,
                        std::uint32_t pc) {
  exec::Look look;
  now_ = {&b, &w, &x, &f, pc, &look};
  checker_.sink() = this;
  const bool load = x.inst->mods.space == ptx::Space::shared;
  if (in_order_) look_at_ordered(b, w, *x.inst, f, pc, w.ctx.mask, w.ctx.addresses);
  for (std::uint32_t m = w.ctx.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t to = w.ctx.addresses2[lane], global = w.ctx.addresses[lane];
    for (std::uint64_t at = 0; at < to >> ptx::bulk_bytes_at; at += bulk_grain)
      bulk_piece(b, w, f, pc, lane, shared_at(b, to % ptx::window_bytes + at), global + at, load, look);
  }
}

void Watch::bulk_piece(WatchedBlock& b, exec::Warp& w, CheckedFunction& f, std::uint32_t pc, unsigned lane,
                       std::uint64_t shared, std::uint64_t global, bool load, exec::Look& look) {
  if (checker_.options().init) {
    if (load)
      set_bits(shared_written(b).data(), shared, bulk_grain, checker_.is_written(global, bulk_grain));
    else if (all_set(shared_written(b).data(), shared, bulk_grain))
      checker_.written(global, bulk_grain);
    else
      checker_.unwritten(global, bulk_grain);
  }
  if (!checker_.options().races) return;
  if (!load && !b.ordinary.empty()) check_proxies(b, w, f, pc, lane, shared);
  std::uint64_t from[exec::warp_size] = {}, to[exec::warp_size] = {};
  from[lane] = load ? global : shared;
  to[lane] = load ? shared : global;
  const ptx::Space from_space = load ? ptx::Space::global : ptx::Space::shared,
                   to_space = load ? ptx::Space::shared : ptx::Space::global;
  // To shared memory: handed at once to the barrier from which its bytes are taken off
  const std::uint32_t reads = checker_.site(f, pc, load ? SiteKind::source : SiteKind::late_source),
                      writes = checker_.site(f, pc, load ? SiteKind::handed : SiteKind::late);
  if (reads != 0) {
    look.space = from_space;
    checker_.races().access(b.races, {w.ctx.warp, 1u << lane, reads, from_space, from, bulk_grain});
  }
  if (writes != 0) {
    look.space = to_space;
    checker_.races().access(b.races, {w.ctx.warp, 1u << lane, writes, to_space, to, bulk_grain});
  }
  if (load) return;
  WatchedWarp& watched = b.warps[w.ctx.warp];
  Copy copy{.kind = Copy::Kind::out_read,
            .group = watched.bulk_groups[lane],
            .lane = lane,
            .pc = pc,
            .function = &f,
            .address = shared,
            .bytes = bulk_grain};
  watched.copies.push_back(copy);
  copy.kind = Copy::Kind::out_write;
  copy.address = global;
  watched.copies.push_back(copy);
}

void Watch::note_ordinary(WatchedBlock& b, const exec::Warp& w, CheckedFunction& f, std::uint32_t pc,
                          std::uint32_t lanes, const std::uint64_t* addresses, unsigned bytes) {
  const std::uint32_t site = checker_.site(f, pc, SiteKind::usual), when = ++b.ordinary_stores;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    for (std::uint64_t word = addresses[lane] / 4; word <= (addresses[lane] + bytes - 1) / 4; ++word)
      if (word < b.ordinary.size()) b.ordinary[word] = {w.ctx.warp * exec::warp_size + lane, site, when};
  }
}

// Neither who stored there nor who copies has a fence between the two.
void Watch::check_proxies(WatchedBlock& b, const exec::Warp& w, CheckedFunction& f, std::uint32_t pc,
                          unsigned lane, std::uint64_t shared) {
  const unsigned me = w.ctx.warp * exec::warp_size + lane;
  for (std::uint64_t word = shared / 4; word < shared / 4 + bulk_grain / 4; ++word) {
    const OrdinaryStore& store = b.ordinary[word];
    if (store.when == 0 || b.proxy_fences[store.thread] >= store.when || b.proxy_fences[me] >= store.when)
      continue;
    const Site& site = checker_.sites().at(store.site);
    CheckedFunction& other = checker_.function(f.module, *site.function);
    result::Finding* const found = checker_.findings().add("race.proxy", {&f, pc}, {&other, site.pc});
    if (found == nullptr) return;
    found->message =
        "a bulk copy reads what an ordinary store has written, and there is no fence between the two ways";
    found->accesses.push_back(
        checker_.access_of(f, pc, id_, b.races.block, me, "copy to global memory (cp.async.bulk)"));
    found->accesses.push_back(checker_.access_of(other, site.pc, id_, b.races.block, store.thread,
                                                 fmt::format("write of {} bytes", site.bytes)));
    found->memory = shared_place(*f.module, *launch_.entry->function, word * 4, 4, place_in_cluster());
    found->missing = "no fence.proxy.async behind the store, or before the copy";
    found->hint = "fence.proxy.async by each thread that has stored, then the barrier, then the copy";
    return;
  }
}

}  // namespace simtlab::check

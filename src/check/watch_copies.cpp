// Watch: copies that go on while their thread does.
#include <algorithm>
#include <cstring>

#include "check/watch.h"
#include "ptx/machine_ops.h"

namespace simtlab::check {

using exec::Look;
using exec::Warp;
using exec::XInst;

// cp.async has been executed: the copy is under way.
void Watch::behind(WatchedBlock& b, Warp& w, const XInst& x, CheckedFunction& f, std::uint32_t pc) {
  const ptx::Inst& inst = *x.inst;
  if (inst.op != ptx::Op::cp_async) return;
  if (ptx::is_bulk_copy(inst)) return behind_bulk(b, w, x, f, pc);
  const std::uint64_t* const to_shared =
      b.cluster == nullptr ? w.ctx.addresses2 : shadow_addresses(b, w.ctx.mask, w.ctx.addresses2);
  Look look;
  now_ = {&b, &w, &x, &f, pc, &look};
  checker_.sink() = this;
  const unsigned bytes = inst.mods.copy_bytes;
  // Lanes that read all of it, and those that read anything
  std::uint32_t whole = w.ctx.mask, reading = w.ctx.mask;
  if (inst.src_count > 2 && inst.src[2].kind != ptx::OperandKind::none)
    for (std::uint32_t m = w.ctx.mask; m != 0; m &= m - 1) {
      const std::uint32_t size = w.ctx.row32(x.src[2])[__builtin_ctz(m)];
      if (size < bytes) whole &= ~(m & (~m + 1));
      if (size == 0) reading &= ~(m & (~m + 1));
    }
  look.space = ptx::Space::global;
  if (const std::uint32_t away = lanes_outside(w, look.space, w.ctx.addresses, reading); away != 0)
    outside(w, away, 1);
  if (in_order_) look_at_ordered(b, w, inst, f, pc, reading, w.ctx.addresses);
  look.space = ptx::Space::shared;
  if (const std::uint32_t away = lanes_outside(w, look.space, to_shared, w.ctx.mask); away != 0)
    outside(w, away, 0);
  if (checker_.options().init) {
    note_written(b, w, ptx::Space::shared, w.ctx.mask, to_shared, bytes, look, true);
    std::uint32_t copied = 0;  // what nobody wrote
    if (whole != 0) copied = unwritten_lanes(b, w, ptx::Space::global, whole, w.ctx.addresses, bytes, look);
    if (copied != 0) note_written(b, w, ptx::Space::shared, copied, to_shared, bytes, look, false);
  }
  if (!checker_.options().races && !late_copies_) return;
  const std::uint32_t source = checker_.options().races ? checker_.site(f, pc, SiteKind::source) : 0;
  if (source != 0 && reading != 0) {
    look.space = ptx::Space::global;
    checker_.races().access(b.races,
                            {w.ctx.warp, reading, source, ptx::Space::global, w.ctx.addresses, bytes});
    look.space = ptx::Space::shared;
  }
  const std::uint32_t site = checker_.options().races ? checker_.site(f, pc, SiteKind::late) : 0;
  if (site == 0 && !late_copies_) return;
  if (site != 0)
    checker_.races().access(b.races, {w.ctx.warp, w.ctx.mask, site, ptx::Space::shared, to_shared, bytes});
  WatchedWarp& watched = b.warps[w.ctx.warp];
  for (std::uint32_t m = w.ctx.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    Copy copy{.group = watched.groups[lane],
              .lane = lane,
              .pc = pc,
              .function = &f,
              .address = to_shared[lane],
              .bytes = bytes};
    if (std::byte* const to = late_copies_ ? copied_to(b, copy.address, bytes) : nullptr) {
      copy.held = true;
      std::memcpy(copy.value.data(), to, bytes);
    }
    watched.copies.push_back(copy);
  }
  // What they wrote comes when they end.
  for (std::uint32_t m = late_copies_ ? w.ctx.mask : 0; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    if (std::byte* const to = copied_to(b, to_shared[lane], bytes))
      std::memcpy(to, overwritten_[lane].data(), bytes);
  }
}

std::byte* Watch::copied_to(WatchedBlock& b, std::uint64_t address, unsigned bytes) const {
  return address + bytes <= shared_end_ ? shared_byte(b, address) : nullptr;
}

void Watch::keep_overwritten(WatchedBlock& b, const Warp& w, const XInst& x) {
  const unsigned bytes = x.inst->mods.copy_bytes;
  for (std::uint32_t m = w.ctx.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t named = exec::address_of(w.ctx, x, 0, lane) % ptx::window_bytes,
                        address = b.cluster == nullptr ? named : shadow_address(b, named);
    if (const std::byte* const to = copied_to(b, address, bytes))
      std::memcpy(overwritten_[lane].data(), to, bytes);
  }
}

// The lanes exit: nobody can wait for their copies any more, and they come all the same.
void Watch::leave_copies(WatchedBlock& b, const Warp& w, std::uint32_t lanes) {
  std::erase_if(b.warps[w.ctx.warp].copies, [&](const Copy& c) {
    if ((lanes >> c.lane & 1) == 0) return false;
    if (c.held) std::memcpy(copied_to(b, c.address, c.bytes), c.value.data(), c.bytes);
    return true;
  });
}

void Watch::end_copy(WatchedBlock& b, Warp& w, const Copy& c, SiteKind by) {
  if (c.held) std::memcpy(copied_to(b, c.address, c.bytes), c.value.data(), c.bytes);
  if (!checker_.options().races) return;
  const SiteKind late = c.kind == Copy::Kind::out_read ? SiteKind::late_source : SiteKind::late;
  const std::uint32_t late_site = checker_.site(*c.function, c.pc, late),
                      site = checker_.site(*c.function, c.pc, by);
  if (late_site == 0 || site == 0) return;
  const ptx::Space space = c.kind == Copy::Kind::out_write ? ptx::Space::global : ptx::Space::shared;
  checker_.races().copy_ended(b.races, {w.ctx.warp, c.lane, late_site, site, space, c.address, c.bytes});
}

void Watch::end_copies(WatchedBlock& b, Warp& w, std::uint32_t lanes, std::uint32_t left,
                       std::uint32_t kinds) {
  WatchedWarp& watched = b.warps[w.ctx.warp];
  std::erase_if(watched.copies, [&](const Copy& c) {
    if ((lanes >> c.lane & 1) == 0 || (kinds & bit(c.kind)) == 0) return false;
    const std::uint32_t closed =
        c.kind == Copy::Kind::in ? watched.groups[c.lane] : watched.bulk_groups[c.lane];
    if (left != all_groups && std::uint64_t{c.group} + left >= closed) return false;
    end_copy(b, w, c, c.kind == Copy::Kind::out_read ? SiteKind::source : SiteKind::usual);
    return true;
  });
  if ((kinds & bit(Copy::Kind::in)) == 0 || !checker_.options().races || (watched.handed_by & lanes) == 0)
    return;
  // A thread that waits for its copies waits for those, too, that it has handed to a barrier.
  for (const auto& [function, pc] : watched.handed)
    checker_.races().handed_ended(b.races, w.ctx.warp, lanes, checker_.site(*function, pc, SiteKind::handed),
                                  checker_.site(*function, pc, SiteKind::usual));
  watched.handed_by &= ~lanes;
  if (watched.handed_by == 0) watched.handed.clear();
}

// They arrive at a barrier when they are done.
void Watch::hand_copies(WatchedBlock& b, Warp& w, std::uint32_t lanes) {
  WatchedWarp& watched = b.warps[w.ctx.warp];
  std::erase_if(watched.copies, [&](const Copy& c) {
    if ((lanes >> c.lane & 1) == 0 || c.kind != Copy::Kind::in) return false;
    end_copy(b, w, c, SiteKind::handed);
    watched.handed_by |= 1u << c.lane;
    const std::pair from(c.function, c.pc);
    if (std::ranges::find(watched.handed, from) == watched.handed.end()) watched.handed.push_back(from);
    return true;
  });
}

void Watch::bulk_group(WatchedBlock& b, Warp& w, const ptx::Inst& inst, CheckedFunction& f) {
  const std::uint32_t lanes = w.ctx.mask;
  if (inst.mods.video == ptx::closes_bulk_group) {
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) ++b.warps[w.ctx.warp].bulk_groups[__builtin_ctz(m)];
    return;
  }
  const auto left = static_cast<std::uint32_t>(f.function->constants[inst.src[0].index].value);
  const std::uint32_t kinds = inst.mods.video == ptx::waits_for_bulk_reads
                                  ? bit(Copy::Kind::out_read)
                                  : bit(Copy::Kind::out_read) | bit(Copy::Kind::out_write);
  end_copies(b, w, lanes, std::min(left, all_groups - 1), kinds);
}

}  // namespace simtlab::check

// Watch: barriers of blocks and warps, exits, calls.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "check/watch.h"
#include "ptx/machine_ops.h"

namespace simtlab::check {

using exec::Warp;
using exec::XInst;

namespace {

std::uint32_t alive(const Warp& w) { return w.frames[0].mask; }

std::string lanes_text(std::uint32_t lanes) {
  std::string out;
  for (unsigned lane = 0; lane < exec::warp_size; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    unsigned last = lane;
    while (last + 1 < exec::warp_size && (lanes >> (last + 1) & 1) != 0) ++last;
    out += fmt::format("{}{}", out.empty() ? "" : ", ",
                       last == lane ? std::to_string(lane) : fmt::format("{} to {}", lane, last));
    lane = last;
  }
  return (std::has_single_bit(lanes) ? "lane " : "lanes ") + out;
}

// Lanes may execute one instruction with masks of their own.
template <class Do>
void by_mask(std::uint32_t lanes, const std::uint32_t* masks, const Do& each) {
  while (lanes != 0) {
    const std::uint32_t mask = masks[__builtin_ctz(lanes)];
    std::uint32_t some = 0;
    for (std::uint32_t m = lanes; m != 0; m &= m - 1)
      if (masks[__builtin_ctz(m)] == mask) some |= m & (~m + 1);
    each(mask, some);
    lanes &= ~some;
  }
}

// 0: all of the block
std::uint32_t named_threads(const Warp& w, const XInst& x, unsigned lane) {
  if (x.inst->src_count < 2 || x.inst->src[1].kind == ptx::OperandKind::none) return 0;
  return w.ctx.row32(x.src[1])[lane];
}

// Whoever is at this instruction of a kernel does nothing more than to leave it.
bool leaves(const ptx::Function& function, std::uint32_t pc) {
  while (pc < function.code.size()) {
    const ptx::Inst& inst = function.code[pc];
    if (inst.guard.kind != ptx::OperandKind::none) return false;
    if (inst.op == ptx::Op::ret || inst.op == ptx::Op::exit) return true;
    if (inst.op != ptx::Op::bra || inst.target <= pc) return false;
    pc = inst.target;
  }
  return false;
}

// Of lanes that wait for others in the divergence stack, those that leave the kernel next. They count as
// gone.
std::uint32_t leaving(const Warp& w, const ptx::Function& function, std::uint32_t lanes) {
  if (w.frame_depth != 0) return 0;
  std::uint32_t out = 0;
  for (std::uint32_t below = w.depth; below-- > 0 && lanes != 0;) {
    const std::uint32_t there = w.stack[below].mask & lanes;
    if (there != 0 && leaves(function, w.stack[below].pc)) out |= there;
    lanes &= ~there;
  }
  return out;
}

}  // namespace

void Watch::arrives(WatchedBlock& b, Warp& w, const XInst& x, CheckedFunction& f, std::uint32_t pc,
                    std::uint32_t lanes) {
  const auto lane = static_cast<unsigned>(__builtin_ctz(lanes));
  std::uint32_t here = alive(w);
  if (lanes != here) here &= ~leaving(w, *f.function, here & ~lanes);
  if (lanes != here && checker_.options().barriers) {
    if (x.inst->mods.aligned) {
      if (result::Finding* const found = checker_.findings().add("barrier.divergent", {&f, pc})) {
        found->message =
            fmt::format("a barrier of the {} is reached by a part of a warp: {} of warp {}, but not {}",
                        x.inst->op == ptx::Op::barrier_cluster ? "cluster" : "block", lanes_text(lanes),
                        w.ctx.warp, lanes_text(here & ~lanes));
        found->accesses.push_back(checker_.access_of(
            f, pc, id_, b.races.block, w.ctx.warp * exec::warp_size + lane, "arrival at the barrier"));
        found->hint =
            "every thread of the block must reach the same __syncthreads(): move it out of the "
            "branch or the loop that a part of the threads leaves";
      }
    } else {
      checker_.findings().gap(
          "lanes of a warp that arrive at a barrier one after another: they are taken to "
          "arrive together");
    }
  }
  if (x.inst->op == ptx::Op::barrier_cluster) return arrives_in_cluster(b, w, x, lanes);
  const unsigned number = x.inst->src_count == 0 ? 0 : w.ctx.row32(x.src[0])[lane];
  const std::uint32_t threads = named_threads(w, x, lane);
  if (number >= exec::barrier_count) return;  // a fault
  const bool all = threads == 0 || threads >= launch_.warps * exec::warp_size;
  if (all && (arrivals_ >> number & 1) == 0) {
    b.whole = static_cast<int>(number);
    return;
  }
  b.open_parts |= 1u << number;
  checker_.races().arrive(b.races, number, w.ctx.warp, lanes, x.inst->mods.bar != ptx::BarMode::arrive);
}

// Barriers that are complete are as if nobody had arrived.
void Watch::has_arrived(WatchedBlock& b) {
  for (unsigned number = 0; number < exec::barrier_count; ++number) {
    if (b.block->barriers[number].arrivals != 0) continue;
    if ((b.open_parts >> number & 1) != 0) {
      b.open_parts &= ~(1u << number);
      checker_.races().go_on(b.races, number);
    }
    if (b.whole == static_cast<int>(number)) {
      b.whole = -1;
      checker_.races().barrier(b.races);
    }
  }
}

void Watch::exits(WatchedBlock& b, Warp& w, std::uint32_t lanes) {
  members_missing(b, w, alive(w) & ~lanes);
  leave_copies(b, w, lanes);
}

// Arguments are written by the call.
void Watch::calls(WatchedBlock& b, Warp& w, const XInst& x, std::uint32_t lanes) {
  if (!checker_.options().init || b.local_written.empty()) return;
  const exec::Frame& frame = w.frame();
  const exec::BoundFunction& from = launch_.module->functions[frame.function];
  const exec::BoundCall& call = from.calls.at(x.inst->target);
  const std::uint64_t callee = std::uint64_t{frame.offset} + from.function->frame_bytes;
  const auto note = [&](std::uint64_t offset, std::uint32_t bytes) {
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m));
      const std::uint64_t thread = std::uint64_t{w.ctx.warp} * exec::warp_size + lane;
      if (offset + bytes <= launch_.local_bytes)
        set_bits(b.local_written.data(), thread * launch_.local_bytes + offset, bytes, true);
    }
  };
  for (const exec::BoundArg& a : call.args) note(callee + a.callee_offset, a.bytes);
  for (const exec::BoundArg& a : call.returns)
    if (!a.in_register) note(std::uint64_t{frame.offset} + a.caller_offset, a.bytes);
}

// ---- instructions that name lanes

void Watch::hook(WatchedBlock& b, Warp& w, const XInst& x, CheckedFunction& f, std::uint32_t pc) {
  const ptx::Inst& inst = *x.inst;
  const std::uint32_t lanes = w.ctx.mask;
  switch (f.hooks[pc]) {
    case Hook::fence:
      if (inst.op == ptx::Op::fence && inst.mods.video == ptx::fence_of_proxies) {
        for (std::uint32_t m = b.proxy_fences.empty() ? 0 : lanes; m != 0; m &= m - 1)
          b.proxy_fences[w.ctx.warp * exec::warp_size + static_cast<unsigned>(__builtin_ctz(m))] =
              b.ordinary_stores;
        break;
      }
      if (inst.op == ptx::Op::fence || inst.op == ptx::Op::membar)
        checker_.races().fence(b.races, w.ctx.warp, lanes, inst.mods.scope,
                               inst.op == ptx::Op::membar || inst.mods.order == ptx::MemOrder::sc);
      break;
    case Hook::sync_warp:
      by_mask(lanes, w.ctx.row32(x.src[0]),
              [&](std::uint32_t mask, std::uint32_t some) { members(b, w, f, pc, mask, some, true); });
      break;
    case Hook::members: {
      // The members are the last operand of .sync forms.
      if (inst.src_count < 2) break;
      const unsigned last = inst.src_count - 1u;
      if (inst.src[last].kind != ptx::OperandKind::imm && inst.src[last].kind != ptx::OperandKind::reg) break;
      const bool shuffle = inst.op == ptx::Op::shfl;
      if (shuffle && inst.src_count < 4) break;  // without .sync
      const auto each = [&](std::uint32_t mask, std::uint32_t some) {
        members(b, w, f, pc, mask, some, false);
      };
      if (inst.src[last].kind == ptx::OperandKind::imm)
        each(static_cast<std::uint32_t>(f.function->constants[inst.src[last].index].value), lanes);
      else
        by_mask(lanes, w.ctx.row32(inst.src[last].index * exec::row_bytes), each);
      break;
    }
    case Hook::commit:
      for (std::uint32_t m = lanes; m != 0; m &= m - 1) ++b.warps[w.ctx.warp].groups[__builtin_ctz(m)];
      break;
    case Hook::wait: {
      std::uint32_t left = all_groups;
      if (!inst.mods.wait_all && inst.src_count != 0 && inst.src[0].kind == ptx::OperandKind::imm)
        left = static_cast<std::uint32_t>(f.function->constants[inst.src[0].index].value);
      end_copies(b, w, lanes, left, bit(Copy::Kind::in));
      break;
    }
    case Hook::bulk_group: bulk_group(b, w, inst, f); break;
    case Hook::none: break;
  }
}

void Watch::members(WatchedBlock& b, Warp& w, CheckedFunction& f, std::uint32_t pc, std::uint32_t mask,
                    std::uint32_t lanes, bool syncs) {
  WatchedWarp& watched = b.warps[w.ctx.warp];
  std::uint32_t here = alive(w);
  if (lanes != here) here &= ~leaving(w, *f.function, here & ~lanes);
  if (const std::uint32_t strangers = lanes & ~mask; strangers != 0 && checker_.options().barriers) {
    if (result::Finding* const found = checker_.findings().add("barrier.mask", {&f, pc})) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(strangers));
      found->message =
          fmt::format("{} of warp {} execute{} this, but the mask {:#010x} does not name {}",
                      lanes_text(strangers), w.ctx.warp, std::has_single_bit(strangers) ? "s" : "", mask,
                      std::has_single_bit(strangers) ? "it" : "them");
      found->accesses.push_back(
          checker_.access_of(f, pc, id_, b.races.block, w.ctx.warp * exec::warp_size + lane, "execution"));
      found->hint =
          "a thread must be in the mask of what it executes: compute the mask before the branch "
          "(__ballot_sync), or name all lanes that get here";
    }
  }
  const std::uint32_t wanted = mask & here;
  Members& m = watched.members;
  if ((lanes & wanted) == wanted) {
    if (syncs) checker_.races().sync_warp(b.races, w.ctx.warp, lanes & wanted, here);
    return;
  }
  if (m.arrived != 0 && (m.mask != mask || (m.arrived & lanes) != 0)) members_missing(b, w, here);
  if (m.arrived == 0) m = {mask, 0, pc, &f};
  m.arrived |= lanes & wanted;
  if ((m.arrived & wanted) != wanted) return;
  if (syncs) checker_.races().sync_warp(b.races, w.ctx.warp, m.arrived, here);
  m = {};
}

// Somebody waits for lanes that go somewhere else.
void Watch::members_missing(WatchedBlock& b, Warp& w, std::uint32_t still_here) {
  Members& m = b.warps[w.ctx.warp].members;
  if (m.arrived == 0) return;
  const std::uint32_t missing = m.mask & alive(w) & ~m.arrived;
  if (missing != 0 && checker_.options().barriers) {
    if (result::Finding* const found = checker_.findings().add("barrier.incomplete", {m.function, m.pc})) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(m.arrived));
      found->message = fmt::format(
          "{} of warp {} wait{} for {}, which the mask {:#010x} names and which do{} not get here",
          lanes_text(m.arrived), w.ctx.warp, std::has_single_bit(m.arrived) ? "s" : "", lanes_text(missing),
          m.mask, std::has_single_bit(missing) ? "es" : "");
      found->accesses.push_back(checker_.access_of(*m.function, m.pc, id_, b.races.block,
                                                   w.ctx.warp * exec::warp_size + lane, "arrival"));
      found->hint = "name only the lanes that get here, or let all of them get here";
    }
  }
  if (still_here == 0 || missing != 0) m = {};
}

}  // namespace simtlab::check

#include "check/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "check/spread.h"
#include "exec/outside.h"

namespace simtlab::check {

using exec::Look;
using exec::Warp;
using exec::XInst;

namespace {

// What in the code needs more than barriers of whole blocks and warps to be understood.
bool is_fine(const ptx::Inst& inst, const ptx::Function& function) {
  switch (inst.op) {
    case ptx::Op::membar:
    case ptx::Op::fence: return true;
    case ptx::Op::cp_async: return ptx::is_bulk_copy(inst);
    case ptx::Op::bar: return inst.src_count >= 2 && inst.src[1].kind != ptx::OperandKind::none;
    case ptx::Op::bar_warp:
      return inst.src[0].kind != ptx::OperandKind::imm ||
             static_cast<std::uint32_t>(function.constants[inst.src[0].index].value) != ~0u;
    case ptx::Op::ld:
    case ptx::Op::st:
    case ptx::Op::atom:
    case ptx::Op::red:
      return inst.mods.order == ptx::MemOrder::acquire || inst.mods.order == ptx::MemOrder::release ||
             inst.mods.order == ptx::MemOrder::acq_rel || inst.mods.order == ptx::MemOrder::sc;
    default: return false;
  }
}

bool has_fine(const ptx::Function& f) {
  return std::ranges::any_of(f.code, [&](const ptx::Inst& inst) { return is_fine(inst, f); });
}

// Barriers at which threads of the function arrive without waiting.
std::uint32_t arrivals_of(const ptx::Function& f) {
  std::uint32_t out = 0;
  for (const ptx::Inst& inst : f.code) {
    if (inst.op != ptx::Op::bar || inst.mods.bar != ptx::BarMode::arrive) continue;
    const ptx::Operand& number = inst.src[0];
    out |= number.kind == ptx::OperandKind::imm ? 1u << (f.constants[number.index].value & 31) : ~0u;
  }
  return out;
}

}  // namespace

Watch::Watch(Checker& checker, const exec::Launch::Impl& launch, std::uint32_t id)
    : checker_(checker), launch_(launch), id_(id), look_(exec::look_handler(launch.module->isa)) {
  in_order_ = checker.ordered().any();
  const ptx::Module& module = *launch.module->module;
  functions_.resize(module.functions.size());
  const ptx::Function& entry = *launch.entry->function;
  fine_ = checker.launch(id).beside || launch.clusters != nullptr;
  shared_stride_ =
      launch.clusters == nullptr ? launch.shared_bytes : (std::uint64_t{launch.shared_bytes} + 63) / 64 * 64;
  shared_end_ = shared_stride_ * launch.params.cluster.count();
  for (const ptx::Function& f : module.functions) {
    if (&f != &entry && (f.is_entry || entry.max_call_depth == 0)) continue;
    fine_ = fine_ || has_fine(f);
    copies_out_in_bulk_ = copies_out_in_bulk_ || std::ranges::any_of(f.code, [](const ptx::Inst& inst) {
                            return ptx::is_bulk_copy(inst) && inst.mods.space == ptx::Space::global;
                          });
    arrivals_ |= arrivals_of(f);
  }
}

CheckedFunction& Watch::function(std::uint32_t index) {
  CheckedFunction*& known = functions_[index];
  if (known == nullptr)
    known = &checker_.function(launch_.module->module, *launch_.module->functions[index].function);
  return *known;
}

void Watch::begin(WatchedBlock& b, std::uint64_t number) {
  if (launch_.clusters != nullptr)
    begin_in_cluster(b, number);
  else
    checker_.races().begin_block(b.races, id_, number, launch_.warps, launch_.threads, launch_.shared_bytes,
                                 fine_);
  if (checker_.options().init) {
    if (b.cluster == nullptr) b.shared_written.assign((launch_.shared_bytes + 63) / 64 + 1, 0);
    b.local_written.assign(
        (std::uint64_t{launch_.warps} * exec::warp_size * launch_.local_bytes + 63) / 64 + 1, 0);
  }
  b.warps.resize(launch_.warps);
  if (copies_out_in_bulk_) {
    b.ordinary.assign((shared_end_ + 3) / 4, {});
    b.proxy_fences.assign(launch_.threads, 0);
    b.ordinary_stores = 0;
  }
  for (WatchedWarp& w : b.warps) {
    w.members = {};
    w.copies.clear();
    w.handed.clear();
    w.handed_by = 0;
    std::ranges::fill(w.groups, 0);
    std::ranges::fill(w.bulk_groups, 0);
    if (w.any_unwritten) std::ranges::fill(w.unwritten, 0);
    w.in_cluster = 0;
    w.any_unwritten = w.waits_at_patch = w.passed_patch = false;
  }
  const std::vector<std::uint32_t>& unset = function(launch_.params.function).unset;
  if (!unset.empty())
    for (WatchedWarp& w : b.warps) {
      w.unwritten.resize(launch_.warp_rows);
      w.unset.assign(launch_.warp_rows, 0);
      w.unset_preds.assign(launch_.warp_preds, 0);
      for (const std::uint32_t row : unset) w.unset[row] = ~0u;
      w.any_unwritten = true;
    }
  b.open_parts = 0;
  b.whole = -1;
}

// ---- accesses

std::uint32_t Watch::lanes_outside(const Warp& w, ptx::Space space, const std::uint64_t* addresses,
                                   std::uint32_t lanes) const {
  const exec::OutsideAccesses* const outside = w.ctx.memory->outside;
  if (outside == nullptr) return 0;
  const std::uint64_t last = space == ptx::Space::shared ? shared_end_ : outside->first();
  if (spread_of(addresses, lanes).high < last) return 0;
  std::uint32_t out = 0;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t a = addresses[lane];
    if (a >= last) out |= 1u << lane;
  }
  return out;
}

void Watch::before(WatchedBlock& b, Warp& w, const XInst& x, CheckedFunction& f, std::uint32_t pc) {
  const ptx::Inst& inst = *x.inst;
  // The lanes arrive once their copies are done: who waits at that barrier may use them. (An arrival by bytes
  // is the end of the bulk copy before it.)
  if (inst.mods.behind_copies && inst.src[1].kind == ptx::OperandKind::imm) hand_copies(b, w, w.ctx.mask);
  const bool load = inst.op == ptx::Op::ld || inst.op == ptx::Op::ldu;
  const bool atomic = inst.op == ptx::Op::atom || inst.op == ptx::Op::red;
  if (late_copies_ && inst.op == ptx::Op::cp_async) keep_overwritten(b, w, x);
  if (!load && !atomic && inst.op != ptx::Op::st) return;
  if (inst.mods.space == ptx::Space::param || inst.mods.space == ptx::Space::constant) return;
  const unsigned bytes = ptx::size_of(inst.type) * inst.mods.vector;
  Look look;
  now_ = {&b, &w, &x, &f, pc, &look};
  checker_.sink() = this;
  look_(w.ctx, x, bytes, !load, look);
  const std::uint64_t* at = w.ctx.addresses;
  if (look.space == ptx::Space::shared && b.cluster != nullptr) [[unlikely]] {
    look_at_others(b, w, f, pc, w.ctx.mask, at);
    at = shadow_addresses(b, w.ctx.mask, at);
  }
  if (look.lie == Look::Lie::anywhere &&
      (look.space == ptx::Space::global || look.space == ptx::Space::shared))
    if (const std::uint32_t away = lanes_outside(w, look.space, at, w.ctx.mask); away != 0) [[unlikely]]
      outside(w, away);
  if (look.space != ptx::Space::generic) return look_at(b, w, x, f, pc, look.space, w.ctx.mask, at, look);
  // Lanes in different memories
  std::uint64_t addresses[exec::warp_size] = {};
  std::uint32_t shared = 0, local = 0, global = 0;
  for (std::uint32_t m = w.ctx.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t a = w.ctx.addresses[lane], window = a >> 32 << 32;
    const bool in_shared = window == ptx::shared_window, in_local = window == ptx::local_window;
    (in_shared ? shared : in_local ? local : global) |= 1u << lane;
    addresses[lane] = in_shared && b.cluster != nullptr ? shadow_address(b, a - window)
                      : in_shared || in_local           ? a - window
                                                        : a;
  }
  if (shared != 0) look_at(b, w, x, f, pc, ptx::Space::shared, shared, addresses, look);
  if (local != 0) look_at(b, w, x, f, pc, ptx::Space::local, local, addresses, look);
  if (global != 0) look_at(b, w, x, f, pc, ptx::Space::global, global, addresses, look);
}

void Watch::look_at(WatchedBlock& b, Warp& w, const XInst& x, CheckedFunction& f, std::uint32_t pc,
                    ptx::Space space, std::uint32_t lanes, const std::uint64_t* addresses, const Look& look) {
  const ptx::Inst& inst = *x.inst;
  const unsigned bytes = ptx::size_of(inst.type) * inst.mods.vector;
  if (space == ptx::Space::param) return;
  if (in_order_ && space == ptx::Space::global) [[unlikely]]
    look_at_ordered(b, w, inst, f, pc, lanes, addresses);
  if (checker_.options().init) {
    const bool store = inst.op == ptx::Op::st;
    std::uint32_t missing = 0;
    if (!store) missing = unwritten_lanes(b, w, space, lanes, addresses, bytes, look);
    if (missing != 0) {
      WatchedWarp& watched = b.warps[w.ctx.warp];
      const auto lane = static_cast<unsigned>(__builtin_ctz(missing));
      watched.origin = {&f, pc, space, addresses[lane], lane};
      // An atomic operation uses it itself, but for one that only exchanges.
      const bool uses =
          inst.op != ptx::Op::ld && inst.op != ptx::Op::ldu && inst.mods.atom != ptx::AtomOp::exch;
      if (uses) unwritten_use(b, w, watched.origin, f, pc, lane, false);
      if (uses) missing = 0;
    }
    if (missing != 0) {
      WatchedWarp& watched = b.warps[w.ctx.warp];
      watched.unwritten.resize(launch_.warp_rows);
      watched.any_unwritten = true;
      for (unsigned i = 0; i < inst.dst_count; ++i)
        if (inst.dst[i].kind == ptx::OperandKind::reg)
          watched.unwritten[w.frame().row + inst.dst[i].index] |= missing;
    }
    if (inst.op != ptx::Op::ld && inst.op != ptx::Op::ldu) {
      note_written(b, w, space, lanes, addresses, bytes, look, true);
      // A copy of what nobody wrote is what nobody wrote.
      const WatchedWarp& watched = b.warps[w.ctx.warp];
      std::uint32_t copied = 0;
      for (unsigned i = 1; watched.any_unwritten && inst.op == ptx::Op::st && i < inst.src_count; ++i)
        if (inst.src[i].kind == ptx::OperandKind::reg)
          copied |= watched.unwritten[w.frame().row + inst.src[i].index] |
                    (watched.unset.empty() ? 0 : watched.unset[w.frame().row + inst.src[i].index]);
      Look each = look;
      each.lie = Look::Lie::anywhere;
      if ((copied & lanes) != 0) note_written(b, w, space, copied & lanes, addresses, bytes, each, false);
    }
  }
  if (!checker_.options().races || space == ptx::Space::local) return;
  if (!b.ordinary.empty() && space == ptx::Space::shared && inst.op != ptx::Op::ld && inst.op != ptx::Op::ldu)
    note_ordinary(b, w, f, pc, lanes, addresses, bytes);
  const std::uint32_t site = checker_.site(f, pc, SiteKind::usual);
  if (site == 0) return;
  checker_.races().access(b.races, {w.ctx.warp, lanes, site, space, addresses, bytes});
}

void Watch::look_at_ordered(WatchedBlock& b, const Warp& w, const ptx::Inst& inst, CheckedFunction& f,
                            std::uint32_t pc, std::uint32_t lanes, const std::uint64_t* addresses) {
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    OrderedMemory::Allocation* const there = checker_.ordered().find(addresses[lane]);
    if (there == nullptr || there->seen_in == id_) continue;
    checker_.uses_ordered(*there, {&f, pc}, id_, b.races.block, w.ctx.warp * exec::warp_size + lane,
                          addresses[lane], inst.op == ptx::Op::st ? "write" : "access");
  }
}

// ---- what nobody wrote

std::uint64_t* Watch::written_bits(WatchedBlock& b, const Warp& w, ptx::Space space, unsigned lane,
                                   std::uint64_t address, unsigned bytes, std::uint64_t& first) {
  switch (space) {
    case ptx::Space::shared:
      if (address + bytes > shared_end_) return nullptr;
      first = address;
      return shared_written(b).data();
    case ptx::Space::local:
      if (address + bytes > launch_.local_bytes) return nullptr;
      first = (std::uint64_t{w.ctx.warp} * exec::warp_size + lane) * launch_.local_bytes + address;
      return b.local_written.data();
    default:
      if (!checker_.shadow().holds(address)) return nullptr;
      first = checker_.shadow().offset(address);
      return checker_.shadow().written();
  }
}

namespace {

constexpr std::uint64_t most_span = 1u << 31;

}  // namespace

// The bitmap of this memory reaches as far.
bool Watch::holds_all(ptx::Space space, std::uint64_t high, unsigned bytes) const {
  return space == ptx::Space::shared ? high + bytes <= shared_end_
                                     : checker_.shadow().holds(high + bytes - 1);
}

std::uint32_t Watch::unwritten_lanes(WatchedBlock& b, const Warp& w, ptx::Space space, std::uint32_t lanes,
                                     const std::uint64_t* addresses, unsigned bytes, const Look& look) {
  std::uint64_t first = 0;
  const auto leader = static_cast<unsigned>(__builtin_ctz(lanes));
  // Lanes side by side in one memory, or all at one place, in one look.
  if (look.lie != Look::Lie::anywhere && space != ptx::Space::local) {
    const unsigned last = 31u - static_cast<unsigned>(__builtin_clz(lanes));
    const std::uint64_t span =
        look.lie == Look::Lie::together ? bytes : std::uint64_t{last - leader + 1} * bytes;
    const std::uint64_t* const bits = written_bits(b, w, space, leader, addresses[leader], bytes, first);
    if (bits == nullptr) return 0;
    if (all_set(bits, first, span)) return 0;
  } else if (space != ptx::Space::local) {
    // Or all of the range that they lie in, if it is small; else each.
    const auto [low, high] = spread_of(addresses, lanes);
    constexpr std::uint64_t small = 2048;
    const std::uint64_t span = high - low + bytes;
    const bool near = high - low < small;
    if (near || bytes <= 8) {
      const std::uint64_t* const bits =
          written_bits(b, w, space, leader, low, static_cast<unsigned>(std::min(span, most_span)), first);
      if (bits != nullptr && near && all_set(bits, first, span)) return 0;
      if (bits != nullptr && bytes <= 8 && span < most_span && holds_all(space, high, bytes)) {
        lanes = lanes_not_set(bits, addresses, lanes, low - first, bytes);
        if (lanes == 0) return 0;
      }
    }
  }
  std::uint32_t out = 0;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t* const bits = written_bits(b, w, space, lane, addresses[lane], bytes, first);
    if (bits == nullptr || all_set(bits, first, bytes)) continue;
    const bool elsewhere = space == ptx::Space::shared || space == ptx::Space::local;
    if (elsewhere || !checker_.is_written(addresses[lane], bytes)) out |= 1u << lane;
  }
  return out;
}

void Watch::note_written(WatchedBlock& b, const Warp& w, ptx::Space space, std::uint32_t lanes,
                         const std::uint64_t* addresses, unsigned bytes, const Look& look, bool value) {
  std::uint64_t first = 0;
  const bool whole = (lanes & (lanes + (lanes & (~lanes + 1)))) == 0;  // no gap between the lanes
  if (look.lie == Look::Lie::side_by_side && whole && space != ptx::Space::local) {
    const auto leader = static_cast<unsigned>(__builtin_ctz(lanes));
    if (std::uint64_t* const bits = written_bits(b, w, space, leader, addresses[leader], bytes, first))
      set_bits(bits, first, static_cast<std::uint64_t>(__builtin_popcount(lanes)) * bytes, value);
    return;
  }
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    if (std::uint64_t* const bits = written_bits(b, w, space, lane, addresses[lane], bytes, first))
      set_bits(bits, first, bytes, value);
  }
}

namespace {

// Instructions that hand on what they read, of which nothing is decided yet.
bool only_copies(ptx::Op op) {
  switch (op) {
    case ptx::Op::mov:
    case ptx::Op::selp:
    case ptx::Op::cvt:
    case ptx::Op::shfl:
    case ptx::Op::prmt:
    case ptx::Op::and_:
    case ptx::Op::or_:
    case ptx::Op::xor_:
    case ptx::Op::not_:
    case ptx::Op::shf:
    case ptx::Op::bfe:
    case ptx::Op::bfi: return true;
    default: return false;
  }
}

// By whole bytes: of a structure that is copied; else a product.
bool moves_bytes(const ptx::Inst& inst, const ptx::Function& function) {
  if (inst.op != ptx::Op::shl && inst.op != ptx::Op::shr) return false;
  return inst.src[1].kind == ptx::OperandKind::imm && function.constants[inst.src[1].index].value % 8 == 0;
}

const char* memory_name(ptx::Space space) {
  return space == ptx::Space::shared ? "shared" : space == ptx::Space::local ? "local" : "global";
}

}  // namespace

void Watch::unwritten_use(WatchedBlock& b, const Warp& w, const Origin& o, CheckedFunction& f,
                          std::uint32_t pc, unsigned lane, bool address) {
  const char* const rule = o.space == ptx::Space::shared  ? "init.shared"
                           : o.space == ptx::Space::local ? "init.local"
                                                          : "init.global";
  Findings& findings = checker_.findings();
  result::Finding* const found = findings.add(rule, {o.function, o.pc}, {&f, pc});
  if (found == nullptr) return;
  const ptx::Inst& load = o.function->function->code[o.pc];
  const unsigned bytes = ptx::size_of(load.type) * load.mods.vector;
  found->message = fmt::format("{} memory is {} before anything was written there", memory_name(o.space),
                               address ? "read and used as an address" : "read and used");
  found->accesses.push_back(checker_.access_of(*o.function, o.pc, id_, b.races.block,
                                               w.ctx.warp * exec::warp_size + o.lane,
                                               fmt::format("read of {} bytes", bytes)));
  if (o.function != &f || o.pc != pc)
    found->accesses.push_back(checker_.access_of(f, pc, id_, b.races.block,
                                                 w.ctx.warp * exec::warp_size + lane, "use of the value"));
  if (o.space == ptx::Space::shared)
    found->memory = shared_place(*f.module, *launch_.entry->function, o.address, bytes, place_in_cluster());
  else if (o.space != ptx::Space::local)
    found->memory = global_place(checker_.memory(), o.address, bytes);
  found->hint =
      "write it first: cudaMemset, a copy, or a store by each thread of what it has set; here it reads as "
      "zero, on a board as whatever was there";
}

void Watch::use(WatchedBlock& b, Warp& w, const XInst& x, CheckedFunction& f, std::uint32_t pc,
                std::uint32_t lanes) {
  const ptx::Inst& inst = *x.inst;
  WatchedWarp& watched = b.warps[w.ctx.warp];
  if (!watched.unset.empty() && &f == functions_[launch_.params.function]) use_unset(b, w, x, f, pc, lanes);
  const auto row = [&](const ptx::Operand& o) -> std::uint32_t* {
    if (o.kind != ptx::OperandKind::reg) return nullptr;
    return &watched.unwritten[w.frame().row + o.index];
  };
  std::uint32_t from = 0;  // lanes that read what nobody wrote
  bool address = false;
  const bool memory = inst.op == ptx::Op::ld || inst.op == ptx::Op::ldu || inst.op == ptx::Op::st ||
                      inst.op == ptx::Op::atom || inst.op == ptx::Op::red || inst.op == ptx::Op::cp_async;
  for (unsigned i = 0; i < inst.src_count; ++i) {
    const std::uint32_t* const r = row(inst.src[i]);
    const std::uint32_t reading = r == nullptr ? 0 : *r & lanes & lanes_that_read(w, x, i);
    if (reading == 0) continue;
    from |= reading;
    address = address || (memory && (i == 0 || inst.op == ptx::Op::cp_async));
  }
  // A store hands it on to memory.
  const bool stores = inst.op == ptx::Op::st && !address;
  const bool hands_on = from != 0 && (stores || only_copies(inst.op) || moves_bytes(inst, *f.function));
  if (from != 0 && !hands_on) {
    unwritten_use(b, w, watched.origin, f, pc, static_cast<unsigned>(__builtin_ctz(from)), address);
    for (unsigned i = 0; i < inst.src_count; ++i)
      if (std::uint32_t* const r = row(inst.src[i])) *r &= ~lanes;
  }
  for (unsigned i = 0; i < inst.dst_count; ++i)
    if (std::uint32_t* const r = row(inst.dst[i])) *r = (*r & ~lanes) | (hands_on && !stores ? from : 0);
  // Of a store the values are looked at once more, when it is executed.
  watched.any_unwritten = !watched.unset.empty() || (stores && from != 0) ||
                          std::ranges::any_of(watched.unwritten, [](std::uint32_t r) { return r != 0; });
}

// ---- values

std::string Watch::lane_value(const Warp& w, const XInst& x, unsigned lane) const {
  const ptx::Inst& inst = *x.inst;
  if (inst.src_count < 2 || inst.mods.vector > 1 || inst.type == ptx::Type::b128) return {};
  const unsigned bytes = ptx::size_of(inst.type);
  std::uint64_t bits = 0;
  const std::byte* const row = w.ctx.row(x.src[1]);
  const bool wide = inst.src[1].bytes == 8 || (inst.src[1].kind == ptx::OperandKind::imm && bytes == 8);
  std::memcpy(&bits, row + lane * (wide ? 8 : 4), wide ? 8 : 4);
  return value_text(inst, bits, bytes);
}

std::string Watch::memory_value(const ptx::Inst& inst, bool shared, std::uint64_t address) const {
  const unsigned bytes = ptx::size_of(inst.type);
  if (bytes > 8) return {};
  std::uint64_t bits = 0;
  if (shared) {
    if (address + bytes > shared_end_) return {};
    std::memcpy(&bits, shared_byte(*now_.block, address), bytes);
  } else {
    if (checker_.memory().find(address, bytes) == nullptr) return {};
    std::memcpy(&bits, checker_.memory().host(address), bytes);
  }
  return value_text(inst, bits, bytes);
}

}  // namespace simtlab::check

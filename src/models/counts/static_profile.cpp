#include "models/counts/static_profile.h"

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "models/counts/dependences.h"
#include "models/counts/lane_values.h"
#include "stream/bank_conflicts.h"
#include "stream/coalescer.h"
#include "stream/warp_source.h"

namespace simtlab::models::counts {
namespace {

using ptx::OpClass;
using ptx::OperandKind;

// Static memory lies at zero; what is unknown begins at a multiple of everything.
constexpr std::uint64_t unknown_base = std::uint64_t{1} << 40;

struct Frame {
  const ptx::Function* function = nullptr;
  std::uint32_t pc = 0;
  std::vector<LaneValue> registers, predicates;
  std::map<std::uint32_t, std::uint64_t> taken;  // branches back, by pc: how often in a row
  std::uint32_t lanes = 0;                       // that entered
  std::uint32_t gone = 0;                        // of them, that left
  // Lanes that took another way at a branch: where they go on, and where they meet others.
  struct Waiting {
    std::uint32_t pc = 0, mask = 0, meet = 0;
  };
  std::vector<Waiting> waiting;
  std::uint32_t meet = ptx::no_pc;  // of the lanes that run
};

class Follower {
 public:
  Follower(const StaticLaunch& launch, const device::Device& device)
      : l_(launch), banks_{device.shared.banks, device.shared.bank_bytes, device.shared.shares_pairs} {
    const auto threads = static_cast<unsigned>(launch.block.count());
    first_thread_ = launch.warp.value_or((threads + 31) / 32 / 2) * 32;
    mask_ = threads - first_thread_ >= 32 ? ~0u : (1u << (threads - first_thread_)) - 1;
    enter(launch.function);
  }

  // The way, and what each of its accesses looks like (parallel to steps).
  struct Access {
    bool global = false, store = false, shared = false;
    double lines = 0, sectors = 0, bytes = 0, passes = 1, ideal = 1;
    bool coalesced = true;
  };

  void run() {
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.pc >= frame.function->code.size()) {
        leave();
        continue;
      }
      if (frame.pc == frame.meet && next_lanes(frame)) continue;
      if (out.instructions >= l_.longest) {
        out.complete = false;
        return;
      }
      step(frame, frame.function->code[frame.pc]);
    }
  }

  WarpWay way;
  std::vector<Access> accesses;
  StaticProfile out;

 private:
  void step(Frame& frame, const ptx::Inst& inst) {
    ++out.instructions;
    way.steps.push_back({frame.function, frame.pc, 1, false});
    accesses.push_back(access_of(frame, inst));
    way.steps.back().passes = static_cast<std::uint16_t>(
        std::clamp(accesses.back().shared ? accesses.back().passes : accesses.back().lines, 1.0, 256.0));
    switch (inst.op) {
      case ptx::Op::bra: return branch(frame, inst);
      case ptx::Op::ret:
      case ptx::Op::exit:
        if (inst.guard.kind == OperandKind::pred && !all_leave(frame, inst)) break;
        return leave();
      case ptx::Op::call: return call(frame, inst);
      default: assign(frame, inst); break;
    }
    ++frame.pc;
  }

  // A guard of the edge; it is not taken if its value is unknown. True: no lane is left.
  bool all_leave(Frame& frame, const ptx::Inst& inst) {
    const LaneValue p = predicate(frame, inst.guard);
    if (!p.exact()) return false;
    std::uint32_t leaving = 0;
    for (unsigned i = 0; i < 32; ++i)
      if ((mask_ >> i & 1u) != 0 && p.lane[i] != 0) leaving |= 1u << i;
    if (leaving == mask_) return true;
    frame.gone |= leaving;
    mask_ &= ~leaving;
    return false;
  }

  void call(Frame& frame, const ptx::Inst& inst) {
    ++frame.pc;
    const ptx::CallSite& site = frame.function->call_sites[inst.target];
    if (site.indirect || frames_.size() > 32) return;
    enter(l_.module.functions[site.function]);
  }

  void enter(const ptx::Function& function) {
    frames_.push_back({&function,
                       0,
                       std::vector<LaneValue>(function.reg_rows + 1),
                       std::vector<LaneValue>(function.pred_count + 1),
                       {},
                       mask_,
                       0,
                       {},
                       ptx::no_pc});
  }

  void branch(Frame& frame, const ptx::Inst& inst) {
    const bool back = inst.target <= frame.pc;
    bool taken = true;
    if (inst.guard.kind == OperandKind::pred) {
      const LaneValue p = predicate(frame, inst.guard);
      if (p.exact()) {
        std::uint32_t jumps = 0;
        for (unsigned i = 0; i < 32; ++i)
          if ((mask_ >> i & 1u) != 0 && p.lane[i] != 0) jumps |= 1u << i;
        if (jumps != 0 && jumps != mask_) return go_apart(frame, inst, jumps);
        taken = jumps != 0;
      } else if (back) {
        std::uint64_t& count = frame.taken[frame.pc];
        taken = static_cast<double>(++count) < l_.trips;
        if (count == 1) ++out.assumed_loops;
        if (!taken) count = 0;
      } else {
        taken = false;
        ++out.assumed_branches;
      }
    }
    frame.pc = taken ? inst.target : frame.pc + 1;
  }

  // Both ways in turn, until the lanes meet again.
  void go_apart(Frame& frame, const ptx::Inst& inst, std::uint32_t jumps) {
    frame.waiting.push_back({inst.reconverge, mask_, frame.meet});
    frame.waiting.push_back({frame.pc + 1, mask_ & ~jumps, inst.reconverge});
    frame.meet = inst.reconverge;
    frame.pc = inst.target;
    mask_ = jumps;
  }

  // The next lanes that wait; false: there are none.
  bool next_lanes(Frame& frame) {
    while (!frame.waiting.empty()) {
      const Frame::Waiting next = frame.waiting.back();
      frame.waiting.pop_back();
      frame.pc = next.pc;
      frame.meet = next.meet;
      mask_ = next.mask & ~frame.gone;
      if (mask_ != 0) return true;
    }
    return false;
  }

  // The lanes of the mask leave the function.
  void leave() {
    Frame& frame = frames_.back();
    frame.gone |= mask_;
    if (next_lanes(frame)) return;
    mask_ = frame.lanes;
    frames_.pop_back();
  }

  LaneValue predicate(const Frame& frame, const ptx::Operand& o) const {
    LaneValue v = o.index < frame.predicates.size() ? frame.predicates[o.index] : LaneValue{};
    if (o.negated && v.exact())
      for (std::int64_t& lane : v.lane) lane = lane == 0 ? 1 : 0;
    return v;
  }

  LaneValue read(const Frame& frame, const ptx::Operand& o) const {
    switch (o.kind) {
      case OperandKind::reg: return o.index < frame.registers.size() ? frame.registers[o.index] : LaneValue{};
      case OperandKind::pred: return predicate(frame, o);
      case OperandKind::imm: {
        const ptx::Constant& c = frame.function->constants[o.index];
        return c.kind == ptx::Constant::Kind::value ? LaneValue::constant(static_cast<std::int64_t>(c.value))
                                                    : LaneValue::uniform();
      }
      case OperandKind::special: return special(static_cast<ptx::Special>(o.index));
      default: return {};
    }
  }

  LaneValue special(ptx::Special s) const {
    using enum ptx::Special;
    const auto& b = l_.block;
    const auto by_thread = [&](auto f) {
      LaneValue v = LaneValue::constant(0);
      for (unsigned i = 0; i < 32; ++i) v.lane[i] = static_cast<std::int64_t>(f(first_thread_ + i));
      return v;
    };
    switch (s) {
      case tid_x: return by_thread([&](unsigned t) { return t % b.x; });
      case tid_y: return by_thread([&](unsigned t) { return t / b.x % b.y; });
      case tid_z: return by_thread([&](unsigned t) { return t / b.x / b.y; });
      case laneid: return by_thread([](unsigned t) { return t % 32; });
      case ntid_x: return LaneValue::constant(b.x);
      case ntid_y: return LaneValue::constant(b.y);
      case ntid_z: return LaneValue::constant(b.z);
      case nctaid_x: return LaneValue::constant(l_.grid.x);
      case nctaid_y: return LaneValue::constant(l_.grid.y);
      case nctaid_z: return LaneValue::constant(l_.grid.z);
      // A block in the middle, for the same reason as a warp in the middle.
      case ctaid_x: return LaneValue::constant(l_.at ? l_.at->x : l_.grid.x / 2);
      case ctaid_y: return LaneValue::constant(l_.at ? l_.at->y : l_.grid.y / 2);
      case ctaid_z: return LaneValue::constant(l_.at ? l_.at->z : l_.grid.z / 2);
      default: return LaneValue::uniform();
    }
  }

  void assign(Frame& frame, const ptx::Inst& inst) {
    std::array<LaneValue, ptx::max_src> values;
    for (unsigned i = 0; i < inst.src_count; ++i) values[i] = read(frame, inst.src[i]);
    LaneValue result;
    if (inst.op == ptx::Op::setp && inst.src_count == 2 && inst.mods.bool_op == ptx::BoolOp::none) {
      result = compare(inst, values[0], values[1]);
    } else if (inst.op == ptx::Op::not_ && inst.type == ptx::Type::pred) {
      result = values[0];
      if (result.exact())
        for (std::int64_t& lane : result.lane) lane = lane == 0 ? 1 : 0;
    } else if (const auto given = parameter(inst)) {
      result = LaneValue::constant(*given);
    } else if (ptx::accesses_memory(inst.op_class)) {
      // Loaded values are unknown; from one address they are one.
      result = inst.op_class == OpClass::constant || (inst.src_count > 0 && values[0].uniform_())
                   ? LaneValue::uniform()
                   : LaneValue{};
    } else {
      result = evaluate(inst, values.data(), inst.src_count);
    }
    const bool guarded = inst.guard.kind == OperandKind::pred;
    for (unsigned i = 0; i < inst.dst_count; ++i) {
      const ptx::Operand& d = inst.dst[i];
      if (inst.dst_count > 1 || guarded)
        result = result.uniform_() && !guarded ? LaneValue::uniform() : LaneValue{};
      if (d.kind == OperandKind::reg && d.index < frame.registers.size())
        write(frame, frame.registers[d.index], result);
      if (d.kind == OperandKind::pred && d.index < frame.predicates.size())
        write(frame, frame.predicates[d.index], result);
    }
  }

  // Lanes that wait elsewhere keep their value.
  void write(const Frame& frame, LaneValue& out, const LaneValue& value) const {
    const bool all = (mask_ | frame.gone) == frame.lanes || out.known == LaneValue::Known::nothing;
    if (all) {
      out = value;
    } else if (value.exact() && out.exact()) {
      for (unsigned i = 0; i < 32; ++i)
        if ((mask_ >> i & 1u) != 0) out.lane[i] = value.lane[i];
    } else {
      out = {};
    }
  }

  // The value of a parameter of the kernel that an instruction loads.
  std::optional<std::int64_t> parameter(const ptx::Inst& inst) const {
    if (inst.op != ptx::Op::ld || inst.mods.space != ptx::Space::param || inst.dst_count != 1 ||
        frames_.size() != 1 || inst.src[0].kind != OperandKind::imm)
      return std::nullopt;
    const ptx::Constant& c = l_.function.constants[inst.src[0].index];
    if (c.kind != ptx::Constant::Kind::value) return std::nullopt;
    const std::uint64_t offset = c.value + static_cast<std::uint64_t>(inst.imm_offset);
    for (std::size_t i = 0; i < l_.parameters.size() && i < l_.function.params.size(); ++i)
      if (l_.function.params[i].offset == offset) return l_.parameters[i];
    return std::nullopt;
  }

  Access access_of(const Frame& frame, const ptx::Inst& inst) {
    Access a;
    const bool shared = ptx::accesses(inst.op_class, device::Memory::shared);
    // Textures and asynchronous copies have other operands than an address.
    a.global = ptx::accesses(inst.op_class, device::Memory::global) && inst.op_class != OpClass::texture &&
               inst.op_class != OpClass::async_copy;
    if ((!shared && !a.global) || inst.src_count == 0) {
      a.global = false;
      return a;
    }
    a.store = inst.op_class == OpClass::store, a.shared = shared;
    const LaneValue address = read(frame, inst.src[0]);
    const unsigned bytes = std::max(1u, ptx::size_of(inst.type)) * std::max<unsigned>(1, inst.mods.vector);
    const bool known = address.known != LaneValue::Known::nothing;
    if (!known) ++out.unknown_accesses;
    std::array<std::uint64_t, 32> lanes{};
    for (unsigned i = 0; i < 32; ++i)
      lanes[i] = unknown_base + static_cast<std::uint64_t>(inst.imm_offset) +
                 (known ? static_cast<std::uint64_t>(address.lane[i]) : std::uint64_t{i} * 4096);
    if (shared) {
      a.passes = inst.op_class == OpClass::shared_atomic
                     ? stream::shared_atomic_passes(lanes.data(), mask_, bytes, banks_)
                     : (a.store ? stream::shared_passes : stream::shared_load_passes)(lanes.data(), mask_,
                                                                                      bytes, banks_);
      a.ideal = stream::shared_passes_ideal(mask_, bytes, banks_);
      return a;
    }
    stream::coalesce(lanes.data(), mask_, bytes, segments_);
    for (unsigned i = 0; i < segments_.count; ++i)
      for (const std::uint32_t touched : segments_.items[i].bytes) a.bytes += std::popcount(touched);
    a.lines = segments_.count, a.sectors = segments_.sector_count();
    a.coalesced = a.sectors <= (a.bytes + stream::sector_bytes - 1) / stream::sector_bytes + 1;
    return a;
  }

  const StaticLaunch& l_;
  stream::Banks banks_;
  unsigned first_thread_ = 0;
  std::uint32_t mask_ = ~0u;
  std::vector<Frame> frames_;
  stream::Segments segments_;
};

// Everything but the dependences.
void count(const Follower& f, const ptx::Module& module, const timing::Lowering& lowering,
           timing::Programs& programs, double lanes, Profile& p) {
  double sectors = 0, lines = 0, bytes = 0, uncoalesced_sectors = 0, passes = 0, ideal = 0;
  struct Seen {
    const timing::InstInfo* info;
    double executed, spread;
  };
  std::map<std::pair<const ptx::Function*, std::uint32_t>, Seen> seen;
  for (std::size_t i = 0; i < f.way.steps.size(); ++i) {
    const timing::InstInfo& info = (*programs.of(*f.way.steps[i].function))[f.way.steps[i].pc];
    add_machine_classes(info, lowering(*info.inst), 1, p.class_insts);
    p.flops += info.flops * lanes;
    if (is_fused(*info.inst)) ++p.fma_insts;
    if (info.kind == timing::Kind::barrier) ++p.sync_insts;
    const Follower::Access& a = f.accesses[i];
    const auto [step, first] =
        seen.try_emplace({f.way.steps[i].function, f.way.steps[i].pc}, Seen{&info, 0, 0});
    ++step->second.executed;
    step->second.spread += a.shared ? a.passes : a.global ? a.lines : 0;
    if (a.shared) ++p.shared_insts, passes += a.passes, ideal += a.ideal;
    if (!a.global) continue;
    ++p.global_insts;
    ++(a.coalesced ? p.coalesced_insts : p.uncoalesced_insts);
    sectors += a.sectors, lines += a.lines, bytes += a.bytes;
    if (!a.coalesced) uncoalesced_sectors += a.sectors;
  }
  for (const auto& [at, s] : seen)
    add_code(module, *s.info, lowering(*s.info->inst), s.executed, s.spread / s.executed, p.code);
  const auto over = [](double part, double all) { return all > 0 ? part / all : 0; };
  p.shared_passes = over(passes, p.shared_insts), p.shared_passes_ideal = over(ideal, p.shared_insts);
  p.sectors_per_uncoalesced = over(uncoalesced_sectors, p.uncoalesced_insts);
  p.sectors_per_access = over(sectors, p.global_insts), p.lines_per_access = over(lines, p.global_insts),
  p.bytes_per_access = over(bytes, p.global_insts);
  p.l1_bytes = sectors * stream::sector_bytes;
  p.useful_bytes = bytes;
}

}  // namespace

StaticProfile static_profile(const StaticLaunch& launch, const device::Device& device) {
  if (std::ranges::any_of(launch.function.code, ptx::is_bulk_copy)) stream::refuse_bulk_copy();
  Follower f(launch, device);
  f.run();
  StaticProfile& out = f.out;
  Profile& p = out.profile;
  p.blocks = launch.grid.count();
  p.threads_per_block = static_cast<std::uint32_t>(launch.block.count());
  p.warps_per_block = (p.threads_per_block + 31) / 32;
  p.occupancy = launch.occupancy;
  p.sampled_instructions = out.instructions;
  p.active_lanes = static_cast<double>(p.threads_per_block) / p.warps_per_block;
  p.ptx_insts = static_cast<double>(out.instructions);

  const timing::PipeTable pipes(device);
  const timing::Lowering lowering(device, launch.lowering);
  timing::Programs programs;
  programs.begin(launch.function, pipes, lowering);
  count(f, launch.module, lowering, programs, p.active_lanes, p);
  p.l1_miss_ratio = p.l2_miss_ratio = p.global_insts > 0 ? 1 : 0;
  const double all_warps = static_cast<double>(p.blocks) * p.warps_per_block;
  p.flops *= all_warps;
  p.l1_bytes *= all_warps, p.useful_bytes *= all_warps;
  p.l2_bytes = p.dram_bytes = p.l1_bytes;

  const double atomic = device.latency[static_cast<std::size_t>(OpClass::atomic)];
  set_dependences(p, follow(f.way, programs, timing::Latencies(device),
                            [&](const ptx::Function& function, std::uint32_t pc) {
                              return function.code[pc].op_class == OpClass::atomic ? atomic
                                                                                   : device.dram.latency;
                            }));
  return std::move(out);
}

}  // namespace simtlab::models::counts

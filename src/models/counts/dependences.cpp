#include "models/counts/dependences.h"

#include <algorithm>
#include <vector>

namespace simtlab::models::counts {
namespace {

using timing::InstInfo;
using timing::Kind;

constexpr double fine = 1.0 / 256;  // latencies have 8 binary places

struct Slot {
  double ready = 0;
  bool memory = false;                      // it comes from global or local memory
  std::uint32_t group = 0, load_group = 0;  // in which it was written
};

// A register or predicate of machine code.
struct Written {
  bool any = false, memory = false;
  std::uint32_t group = 0, load_group = 0;
};

class Walk {
 public:
  Walk(timing::Programs& programs, const timing::Latencies& latencies, const LoadLatency& load_latency)
      : programs_(programs),
        latencies_(latencies),
        load_latency_(load_latency),
        slots_(programs.scoreboard_slots()) {}

  void step(const Footstep& s) {
    const timing::Program& program = *programs_.of(*s.function);
    const InstInfo& info = program[s.pc];
    const auto registers = program.registers(info);
    const bool loads = is_load(info) && !s.skipped;
    ++d_.insts;
    // Folded into another instruction: its result is there with its operands
    if (info.count == 0) return move(registers, info);
    wait_for(registers, info, loads);
    const double last = now_ + (info.count - 1) * info.gap;
    const double ready = last + (s.skipped ? 1 : latency_of(info, s));
    for (const std::uint16_t slot : registers.first(info.dst_count)) {
      // Results on their way to one counter do not wait for each other.
      if (info.controlled && slots_[slot].ready > ready) continue;
      slots_[slot] = {ready, loads, group_, load_group_};
    }
    if (info.controlled) write(*info.inst, loads);
    now_ = last + (info.controlled ? std::max<double>(info.stall_count, issue_of(info)) : issue_of(info));
    end_ = std::max(end_, ready);
    d_.machine_insts += info.count;
    if (loads) ++d_.loads;
  }

  Dependences result() {
    d_.latency = std::max(end_, now_);
    d_.groups = group_ + 1.0;
    return d_;
  }

 private:
  static bool is_load(const InstInfo& info) {
    return device::is_answered(info.op_class) &&
           (device::traits(info.op_class).access != device::Access::atomic || info.returns);
  }

  void wait_for(std::span<const std::uint16_t> registers, const InstInfo& info, bool loads) {
    double at = now_;
    bool memory = false, dependent = false, load_dependent = false;
    for (std::size_t i = info.controlled ? info.dst_count : 0; i < registers.size(); ++i) {
      const Slot& slot = slots_[registers[i]];
      if (slot.ready > at) at = slot.ready, memory = slot.memory;
      if (i < info.dst_count || info.controlled) continue;
      dependent = dependent || (slot.ready > 0 && slot.group == group_);
      load_dependent = load_dependent || (slot.memory && slot.load_group == load_group_);
    }
    if (info.controlled) read(*info.inst, dependent, load_dependent);
    if (memory) d_.memory_wait += at - now_;
    now_ = at;
    if (dependent) ++group_;
    // What a load brought is used: the loads after that are of another group.
    if (load_dependent) ++load_group_;
    if (loads && counted_group_ != load_group_) counted_group_ = load_group_, ++d_.load_groups;
  }

  // Machine code waits by stall counts and counters. What depends on what, its registers say.
  template <class F>
  void for_each_place(const ptx::Operand& operand, const F& f) {
    if (operand.kind != ptx::OperandKind::reg && operand.kind != ptx::OperandKind::pred) return;
    std::vector<Written>& places = operand.kind == ptx::OperandKind::reg ? registers_ : predicates_;
    const std::size_t first = operand.index, count = std::max(1u, operand.bytes / 4u);
    if (places.size() < first + count) places.resize(first + count);
    for (std::size_t i = first; i < first + count; ++i) f(places[i]);
  }
  void write(const ptx::Inst& inst, bool loads) {
    for (const ptx::Operand& to : std::span(inst.dst).first(inst.dst_count))
      for_each_place(to, [&](Written& w) { w = {true, loads, group_, load_group_}; });
  }
  void read(const ptx::Inst& inst, bool& dependent, bool& load_dependent) {
    const auto look = [&](const Written& w) {
      dependent = dependent || (w.any && w.group == group_);
      load_dependent = load_dependent || (w.memory && w.load_group == load_group_);
    };
    for_each_place(inst.guard, look);
    for (const ptx::Operand& from : std::span(inst.src).first(inst.src_count)) for_each_place(from, look);
  }

  void move(std::span<const std::uint16_t> registers, const InstInfo& info) {
    Slot last;
    for (const std::uint16_t slot : registers.subspan(info.dst_count))
      if (slots_[slot].ready > last.ready) last = slots_[slot];
    for (const std::uint16_t slot : registers.first(info.dst_count)) slots_[slot] = last;
  }

  // Cycles until the next instruction of the warp.
  double issue_of(const InstInfo& info) const {
    switch (info.kind) {
      case Kind::control: return static_cast<double>(latencies_.branch);
      case Kind::barrier: return static_cast<double>(latencies_.barrier);
      case Kind::fence: return static_cast<double>(latencies_.fence);
      default: return 1;
    }
  }

  double latency_of(const InstInfo& info, const Footstep& s) const {
    if (info.kind != Kind::memory) return info.latency * fine;
    if (info.op_class == ptx::OpClass::store) return 1;
    if (is_load(info)) return load_latency_(*s.function, s.pc);
    if (info.op_class == ptx::OpClass::constant) return latencies_.constant * fine;
    if (info.op_class == ptx::OpClass::shared) return latencies_.shared * fine + s.passes - 1;
    return info.latency * fine;
  }

  timing::Programs& programs_;
  const timing::Latencies& latencies_;
  const LoadLatency& load_latency_;
  std::vector<Slot> slots_;
  std::vector<Written> registers_, predicates_;  // of machine code
  double now_ = 0, end_ = 0;
  std::uint32_t group_ = 0, load_group_ = 1, counted_group_ = 0;
  Dependences d_;
};

}  // namespace

void Dependences::add(const Dependences& o) {
  insts += o.insts, machine_insts += o.machine_insts, groups += o.groups, loads += o.loads,
      load_groups += o.load_groups;
  latency += o.latency, memory_wait += o.memory_wait;
}

Dependences follow(const WarpWay& way, timing::Programs& programs, const timing::Latencies& latencies,
                   const LoadLatency& load_latency) {
  Walk walk(programs, latencies, load_latency);
  for (const Footstep& s : way.steps) walk.step(s);
  return walk.result();
}

}  // namespace simtlab::models::counts

// 64-bit results whose upper half no instruction reads: above all addresses in shared memory, which have 32
// bits in machine code.
#include "ptx/fold_parts.h"

namespace simtlab::ptx {
namespace {

constexpr unsigned demand_rounds = 16;

class Demands {
 public:
  Demands(Function& f, const std::vector<Type>& types) : f_(f), types_(types) {}

  // Whether the upper half of a 64-bit result is looked at, by whether the upper halves of what is made of it
  // are.
  enum class Demand : std::uint8_t { whole, low, as_result };
  Demand demand(const Inst& inst, unsigned operand) const {
    if (is_base(inst, operand))
      return inst.mods.space == Space::shared || inst.mods.space == Space::local ? Demand::low
                                                                                 : Demand::whole;
    switch (inst.op) {
      case Op::cvt:
        if (is_float(inst.type) || is_float(inst.stype)) return Demand::whole;
        return size_of(inst.type) <= 4 ? Demand::low : Demand::as_result;
      case Op::mul:
      case Op::mad:
        return inst.mods.mul == MulMode::lo || (inst.mods.mul == MulMode::wide && operand == 2)
                   ? Demand::as_result
                   : Demand::whole;
      case Op::add:
      case Op::sub: return is_sum(inst) ? Demand::as_result : Demand::whole;
      case Op::mov: return inst.dst_count == 1 && inst.src_count == 1 ? Demand::as_result : Demand::whole;
      case Op::cvta:
        return inst.mods.to && inst.mods.space != Space::global ? Demand::low : Demand::as_result;
      case Op::shl: return operand == 0 ? Demand::as_result : Demand::low;
      case Op::and_:
      case Op::or_:
      case Op::xor_:
      case Op::not_:
      case Op::neg:
      case Op::selp: return Demand::as_result;
      default: return Demand::whole;
    }
  }
  bool wide(const Operand& o) const {
    return o.kind == OperandKind::reg && size_of(types_[o.index]) == 8 && is_integer(types_[o.index]);
  }

  // Backwards over the code until nothing changes; where that takes long, all of everything is taken to be
  // looked at.
  void find_low_halves() {
    std::vector<bool> high(types_.size(), false);
    bool changed = true;
    for (unsigned round = 0; changed && round < demand_rounds; ++round) {
      changed = false;
      for (std::size_t pc = f_.code.size(); pc-- > 0;) changed = ask(f_.code[pc], high) || changed;
    }
    if (changed) return;
    for (Inst& inst : f_.code)
      inst.low_half = inst.dst_count == 1 && wide(inst.dst[0]) && !high[inst.dst[0].index] &&
                      !accesses_memory(inst.op_class);
  }
  bool ask(const Inst& inst, std::vector<bool>& high) const {
    bool changed = false;
    const auto look = [&](const Operand& o) {
      if (!wide(o) || high[o.index]) return;
      high[o.index] = changed = true;
    };
    // All of a real number is looked at.
    const bool result = inst.dst_count > 0 && (!wide(inst.dst[0]) || high[inst.dst[0].index]);
    for (unsigned i = 0; i < inst.src_count; ++i) {
      const Demand d = demand(inst, i);
      if (d == Demand::whole || (d == Demand::as_result && result)) look(inst.src[i]);
    }
    if (inst.op != Op::call) return changed;
    const CallSite& site = f_.call_sites[inst.target];
    look(site.pointer);
    for (const CallArg& arg : site.args) look(arg.reg);
    return changed;
  }

 private:
  Function& f_;
  const std::vector<Type>& types_;
};

}  // namespace

void find_low_halves(Function& function, const std::vector<Type>& types) {
  Demands(function, types).find_low_halves();
}

}  // namespace simtlab::ptx

#include "timing/lowering.h"

#include <algorithm>
#include <cmath>

namespace simtlab::timing {
namespace {

using ptx::Fold;
using ptx::Inst;
using ptx::MulMode;
using ptx::Op;
using ptx::OpClass;

double rate(const device::Device& d, OpClass c) { return d.throughput[static_cast<std::size_t>(c)]; }

// The pipeline whose instructions a sub-routine is made of.
OpClass body_of(OpClass c) { return device::traits(c).body; }
bool is_routine(OpClass c) { return body_of(c) != OpClass::count_; }

Lowered times(Lowered out, unsigned count, OpClass op_class) {
  out.count = static_cast<std::uint8_t>(count);
  out.op_class = out.part = op_class;
  return out;
}

}  // namespace

Lowering::Lowering(const device::Device& device, bool on)
    : device_(device),
      on_(on),
      narrow_multiplier_(device.cc_major == 5 || device.cc_major == 6),
      three_operands_(device.cc_major >= 5),
      split_(device.cc_major >= 7) {}

Lowered Lowering::operator()(const Inst& inst) const {
  Lowered out;
  out.op_class = out.part = inst.op_class;
  if (!on_) return out;
  if (folds(inst)) {
    out.count = 0;
    return out;
  }
  if (inst.op_class == OpClass::int_div)  // multiplies beside logic; of 64 bits three times as many
    return routine(OpClass::int_div, split_ ? OpClass::int_mul : OpClass::int_alu, OpClass::int_alu,
                   ptx::size_of(inst.type) == 8 ? 3 : 1);
  if (is_routine(inst.op_class))
    return routine(inst.op_class, body_of(inst.op_class), body_of(inst.op_class), 1);
  switch (inst.op_class) {
    case OpClass::int_alu:
    case OpClass::int_mul: return integer(inst, out);
    case OpClass::bit: return bits(inst, out);
    case OpClass::sfu: return function(inst, out);
    case OpClass::convert:
    case OpClass::convert64:
      // Between integers: an extension of the sign or a mask, not a conversion.
      if (!ptx::is_float(inst.type) && !ptx::is_float(inst.stype) && inst.stype != ptx::Type::none &&
          !inst.mods.sat)
        return times(out, 1, OpClass::int_alu);
      return out;
    default: return out;
  }
}

// Whether this generation has the instruction that takes it in.
bool Lowering::folds(const Inst& inst) const {
  const bool wide = ptx::size_of(inst.type) == 8 && !inst.low_half;
  switch (inst.fold) {
    case Fold::none:
    case Fold::count_: return false;
    case Fold::sum:
    case Fold::logic: return three_operands_;
    case Fold::shift: return three_operands_ || !wide;
    default: return true;
  }
}

Lowered Lowering::integer(const Inst& inst, Lowered out) const {
  if (inst.op == Op::mov && inst.dst_count > 1) return out;
  const bool product = inst.op == Op::mul || inst.op == Op::mad;
  if (product && inst.shifts && inst.fold != Fold::wide && (!split_ || ptx::size_of(inst.type) == 8))
    return shifted(inst, out);
  if (product && inst.mods.mul == MulMode::wide && inst.fold != Fold::wide)
    return times(out, split_ ? 1 : narrow_multiplier_ ? 5 : 2, OpClass::int_mul);
  if (ptx::size_of(inst.type) == 8 && !inst.low_half) return wide(inst, out);
  switch (inst.op) {
    case Op::mul:
    case Op::mad: return multiply();
    case Op::add:
    case Op::sub: return inst.takes == Fold::product || inst.takes == Fold::wide ? multiply() : out;
    case Op::mul24:
    case Op::mad24: return split_ ? times(out, 3, OpClass::int_mul) : out;
    case Op::set:
    case Op::slct: return times(out, 2, OpClass::int_alu);
    case Op::cnot: return times(out, 3, OpClass::int_alu);
    default: return out;
  }
}

// A product by a power of two: a shift of each half of the result, which from 5.0 on takes a sum with it.
Lowered Lowering::shifted(const Inst& inst, Lowered out) const {
  const bool extends = inst.mods.mul == MulMode::wide,
             wide = !inst.low_half && ptx::size_of(inst.type) == (extends ? 4 : 8);
  // Of 32 bits shift and sum are one anyway
  const bool sums = inst.op == Op::mad && (wide || inst.mods.mul == MulMode::hi);
  const unsigned halves = wide ? 2 : 1;
  return times(out, halves + (!sums ? 0 : !three_operands_ ? halves : extends ? 1 : 0), OpClass::int_alu);
}

// 64-bit integers in two registers.
Lowered Lowering::wide(const Inst& inst, Lowered out) const {
  switch (inst.op) {
    case Op::add:
    case Op::sub:
      if (inst.takes == Fold::wide && split_) return times(out, 1, OpClass::int_mul);
      // Product and sum at once: high and low half with carry; or, with 16-bit multipliers, shifts and adds
      // of an index.
      if (inst.takes == Fold::wide)
        return times(out, narrow_multiplier_ ? 3 : 2,
                     narrow_multiplier_ ? OpClass::int_alu : OpClass::int_mul);
      return times(out, 2, OpClass::int_alu);
    case Op::mul:
    case Op::mad:
      if (inst.mods.mul == MulMode::hi)
        return times(out, split_ ? 7 : narrow_multiplier_ ? 20 : 8, OpClass::int_mul);
      return times(out, split_ || !narrow_multiplier_ ? 4 : 10, OpClass::int_mul);
    case Op::min:
    case Op::max: return times(out, 4, OpClass::int_alu);
    case Op::abs: return times(out, 5, OpClass::int_alu);
    case Op::cvta:
    case Op::neg:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
    case Op::shl:
    case Op::shr:
    case Op::selp:
    case Op::slct:
    case Op::mov:
    case Op::setp:
    case Op::set: return times(out, 2, OpClass::int_alu);
    default: return out;
  }
}

Lowered Lowering::bits(const Inst& inst, Lowered out) const {
  const bool immediate = inst.src_count > 1 && inst.src[inst.src_count - 1].kind == ptx::OperandKind::imm;
  const bool wide = ptx::size_of(inst.type) == 8;
  switch (inst.op) {
    case Op::prmt: return times(out, 1, OpClass::int_alu);
    case Op::bfe:
    case Op::bfi:
    case Op::bmsk:
    case Op::szext:
      // Fields have instructions of their own up to 6.x, shifts and masks later.
      return times(out, (wide ? 2u : 1u) * (!split_ ? 1 : immediate ? 2 : 5), OpClass::int_alu);
    case Op::popc: return wide ? times(out, 3, OpClass::bit) : out;
    case Op::clz:
      out.part = OpClass::int_alu;
      out.count = wide ? 6 : 2;
      out.whole_latency = true;
      return out;
    case Op::brev: return wide ? times(out, 2, OpClass::bit) : out;
    default: return out;
  }
}

// A look-up with what keeps its argument in range: nothing where subnormal numbers count as zero.
Lowered Lowering::function(const Inst& inst, Lowered out) const {
  out.part = OpClass::fp32;
  out.whole_latency = true;
  const bool checks = !inst.mods.ftz && inst.type == ptx::Type::f32;
  switch (inst.op) {
    case Op::sin:
    case Op::cos: out.count = 2; return out;
    case Op::rcp: out.count = checks ? 8 : 1; return out;
    case Op::div: out.count = inst.mods.full ? 8 : checks ? 5 : 2; return out;
    case Op::ex2:
    case Op::lg2:
    case Op::sqrt:
    case Op::rsqrt: out.count = checks ? 4 : 1; return out;
    default: return out;
  }
}

// 32 bits: one instruction, or three with 16-bit multipliers, of which the file has rate and latency.
Lowered Lowering::multiply() const {
  if (!narrow_multiplier_) return times({}, 1, OpClass::int_mul);
  Lowered out = routine(OpClass::int_mul, OpClass::fp32, OpClass::fp32, 1);
  out.chain = false;
  return out;
}

Lowered Lowering::routine(OpClass op_class, OpClass part, OpClass rest, unsigned factor) const {
  constexpr double most = 80;
  // They depend on each other: a scheduler issues one of a warp in a cycle, however many it could.
  const double instructions_rate =
      std::min(part == rest ? rate(device_, part) : rate(device_, part) + rate(device_, rest),
               32.0 * device_.sm.issuing_schedulers());
  const double instructions = std::clamp(std::round(instructions_rate / rate(device_, op_class)), 1.0, most);
  Lowered out;
  out.rated = static_cast<std::uint8_t>(instructions);
  out.count = static_cast<std::uint8_t>(factor * out.rated);
  out.op_class = op_class;
  out.part = part;
  out.rest = rest;
  out.whole_latency = out.chain = true;
  return out;
}

}  // namespace simtlab::timing

// Extended precision: add, sub and mad with .cc, addc, subc, madc. The carry flag is one bit a lane; after a
// subtraction it is the borrow.
#include "exec/arith/product.h"
#include "exec/arith/select.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

using ptx::MulMode;
using ptx::Op;
using ptx::Type;

template <class T, bool subtract>
void add_rows(WarpCtx& w, const XInst& x, const std::byte* a, const std::byte* b) {
  using V = Vec<T, vector_bytes / sizeof(T)>;
  const u32 carry_in = x.inst->mods.cc_in ? w.carry : 0;
  std::byte* dst = w.row(x.dst);
  u32 carry_out = 0;
  for (unsigned i = 0; i < warp_lanes; i += lanes_of<V>) {
    const V left = load<V>(a, i), right = load<V>(b, i), one = (V)expand_bits<V>(carry_in, i) & 1;
    const V partial = subtract ? left - right : left + right;
    const V r = subtract ? partial - one : partial + one;
    const auto out = subtract ? (left < right) | (partial < one) : (partial < left) | (r < partial);
    carry_out |= pack_bits((AsS<V>)out) << i;
    store_active(w, dst, i, r);
  }
  if (x.inst->mods.cc_out) w.carry = (w.carry & ~w.mask) | (carry_out & w.mask);
}
template <class T, bool subtract>
void add_carry(WarpCtx& w, const XInst& x) {
  add_rows<T, subtract>(w, x, w.row(x.src[0]), w.row(x.src[1]));
}

// T: u32, s32, u64, s64. The flag comes from the addition alone.
template <class T, bool high>
void mad_carry(WarpCtx& w, const XInst& x) {
  using U = RowElem<T>;
  alignas(64) U product[warp_lanes];
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const T a = get<T>(w.row(x.src[0]), lane), b = get<T>(w.row(x.src[1]), lane);
    product[lane] =
        !high ? (U)a * (U)b
              : (U)((T(-1) < T(0) ? (u128)((s128)a * (s128)b) : (u128)a * (u128)b) >> (8 * sizeof(T)));
  }
  add_rows<U, false>(w, x, reinterpret_cast<const std::byte*>(product), w.row(x.src[2]));
}

}  // namespace

Handler select_carry(const ptx::Inst& inst) {
  const unsigned bytes = ptx_bytes(inst.type);
  const bool hi = inst.mods.mul == MulMode::hi;
  if (!inst.mods.cc_in && !inst.mods.cc_out) return nullptr;
  if ((bytes != 4 && bytes != 8) || inst.mods.sat || is_floating(inst.type) || inst.mods.mul == MulMode::wide)
    return nullptr;
  switch (inst.op) {
    case Op::add:
    case Op::addc: return bytes == 4 ? add_carry<u32, false> : add_carry<u64, false>;
    case Op::sub:
    case Op::subc: return bytes == 4 ? add_carry<u32, true> : add_carry<u64, true>;
    case Op::mad:
    case Op::madc:
      switch (inst.type) {
        case Type::u32: return hi ? mad_carry<u32, true> : mad_carry<u32, false>;
        case Type::s32: return hi ? mad_carry<s32, true> : mad_carry<u32, false>;
        case Type::u64: return hi ? mad_carry<u64, true> : mad_carry<u64, false>;
        case Type::s64: return hi ? mad_carry<s64, true> : mad_carry<u64, false>;
        default: return nullptr;
      }
    default: return nullptr;
  }
}

}  // namespace simtlab::exec::SIMTLAB_ISA

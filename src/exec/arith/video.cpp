// Video instructions: vadd .. vset on parts of 32-bit words, and their forms on two halves or four bytes.
// How the selectors are packed: ptx/video.h.
#include "ptx/video.h"

#include "exec/arith/select.h"

namespace simtlab::exec::SIMTLAB_ISA {
namespace {

using ptx::AtomOp;
using ptx::Compare;
using ptx::Op;
using ptx::Type;

bool compare_values(Compare compare, s64 a, s64 b) {
  switch (compare) {
    case Compare::eq: return a == b;
    case Compare::ne: return a != b;
    case Compare::lt:
    case Compare::lo: return a < b;
    case Compare::le:
    case Compare::ls: return a <= b;
    case Compare::gt:
    case Compare::hi: return a > b;
    default: return a >= b;
  }
}
s64 clamp_to(s64 v, unsigned bits, bool is_signed) {
  const s64 highest = (s64)((u64{1} << (bits - (is_signed ? 1 : 0))) - 1),
            lowest = is_signed ? -highest - 1 : 0;
  return v < lowest ? lowest : v > highest ? highest : v;
}
s64 extend(u32 v, unsigned at, unsigned bits, bool is_signed) {
  const u32 top = v << (32 - bits - at);
  return is_signed ? (s64)((s32)top >> (32 - bits)) : (s64)(top >> (32 - bits));
}

// Common to all forms: the types of a, b and the result.
struct Video {
  const ptx::Inst& inst;
  bool a_signed, b_signed, d_signed;
  explicit Video(const XInst& x) : inst(*x.inst) {
    const bool compares = inst.op == Op::vset || inst.op == Op::vset2 || inst.op == Op::vset4;
    a_signed = (compares ? inst.type : inst.stype) == Type::s32;
    b_signed = compares ? inst.stype == Type::s32 : (inst.mods.src_type_hi & ptx::video_b_signed) != 0;
    d_signed = !compares && inst.type == Type::s32;
  }
};

// vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset.
struct Scalar : Video {
  unsigned a_part, b_part, d_part;
  explicit Scalar(const XInst& x)
      : Video(x),
        a_part(ptx_selector(ptx::video_a_shift)),
        b_part(ptx_selector(ptx::video_b_shift)),
        d_part(ptx_selector(ptx::video_d_shift)) {}

  u32 operator()(u32 a, u32 b, u32 c) const {
    s64 v = compute(part(a, a_part, a_signed), part(b, b_part, b_signed));
    const unsigned bits = bits_of(d_part);
    if (inst.mods.sat) v = clamp_to(v, bits, d_signed);
    if (inst.mods.atom != AtomOp::none) return secondary((u32)v, c);
    if (d_part == 0) return (u32)v;
    const unsigned at = offset_of(d_part);
    const u32 mask = (bits == 8 ? 0xffu : 0xffffu) << at;
    return (((u32)v << at) & mask) | (c & ~mask);
  }

 protected:
  unsigned ptx_selector(unsigned shift) const { return inst.mods.video >> shift & 15u; }
  static unsigned bits_of(unsigned selector) { return selector == 0 ? 32 : selector <= 4 ? 8 : 16; }
  static unsigned offset_of(unsigned selector) {
    return selector == 0 ? 0 : selector <= 4 ? 8 * (selector - 1) : 16 * (selector - 5);
  }
  static s64 part(u32 v, unsigned selector, bool is_signed) {
    return extend(v, offset_of(selector), bits_of(selector), is_signed);
  }

 private:
  s64 compute(s64 a, s64 b) const {
    switch (inst.op) {
      case Op::vadd: return a + b;
      case Op::vsub: return a - b;
      case Op::vabsdiff: return a < b ? b - a : a - b;
      case Op::vmin: return a < b ? a : b;
      case Op::vmax: return a > b ? a : b;
      case Op::vset: return compare_values(inst.mods.compare, a, b) ? 1 : 0;
      default: return shift(a, (u32)b);
    }
  }
  // A left shift by 32 of a 33-bit value still has to saturate: it is cut to what 64 bits tell apart.
  s64 shift(s64 a, u32 by) const {
    const u32 n = inst.mods.wrap ? by & 31 : by > 32 ? 32 : by;
    if (inst.op == Op::vshr) return a >> n;
    const s128 wide = (s128)a << n, limit = (s128)1 << 62;
    if (!inst.mods.sat) return (s64)(u64)wide;
    return (s64)(wide > limit ? limit : wide < -limit ? -limit : wide);
  }
  u32 secondary(u32 v, u32 c) const {
    const bool less = d_signed ? (s32)v < (s32)c : v < c;
    switch (inst.mods.atom) {
      case AtomOp::add: return v + c;
      case AtomOp::min: return less ? v : c;
      default: return less ? c : v;
    }
  }
};

struct Vmad : Scalar {
  using Scalar::Scalar;
  u32 operator()(u32 a, u32 b, u32 c) const {
    const unsigned flags = inst.mods.src_type_hi;
    const bool negate_product = ((flags & ptx::video_neg_a) != 0) != ((flags & ptx::video_neg_b) != 0);
    const bool negate_c = (flags & ptx::video_neg_c) != 0;
    const bool is_signed = a_signed || b_signed || negate_product || negate_c;
    s128 v = (s128)part(a, a_part, a_signed) * part(b, b_part, b_signed);
    u32 low = 0;
    if ((flags & ptx::video_plus_one) != 0) {
      low = 1;
    } else if (negate_product) {
      v = ~v;
      low = 1;
    } else if (negate_c) {
      c = ~c;
      low = 1;
    }
    v += (is_signed ? (s128)(s32)c : (s128)c) + low;
    v >>= (flags & ptx::video_shr7) != 0 ? 7 : (flags & ptx::video_shr15) != 0 ? 15 : 0;
    if (inst.mods.sat) {
      const s128 highest = is_signed ? 0x7fffffff : 0xffffffffll, lowest = is_signed ? -highest - 1 : 0;
      v = v > highest ? highest : v < lowest ? lowest : v;
    }
    return (u32)(u64)v;
  }
};

// parts: 2 halves or 4 bytes; each part of the operands is chosen among the parts of a and b.
template <unsigned parts>
struct Simd : Video {
  using Video::Video;
  u32 operator()(u32 a, u32 b, u32 c) const {
    constexpr unsigned bits = 32 / parts;
    const bool accumulate = inst.mods.atom == AtomOp::add;
    u32 d = accumulate ? c : 0;
    for (unsigned i = 0; i < parts; ++i) {
      const u32 mask = (u32)((u64{1} << bits) - 1) << (bits * i);
      const bool written = (inst.mods.video >> i & 1) != 0;
      if (!written) {
        if (!accumulate) d |= c & mask;
        continue;
      }
      s64 v = compute(pick(a, b, inst.mods.video >> (4 + 3 * i) & 7, a_signed),
                      pick(a, b, inst.mods.video >> (16 + 3 * i) & 7, b_signed));
      if (inst.mods.sat) v = clamp_to(v, bits, d_signed);
      if (accumulate)
        d += (u32)v;
      else
        d |= ((u32)v << (bits * i)) & mask;
    }
    return d;
  }

 private:
  static s64 pick(u32 a, u32 b, unsigned selector, bool is_signed) {
    constexpr unsigned bits = 32 / parts;
    return extend(selector < parts ? a : b, bits * (selector % parts), bits, is_signed);
  }
  s64 compute(s64 a, s64 b) const {
    switch (inst.op) {
      case Op::vadd2:
      case Op::vadd4: return a + b;
      case Op::vsub2:
      case Op::vsub4: return a - b;
      case Op::vavrg2:
      case Op::vavrg4: return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
      case Op::vabsdiff2:
      case Op::vabsdiff4: return a < b ? b - a : a - b;
      case Op::vmin2:
      case Op::vmin4: return a < b ? a : b;
      case Op::vmax2:
      case Op::vmax4: return a > b ? a : b;
      default: return compare_values(inst.mods.compare, a, b) ? 1 : 0;
    }
  }
};

}  // namespace

Handler select_video(const ptx::Inst& inst) {
  const Op op = inst.op;
  if (op == Op::vmad) return each<Vmad, u32, u32, u32, u32>;
  if (op >= Op::vadd2 && op <= Op::vset2) return each<Simd<2>, u32, u32, u32, u32>;
  if (op >= Op::vadd4 && op <= Op::vset4) return each<Simd<4>, u32, u32, u32, u32>;
  return op >= Op::vadd && op <= Op::vset ? each<Scalar, u32, u32, u32, u32> : nullptr;
}

}  // namespace simtlab::exec::SIMTLAB_ISA

// Elementary functions on vectors of doubles, accurate to far better than f32 needs. The same operations in
// the same order for every instruction set (no fused multiply-adds), so the same bits.
#pragma once

#include "exec/arith/float.h"

namespace simtlab::exec::SIMTLAB_ISA {

// c[0] + c[1] x + ...
template <class D, unsigned n>
SIMTLAB_INLINE D polynomial(D x, const double (&c)[n]) {
  D r = splat<D>(c[n - 1]);
  for (unsigned i = n - 1; i-- > 0;) r = r * x + splat<D>(c[i]);
  return r;
}
// The low bits of an integral value below 2^51, as an integer.
template <class D>
SIMTLAB_INLINE AsU<D> integer_bits(D v) {
  return (AsU<D>)(v + splat<D>(0x1.8p52));
}

// 2^x of doubles; x beyond the f32 range is clamped to where f32 gives infinity or zero.
template <class D>
SIMTLAB_INLINE D exp2_of(D x) {
  x = x < splat<D>(-160.0) ? splat<D>(-160.0) : x;
  x = x > splat<D>(130.0) ? splat<D>(130.0) : x;
  const D n = round_integral(x, Integral::nearest);
  const D f = (x - n) * splat<D>(0x1.62e42fefa39efp-1);
  const D power = polynomial(
      f, {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880});
  const D scale = (D)((integer_bits(n) + 1023) << 52);
  return power * scale;
}
// tanh from e^(2|x|), and from the series where that would cancel.
template <class D>
SIMTLAB_INLINE D tanh_of(D x) {
  using U = AsU<D>;
  const U sign = (U)x & Layout<D>::sign;
  D y = (D)((U)x ^ sign);
  y = y > splat<D>(20.0) ? splat<D>(20.0) : y;
  const D e = exp2_of(y * splat<D>(0x1.71547652b82fep1));
  const D large = (e - splat<D>(1.0)) / (e + splat<D>(1.0));
  const D small = y - y * y * y * splat<D>(1.0 / 3);
  const D r = blend((AsS<D>)(y < splat<D>(0x1p-10)), small, large);
  return (D)((U)r | sign);
}

}  // namespace simtlab::exec::SIMTLAB_ISA

// Instructions of PTX that no hardware has become sequences of others.
//
// What expand() leaves, where it is not plain what it becomes:
//   rcp, sqrt, rsqrt, lg2, ex2 .approx.ftz.f32     MUFU.RCP, SQRT, RSQ, LG2, EX2 (all flush)
//   sin, cos .approx.ftz.f32 with Mods::turns      MUFU.SIN, COS
//   tanh.approx.f32                                MUFU.TANH
//   ex2, tanh of f16, bf16 (not of pairs)          MUFU.EX2, TANH .F16, .BF16
//   testp.f32 with Mods::testp = 6, (a, b)         FCHK p, a, b
//   rcp, rsqrt .approx.ftz.f64                     low word 0, high word MUFU.RCP64H, RSQ64H of the high one
//   min, max .f64                                  DSETP.MIN, MAX p, q, a, b; both words of p ? a : b, and
//   where
//                                                  q of the NaN 0x7ff8000000000000
//   sad of 32 bits                                 VABSDIFF
//   vabsdiff4 without signs, of all bytes          VABSDIFF4 (.ACC)
//   szext, bmsk (clamp or wrap)                    SGXT, BMSK
//   popc.b32, bfind.u32, .s32, brev.b32            POPC, FLO (.SH: Mods::shift_amount), BREV
//   set of pairs of halves                         HSET2
//   min, max .relu.s32, .u16x2, .s16x2 on sm_90    VIMNMX
//   mul.lo, mad.lo, add, sub, setp, selp, shl, shr, logic of 64 bits; add, sub, neg, logic, shl, shr, setp,
//   selp, mov of 16 bits; chains of carries; cvt; atomics on global memory and on generic addresses; of
//   shared memory those of ATOMS: 32-bit integers, exch and cas of 64 bits
//
// Signs are instructions (neg, abs) in front of their one user, 64-bit values are taken apart and put
// together by mov: selection makes both part of operands. Code for rare operands stands behind the kernel's
// last instruction, so that this is a branch.
#pragma once

#include <string>

#include "ptx/decode.h"

namespace simtlab::assembler {

// Changes a kernel, over virtual registers, in place. What it leaves has an instruction (or a few without
// branches) of the generation. False: it holds something that is not done yet, named in `why`.
bool expand(ptx::VirtualFunction& function, unsigned generation, std::string& why);

}  // namespace simtlab::assembler

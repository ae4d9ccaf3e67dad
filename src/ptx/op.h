// Base opcodes and the classes by which the timing model knows them.
#pragma once

#include <cstdint>
#include <string_view>

#include "device/op_class.h"

namespace simtlab::ptx {

// Base operation of an instruction. Types and modifiers are in Inst.
enum class Op : std::uint16_t {
  // integer and logic
  add,
  sub,
  mul,
  mad,
  mad24,
  mul24,
  addc,
  subc,
  madc,
  sad,
  div,
  rem,
  abs,
  neg,
  min,
  max,
  popc,
  clz,
  bfind,
  fns,
  brev,
  bfe,
  bfi,
  bmsk,
  szext,
  dp4a,
  dp2a,
  and_,
  or_,
  xor_,
  not_,
  cnot,
  lop3,
  shl,
  shr,
  shf,
  prmt,
  // floating point (add, sub, mul, div, abs, neg, min, max above serve every type)
  fma,
  rcp,
  sqrt,
  rsqrt,
  sin,
  cos,
  lg2,
  ex2,
  tanh,
  testp,
  copysign,
  // comparison, selection, movement
  set,
  setp,
  selp,
  slct,
  mov,
  cvt,
  cvta,
  isspacep,
  mapa,
  // warp
  shfl,
  vote,
  match,
  activemask,
  redux,
  elect,
  // memory
  ld,
  st,
  ldu,
  atom,
  red,
  prefetch,
  prefetchu,
  applypriority,
  discard,
  createpolicy,
  cp_async,
  cp_async_commit,
  cp_async_wait,
  membar,
  fence,
  tex,
  tld4,
  suld,
  sust,
  txq,
  // control
  bra,
  brx,
  call,
  ret,
  exit,
  trap,
  brkpt,
  nanosleep,
  bar,
  bar_warp,
  barrier_cluster,
  pmevent,
  setmaxnreg,
  griddepcontrol,
  // Call of vprintf, recognised at decode: src = {format address, argument buffer address}, dst = {result}
  vprintf,
  assertfail,  // call of __assertfail: src = {message, file, line, function, char size}
  heap_alloc,  // call of malloc: src = {bytes}, dst = {address}
  heap_free,   // call of free: src = {address}
  // video (scalar SIMD) instructions
  vadd,
  vsub,
  vabsdiff,
  vmin,
  vmax,
  vshl,
  vshr,
  vmad,
  vset,
  vadd2,
  vsub2,
  vavrg2,
  vabsdiff2,
  vmin2,
  vmax2,
  vset2,
  vadd4,
  vsub4,
  vavrg4,
  vabsdiff4,
  vmin4,
  vmax4,
  vset4,
  nop,
  // Machine code's, for the sums and moves that take several instructions of PTX (ptx/machine_ops.h)
  iadd3,      // d, p, q = a + b + c and carries; p: the sum carries, q: it carries twice
  imad,       // d = a * b + c, product or addend negated
  imad_wide,  // d:e, p = a * b + c:f and a carry, registers (low, high); p: it carries
  lea,        // d, p = (a << n) + b and a carry, or the high word of c:a << n in place of a << n
  xmad,       // product of halves of a and b, plus what the mode makes of c and b (ptx/machine_ops.h)
  shf_wide,   // d = the low (video: 1: high) word of c:a shifted by b bits, up to 64
  setp_ex,    // p, q: comparison of high words a and b that goes on with r, the one of the low words
  plop3,      // p, q = two tables over three predicates, in bits 0 to 7 and 8 to 15
  p2r,        // d = a with predicates in some of its bits
  r2p,        // predicates from bits of a
  broadcast,  // d = a (or a predicate) of the lowest active lane, written for all lanes
  count_,
};
std::string_view name_of(Op op);  // PTX spelling: "cp.async", "and"

// What the models tell apart: device/op_class.h has the classes and what is known of each.
using device::accesses;
using device::accesses_memory;
using device::name_of;
using device::OpClass;

}  // namespace simtlab::ptx

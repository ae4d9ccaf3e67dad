// Base opcodes and the classes by which the timing model knows them.
#pragma once

#include <cstdint>
#include <string_view>

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
  count_,
};
std::string_view name_of(Op op);  // PTX spelling: "cp.async", "and"

// What the timing model distinguishes; each class has a latency and a rate in the device file
// ([latency] and [throughput] with these names as keys).
enum class OpClass : std::uint8_t {
  int_alu,  // integer add, sub, logic, compare, select, move, shift, min/max, 24-bit-free
  int_mul,  // integer multiply, multiply-add, sad, dp4a
  int_div,  // integer division and remainder (a sub-routine on every GPU)
  bit,      // popc, clz, bfind, brev, bfe, bfi, prmt
  fp16,
  fp32,
  fp32_div,  // IEEE division in f32
  // IEEE square root and reciprocal: of one length on every generation that was measured, shorter than a
  // division
  fp32_sqrt,
  fp64,
  fp64_div,
  fp64_sqrt,
  sfu,        // approximate rcp, rsqrt, sin, cos, lg2, ex2, tanh, sqrt.approx
  convert,    // conversions between types of up to 32 bits
  convert64,  // conversions from or to 64-bit types
  shuffle,    // shfl, match, redux
  vote,       // vote, activemask, elect
  control,    // branches, call, ret, exit, nanosleep
  barrier,
  fence,
  load,  // ld from global, local or generic space
  store,
  shared,    // ld, st in shared space
  constant,  // ld from constant or param space
  atomic,    // atom, red in global or generic space
  shared_atomic,
  texture,
  async_copy,
  count_,
};
std::string_view name_of(OpClass c);  // "fp32_div"

// Whether instructions of the class go to the load-store unit: the last classes of the list do.
constexpr bool accesses_memory(OpClass c) { return c >= OpClass::load && c < OpClass::count_; }

}  // namespace simtlab::ptx

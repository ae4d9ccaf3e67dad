// Vocabulary of PTX: types, state spaces, modifiers. Names follow the PTX ISA manual.
#pragma once

#include <cstdint>
#include <string_view>

namespace simtlab::ptx {

enum class Type : std::uint8_t {
  none,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  u16x2,
  s16x2,
  e4m3x2,
  e5m2x2,
  pred,
  texref,
  samplerref,
  surfref,
};

// Size of a value of the type in bytes; pred 0, none 0, references 8.
unsigned size_of(Type type);
bool is_float(Type type);
bool is_signed(Type type);
bool is_bits(Type type);  // b8 ... b128
// Whether a register of one type may stand where a value of the other is wanted, sizes aside: untyped bits
// agree with everything, integers with integers of either sign, floating-point types with themselves only.
bool agree(Type a, Type b);
// "s32"; empty for none.
std::string_view name_of(Type type);

enum class Space : std::uint8_t { generic, reg, sreg, param, local, shared, global, constant, tex };
std::string_view name_of(Space space);

enum class Rounding : std::uint8_t { none, rn, rz, rm, rp, rna, rni, rzi, rmi, rpi };
enum class Compare : std::uint8_t {
  none,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  lo,
  ls,
  hi,
  hs,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan
};
enum class BoolOp : std::uint8_t { none, and_, or_, xor_ };
enum class MulMode : std::uint8_t { none, lo, hi, wide };
enum class AtomOp : std::uint8_t { none, add, min, max, inc, dec, and_, or_, xor_, exch, cas };
enum class ShflMode : std::uint8_t { none, up, down, bfly, idx };
enum class VoteMode : std::uint8_t { none, all, any, uni, ballot };
enum class CacheOp : std::uint8_t { none, ca, cg, cs, lu, cv, wb, wt, nc };
enum class Scope : std::uint8_t { none, cta, cluster, gpu, sys };
enum class MemOrder : std::uint8_t { weak, volatile_, relaxed, acquire, release, acq_rel, sc, mmio };
enum class PrmtMode : std::uint8_t { none, f4e, b4e, rc8, ecl, ecr, rc16 };
enum class BarMode : std::uint8_t { none, sync, arrive, red_popc, red_and, red_or };
enum class Geometry : std::uint8_t { none, d1, d2, d3, a1d, a2d };

// Special registers. Components of vectors are separate entries.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  total_smem_size,
  dynamic_smem_size,
  aggr_smem_size,
  reserved_smem_offset_begin,
  reserved_smem_offset_end,
  reserved_smem_offset_cap,
  is_explicit_cluster,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  current_graph_exec,
  pm0,
  envreg0,  // %pm0..7 and %envreg0..31 read as 0
  zero,     // the .w component of vector special registers
  count_,
};

}  // namespace simtlab::ptx

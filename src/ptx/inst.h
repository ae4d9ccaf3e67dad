// The executable form of a kernel: flat arrays of decoded instructions over dense register slots.
//
// Produced once by ptx::decode; read by exec (to choose a handler), by timing (dependences, class) and by
// predict. Nothing here refers back to text: names are resolved to slots, offsets and indices.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ptx/op.h"
#include "ptx/types.h"

namespace simtlab::ptx {

// Where a value lives.
enum class OperandKind : std::uint8_t {
  none,
  reg,      // index = slot in units of 32-bit rows of a warp; 64-bit values take 2 rows from an even slot;
            // 8- and 16-bit registers take one row, zero-extended
  pred,     // index = predicate number (32 lanes in one 32-bit word per warp); `negated` = !p
  imm,      // index = entry of Function::constants (raw bits of the value, as wide as the operand's type)
  special,  // index = Special
  sink,     // the '_' operand: the value is not wanted
};

struct Operand {
  OperandKind kind = OperandKind::none;
  std::uint8_t bytes = 0;  // width of the register: 0 (pred), 1, 2, 4, 8, 16
  bool negated = false;    // predicates only
  std::uint32_t index = 0;
  bool operator==(const Operand&) const = default;
};

// A constant used by instructions. Immediate numbers and addresses of symbols alike.
struct Constant {
  enum class Kind : std::uint8_t {
    value,          // `value` is the raw bits
    global_symbol,  // address of Module::variables[symbol] (+ value), known when the module is loaded
    function,       // handle of Module::functions[symbol] for indirect calls
    launch_state,   // machine code: byte `value` of constant bank 0, known when the kernel is launched
  };
  Kind kind = Kind::value;
  std::uint32_t symbol = 0;
  std::uint64_t value = 0;
  bool operator==(const Constant&) const = default;
};

// Modifiers that are not types. One flat struct: decode fills it, exec reads it once when it picks a handler.
struct Mods {
  Rounding rounding = Rounding::none;
  Compare compare = Compare::none;
  BoolOp bool_op = BoolOp::none;
  MulMode mul = MulMode::none;
  AtomOp atom = AtomOp::none;
  ShflMode shfl = ShflMode::none;
  VoteMode vote = VoteMode::none;
  CacheOp cache = CacheOp::none;
  Scope scope = Scope::none;
  MemOrder order = MemOrder::weak;
  PrmtMode prmt = PrmtMode::none;
  BarMode bar = BarMode::none;
  Geometry geometry = Geometry::none;
  Space space = Space::generic;  // ld/st/atom/cvta/isspacep/prefetch/cp.async
  std::uint8_t vector = 1;       // .v2 .v4 .v8
  bool ftz = false, sat = false, approx = false, full = false, relu = false, nan = false, xorsign = false,
       abs = false;
  bool uni = false;                    // .uni branch or call
  bool to = false;                     // cvta.to.SPACE
  bool cc_in = false, cc_out = false;  // addc/subc/madc read, .cc writes the carry flag
  bool shift_amount = false;           // bfind.shiftamt
  bool left = false, wrap = false;     // shf.l / shf.r, .wrap / .clamp (clamp = !wrap)
  bool turns = false;                  // machine code: sin and cos of an angle in turns
  bool all = false;                    // match.all
  bool aligned = false;                // barrier.sync.aligned
  bool wait_all = false;               // cp.async.wait_all
  bool behind_copies = false;          // an arrival (ptx/machine_ops.h) once the copies before are done
  std::uint8_t testp = 0;  // 0 finite 1 infinite 2 number 3 notanumber 4 normal 5 subnormal 6 slow division
  std::uint8_t lut = 0;    // lop3 immLut
  // cp.async: 4, 8, 16 (source size operand, if any, is src[2]); 0: a bulk copy of src[2] bytes, to `space`
  std::uint8_t copy_bytes = 0;
  std::uint8_t src_type_hi = 0;  // dp2a.hi; video: encoded selectors (ptx/decode documents them)
  std::uint32_t video = 0;       // video instructions: packed selectors, see ptx/decode_video
  bool operator==(const Mods&) const = default;
};

// One argument of a call: copied between the caller's frame and the callee's formal parameter.
struct CallArg {
  Operand reg;  // register argument, or
  // Byte offset of a .param variable in the caller's frame (if reg.kind == none)
  std::uint32_t caller_offset = 0;
  std::uint32_t callee_offset = 0;  // byte offset of the formal in the callee's frame
  std::uint32_t bytes = 0;
};

struct CallSite {
  bool indirect = false;
  std::uint32_t function = 0;             // direct: index in Module::functions
  Operand pointer;                        // indirect: 64-bit (or 32) register with a function handle
  std::vector<std::uint32_t> candidates;  // indirect: functions that match the prototype or target list
  std::vector<CallArg> args;
  std::vector<CallArg>
      returns;  // copied back from the callee's frame when it returns.
                // For indirect calls offsets hold for every candidate: decode gives all functions
                // of one prototype the same frame layout for formals (returns first, then params, in order).
};

// Why an instruction is none in machine code (ptx/fold.h).
enum class Fold : std::uint8_t {
  none,
  // A constant, a parameter, a copy that keeps its source's register: what uses it reads that; saturation of
  // the result before; a jump that a layout saves
  operand,
  address,    // register + constant: the sum is in the offset of the accesses that use it
  product,    // of integers, taken in by a sum: multiply-add
  wide,       // 32 x 32 -> 64 bit product, taken in by 64-bit sums
  shift,      // left, by a constant: taken in by a sum
  sum,        // taken in by another sum: three operands
  logic,      // taken in by another logic operation: three operands
  sign,       // negation or absolute value: a modifier of the operand
  predicate,  // and, or of predicates: part of the comparison before it
  count_,
};

inline constexpr std::uint32_t no_pc = 0xffffffffu;
inline constexpr std::size_t max_dst = 8;
inline constexpr std::size_t max_src = 10;

// One decoded instruction.
// Operand order is PTX's: dst first (setp: dst[0] = p, dst[1] = q), then sources (a, b, c, d).
//   ld:   dst[0..vector), src[0] = address base (reg/imm), imm_offset added to it.
//   st:   src[0] = address base, src[1..1+vector) = values.   atom/red: src[0] = address, src[1] = b, src[2]
//   = c (cas). mov of vectors: mov.b64 {a,b}, c: several dst, one src (unpack); mov.b64 d, {a,b}: one dst,
//   several src (pack). bra: target, reconverge. brx.idx: src[0] = index, `targets` in
//   Function::branch_tables[table]. bar: src[0] = barrier, src[1] = thread count (none = all), src[2] =
//   predicate (red). tex: dst[0..4), src[0] = texture (64-bit handle or imm symbol), src[1] = sampler or
//   none, src[2..] = coordinates. ld.param/st.param: kernel parameters: space param in an entry: src[0] is
//   imm byte offset in the parameter block.
//     Parameters of device functions and .param variables of call sites live in the frame: decode rewrites
//     these accesses to space local with frame_relative = true.
//   mov of the address of a .local or .param variable, cvta of it: src[0] = imm offset in the frame and
//   frame_relative = true:
//     the result is the frame's place in local memory plus the constant.
//   cp.async: src[0] = shared address (+ imm_offset), src[1] = global address, src[2] = bytes read (optional,
//   the rest is zero). vote, selp, bar.red ...: predicate sources are registers; constants were replaced by a
//   setp in front. vprintf: see Op.
struct Inst {
  Op op = Op::nop;
  OpClass op_class = OpClass::int_alu;
  Type type = Type::none;  // destination / main type (last type of the opcode for add etc.)
  // Source type where it differs (cvt, setp: operand type is `type`; set: stype; mul.wide: type is source,
  // dst twice as wide)
  Type stype = Type::none;
  Mods mods;
  Operand guard;  // kind none = always
  std::uint8_t dst_count = 0, src_count = 0;
  bool frame_relative = false;  // address operand is relative to the current frame's local memory
  // Into what it disappears, and what it takes in; execution does not look at them
  Fold fold = Fold::none;
  Fold takes = Fold::none;
  bool low_half = false;  // nobody looks at the upper half of the 64-bit result
  bool shifts = false;    // a product by a power of two that the assembler knows
  std::array<Operand, max_dst> dst{};
  std::array<Operand, max_src> src{};
  std::int64_t imm_offset = 0;  // added to src[0] of memory instructions
  // Bra: pc in the same function; brx: index in branch_tables; call: index in call_sites
  std::uint32_t target = no_pc;
  std::uint32_t reconverge = no_pc;    // bra/brx: pc of the immediate post-dominator; no_pc = function end
  std::uint32_t line = 0, column = 0;  // in the PTX text
  // From .loc: index in Module::files (0 = none, else file number), line
  std::uint32_t file = 0, source_line = 0;
};

inline bool is_bulk_copy(const Inst& inst) { return inst.op == Op::cp_async && inst.mods.copy_bytes == 0; }

}  // namespace simtlab::ptx

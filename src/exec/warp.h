// The contract between the interpreter and its instruction handlers.
//
// A handler executes one warp instruction on 32 lanes. Operands are rows: 32 consecutive 32-bit words (128
// bytes) for values of up to 32 bits, 32 consecutive 64-bit words (256 bytes) for 64-bit values. Immediates
// and special registers are rows too, so a handler never asks what kind of operand it has. Handlers are
// compiled once per instruction set (baseline, avx2, avx512) from the same sources, each in its own
// namespace, and chosen when a module is loaded; no std:: templates may be instantiated in those files (the
// linker would keep one copy, perhaps the AVX-512 one, for everybody).
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/inst.h"

// Inlined even without optimisation: no shared copy of code that was compiled for one instruction set.
#define SIMTLAB_INLINE [[gnu::always_inline]] inline

namespace simtlab::exec {

struct MachineStep;
struct WarpCtx;
struct XInst;
using Handler = void (*)(WarpCtx&, const XInst&);

// Reference to an operand row: byte offset from a base; the low two bits select the base (offsets are
// multiples of 128). A 128-bit register is two consecutive 64-bit rows: the low halves of all lanes, then the
// high halves.
using RowRef = std::uint32_t;
// Reference to a predicate: index * 2 + negated; no_pred if absent.
using PredRef = std::uint16_t;
inline constexpr PredRef no_pred = 0xffff;

// Executable instruction, one a ptx::Inst, same index. 64 bytes.
// How operands are bound: destinations in PTX order, rows to dst, dst2 and predicates to pdst, pdst2; sources
// in PTX order, rows to src[], predicates to psrc[]. So shfl d|p has dst and pdst, setp p|q has pdst and
// pdst2, selp has src[0], src[1] and psrc[0]. A sink is a scratch row or a scratch predicate: destinations
// that the instruction has are never no_pred. An immediate predicate is a PredRef, too.
struct XInst {
  Handler fn = nullptr;
  const ptx::Inst* inst = nullptr;  // everything that a handler does not need in its inner loop
  RowRef dst = 0, dst2 = 0;         // sink operands point to a scratch row
  RowRef src[4] = {0, 0, 0, 0};
  PredRef pdst = no_pred, pdst2 = no_pred;  // predicate results (setp p|q, vote, shfl d|p)
  PredRef psrc[2] = {no_pred, no_pred};     // predicate sources (selp, setp.and c, bar.red, vote)
  PredRef guard = no_pred;
  std::uint16_t kind =
      0;  // how the interpreter treats it (plain, memory, control, barrier ...): exec/interpreter.h
  // All operands as rows, if dst, dst2 and src do not hold them (more than 2 destinations or 4 sources):
  // inst->dst_count destinations, then sources, at WarpCtx::list(x). 0: no list.
  std::uint32_t list = 0;
  union {
    std::int64_t imm = 0;  // address offset; free for other handlers
    // Machine code of several operations, or with control flow: run_operations(), flow() (exec/state.h)
    const MachineStep* machine;
  };
};
static_assert(sizeof(XInst) == 64);

struct MemoryView;
struct Look;

// The running warp as handlers see it. 64-byte aligned.
struct alignas(64) WarpCtx {
  std::uint32_t lanes[32];  // expanded mask, 0 or ~0 a lane: always the expansion of `mask`
  // [0] register rows of the frame (64-byte aligned), [1] constant rows of the function, [2] special
  // registers of the warp, [3] scratch of the block: sinks, which nobody reads
  std::byte* bases[4] = {nullptr, nullptr, nullptr, nullptr};
  std::uint32_t* preds = nullptr;  // predicate words of the frame
  std::uint32_t mask = 0;          // lanes that execute this instruction (active and guard)
  std::uint32_t carry = 0;         // CC.CF, one bit a lane
  void* block = nullptr;           // Block::Impl of the warp, for memory and special handlers
  std::uint32_t warp = 0;          // warp in block
  // Memory instructions: where the handler leaves the lanes' addresses, and what it found out about them (as
  // in exec::Step).
  std::uint64_t* addresses = nullptr;
  std::uint64_t* addresses2 = nullptr;
  MemoryView* memory = nullptr;  // exec/memops/view.h
  std::byte* local = nullptr;    // local memory of lane 0; the other lanes follow at MemoryView::local_stride
  std::uint32_t frame_offset = 0;  // of the current frame in each lane's local memory
  ptx::Space space = ptx::Space::generic;

  SIMTLAB_INLINE std::byte* row(RowRef ref) const { return bases[ref & 3u] + (ref & ~3u); }
  SIMTLAB_INLINE const RowRef* list(const XInst& x) const {
    return reinterpret_cast<const RowRef*>(bases[1] + x.list);
  }
  SIMTLAB_INLINE std::uint32_t* row32(RowRef ref) const { return reinterpret_cast<std::uint32_t*>(row(ref)); }
  SIMTLAB_INLINE std::uint64_t* row64(RowRef ref) const { return reinterpret_cast<std::uint64_t*>(row(ref)); }
  SIMTLAB_INLINE std::uint32_t pred(PredRef ref) const {
    const std::uint32_t v = preds[ref >> 1];
    return (ref & 1u) ? ~v : v;
  }
  // Writes only the active lanes.
  SIMTLAB_INLINE void set_pred(PredRef ref, std::uint32_t value) {
    std::uint32_t& p = preds[ref >> 1];
    p = (p & ~mask) | (value & mask);
  }
};

// Handler selection, one pair a set of instructions. Null: not an instruction of that family.
// Arithmetic: everything that only reads and writes rows and predicates of its own warp: integer, floating
// point, conversion, comparison, selection, mov, shfl, vote, match, redux, activemask, video, prmt ... The
// interpreter does control flow, calls, barriers and printf. Memory: ld, st, atom, red, tex, cp.async,
// prefetch.
// look: the addresses of a memory instruction of PTX (ld, st, atom, red), which it leaves in the context as
// the instruction would; throws the fault that it would.
#define SIMTLAB_DECLARE_ISA(isa)                                                               \
  namespace isa {                                                                              \
  Handler select_arithmetic(const ptx::Inst& inst);                                            \
  Handler select_memory(const ptx::Inst& inst);                                                \
  void look(WarpCtx& ctx, const XInst& x, unsigned bytes, bool writes, Look& out);             \
  }
SIMTLAB_DECLARE_ISA(baseline)
SIMTLAB_DECLARE_ISA(avx2)
SIMTLAB_DECLARE_ISA(avx512)
#undef SIMTLAB_DECLARE_ISA

}  // namespace simtlab::exec

// What memory handlers see of a block's memories, and the slow paths they call. Plain data: included by code
// compiled for several instruction sets.
#pragma once

#include <cstdint>

#include "exec/warp.h"

namespace simtlab::exec {

class Cluster;
class GlobalMemory;
class LateArrivals;
class OutsideAccesses;
class StoreBuffer;

// Addresses [low, high) known to lie in one allocation. Empty: low = 1, high = 0.
struct Bounds {
  std::uint64_t low, high;
};

// Bounds are cached per static instruction, since one instruction mostly stays inside one array.
// Those of a function take the slots by turns, in their order: the upper bits of XInst::kind.
inline constexpr unsigned bounds_slots = 64, bounds_slot_shift = 10;  // above the flags of exec/interpreter.h

struct MemoryView {
  std::uint64_t global_delta = 0;  // host address = device address + global_delta (modulo 2^64)
  std::byte* shared = nullptr;
  std::uint64_t shared_bytes = 0;
  std::uint32_t* locks = nullptr;    // of shared memory, a bit each (ptx::takes_lock)
  std::uint64_t shared_first = 0;    // address of its first byte: of a block in a cluster its rank
  const Cluster* cluster = nullptr;  // whose blocks' shared memory has addresses, too; null: there is none
  std::byte* param = nullptr;
  std::uint64_t param_bytes = 0;
  std::uint64_t local_stride = 0;  // bytes from one lane's local memory to the next one's
  std::uint64_t local_bytes = 0;   // bytes a lane may touch
  GlobalMemory* global = nullptr;
  StoreBuffer* buffer = nullptr;       // null: stores and atomics act on memory at once
  OutsideAccesses* outside = nullptr;  // null: an access outside of every allocation is a fault
  LateArrivals* late = nullptr;        // null: copies are done when they are issued
  Bounds read[bounds_slots], write[bounds_slots];
  alignas(64) std::uint64_t hosts[32];  // scratch of the handlers

  SIMTLAB_INLINE Bounds& bounds(const XInst& x, bool writes) {
    const unsigned slot = x.kind >> bounds_slot_shift;
    return writes ? write[slot] : read[slot];
  }
  void forget_bounds();
};

// Where the lanes of a memory instruction go: what a checker asks before the instruction is executed.
struct Look {
  enum class Lie : std::uint8_t {
    together,
    side_by_side,
    anywhere
  };                                       // side by side: lane i at the i-th place
  ptx::Space space = ptx::Space::generic;  // generic: lanes differ
  Lie lie = Lie::anywhere;
  const std::uint64_t* hosts = nullptr;  // host address of each active lane's data
};
using LookHandler = void (*)(WarpCtx& ctx, const XInst& x, unsigned bytes, bool writes, Look& out);

// Bounds of the allocation that holds the whole access; false if there is none or it may not be written.
bool find_bounds(const MemoryView& memory, std::uint64_t address, unsigned bytes, bool writes,
                 Bounds& bounds);

// Where the data of a prepared access to global memory is while an SM keeps its stores to itself. none: in
// memory; one: all of it in one line of the buffer, host address = device address + delta; many:
// MemoryView::hosts has the lanes' addresses. ordered: the active lanes' addresses do not decrease.
enum class OwnLines : std::uint8_t { none, one, many };
OwnLines own_lines_to_read(WarpCtx& ctx, bool ordered, std::uint64_t& delta);
OwnLines own_lines_to_write(WarpCtx& ctx, unsigned bytes, bool ordered, std::uint64_t& delta);
// Keeps the lanes of an atomic that are in global memory for later; returns the others. operand_bytes: of a
// lane in a row.
std::uint32_t defer_atomic(WarpCtx& ctx, const XInst& x, unsigned operand_bytes);
// Keeps an arrival at a barrier in shared memory until the copies of the warp are done
// (exec/late_arrivals.h): `next` begins those of an instruction. apply: the new state, of the old one and b.
using ApplyArrival = std::uint64_t (*)(std::uint64_t state, std::uint64_t b);
void next_late_arrivals(WarpCtx& ctx);
void keep_late_arrival(WarpCtx& ctx, std::uint64_t host, ApplyArrival apply, std::uint64_t b);
// Host address of one lane's global data to read.
std::uint64_t host_to_read(const MemoryView& memory, std::uint64_t address);

// Throws the Fault that describes the access of one lane. ctx.space is the space.
[[noreturn]] void bad_access(WarpCtx& ctx, const XInst& x, unsigned lane, unsigned bytes, bool writes);
// An aligned access of one lane that no allocation holds. Where such accesses go on (exec/outside.h) the lane
// is given another address, or keeps its own (false); else it is a fault.
bool outside_access(WarpCtx& ctx, const XInst& x, unsigned lane, unsigned bytes, bool writes);
// An address in the shared memory of a cluster, or a variable's, which says no rank: true if the lane may
// access it. Only with MemoryView::cluster.
bool reaches_cluster(WarpCtx& ctx, const XInst& x, unsigned lane, unsigned bytes);
// The same of one that is not aligned. (true)
bool misaligned_access(WarpCtx& ctx, const XInst& x, unsigned lane, unsigned bytes, bool writes);
void forget_outside(MemoryView& memory);  // after an atomic, with MemoryView::outside

// Handlers that exist once.
void handle_texture(WarpCtx& ctx, const XInst& x);
void handle_bulk_copy(WarpCtx& ctx, const XInst& x);
void handle_print(WarpCtx& ctx, const XInst& x);
void handle_heap_alloc(WarpCtx& ctx, const XInst& x);
void handle_heap_free(WarpCtx& ctx, const XInst& x);
void handle_assert(WarpCtx& ctx, const XInst& x);
void handle_trap(WarpCtx& ctx, const XInst& x);
void handle_nothing(WarpCtx& ctx, const XInst& x);
void handle_broadcast(WarpCtx& ctx, const XInst& x);

}  // namespace simtlab::exec

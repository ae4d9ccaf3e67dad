// Bank-conflict rule of shared memory and the serialisation rule of the constant cache.
//
// A pass reads one row-wide word of every bank. Accesses wider than a bank row allows for 32 lanes are done
// in groups of consecutive lanes (64-bit on 4-byte banks: half-warps, 128-bit: quarter-warps). Lanes of a
// group that read the same word share it (broadcast), so a group needs as many passes as the busiest bank has
// distinct words.
//
// Loads of 64 and 128 bits may need half of that: where pairs of lanes (each even one and the next, or each
// and the second next) ask for the same, two groups share a pass, if the lanes of both see each bank once.
#pragma once

#include <cstdint>

namespace simtlab::stream {

struct Banks {
  unsigned count = 32;  // a power of two, at most 64
  unsigned bytes = 4;   // width of a bank, a power of two
  bool pairs = false;   // wide loads of equal pairs of lanes share passes
};

// Passes of one shared-memory load or store; 0 if mask is 0. Loads: pairs count, if the banks have them.
unsigned shared_passes(const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes, const Banks& banks);
unsigned shared_load_passes(const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes,
                            const Banks& banks);
// Passes without any conflict: what the same lanes would need on conflict-free addresses that all differ.
unsigned shared_passes_ideal(std::uint32_t mask, unsigned bytes, const Banks& banks);
// Atomics on shared memory: lanes on one word are done in turn as well.
unsigned shared_atomic_passes(const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes,
                              const Banks& banks);
// Constant cache: one distinct 4-byte-aligned address a pass, broadcast to all lanes that want it.
unsigned constant_passes(const std::uint64_t* addresses, std::uint32_t mask);

}  // namespace simtlab::stream

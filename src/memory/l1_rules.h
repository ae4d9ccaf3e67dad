// Rules of L1 for every model: which loads look into it, and what a store does to its lines.
#pragma once

#include "device/device.h"
#include "memory/cache.h"
#include "ptx/inst.h"
#include "stream/coalescer.h"

namespace simtlab::memory {

// Whether a load looks into L1; loads of local memory always do.
bool looks_into_l1(const ptx::Inst& load, const device::Device& device);

struct L1Store {
  // What happened to the line: kept up to date if it was there, taken in, or thrown out.
  enum class Effect : std::uint8_t { refresh, allocate, drop };
  Effect effect = Effect::refresh;
  std::uint8_t present = 0;  // sectors that had a line before
};

// Local stores stay in L1 until their line is replaced; global ones (which go to L2, too) leave L1 as its
// write policy says. room: an absent line can have a place.
L1Store store_in_l1(Cache& l1, const device::Device& device, const stream::Segment& segment, bool local,
                    bool room, Evictions& evicted);

}  // namespace simtlab::memory

// Pipelines of an SM: which class of instruction uses which, and how long it occupies it.
//
// Every scheduler owns an equal share of each pipeline: a class with `throughput` thread results per cycle
// and SM occupies its scheduler's share for 32 * schedulers / throughput cycles an instruction. Classes that
// share hardware share a pipeline: up to compute capability 6.x integer and floating point run on the same
// cores, later integer has its own. A class much slower than the cores (under half of their rate) runs beside
// them on units of its own. Shared memory and shuffles (mio) and global memory (lg, tex) are units of the
// whole SM behind a short queue: there a scheduler may hand over one instruction a cycle. Division and square
// root in software occupy one pipeline of their own per precision instead of the issue slots of their many
// instructions (docs/reference/deviations.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "device/device.h"
#include "memory/time.h"
#include "ptx/op.h"
#include "timing/timing.h"

namespace simtlab::timing {

using memory::Cycle;
using memory::FixedCycles;
using memory::never;

using device::name_of;
using device::Pipe;
using device::pipe_count;
inline constexpr std::size_t class_count = device::op_class_count;

// Why a warp cannot issue although its operands are ready.
Stall throttle_stall(Pipe pipe);

struct PipeTable {
  struct Entry {
    Pipe pipe = Pipe::fma;
    std::uint32_t latency = 0;  // issue to dependent issue, cycles with 8 binary places
    FixedCycles interval = 0;   // of a scheduler's share
    FixedCycles sm_cost = 0;    // of the whole SM's unit: what mio and lg charge their shared port
  };
  std::array<Entry, class_count> classes{};
  std::uint32_t turns = 1;  // a scheduler issues in every so-many-th cycle
  device::Device::Operands operands;
  FixedCycles shared_interval = 0;  // what an instruction takes the shared memory unit at least

  explicit PipeTable(const device::Device& device);
  const Entry& operator[](ptx::OpClass c) const { return classes[static_cast<std::size_t>(c)]; }
};

}  // namespace simtlab::timing

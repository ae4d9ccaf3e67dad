// The instructions of a nest: their mix, their parallelism, the registers they need.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/device.h"
#include "models/loops/pattern.h"

namespace simtlab::models::loops {

using Mix = std::array<double, device::op_class_names.size()>;

struct BlockCode {
  int block = 0;
  std::uint32_t line = 0;   // of its first instruction
  double executions = 0;    // per thread
  double instructions = 0;  // of one execution
  double longest = 0;       // instructions of the longest chain
  // Of that chain by the device's latencies, each instruction as soon as its operands are there
  double cycles = 0;
  double ilp = 1;                 // instructions / longest
  double memory_parallelism = 1;  // loads / loads of the longest chain of loads
  unsigned pressure = 0;          // 32-bit registers alive at once
  // Per execution, by Belady's rule, with the registers that a thread may have
  unsigned spills = 0, reloads = 0;
  bool guessed = false;  // its condition can't be evaluated
};

struct Code {
  Mix mix{};                                       // per thread
  double instructions = 0, memory = 0, flops = 0;  // per thread
  double ilp = 1, memory_parallelism = 1;          // means over what is executed
  double latency = 0;      // cycles; mean of the executed instructions that are no memory accesses
  unsigned registers = 0;  // of a thread, with what addresses and indices take
  unsigned pressure = 0;   // that it would take, were there enough of them
  double spills = 0;       // accesses to local memory per thread
  double reloads = 0;      // of them, loads, for which what comes next waits
  std::vector<BlockCode> blocks;
};

Code code_of(const Description& nest, const Shape& shape, const Mapping& mapping,
             const device::Device& device);

// Resios' arithmetic intensity (thesis, algorithm 6.3): instructions whose operands are on the chip over
// those that access an array or use what was loaded from one; infinite without the latter.
double on_chip_intensity(const Description& nest, const Shape& shape);

// The instructions of the spills and reloads that `code` has counted.
void add_spills(Code& code);

// Belady's rule on a straight line of instructions: what is needed last makes room. Exposed for tests.
struct Spilling {
  unsigned spills = 0, reloads = 0, pressure = 0;
};
Spilling belady(const Block& block, unsigned registers);

}  // namespace simtlab::models::loops

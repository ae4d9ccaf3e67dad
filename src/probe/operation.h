// Arithmetic whose latency and throughput are measured, and the kernels that do it: dependent chains and
// independent ones.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/op_class.h"
#include "gpu/board/board.h"

namespace simtlab::probe {

// Registers of a chain: the kind of `X`, its value.
enum class Register : std::uint8_t { b32, b64, f32, f64, f16x2, predicate };

struct Operation {
  std::string_view name;  // "fma.rn.f32"
  // Whose values in the device file it measures; count_: none
  device::OpClass op_class = device::OpClass::count_;
  Register kind = Register::b32;
  // One step of a chain, PTX with X (the chain's register), Y and Z (operands that no assembler knows), and
  // registers of the chain's own: A (b32), B (b64), F (f32), D (f64), P (predicate).
  std::string_view step;
  unsigned per_step = 1;  // operations of the class in a step
  double y = 0, z = 0;    // operands, with which a step (or two) leaves X as it is
  bool identity = true;   // it does; else the result only has to be a number
  int least_cc = 20;
  // First chain's start; the others differ, so that no assembler computes one for all
  double x = 1;
  double x_step = 1;
  // Which chain does what, again and again: f (a multiply-add), i (a comparison of integers), p (bits
  // counted), s (a root), l (a load of shared memory)
  std::string_view pattern = {};
};

std::span<const Operation> operations();
// Null: there is none.
const Operation* find_operation(std::string_view name);

// A module with the entries chain_1, chain_2 and chain_4: `chains` chains of `steps`, twice and four times as
// many steps, between two readings of the clock. Parameters: out, x, y, z (4 or 8 bytes as the registers
// are), 0. Each warp leaves at out + 32 * warp: begin, end, sum of its first lane's chains (as f64 bits),
// multiprocessor.
std::string chain_kernels(const Operation& operation, unsigned chains, unsigned steps,
                          const gpu::BoardFacts& facts);
// The entry window (window.h) of such chains; parameters as above, and the cycles (u64).
std::string window_kernel(const Operation& operation, unsigned chains, unsigned steps,
                          const gpu::BoardFacts& facts);
// Entries singles_0 and singles_1: one warp, no step or one between two readings of the clock, again and
// again; the first reading is waited for before the step begins, and its result before the second one.
// Parameters as above. Leaves the sum of the first lane, and then the intervals (u64 each). Between two of
// them: three times as long as the last one took (from %t0 to %t1), so that no pipeline is still busy. Uses
// %n, %v, %q.
extern const char* const rest_text;
inline constexpr unsigned single_steps = 34;
std::string single_kernels(const Operation& operation, const gpu::BoardFacts& facts);
gpu::Arguments chain_arguments(const Operation& operation, std::uint64_t out);
// Whether what a warp left is what such chains leave.
bool plausible(const Operation& operation, unsigned chains, double sum);

}  // namespace simtlab::probe

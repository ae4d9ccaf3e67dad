// The one table of operation classes: the kinds of instructions that the models tell apart, and all that they
// know of a kind.
//
// The rows stand in device/op_class_rows.inc. Decoding, the cycle-level GPU, the cache study, the analytical
// models, traces and device files read them; nobody else lists classes. Each class has a latency and a rate
// in the device file ([latency] and [throughput] with its name as key) unless its row says where else they
// come from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace simtlab::device {

enum class OpClass : std::uint8_t {
#define SIMTLAB_OP_CLASS(name, ...) name,
#include "device/op_class_rows.inc"
#undef SIMTLAB_OP_CLASS
  count_,
};

// A pipeline of an SM. timing/pipes.h says how an instruction occupies it.
enum class Pipe : std::uint8_t {
#define SIMTLAB_PIPE(name, ...) name,
#include "device/op_class_rows.inc"
#undef SIMTLAB_PIPE
  count_,
};

inline constexpr std::size_t op_class_count = static_cast<std::size_t>(OpClass::count_);
inline constexpr std::size_t pipe_count = static_cast<std::size_t>(Pipe::count_);
constexpr std::size_t index(OpClass c) { return static_cast<std::size_t>(c); }

// What a warp that is ready waits for when the pipeline of its next instruction is busy.
enum class Throttle : std::uint8_t { math, dispatch, mio, lg, tex };

// What a warp that needs the result of an instruction waits for: a fixed number of cycles, the units with
// their own variable latency (shared memory, special functions), memory behind L1, or the end of a branch,
// barrier or fence.
enum class Wait : std::uint8_t { fixed_latency, short_scoreboard, long_scoreboard, branch, barrier, fence };

// Lanes that depend on the device (pipe_of below): those of integers are the cores or their own, slow ones
// have units of their own.
enum class Lanes : std::uint8_t { of_pipe, integer, multiplier, bit, wide_conversion };

// What an instruction does to memory. copy: asynchronous, no register gets a result.
enum class Access : std::uint8_t { none, load, store, atomic, copy };
enum class Memory : std::uint8_t { global, shared, constant };  // of an access; local memory counts as global
enum class Precision : std::uint8_t { none, fp16, fp32, fp64 };  // of floating-point results, for gpu.flops.*
// What the analytical models count computation as.
enum class Counted : std::uint8_t { other, floating, special };

inline constexpr std::string_view no_latency = "none";

struct PipeTraits {
  Throttle throttle = Throttle::math;
  bool shared_by_sm = false;  // one unit of the whole SM with a queue, not a share of each scheduler
  bool computes = true;       // it counts in sol.compute
  // The unit of lanes that the analytical models see, and its place among these; empty: they treat it apart.
  std::string_view unit = {};
  std::string_view unit_doc = {};
  unsigned unit_place = 0;
};

struct OpClassTraits {
  std::string_view operations = {};  // what is in the class, for people
  Pipe pipe = Pipe::fma;             // of Lanes::of_pipe
  Lanes lanes = Lanes::of_pipe;
  Wait wait = Wait::fixed_latency;
  Access access = Access::none;  // not none: it goes to the load-store unit
  Memory memory = Memory::global;
  bool is_arithmetic = true;  // on pipelines of the schedulers, from registers to registers
  Precision precision = Precision::none;
  // Floating-point operations of a thread; 0: the operation tells (fma two, add one). A matrix instruction
  // states them here.
  std::uint8_t flops = 0;
  Counted counted_as = Counted::other;
  OpClass body = OpClass::count_;  // of a subroutine of floating-point instructions: the class of these
  // Key of the device file with the latency: empty for latency.NAME, no_latency where nothing waits.
  std::string_view latency_at = {};
  // The class whose latency and throughput a device file's missing ones are; count_: the file must state
  // both.
  OpClass like = OpClass::count_;
  // Opcodes of machine code that stand for the class where traces are exported; those of sums, products and
  // fused ones where they differ.
  std::string_view sass = {};
  std::string_view sass_add = {};
  std::string_view sass_mul = {};
  std::string_view sass_fma = {};
  bool is_machine_instruction =
      true;                  // data/machine/classes may give the class to an opcode by its name alone
  bool is_division = false;  // D-TIMING-5: a division or root in software
};

inline constexpr std::array<OpClassTraits, op_class_count> op_class_traits = {{
#define SIMTLAB_OP_CLASS(name, ...) __VA_ARGS__,
#include "device/op_class_rows.inc"
#undef SIMTLAB_OP_CLASS
}};

// Keys of [latency] and [throughput] of device files.
inline constexpr std::array<std::string_view, op_class_count> op_class_names = {
#define SIMTLAB_OP_CLASS(name, ...) #name,
#include "device/op_class_rows.inc"
#undef SIMTLAB_OP_CLASS
};

inline constexpr std::array<PipeTraits, pipe_count> pipe_traits = {{
#define SIMTLAB_PIPE(name, ...) __VA_ARGS__,
#include "device/op_class_rows.inc"
#undef SIMTLAB_PIPE
}};

// Last part of the metrics pipe.*.
inline constexpr std::array<std::string_view, pipe_count> pipe_names = {
#define SIMTLAB_PIPE(name, ...) #name,
#include "device/op_class_rows.inc"
#undef SIMTLAB_PIPE
};

constexpr const OpClassTraits& traits(OpClass c) { return op_class_traits[index(c)]; }
constexpr const PipeTraits& traits(Pipe p) { return pipe_traits[static_cast<std::size_t>(p)]; }
constexpr std::string_view name_of(OpClass c) { return c < OpClass::count_ ? op_class_names[index(c)] : "?"; }
constexpr std::string_view name_of(Pipe p) { return pipe_names[static_cast<std::size_t>(p)]; }

// Whether instructions of the class go to the load-store unit.
constexpr bool accesses_memory(OpClass c) { return traits(c).access != Access::none; }
constexpr bool accesses(OpClass c, Memory memory) { return accesses_memory(c) && traits(c).memory == memory; }
// Whether a warp waits for what the access brings from global memory.
constexpr bool is_answered(OpClass c) {
  return accesses(c, Memory::global) &&
         (traits(c).access == Access::load || traits(c).access == Access::atomic);
}

// `each(c)` for all classes for which `wanted(c)`, in the order of the table.
template <class Wanted, class Each>
constexpr void for_classes(Wanted&& wanted, Each&& each) {
  for (std::size_t i = 0; i < op_class_count; ++i)
    if (const auto c = static_cast<OpClass>(i); wanted(c)) each(c);
}

// The pipeline of a class on a device of these rates (by class, thread results a cycle and SM). cores_shared:
// integers run on the lanes of floating point, as up to compute capability 6.x.
Pipe pipe_of(OpClass c, bool cores_shared, std::span<const double, op_class_count> rates);

}  // namespace simtlab::device

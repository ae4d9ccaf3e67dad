// One launch of one kernel, as a launch file (TOML) or the command line describes it.
// docs/reference/launch-file.md is the manual.
//
//   kernel = "saxpy"                              simtlab run saxpy.ptx --kernel saxpy --global 1024 --local
//   256 global = 1024                                     --arg f32:2.0 --arg buffer:1024:f32:iota block =
//   256                                       --arg buffer:1024:f32:zero --arg u32:1024
//   [[arg]]
//   type = "f32"
//   value = 2.0
//   [[arg]]
//   name = "x"
//   type = "f32"
//   shape = [1024]
//   init = "iota"
//   ...
//   [[expect]]
//   arg = "y"
//   file = "y.bin"
//   tolerance = 1e-6
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace simtlab::compile {

enum class ElementType : std::uint8_t { u8, s8, u16, s16, u32, s32, u64, s64, f32, f64 };
std::string_view name_of(ElementType type);
unsigned size_of(ElementType type);
bool is_floating(ElementType type);
std::optional<ElementType> element_type(std::string_view name);

// A number as written: integers keep all their 64 bits.
struct Number {
  bool is_integer = true;
  std::int64_t integer = 0;
  double real = 0;
  double as_double() const { return is_integer ? static_cast<double>(integer) : real; }
};

// none: zeros, too, but for checks nobody has written them.
struct Contents {
  enum class Kind : std::uint8_t { zero, none, iota, random, values, file } kind = Kind::zero;
  std::optional<std::uint64_t> seed;  // random: its own seed; absent = derived from the run's
  std::vector<Number> values;         // fewer than the buffer has: the rest is zero
  std::filesystem::path file;         // raw bytes, exactly as many as the buffer has
  SourcePos file_pos;
};

struct LaunchArg {
  enum class Kind : std::uint8_t { buffer, scalar, local } kind = Kind::scalar;
  std::string name;  // for [[expect]] and messages; may be empty
  ElementType type = ElementType::u32;
  std::vector<std::uint64_t> shape;  // buffer
  Contents contents;                 // buffer
  Number value;                      // scalar
  // Scalar: the elements of a vector or of a structure of such elements; else empty
  std::vector<Number> lanes;
  std::uint64_t local_bytes = 0;  // local: shared memory for an OpenCL __local pointer
  SourcePos pos;
  std::uint64_t elements() const;  // product of the shape
  std::uint64_t bytes() const { return elements() * size_of(type); }
};

struct Expectation {
  std::size_t arg = 0;  // index in LaunchSpec::args, a buffer
  Contents contents;    // values or file; `values` with one entry and fill = true: every element
  bool fill = false;
  double tolerance = 0;  // |got - wanted| <= tolerance * max(1, |wanted|); 0: equal
  SourcePos pos;
};

struct LaunchSpec {
  std::string file;    // launch file or "command line"
  std::string kernel;  // empty: the module's only kernel
  std::optional<std::array<std::uint32_t, 3>> grid, global,
      block;                                           // grid in blocks or global in threads, not both
  std::optional<std::array<std::uint32_t, 3>> offset;  // OpenCL: of the global ids
  std::uint32_t dimensions = 1;                        // as many as grid or global name
  std::vector<std::string> options;                    // OpenCL: build options
  std::uint32_t shared_bytes = 0;                      // dynamic shared memory
  // Where they were given: a place in the launch file, or the option as the name of a file. grid_pos: of grid
  // or global.
  SourcePos kernel_pos, grid_pos, block_pos, shared_pos, offset_pos;
  std::vector<LaunchArg> args;
  std::vector<Expectation> expect;
};

inline constexpr std::size_t max_lanes = 16;  // OpenCL's widest vector

inline constexpr std::uint64_t max_launch_file_bytes = std::uint64_t{64} << 20;

// Reads a launch file's text. `file` names it in messages and is where relative paths start. Throws
// Error(bad_input, "launch-file").
LaunchSpec parse_launch_file(std::string_view text, const std::filesystem::path& file);
LaunchSpec load_launch_file(const std::filesystem::path& file);

// The same from options. Unset options leave `base` as it is; `args`, if any, replace all of its arguments
// (and then its expectations must be gone). Throws Error(usage, "launch-option").
struct LaunchOptions {
  std::optional<std::string> kernel, grid, global, block, offset;  // "64x64", "1024"; --local is `block`
  std::optional<std::string> shared;                               // bytes
  // "buffer:64x64:f32:iota", "f32:1.5", "f32:1,2,3,4", "local:4096"
  std::vector<std::string> args;
};
LaunchSpec launch_from_options(const LaunchOptions& options, LaunchSpec base = {});

}  // namespace simtlab::compile

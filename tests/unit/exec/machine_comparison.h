// Executes kernels as PTX, and as the vendor's machine code or as optimised PTX, and compares the memory that
// both leave.
//
// A suite is a text file; paths in it are relative to its folder:
//   ptx FILE
//   cubin LABEL FILE                                       (any number)
//   optimised LABEL                                        the PTX, optimised
//   assembled LABEL sm_80                                  machine code of our own of it
//   kernel NAME BLOCKS THREADS SHARED SEED exact|near IN... -> OUT...     (BLOCKS, THREADS: 4 or 8x8x2)
// IN and OUT are buffers KIND*COUNT (kinds: machine_comparison.cpp), of which the kernel takes the addresses
// in this order; IN may also be a value KIND=HEX. Inputs are drawn from SEED, outputs start as zeros; all
// buffers are compared. near: floating results may be
// a few units in the last place apart, and are told apart from equal ones.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "exec/executor.h"

namespace simtlab::exec::comparison {

// How an element of a buffer is drawn and compared. NaN are equal whatever their bits.
struct Format {
  std::string_view name;
  char letter;
  unsigned bytes;           // of an element of a buffer
  unsigned fraction, bits;  // of one value in it; fraction 0: no floating type
  unsigned values = 1;
};
// By its name, or by its letter. Throws std::logic_error.
const Format& format_of(std::string_view name);

// `count` elements: corner values (zeros, the least and the largest subnormal and normal numbers, infinities,
// NaN, powers of two and their neighbours), values near 1, small integers, and any bits.
std::vector<std::byte> draw(const Format& format, std::size_t count, std::uint64_t seed);

enum class Likeness : std::uint8_t { equal, near, different };
Likeness compare(const Format& format, const std::byte* a, const std::byte* b);

struct Parameter {
  const Format* format = nullptr;
  std::uint32_t count = 0;  // of a buffer's elements; 0: a value
  std::uint64_t value = 0;
  bool result = false;
};
struct Kernel {
  std::string name;
  Dim3 blocks, threads;
  std::uint32_t shared_bytes = 0;
  std::uint64_t seed = 0;
  bool near = false;
  std::vector<Parameter> parameters;
};
struct Suite {
  std::string folder, ptx;
  std::vector<std::pair<std::string, std::string>>
      cubins;  // label, file; empty: the PTX, optimised; sm_80: assembled
  std::vector<Kernel> kernels;
};
// Throws std::runtime_error where the file is no suite.
Suite read_suite(const std::string& file);

// ptx: the PTX executor refuses or stops the kernel, so that there is nothing to compare with.
enum class Outcome : std::uint8_t { equal, near, different, refused, failed, ptx };
std::string_view name_of(Outcome outcome);
struct Finding {
  std::string label;
  const Kernel* kernel = nullptr;
  Outcome outcome = Outcome::equal;
  std::string text;
};
// Without cubins: whether the PTX executor runs the kernels.
void compare_suite(const Suite& suite, const std::function<void(const Finding&)>& tell);

}  // namespace simtlab::exec::comparison

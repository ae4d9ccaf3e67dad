// Device code that is optimised as nvcc does it, made with clang.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::compile {

using Options = std::vector<std::string>;

// clang's options for optimised device code, but for the limit of unrolling. assembler_level: of ptxas, 0
// to 4. level: of the compiler, 1 to 3; nvcc always takes 3.
Options optimised_device_code(int assembler_level, int level = 3);

// Compiles to PTX, with the limit of unrolling that nvcc has for loops like those of the file. compile: to
// PTX with these options besides the others; it is called once for a file without local arrays, else up to
// three times.
std::string unrolled_as_nvcc(const std::function<std::string(const Options&)>& compile);

// Bytes of local memory that the kernels and functions of a PTX text declare, all together.
std::uint64_t local_bytes(std::string_view ptx);

}  // namespace simtlab::compile

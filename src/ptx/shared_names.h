// What lies at a place in shared memory, by the names of the source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ptx/module.h"

namespace simtlab::ptx {

struct SharedPlace {
  std::string variable;      // as C++ calls it, without the function
  std::uint64_t offset = 0;  // in it, in bytes
};

// offset: in the block's shared memory, while the kernel runs. None: no variable is there.
std::optional<SharedPlace> shared_place(const Module& module, const Function& kernel, std::uint64_t offset);

}  // namespace simtlab::ptx

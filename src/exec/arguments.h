// A kernel's parameter block from host values, laid out as PTX does: each at a multiple of its alignment.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace simtlab::exec {

template <class... T>
std::vector<std::byte> pack_arguments(T... values) {
  std::vector<std::byte> block;
  [[maybe_unused]] const auto add = [&](auto value) {
    const std::size_t at =
        (block.size() + alignof(decltype(value)) - 1) / alignof(decltype(value)) * alignof(decltype(value));
    block.resize(at + sizeof value);
    std::memcpy(block.data() + at, &value, sizeof value);
  };
  (add(values), ...);
  return block;
}

}  // namespace simtlab::exec

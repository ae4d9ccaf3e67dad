// The shape of a launch. With the program and the kernel it is what a profile, or a time that was learnt, is
// of: 64 blocks and one block of the same code are two kernels for whoever predicts their time.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace simtlab::corun {

struct LaunchShape {
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::uint64_t shared_bytes = 0;  // of a block: what the code declares and what the launch adds
  auto operator<=>(const LaunchShape&) const = default;
};

// "<<<64, 32x8, 1024>>>": blocks, threads of a block, bytes of shared memory.
std::string text_of(const LaunchShape& shape);
// "add <<<64, 256, 0>>>" is a launch of add.
std::string_view kernel_of(std::string_view step);
// The shape in such a name; none: it has none.
std::optional<LaunchShape> shape_in(std::string_view name);
// "app/add <<<64, 256, 0>>>": what a scheduler and its log call a kernel. Without a shape: of something that
// has none (a graph).
std::string key_of(std::string_view program, std::string_view kernel,
                   const std::optional<LaunchShape>& shape);

}  // namespace simtlab::corun

#include "corun/launch_shape.h"

#include <fmt/format.h>

namespace simtlab::corun {
namespace {

std::string extent(const std::array<std::uint32_t, 3>& e) {
  if (e[2] != 1) return fmt::format("{}x{}x{}", e[0], e[1], e[2]);
  return e[1] != 1 ? fmt::format("{}x{}", e[0], e[1]) : fmt::format("{}", e[0]);
}

}  // namespace

std::string text_of(const LaunchShape& shape) {
  return fmt::format("<<<{}, {}, {}>>>", extent(shape.grid), extent(shape.block), shape.shared_bytes);
}

std::string_view kernel_of(std::string_view step) {
  const std::size_t at = step.rfind(" <<<");
  return at == std::string_view::npos || !step.ends_with(">>>") ? step : step.substr(0, at);
}

std::string key_of(std::string_view program, std::string_view kernel,
                   const std::optional<LaunchShape>& shape) {
  return shape ? fmt::format("{}/{} {}", program, kernel, text_of(*shape))
               : fmt::format("{}/{}", program, kernel);
}

}  // namespace simtlab::corun

#include "corun/launch_shape.h"

#include <fmt/format.h>

#include <charconv>

namespace simtlab::corun {
namespace {

std::string extent(const std::array<std::uint32_t, 3>& e) {
  if (e[2] != 1) return fmt::format("{}x{}x{}", e[0], e[1], e[2]);
  return e[1] != 1 ? fmt::format("{}x{}", e[0], e[1]) : fmt::format("{}", e[0]);
}

// "64x2" from the front of the text; false: it is no such thing.
bool take_extent(std::string_view& text, std::array<std::uint32_t, 3>& out) {
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out[i]);
    if (error != std::errc() || out[i] == 0) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with('x')) return true;
    text.remove_prefix(1);
  }
  return false;
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

}  // namespace

std::optional<LaunchShape> shape_in(std::string_view name) {
  std::string_view text = name.substr(kernel_of(name).size());
  LaunchShape out;
  if (!take(text, " <<<") || !take_extent(text, out.grid) || !take(text, ", ") ||
      !take_extent(text, out.block) || !take(text, ", "))
    return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.shared_bytes);
  if (error != std::errc() || text.substr(static_cast<std::size_t>(end - text.data())) != ">>>")
    return std::nullopt;
  return out;
}

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

// Elements of buffers: their values, their comparison and how messages name them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/shown.h"
#include "hosts/cuda/launch_runner.h"

namespace simtlab::hosts::cuda {
namespace {

using compile::ElementType;
using compile::LaunchArg;

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

double value_of(const std::byte* at, ElementType type) {
  switch (type) {
    case ElementType::u8: return load<std::uint8_t>(at);
    case ElementType::s8: return load<std::int8_t>(at);
    case ElementType::u16: return load<std::uint16_t>(at);
    case ElementType::s16: return load<std::int16_t>(at);
    case ElementType::u32: return load<std::uint32_t>(at);
    case ElementType::s32: return load<std::int32_t>(at);
    case ElementType::u64: return static_cast<double>(load<std::uint64_t>(at));
    case ElementType::s64: return static_cast<double>(load<std::int64_t>(at));
    case ElementType::f32: return static_cast<double>(load<float>(at));
    case ElementType::f64: return load<double>(at);
  }
  return 0;
}

std::string text_of(const std::byte* at, ElementType type) {
  if (type == ElementType::u64) return fmt::format("{}", load<std::uint64_t>(at));
  if (type == ElementType::s64) return fmt::format("{}", load<std::int64_t>(at));
  if (type == ElementType::f32) return fmt::format("{}", load<float>(at));
  return fmt::format("{}", value_of(at, type));
}

bool equal_elements(const std::byte* got, const std::byte* wanted, ElementType type, double tolerance) {
  if (std::memcmp(got, wanted, compile::size_of(type)) == 0) return true;
  const double a = value_of(got, type), b = value_of(wanted, type);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;                // infinity is no tolerance
  if (tolerance == 0) return compile::is_floating(type) && a == b;  // -0 and 0
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

std::string place_of(const LaunchArg& arg, std::uint64_t index) {
  std::vector<std::uint64_t> at(arg.shape.size());
  for (std::size_t d = arg.shape.size(); d-- > 0;) {
    at[d] = index % arg.shape[d];
    index /= arg.shape[d];
  }
  return fmt::format("[{}]", fmt::join(at, ", "));
}

std::string label_of(const LaunchArg& arg, std::size_t index) {
  return arg.name.empty() ? fmt::format("argument {}", index)
                          : fmt::format("argument {} '{}'", index, shown(arg.name));
}

}  // namespace simtlab::hosts::cuda

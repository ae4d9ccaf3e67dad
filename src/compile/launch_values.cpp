#include "compile/launch_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace simtlab::compile {
namespace {

struct TypeRow {
  ElementType type;
  std::string_view name;
  unsigned bytes;
  bool floating;
  std::int64_t least;  // integers: range
  std::uint64_t most;
};

constexpr TypeRow types[] = {
    {ElementType::u8, "u8", 1, false, 0, 0xff},
    {ElementType::s8, "s8", 1, false, -0x80, 0x7f},
    {ElementType::u16, "u16", 2, false, 0, 0xffff},
    {ElementType::s16, "s16", 2, false, -0x8000, 0x7fff},
    {ElementType::u32, "u32", 4, false, 0, 0xffffffff},
    {ElementType::s32, "s32", 4, false, -0x80000000ll, 0x7fffffff},
    {ElementType::u64, "u64", 8, false, 0, std::numeric_limits<std::uint64_t>::max()},
    {ElementType::s64, "s64", 8, false, std::numeric_limits<std::int64_t>::min(),
     std::numeric_limits<std::int64_t>::max()},
    {ElementType::f32, "f32", 4, true, 0, 0},
    {ElementType::f64, "f64", 8, true, 0, 0},
};

const TypeRow& row(ElementType type) { return types[static_cast<std::size_t>(type)]; }

// inf and nan may be meant, a number that turns into inf or into zero is not.
std::string check_single(double value) {
  if (!std::isfinite(value)) return {};
  const float single = static_cast<float>(value);
  if (std::isfinite(single) && (single != 0 || value == 0)) return {};
  return fmt::format("{} does not fit f32: it would become {}", value, single);
}

}  // namespace

std::string_view name_of(ElementType type) { return row(type).name; }
unsigned size_of(ElementType type) { return row(type).bytes; }
bool is_floating(ElementType type) { return row(type).floating; }

std::optional<ElementType> element_type(std::string_view name) {
  // The names of C for those who think in them.
  if (name == "float") return ElementType::f32;
  if (name == "double") return ElementType::f64;
  if (name == "int") return ElementType::s32;
  for (const TypeRow& r : types)
    if (r.name == name) return r.type;
  return std::nullopt;
}

std::string type_list() {
  std::string out;
  for (const TypeRow& r : types) out += fmt::format("{}{}", out.empty() ? "" : ", ", r.name);
  return out;
}

std::uint64_t LaunchArg::elements() const {
  std::uint64_t n = 1;
  for (const std::uint64_t d : shape) n *= d;
  return shape.empty() ? 0 : n;
}

std::string check_shape(const std::vector<std::uint64_t>& shape, ElementType type) {
  if (shape.empty() || shape.size() > 8) return "a shape has one to eight dimensions";
  std::uint64_t bytes = size_of(type);
  for (const std::uint64_t d : shape) {
    if (d == 0) return "a dimension of 0 makes an empty buffer";
    if (__builtin_mul_overflow(bytes, d, &bytes) || bytes > max_buffer_bytes)
      return fmt::format("the buffer is larger than {} bytes", max_buffer_bytes);
  }
  return {};
}

std::string check_value(const Number& value, ElementType type) {
  const TypeRow& r = row(type);
  if (type == ElementType::f32) return check_single(value.as_double());
  if (r.floating) return {};
  if (!value.is_integer)
    return fmt::format("{} is not a whole number, but the type is {}", value.real, r.name);
  // A file's integers are signed 64 bits; u64 takes the pattern of a negative one as it is written in
  // hexadecimal.
  if (type == ElementType::u64) return {};
  if (value.integer < r.least || (value.integer > 0 && static_cast<std::uint64_t>(value.integer) > r.most))
    return fmt::format("{} does not fit {} ({} to {})", value.integer, r.name, r.least, r.most);
  return {};
}

}  // namespace simtlab::compile

// What the launch file and the command line share: element types, shapes, limits, checks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compile/launch_file.h"

namespace simtlab::compile {

inline constexpr std::uint64_t max_buffer_bytes = std::uint64_t{1} << 40;
inline constexpr std::size_t max_args = 1024;
inline constexpr std::size_t max_values = std::size_t{1} << 22;

// Empty if fine, else what is wrong.
std::string check_shape(const std::vector<std::uint64_t>& shape, ElementType type);
std::string check_value(const Number& value, ElementType type);
std::string type_list();  // "u8, s8, ..., f64"

}  // namespace simtlab::compile

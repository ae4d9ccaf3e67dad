// A line of a source in the words of a report: "saxpy.cu:12".
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace simtlab::result {

// The text that an OpenCL program was given is kept as opencl-HASH.cl: the hash tells a reader nothing.
inline std::string source_place(std::string_view file, double line) {
  file.remove_prefix(std::min(file.size(), file.rfind('/') + 1));
  constexpr std::string_view prefix = "opencl-", suffix = ".cl";
  constexpr std::size_t least_hash = 16;
  if (file.starts_with(prefix) && file.ends_with(suffix) &&
      file.size() >= prefix.size() + suffix.size() + least_hash &&
      file.substr(prefix.size()).find_first_not_of("0123456789abcdef") ==
          file.size() - prefix.size() - suffix.size())
    return fmt::format("program:{:.0f}", line);
  return fmt::format("{}:{:.0f}", file, line);
}

// A line of PTX, or the address of machine code, which stands before its text: "/*01c0*/ LDG.E R2, [R2.64]".
inline std::string code_place(std::string_view text, double ptx_line) {
  if (text.starts_with("/*"))
    if (const std::size_t end = text.find("*/"); end != std::string_view::npos)
      return fmt::format("0x{}", text.substr(2, end - 2));
  return fmt::format("PTX line {:.0f}", ptx_line);
}

}  // namespace simtlab::result

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

}  // namespace simtlab::result

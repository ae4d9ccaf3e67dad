// The lines of a module's text, for results that show them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/module.h"

namespace simtlab::ptx {

class TextLines {
 public:
  explicit TextLines(const Module& module);  // which must outlive it
  // Without what surrounds it, at most 200 characters; empty for a line that is not there (line 0, traces
  // without text).
  std::string operator[](std::uint32_t number) const;

 private:
  std::vector<std::string_view> lines_;
};

}  // namespace simtlab::ptx

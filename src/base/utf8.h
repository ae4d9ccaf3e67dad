// UTF-8, a character at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace simtlab {

struct Utf8 {
  std::size_t length = 0;  // in bytes; 0: there is no character
  std::uint32_t code = 0;
};

// The character that begins at `at` (inside the text). Over-long forms, surrogates and what lies beyond
// U+10FFFF are none.
Utf8 utf8_at(std::string_view text, std::size_t at = 0);

}  // namespace simtlab

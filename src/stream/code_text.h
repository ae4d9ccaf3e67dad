// An instruction as text, for results that show it beside its source.
#pragma once

#include <cstdint>
#include <string>

#include "ptx/module.h"
#include "ptx/text_lines.h"

namespace simtlab::stream {

struct CodeText {
  std::string machine;  // "/*0280*/ FFMA R1, R2, R3, R4": address and instruction; empty: PTX runs
  std::uint32_t ptx_line = 0;
  std::string ptx;  // the line of PTX; of machine code the one that it was made of, where that is known
};

// text: of the function's module.
CodeText text_of(const ptx::Function& function, std::size_t pc, const ptx::TextLines& text);
// The one that names the instruction best: of machine code, or of PTX.
std::string shown_text(const ptx::Function& function, std::size_t pc, const ptx::TextLines& text);

}  // namespace simtlab::stream

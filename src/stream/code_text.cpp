#include "stream/code_text.h"

#include <fmt/format.h>

#include "machine/code.h"
#include "machine/print.h"

namespace simtlab::stream {

CodeText text_of(const ptx::Function& function, std::size_t pc, const ptx::TextLines& text) {
  const std::uint32_t line = function.code[pc].line;
  if (!function.machine) return {{}, line, text[line]};
  const machine::Code& code = *function.machine;
  const machine::Instruction& instruction = code.instructions[pc];
  CodeText out{fmt::format("/*{:04x}*/ {}", machine::address_in_file(code.generation, instruction.address),
                           machine::text_of(instruction)),
               0,
               {}};
  if (code.ptx && pc < code.ptx_lines.size()) {
    out.ptx_line = code.ptx_lines[pc];
    out.ptx = (*code.ptx)[out.ptx_line];
  }
  return out;
}

std::string shown_text(const ptx::Function& function, std::size_t pc, const ptx::TextLines& text) {
  CodeText out = text_of(function, pc, text);
  return out.machine.empty() ? out.ptx : out.machine;
}

}  // namespace simtlab::stream

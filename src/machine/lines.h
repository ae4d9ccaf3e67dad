// Which source line an instruction comes from, and which line of the PTX: .debug_line, .nv_debug_line_sass
// and .nv_debug_ptx_txt of cubins built with -lineinfo or -G.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "machine/elf.h"

namespace simtlab::machine {

struct SourceLine {
  std::uint64_t address = 0;  // in the section
  std::uint32_t file = 0;     // in SourceLines::files
  std::uint32_t line = 0;     // 0: none from here on
};

struct SourceLines {
  std::vector<std::string> files;
  std::map<std::size_t, std::vector<SourceLine>> sections;  // by section of code, by address

  // The line of an address; null: none.
  const SourceLine* at(std::size_t section, std::uint64_t address) const;
};

// Empty if the file has none. Throws Error(bad_input, "cubin") for damaged ones.
SourceLines read_lines(const ElfFile& elf);

// The PTX that the assembler made the code of, and which of its lines became which instruction.
struct PtxLines {
  std::vector<std::string> text;  // line n is text[n - 1], without blanks around it
  SourceLines lines;

  // The number of the line, from 1 on; 0: none.
  std::uint32_t at(std::size_t section, std::uint64_t address) const;
  std::string operator[](std::uint32_t line) const;
};
PtxLines read_ptx_lines(const ElfFile& elf);

// Where the code of an image comes from.
struct CodeLines {
  SourceLines source;
  std::shared_ptr<const PtxLines> ptx;  // null: not known
};
CodeLines read_code_lines(const ElfFile& elf);

}  // namespace simtlab::machine

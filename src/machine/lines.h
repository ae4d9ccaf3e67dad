// Which source line an instruction comes from: .debug_line of cubins built with -lineinfo or -G.
#pragma once

#include <cstdint>
#include <map>
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

}  // namespace simtlab::machine

// Writes an ELF file of device code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "machine/elf.h"

namespace simtlab::machine {

// Sections, symbols and relocations, numbered as they are added. Section and symbol 0 are the empty ones.
class ElfWriter {
 public:
  struct Section {
    std::string name, data;
    std::uint32_t type = 0;
    std::uint64_t size = 0, align = 1;  // size: of a section without data
    std::vector<ElfRelocation> relocations;
  };

  // Its ABI, flags and generation are those of `model`, the bytes of another file.
  explicit ElfWriter(Bytes model);

  std::size_t add_section(std::string name, std::uint32_t type, std::uint64_t align);
  // The section of that name, which may be new.
  std::size_t section_named(const std::string& name, std::uint32_t type);
  Section& section(std::size_t number) { return sections_.at(number); }
  // Puts bytes (or room, in a section without data) behind what is there, and returns where.
  std::uint64_t append(std::size_t section, Bytes data, std::uint64_t size, std::uint64_t align);
  // Local symbols come first.
  std::uint32_t add_symbol(ElfSymbol symbol);
  ElfSymbol& symbol(std::uint32_t number) { return symbols_.at(number); }

  std::string bytes() const;

 private:
  std::string model_;  // header
  std::vector<Section> sections_;
  std::unordered_map<std::string, std::size_t> by_name_;  // the first of a name
  std::vector<ElfSymbol> symbols_;
};

}  // namespace simtlab::machine

// The functions that an ELF file names in its symbol table.
//
// The file belongs to somebody else: every offset and size is checked, and what cannot be read is as if
// absent. Nothing is allocated: hosts/static_runtime looks at files before the process has begun.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace simtlab {

struct NamedFunction {
  std::string_view name;
  std::uint64_t address = 0;  // in the file's own address space
  std::uint64_t bytes = 0;
};

class ElfSymbols {
 public:
  explicit ElfSymbols(std::span<const std::byte> file);

  bool has_device_code() const { return device_code_; }  // a section with a fat binary
  // body: bool(const NamedFunction&), false ends the walk. Functions that the file defines.
  template <typename Body>
  void each(Body&& body) const {
    for (std::size_t i = 0; i < count_; ++i) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols_ + i * sizeof symbol, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
      if (!body(NamedFunction{text(symbol.st_name), symbol.st_value, symbol.st_size})) return;
    }
  }
  bool defines(std::string_view name) const;
  // Bytes from the function's start to the next one's: what is between belongs to nobody.
  std::uint64_t room(const NamedFunction& function) const;

 private:
  bool section(std::uint64_t index, Elf64_Shdr& out) const;
  bool inside(const Elf64_Shdr& section) const;
  std::string_view text(std::uint64_t offset) const;
  void find_device_code(const Elf64_Ehdr& header);

  std::span<const std::byte> file_;
  std::uint64_t sections_at_ = 0, section_count_ = 0;
  const std::byte* symbols_ = nullptr;
  std::size_t count_ = 0;
  std::string_view texts_;
  bool device_code_ = false;
};

// The major version of the CUDA runtime that is linked into the file: 11, 12 or 13. 0: none, or an older one,
// or its names have been stripped.
int static_cuda_runtime(const ElfSymbols& symbols);

}  // namespace simtlab

#include "base/elf_symbols.h"

#include <algorithm>

namespace simtlab {

ElfSymbols::ElfSymbols(std::span<const std::byte> file) : file_(file) {
  Elf64_Ehdr header;
  if (file.size() < sizeof header) return;
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_X86_64 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shoff > file.size())
    return;
  sections_at_ = header.e_shoff;
  section_count_ =
      std::min<std::uint64_t>(header.e_shnum, (file.size() - header.e_shoff) / sizeof(Elf64_Shdr));
  find_device_code(header);
  for (std::uint64_t i = 0; i < section_count_; ++i) {
    Elf64_Shdr table, strings;
    if (!section(i, table) || table.sh_type != SHT_SYMTAB || !inside(table) ||
        !section(table.sh_link, strings) || !inside(strings))
      continue;
    symbols_ = file.data() + table.sh_offset;
    count_ = table.sh_size / sizeof(Elf64_Sym);
    texts_ = {reinterpret_cast<const char*>(file.data() + strings.sh_offset), strings.sh_size};
  }
}

bool ElfSymbols::section(std::uint64_t index, Elf64_Shdr& out) const {
  if (index >= section_count_) return false;
  std::memcpy(&out, file_.data() + sections_at_ + index * sizeof out, sizeof out);
  return true;
}

bool ElfSymbols::inside(const Elf64_Shdr& section) const {
  return section.sh_offset <= file_.size() && section.sh_size <= file_.size() - section.sh_offset;
}

std::string_view ElfSymbols::text(std::uint64_t offset) const {
  if (offset >= texts_.size()) return {};
  return {texts_.data() + offset, ::strnlen(texts_.data() + offset, texts_.size() - offset)};
}

void ElfSymbols::find_device_code(const Elf64_Ehdr& header) {
  Elf64_Shdr names;
  if (!section(header.e_shstrndx, names) || !inside(names)) return;
  texts_ = {reinterpret_cast<const char*>(file_.data() + names.sh_offset), names.sh_size};
  for (std::uint64_t i = 0; i < section_count_; ++i) {
    Elf64_Shdr s;
    if (section(i, s))
      device_code_ |= text(s.sh_name) == ".nv_fatbin" || text(s.sh_name) == ".nvFatBinSegment";
  }
  texts_ = {};
}

bool ElfSymbols::defines(std::string_view name) const {
  bool found = false;
  each([&](const NamedFunction& f) { return !(found = f.name == name); });
  return found;
}

std::uint64_t ElfSymbols::room(const NamedFunction& function) const {
  std::uint64_t next = function.address + function.bytes;
  std::uint64_t best = UINT64_MAX;
  each([&](const NamedFunction& f) {
    if (f.address >= next && f.address > function.address) best = std::min(best, f.address);
    return true;
  });
  return best == UINT64_MAX ? function.bytes : best - function.address;
}

// Which names came and went: the texture references with CUDA 12, this spelling of the properties with
// CUDA 13.
int static_cuda_runtime(const ElfSymbols& symbols) {
  if (!symbols.defines("__cudaRegisterFatBinary") || !symbols.defines("cudaMalloc") ||
      !symbols.defines("cudaStreamSetAttribute"))
    return 0;
  if (symbols.defines("cudaBindTexture")) return 11;
  return symbols.defines("cudaGetDeviceProperties_v2") ? 12 : 13;
}

}  // namespace simtlab

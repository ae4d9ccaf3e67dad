// Sections and symbols of an ELF file in memory. Nothing in it is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simtlab::machine {

using Bytes = std::span<const std::byte>;

// A value at a byte of `bytes`; nullopt: it is not inside.
template <class T>
std::optional<T> value_at(Bytes bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct ElfSection {
  std::string name;
  std::uint32_t type = 0, link = 0, info = 0;
  std::uint64_t flags = 0, address = 0, size = 0, align = 0, entry_bytes = 0;
  Bytes data;  // empty if it takes no room in the file
};

// Types of sections in objects that are to be linked; linked files have PROGBITS and NOBITS.
inline constexpr std::uint32_t section_cuda_info = 0x70000000, section_cuda_global = 0x70000007,
                               section_cuda_global_initial = 0x70000008, section_cuda_local = 0x70000009,
                               section_cuda_shared = 0x7000000a, first_section_cuda_constant = 0x70000064,
                               last_section_cuda_constant = 0x70000075;

// Shared memory of functions that are no kernels: each of its symbols has a place of its own.
inline constexpr std::string_view shared_of_functions = ".nv_debug.shared";

// The type of a symbol of a variable, which linked files have as STT_OBJECT.
inline constexpr std::uint8_t symbol_cuda_object = 13;

struct ElfSymbol {
  std::string name;
  std::uint64_t value = 0, size = 0;
  std::uint16_t section = 0;  // 0: undefined
  std::uint8_t type = 0, binding = 0, other = 0;
};

struct ElfRelocation {
  std::uint64_t offset = 0;
  std::uint32_t symbol = 0, type = 0;
  std::int64_t addend = 0;
  bool has_addend = false;
};

struct ElfFile {
  std::string name;  // for messages
  std::uint32_t flags = 0;
  std::uint8_t abi = 0, abi_version = 0;
  std::uint16_t type = 0;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;
  // Sections of relocations with what they are for, by that.
  std::vector<std::pair<std::size_t, std::size_t>> relocated;
  std::vector<std::uint32_t> by_name;  // numbers of sections in the order of their names

  std::optional<std::size_t> section_number(std::string_view name) const;  // the first of the name
  const ElfSection* section(std::string_view name) const;                  // null: none
  // Entries of .rel and .rela sections for this one.
  std::vector<ElfRelocation> relocations_of(std::size_t section) const;
};

// Of a CUDA device (e_machine 190). The bytes must outlive the result. Throws Error(bad_input, "cubin").
ElfFile read_elf(Bytes bytes, std::string name);
bool is_device_elf(Bytes bytes);
// Binary version of a device's ELF file: 75, 80, 90 ...
unsigned generation_of(Bytes device_elf);
// Of any machine, 64 bits: executables and libraries that contain device code.
ElfFile read_host_elf(Bytes bytes, std::string name);
bool is_elf(Bytes bytes);

// Throws Error(bad_input, "cubin"). The second says where in which section.
[[noreturn]] void damaged(const std::string& name, const std::string& what);
[[noreturn]] void damaged(const std::string& name, const ElfSection& section, std::uint64_t offset,
                          const std::string& what);

}  // namespace simtlab::machine

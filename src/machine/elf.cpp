#include "machine/elf.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace simtlab::machine {
namespace {

constexpr std::uint16_t machine_cuda = 190;
constexpr std::size_t most_symbols = 1 << 20;
constexpr std::uint64_t most_name_bytes = 1 << 26;  // of all symbols or sections together

// What a program has registered ends nobody knows where: no byte behind a beginning that is no ELF file's is
// read.
bool begins_as_elf(Bytes bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

// The text at an offset of a string table; empty where it is not inside.
std::string text_at(Bytes table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const char* const begin = reinterpret_cast<const char*>(table.data()) + offset;
  return {begin, ::strnlen(begin, std::min<std::size_t>(table.size() - offset, 1 << 16))};
}

// Objects that are to be linked have types of their own for variables without initial values.
bool takes_room(std::uint32_t type) {
  return type != SHT_NOBITS && type != SHT_NULL && type != section_cuda_global &&
         type != section_cuda_local && type != section_cuda_shared;
}

ElfSection read_section(Bytes bytes, const Elf64_Shdr& header, const std::string& file) {
  ElfSection out;
  out.type = header.sh_type;
  out.link = header.sh_link;
  out.info = header.sh_info;
  out.flags = header.sh_flags;
  out.address = header.sh_addr;
  out.size = header.sh_size;
  out.align = header.sh_addralign;
  out.entry_bytes = header.sh_entsize;
  if (!takes_room(header.sh_type)) return out;
  if (header.sh_offset > bytes.size() || bytes.size() - header.sh_offset < header.sh_size)
    damaged(file, fmt::format("a section of {} bytes at {} is not inside the file", header.sh_size,
                              header.sh_offset));
  out.data = bytes.subspan(header.sh_offset, header.sh_size);
  return out;
}

// Counts names: many may stand in the same bytes.
class Names {
 public:
  Names(Bytes table, const std::string& file) : table_(table), file_(file) {}
  std::string at(std::uint64_t offset) {
    std::string name = text_at(table_, offset);
    bytes_ += name.size();
    if (bytes_ > most_name_bytes)
      damaged(file_, fmt::format("its names take more than {} bytes", most_name_bytes));
    return name;
  }

 private:
  Bytes table_;
  const std::string& file_;
  std::uint64_t bytes_ = 0;
};

void read_symbols(ElfFile& file) {
  for (const ElfSection& section : file.sections) {
    if (section.type != SHT_SYMTAB) continue;
    Names names(section.link < file.sections.size() ? file.sections[section.link].data : Bytes{}, file.name);
    if (section.data.size() / sizeof(Elf64_Sym) > most_symbols) damaged(file.name, "it has too many symbols");
    for (std::uint64_t at = 0; const auto symbol = value_at<Elf64_Sym>(section.data, at);
         at += sizeof *symbol)
      file.symbols.push_back({.name = names.at(symbol->st_name),
                              .value = symbol->st_value,
                              .size = symbol->st_size,
                              .section = symbol->st_shndx,
                              .type = static_cast<std::uint8_t>(symbol->st_info & 15u),
                              .binding = static_cast<std::uint8_t>(symbol->st_info >> 4),
                              .other = symbol->st_other});
    return;
  }
}

// Where the number of sections and that of their names do not fit the header, section 0 has them.
struct SectionList {
  std::uint64_t count = 0, names = 0;
};

SectionList section_list(Bytes bytes, const Elf64_Ehdr& header, const std::string& file) {
  SectionList out{header.e_shnum, header.e_shstrndx};
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff == 0) damaged(file, "it has no sections");
  if (out.count == 0 || out.names == SHN_XINDEX) {
    const auto first = value_at<Elf64_Shdr>(bytes, header.e_shoff);
    if (!first) damaged(file, "its list of sections is cut off");
    if (out.count == 0) out.count = first->sh_size;
    if (out.names == SHN_XINDEX) out.names = first->sh_link;
  }
  if (out.count == 0) damaged(file, "it has no sections");
  if (header.e_shoff > bytes.size() || (bytes.size() - header.e_shoff) / sizeof(Elf64_Shdr) < out.count)
    damaged(file, fmt::format("its list of {} sections at byte {} is cut off", out.count, header.e_shoff));
  return out;
}

ElfFile read_sections(Bytes bytes, std::string name) {
  ElfFile file;
  file.name = std::move(name);
  const auto header = *value_at<Elf64_Ehdr>(bytes, 0);
  file.flags = header.e_flags;
  file.abi = header.e_ident[EI_OSABI];
  file.abi_version = header.e_ident[EI_ABIVERSION];
  file.type = header.e_type;
  const SectionList list = section_list(bytes, header, file.name);
  std::vector<std::uint32_t> names;
  std::uint64_t in_sections = 0;
  for (std::uint64_t i = 0; i < list.count; ++i) {
    const auto section = value_at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    file.sections.push_back(read_section(bytes, *section, file.name));
    names.push_back(section->sh_name);
    in_sections += file.sections.back().data.size();
    // Sections do not overlap; where they did, a small file could claim any amount
    if (in_sections > bytes.size()) damaged(file.name, "its sections overlap");
    if (section->sh_type == SHT_REL || section->sh_type == SHT_RELA)
      file.relocated.emplace_back(section->sh_info, i);
  }
  std::ranges::sort(file.relocated);
  if (list.names < file.sections.size()) {
    Names table(file.sections[list.names].data, file.name);
    for (std::size_t i = 0; i < names.size(); ++i) file.sections[i].name = table.at(names[i]);
  }
  file.by_name.resize(file.sections.size());
  std::iota(file.by_name.begin(), file.by_name.end(), 0u);
  std::ranges::stable_sort(file.by_name, {},
                           [&](std::uint32_t i) -> const std::string& { return file.sections[i].name; });
  read_symbols(file);
  return file;
}

}  // namespace

void damaged(const std::string& name, const std::string& what) {
  throw Error(ExitCode::bad_input, "cubin", fmt::format("{}: {}", name, what),
              "the file is damaged, or of a version that simtlab does not know; build it again");
}

void damaged(const std::string& name, const ElfSection& section, std::uint64_t offset,
             const std::string& what) {
  damaged(fmt::format("{}:{}:0x{:x}", name, section.name, offset), what);
}

bool is_elf(Bytes bytes) {
  if (!begins_as_elf(bytes)) return false;
  const auto header = value_at<Elf64_Ehdr>(bytes, 0);
  return header && header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;
}

bool is_device_elf(Bytes bytes) {
  if (!begins_as_elf(bytes)) return false;
  const auto header = value_at<Elf64_Ehdr>(bytes, 0);
  return header && header->e_machine == machine_cuda;
}

// From CUDA 13 on in bits 8 to 15, else in bits 0 to 7.
unsigned generation_of(Bytes device_elf) {
  constexpr std::uint8_t abi_of_cuda_13 = 8;
  const auto header = value_at<Elf64_Ehdr>(device_elf, 0);
  if (!header) return 0;
  return header->e_ident[EI_ABIVERSION] >= abi_of_cuda_13 ? header->e_flags >> 8 & 0xffu
                                                          : header->e_flags & 0xffu;
}

ElfFile read_elf(Bytes bytes, std::string name) {
  if (!is_elf(bytes) || !is_device_elf(bytes)) damaged(name, "this is no 64-bit ELF file of a CUDA device");
  return read_sections(bytes, std::move(name));
}

ElfFile read_host_elf(Bytes bytes, std::string name) {
  if (!is_elf(bytes)) damaged(name, "this is no 64-bit ELF file");
  return read_sections(bytes, std::move(name));
}

std::optional<std::size_t> ElfFile::section_number(std::string_view wanted) const {
  const auto name = [&](std::uint32_t i) -> std::string_view { return sections[i].name; };
  const auto found = std::ranges::lower_bound(by_name, wanted, {}, name);
  if (found == by_name.end() || name(*found) != wanted) return std::nullopt;
  return *found;
}

const ElfSection* ElfFile::section(std::string_view wanted) const {
  const std::optional<std::size_t> number = section_number(wanted);
  return number ? &sections[*number] : nullptr;
}

std::vector<ElfRelocation> ElfFile::relocations_of(std::size_t target) const {
  std::vector<ElfRelocation> out;
  const auto range = std::ranges::equal_range(relocated, target, {}, [](const auto& r) { return r.first; });
  for (const auto& [ignored, index] : range) {
    const ElfSection& section = sections[index];
    if (section.type == SHT_REL)
      for (std::uint64_t at = 0; const auto r = value_at<Elf64_Rel>(section.data, at); at += sizeof *r)
        out.push_back({r->r_offset, static_cast<std::uint32_t>(ELF64_R_SYM(r->r_info)),
                       static_cast<std::uint32_t>(ELF64_R_TYPE(r->r_info)), 0, false});
    else
      for (std::uint64_t at = 0; const auto r = value_at<Elf64_Rela>(section.data, at); at += sizeof *r)
        out.push_back({r->r_offset, static_cast<std::uint32_t>(ELF64_R_SYM(r->r_info)),
                       static_cast<std::uint32_t>(ELF64_R_TYPE(r->r_info)), r->r_addend, true});
  }
  return out;
}

}  // namespace simtlab::machine

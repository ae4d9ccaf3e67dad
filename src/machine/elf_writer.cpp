#include "machine/elf_writer.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace simtlab::machine {
namespace {

template <class T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::uint32_t put_name(std::string& table, const std::string& name) {
  if (name.empty()) return 0;
  const auto at = static_cast<std::uint32_t>(table.size());
  table += name;
  table += '\0';
  return at;
}

std::uint64_t aligned(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) / align * align;
}

Elf64_Shdr header_of(const ElfWriter::Section& section) {
  Elf64_Shdr out{};
  out.sh_type = section.type;
  out.sh_addralign = section.align;
  out.sh_size = section.type == SHT_NOBITS ? section.size : section.data.size();
  return out;
}

// Relocations with and without addends stand in sections of their own.
ElfWriter::Section relocations_of(const ElfWriter::Section& section, bool addends) {
  ElfWriter::Section out;
  out.name = (addends ? ".rela" : ".rel") + section.name;
  out.type = addends ? SHT_RELA : SHT_REL;
  out.align = 8;
  for (const ElfRelocation& r : section.relocations) {
    if (r.has_addend != addends) continue;
    put(out.data, r.offset);
    put(out.data, std::uint64_t{ELF64_R_INFO(std::uint64_t{r.symbol}, r.type)});
    if (addends) put(out.data, r.addend);
  }
  return out;
}

}  // namespace

ElfWriter::ElfWriter(Bytes model)
    : model_(reinterpret_cast<const char*>(model.data()), sizeof(Elf64_Ehdr)), sections_(1), symbols_(1) {}

std::size_t ElfWriter::add_section(std::string name, std::uint32_t type, std::uint64_t align) {
  Section out;
  out.name = std::move(name);
  out.type = type;
  out.align = std::max<std::uint64_t>(align, 1);
  by_name_.try_emplace(out.name, sections_.size());
  sections_.push_back(std::move(out));
  return sections_.size() - 1;
}

std::size_t ElfWriter::section_named(const std::string& name, std::uint32_t type) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? add_section(name, type, 1) : found->second;
}

std::uint64_t ElfWriter::append(std::size_t number, Bytes data, std::uint64_t size, std::uint64_t align) {
  Section& section = sections_.at(number);
  align = std::max<std::uint64_t>(align, 1);
  section.align = std::max(section.align, align);
  if (section.type == SHT_NOBITS) {
    const std::uint64_t at = aligned(section.size, align);
    section.size = at + size;
    return at;
  }
  const std::uint64_t at = aligned(section.data.size(), align);
  section.data.resize(at);
  section.data.append(reinterpret_cast<const char*>(data.data()), data.size());
  return at;
}

std::uint32_t ElfWriter::add_symbol(ElfSymbol symbol) {
  symbols_.push_back(std::move(symbol));
  return static_cast<std::uint32_t>(symbols_.size() - 1);
}

namespace {

// A file under way: sections with their headers, number by number.
struct Parts {
  std::vector<ElfWriter::Section> sections;
  std::vector<Elf64_Shdr> headers;

  Elf64_Shdr& add(ElfWriter::Section section) {
    headers.push_back(header_of(section));
    sections.push_back(std::move(section));
    return headers.back();
  }
};

ElfWriter::Section table_named(const char* name, std::uint32_t type, std::uint64_t align) {
  ElfWriter::Section out;
  out.name = name;
  out.type = type;
  out.align = align;
  if (type == SHT_STRTAB) out.data = std::string(1, '\0');
  return out;
}

void add_symbols(Parts& parts, const std::vector<ElfSymbol>& all) {
  ElfWriter::Section symbols = table_named(".symtab", SHT_SYMTAB, 8),
                     strings = table_named(".strtab", SHT_STRTAB, 1);
  std::uint32_t locals = 0;
  for (const ElfSymbol& s : all) {
    Elf64_Sym out{};
    out.st_name = put_name(strings.data, s.name);
    out.st_info = static_cast<unsigned char>(s.binding << 4 | s.type);
    out.st_other = s.other;
    out.st_shndx = s.section;
    out.st_value = s.value;
    out.st_size = s.size;
    put(symbols.data, out);
    locals += s.binding == STB_LOCAL ? 1 : 0;
  }
  const auto number = static_cast<std::uint32_t>(parts.sections.size());
  Elf64_Shdr& header = parts.add(std::move(symbols));
  header.sh_link = number + 1;
  header.sh_info = locals;
  header.sh_entsize = sizeof(Elf64_Sym);
  parts.add(std::move(strings));
}

void add_relocations(Parts& parts, std::size_t sections) {
  const auto symbols = static_cast<std::uint32_t>(sections);
  for (std::size_t i = 0; i < sections; ++i)
    for (const bool addends : {false, true}) {
      ElfWriter::Section section = relocations_of(parts.sections[i], addends);
      if (section.data.empty()) continue;
      Elf64_Shdr& header = parts.add(std::move(section));
      header.sh_link = symbols;
      header.sh_info = static_cast<std::uint32_t>(i);
      header.sh_entsize = addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    }
}

void add_names(Parts& parts) {
  ElfWriter::Section names = table_named(".shstrtab", SHT_STRTAB, 1);
  std::vector<std::uint32_t> places;
  for (const ElfWriter::Section& section : parts.sections)
    places.push_back(put_name(names.data, section.name));
  places.push_back(put_name(names.data, names.name));
  parts.add(std::move(names));
  for (std::size_t i = 0; i < places.size(); ++i) parts.headers[i].sh_name = places[i];
}

}  // namespace

std::string ElfWriter::bytes() const {
  Parts parts;
  for (const Section& section : sections_) parts.add(section);
  add_symbols(parts, symbols_);
  add_relocations(parts, sections_.size());
  add_names(parts);
  std::string out(sizeof(Elf64_Ehdr), '\0');
  for (std::size_t i = 1; i < parts.sections.size(); ++i) {
    Elf64_Shdr& header = parts.headers[i];
    out.resize(aligned(out.size(), header.sh_addralign));
    header.sh_offset = out.size();
    if (header.sh_type != SHT_NOBITS) out += parts.sections[i].data;
  }
  out.resize(aligned(out.size(), alignof(Elf64_Shdr)));
  Elf64_Ehdr header;
  std::memcpy(&header, model_.data(), sizeof header);
  header.e_type = ET_EXEC;
  header.e_shoff = out.size();
  header.e_phoff = header.e_phnum = 0;
  header.e_shentsize = sizeof(Elf64_Shdr);
  // Numbers that do not fit stand in section 0
  const std::size_t count = parts.headers.size();
  parts.headers[0] = {};
  if (count >= SHN_LORESERVE) {
    parts.headers[0].sh_size = count;
    parts.headers[0].sh_link = static_cast<Elf64_Word>(count - 1);
  }
  header.e_shnum = static_cast<Elf64_Half>(count >= SHN_LORESERVE ? 0 : count);
  header.e_shstrndx = static_cast<Elf64_Half>(count >= SHN_LORESERVE ? SHN_XINDEX : count - 1);
  std::memcpy(out.data(), &header, sizeof header);
  for (const Elf64_Shdr& h : parts.headers) put(out, h);
  return out;
}

}  // namespace simtlab::machine

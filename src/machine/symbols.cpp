#include "machine/symbols.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/immortal.h"
#include "machine/relocation.h"

namespace simtlab::machine {
namespace {

constexpr std::string_view global_prefix = ".nv.global", constant_prefix = ".nv.constant",
                           shared_prefix = ".nv.shared", launch_bank_prefix = ".nv.constant0",
                           code_prefix = ".text.";
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 36;  // of one section of variables

// Functions that the driver provides.
struct SystemName {
  std::string_view name;
  SystemCall call;
};
constexpr SystemName system_names[] = {{"vprintf", SystemCall::print},
                                       {"malloc", SystemCall::allocate},
                                       {"free", SystemCall::release},
                                       {"__assertfail", SystemCall::fail_assertion}};

std::string_view name_of(SystemCall call) {
  return std::ranges::find(system_names, call, &SystemName::call)->name;
}

// Constant bank of a section: 3 of ".nv.constant3".
std::optional<unsigned> bank_of(std::string_view section) {
  if (!section.starts_with(constant_prefix)) return std::nullopt;
  const std::string_view digits = section.substr(constant_prefix.size());
  unsigned bank = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), bank);
  if (code != std::errc{}) return std::nullopt;
  return bank;
}

// The mark of shared memory in a symbol.
constexpr std::uint8_t shared_mark = 0x40;

bool holds_variables(std::uint32_t type) {
  return type == SHT_PROGBITS || type == SHT_NOBITS || type == section_cuda_global ||
         type == section_cuda_global_initial ||
         (type >= first_section_cuda_constant && type <= last_section_cuda_constant);
}

// What a relocation writes into data: so many bytes of an address that is shifted to the right. 0 bytes: the
// kind is not known.
struct DataField {
  std::uint8_t bytes = 0, shift = 0;
};

DataField field_of(Relocation type) {
  const auto byte = [&](Relocation first) {
    return DataField{1, static_cast<std::uint8_t>(
                            8 * (static_cast<std::uint32_t>(type) - static_cast<std::uint32_t>(first)))};
  };
  switch (type) {
    case Relocation::absolute_32:
    case Relocation::generic_32:
    case Relocation::function_data_32:
    case Relocation::unified_data_32:
    case Relocation::data_low: return {4, 0};
    case Relocation::data_high: return {4, 32};
    case Relocation::absolute_64:
    case Relocation::generic_64:
    case Relocation::function_data_64:
    case Relocation::unified_data_64: return {8, 0};
    default: break;
  }
  if (type >= Relocation::data_byte_0 && type <= Relocation::data_byte_56)
    return byte(Relocation::data_byte_0);
  if (type >= Relocation::generic_byte_0 && type <= Relocation::generic_byte_56)
    return byte(Relocation::generic_byte_0);
  if (type >= Relocation::function_byte_0 && type <= Relocation::function_byte_56)
    return byte(Relocation::function_byte_0);
  if (type >= Relocation::unified_byte_0 && type <= Relocation::unified_byte_56)
    return byte(Relocation::unified_byte_0);
  return {};
}

bool takes_address(Relocation type) {
  switch (type) {
    case Relocation::bundled_low:
    case Relocation::bundled_high:
    case Relocation::bundled_function_word:
    case Relocation::bundled_function_low:
    case Relocation::bundled_function_high:
    case Relocation::absolute_word:
    case Relocation::absolute_low:
    case Relocation::absolute_high:
    case Relocation::function_word:
    case Relocation::function_low:
    case Relocation::function_high:
    case Relocation::unified_low:
    case Relocation::unified_high: return true;
    default: return field_of(type).bytes != 0;
  }
}

}  // namespace

bool is_system_call(std::string_view name) {
  return std::ranges::find(system_names, name, &SystemName::name) != std::end(system_names);
}

bool is_dynamic_shared(const ElfSymbol& symbol) {
  return symbol.section == SHN_UNDEF && symbol.size == 0 && (symbol.other & shared_mark) != 0;
}

Symbols::Symbols(const Image& image, ptx::Module& module) : image_(image), module_(module) {
  // Registers that Maxwell and Pascal call hold the lower half: it is not 0, and above those of the driver.
  std::uint64_t code_end = in_bundles(image.generation) ? driver_window_bytes : 0;
  for (std::size_t i = 0; i < image.elf.sections.size(); ++i) {
    const ElfSection& s = image.elf.sections[i];
    if (s.name.starts_with(code_prefix)) {
      constexpr std::uint64_t align = 128;
      code_begins_.emplace(i, code_end);
      code_end += (s.data.size() + align - 1) / align * align;
    }
    if (!holds_variables(s.type)) continue;
    if (s.name == global_prefix || s.name.starts_with(std::string(global_prefix) + ".") ||
        (bank_of(s.name) && !s.name.starts_with(launch_bank_prefix)))
      add_section(i);
  }
  add_parts();
  for (std::size_t i = 0; i < image.elf.sections.size(); ++i)
    if (image.elf.sections[i].name.starts_with(launch_bank_prefix)) add_textures(i);
  module.allocates = std::ranges::any_of(image.elf.symbols, [](const ElfSymbol& s) {
    return s.section == SHN_UNDEF && s.name == name_of(SystemCall::allocate);
  });
}

// The variable of a texture reference. The file has no data for it: the symbol is undefined.
std::uint32_t Symbols::texture_named(const std::string& name) {
  const auto found = std::ranges::find(module_.variables, name, &ptx::Variable::name);
  const auto index = static_cast<std::uint32_t>(found - module_.variables.begin());
  if (found != module_.variables.end()) return index;
  ptx::Variable v;
  v.name = name;
  v.space = ptx::Space::tex;
  v.reference = ptx::Type::texref;
  module_.variables.push_back(std::move(v));
  return index;
}

void Symbols::add_textures(std::size_t index) {
  for (const ElfRelocation& r : image_.elf.relocations_of(index)) {
    if (static_cast<Relocation>(r.type) != Relocation::texture || r.symbol >= image_.elf.symbols.size())
      damaged(image_.name, image_.elf.sections[index], r.offset,
              fmt::format("a relocation of the unknown kind {}", r.type));
    textures_[index][static_cast<std::uint32_t>(r.offset)] = texture_named(image_.elf.symbols[r.symbol].name);
  }
}

const std::map<std::uint32_t, std::uint32_t>& Symbols::textures_in(std::size_t section) const {
  static const Immortal<std::map<std::uint32_t, std::uint32_t>> none;
  const auto found = textures_.find(section);
  return found == textures_.end() ? *none : found->second;
}

void Symbols::add_section(std::size_t index) {
  const ElfSection& s = image_.elf.sections[index];
  if (s.size > most_bytes) damaged(image_.name, s, 0, fmt::format("its variables take {} bytes", s.size));
  if (s.size == 0) return;
  ptx::Variable v;
  v.name = s.name;
  v.space = bank_of(s.name) ? ptx::Space::constant : ptx::Space::global;
  v.bytes = s.size;
  constexpr std::uint64_t most_align = 4096;
  v.align = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(s.align, 16, most_align));
  if ((v.align & (v.align - 1)) != 0) damaged(image_.name, s, 0, fmt::format("an alignment of {}", s.align));
  v.initial.assign(s.data.begin(), s.data.end());
  variables_.emplace(index, static_cast<std::uint32_t>(module_.variables.size()));
  module_.variables.push_back(std::move(v));
}

void Symbols::add_parts() {
  for (const ElfSymbol& symbol : image_.elf.symbols) {
    const auto section = variables_.find(symbol.section);
    if ((symbol.type != STT_OBJECT && symbol.type != symbol_cuda_object) || section == variables_.end() ||
        symbol.name.empty())
      continue;
    const ptx::Variable& whole = module_.variables[section->second];
    if (symbol.value > whole.bytes || symbol.size > whole.bytes - symbol.value)
      damaged(image_.name, image_.elf.sections[symbol.section], symbol.value,
              fmt::format("variable '{}' of {} bytes is not inside", symbol.name, symbol.size));
    ptx::Variable part;
    part.name = symbol.name;
    part.space = whole.space;
    part.bytes = symbol.size;
    part.within = static_cast<std::int32_t>(section->second);
    part.within_offset = symbol.value;
    module_.variables.push_back(std::move(part));
  }
}

SymbolPlace Symbols::place_of(std::uint32_t number) const {
  SymbolPlace out;
  if (number >= image_.elf.symbols.size()) return out;
  const ElfSymbol& symbol = image_.elf.symbols[number];
  if (is_dynamic_shared(symbol)) return {.kind = SymbolPlace::Kind::dynamic_shared};
  if (symbol.section == SHN_UNDEF) {
    const auto* found = std::ranges::find(system_names, symbol.name, &SystemName::name);
    if (found == std::end(system_names)) return out;
    return {.kind = SymbolPlace::Kind::system_call, .index = static_cast<std::uint32_t>(found->call)};
  }
  if (symbol.section >= image_.elf.sections.size()) return out;
  const std::string& section = image_.elf.sections[symbol.section].name;
  out.offset = symbol.value;
  out.section = symbol.section;
  if (const auto found = variables_.find(symbol.section); found != variables_.end()) {
    out.kind = SymbolPlace::Kind::variable;
    out.index = found->second;
    out.bank = bank_of(section).value_or(0);
  } else if (section.starts_with(code_prefix)) {
    out.kind = SymbolPlace::Kind::code;
    out.index = symbol.section;
  } else if (section.starts_with(shared_prefix) || section == shared_of_functions) {
    out.kind = SymbolPlace::Kind::shared;
  }
  return out;
}

std::uint64_t Symbols::code_address(std::size_t section, std::uint64_t offset) const {
  return function_window + code_begins_.at(section) + offset;
}

const std::vector<std::size_t>& Symbols::taken_functions() const {
  if (taken_) return *taken_;
  std::set<std::size_t> found;
  std::size_t last = image_.elf.sections.size();
  for (const auto& [section, ignored] : image_.elf.relocated) {
    if (section == last || section >= image_.elf.sections.size()) continue;
    last = section;
    const bool is_code = code_begins_.contains(section);
    if (!is_code && !variables_.contains(section)) continue;
    for (const ElfRelocation& r : image_.elf.relocations_of(section)) {
      const auto type = static_cast<Relocation>(r.type);
      if (!takes_address(type)) continue;
      const SymbolPlace place = place_of(r.symbol);
      // Where a function itself goes on is no address that others call
      if (place.kind == SymbolPlace::Kind::code && (place.index != section || r.addend == 0))
        found.insert(place.index);
    }
  }
  return taken_.emplace(found.begin(), found.end());
}

void Symbols::relocate() {
  for (const auto& [section, variable] : variables_) relocate(section, variable);
}

void Symbols::relocate(std::size_t index, std::uint32_t number) {
  const ElfSection& section = image_.elf.sections[index];
  for (const ElfRelocation& r : image_.elf.relocations_of(index)) {
    ptx::Variable& variable = module_.variables[number];
    const auto [bytes, shift] = field_of(static_cast<Relocation>(r.type));
    if (bytes == 0)
      damaged(image_.name, section, r.offset, fmt::format("a relocation of the unknown kind {}", r.type));
    if (r.offset > variable.initial.size() || variable.initial.size() - r.offset < bytes)
      damaged(image_.name, section, r.offset, "a relocation outside of its section");
    std::int64_t addend = r.addend;
    if (!r.has_addend && shift == 0) std::memcpy(&addend, variable.initial.data() + r.offset, bytes);
    const SymbolPlace place = place_of(r.symbol);
    const auto put = [&](std::uint64_t value) {
      value >>= shift;
      std::memcpy(variable.initial.data() + r.offset, &value, bytes);
    };
    switch (place.kind) {
      case SymbolPlace::Kind::variable:
        variable.relocs.push_back(
            {.offset = r.offset,
             .is_function = false,
             .symbol = place.index,
             .addend = static_cast<std::int64_t>(place.offset + static_cast<std::uint64_t>(addend)),
             .bytes = static_cast<std::uint8_t>(bytes),
             .generic = true,
             .shift = shift});
        break;
      case SymbolPlace::Kind::system_call:
        put(system_call_address(static_cast<SystemCall>(place.index)));
        break;
      case SymbolPlace::Kind::code: {
        // A constant bank of a kernel may hold places in that kernel's code
        const std::uint64_t to = place.offset + static_cast<std::uint64_t>(addend);
        const bool own =
            section.name.ends_with(image_.elf.sections[place.index].name.substr(code_prefix.size() - 1));
        put(own ? to : code_address(place.index, to));
        break;
      }
      case SymbolPlace::Kind::shared: put(place.offset + static_cast<std::uint64_t>(addend)); break;
      case SymbolPlace::Kind::dynamic_shared:
        damaged(image_.name, section, r.offset,
                "the address of dynamic shared memory, which kernels differ in");
      case SymbolPlace::Kind::unknown: {
        const std::string name = r.symbol < image_.elf.symbols.size() ? image_.elf.symbols[r.symbol].name
                                                                      : std::to_string(r.symbol);
        throw Error(ExitCode::unsupported, "machine-unresolved",
                    fmt::format("{}:{}:0x{:x}: '{}' is not defined in this machine code", image_.name,
                                section.name, r.offset, name),
                    unresolved_hint);
      }
    }
  }
}

}  // namespace simtlab::machine

#include "machine/join.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "machine/call_graph.h"
#include "machine/elf_writer.h"
#include "machine/image.h"
#include "machine/launch_state.h"
#include "machine/link.h"
#include "machine/relocation.h"
#include "machine/symbols.h"

namespace simtlab::machine {
namespace {

constexpr std::string_view text_prefix = ".text.", info_prefix = ".nv.info.", shared_prefix = ".nv.shared.",
                           constant_prefix = ".nv.constant", global_prefix = ".nv.global";
constexpr std::size_t most_functions = 1 << 15, most_missing = 50;
// In an object, a section that is not in the result.
constexpr std::uint16_t dropped = SHN_UNDEF;

[[noreturn]] void refuse(std::string what, std::string hint) {
  throw Error(ExitCode::bad_input, "machine-link", std::move(what), std::move(hint));
}

// Where a section of an object went.
struct Piece {
  std::uint16_t section = dropped;
  std::uint64_t offset = 0;
};

// ".nv.constant2.F": bank and function; no function: of all.
struct Bank {
  std::string number;  // ".nv.constant2"
  std::string function;
};
std::optional<Bank> bank_of(const std::string& section) {
  if (!section.starts_with(constant_prefix)) return std::nullopt;
  const std::size_t end = section.find('.', constant_prefix.size());
  if (end == std::string::npos) return Bank{section, {}};
  return Bank{section.substr(0, end), section.substr(end + 1)};
}

struct Input {
  const Object* object = nullptr;
  Image image;
  std::vector<Piece> pieces;                           // by section
  std::vector<std::uint32_t> symbols;                  // by symbol: those of the result
  std::unordered_map<std::string, std::string> names;  // of kept functions: in the object, in the result
};

std::vector<Word> words_of(const ImageKernel& kernel) {
  std::vector<Word> out;
  for (std::size_t i = 0; i < kernel.words.size(); ++i) out.push_back(kernel.words[i]);
  return out;
}

// As symbols hold it.
std::uint16_t numbered(std::size_t section) {
  if (section >= SHN_LORESERVE) refuse("the objects have too many sections together", "link fewer of them");
  return static_cast<std::uint16_t>(section);
}

struct JoinedFunction {
  std::size_t input = 0;
  const ImageKernel* kernel = nullptr;
  std::string name;
  std::uint16_t section = 0;  // of the result
};

// A symbol that other objects may use.
struct Definition {
  std::size_t input = 0, symbol = 0;
  bool weak = false, common = false;
};

class Joiner {
 public:
  Joiner(const std::vector<Object>& objects, Missing missing)
      : missing_(missing), out_(std::as_bytes(std::span(objects.front().bytes))) {
    for (const Object& object : objects) {
      Input input;
      input.object = &object;
      input.image = read_image(std::as_bytes(std::span(object.bytes)), object.name);
      input.pieces.resize(input.image.elf.sections.size());
      input.symbols.resize(input.image.elf.symbols.size());
      inputs_.push_back(std::move(input));
    }
    for (const Input& input : inputs_)
      if (input.image.generation != inputs_.front().image.generation)
        refuse(fmt::format("{} is machine code for sm_{}, {} for sm_{}", objects.front().name,
                           inputs_.front().image.generation, input.object->name, input.image.generation),
               "build all objects for one architecture (-arch)");
  }

  std::string join() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) define(i);
    for (std::size_t i = 0; i < inputs_.size(); ++i) place_code(i);
    for (Input& input : inputs_) place_data(input);
    check_banks();
    for (const bool local : {true, false})
      for (std::size_t i = 0; i < inputs_.size(); ++i) add_symbols(i, local);
    for (std::size_t i = 0; i < inputs_.size(); ++i) bind_symbols(i);
    place_shared_of_functions();
    find_calls();
    finish_functions();
    for (std::size_t i = 0; i < inputs_.size(); ++i) add_relocations(i);
    if (!problems_.empty()) throw Error(ExitCode::unsupported, "machine-unresolved", std::move(problems_));
    return out_.bytes();
  }

 private:
  // ---- names

  void define(std::size_t index) {
    const Input& input = inputs_[index];
    for (std::size_t i = 0; i < input.image.elf.symbols.size(); ++i) {
      const ElfSymbol& s = input.image.elf.symbols[i];
      if (s.binding == STB_LOCAL || s.section == SHN_UNDEF || s.name.empty()) continue;
      const Definition now{index, i, s.binding == STB_WEAK, s.section == SHN_COMMON};
      const auto [found, is_new] = defined_.try_emplace(s.name, now);
      if (is_new) continue;
      Definition& before = found->second;
      const bool tentative = before.weak || before.common;
      if (!tentative && !now.weak && !now.common)
        refuse(fmt::format("'{}' is defined in {} and in {}", s.name, inputs_[before.input].object->name,
                           input.object->name),
               "define it in one of them, and declare it extern in the other");
      if (tentative && !now.weak && (!now.common || (before.common && s.size > symbol_of(before).size)))
        before = now;
    }
  }

  const ElfSymbol& symbol_of(const Definition& d) const {
    return inputs_[d.input].image.elf.symbols[d.symbol];
  }

  // ---- sections

  void place_code(std::size_t index) {
    Input& input = inputs_[index];
    const ElfFile& elf = input.image.elf;
    std::unordered_map<std::size_t, const ElfSymbol*> symbols;  // that name a section of code
    for (const ElfSymbol& s : elf.symbols)
      if (s.type == STT_FUNC && s.section < elf.sections.size() &&
          elf.sections[s.section].name == std::string(text_prefix) + s.name)
        symbols.try_emplace(s.section, &s);
    for (const ImageKernel& kernel : input.image.kernels) {
      const auto found = symbols.find(kernel.section);
      const auto definition = defined_.find(kernel.name);  // which a name in a damaged file has not
      const bool local =
          found == symbols.end() || found->second->binding == STB_LOCAL || definition == defined_.end();
      if (!local &&
          (definition->second.input != index || symbol_of(definition->second).section != kernel.section))
        continue;
      std::string name = kernel.name;
      for (unsigned n = 2; (local && defined_.contains(name)) || !taken_names_.insert(name).second; ++n)
        name = fmt::format("{}.{}", kernel.name, n);
      if (functions_.size() == most_functions)
        refuse(fmt::format("the objects have more than {} functions", most_functions), "link fewer of them");
      input.names.emplace(kernel.name, name);
      const ElfSection& code = elf.sections[kernel.section];
      check_align(input, code);
      const std::size_t section = out_.add_section(std::string(text_prefix) + name, SHT_PROGBITS, code.align);
      out_.append(section, code.data, 0, code.align);
      input.pieces[kernel.section].section = numbered(section);
      functions_.push_back({index, &kernel, name, numbered(section)});
    }
  }

  void place_data(Input& input) {
    const std::vector<ElfSection>& sections = input.image.elf.sections;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const ElfSection& s = sections[i];
      if (s.name == global_prefix || s.name.starts_with(std::string(global_prefix) + ".")) {
        const bool initial = s.type == SHT_PROGBITS || s.type == section_cuda_global_initial;
        append(input, i, initial ? ".nv.global.init" : ".nv.global", initial ? SHT_PROGBITS : SHT_NOBITS);
      } else if (s.name == ".debug_line" || (inputs_.size() == 1 && (s.name == ".nv_debug_line_sass" ||
                                                                     s.name == ".nv_debug_ptx_txt"))) {
        append(input, i, s.name, SHT_PROGBITS);
      } else if (const auto bank = bank_of(s.name)) {
        const auto function = input.names.find(bank->function);
        // Launches have bank 0 of a kernel. The others are joined: functions that kernels share have their
        // constants in one place
        const bool own = bank->number == std::string(constant_prefix) + "0";
        if ((own || !bank->function.empty()) && function == input.names.end()) continue;
        append(input, i, own ? fmt::format("{}.{}", bank->number, function->second) : bank->number,
               SHT_PROGBITS);
      }
    }
  }

  static void check_align(const Input& input, const ElfSection& s) {
    constexpr std::uint64_t most = 4096;
    if (s.align > most || (s.align & (s.align - 1)) != 0)
      damaged(input.object->name, s, 0, fmt::format("an alignment of {}", s.align));
  }

  void append(Input& input, std::size_t index, const std::string& name, std::uint32_t type) {
    const ElfSection& s = input.image.elf.sections[index];
    check_align(input, s);
    constexpr std::uint64_t most = std::uint64_t{1} << 36;
    if (s.size > most) damaged(input.object->name, s, 0, fmt::format("its variables take {} bytes", s.size));
    const std::size_t section = out_.section_named(name, type);
    input.pieces[index] = {numbered(section),
                           out_.append(section, s.data, s.size, std::max<std::uint64_t>(s.align, 1))};
  }

  void check_banks() {
    constexpr std::size_t room = 64 << 10;
    for (unsigned bank = 1; bank <= 17; ++bank) {
      const std::string name = fmt::format("{}{}", constant_prefix, bank);
      const std::size_t bytes = out_.section(out_.section_named(name, SHT_PROGBITS)).data.size();
      if (bytes > room)
        refuse(fmt::format("the objects have {} bytes in constant bank {}, which has {}", bytes, bank, room),
               "link fewer objects, or keep constants in global memory");
    }
  }

  // ---- symbols

  bool is_kept(std::size_t index, const ElfSymbol& s) const {
    return s.section < inputs_[index].pieces.size() && inputs_[index].pieces[s.section].section != dropped;
  }

  void add_symbols(std::size_t index, bool local) {
    Input& input = inputs_[index];
    for (std::size_t i = 1; i < input.image.elf.symbols.size(); ++i) {
      const ElfSymbol& s = input.image.elf.symbols[i];
      if (local != (s.binding == STB_LOCAL)) continue;
      const bool shared = is_shared(input, s);
      if (local ? !shared && !is_kept(index, s) : !is_first_of(index, i)) continue;
      ElfSymbol now = s;
      if (now.type == symbol_cuda_object) now.type = STT_OBJECT;
      if (s.type == STT_FUNC && local) {
        const auto name = input.names.find(s.name);
        if (name != input.names.end()) now.name = name->second;
      }
      if (s.section == SHN_COMMON) {
        const std::size_t section = out_.section_named(".nv.global", SHT_NOBITS);
        now.section = numbered(section);
        const std::uint64_t align = std::clamp<std::uint64_t>(s.value & (0 - s.value), 1, 4096);
        now.value = out_.append(section, {}, std::min(s.size, std::uint64_t{1} << 36), align);
      } else if (is_kept(index, s)) {
        now.section = input.pieces[s.section].section;
        now.value += input.pieces[s.section].offset;
      } else {
        now.section = SHN_UNDEF;  // those of shared memory get their place later
      }
      input.symbols[i] = out_.add_symbol(std::move(now));
    }
  }

  // Of all objects that name a symbol, the one that defines it; else the first.
  bool is_first_of(std::size_t index, std::size_t i) {
    const ElfSymbol& s = inputs_[index].image.elf.symbols[i];
    const auto found = defined_.find(s.name);
    if (found != defined_.end()) return found->second.input == index && found->second.symbol == i;
    return undefined_.try_emplace(s.name, Definition{index, i}).second;
  }

  void bind_symbols(std::size_t index) {
    Input& input = inputs_[index];
    for (std::size_t i = 1; i < input.image.elf.symbols.size(); ++i) {
      const ElfSymbol& s = input.image.elf.symbols[i];
      if (s.binding == STB_LOCAL || input.symbols[i] != 0) continue;
      auto found = defined_.find(s.name);
      if (found == defined_.end()) found = undefined_.find(s.name);
      input.symbols[i] = inputs_[found->second.input].symbols[found->second.symbol];
    }
  }

  // ---- shared memory

  static bool is_shared(const Input& input, const ElfSymbol& s) {
    if (s.section == SHN_UNDEF || s.section >= input.image.elf.sections.size()) return false;
    const std::string& name = input.image.elf.sections[s.section].name;
    return name == shared_of_functions || name.starts_with(shared_prefix);
  }

  // Of Hopper's blocks the first bytes are reserved. Code counts from behind them.
  std::uint32_t reserved_shared() const {
    return inputs_.front().image.generation >= 90 ? reserved_shared_bytes : 0;
  }

  // The value of a variable in shared memory is its alignment until it has a place.
  struct SharedVariable {
    std::uint32_t symbol;
    std::uint64_t align, size;
  };
  static SharedVariable shared_variable(std::uint32_t symbol, const ElfSymbol& s) {
    return {symbol, std::clamp<std::uint64_t>(s.value & (0 - s.value), 1, 1024), s.size};
  }
  // From `at` on. Returns where they end.
  std::uint64_t place_shared(std::vector<SharedVariable> all, std::uint16_t section, std::uint64_t at) {
    std::ranges::stable_sort(all, std::greater{}, &SharedVariable::align);
    for (const SharedVariable& v : all) {
      at = aligned(at, v.align);
      out_.symbol(v.symbol).section = section;
      out_.symbol(v.symbol).value = at;
      at = std::min<std::uint64_t>(at + v.size, std::uint64_t{1} << 31);
    }
    return at;
  }

  // Variables of functions are at one place in all kernels.
  void place_shared_of_functions() {
    std::vector<SharedVariable> all;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      for (std::size_t k = 1; k < inputs_[i].image.elf.symbols.size(); ++k) {
        const ElfSymbol& s = inputs_[i].image.elf.symbols[k];
        if (s.type == STT_SECTION || !is_shared(inputs_[i], s)) continue;
        if (inputs_[i].image.elf.sections[s.section].name != shared_of_functions) continue;
        if (const auto d = defined_.find(s.name); s.binding != STB_LOCAL && d != defined_.end())
          if (d->second.input != i || d->second.symbol != k) continue;
        all.push_back(shared_variable(inputs_[i].symbols[k], s));
      }
    if (all.empty()) return;
    place_shared(std::move(all), numbered(out_.section_named(std::string(shared_of_functions), SHT_NOBITS)),
                 0);
  }

  // ---- functions

  void find_calls() {
    std::unordered_map<std::size_t, std::size_t> by_section;  // of the result
    for (std::size_t i = 0; i < functions_.size(); ++i) by_section.emplace(functions_[i].section, i);
    for (const JoinedFunction& f : functions_) {
      const Input& input = inputs_[f.input];
      CalledFunction called{
          .calls_pointers = calls_through_registers(words_of(*f.kernel), input.image.generation),
          .registers = f.kernel->registers,
          .barriers = f.kernel->barriers,
          .stack_bytes = f.kernel->stack_bytes};
      for (const ElfRelocation& r : input.image.elf.relocations_of(f.kernel->section)) {
        if (r.symbol >= input.symbols.size()) continue;
        const std::uint32_t number = input.symbols[r.symbol];
        const ElfSymbol& s = out_.symbol(number);
        const auto function = by_section.find(s.section);
        if (function != by_section.end() && s.section != f.section)
          (is_call(static_cast<Relocation>(r.type)) ? called.calls : taken_).insert(function->second);
        if (is_dynamic_shared(s)) called.uses_dynamic_shared = true;
        if (s.section != SHN_UNDEF && out_.section(s.section).name == shared_of_functions)
          called.shared.insert(number);
      }
      called_.push_back(std::move(called));
    }
    for (const Input& input : inputs_)
      for (std::size_t i = 0; i < input.pieces.size(); ++i)
        if (const std::uint16_t section = input.pieces[i].section;
            section != dropped && !by_section.contains(section) &&
            !out_.section(section).name.starts_with(".debug") &&
            !out_.section(section).name.starts_with(".nv_debug"))
          for (const ElfRelocation& r : input.image.elf.relocations_of(i))
            if (r.symbol < input.symbols.size())
              if (const auto function = by_section.find(out_.symbol(input.symbols[r.symbol]).section);
                  function != by_section.end())
                taken_.insert(function->second);
  }

  void finish_functions() {
    std::string common;
    std::unordered_map<std::string, std::uint32_t> symbols;
    for (const JoinedFunction& f : functions_) {
      const ElfFile& elf = inputs_[f.input].image.elf;
      for (std::size_t i = 1; i < elf.symbols.size(); ++i)
        if (elf.symbols[i].type == STT_FUNC && elf.symbols[i].section == f.kernel->section &&
            elf.symbols[i].name == f.kernel->name)
          symbols.try_emplace(f.name, inputs_[f.input].symbols[i]);
    }
    CallGraph graph(called_, taken_);
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const JoinedFunction& f = functions_[i];
      const CallNeeds needs = f.kernel->is_entry ? graph.needs(i)
                                                 : CallNeeds{.registers = called_[i].registers,
                                                             .barriers = called_[i].barriers,
                                                             .stack_bytes = called_[i].stack_bytes};
      if (f.kernel->is_entry) place_shared_of(f, needs);
      add_info(f, needs);
      if (const auto symbol = symbols.find(f.name); symbol != symbols.end()) {
        add_attribute(common, attribute_register_count, symbol->second, needs.registers);
        add_attribute(common, attribute_frame_size, symbol->second, called_[i].stack_bytes);
        add_attribute(common, attribute_min_stack_size, symbol->second, needs.stack_bytes);
      }
    }
    out_.append(out_.section_named(".nv.info", section_cuda_info), std::as_bytes(std::span(common)), 0, 4);
  }

  // A kernel's own variables stand behind those of the functions that it calls.
  void place_shared_of(const JoinedFunction& f, const CallNeeds& needs) {
    Input& input = inputs_[f.input];
    const auto own = input.image.elf.section_number(std::string(shared_prefix) + f.kernel->name);
    std::uint64_t end = 0;
    for (const std::uint32_t symbol : needs.shared)
      end = std::max(end, out_.symbol(symbol).value + out_.symbol(symbol).size);
    if (!own && needs.shared.empty() && !needs.uses_dynamic_shared) return;
    const std::size_t section = out_.section_named(std::string(shared_prefix) + f.name, SHT_NOBITS);
    constexpr std::uint64_t align = 16;
    if (own) {
      const ElfSection& s = input.image.elf.sections[*own];
      const std::uint64_t at = aligned(end, std::clamp<std::uint64_t>(s.align & (0 - s.align), align, 1024));
      std::vector<SharedVariable> all;
      for (std::size_t i = 1; i < input.image.elf.symbols.size(); ++i) {
        const ElfSymbol& symbol = input.image.elf.symbols[i];
        if (symbol.section != *own || input.symbols[i] == 0) continue;
        if (symbol.type != STT_SECTION) {
          all.push_back(shared_variable(input.symbols[i], symbol));
          continue;
        }
        out_.symbol(input.symbols[i]).section = numbered(section);
        out_.symbol(input.symbols[i]).value = at;
      }
      end = std::max(place_shared(std::move(all), numbered(section), at), at + s.size);
    }
    if (needs.uses_dynamic_shared) end = aligned(end, align);
    out_.append(section, {}, std::min(end, std::uint64_t{1} << 31) + reserved_shared(), align);
  }

  static std::uint64_t aligned(std::uint64_t value, std::uint64_t align) {
    return (value + align - 1) / align * align;
  }

  void add_info(const JoinedFunction& f, const CallNeeds& needs) {
    const ElfSection* const before =
        inputs_[f.input].image.elf.section(std::string(info_prefix) + f.kernel->name);
    const std::size_t section = out_.section_named(std::string(info_prefix) + f.name, section_cuda_info);
    if (before != nullptr) out_.append(section, before->data, 0, 4);
    // The last one counts
    const std::string barriers = {2, static_cast<char>(attribute_barrier_count),
                                  static_cast<char>(needs.barriers), 0};
    if (f.kernel->is_entry) out_.append(section, std::as_bytes(std::span(barriers)), 0, 4);
  }

  static void add_attribute(std::string& out, std::uint8_t attribute, std::uint32_t symbol,
                            std::uint32_t value) {
    constexpr char sized = 4, bytes = 8;
    out += {sized, static_cast<char>(attribute), bytes, 0};
    for (const std::uint32_t word : {symbol, value})
      out.append(reinterpret_cast<const char*>(&word), sizeof word);
  }

  // ---- relocations

  void add_relocations(std::size_t index) {
    const Input& input = inputs_[index];
    for (std::size_t i = 0; i < input.pieces.size(); ++i) {
      const Piece& piece = input.pieces[i];
      if (piece.section == dropped) continue;
      for (ElfRelocation r : input.image.elf.relocations_of(i)) {
        const std::uint32_t before = r.symbol;
        if (before >= input.symbols.size())
          damaged(input.object->name, input.image.elf.sections[i], r.offset,
                  fmt::format("a relocation of symbol {}", before));
        r.offset += piece.offset;
        r.symbol = input.symbols[before];
        if (missing_ == Missing::fail) check(input, i, r, input.image.elf.symbols[before]);
        out_.section(piece.section).relocations.push_back(r);
      }
    }
  }

  void check(const Input& input, std::size_t section, const ElfRelocation& r, const ElfSymbol& before) {
    const ElfSymbol& s = out_.symbol(r.symbol);
    if (s.section != SHN_UNDEF || s.binding == STB_WEAK || is_system_call(s.name) || is_dynamic_shared(s) ||
        is_texture(static_cast<Relocation>(r.type)) || static_cast<Relocation>(r.type) == Relocation::none ||
        before.name.empty() || !reported_.insert(before.name).second || problems_.size() == most_missing)
      return;
    Diagnostic problem;
    problem.message = fmt::format("'{}' is not defined in the objects that are linked: {} needs it in {}",
                                  before.name, input.object->name, input.image.elf.sections[section].name);
    problem.hint = "link the object or library that defines it too";
    problems_.push_back(std::move(problem));
  }

  Missing missing_;
  ElfWriter out_;
  std::vector<Input> inputs_;
  std::unordered_map<std::string, Definition> defined_, undefined_;
  std::set<std::string> taken_names_, reported_;
  std::vector<JoinedFunction> functions_;
  std::vector<CalledFunction> called_;
  std::set<std::size_t> taken_;  // functions whose address is
  std::vector<Diagnostic> problems_;
};

}  // namespace

bool is_relocatable(Bytes device_elf) {
  const auto header = value_at<Elf64_Ehdr>(device_elf, 0);
  return header && header->e_type == ET_REL;
}

std::string join_objects(const std::vector<Object>& objects, Missing missing) {
  for (const Object& object : objects) {
    const Bytes bytes = std::as_bytes(std::span(object.bytes));
    if (is_device_elf(bytes) && !is_relocatable(bytes))
      refuse(fmt::format("{} is linked already", object.name), "build it with -rdc=true");
  }
  if (objects.empty()) refuse("there is no object to link", "give one at least");
  return Joiner(objects, missing).join();
}

}  // namespace simtlab::machine

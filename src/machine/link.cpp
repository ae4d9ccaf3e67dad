#include "machine/link.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/error.h"
#include "machine/decode.h"
#include "machine/launch_state.h"
#include "machine/relocation.h"

namespace simtlab::machine {
namespace {

// In instructions. Of bundles whole ones, since control words stand between.
constexpr std::uint64_t section_align_of(unsigned generation) {
  return in_bundles(generation) ? 8 * instructions_a_bundle : 128 / word_bytes;
}
constexpr std::uint64_t most_words = std::uint64_t{1} << 22;

class Linker {
 public:
  Linker(const Image& image, const ImageKernel& kernel, const Symbols& symbols)
      : image_(image), kernel_(kernel), symbols_(symbols) {}

  LinkedCode link() {
    place(kernel_.section);
    // Sections are placed as they are found.
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const std::size_t section = sections_[i];
      for (const ElfRelocation& r : image_.elf.relocations_of(section)) relocate(section, r);
      if (i + 1 == sections_.size() && calls_register())
        for (const std::size_t function : symbols_.taken_functions()) place(function);
    }
    for (const auto& [section, begin] : begins_)
      out_.functions.push_back({symbols_.code_address(section, 0), static_cast<std::uint32_t>(begin),
                                static_cast<std::uint32_t>(size_of(section))});
    std::ranges::sort(out_.functions, {}, &FunctionPlace::address);
    return std::move(out_);
  }

 private:
  // Asked once, of the sections that are there.
  bool calls_register() {
    return !std::exchange(asked_, true) && !symbols_.taken_functions().empty() &&
           calls_through_registers(out_.words, image_.generation);
  }

  std::uint64_t place(std::size_t index) {
    if (const auto found = begins_.find(index); found != begins_.end()) return found->second;
    const std::uint64_t align = section_align_of(image_.generation);
    const std::uint64_t begin = (out_.words.size() + align - 1) / align * align;
    const Words words(image_.generation, image_.elf.sections[index].data);
    if (begin + words.size() > most_words)
      damaged(image_.name, fmt::format("kernel {} has more than {} instructions", kernel_.name, most_words));
    out_.words.resize(begin, no_operation_word());
    for (std::size_t i = 0; i < words.size(); ++i) out_.words.push_back(words[i]);
    begins_.emplace(index, begin);
    sections_.push_back(index);
    return begin;
  }

  std::size_t size_of(std::size_t section) const {
    return Words(image_.generation, image_.elf.sections[section].data).size();
  }

  Word no_operation_word() const {
    return in_bundles(image_.generation) ? Word{0x50b0000000070f00ull, 0x000fe00000000000ull}
                                         : Word{0x0000000000007918ull, 0x000fc00000000000ull};
  }

  void relocate(std::size_t section, const ElfRelocation& r) {
    const auto at = instruction_at(image_.generation, r.offset);
    if (!at || r.offset >= image_.elf.sections[section].data.size())
      damaged(image_.name, image_.elf.sections[section], r.offset, "a relocation outside of the code");
    const std::uint64_t number = begins_.at(section) + *at;
    const SymbolPlace place = symbols_.place_of(r.symbol);
    switch (static_cast<Relocation>(r.type)) {
      case Relocation::none: return;
      case Relocation::bundled_low:
      case Relocation::bundled_function_low: return address(section, number, r, place, 0, 20);
      case Relocation::bundled_high:
      case Relocation::bundled_function_high: return address(section, number, r, place, 32, 20);
      case Relocation::bundled_word:
        if (place.kind == SymbolPlace::Kind::code || place.kind == SymbolPlace::Kind::system_call)
          return call_in_bundles(number, r, place);
        return offset(section, number, r, place, 20, 32);
      case Relocation::bundled_function_word: return offset(section, number, r, place, 20, 32);
      case Relocation::bundled_24: return offset(section, number, r, place, 20, 24);
      case Relocation::bundled_half: return offset(section, number, r, place, 20, 16);
      case Relocation::bundled_constant_19: return constant(section, number, r, place, 20, 34, 2);
      case Relocation::bundled_constant_21: return constant(section, number, r, place, 20, 36, 0);
      case Relocation::unified_low:
      case Relocation::function_low:
      case Relocation::absolute_low: return address(section, number, r, place, 0, 32);
      case Relocation::unified_high:
      case Relocation::function_high:
      case Relocation::absolute_high: return address(section, number, r, place, 32, 32);
      case Relocation::function_word:
      case Relocation::absolute_word: return offset(section, number, r, place, 32, 32);
      case Relocation::absolute_half: return offset(section, number, r, place, 32, 16);
      case Relocation::absolute_24_32: return offset(section, number, r, place, 32, 24);
      case Relocation::absolute_24_40: return offset(section, number, r, place, 40, 24);
      case Relocation::absolute_call: return call(section, number, r, place, false);
      case Relocation::absolute_call_90: return call(section, number, r, place, true);
      case Relocation::unified_offset:
        // No GPU shares functions here: the symbol is weak, and 0 where nobody defines it
        if (place.kind == SymbolPlace::Kind::unknown && r.symbol < image_.elf.symbols.size() &&
            image_.elf.symbols[r.symbol].binding == STB_WEAK)
          return;
        unresolved(section, r, "a function that several GPUs share");
      case Relocation::constant_19: return constant(section, number, r, place, 40, 54, 2);
      case Relocation::constant_21: return constant(section, number, r, place, 38, 54, 0);
      case Relocation::constant_22: return constant(section, number, r, place, 37, 54, 0);
      default:
        unresolved(section, r, fmt::format("a relocation of kind {}, which simtlab does not know", r.type));
    }
  }

  [[noreturn]] void unresolved(std::size_t section, const ElfRelocation& r, const std::string& what) const {
    const std::string name =
        r.symbol < image_.elf.symbols.size() ? image_.elf.symbols[r.symbol].name : std::to_string(r.symbol);
    throw Error(ExitCode::unsupported, "machine-unresolved",
                fmt::format("{}:{}:0x{:x}: {} ('{}')", image_.name, image_.elf.sections[section].name,
                            r.offset, what, name),
                unresolved_hint);
  }

  // 32 bits of an address.
  void address(std::size_t section, std::uint64_t number, const ElfRelocation& r, const SymbolPlace& target,
               unsigned shift, unsigned first) {
    const std::int64_t addend = r.has_addend ? r.addend
                                : shift == 0 ? static_cast<std::int64_t>(out_.words[number].bits(first, 32))
                                             : 0;
    const std::uint64_t offset = target.offset + static_cast<std::uint64_t>(addend);
    const auto put = [&](std::uint64_t value) { replace(out_.words[number], first, 32, value >> shift); };
    switch (target.kind) {
      case SymbolPlace::Kind::variable:
        out_.addresses[static_cast<std::uint32_t>(number)] = {
            .kind = ptx::Constant::Kind::global_symbol,
            .symbol = target.index | (shift == 0 ? 0 : upper_half),
            .value = offset};
        return;
      // The function need not be here: another kernel may be the one that calls it
      case SymbolPlace::Kind::code: return put(symbols_.code_address(target.index, offset));
      case SymbolPlace::Kind::shared: return put(offset);
      case SymbolPlace::Kind::dynamic_shared: return put(dynamic_shared() + offset);
      case SymbolPlace::Kind::system_call:
        return put(system_call_address(static_cast<SystemCall>(target.index)));
      case SymbolPlace::Kind::unknown:
        unresolved(section, r, "a symbol that is not defined in this machine code");
    }
  }

  // Where it begins. On Hopper code counts from behind the bytes that are reserved.
  std::uint64_t dynamic_shared() const {
    return image_.generation >= 90
               ? std::max(kernel_.shared_bytes, reserved_shared_bytes) - reserved_shared_bytes
               : kernel_.shared_bytes;
  }

  // A place in shared memory, or in its constant bank, which fits fewer bits than an address.
  void offset(std::size_t section, std::uint64_t number, const ElfRelocation& r, const SymbolPlace& target,
              unsigned first, unsigned width) {
    Word& word = out_.words[number];
    std::uint64_t to = r.has_addend ? static_cast<std::uint64_t>(r.addend) : word.bits(first, width);
    switch (target.kind) {
      case SymbolPlace::Kind::shared: to += target.offset; break;
      case SymbolPlace::Kind::dynamic_shared: to += dynamic_shared(); break;
      case SymbolPlace::Kind::variable:
        if (target.bank != 0) {
          check_bank(section, r, target);
          to += target.offset;
          break;
        }
        [[fallthrough]];
      case SymbolPlace::Kind::code:
        if (width == 32) return address(section, number, r, target, 0, first);
        [[fallthrough]];
      default:
        unresolved(section, r,
                   "a place in shared or constant memory that is not defined in this machine code");
    }
    if (to >> width != 0) unresolved(section, r, fmt::format("an offset of {}, above {} bits,", to, width));
    replace(word, first, width, to);
  }

  void check_bank(std::size_t section, const ElfRelocation& r, const SymbolPlace& target) const {
    if (const std::string& name = image_.elf.sections[target.section].name;
        name != fmt::format(".nv.constant{}", target.bank) &&
        name != fmt::format(".nv.constant{}.{}", target.bank, kernel_.name))
      unresolved(section, r, fmt::format("a constant in {}, a bank of another kernel", name));
  }

  // The address of the called code, in units of 4 bytes.
  void call(std::size_t section, std::uint64_t number, const ElfRelocation& r, const SymbolPlace& target,
            bool in_two) {
    std::uint64_t to = 0;
    if (target.kind == SymbolPlace::Kind::code)
      to = place(target.index) * word_bytes + target.offset;
    else if (target.kind == SymbolPlace::Kind::system_call)
      to = system_call_address(static_cast<SystemCall>(target.index));
    else
      unresolved(section, r, "a call of a function that is not defined in this machine code");
    to = (to + static_cast<std::uint64_t>(r.addend)) / 4;
    Word& word = out_.words[number];  // place() may have moved them
    if (in_two) {
      replace(word, 16, 8, to);
      replace(word, 34, 47, to >> 8);
    } else {
      replace(word, 34, 47, to);
    }
  }

  // JCAL: the address as files have it.
  void call_in_bundles(std::uint64_t number, const ElfRelocation& r, const SymbolPlace& target) {
    constexpr unsigned first = 20, width = 32;
    std::uint64_t to = static_cast<std::uint64_t>(first_driver_call) + target.index * bundle_bytes;
    if (target.kind == SymbolPlace::Kind::code)
      to = place(target.index) / instructions_a_bundle * bundle_bytes + target.offset +
           static_cast<std::uint64_t>(r.addend);
    replace(out_.words[number], first, width, to);
  }

  // Offset and number of a constant bank.
  void constant(std::size_t section, std::uint64_t number, const ElfRelocation& r, const SymbolPlace& target,
                unsigned first, unsigned first_bank_bit, unsigned shift) {
    if (target.kind != SymbolPlace::Kind::variable)
      unresolved(section, r, "a constant that is not defined in this machine code");
    check_bank(section, r, target);
    constexpr unsigned bank_bits = 5;
    Word& word = out_.words[number];
    const unsigned width = first_bank_bit - first;
    const std::uint64_t before =
        r.has_addend ? static_cast<std::uint64_t>(r.addend) : word.bits(first, width) << shift;
    replace(word, first, width, (target.offset + before) >> shift);
    replace(word, first_bank_bit, bank_bits, target.bank);
  }

  static void replace(Word& word, unsigned first, unsigned width, std::uint64_t value) {
    for (unsigned i = 0; i < width; ++i) {
      std::uint64_t& half = first + i < 64 ? word.low : word.high;
      const std::uint64_t bit = std::uint64_t{1} << ((first + i) % 64);
      half = (value >> i & 1u) != 0 ? half | bit : half & ~bit;
    }
  }

  const Image& image_;
  const ImageKernel& kernel_;
  const Symbols& symbols_;
  LinkedCode out_;
  std::map<std::size_t, std::uint64_t> begins_;  // in instructions, by section
  std::vector<std::size_t> sections_;
  bool asked_ = false;
};

}  // namespace

bool calls_through_registers(std::span<const Word> words, unsigned generation) {
  return std::ranges::any_of(words, [&](Word word) {
    const auto decoded = decode(Forms::shipped(), generation, word, 0);
    const auto* const instruction = std::get_if<Instruction>(&decoded);
    if (instruction == nullptr) return false;
    const std::string_view mnemonic = instruction->mnemonic();
    return (mnemonic.starts_with("CALL") || mnemonic.starts_with("JMX")) &&
           (instruction->form->operand("Ra") >= 0 || instruction->form->operand("URa") >= 0 ||
            instruction->form->operand("c") >= 0);
  });
}

LinkedCode link(const Image& image, const ImageKernel& kernel, const Symbols& symbols) {
  return Linker(image, kernel, symbols).link();
}

}  // namespace simtlab::machine

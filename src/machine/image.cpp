#include "machine/image.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "machine/forms.h"

namespace simtlab::machine {
namespace {

// Of a thread, and of a block.
constexpr std::uint32_t most_registers = 255, most_barriers = 16;
constexpr std::string_view code_prefix = ".text.";

// Attributes of .nv.info sections.
enum Attribute : std::uint8_t {
  max_threads = 0x05,
  parameter_bank = 0x0a,
  required_threads = 0x10,
  frame_size = attribute_frame_size,
  min_stack_size = attribute_min_stack_size,
  kernel_parameter = 0x17,
  max_stack_size = 0x23,
  register_count = attribute_register_count,
  branch_targets = 0x34,
  barrier_count = attribute_barrier_count,
};

// How the value of an attribute is stored.
enum Format : std::uint8_t { format_none = 1, format_byte, format_half, format_sized };

// Calls each(attribute, value) for the entries of a section.
template <class F>
void for_attributes(const ElfFile& elf, const ElfSection& section, F&& each) {
  const Bytes data = section.data;
  for (std::uint64_t at = 0; at + 4 <= data.size();) {
    const auto format = std::to_integer<std::uint8_t>(data[at]);
    const auto attribute = std::to_integer<std::uint8_t>(data[at + 1]);
    std::uint64_t size = 0, begin = at + 2;
    switch (format) {
      case format_none:
      case format_half: size = 2; break;
      case format_byte: size = 2; break;  // padded
      case format_sized:
        size = *value_at<std::uint16_t>(data, at + 2);
        begin = at + 4;
        break;
      default: damaged(elf.name, fmt::format("{} has an entry of format {}", section.name, format));
    }
    if (begin + size > data.size()) damaged(elf.name, fmt::format("{} is cut off", section.name));
    each(attribute, data.subspan(begin, size));
    at = (begin + size + 3) / 4 * 4;
  }
}

std::uint32_t word_of(const ElfFile& elf, Bytes value, std::uint64_t at) {
  const auto word = value_at<std::uint32_t>(value, at);
  if (!word) damaged(elf.name, "an attribute of a kernel is too short");
  return *word;
}

class Reader {
 public:
  Reader(Bytes bytes, std::string name) {
    image_.name = name;
    image_.elf = read_elf(bytes, std::move(name));
    image_.generation = generation_of(bytes);
  }

  Image read() {
    if (!is_decoded(image_.generation))
      throw Error(ExitCode::unsupported, "machine-generation",
                  fmt::format("{} has machine code for sm_{}", image_.name, image_.generation),
                  fmt::format("simtlab executes that of sm_{}", decoded_generations));
    find_entries();
    for (std::size_t i = 0; i < image_.elf.sections.size(); ++i) read_kernel(i);
    for (std::size_t i = 0; i < image_.kernels.size(); ++i) by_name_.try_emplace(image_.kernels[i].name, i);
    for (const ElfSection& section : image_.elf.sections)
      if (section.name == ".nv.info") read_common(section);
    return std::move(image_);
  }

 private:
  void read_kernel(std::size_t index) {
    const ElfFile& elf = image_.elf;
    const ElfSection& section = elf.sections[index];
    if (section.type != SHT_PROGBITS || !section.name.starts_with(code_prefix)) return;
    ImageKernel kernel;
    kernel.name = section.name.substr(code_prefix.size());
    kernel.section = index;
    kernel.is_entry = entries_[index] != Mark::function;
    if (!is_whole(image_.generation, section.data.size()))
      damaged(elf.name, fmt::format("{} is no whole number of instructions", section.name));
    kernel.words = Words(image_.generation, section.data);
    if (const ElfSection* shared = elf.section(".nv.shared." + kernel.name))
      kernel.shared_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(shared->size, ~0u));
    kernel.barriers = barriers_in(section);
    if (const ElfSection* info = elf.section(".nv.info." + kernel.name)) read_attributes(*info, kernel);
    std::ranges::sort(kernel.parameters, {}, &KernelParameter::ordinal);
    image_.kernels.push_back(std::move(kernel));
  }

  // Of Maxwell and Pascal without an attribute for it.
  static std::uint32_t barriers_in(const ElfSection& section) {
    constexpr unsigned first = 20, mask = 0x1f;
    return std::min(static_cast<std::uint32_t>(section.flags >> first & mask), most_barriers);
  }

  // Kernels are marked in what other ELF files call the visibility of a symbol: the one that is named as its
  // section.
  void find_entries() {
    constexpr std::uint8_t entry_mark = 0x10;
    const ElfFile& elf = image_.elf;
    entries_.assign(elf.sections.size(), Mark::unknown);
    for (const ElfSymbol& s : elf.symbols)
      if (s.type == STT_FUNC && s.section < entries_.size() && entries_[s.section] == Mark::unknown &&
          elf.sections[s.section].name.size() == code_prefix.size() + s.name.size() &&
          elf.sections[s.section].name.ends_with(s.name))
        entries_[s.section] = (s.other & entry_mark) != 0 ? Mark::kernel : Mark::function;
  }

  void read_attributes(const ElfSection& info, ImageKernel& kernel) {
    const ElfFile& elf = image_.elf;
    for_attributes(elf, info, [&](std::uint8_t attribute, Bytes value) {
      switch (attribute) {
        case parameter_bank: {
          const std::uint32_t place = word_of(elf, value, 4);
          kernel.parameter_base = place & 0xffffu;
          kernel.parameter_bytes = place >> 16;
          break;
        }
        case kernel_parameter: {
          const std::uint32_t place = word_of(elf, value, 4), size = word_of(elf, value, 8);
          kernel.parameters.push_back({place & 0xffffu, place >> 16, size >> 18});
          break;
        }
        case max_threads:
          for (std::uint64_t i = 0; i < 3; ++i) kernel.most_threads[i] = word_of(elf, value, 4 * i);
          break;
        case required_threads:
          for (std::uint64_t i = 0; i < 3; ++i) kernel.required_threads[i] = word_of(elf, value, 4 * i);
          break;
        case barrier_count:
          if (const auto count = value_at<std::uint8_t>(value, 0)) kernel.barriers = *count;
          if (kernel.barriers > most_barriers)
            damaged(elf.name, fmt::format("kernel {} has {} barriers, more than {}", kernel.name,
                                          kernel.barriers, most_barriers));
          break;
        case branch_targets: read_branches(value, kernel); break;
        default: break;
      }
    });
  }

  // Records: the branch, two numbers of 16 bits, how many targets, the targets.
  void read_branches(Bytes value, ImageKernel& kernel) {
    constexpr std::uint64_t header = 12, word = 4;
    for (std::uint64_t at = 0; at < value.size();) {
      BranchTargets branch;
      branch.at = word_of(image_.elf, value, at);
      const std::uint64_t count = word_of(image_.elf, value, at + header - word);
      if (count > value.size() / word) damaged(image_.elf.name, "an attribute of a kernel is too short");
      for (std::uint64_t i = 0; i < count; ++i)
        branch.targets.push_back(word_of(image_.elf, value, at + header + i * word));
      at += header + count * word;
      kernel.branches.push_back(std::move(branch));
    }
  }

  ImageKernel* kernel_of_symbol(std::uint32_t symbol) {
    if (symbol >= image_.elf.symbols.size()) return nullptr;
    const auto found = by_name_.find(image_.elf.symbols[symbol].name);
    return found == by_name_.end() ? nullptr : &image_.kernels[found->second];
  }

  void read_common(const ElfSection& info) {
    const ElfFile& elf = image_.elf;
    for_attributes(elf, info, [&](std::uint8_t attribute, Bytes value) {
      if (attribute != register_count && attribute != frame_size && attribute != min_stack_size &&
          attribute != max_stack_size)
        return;
      ImageKernel* const kernel = kernel_of_symbol(word_of(elf, value, 0));
      if (kernel == nullptr) return;
      const std::uint32_t n = word_of(elf, value, 4);
      // The linker does not know how deep a kernel calls that recurses
      constexpr std::uint32_t unknown = 0xffffffffu;
      if (attribute == register_count) {
        if (n > most_registers)
          damaged(elf.name, fmt::format("kernel {} has {} registers a thread, more than {}", kernel->name, n,
                                        most_registers));
        kernel->registers = n;
      }
      if (attribute != register_count && n != unknown) kernel->stack_bytes = std::max(kernel->stack_bytes, n);
    });
  }

  // What the symbol of a section of code says about it.
  enum class Mark : std::uint8_t { unknown, kernel, function };

  Image image_;
  std::vector<Mark> entries_;                                  // by section
  std::unordered_map<std::string_view, std::size_t> by_name_;  // of kernels
};

}  // namespace

Image read_image(Bytes bytes, std::string name) { return Reader(bytes, std::move(name)).read(); }

}  // namespace simtlab::machine

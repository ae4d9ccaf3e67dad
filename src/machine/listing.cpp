#include "machine/listing.h"

#include <elf.h>
#include <fmt/format.h>

#include "machine/code.h"
#include "machine/print.h"

namespace simtlab::machine {
namespace {

// Where the instruction goes on, if it names that.
std::optional<std::uint64_t> target_of(const Instruction& instruction) {
  for (std::size_t i = 0; i < instruction.operand_count(); ++i) {
    const Operand& o = instruction.operands[i];
    if (o.kind != OperandKind::target || instruction.form->texts[i].hidden) continue;
    // An address that is added to a pair of registers has a name only if it says something
    const bool added = i > 0 && instruction.form->operands[i - 1].register_pair;
    if (added && (in_bundles(instruction.generation) ||
                  o.value == instruction.address + static_cast<std::int64_t>(word_bytes)))
      return std::nullopt;
    return static_cast<std::uint64_t>(o.value);
  }
  return std::nullopt;
}

// Functions that lie in the kernel's section: the kernel itself and those that it calls.
std::map<std::uint64_t, std::string> functions_in(const Image& image, const ImageKernel& kernel) {
  std::map<std::uint64_t, std::string> out;
  for (const ElfSymbol& s : image.elf.symbols)
    if (s.section == kernel.section && !s.name.empty() && s.type != STT_SECTION)
      if (const auto address = kernel.words.address_of(s.value)) out.insert_or_assign(*address, s.name);
  return out;
}

// Labels where branches lead, and the text of each instruction. Only addresses inside of the code have
// labels; those are numbered in their order.
void write(Listing& out) {
  for (const ListedInstruction& line : out.instructions)
    if (line.target && *line.target < out.instructions.size() * word_bytes)
      out.labels.try_emplace(*line.target);
  std::size_t number = 0;
  for (auto& [address, name] : out.labels)
    if (name.empty()) name = fmt::format(".L_{}", ++number);
  const auto name_of = [&](std::uint64_t address) {
    const auto found = out.labels.find(address);
    return found == out.labels.end() ? std::string() : fmt::format("`({})", found->second);
  };
  for (ListedInstruction& line : out.instructions)
    if (const auto* instruction = std::get_if<Instruction>(&line.decoded))
      line.text = text_of(*instruction, name_of);
}

// Addresses as files have them.
Listing as_in_file(Listing listing, unsigned generation) {
  if (!in_bundles(generation)) return listing;
  const auto of = [&](std::uint64_t address) {
    return static_cast<std::uint64_t>(address_in_file(generation, static_cast<std::int64_t>(address)));
  };
  std::map<std::uint64_t, std::string> labels;
  for (auto& [address, name] : listing.labels) labels.emplace(of(address), std::move(name));
  listing.labels = std::move(labels);
  for (ListedInstruction& line : listing.instructions) {
    line.address = static_cast<std::uint32_t>(of(line.address));
    if (line.target) line.target = of(*line.target);
  }
  return listing;
}

// The value that the loader puts into an instruction.
std::string relocation_text(const Image& image, const ElfRelocation& r) {
  if (r.symbol >= image.elf.symbols.size()) return {};
  const std::string& name = image.elf.symbols[r.symbol].name;
  const std::string what = r.addend == 0 ? name : fmt::format("{}+0x{:x}", name, r.addend);
  switch (static_cast<Relocation>(r.type)) {
    case Relocation::bundled_low:
    case Relocation::absolute_low: return fmt::format("32@lo({})", what);
    case Relocation::bundled_high:
    case Relocation::absolute_high: return fmt::format("32@hi({})", what);
    default: return what;
  }
}

}  // namespace

Listing list_kernel(const Image& image, const ImageKernel& kernel, const SourceLines& lines,
                    const PtxLines& ptx) {
  Listing out;
  out.labels = functions_in(image, kernel);
  for (std::size_t i = 0; i < kernel.words.size(); ++i) {
    const auto address = static_cast<std::uint32_t>(i * word_bytes);
    ListedInstruction line{.address = address,
                           .word = kernel.words[i],
                           .decoded = decode(Forms::shipped(), image.generation, kernel.words[i], address)};
    if (const auto* instruction = std::get_if<Instruction>(&line.decoded))
      line.target = target_of(*instruction);
    const auto in_file = static_cast<std::uint64_t>(address_in_file(image.generation, address));
    if (const SourceLine* source = lines.at(kernel.section, in_file)) {
      line.file = lines.files[source->file];
      line.line = source->line;
    }
    line.ptx_line = ptx.at(kernel.section, in_file);
    out.instructions.push_back(std::move(line));
  }
  write(out);
  for (const ElfRelocation& r : image.elf.relocations_of(kernel.section))
    if (const auto i = instruction_at(image.generation, r.offset); i && *i < out.instructions.size())
      out.instructions[*i].relocation = relocation_text(image, r);
  return as_in_file(std::move(out), image.generation);
}

Listing list_code(const ptx::Function& kernel, const std::map<unsigned, std::string>& files) {
  Listing out;
  const Code& code = *kernel.machine;
  out.labels.emplace(0, kernel.name);
  for (std::size_t i = 0; i < code.instructions.size(); ++i) {
    const auto address = static_cast<std::uint32_t>(i * word_bytes);
    ListedInstruction line{.address = address, .word = code.words[i], .decoded = code.instructions[i]};
    line.target = target_of(code.instructions[i]);
    if (const auto file = files.find(kernel.code[i].file); file != files.end()) {
      line.file = file->second;
      line.line = kernel.code[i].source_line;
    }
    if (code.ptx && i < code.ptx_lines.size()) line.ptx_line = code.ptx_lines[i];
    out.instructions.push_back(std::move(line));
  }
  write(out);
  return as_in_file(std::move(out), code.generation);
}

}  // namespace simtlab::machine

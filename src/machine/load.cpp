// From a cubin to a module that is executed.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "machine/classes.h"
#include "machine/decode.h"
#include "machine/image.h"
#include "machine/launch_state.h"
#include "machine/link.h"
#include "machine/print.h"
#include "machine/relocation.h"
#include "machine/symbols.h"
#include "machine/translator.h"
#include "machine/views.h"

namespace simtlab::machine {
namespace {

constexpr std::size_t most_problems = 50;

Diagnostic undecoded(const Image& image, const ImageKernel& kernel, Word word, std::uint32_t address,
                     const Undecoded& why) {
  Diagnostic out;
  out.message = fmt::format("{}: word 0x{:016x}{:016x} at 0x{:04x} of kernel {} is no known instruction: {}",
                            image.name, word.high, word.low, address, kernel.name, why.reason);
  return out;
}

std::vector<Instruction> decode_all(const Image& image, const ImageKernel& kernel,
                                    const std::vector<Word>& words, std::vector<Diagnostic>& problems) {
  std::vector<Instruction> out;
  out.reserve(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto address = static_cast<std::uint32_t>(i * word_bytes);
    auto decoded = decode(Forms::shipped(), image.generation, words[i], address);
    if (const auto* instruction = std::get_if<Instruction>(&decoded)) {
      out.push_back(*instruction);
      continue;
    }
    if (problems.size() < most_problems)
      problems.push_back(undecoded(image, kernel, words[i], address, std::get<Undecoded>(decoded)));
    return {};
  }
  return out;
}

// The stack of a thread where the code does not say how deep it goes: what cudaLimitStackSize is at first.
constexpr std::uint32_t default_stack_bytes = 1024;

// Functions that call and save registers.
bool may_recurse(const std::vector<Instruction>& code) {
  const auto any = [&](std::string_view prefix) {
    return std::ranges::any_of(code, [&](const Instruction& i) { return i.mnemonic().starts_with(prefix); });
  };
  return any("CALL") && any("STL");
}

// How many registers the code names.
Layout layout_of(const std::vector<Instruction>& code) {
  std::uint32_t registers = 2;
  bool uniform = false;
  for (const Instruction& instruction : code)
    for (std::size_t i = 0; i < instruction.operand_count(); ++i) {
      const Operand& o = instruction.operands[i];
      const auto use = [&](std::uint8_t number, unsigned count) {
        if (number != zero_register) registers = std::max<std::uint32_t>(registers, number + count);
      };
      // A vector has four registers at most, and begins at a multiple of its size
      if (o.kind == OperandKind::reg) use(o.number, 4 - o.number % 4);
      use(o.base, 2 - o.base % 2);
      uniform |= o.kind == OperandKind::ureg || o.uniform != zero_uniform;
    }
  Layout layout;
  layout.registers = std::min<std::uint32_t>((registers + 1) / 2 * 2, 256);
  layout.uniform = layout.registers;
  layout.temporary = layout.uniform + (uniform ? 64 : 0);
  layout.rows = layout.temporary + most_temporary_rows;
  return layout;
}

// Variables that hold the constant banks of a kernel.
ConstantBanks banks_of(const ptx::Module& module, const std::string& kernel) {
  ConstantBanks banks;
  for (std::uint32_t i = 0; i < module.variables.size(); ++i) {
    const std::string& name = module.variables[i].name;
    if (name == ".nv.constant2." + kernel) banks[2] = i;
    if (name == ".nv.constant3") banks[3] = i;
    if (name == ".nv.constant4") banks[4] = i;
  }
  return banks;
}

// The variable of a texture reference. The file has no data for it: the symbol is undefined.
std::uint32_t texture_named(ptx::Module& module, const std::string& name) {
  const auto found = std::ranges::find(module.variables, name, &ptx::Variable::name);
  const auto index = static_cast<std::uint32_t>(found - module.variables.begin());
  if (found != module.variables.end()) return index;
  ptx::Variable v;
  v.name = name;
  v.space = ptx::Space::tex;
  v.reference = ptx::Type::texref;
  module.variables.push_back(std::move(v));
  return index;
}

// Words of constant bank 0, behind the parameters, that are handles of texture references.
std::map<std::uint32_t, std::uint32_t> textures_of(ptx::Module& module, const Image& image,
                                                   const ImageKernel& kernel) {
  std::map<std::uint32_t, std::uint32_t> out;
  const std::string name = ".nv.constant0." + kernel.name;
  for (std::size_t i = 0; i < image.elf.sections.size(); ++i) {
    const ElfSection& section = image.elf.sections[i];
    if (section.name != name) continue;
    for (const ElfRelocation& r : image.elf.relocations_of(i)) {
      if (static_cast<Relocation>(r.type) != Relocation::texture || r.symbol >= image.elf.symbols.size())
        damaged(image.name, section, r.offset, fmt::format("a relocation of the unknown kind {}", r.type));
      out[static_cast<std::uint32_t>(r.offset)] = texture_named(module, image.elf.symbols[r.symbol].name);
    }
  }
  return out;
}

ptx::Function function_of(ptx::Module& module, const Image& image, const ImageKernel& kernel,
                          const Symbols& symbols, const SassTable& classes,
                          std::vector<Diagnostic>& problems) {
  ptx::Function f;
  f.name = kernel.name;
  f.is_entry = true;
  f.param_bytes = kernel.parameter_bytes;
  for (const KernelParameter& p : kernel.parameters)
    f.params.push_back({.name = fmt::format("parameter {}", p.ordinal),
                        .type = ptx::Type::b8,
                        .offset = p.offset,
                        .bytes = p.bytes,
                        .align = std::min(8u, std::max(1u, p.bytes & (0u - p.bytes)))});
  f.shared_bytes = kernel.shared_bytes;
  if (image.generation >= 90) f.shared_bytes = std::max(f.shared_bytes, reserved_shared_bytes);
  f.registers = f.unlimited_registers = kernel.registers;
  f.barriers = kernel.barriers;
  std::copy_n(kernel.most_threads, 3, f.max_ntid);
  std::copy_n(kernel.required_threads, 3, f.req_ntid);
  auto code = std::make_shared<Code>();
  code->generation = image.generation;
  const LinkedCode linked = link(image, kernel, symbols);
  code->instructions = decode_all(image, kernel, linked.words, problems);
  const std::uint32_t stack = may_recurse(code->instructions)
                                  ? std::max(kernel.stack_bytes, default_stack_bytes)
                                  : kernel.stack_bytes;
  f.frame_bytes = f.total_frame_bytes = (stack + 15) / 16 * 16;
  code->layout = layout_of(code->instructions);
  f.reg_rows = f.total_reg_rows = code->layout.rows;
  f.pred_count = f.total_preds = Layout::predicates + most_temporary_predicates;
  Translator translator(code->layout, f.constants, *code, banks_of(module, kernel.name));
  translator.set_textures(textures_of(module, image, kernel));
  for (const Instruction& instruction : code->instructions) {
    ptx::Inst view = view_of(instruction, classes, code->layout);
    const auto address = linked.addresses.find(static_cast<std::uint32_t>(instruction.address / word_bytes));
    translator.set_address(address == linked.addresses.end() ? nullptr : &address->second);
    try {
      translator.translate(instruction, view, kernel.name);
    } catch (const Error& error) {
      if (problems.size() < most_problems) problems.push_back(error.diagnostics().front());
    }
    f.code.push_back(view);
  }
  // Branches name instructions from here on.
  const auto size = static_cast<std::int64_t>(f.code.size());
  for (std::size_t i = 0; i < code->actions.size(); ++i) {
    Action& a = code->actions[i];
    if (a.flow != Flow::branch) continue;
    if (a.target < 0 || a.target % static_cast<std::int64_t>(word_bytes) != 0 ||
        a.target / static_cast<std::int64_t>(word_bytes) >= size)
      damaged(image.name, fmt::format("the branch at 0x{:04x} of kernel {} leaves its code", i * word_bytes,
                                      kernel.name));
    a.target /= static_cast<std::int64_t>(word_bytes);
    f.code[i].target = static_cast<std::uint32_t>(a.target);
  }
  f.machine = std::move(code);
  return f;
}

}  // namespace

std::shared_ptr<const ptx::Module> load_cubin(Bytes bytes, std::string name) {
  const Image image = read_image(bytes, std::move(name));
  const SassTable classes = SassTable::of_version(image.generation);
  auto module = std::make_shared<ptx::Module>();
  module->name = image.name;
  module->target = fmt::format("sm_{}", image.generation);
  Symbols symbols(image, *module);
  symbols.relocate();
  std::vector<Diagnostic> problems;
  for (const ImageKernel& kernel : image.kernels)
    if (kernel.is_entry)
      module->functions.push_back(function_of(*module, image, kernel, symbols, classes, problems));
  if (!problems.empty()) throw Error(ExitCode::unsupported, "machine-instruction", std::move(problems));
  return module;
}

}  // namespace simtlab::machine

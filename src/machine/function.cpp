#include "machine/function.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "machine/bundles.h"
#include "machine/decode.h"
#include "machine/launch_state.h"
#include "machine/link.h"
#include "machine/translator.h"

namespace simtlab::machine {
namespace {

constexpr std::size_t most_problems = 50;
constexpr unsigned last_bank = 17;

Diagnostic undecoded(const Image& image, const ImageKernel& kernel, Word word, std::uint32_t address,
                     const Undecoded& why) {
  Diagnostic out;
  out.message = fmt::format("{}: word 0x{:016x}{:016x} at 0x{:04x} of kernel {} is no known instruction: {}",
                            image.name, word.high, word.low, address_in_file(image.generation, address),
                            kernel.name, why.reason);
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

// The stack of a thread where the code does not say how deep it goes: what cudaLimitStackSize is at first. A
// launch may have another one.
constexpr std::uint32_t default_stack_bytes = 1024;

std::uint32_t frame_of(std::uint32_t stack) {
  constexpr std::uint64_t align = 16, most = 0xfffffff0u;
  return static_cast<std::uint32_t>(std::min((stack + align - 1) / align * align, most));
}

// Functions that call and save registers.
bool may_recurse(const std::vector<Instruction>& code) {
  const auto any = [&](std::string_view prefix) {
    return std::ranges::any_of(code, [&](const Instruction& i) { return i.mnemonic().starts_with(prefix); });
  };
  return (any("CAL") || any("JCAL") || any("PRET")) && any("STL");
}

// How many registers the code names. Rows behind them lie between the registers of two warps: as few as there
// can be.
Layout layout_of(const std::vector<Instruction>& code) {
  std::uint32_t registers = 2, uniform = 0;
  for (const Instruction& instruction : code)
    for (std::size_t i = 0; i < instruction.operand_count(); ++i) {
      const Operand& o = instruction.operands[i];
      const auto use = [&](std::uint8_t number, unsigned count) {
        if (number != zero_register) registers = std::max<std::uint32_t>(registers, number + count);
      };
      // A vector has four registers at most, and begins at a multiple of its size
      if (o.kind == OperandKind::reg) use(o.number, 4 - o.number % 4);
      use(o.base, 2 - o.base % 2);
      const auto use_uniform = [&](std::uint8_t number, unsigned count) {
        if (number != zero_uniform) uniform = std::max<std::uint32_t>(uniform, number + count);
      };
      if (o.kind == OperandKind::ureg) use_uniform(o.number, 8 - o.number % 8);
      use_uniform(o.uniform, 2 - o.uniform % 2);
    }
  Layout layout;
  layout.registers = std::min<std::uint32_t>((registers + 1) / 2 * 2, 256);
  layout.uniform = layout.registers;
  layout.temporary = layout.uniform + std::min<std::uint32_t>((uniform + 1) / 2 * 2, 64);
  layout.rows = layout.temporary;
  return layout;
}

// Variables that hold the constant banks of a kernel: those of its own, else those of the file.
ConstantBanks banks_of(const Image& image, const Symbols& symbols, const std::string& kernel) {
  ConstantBanks banks;
  for (const bool own : {false, true})
    for (unsigned bank = 1; bank <= last_bank; ++bank) {
      const auto section = image.elf.section_number(
          fmt::format(".nv.constant{}{}{}", bank, own ? "." : "", own ? kernel : ""));
      if (!section) continue;
      const auto variable = symbols.variables().find(*section);
      if (variable != symbols.variables().end())
        banks[static_cast<std::uint8_t>(bank)] = {variable->second, image.elf.sections[*section].size};
    }
  return banks;
}

void check_parameters(const Image& image, const ImageKernel& kernel) {
  const std::uint32_t base = launch_slots(image.generation).parameters;
  if (kernel.parameter_bytes != 0 && kernel.parameter_base != base)
    damaged(image.name, fmt::format("the parameters of kernel {} begin at 0x{:x} of constant bank 0, not at "
                                    "0x{:x} as those of sm_{}",
                                    kernel.name, kernel.parameter_base, base, image.generation));
  constexpr std::uint32_t bank_bytes = 64 << 10;
  if (kernel.parameter_bytes > bank_bytes - base)
    damaged(image.name, fmt::format("the parameters of kernel {} take {} bytes, and constant bank 0 has room "
                                    "for {}",
                                    kernel.name, kernel.parameter_bytes, bank_bytes - base));
  for (const KernelParameter& p : kernel.parameters)
    if (p.offset > kernel.parameter_bytes || kernel.parameter_bytes - p.offset < p.bytes)
      damaged(image.name,
              fmt::format("parameter {} of kernel {} ({} bytes at {}) is not inside of its {} bytes",
                          p.ordinal, kernel.name, p.bytes, p.offset, kernel.parameter_bytes));
}

// Branches name instructions from here on.
void place_targets(ptx::Function& f, Code& code, const std::string& file) {
  const auto size = static_cast<std::int64_t>(f.code.size());
  for (std::size_t i = 0; i < code.actions.size(); ++i) {
    Action& a = code.actions[i];
    const bool later = (a.flow == Flow::meet && a.target >= 0) || a.flow == Flow::set_return;
    if (a.flow != Flow::branch && a.flow != Flow::call && !later) continue;
    if (a.target < 0 || a.target % static_cast<std::int64_t>(word_bytes) != 0 ||
        a.target / static_cast<std::int64_t>(word_bytes) >= size)
      damaged(file, fmt::format("the branch at 0x{:04x} of kernel {} leaves its code",
                                address_in_file(code.generation, static_cast<std::int64_t>(i * word_bytes)),
                                f.name));
    a.target /= static_cast<std::int64_t>(word_bytes);
    if (!later) f.code[i].target = static_cast<std::uint32_t>(a.target);
  }
}

void set_lines(const CodeLines& lines, const ImageKernel& kernel, ptx::Function& f, Code& code) {
  code.ptx = lines.ptx;
  for (ptx::Inst& view : f.code) {
    const auto at = static_cast<std::uint64_t>(address_in_file(code.generation, view.line));
    if (const SourceLine* source = lines.source.at(kernel.section, at)) {
      view.file = source->file + 1;  // as Cubin numbers them
      view.source_line = source->line;
    }
    if (lines.ptx) code.ptx_lines.push_back(lines.ptx->at(kernel.section, at));
  }
}

// Those of the kernel's own section. The code of functions of other sections stands behind it.
BranchTable branches_of(const ImageKernel& kernel, unsigned generation) {
  const auto index_of = [&](std::uint32_t byte) {
    return static_cast<std::size_t>(address_of_file(generation, byte)) / word_bytes;
  };
  BranchTable out;
  for (const BranchTargets& branch : kernel.branches)
    for (const std::uint32_t byte : branch.targets) out[index_of(branch.at)].push_back(index_of(byte));
  return out;
}

// Functions behind the kernel in its section, and those of other sections.
std::vector<std::uint32_t> entries_of(const Image& image, const ImageKernel& kernel,
                                      const std::vector<FunctionPlace>& others) {
  std::vector<std::uint32_t> out;
  for (const FunctionPlace& f : others)
    if (f.first != 0) out.push_back(f.first);
  for (const ElfSymbol& s : image.elf.symbols)
    if (s.section == kernel.section && s.type == STT_FUNC && s.value != 0)
      if (const auto address = kernel.words.address_of(s.value))
        out.push_back(static_cast<std::uint32_t>(*address / word_bytes));
  std::ranges::sort(out);
  return out;
}

// What the rows of a frame hold, by the code, and what is on its stack of branches.
FlowStack lay_out(ptx::Function& f, Code& code, const BranchTable& branches) {
  code.layout = layout_of(code.instructions);
  FlowStack stack;
  if (in_bundles(code.generation)) stack = find_flow_stack(code.instructions, branches, code.entries, f.name);
  f.pred_count = f.total_preds = Layout::predicates + most_temporary_predicates;
  f.code.reserve(code.instructions.size());
  code.actions.reserve(code.instructions.size());
  return stack;
}

using Addresses = std::map<std::uint32_t, ptx::Constant>;  // that immediates are, by instruction
// Fills code.actions and f.code; what cannot be executed is a problem, or has no action.
void translate_all(Translator& translator, const Addresses& addresses, const FlowStack& stack, Views& views,
                   ptx::Function& f, Code& code, Purpose purpose) {
  std::vector<Diagnostic> problems;
  for (const Instruction& instruction : code.instructions) {
    ptx::Inst view = views.of(instruction, code.layout);
    const auto count_rows = [&](const auto& list, std::uint8_t count) {
      for (const ptx::Operand& o : std::span(list).first(count))
        if (o.kind == ptx::OperandKind::reg) code.layout.rows = std::max(code.layout.rows, o.index + 1);
    };
    count_rows(view.dst, view.dst_count);
    count_rows(view.src, view.src_count);
    const auto address = addresses.find(static_cast<std::uint32_t>(instruction.address / word_bytes));
    translator.set_address(address == addresses.end() ? nullptr : &address->second);
    if (!stack.effects.empty())
      translator.set_stack(stack.effects[static_cast<std::size_t>(&instruction - code.instructions.data())]);
    try {
      translator.translate(instruction, view, f.name);
    } catch (const Error& error) {
      if (purpose != Purpose::execution)
        code.actions.emplace_back();
      else if (problems.size() < most_problems)
        problems.push_back(error.diagnostics().front());
    }
    f.code.push_back(view);
  }
  f.reg_rows = f.total_reg_rows = code.layout.rows;
  if (!problems.empty()) throw Error(ExitCode::unsupported, "machine-instruction", std::move(problems));
}

}  // namespace

ptx::Function header_of(const Image& image, const ImageKernel& kernel) {
  check_parameters(image, kernel);
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
  f.frame_bytes = f.total_frame_bytes = frame_of(kernel.stack_bytes);
  std::copy_n(kernel.most_threads, 3, f.max_ntid);
  std::copy_n(kernel.required_threads, 3, f.req_ntid);
  return f;
}

void complete(ptx::Function& f, const Image& image, const ImageKernel& kernel, const Symbols& symbols,
              const CodeLines& lines, Views& views, Purpose purpose) {
  std::vector<Diagnostic> problems;
  auto code = std::make_shared<Code>();
  code->generation = image.generation;
  LinkedCode linked = link(image, kernel, symbols);
  code->words = linked.words;
  code->functions = std::move(linked.functions);
  code->instructions = decode_all(image, kernel, linked.words, problems);
  if (!problems.empty()) throw Error(ExitCode::unsupported, "machine-instruction", std::move(problems));
  if (code->instructions.empty()) damaged(image.name, fmt::format("kernel {} has no code", kernel.name));
  code->unknown_depth = may_recurse(code->instructions);
  if (code->unknown_depth) f.total_frame_bytes = frame_of(std::max(kernel.stack_bytes, default_stack_bytes));
  const BranchTable branches =
      in_bundles(image.generation) ? branches_of(kernel, image.generation) : BranchTable{};
  if (in_bundles(image.generation)) code->entries = entries_of(image, kernel, code->functions);
  const FlowStack stack = lay_out(f, *code, branches);
  Translator translator(code->layout, f.constants, *code, banks_of(image, symbols, kernel.name));
  if (const auto bank = image.elf.section_number(".nv.constant0." + kernel.name))
    translator.set_textures(symbols.textures_in(*bank));
  translate_all(translator, linked.addresses, stack, views, f, *code, purpose);
  place_targets(f, *code, image.name);
  set_lines(lines, kernel, f, *code);
  if (purpose != Purpose::execution) {
    code->actions.clear();
    code->operations.clear();
  }
  f.machine = std::move(code);
}

void set_code(ptx::Function& f, MadeCode made, Views& views) {
  auto code = std::make_shared<Code>();
  code->generation = made.generation;
  code->words = std::move(made.words);
  code->instructions = std::move(made.instructions);
  code->literals = std::move(made.literals);
  f.code.clear();
  f.constants.clear();
  f.branch_tables.clear();
  f.call_sites.clear();
  f.registers = f.unlimited_registers = made.registers;
  f.frame_bytes = f.total_frame_bytes = frame_of(made.stack_bytes);
  const FlowStack stack = lay_out(f, *code, {});
  Translator translator(code->layout, f.constants, *code, std::move(made.banks));
  translate_all(translator, made.addresses, stack, views, f, *code, Purpose::execution);
  place_targets(f, *code, f.name);
  for (std::size_t i = 0; i < f.code.size(); ++i) {
    f.code[i].file = made.lines[i].file;
    f.code[i].source_line = made.lines[i].line;
  }
  code->ptx = std::move(made.ptx);
  code->ptx_lines = std::move(made.ptx_lines);
  f.machine = std::move(code);
}

}  // namespace simtlab::machine

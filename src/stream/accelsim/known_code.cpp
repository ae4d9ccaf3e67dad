#include "stream/accelsim/known_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/shown.h"
#include "machine/code.h"
#include "machine/print.h"

namespace simtlab::stream::accelsim {
namespace {

std::string_view take_word(std::string_view& name) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string_view word = name.substr(0, dot);
  name.remove_prefix(std::min(dot + 1, name.size()));
  return word;
}

bool has_word(std::string_view name, std::string_view word) {
  while (!name.empty())
    if (take_word(name) == word) return true;
  return false;
}

bool has_words_of(std::string_view name, std::string_view other) {
  while (!other.empty())
    if (!has_word(name, take_word(other))) return false;
  return true;
}

// Versions of the vendor's disassembler differ in which modifiers they write: one name may have more words.
bool same_instruction(std::string_view a, std::string_view b) {
  std::string_view x = a, y = b;
  return take_word(x) == take_word(y) && (has_words_of(a, b) || has_words_of(b, a));
}

[[noreturn]] void disagree(const KernelFile& file, std::string what) {
  Diagnostic d;
  d.message = std::move(what);
  d.pos = {file.lines().name(), file.lines().number(), 0};
  d.hint = "--cubin must be the code that was traced: of the same build, for the same GPU";
  throw Error(ExitCode::bad_input, "accelsim-cubin", std::move(d));
}

std::optional<std::uint32_t> immediate(const ptx::Function& f, const ptx::Inst& inst, unsigned source) {
  if (source >= inst.src_count || inst.src[source].kind != ptx::OperandKind::imm) return std::nullopt;
  return static_cast<std::uint32_t>(f.constants.at(inst.src[source].index).value);
}

}  // namespace

KnownCode::KnownCode(const KernelCode& from, const Header& header, std::uint32_t local_bytes) {
  from.module->complete(from.function);
  auto module = std::make_shared<ptx::Module>();
  module->name = header.name;
  module->target = from.module->target;
  module->files = from.module->files;
  ptx::Function& f = module->functions.emplace_back(from.module->functions.at(from.function));
  f.frame_bytes = f.total_frame_bytes = std::max(f.total_frame_bytes, local_bytes);
  const auto end =
      std::ranges::find_if(f.code, [](const ptx::Inst& inst) { return inst.op == ptx::Op::exit; });
  if (end == f.code.end())
    throw Error(ExitCode::bad_input, "accelsim-cubin",
                fmt::format("{}: kernel {} has no EXIT", shown(from.module->name), shown(f.name)));
  end_ = static_cast<std::uint32_t>(end - f.code.begin());
  for (const machine::Instruction& instruction : f.machine->instructions) {
    code_.mnemonics.push_back(machine::opcode_text(instruction));
    code_.addresses.push_back(instruction.address);
  }
  code_.module = std::move(module);
  code_.lanes_merged = true;
}

std::uint32_t KnownCode::place(const KernelFile& file) const {
  const Instruction& line = file.instruction();
  const std::uint64_t pc = line.pc / machine::word_bytes;
  const std::string& kernel = code_.function().name;
  if (line.pc % machine::word_bytes != 0 || pc >= code_.mnemonics.size())
    disagree(file, fmt::format("kernel {} of the cubin has no instruction at 0x{:04x}, where {} was traced",
                               shown(kernel), line.pc, shown(std::string(line.opcode), 60)));
  if (!same_instruction(line.opcode, code_.mnemonics[pc]))
    disagree(file,
             fmt::format("kernel {} of the cubin has {} at 0x{:04x}, where {} was traced", shown(kernel),
                         code_.mnemonics[pc], line.pc, shown(std::string(line.opcode), 60)));
  return static_cast<std::uint32_t>(pc);
}

void KnownCode::set_barrier(Step& step) const {
  constexpr std::uint32_t most_threads = 1024, warp = 32, barriers = 16;
  const ptx::Function& f = code_.function();
  const auto number = immediate(f, *step.inst, 0), threads = immediate(f, *step.inst, 1);
  if (number && *number < barriers) step.barrier = static_cast<std::uint16_t>(*number);
  if (threads && *threads <= most_threads && *threads % warp == 0)
    step.barrier_threads = static_cast<std::uint16_t>(*threads);
}

}  // namespace simtlab::stream::accelsim

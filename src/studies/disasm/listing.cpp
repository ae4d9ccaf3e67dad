#include "studies/disasm/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "machine/print.h"
#include "result/json.h"

namespace simtlab::studies {
namespace {

using machine::Instruction;
using machine::ListedInstruction;
using result::json_string;

constexpr std::size_t text_column = 64;  // where what is said about an instruction begins, behind its text
constexpr std::uint8_t no_barrier = 7;

std::string facts_of(const machine::ImageKernel& k) {
  std::string out = fmt::format("{} registers", k.registers);
  if (k.shared_bytes != 0) out += fmt::format(", {} bytes of shared memory", k.shared_bytes);
  if (k.stack_bytes != 0) out += fmt::format(", {} bytes of stack", k.stack_bytes);
  if (k.barriers != 0) out += fmt::format(", {} barrier{}", k.barriers, k.barriers == 1 ? "" : "s");
  return out + fmt::format(", {} bytes of parameters", k.parameter_bytes);
}

std::string without_tabs(std::string text) {
  std::ranges::replace(text, '\t', ' ');
  return text;
}

std::string word_text(machine::Word word) { return fmt::format("0x{:016x}{:016x}", word.high, word.low); }

std::string line_text(const ListedInstruction& line, const report::Style& style) {
  const auto* instruction = std::get_if<Instruction>(&line.decoded);
  if (instruction == nullptr)
    return fmt::format("  {:04x}  {:<22}  {}", line.address, "",
                       report::painted(fmt::format("{} ({})", word_text(line.word),
                                                   std::get<machine::Undecoded>(line.decoded).reason),
                                       report::Paint::bad, style));
  std::string out = fmt::format("  {:04x}  {}  {}", line.address, machine::text_of(instruction->control),
                                report::printable(line.text));
  if (!line.relocation.empty())
    out = fmt::format("{}  // {}", report::padded(out, text_column), report::printable(line.relocation));
  return out;
}

std::string json_of(const Instruction& instruction) {
  const machine::Control& c = instruction.control;
  std::string waits, reuse, fields;
  for (unsigned i = 0; i < 6; ++i)
    if ((c.wait_mask >> i & 1u) != 0) waits += fmt::format("{}{}", waits.empty() ? "" : ", ", i);
  for (unsigned i = 0; i < 4; ++i)
    if ((c.reuse >> i & 1u) != 0) reuse += fmt::format("{}\"{}\"", reuse.empty() ? "" : ", ", "abcd"[i]);
  for (std::size_t i = 0; i < instruction.form->fields.size(); ++i)
    fields += fmt::format("{}{}: {}", fields.empty() ? "" : ", ",
                          json_string(instruction.form->fields[i]->id), instruction.fields[i]);
  const auto barrier = [](std::uint8_t number) {
    return number == no_barrier ? std::string("null") : std::to_string(number);
  };
  return fmt::format(
      "\"mnemonic\": {}, \"form\": {}, \"opcode\": {}, \"fields\": {{{}}}, \"control\": {{\"stall\": {}, "
      "\"yield\": {}, "
      "\"write_barrier\": {}, \"read_barrier\": {}, \"wait\": [{}], \"reuse\": [{}]}}",
      json_string(instruction.form->mnemonic), json_string(instruction.form->form),
      json_string(machine::opcode_text(instruction)), fields, c.stall, c.yield, barrier(c.write_barrier),
      barrier(c.read_barrier), waits, reuse);
}

std::string json_of(const ListedInstruction& line, const machine::PtxLines& ptx) {
  std::string out = fmt::format("{{\"address\": {}, \"word\": \"{}\", ", line.address, word_text(line.word));
  if (const auto* instruction = std::get_if<Instruction>(&line.decoded)) {
    out += fmt::format("\"text\": {}, {}", json_string(line.text), json_of(*instruction));
    if (line.target) out += fmt::format(", \"target\": {}", *line.target);
  } else {
    out += fmt::format("\"unknown\": {}", json_string(std::get<machine::Undecoded>(line.decoded).reason));
  }
  if (line.line != 0) out += fmt::format(", \"file\": {}, \"line\": {}", json_string(line.file), line.line);
  if (line.ptx_line != 0)
    out += fmt::format(", \"ptx_line\": {}, \"ptx\": {}", line.ptx_line, json_string(ptx[line.ptx_line]));
  if (!line.relocation.empty()) out += fmt::format(", \"relocation\": {}", json_string(line.relocation));
  return out + "}";
}

std::string json_of(const machine::ImageKernel& kernel, const machine::Listing& listing,
                    const machine::PtxLines& ptx) {
  std::string out = fmt::format(
      "{{\"name\": {}, \"registers\": {}, \"shared_bytes\": {}, \"stack_bytes\": {}, \"barriers\": {}, "
      "\"parameter_base\": {}, \"parameter_bytes\": {},\n      \"parameters\": [",
      json_string(kernel.name), kernel.registers, kernel.shared_bytes, kernel.stack_bytes, kernel.barriers,
      kernel.parameter_base, kernel.parameter_bytes);
  const char* separator = "";
  for (const machine::KernelParameter& p : kernel.parameters) {
    out += fmt::format("{}{{\"offset\": {}, \"bytes\": {}}}", separator, p.offset, p.bytes);
    separator = ", ";
  }
  out += "],\n      \"labels\": [";
  separator = "";
  for (const auto& [address, name] : listing.labels) {
    out += fmt::format("{}{{\"address\": {}, \"name\": {}}}", separator, address, json_string(name));
    separator = ", ";
  }
  out += "],\n      \"instructions\": [";
  separator = "\n        ";
  for (const ListedInstruction& line : listing.instructions) {
    out.append(separator).append(json_of(line, ptx));
    separator = ",\n        ";
  }
  return out + "]}";
}

std::string json_of(const ChosenCode& code) {
  std::string out =
      fmt::format("{{\"name\": {}, \"generation\": {}, ", json_string(code.name), code.generation);
  if (!code.why_not.empty()) out += fmt::format("\"unknown\": {}, ", json_string(code.why_not));
  out += "\"kernels\": [";
  const char* separator = "\n    ";
  for (const ShownKernel& kernel : code.kernels) {
    out.append(separator).append(json_of(kernel.facts, kernel.list(), code.ptx));
    separator = ",\n    ";
  }
  out += "]";
  separator = ", \"not_assembled\": [";
  for (const ChosenCode::Refused& refused : code.refused) {
    out += fmt::format("{}{{\"name\": {}, \"reason\": {}}}", separator, json_string(refused.kernel),
                       json_string(refused.why));
    separator = ", ";
  }
  return out + (code.refused.empty() ? "}" : "]}");
}

void add_kernel(std::string& out, const ChosenCode& code, const ShownKernel& shown,
                const report::Style& style) {
  const machine::ImageKernel& kernel = shown.facts;
  const machine::Listing listing = shown.list();
  std::string place;
  std::uint32_t ptx_line = 0;
  out +=
      fmt::format("\n{}: {}\n", report::painted(report::printable(kernel.name), report::Paint::bold, style),
                  facts_of(kernel));
  out += "  at     s y wr rd waits  use  instruction\n";
  for (const ListedInstruction& line : listing.instructions) {
    const auto label = listing.labels.find(line.address);
    if (label != listing.labels.end() && label->second != kernel.name)
      out += fmt::format("{}:\n", report::printable(label->second));
    if (std::string now = line.line == 0 ? "" : fmt::format("{}:{}", line.file, line.line); now != place) {
      place = std::move(now);
      if (!place.empty())
        out += report::painted(fmt::format("  // {}", report::printable(place)), report::Paint::dim, style) +
               "\n";
    }
    if (line.ptx_line != std::exchange(ptx_line, line.ptx_line) && line.ptx_line != 0)
      out += report::painted(fmt::format("  // PTX {}: {}", line.ptx_line,
                                         report::printable(without_tabs(code.ptx[line.ptx_line]))),
                             report::Paint::dim, style) +
             "\n";
    out += line_text(line, style) + "\n";
  }
}

}  // namespace

std::string text_of(const ForCode& for_code, const report::Style& style) {
  std::string out;
  for_code([&](const ChosenCode& code) {
    out += fmt::format("{}{}: machine code for sm_{}\n", out.empty() ? "" : "\n",
                       report::printable(code.name), code.generation);
    if (!code.why_not.empty()) out += fmt::format("  {}\n", code.why_not);
    for (const ShownKernel& kernel : code.kernels) add_kernel(out, code, kernel, style);
    for (const ChosenCode::Refused& refused : code.refused)
      out += fmt::format("\n{}: not assembled: {}\n",
                         report::painted(report::printable(refused.kernel), report::Paint::bold, style),
                         report::printable(refused.why));
  });
  return out;
}

std::string json_of(const ForCode& for_code) {
  std::string out =
      fmt::format("{{\"schema\": {}, \"kind\": \"disassembly\", \"images\": [", result::json_schema);
  const char* separator = "\n  ";
  for_code([&](const ChosenCode& code) {
    out.append(separator).append(json_of(code));
    separator = ",\n  ";
  });
  return out + "]}\n";
}

}  // namespace simtlab::studies

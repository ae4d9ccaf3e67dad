#include "assembler/schedule_memory.h"

#include <algorithm>
#include <string_view>

#include "assembler/control_effects.h"

namespace simtlab::assembler {
namespace {

bool has_word(const machine::Instruction& code, std::string_view begin) {
  for (std::size_t i = 0; i < code.form->fields.size(); ++i) {
    const std::string* word = code.form->fields[i]->word(code.fields[i]);
    if (word != nullptr && word->starts_with(begin)) return true;
  }
  return false;
}

std::uint8_t spaces_of(std::string_view base) {
  constexpr std::string_view global[] = {"LDG", "STG", "ATOMG", "RED", "LDGMC",
                                         "TEX", "TLD", "TLD4",  "TXD", "TMML"};
  constexpr std::string_view shared[] = {"LDS",  "STS",   "ATOMS",  "LDSM",  "STSM",
                                         "STAS", "LDSLK", "STSCUL", "STSUL", "REDAS"};
  constexpr std::string_view local[] = {"LDL", "STL"};
  constexpr std::string_view generic[] = {"LD", "ST", "ATOM", "LDGSTS", "SULD", "SUST", "SUATOM", "SURED"};
  if (is_one_of_names(base, global)) return MemoryAccess::global;
  if (is_one_of_names(base, shared)) return MemoryAccess::shared;
  if (is_one_of_names(base, local)) return MemoryAccess::local;
  if (is_one_of_names(base, generic)) return MemoryAccess::anywhere;
  return 0;
}

std::uint32_t bytes_of(const machine::Instruction& code) {
  constexpr std::uint32_t bytes[] = {1, 1, 2, 2, 4, 8, 16, 16};
  return bytes[code.field("size") & 7u];
}

// The clock, and others whose value depends on when they are read
bool is_time(const machine::Instruction& code) {
  const std::string_view base = base_mnemonic(code);
  if (base != "CS2R" && base != "S2R" && base != "S2UR") return false;
  const int at = code.form->operand("sr");
  if (at < 0) return true;
  const std::uint8_t number = code.operands[static_cast<std::size_t>(at)].number;
  return number >= 0x50 && number < 0x80;
}

}  // namespace

MemoryAccess access_of(const machine::Instruction& code) {
  const std::string_view base = base_mnemonic(code);
  MemoryAccess out;
  // What no store changes while the kernel runs
  if (base == "LDG" && has_word(code, "CONSTANT")) return out;
  out.spaces = spaces_of(base);
  if (out.spaces == 0) return out;
  constexpr std::string_view loads[] = {"LD",  "LDG", "LDS",  "LDL", "LDSM", "LDGMC",
                                        "TEX", "TLD", "TLD4", "TXD", "TMML", "SULD"};
  constexpr std::string_view stores[] = {"ST", "STG", "STS", "STL", "STSM", "STAS", "SUST"};
  out.reads = !is_one_of_names(base, stores);
  out.writes = !is_one_of_names(base, loads);
  // Lanes see what others write to shared memory even without a barrier between, if they mean to.
  if (out.spaces == MemoryAccess::shared) return out;
  constexpr std::string_view plain[] = {"LD", "LDG", "LDL", "ST", "STG", "STL"};
  if (!is_one_of_names(base, plain)) return out;
  for (std::size_t i = 0; i < code.operand_count(); ++i) {
    if (code.operands[i].kind != machine::OperandKind::memory) continue;
    out.has_place = true;
    out.offset = code.operands[i].value;
    out.bytes = bytes_of(code);
  }
  return out;
}

bool must_keep_order(const MemoryAccess& first, const MemoryAccess& second) {
  if ((first.spaces & second.spaces) == 0 || (!first.writes && !second.writes)) return false;
  if (!first.has_place || !second.has_place || first.base != second.base) return true;
  return first.offset < second.offset ? first.offset + first.bytes > second.offset
                                      : second.offset + second.bytes > first.offset;
}

KeepsOrder order_kept_by(const machine::Instruction& code) {
  const std::string_view base = base_mnemonic(code);
  constexpr std::string_view together[] = {"SHFL", "VOTE", "VOTEU", "MATCH", "REDUX", "BSSY",   "SSY",
                                           "BMOV", "B2R",  "ELECT", "R2UR",  "MOVM",  "FSWZADD"};
  if (is_one_of_names(base, together)) return KeepsOrder::together;
  constexpr std::string_view memory[] = {"BAR",   "MEMBAR",      "ERRBAR",      "CGAERRBAR", "CCTL",
                                         "CCTLL", "DEPBAR",      "LDGDEPBAR",   "ARRIVES",   "FENCE",
                                         "SYNCS", "UCGABAR_ARV", "UCGABAR_WAIT"};
  if (is_one_of_names(base, memory)) return KeepsOrder::memory;
  constexpr std::string_view accesses[] = {"LD", "LDG", "ST", "STG"};
  if (is_one_of_names(base, accesses) && (has_word(code, "STRONG") || has_word(code, "MMIO")))
    return KeepsOrder::memory;
  constexpr std::string_view others[] = {"BPT",       "LEPC",    "SETCTAID", "USETMAXREG",
                                         "WARPGROUP", "ACQBULK", "PREEXIT"};
  if (is_control_flow(base) || is_one_of_names(base, others) || is_time(code)) return KeepsOrder::all;
  return KeepsOrder::no;
}

}  // namespace simtlab::assembler

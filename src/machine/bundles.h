// Machine code before Volta: instructions of 64 bits. On Maxwell and Pascal three of them stand behind a word
// with the control information of all three, 21 bits each; on Kepler seven stand behind such a word; on Fermi
// they stand alone.
//
// Inside simtlab an instruction of those generations is a Word like the later ones: its 64 bits, and its
// control information where Volta has it. It counts 16 bytes, so that code addresses are the same everywhere;
// what files and people see are addresses in bundles. Only files of Maxwell and Pascal are read: what the
// assembler makes for Fermi and Kepler stands in Maxwell's words, of which it takes those instructions that
// they have, too.
#pragma once

#include <cstdint>
#include <optional>

#include "machine/elf.h"
#include "machine/word.h"

namespace simtlab::machine {

inline constexpr std::uint64_t bundle_bytes = 32, instructions_a_bundle = 3, bundled_bytes = 8;
inline constexpr unsigned first_control_bit = 105, bundled_control_bits = 21;

constexpr bool in_bundles(unsigned generation) { return generation < 70; }

// Where JCAL goes that calls the driver's function N: N bundles behind, where no code is.
inline constexpr std::int64_t first_driver_call = 0xffff0000;

// Bytes of an instruction in a file.
constexpr std::uint64_t code_bytes(unsigned generation) {
  return in_bundles(generation) ? bundled_bytes : word_bytes;
}

// Instructions behind a control word; 0: there is none.
constexpr std::int64_t controlled_together(unsigned generation) {
  return generation < 30 ? 0 : generation < 50 ? 7 : static_cast<std::int64_t>(instructions_a_bundle);
}

// Between addresses inside simtlab and those in a file. A control word stands for the instruction behind it.
constexpr std::int64_t address_in_file(unsigned generation, std::int64_t address) {
  if (!in_bundles(generation)) return address;
  constexpr auto word = static_cast<std::int64_t>(word_bytes),
                 code = static_cast<std::int64_t>(bundled_bytes);
  const std::int64_t together = controlled_together(generation);
  if (together == 0) return address / 2;
  const std::int64_t bundle = together * word;
  const std::int64_t at = address >= 0 ? address / bundle : -((bundle - 1 - address) / bundle);
  return at * (together + 1) * code + code + (address - at * bundle) / 2;
}
constexpr std::int64_t address_of_file(unsigned generation, std::int64_t address) {
  if (!in_bundles(generation)) return address;
  constexpr auto word = static_cast<std::int64_t>(word_bytes),
                 code = static_cast<std::int64_t>(bundled_bytes);
  const std::int64_t together = controlled_together(generation);
  if (together == 0) return address * 2;
  const std::int64_t bundle = (together + 1) * code;
  const std::int64_t at = address >= 0 ? address / bundle : -((bundle - 1 - address) / bundle);
  const std::int64_t offset = address - at * bundle;
  return at * together * word + (offset < code ? 0 : 2 * (offset - code));
}

// Instructions in so many bytes of code.
constexpr std::uint64_t instructions_in(unsigned generation, std::uint64_t bytes) {
  return in_bundles(generation) ? bytes / bundle_bytes * instructions_a_bundle : bytes / word_bytes;
}
// Whether so many bytes are whole instructions.
constexpr bool is_whole(unsigned generation, std::uint64_t bytes) {
  return bytes % (in_bundles(generation) ? bundle_bytes : word_bytes) == 0;
}
// Instruction `i` of a section of code.
Word word_at(unsigned generation, Bytes code, std::uint64_t i);
// The number of the instruction at a byte of a section; nullopt: none begins there.
std::optional<std::uint64_t> instruction_at(unsigned generation, std::uint64_t byte);

}  // namespace simtlab::machine

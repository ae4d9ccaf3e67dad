// A decoded instruction of machine code, from Maxwell on.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "machine/forms.h"

namespace simtlab::machine {

inline constexpr std::size_t max_operands = 10, max_fields = 12;
inline constexpr std::uint8_t zero_register = 255, zero_uniform = 63, true_predicate = 7;

// What the assembler tells the hardware (bits 105 to 125).
struct Control {
  std::uint8_t stall = 0;          // cycles until the next instruction of the warp may issue
  bool yield = false;              // another warp goes first
  std::uint8_t write_barrier = 7;  // scoreboard that is set until results are written; 7: none
  std::uint8_t read_barrier = 7;   // ... until operands were read
  std::uint8_t wait_mask = 0;      // scoreboards that must be clear before issue
  std::uint8_t reuse = 0;          // operand slots A, B, C (D) whose value is kept
  bool operator==(const Control&) const = default;
};

struct Operand {
  OperandKind kind = OperandKind::ignored;
  // Register, predicate, barrier, special register, constant bank. Of a described address: the uniform
  // register of the descriptor, which is not added.
  std::uint8_t number = 0;
  bool negated = false, absolute = false, inverted = false;   // inverted: ~, or ! of a predicate
  std::uint8_t half = 0, part = 0;                            // as in OperandForm
  std::uint8_t base = zero_register, uniform = zero_uniform;  // of an address, or of a constant's offset
  bool wide = false, pair = false;
  bool described = false;  // the memory is described by a uniform register
  std::uint8_t scale = 1;
  // Immediate: its bits. Constant: byte offset. Memory: signed offset. Target: address of the code, relative
  // to the kernel's begin.
  std::int64_t value = 0;
  bool operator==(const Operand&) const = default;
};

struct Instruction {
  const Form* form = nullptr;
  std::uint16_t generation = 0;  // binary version: 75, 80 ...
  std::uint32_t address = 0;     // in the function, in bytes
  std::uint8_t guard = true_predicate;
  bool guard_negated = false;
  bool guard_uniform = false;                      // UP instead of P: the uniform datapath
  std::array<Operand, max_operands> operands{};    // as many as form->operands
  std::array<std::uint16_t, max_fields> fields{};  // values, as many as form->fields
  Control control;

  std::size_t operand_count() const { return form->operands.size(); }
  std::string_view mnemonic() const { return form->mnemonic; }
  bool always() const { return guard == true_predicate && !guard_negated; }
  // Value of a field by its name; `otherwise` where the form has none.
  unsigned field(Name name, unsigned otherwise = 0) const {
    const int i = form->field(name);
    return i < 0 ? otherwise : fields[static_cast<std::size_t>(i)];
  }
};

}  // namespace simtlab::machine

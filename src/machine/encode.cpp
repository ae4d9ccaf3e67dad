#include "machine/encode.h"

#include <bit>

#include "machine/bundles.h"

namespace simtlab::machine {
namespace {

void put(Word& word, unsigned first, unsigned width, std::uint64_t value) {
  for (unsigned i = 0; i < width; ++i) {
    const unsigned at = first + i;
    if ((value >> i & 1u) != 0) (at < 64 ? word.low : word.high) |= std::uint64_t{1} << (at % 64);
  }
}

void put(Word& word, const Bits& bits, std::uint64_t value) {
  const unsigned low = bits.pieces[0].width;
  put(word, bits.pieces[0].first, low, value);
  if (bits.pieces[1].width != 0) put(word, bits.pieces[1].first, bits.pieces[1].width, value >> low);
}

void put_flag(Word& word, std::uint8_t bit, bool value) {
  if (bit != no_bit && value) put(word, bit, 1, 1);
}

void put_part(Word& word, std::uint8_t bit, unsigned width, std::uint64_t value) {
  if (bit != no_bit) put(word, bit, width, value);
}

// What stands in the bits of the operand itself.
std::uint64_t number_of(const OperandForm& form, const Operand& o, unsigned generation,
                        std::uint32_t address) {
  switch (form.kind) {
    case OperandKind::reg:
    case OperandKind::ureg:
    case OperandKind::barrier:
    case OperandKind::special:
    case OperandKind::descriptor: return o.number;
    case OperandKind::pred:
    case OperandKind::upred: return form.flipped ? 7u - o.number : o.number;
    case OperandKind::target: {
      const std::int64_t distance = address_in_file(generation, o.value) -
                                    address_in_file(generation, address) -
                                    static_cast<std::int64_t>(code_bytes(generation));
      return static_cast<std::uint64_t>(form.in_bytes ? distance : distance / 4);
    }
    case OperandKind::absolute:
      return static_cast<std::uint64_t>(address_in_file(generation, o.value)) / (form.in_bytes ? 1 : 4);
    case OperandKind::memory: return static_cast<std::uint64_t>(form.in_words ? o.value / 4 : o.value);
    case OperandKind::constant: return static_cast<std::uint64_t>(form.in_words ? o.value / 4 : o.value);
    case OperandKind::immediate:
      return static_cast<std::uint64_t>(form.upper_bits ? o.value >> upper_bits_shift : o.value);
    default: return static_cast<std::uint64_t>(o.value);
  }
}

// What is added to a register is an address as files have it (decode.cpp).
std::uint64_t added_number(const OperandForm& form, const Operand& o, unsigned generation,
                           std::uint32_t address) {
  const std::int64_t next = address_in_file(generation, address) + static_cast<std::int64_t>(bundled_bytes);
  return static_cast<std::uint64_t>(form.kind == OperandKind::absolute ? o.value : o.value - next);
}

void put_operand(Word& word, const Form& whole, std::size_t i, const Operand& o, unsigned generation,
                 std::uint32_t address) {
  const OperandForm& form = whole.operands[i];
  const bool added = whole.bundled() && i > 0 && whole.operands[i - 1].register_pair;
  put(word, form.bits,
      added ? added_number(form, o, generation, address) : number_of(form, o, generation, address));
  if (form.kind == OperandKind::constant) put(word, form.bank, bank_bits, o.number);
  put_flag(word, form.negate, o.negated);
  put_flag(word, form.absolute, o.absolute);
  put_flag(word, form.invert, o.inverted && form.negate_pred == no_bit);
  put_flag(word, form.negate_pred, o.inverted);
  put_part(word, form.half, 2, o.half);
  put_part(word, form.part, 2, o.part);
  put_part(word, form.base, 8, o.base);
  put_part(word, form.uniform, 6, o.described ? o.number : o.uniform);
  put_flag(word, form.wide, o.wide);
  put_flag(word, form.pair, o.pair);
  const unsigned scale = o.scale == 1 ? 0 : static_cast<unsigned>(std::countr_zero(o.scale)) - 1;
  put_part(word, form.scale, 2, scale);
}

void put_control(Word& word, const Control& c) {
  put(word, 105, 4, c.stall);
  put(word, 109, 1, c.yield ? 0 : 1);
  put(word, 110, 3, c.write_barrier);
  put(word, 113, 3, c.read_barrier);
  put(word, 116, 6, c.wait_mask);
  put(word, 122, 4, c.reuse);
}

}  // namespace

Word encode(const Instruction& instruction) {
  const Form& form = *instruction.form;
  Word word;
  if (form.bundled()) {
    put(word, first_bundled_opcode_bit, 16, form.opcode);
  } else {
    put(word, 0, 12, form.opcode);
    put(word, 91, 1, form.bit_91 ? 1 : 0);
  }
  if (!form.unguarded) {
    const unsigned guard = first_guard_bit(instruction.generation);
    put(word, guard, 3, instruction.guard);
    put(word, guard + 3, 1, instruction.guard_negated ? 1 : 0);
  }
  for (std::size_t i = 0; i < form.operands.size(); ++i)
    put_operand(word, form, i, instruction.operands[i], instruction.generation, instruction.address);
  for (std::size_t i = 0; i < form.fields.size(); ++i)
    if ((form.views >> i & 1u) == 0) put(word, form.fields[i]->bits, instruction.fields[i]);
  put_control(word, instruction.control);
  return word;
}

}  // namespace simtlab::machine

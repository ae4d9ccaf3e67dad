#include "machine/decode.h"

#include <fmt/format.h>

#include <optional>

#include "machine/bundles.h"

namespace simtlab::machine {
namespace {

Word control_bits() {
  Word mask;
  mask.set(first_control_bit, word_bits - first_control_bit);
  return mask;
}

std::int64_t sign_extended(std::uint64_t value, unsigned width) {
  if (width == 0 || width >= 64) return static_cast<std::int64_t>(value);
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  return static_cast<std::int64_t>((value ^ sign) - sign);
}

bool flag(Word word, std::uint8_t bit) { return bit != no_bit && word.bit(bit); }

std::uint8_t byte_at(Word word, std::uint8_t bit, unsigned width, std::uint8_t none) {
  return bit == no_bit ? none : static_cast<std::uint8_t>(word.bits(bit, width));
}

Operand read_operand(const OperandForm& form, unsigned generation, Word word, std::uint32_t address) {
  Operand out;
  out.kind = form.kind;
  out.negated = flag(word, form.negate);
  out.absolute = flag(word, form.absolute);
  out.inverted = flag(word, form.invert) || flag(word, form.negate_pred);
  out.half = byte_at(word, form.half, 2, 0);
  out.part = byte_at(word, form.part, 2, 0);
  out.base = byte_at(word, form.base, 8, zero_register);
  out.uniform = byte_at(word, form.uniform, 6, zero_uniform);
  out.wide = flag(word, form.wide);
  out.pair = flag(word, form.pair);
  constexpr std::uint8_t scales[] = {1, 4, 8, 16};
  out.scale = scales[byte_at(word, form.scale, 2, 0)];
  const std::uint64_t raw = form.bits.of(word);
  const unsigned width = form.bits.width();
  switch (form.kind) {
    case OperandKind::reg:
    case OperandKind::ureg:
    case OperandKind::barrier:
    case OperandKind::special:
    case OperandKind::descriptor: out.number = static_cast<std::uint8_t>(raw); break;
    case OperandKind::pred:
    case OperandKind::upred: out.number = static_cast<std::uint8_t>(form.flipped ? 7 - raw : raw); break;
    case OperandKind::constant:
      out.number = static_cast<std::uint8_t>(word.bits(form.bank, bank_bits));
      out.value = static_cast<std::int64_t>(form.in_words ? 4 * raw : raw);
      break;
    case OperandKind::bindless: out.value = static_cast<std::int64_t>(raw); break;
    case OperandKind::immediate:
      out.value =
          form.immediate == Immediate::signed_ ? sign_extended(raw, width) : static_cast<std::int64_t>(raw);
      if (form.upper_bits) out.value <<= upper_bits_shift;
      break;
    case OperandKind::memory: out.value = sign_extended(raw, width) * (form.in_words ? 4 : 1); break;
    case OperandKind::target:
      out.value = address_of_file(generation, address_in_file(generation, address) +
                                                  static_cast<std::int64_t>(code_bytes(generation)) +
                                                  (form.in_bytes ? 1 : 4) * sign_extended(raw, width));
      break;
    case OperandKind::absolute:
      out.value = address_of_file(generation, static_cast<std::int64_t>((form.in_bytes ? 1 : 4) * raw));
      break;
    case OperandKind::number:
    case OperandKind::ignored: out.value = static_cast<std::int64_t>(raw); break;
    case OperandKind::predicates:
    case OperandKind::flags:
    case OperandKind::upredicates: break;
  }
  return out;
}

std::int64_t added_address(const OperandForm& form, unsigned generation, Word word, std::uint32_t address) {
  const std::int64_t raw = sign_extended(form.bits.of(word), form.bits.width());
  if (form.kind == OperandKind::absolute) return raw;
  return address_in_file(generation, address) + static_cast<std::int64_t>(bundled_bytes) + raw;
}

Control read_control(Word word) {
  return {.stall = static_cast<std::uint8_t>(word.bits(105, 4)),
          .yield = !word.bit(109),
          .write_barrier = static_cast<std::uint8_t>(word.bits(110, 3)),
          .read_barrier = static_cast<std::uint8_t>(word.bits(113, 3)),
          .wait_mask = static_cast<std::uint8_t>(word.bits(116, 6)),
          .reuse = static_cast<std::uint8_t>(word.bits(122, 4))};
}

// What keeps the word from being of this form; nullopt: nothing.
std::optional<std::string> mismatch(const Form& form, Word word) {
  for (const FieldForm* field : form.fields)
    if (const std::uint64_t value = field->bits.of(word); field->word(value) == nullptr)
      return fmt::format("{} with the unknown value {} in bits {} to {}", form.mnemonic, value,
                         field->bits.pieces[0].first,
                         field->bits.pieces[0].first + field->bits.pieces[0].width - 1);
  const Word left = word & ~form.explained & ~control_bits();
  if (left == Word{}) return std::nullopt;
  std::string bits;
  for (unsigned i = 0; i < first_control_bit; ++i)
    if (left.bit(i)) bits += fmt::format("{}{}", bits.empty() ? "" : ", ", i);
  return fmt::format("{} with bit{} {} of unknown meaning", form.mnemonic,
                     bits.find(',') == std::string::npos ? "" : "s", bits);
}

// From Ampere on a bit says that the uniform register beside an address describes the memory.
void describe(const Form& form, Instruction& out) {
  constexpr unsigned ampere = 80;
  if (out.generation < ampere) return;
  const bool atomic = form.field("desc3") >= 0;
  if ((atomic ? out.field("desc3") : out.field("desc")) == 0) return;
  for (std::size_t i = 0; i < form.operands.size(); ++i) {
    Operand& o = out.operands[i];
    if (form.operands[i].kind != OperandKind::memory || form.operands[i].uniform == no_bit ||
        form.operands[i].pair == no_bit)
      continue;
    o.described = true;
    o.number = o.uniform;
    o.uniform = zero_uniform;
  }
}

Instruction read(const Form& form, unsigned generation, Word word, std::uint32_t address) {
  Instruction out;
  out.form = &form;
  out.generation = static_cast<std::uint16_t>(generation);
  out.address = address;
  const unsigned guard = first_guard_bit(generation);
  out.guard = static_cast<std::uint8_t>(word.bits(guard, 3));
  out.guard_negated = word.bit(guard + 3);
  out.guard_uniform = form.uniform;
  if (form.unguarded) {
    out.guard = true_predicate;
    out.guard_negated = false;
  }
  for (std::size_t i = 0; i < form.operands.size(); ++i) {
    out.operands[i] = read_operand(form.operands[i], generation, word, address);
    // What is added to a register is an address as programs have it.
    if (form.bundled() && i > 0 && form.operands[i - 1].register_pair)
      out.operands[i].value = added_address(form.operands[i], generation, word, address);
  }
  for (std::size_t i = 0; i < form.fields.size(); ++i)
    out.fields[i] = static_cast<std::uint16_t>(form.fields[i]->bits.of(word));
  out.control = read_control(word);
  describe(form, out);
  return out;
}

}  // namespace

std::variant<Instruction, Undecoded> decode(const Forms& forms, unsigned generation, Word word,
                                            std::uint32_t address) {
  std::optional<std::string> reason;
  for (const Form* form : forms.candidates(generation, word)) {
    if (!form->has(generation) || !form->is_opcode(word)) continue;
    std::optional<std::string> why = mismatch(*form, word);
    if (!why) return read(*form, generation, word, address);
    if (!reason) reason = std::move(why);
  }
  if (!reason && in_bundles(generation))
    reason = fmt::format("opcode 0x{:04x} (with modifiers), which sm_{} is not known to have",
                         word.bits(48, 16), generation);
  if (!reason)
    reason = fmt::format("opcode 0x{:03x}, which sm_{} is not known to have", word.bits(0, 12), generation);
  return Undecoded{*reason};
}

}  // namespace simtlab::machine

// Maxwell and Pascal: instructions on parts of words, which PTX has as vadd to vset, vmad and vabsdiff4.
#include "machine/bundled_flags.h"
#include "machine/semantics_common.h"
#include "ptx/video.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::Type;

// Which part of a source, as ptx/video.h numbers them: `code` is 0 to 3 for bytes, 4 and 5 for halves, 6 for
// all.
unsigned part_of(Translator& t, unsigned code) {
  constexpr unsigned whole = 6;
  if (code > whole) t.refuse("takes a part that is not known");
  return code == whole ? 0 : code + 1;
}

// A source and what it is.
struct Part {
  ptx::Operand value;
  unsigned selector = 0;
  bool is_signed = false;
};

Part first_part(Translator& t) { return {t.raw(t.source(0)), part_of(t, t.field("va")), t.field("sa") != 0}; }
// An immediate has 16 bits, with a sign if the source has one.
Part second_part(Translator& t) {
  const Operand& b = t.source(1);
  const bool is_signed = t.field("sb") != 0;
  if (b.kind != OperandKind::immediate) return {t.raw(b), part_of(t, t.field("vb")), is_signed};
  const auto bits = static_cast<std::uint16_t>(b.value);
  const auto value =
      is_signed ? static_cast<std::uint32_t>(std::int32_t{static_cast<std::int16_t>(bits)}) : bits;
  return {t.number(value), 0, is_signed};
}

// What happens to the result: it is merged into c, or combined with it.
void set_mode(Translator& t, ptx::Inst& inst) {
  enum Mode : unsigned { high_half, low_half, byte_0, byte_2, add, least, greatest, alone };
  constexpr unsigned selectors[] = {6, 5, 1, 3};
  const unsigned mode = t.field("mode");
  switch (mode) {
    case add: inst.mods.atom = ptx::AtomOp::add; break;
    case least: inst.mods.atom = ptx::AtomOp::min; break;
    case greatest: inst.mods.atom = ptx::AtomOp::max; break;
    case alone: break;
    default: inst.mods.video |= selectors[mode] << ptx::video_d_shift;
  }
}

Type word_type(bool is_signed) { return is_signed ? Type::s32 : Type::u32; }

ptx::Inst& emit_scalar(Translator& t, Op op, Type result, const Part& a, const Part& b) {
  ptx::Inst& inst = t.emit(op, result, {t.result("Rd")}, {a.value, b.value, t.raw(t.source(2))});
  inst.stype = word_type(a.is_signed);
  inst.mods.src_type_hi = b.is_signed ? ptx::video_b_signed : 0;
  inst.mods.video = a.selector << ptx::video_a_shift | b.selector << ptx::video_b_shift;
  inst.mods.sat = t.field("sat") != 0;
  return inst;
}

Type result_type(Translator& t) { return word_type(t.field("ud") != 0); }

void emit_plain(Translator& t, Op op, Type result) {
  const Part a = first_part(t), b = second_part(t);
  set_mode(t, emit_scalar(t, op, result, a, b));
}

// -a + b is b - a.
void add_parts(Translator& t) {
  const Part a = first_part(t), b = second_part(t);
  const bool subtracts = t.source(1).negated, reversed = t.source(0).negated;
  if (subtracts && reversed) t.refuse("adds one to a sum, which is not executed");
  set_mode(t, reversed ? emit_scalar(t, Op::vsub, result_type(t), b, a)
                       : emit_scalar(t, subtracts ? Op::vsub : Op::vadd, result_type(t), a, b));
}

void differ_parts(Translator& t) { emit_plain(t, Op::vabsdiff, word_type(t.field("sd") != 0)); }

void extremum_of_parts(Translator& t) {
  emit_plain(t, t.field("mx") != 0 ? Op::vmax : Op::vmin, result_type(t));
}

template <Op op>
void shift_parts(Translator& t) {
  const Part a = first_part(t), b = second_part(t);
  ptx::Inst& inst = emit_scalar(t, op, result_type(t), a, b);
  inst.mods.wrap = t.field("w") != 0;
  set_mode(t, inst);
}

void compare_parts(Translator& t) {
  using ptx::Compare;
  constexpr Compare compares[] = {Compare::none, Compare::lt, Compare::eq, Compare::le,
                                  Compare::gt,   Compare::ne, Compare::ge, Compare::none};
  const Compare compare = compares[t.field("cmp")];
  if (compare == Compare::none) t.refuse("compares nothing, which is not executed");
  const Part a = first_part(t), b = second_part(t);
  ptx::Inst& inst = emit_scalar(t, Op::vset, word_type(a.is_signed), a, b);
  inst.stype = word_type(b.is_signed);
  inst.mods.compare = compare;
  set_mode(t, inst);
}

// VMAD.PO: plus one
void multiply_parts(Translator& t) {
  const Part a = first_part(t), b = second_part(t);
  ptx::Inst& inst = emit_scalar(t, Op::vmad, Type::s32, a, b);
  std::uint8_t& flags = inst.mods.src_type_hi;
  if (t.field("po") != 0) flags |= ptx::video_plus_one;
  if (t.source(0).negated) flags |= ptx::video_neg_a;
  if (t.source(2).negated) flags |= ptx::video_neg_c;
  constexpr unsigned by_7 = 1, by_15 = 2;
  if (t.field("shr") == by_7) flags |= ptx::video_shr7;
  if (t.field("shr") == by_15) flags |= ptx::video_shr15;
}

// Bytes by their numbers in a pair of words, the last one first; `first` if the word is left out.
std::uint32_t selectors_of(Translator& t, std::string_view field, unsigned first) {
  const std::string_view word = t.word(field);
  constexpr unsigned bytes = 4, bits = 3;
  if (!word.empty() && word.size() != bytes) t.refuse("takes bytes that are not known");
  std::uint32_t out = 0;
  for (unsigned i = 0; i < bytes; ++i)
    out |= (word.empty() ? first + i : static_cast<unsigned>(word[bytes - 1 - i] - '0')) << bits * i;
  return out;
}

void differ_bytes(Translator& t) {
  if (t.source(1).kind == OperandKind::immediate) t.refuse("has an immediate, which is not executed");
  const bool a_signed = (t.field("types") & 1u) != 0, b_signed = (t.field("types") & 2u) != 0;
  constexpr unsigned b_first = 4, a_at = 4, b_at = 16;
  ptx::Inst& inst = t.emit(Op::vabsdiff4, word_type(t.field("sd") != 0), {t.result("Rd")},
                           {t.raw(t.source(0)), t.raw(t.source(1)), t.raw(t.source(2))});
  inst.stype = word_type(a_signed);
  inst.mods.src_type_hi = b_signed ? ptx::video_b_signed : 0;
  inst.mods.sat = t.field("sat") != 0;
  inst.mods.atom = t.field("acc") != 0 ? ptx::AtomOp::add : ptx::AtomOp::none;
  inst.mods.video =
      t.field("lanes") | selectors_of(t, "swa", 0) << a_at | selectors_of(t, "swb", b_first) << b_at;
}

}  // namespace

std::span<const SemanticsRow> bundled_video_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"VADD", with_flags<add_parts>},
      {"VABSDIFF", with_flags<differ_parts>},
      {"VABSDIFF4", with_flags<differ_bytes>},
      {"VMNMX", with_flags<extremum_of_parts>},
      {"VSET", with_flags<compare_parts>},
      {"VSHL", with_flags<shift_parts<Op::vshl>>},
      {"VSHR", with_flags<shift_parts<Op::vshr>>},
      {"VMAD", with_flags<multiply_parts>},
      {"VMAD.PO", with_flags<multiply_parts>},
  };
  return rows;
}

}  // namespace simtlab::machine

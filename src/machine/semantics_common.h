// What several semantics_*.cpp ask of an instruction.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "machine/translator.h"

namespace simtlab::machine {

// ATOMS.ARRIVE: semantics_async_barrier.cpp
void arrive_ampere(Translator& t);

// A 64-bit address that may be in a low window (launch_state.h) becomes the executor's. semantics_memory.cpp
void leave_low_window(Translator& t, const ptx::Operand& address);

// How a texture is laid out.
struct TextureShape {
  ptx::Geometry geometry = ptx::Geometry::none;
  std::uint8_t values = 0;  // layer and coordinates
  bool layered = false;
};

inline bool is_extended(const Translator& t) { return t.instruction().mnemonic().ends_with(".X"); }

// Rd or URd.
inline const Operand& destination(const Translator& t) { return t.operand(t.has("Rd") ? "Rd" : "URd"); }

// The predicate operand "Pd" or, on the uniform datapath, "UPd"; null: the form has none.
inline const Operand* predicate_named(const Translator& t, std::string_view name) {
  if (t.has(name)) return &t.operand(name);
  const std::string uniform = "U" + std::string(name);
  return t.has(uniform) ? &t.operand(uniform) : nullptr;
}
inline bool is_wanted(const Operand* predicate) {
  return predicate != nullptr && predicate->number != true_predicate;
}
// As a result; a predicate that is not wanted is a sink.
inline ptx::Operand predicate_result(const Translator& t, const Operand* predicate) {
  if (!is_wanted(predicate)) return {.kind = ptx::OperandKind::sink};
  ptx::Operand out = t.predicate(*predicate);
  out.negated = false;
  return out;
}

// A source that is 0 whatever happens.
inline bool is_zero(const Operand& o) {
  switch (o.kind) {
    case OperandKind::reg: return o.number == zero_register;
    case OperandKind::ureg: return o.number == zero_uniform;
    case OperandKind::immediate: return o.value == 0;
    default: return false;
  }
}

// Low and high word of a 64-bit source: two registers, two words of a constant bank, an immediate with its
// sign.
inline std::pair<ptx::Operand, ptx::Operand> words_of(Translator& t, const Operand& o) {
  if (is_zero(o)) return {t.number(0), t.number(0)};
  switch (o.kind) {
    case OperandKind::reg:
    case OperandKind::ureg: return {t.raw(o), t.register_behind(o, 1)};
    case OperandKind::immediate:
      return {t.number(static_cast<std::uint32_t>(o.value)), t.number(o.value < 0 ? 0xffffffffu : 0)};
    default: {
      Operand high = o;
      high.value += 4;
      return {t.raw(o), t.raw(high)};
    }
  }
}

}  // namespace simtlab::machine

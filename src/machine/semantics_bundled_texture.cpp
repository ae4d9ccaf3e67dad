// Maxwell and Pascal: TEX and TLD, and their short forms TEXS and TLDS, whose values stand in other places.
//
// Layer and coordinates stand from Ra on, and a handle in a register (.B) from Rb on. Else the handle is a
// word of constant bank 0. Texels go to the registers from Rd on, those of short forms from the third on to
// Rd2. As semantics_texture.cpp has it, what says the level of detail has no effect.
#include "machine/semantics_common.h"

namespace simtlab::machine {
namespace {

using ptx::Geometry;
using ptx::Op;
using ptx::Type;

using Shape = TextureShape;
constexpr Shape line{Geometry::d1, 1, false}, lines{Geometry::a1d, 2, true}, plane{Geometry::d2, 2, false},
    planes{Geometry::a2d, 3, true}, space{Geometry::d3, 3, false};

Shape shape_of(Translator& t) {
  if (t.has("shape")) {
    constexpr Shape shapes[] = {line, lines, plane, planes, space, {}, {}, {}};
    return shapes[t.operand("shape").value & 7];
  }
  const std::string_view word = t.word("shape");
  return word == "1D"         ? line
         : word == "2D"       ? plane
         : word == "ARRAY_2D" ? planes
         : word == "3D"       ? space
                              : Shape{};
}

void refuse_unknown(Translator& t, const Shape& shape) {
  if (shape.geometry == Geometry::none) t.refuse("is of a shape that is not executed");
  if (t.word("lod").find("DC") != std::string_view::npos ||
      t.word("lod").find("AOFFI") != std::string_view::npos)
    t.refuse("compares or has an offset, which is not executed");
  for (const std::string_view field : {"aoffi", "dc", "ms", "cl", "ndv"})
    if (t.field(field) != 0) t.refuse("has modifiers that are not executed");
  if (t.has("Pd") && t.operand("Pd").number != true_predicate)
    t.refuse("has a predicate as result, which is not executed");
}

ptx::Operand behind(Translator& t, const Operand& first, unsigned offset) {
  if (first.number == zero_register) return t.number(0);
  return offset == 0 ? t.raw(first) : t.register_behind(first, offset);
}

// The channels that are wanted.
unsigned mask_of(Translator& t) {
  if (t.has("mask")) return static_cast<unsigned>(t.operand("mask").value);
  unsigned mask = 0;
  for (const char channel : t.word("mask")) mask |= 1u << std::string_view("RGBA").find(channel);
  return mask;
}

void fetch(Translator& t, Type coordinates, bool is_short) {
  const Shape shape = shape_of(t);
  refuse_unknown(t, shape);
  const Operand &a = t.operand("Ra"), &b = t.operand("Rb");
  // Of short forms without a level the last value is in Rb, as far as it was found in code; with one, the
  // level is.
  const std::string_view lod = t.word("lod");
  const bool level = lod == "LL" || lod == "LB";
  unsigned in_a = is_short && !level && shape.values > 1 ? shape.values - 1 : shape.values;
  // TLDS of layers: the layer alone
  if (is_short && shape.layered && coordinates == Type::s32) in_a = 1;
  const ptx::Operand handle =
      t.has("tex") ? t.raw({.kind = OperandKind::constant, .value = 4 * t.operand("tex").value})
                   : behind(t, b, 0);
  const auto value = [&](unsigned i) { return i < in_a ? behind(t, a, i) : behind(t, b, i - in_a); };
  ptx::Operand layer;
  if (shape.layered) {
    layer = t.temporary();
    t.emit(Op::and_, Type::b32, {layer}, {value(0), t.number(0xffffu)});
  }
  ptx::Inst& inst = t.emit_memory(Op::tex, Type::u32, {}, {handle, {}});
  inst.stype = coordinates;
  inst.mods.geometry = shape.geometry;
  inst.mods.space = ptx::Space::tex;
  for (unsigned i = 0; i < shape.values; ++i)
    inst.src[inst.src_count++] = shape.layered && i == 0 ? layer : value(i);
  constexpr unsigned channels = 4, in_first = 2;
  for (unsigned channel = 0, place = 0; channel < channels; ++channel) {
    ptx::Operand result{.kind = ptx::OperandKind::sink, .bytes = 4};
    if ((mask_of(t) >> channel & 1u) != 0) {
      const bool second = is_short && place >= in_first;
      const Operand& first = t.operand(second ? "Rd2" : "Rd");
      const unsigned offset = second ? place - in_first : place;
      result = offset == 0 ? t.result(first) : t.register_behind(first, offset);
      ++place;
    }
    inst.dst[inst.dst_count++] = result;
  }
  // What models read of it
  ptx::Inst& view = t.view();
  view.dst_count = view.src_count = 0;
  for (unsigned i = 0; i < inst.dst_count; ++i)
    if (inst.dst[i].kind == ptx::OperandKind::reg) view.dst[view.dst_count++] = inst.dst[i];
  for (unsigned i = 0; i < shape.values; ++i)
    if (value(i).kind == ptx::OperandKind::reg) view.src[view.src_count++] = value(i);
  if (handle.kind == ptx::OperandKind::reg) view.src[view.src_count++] = handle;
}

}  // namespace

std::span<const SemanticsRow> bundled_texture_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"TEX", [](Translator& t) { fetch(t, Type::f32, false); }},
      {"TLD", [](Translator& t) { fetch(t, Type::s32, false); }},
      {"TEXS", [](Translator& t) { fetch(t, Type::f32, true); }},
      {"TLDS", [](Translator& t) { fetch(t, Type::s32, true); }},
  };
  return rows;
}

}  // namespace simtlab::machine

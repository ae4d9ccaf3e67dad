// Texture fetches: TEX (coordinates are floats) and TLD (texels by their integer coordinates).
//
// The values of a fetch are, in their order: the layer, coordinates, the handle if it is in a register (.B),
// what says the level of detail. They stand in the registers from Ra and from Rb on. Where Ra ends:
//   without .SCR   Ra has layer and coordinates, Rb the rest;
//   with .SCR      each has at most two, and Ra the one more where their number is odd.
// That was found in what ptxas makes of PTX for sm_75 to sm_90.
//
// Texels go to Rd and the register behind it, then to Rd2 and the one behind it; channels outside of the mask
// take no place. Textures have one level here, so that nothing that says which one has an effect.
#include <bit>

#include "machine/semantics_common.h"

namespace simtlab::machine {
namespace {

using ptx::Geometry;
using ptx::Op;
using ptx::Type;

using Shape = TextureShape;
constexpr Shape shapes[] = {{Geometry::d1, 1, false},
                            {Geometry::d2, 2, false},
                            {Geometry::d3, 3, false},
                            {},
                            {Geometry::a1d, 2, true},
                            {Geometry::a2d, 3, true},
                            {},
                            {}};
constexpr unsigned most_channels = 4;

bool has_level(std::string_view lod) { return lod == "LB" || lod == "LL"; }

void refuse_unknown(Translator& t) {
  if (shapes[t.operand("dim").value & 7].geometry == Geometry::none)
    t.refuse("is of a cube, which is not executed");
  if (t.word("lod").find("LC") != std::string_view::npos)
    t.refuse("limits the level of detail, which is not executed");
  for (const std::string_view field : {"aoffi", "dc", "ms", "cl", "f16"})
    if (t.field(field) != 0) t.refuse("has ." + std::string(t.word(field)) + ", which is not executed");
  if (t.operand("Pd").number != true_predicate) t.refuse("has a predicate as result, which is not executed");
}

// Values of a fetch by their place.
class Values {
 public:
  explicit Values(Translator& t) : t_(t) {
    const Shape& shape = shapes[t.operand("dim").value & 7];
    const bool handle = t.instruction().form->form == "B";
    count_ = shape.values + handle + has_level(t.word("lod"));
    in_a_ = shape.values;
    if (t.field("scr") == 0) return;
    if (count_ > 4) t.refuse("has more values than fit into two pairs of registers");
    in_a_ = (count_ + 1) / 2;
  }
  ptx::Operand at(unsigned index) const {
    const bool first = index < in_a_;
    const Operand& o = first ? t_.operand("Ra") : t_.operand("Rb");
    const unsigned behind = first ? index : index - in_a_;
    if (o.number == zero_register) return t_.number(0);
    return behind == 0 ? t_.raw(o) : t_.register_behind(o, behind);
  }
  unsigned of_a() const { return in_a_; }
  unsigned of_b() const { return count_ - in_a_; }

 private:
  Translator& t_;
  unsigned count_ = 0, in_a_ = 0;
};

// In a register, a constant bank, a uniform register. The upper word, which names a sampler, is not used: a
// texture has its sampling with it.
ptx::Operand handle_of(Translator& t, const Values& values, unsigned index) {
  if (t.has("bank")) {
    if (t.field("b") != 0) t.refuse("takes its sampler from a register, which is not executed");
    return t.raw({.kind = OperandKind::constant,
                  .number = static_cast<std::uint8_t>(t.operand("bank").value),
                  .value = 4 * t.operand("place").value});
  }
  if (t.has("URh")) {
    if (t.operand("place").value != 0) t.refuse("adds to a handle, which is not executed");
    return t.raw(t.operand("URh"));
  }
  return values.at(index);
}

// What models read of it: the registers, which the table does not count.
void describe(Translator& t, const ptx::Inst& fetch, const Values& values) {
  ptx::Inst& view = t.view();
  view.dst_count = view.src_count = 0;
  for (unsigned i = 0; i < fetch.dst_count; ++i)
    if (fetch.dst[i].kind == ptx::OperandKind::reg) view.dst[view.dst_count++] = fetch.dst[i];
  const auto add = [&](const char* name, unsigned count) {
    const Operand& o = t.operand(name);
    for (unsigned i = 0; i < count && o.number != zero_register; ++i)
      view.src[view.src_count++] = i == 0 ? t.raw(o) : t.register_behind(o, i);
  };
  add("Ra", values.of_a());
  add("Rb", values.of_b());
  if (t.has("URh")) view.src[view.src_count++] = t.raw(t.operand("URh"));
}

void fetch(Translator& t, Type coordinates) {
  refuse_unknown(t);
  const Shape& shape = shapes[t.operand("dim").value & 7];
  const Values values(t);
  const ptx::Operand handle = handle_of(t, values, shape.values);
  ptx::Operand layer;
  if (shape.layered) {
    layer = t.temporary();
    t.emit(Op::and_, Type::b32, {layer}, {values.at(0), t.number(0xffffu)});
  }
  ptx::Inst& inst = t.emit_memory(Op::tex, Type::u32, {}, {handle, {}});
  inst.stype = coordinates;
  inst.mods.geometry = shape.geometry;
  inst.mods.space = ptx::Space::tex;
  for (unsigned i = 0; i < shape.values; ++i)
    inst.src[inst.src_count++] = shape.layered && i == 0 ? layer : values.at(i);
  const auto wanted = static_cast<unsigned>(t.operand("quadmask").value);
  for (unsigned channel = 0, place = 0; channel < most_channels; ++channel) {
    ptx::Operand result{.kind = ptx::OperandKind::sink, .bytes = 4};
    if ((wanted >> channel & 1u) != 0) {
      const Operand& pair = t.operand(place < 2 ? "Rd" : "Rd2");
      result = place % 2 == 0 ? t.result(pair) : t.register_behind(pair, 1);
      ++place;
    }
    inst.dst[inst.dst_count++] = result;
  }
  const ptx::Inst done = inst;
  describe(t, done, values);
}

}  // namespace

std::span<const SemanticsRow> texture_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"TEX", [](Translator& t) { fetch(t, Type::f32); }},
      {"TLD", [](Translator& t) { fetch(t, Type::s32); }},
  };
  return rows;
}

}  // namespace simtlab::machine

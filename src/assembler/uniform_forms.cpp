#include "assembler/uniform_forms.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "assembler/control_effects.h"

namespace simtlab::assembler {
namespace {

using machine::OperandKind;

struct Pair {
  std::string_view of_lanes, of_warp;
};
constexpr std::array<Pair, 16> uniform_names{{{"MOV", "UMOV"},
                                              {"LDC", "ULDC"},
                                              {"S2R", "S2UR"},
                                              {"IADD3", "UIADD3"},
                                              {"IADD3.X", "UIADD3.X"},
                                              {"IMAD", "UIMAD"},
                                              {"IMAD.WIDE", "UIMAD.WIDE"},
                                              {"LEA", "ULEA"},
                                              {"LEA.HI", "ULEA.HI"},
                                              {"LEA.HI.X", "ULEA.HI.X"},
                                              {"LOP3", "ULOP3"},
                                              {"SHF", "USHF"},
                                              {"PRMT", "UPRMT"},
                                              {"SEL", "USEL"},
                                              {"ISETP", "UISETP"},
                                              {"PLOP3", "UPLOP3"}}};

std::string_view uniform_name(std::string_view name) {
  for (const Pair& p : uniform_names)
    if (p.of_lanes == name) return p.of_warp;
  return {};
}

// Block numbers: what else S2R reads differs between lanes, or while the kernel runs.
bool is_block_number(const Instruction& i) {
  constexpr std::uint8_t first = 0x25, last = 0x27;
  const auto at = static_cast<std::size_t>(i.code.form->operand("sr"));
  return i.code.operands[at].number >= first && i.code.operands[at].number <= last;
}

// The sources; a constant that is added to a wide product has two words. nullopt: ULDC does not bring both.
std::optional<SourceValues> values_for_warp(const Instruction& i) {
  std::optional<SourceValues> out = source_values(i);
  constexpr std::size_t addend = 2;
  if (!out || !i.code.mnemonic().starts_with("IMAD.WIDE") || out->count <= addend) return out;
  Value& added = out->values[addend];
  if (added.kind != Value::Kind::constant) return out;
  if (added.offset % 8 != 0) return std::nullopt;
  added.wide = true;
  return out;
}

bool is_zero_number(const Value& v) { return v.is_number() && v.bits == 0 && !v.inverted; }

// As the uniform datapath reads them.
SourceValues of_warp(const SourceValues& sources) {
  SourceValues out = sources;
  for (std::size_t k = 0; k < out.count; ++k) {
    Value& v = out.values[k];
    if (v.kind != Value::Kind::reg && !is_zero_number(v)) continue;
    v.kind = Value::Kind::uniform;
    v.bits = machine::zero_uniform;
  }
  return out;
}

// Constants as registers.
SourceValues with_loaded(SourceValues sources, const std::function<Ref(const Value&)>& load) {
  for (std::size_t k = 0; k < sources.count; ++k) {
    Value& v = sources.values[k];
    if (v.kind != Value::Kind::constant) continue;
    Value plain = v;
    plain.negated = plain.absolute = plain.inverted = false;
    v.ref = load(plain);
    v.kind = Value::Kind::uniform;
    v.bits = machine::zero_uniform;
  }
  return sources;
}

// Where it does not matter which one
constexpr Ref some_register{.reg = 0, .part = 0, .count = 1};

bool is_load_of_constant(const Instruction& i, const SourceValues& sources) {
  return (i.code.mnemonic() == "MOV" || i.code.mnemonic() == "LDC") && sources.count == 1 &&
         sources.values[0].kind == Value::Kind::constant && sources.values[0].plain();
}

// ---- orders of sources that mean the same ----

std::uint16_t* field_of(Instruction& i, machine::Name name) {
  const int at = i.code.form->field(name);
  return at < 0 ? nullptr : &i.code.fields[static_cast<std::size_t>(at)];
}

// The table of LOP3 for its first and second (or first and third) source exchanged
std::int64_t swapped_table(std::int64_t table, unsigned a, unsigned b) {
  std::int64_t out = 0;
  for (unsigned k = 0; k < 8; ++k) {
    std::array<unsigned, 3> bits = {k >> 2 & 1u, k >> 1 & 1u, k & 1u};
    std::swap(bits[a], bits[b]);
    out |= (table >> (bits[0] << 2 | bits[1] << 1 | bits[2]) & 1) << k;
  }
  return out;
}

std::uint16_t swapped_comparison_field(std::uint16_t compare) {
  // Bits: less, equal, greater, unordered
  return static_cast<std::uint16_t>((compare & ~5u) | (compare & 1u) << 2 | (compare & 4u) >> 2);
}

// Exchanges sources a and b of an instruction. False: that is another operation then.
bool exchange(Instruction& i, SourceValues& sources, unsigned a, unsigned b) {
  constexpr std::array<std::string_view, 8> sums = {"IADD3", "FADD",  "FMUL",  "DADD",
                                                    "DMUL",  "FMNMX", "IMNMX", "VIMNMX"};
  constexpr std::array<std::string_view, 3> products = {"FFMA", "DFMA", "IMAD"};
  const std::string_view base = base_mnemonic(i.code);
  const bool first_two = a + b == 1;
  if (is_one_of_names(base, sums) || (first_two && is_one_of_names(base, products))) {
    std::swap(sources.values[a], sources.values[b]);
    return true;
  }
  if (base == "LOP3") {
    const int at = i.code.form->operand("lut");
    std::int64_t& table = i.code.operands[static_cast<std::size_t>(at)].value;
    table = swapped_table(table, a, b);
    std::swap(sources.values[a], sources.values[b]);
    return true;
  }
  if (base == "ISETP" || base == "FSETP" || base == "DSETP") {
    std::uint16_t* const compare = field_of(i, "cmp");
    if (!first_two) return false;
    *compare = swapped_comparison_field(*compare);
    std::swap(sources.values[a], sources.values[b]);
    return true;
  }
  if (base == "SEL" || base == "FSEL") {
    const int at = i.code.form->operand(machine::Name(base == "SEL" ? "Pc" : "sel"));
    machine::Operand& choice = i.code.operands[static_cast<std::size_t>(at)];
    choice.inverted = !choice.inverted;
    std::swap(sources.values[a], sources.values[b]);
    return true;
  }
  return false;
}

// In forms with a place for a number, a register that holds one need not be read.
void use_a_number(const Builder& out, const KnownNumbers& numbers, Instruction& i, SourceValues& sources) {
  const std::string_view name = uniform_name(i.code.mnemonic());
  for (unsigned k = 0; k < sources.count; ++k) {
    const Value& v = sources.values[k];
    if (v.kind != Value::Kind::reg || !v.ref || v.ref.count != 1) continue;
    const auto known = numbers.find(v.ref.reg);
    if (known == numbers.end()) continue;
    for (unsigned other = 0; other < sources.count; ++other) {
      Instruction like = i;
      SourceValues order = sources;
      order.values[k].kind = Value::Kind::number;
      order.values[k].bits = known->second;
      order.values[k].ref = {};
      if (other != k && !exchange(like, order, k, other)) continue;
      const SourceValues read = with_loaded(of_warp(order), [](const Value&) { return some_register; });
      const machine::Form* const form = out.form_for(name, read.all());
      if (form == nullptr || !out.with_form(like, *form, read.all())) continue;
      i = std::move(like);
      sources = order;
      return;
    }
  }
}

}  // namespace

std::optional<UniformUsers> uniform_users(const Program& program) {
  UniformUsers out;
  out.writers.resize(program.registers.size());
  out.readers.resize(program.registers.size());
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b)
    for (std::uint32_t k = 0; k < program.blocks[b].code.size(); ++k) {
      const Instruction& i = program.blocks[b].code[k];
      if (base_mnemonic(i.code) == "CALL") return std::nullopt;
      for_each_ref(i, [&](const Ref& r, bool writes) {
        std::vector<UniformSpot>& list = (writes ? out.writers : out.readers)[r.reg];
        if (list.empty() || list.back().block != b || list.back().index != k) list.push_back({b, k});
      });
    }
  return out;
}

std::optional<UniformForm> uniform_form(const Builder& out, const Instruction& i) {
  const std::string_view name = uniform_name(i.code.mnemonic());
  if (name.empty() || i.guarded()) return std::nullopt;
  if (name == "S2UR" && !is_block_number(i)) return std::nullopt;
  const std::optional<SourceValues> sources = values_for_warp(i);
  if (!sources) return std::nullopt;
  UniformForm found;
  if (is_load_of_constant(i, *sources)) {
    found.form = out.form_for("ULDC", sources->all());
  } else {
    const SourceValues read = with_loaded(of_warp(*sources), [&](const Value&) {
      ++found.constants;
      return some_register;
    });
    found.form = out.form_for(name, read.all());
    if (found.form != nullptr && !out.with_form(i, *found.form, read.all())) return std::nullopt;
  }
  if (found.form == nullptr) return std::nullopt;
  return found;
}

Instruction in_uniform_datapath(const Builder& out, const Instruction& instruction,
                                const KnownNumbers& numbers, const std::function<Ref(const Value&)>& load) {
  const std::optional<UniformForm> form = uniform_form(out, instruction);
  SIMTLAB_ASSERT(form, "the uniform datapath has the instruction");
  Instruction like = instruction;
  SourceValues sources = *values_for_warp(instruction);
  if (!is_load_of_constant(instruction, sources)) {
    use_a_number(out, numbers, like, sources);
    sources = with_loaded(of_warp(sources), load);
  }
  const machine::Form* with_numbers = out.form_for(uniform_name(like.code.mnemonic()), sources.all());
  std::optional<Instruction> made =
      out.with_form(like, with_numbers != nullptr ? *with_numbers : *form->form, sources.all());
  SIMTLAB_ASSERT(made, "the form takes the sources");
  made->copy = instruction.copy;
  made->remakes = instruction.remakes;
  return *std::move(made);
}

std::optional<Instruction> reading_uniform(const Builder& out, const Program& program, const Instruction& i,
                                           const UniformSet& uniform, std::span<const std::uint32_t> copied) {
  const auto is_uniform = [&](const Ref& r) {
    return r && uniform[r.reg] && std::ranges::find(copied, r.reg) == copied.end();
  };
  Instruction like = i;
  // An address
  bool beside = false;
  for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
    if (i.code.operands[k].kind != OperandKind::memory || !is_uniform(i.refs[k])) continue;
    const Ref base = std::exchange(like.refs[k], Ref{});
    const bool wide = i.code.operands[k].wide;
    if (i.beside || i.code.operands[k].scale != 1 || base.count != (wide ? 2 : 1)) return std::nullopt;
    like.beside = base;
    like.code.operands[k].base = machine::zero_register;
    like.code.operands[k].pair = wide;
    beside = true;
  }
  const std::optional<SourceValues> all = source_values(i);
  if (!all) return std::nullopt;
  SourceValues sources = *all;
  std::size_t count = 0, at = 0;
  for (std::size_t k = 0; k < sources.count; ++k) {
    Value& v = sources.values[k];
    if (v.kind != Value::Kind::reg || !is_uniform(v.ref)) continue;
    v.kind = Value::Kind::uniform;
    v.bits = machine::zero_uniform;
    ++count;
    at = k;
  }
  for (std::size_t k = 0; k < i.code.operand_count(); ++k)
    if (is_uniform(i.refs[k]) && holds_predicates(program.registers[i.refs[k].reg].file)) return std::nullopt;
  if (is_uniform(i.guard)) return std::nullopt;
  if (beside && count > 0) return std::nullopt;
  if (beside) {
    for (const machine::Form* form : out.forms(i.code.mnemonic())) {
      const auto has_both = [](const machine::OperandForm& o) {
        return o.kind == OperandKind::memory && o.uniform != machine::no_bit;
      };
      if (form->operands.size() == i.code.operand_count() && std::ranges::any_of(form->operands, has_both))
        if (auto made = out.with_form(like, *form, sources.all())) return made;
    }
    return std::nullopt;
  }
  if (count != 1) return std::nullopt;
  // As it stands, or with the register in another place
  if (const machine::Form* form = out.form_for(i.code.mnemonic(), sources.all()))
    if (auto made = out.with_form(like, *form, sources.all())) return made;
  for (unsigned other = 0; other < sources.count; ++other) {
    if (other == at) continue;
    Instruction changed = like;
    SourceValues order = sources;
    if (!exchange(changed, order, static_cast<unsigned>(at), other)) continue;
    if (const machine::Form* form = out.form_for(i.code.mnemonic(), order.all()))
      if (auto made = out.with_form(changed, *form, order.all())) return made;
  }
  return std::nullopt;
}

}  // namespace simtlab::assembler

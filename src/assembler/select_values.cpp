// What the operands of an instruction are in machine code.
#include "assembler/selector.h"
#include "machine/code.h"
#include "machine/launch_state.h"

namespace simtlab::assembler {
namespace {

using ptx::OperandKind;
using ptx::Special;

constexpr std::int64_t largest_offset = (1 << 23) - 1;  // of an access: 24 bits with sign

// What constant bank 0 holds; nullopt: nothing of it.
std::optional<std::uint32_t> launch_slot(Special special, const machine::LaunchSlots& slots) {
  const auto behind = [&](Special first, std::uint32_t at) {
    return at + 4 * (static_cast<std::uint32_t>(special) - static_cast<std::uint32_t>(first));
  };
  if (special >= Special::ntid_x && special <= Special::ntid_z) return behind(Special::ntid_x, slots.block);
  if (special >= Special::nctaid_x && special <= Special::nctaid_z)
    return behind(Special::nctaid_x, slots.grid);
  return std::nullopt;
}

// Where a constant of the address of a constant variable lies in bank 3.
std::optional<std::uint64_t> offset_in_bank(const ptx::Module& module, const ptx::Constant& c) {
  if (c.kind != ptx::Constant::Kind::global_symbol || c.symbol >= module.variables.size())
    return std::nullopt;
  const ptx::Variable& v = module.variables[c.symbol];
  if (v.space != Space::constant || v.within < 0) return std::nullopt;
  return v.within_offset + c.value;
}

}  // namespace

Ref Selector::ref_of(const Operand& operand) const { return refs_[operand.index]; }

Ref Selector::low(Ref wide) const {
  wide.count = 1;
  return wide;
}

Ref Selector::high(Ref wide) const {
  if (!wide) return wide;
  wide.part = static_cast<std::uint8_t>(wide.part + 1);
  wide.count = 1;
  return wide;
}

Condition Selector::condition(const Operand& predicate) const {
  Operand at = predicate;
  bool inverted = predicate.negated;
  for (;;) {
    // A predicate that is another one's opposite
    const std::uint32_t d = definition_[at.index];
    if (d == none || f_.fn.code[d].op != Op::not_ || f_.fn.code[d].fold != Fold::operand) break;
    at = f_.fn.code[d].src[0];
    inverted = inverted == at.negated;
  }
  return {ref_of(at), inverted};
}

Ref Selector::result(const Inst& inst, unsigned k) {
  if (k >= inst.dst_count) return {};
  const Operand& o = inst.dst[k];
  return o.kind == OperandKind::reg || o.kind == OperandKind::pred ? ref_of(o) : Ref{};
}

Value Selector::address_half(const ptx::Constant& constant, bool high) {
  ptx::Constant half = constant;
  if (high) half.symbol |= machine::upper_half;
  const auto [it, fresh] = addresses_.try_emplace({half.symbol, half.value},
                                                  static_cast<std::uint32_t>(program_.addresses.size()));
  if (fresh) program_.addresses.push_back(half);
  return {.kind = Value::Kind::address, .bits = it->second};
}

Value Selector::in_bank(const Value& v) {
  constexpr std::size_t room = (64 << 10) / 8;
  std::vector<std::uint64_t>& literals = program_.literals;
  if (!v.is_number() || !v.wide || (v.bits & 0xffffffffu) == 0 || generation_ >= 90) return v;
  const auto [it, fresh] = literals_.try_emplace(v.bits, static_cast<std::uint32_t>(literals.size()));
  if (fresh && literals.size() < room) literals.push_back(v.bits);
  if (it->second >= literals.size()) return v;
  Value out = v;
  out.kind = Value::Kind::constant;
  out.bank = 2;
  out.offset = 8 * it->second;
  return out;
}

Value Selector::constant_of(std::uint32_t index, unsigned bytes) {
  const ptx::Constant& c = f_.fn.constants[index];
  switch (c.kind) {
    case ptx::Constant::Kind::value:
      return number(bytes >= 8 ? c.value : c.value & ((std::uint64_t{1} << 8 * bytes) - 1), bytes == 8);
    case ptx::Constant::Kind::global_symbol: {
      if (bytes != 8) return address_half(c, false);
      const Ref pair = builder_.new_register(2);
      const Condition guarded = builder_.guard();
      builder_.guard(always());
      for (const bool upper : {false, true}) {
        Instruction& i = builder_.emit("MOV", upper ? high(pair) : low(pair), {address_half(c, upper)});
        i.remakes = true;
      }
      builder_.guard(guarded);
      return value_of(pair);
    }
    default: give_up("the address of a function");
  }
}

std::optional<Value> Selector::constant_of_bank(const Inst& load, unsigned bytes) const {
  const ptx::Constant& c = f_.fn.constants[load.src[0].index];
  const auto offset = offset_in_bank(module_, c);
  if (!offset || ptx::size_of(load.type) != bytes) return std::nullopt;
  const std::uint64_t at = *offset + static_cast<std::uint64_t>(load.imm_offset);
  if (at % bytes != 0 || at >= 1u << 16) return std::nullopt;
  Value v = parameter(static_cast<std::uint32_t>(at), bytes == 8);
  v.bank = 3;
  return v;
}

std::optional<Selector::BankPlace> Selector::bank_place(const Inst& load) {
  const auto in_range = [](std::uint64_t offset, std::uint64_t most) -> std::optional<std::uint32_t> {
    if (offset > most) return std::nullopt;
    return static_cast<std::uint32_t>(offset);
  };
  const auto more = static_cast<std::uint64_t>(load.imm_offset);
  const Operand& base = load.src[0];
  if (base.kind == OperandKind::imm) {
    const auto offset = offset_in_bank(module_, f_.fn.constants[base.index]);
    const auto at = offset ? in_range(*offset + more, 0xffff) : std::nullopt;
    return at ? std::optional<BankPlace>({*at, {}}) : std::nullopt;
  }
  if (base.kind != OperandKind::reg || definition_[base.index] == none) return std::nullopt;
  const Inst& sum = f_.fn.code[definition_[base.index]];
  if (sum.op != Op::add || ptx::size_of(sum.type) != 8 || sum.mods.cc_in || sum.mods.cc_out)
    return std::nullopt;
  for (unsigned i = 0; i < 2; ++i) {
    const Operand &symbol = sum.src[i], &index = sum.src[1 - i];
    if (symbol.kind != OperandKind::imm || index.kind != OperandKind::reg || definition_[index.index] == none)
      continue;
    const auto offset = offset_in_bank(module_, f_.fn.constants[symbol.index]);
    const auto at = offset ? in_range(*offset + more, 0x7fff) : std::nullopt;  // a sign beside a register
    if (!at) continue;
    Value v = plain_source(sum, 1 - i);
    if (v.wide) v = half_of(v, false);
    return BankPlace{*at, low(builder_.in_register(v))};
  }
  return std::nullopt;
}

// Of a register that is written once, with a number, a parameter or a value of the launch.
std::optional<Value> Selector::constant_value(const Operand& operand, unsigned bytes) {
  if (operand.kind == OperandKind::imm) return constant_of(operand.index, bytes);
  if (operand.kind != OperandKind::reg || definition_[operand.index] == none) return std::nullopt;
  const Inst& made = f_.fn.code[definition_[operand.index]];
  if (made.frame_relative) return std::nullopt;
  if (made.op == Op::ld && made.mods.space == Space::param && made.src[0].kind == OperandKind::imm &&
      ptx::size_of(made.type) >= 4) {
    std::uint64_t offset =
        f_.fn.constants[made.src[0].index].value + static_cast<std::uint64_t>(made.imm_offset);
    for (unsigned k = 0; made.dst[k].index != operand.index || made.dst[k].kind != operand.kind; ++k)
      offset += ptx::size_of(made.type);
    // A wider register than what is loaded is extended.
    if (ptx::size_of(made.type) != operand.bytes || offset % ptx::size_of(made.type) != 0)
      return std::nullopt;
    const std::uint32_t at =
        machine::launch_slots(generation_).parameters + static_cast<std::uint32_t>(offset);
    return parameter(at, operand.bytes == 8);
  }
  if (made.dst_count != 1) return std::nullopt;
  if (made.op == Op::ld && made.mods.space == Space::constant && made.src[0].kind == OperandKind::imm &&
      made.mods.vector == 1 && (operand.bytes == 4 || operand.bytes == 8) && made.dst_count == 1)
    return constant_of_bank(made, operand.bytes);
  if (made.op != Op::mov || made.src_count != 1) return std::nullopt;
  if (made.src[0].kind == OperandKind::special && operand.bytes == 4)
    if (const auto slot =
            launch_slot(static_cast<Special>(made.src[0].index), machine::launch_slots(generation_)))
      return launch_word(*slot);
  if (made.src[0].kind != OperandKind::imm) return std::nullopt;
  if (f_.fn.constants[made.src[0].index].kind != ptx::Constant::Kind::value) return std::nullopt;
  return constant_of(made.src[0].index, operand.bytes);
}

std::optional<std::uint64_t> Selector::known(const Operand& operand) const {
  const auto number_at = [&](std::uint32_t index) -> std::optional<std::uint64_t> {
    const ptx::Constant& c = f_.fn.constants[index];
    if (c.kind != ptx::Constant::Kind::value) return std::nullopt;
    return c.value;
  };
  if (operand.kind == OperandKind::imm) return number_at(operand.index);
  if (operand.kind != OperandKind::reg || definition_[operand.index] == none) return std::nullopt;
  const Inst& made = f_.fn.code[definition_[operand.index]];
  if (made.op != Op::mov || made.src_count != 1 || made.src[0].kind != OperandKind::imm ||
      made.frame_relative)
    return std::nullopt;
  return number_at(made.src[0].index);
}

const Inst* Selector::definition(const Operand& operand) const {
  if (operand.kind != OperandKind::reg && operand.kind != OperandKind::pred) return nullptr;
  const std::uint32_t d = definition_[operand.index];
  return d == none ? nullptr : &f_.fn.code[d];
}

bool Selector::is_read(const Operand& operand) const {
  return (operand.kind == OperandKind::reg || operand.kind == OperandKind::pred) && read_[operand.index];
}

const Inst* Selector::taken(const Inst& inst, unsigned i, Fold kind) const {
  const Operand& o = inst.src[i];
  if (o.kind != OperandKind::reg && o.kind != OperandKind::pred) return nullptr;
  const std::uint32_t d = definition_[o.index];
  if (d == none || f_.fn.code[d].fold != kind) return nullptr;
  return &f_.fn.code[d];
}

const Inst* Selector::comparison(const Inst& inst, unsigned i) const {
  const std::uint32_t d = definition_[inst.src[i].index];
  if (d == none || f_.fn.code[d].op != Op::setp || f_.fn.code[d].takes != Fold::predicate) return nullptr;
  return &f_.fn.code[d];
}

void Selector::make_comparisons(const Inst& inst) {
  const Condition guarded = builder_.guard();
  builder_.guard(always());
  for (unsigned i = 0; i < inst.src_count; ++i)
    if (const Inst* const made = comparison(inst, i)) emit(*made);
  builder_.guard(guarded);
}

Value Selector::plain_source(const Inst& inst, unsigned i) {
  const Operand& o = inst.src[i];
  switch (o.kind) {
    case OperandKind::imm:
    case OperandKind::reg:
      if (const std::optional<Value> constant = constant_value(o, o.bytes == 0 ? 4 : o.bytes))
        return *constant;
      if (o.kind == OperandKind::reg) {
        make_left_out(o);
        return value_of(ref_of(o));
      }
      break;
    default: break;
  }
  give_up("a source of an unusual kind");
}

// Who takes it in has no place for it.
void Selector::make_left_out(const Operand& operand) {
  const std::uint32_t d = definition_[operand.index];
  if (d == none || !is_left_out(f_.fn.code[d])) return;
  const Condition guarded = builder_.guard();
  builder_.guard(always());
  constexpr unsigned deepest = 256;
  if (++depth_ > deepest) give_up("a long chain of address arithmetic");
  emit(f_.fn.code[d]);
  --depth_;
  builder_.guard(guarded);
}

Value Selector::source(const Inst& inst, unsigned i) {
  const Inst* const changed = taken(inst, i, Fold::sign);
  if (changed == nullptr) return plain_source(inst, i);
  Value v = source(*changed, 0);
  if (changed->op == Op::abs) {
    v.absolute = true;
    v.negated = false;
  } else {
    v.negated = !v.negated;
  }
  return v;
}

Value Selector::sign_extended(const Value& value, unsigned bits) {
  if (value.is_number()) {
    const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
    return number((((value.bits & (2 * sign - 1)) ^ sign) - sign) & 0xffffffffu);
  }
  const Ref d = builder_.new_register();
  // The sign of byte 0 or 1 in those above it
  builder_.emit("PRMT", d, {value, number(bits == 8 ? 0x8880 : 0x9910), zero()});
  return value_of(d);
}

Value Selector::extended(const Inst& inst, unsigned i, unsigned bits) {
  return sign_extended(plain_source(inst, i), bits);
}

void Selector::mask(Ref d, const Value& value, unsigned bits) {
  Instruction& i = builder_.emit("LOP3", d, {value, number((std::uint64_t{1} << bits) - 1), zero()});
  builder_.set_number(i, "lut", 0xc0);
}

Value Selector::frame_place(std::int64_t offset, Ref d) {
  Value stack = value_of({});
  Instruction& i = builder_.emit("IADD3", d, {stack, number(static_cast<std::uint32_t>(offset)), zero()});
  i.code.operands[static_cast<std::size_t>(i.code.form->operand("Ra"))].number = 1;
  return value_of(d);
}

// Sums with numbers that only addresses are made of are in the offset.
Place Selector::place(const Inst& inst, bool wide) {
  Place out;
  out.offset = inst.imm_offset;
  out.wide = wide;
  const Operand* base = &inst.src[0];
  if (inst.frame_relative) {
    if (base->kind == OperandKind::imm) out.offset += static_cast<std::int64_t>(*known(*base));
    if (base->kind == OperandKind::reg) give_up("a register in the address of a byte of the frame");
    return out;
  }
  for (;;) {
    if (base->kind != OperandKind::reg) break;
    const std::uint32_t d = definition_[base->index];
    if (d == none || f_.fn.code[d].fold != Fold::address) break;
    const Inst& sum = f_.fn.code[d];
    const unsigned by = sum.op == Op::add && known(sum.src[0]) ? 0 : 1;
    const std::uint64_t bits = *known(sum.src[by]);
    const std::int64_t distance = ptx::size_of(sum.type) == 8
                                      ? static_cast<std::int64_t>(bits)
                                      : static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    out.offset += sum.op == Op::sub ? -distance : distance;
    base = &sum.src[1 - by];
  }
  Value v;
  if (base->kind == OperandKind::imm || base->kind == OperandKind::reg) {
    const std::optional<Value> constant = constant_value(*base, wide ? 8 : 4);
    v = constant ? *constant : value_of(ref_of(*base));
  } else {
    give_up("an address of an unusual kind");
  }
  if (!wide && v.wide) v = half_of(v, false);
  if (!wide && v.is_number()) {
    out.offset = static_cast<std::int32_t>(static_cast<std::uint32_t>(v.bits) +
                                           static_cast<std::uint32_t>(out.offset));
    v = zero();
  }
  if (wide && !v.wide) {  // an address of 32 bits
    const Ref pair = builder_.new_register(2);
    builder_.move(low(pair), v);
    builder_.move(high(pair), zero());
    v = value_of(pair);
  }
  if (out.offset > largest_offset || out.offset < -largest_offset) {
    const Ref sum = builder_.new_register(wide ? 2 : 1);
    const auto bits = static_cast<std::uint64_t>(out.offset);
    if (wide)
      add_wide(sum, v, number(bits, true));
    else
      builder_.emit("IADD3", sum, {v, number(bits & 0xffffffffu), zero()});
    out.offset = 0;
    v = value_of(sum);
  }
  if (!v.is_zero_register()) out.base = builder_.in_register(v);
  return out;
}

}  // namespace simtlab::assembler

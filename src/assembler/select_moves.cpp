// Moves, special registers, addresses of state spaces.
#include <array>
#include <optional>

#include "assembler/selector.h"
#include "machine/launch_state.h"

namespace simtlab::assembler {
namespace {

using ptx::OperandKind;
using ptx::Special;

struct SpecialNumber {
  Special special;
  std::uint8_t number;
};
// S2R's numbers
constexpr SpecialNumber special_numbers[] = {
    {Special::laneid, 0x00},         {Special::tid_x, 0x21},          {Special::tid_y, 0x22},
    {Special::tid_z, 0x23},          {Special::ctaid_x, 0x25},        {Special::ctaid_y, 0x26},
    {Special::ctaid_z, 0x27},        {Special::lanemask_eq, 0x38},    {Special::lanemask_lt, 0x39},
    {Special::lanemask_le, 0x3a},    {Special::lanemask_gt, 0x3b},    {Special::lanemask_ge, 0x3c},
    {Special::smid, 0x43},           {Special::clock, 0x50},          {Special::clock_hi, 0x51},
    {Special::globaltimer_lo, 0x52}, {Special::globaltimer_hi, 0x53}, {Special::total_smem_size, 0x32},
    {Special::cluster_ctarank, 0x88}};

std::optional<std::uint8_t> number_of(Special special) {
  for (const SpecialNumber& row : special_numbers)
    if (row.special == special) return row.number;
  return std::nullopt;
}

void read_special_register(Selector& s, Ref d, std::uint8_t number) {
  Builder& out = s.out();
  const bool clock = number >= 0x50 && number <= 0x53;
  if (d.count == 2 || clock) {
    Instruction& i = out.emit("CS2R", d, {}, {{"w64", d.count == 2 ? "" : "32"}});
    i.code.operands[static_cast<std::size_t>(i.code.form->operand("sr"))].number = number;
    return;
  }
  Instruction& i = out.emit("S2R", d, {});
  i.code.operands[static_cast<std::size_t>(i.code.form->operand("sr"))].number = number;
}

void read_special(Selector& s, const Inst& inst) {
  const auto special = static_cast<Special>(inst.src[0].index);
  const Ref d = s.result(inst);
  const machine::LaunchSlots slots = machine::launch_slots(s.generation());
  Builder& out = s.out();
  const auto behind = [&](Special first, std::uint32_t at) {
    return s.launch_word(at + 4 * (static_cast<std::uint32_t>(special) - static_cast<std::uint32_t>(first)));
  };
  if (special == Special::clock64 || special == Special::globaltimer)
    return read_special_register(s, d, special == Special::clock64 ? 0x50 : 0x52);
  if (special == Special::clock || special == Special::globaltimer_lo || special == Special::clock_hi ||
      special == Special::globaltimer_hi) {
    if (d.count == 1) return read_special_register(s, d, *number_of(special));
  }
  Value value = zero();
  if (special >= Special::ntid_x && special <= Special::ntid_z) {
    value = behind(Special::ntid_x, slots.block);
  } else if (special >= Special::nctaid_x && special <= Special::nctaid_z) {
    value = behind(Special::nctaid_x, slots.grid);
  } else if (special == Special::nsmid) {
    value = s.launch_word(slots.sm_count);
  } else if (special == Special::dynamic_smem_size) {
    value = s.launch_word(slots.dynamic_shared);
  } else if (special == Special::zero || special >= Special::pm0) {
    value = zero();
  } else if (special == Special::warpid || special == Special::nwarpid) {
    // From bit 8 on, 7 bits
    const Ref packed = out.new_register(), bits = out.new_register();
    read_special_register(s, packed, special == Special::warpid ? 0x03 : 0x02);
    out.emit("SHF", bits, {zero(), number(8), value_of(packed)},
             {{"dir", "R"}, {"type", "U32"}, {"hi", "HI"}});
    value = value_of(bits);
  } else if (const auto number = number_of(special)) {
    if (d.count == 1 && inst.dst[0].bytes == 4) return read_special_register(s, d, *number);
    const Ref word = out.new_register();
    read_special_register(s, word, *number);
    value = value_of(word);
  } else {
    s.give_up("a special register without a number");
  }
  out.move(s.low(d), value);
  if (d.count == 2) out.move(s.high(d), zero());
}

void move_predicate(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  Instruction& i = out.emit("PLOP3", {}, {});
  const Condition from = s.condition(inst, 0);
  out.set_result(i, "Pd", s.result(inst));
  out.set_condition(i, "Pa", from);
  out.set_number(i, "lut", 0xf0);
  i.copy = !from.inverted;
}

// d = the parts side by side. Parts of 8 and 16 bits are put together.
void pack(Selector& s, const Inst& inst) {
  const Ref d = s.result(inst);
  const unsigned part = ptx::size_of(inst.type) / inst.src_count;
  Builder& out = s.out();
  if (part >= 4) {
    for (unsigned i = 0; i < inst.src_count; ++i) {
      Ref to = d;
      to.count = static_cast<std::uint8_t>(part / 4);
      to.part = static_cast<std::uint8_t>(d.part + i * to.count);
      if (to.part + to.count <= d.part + d.count) out.move(to, s.plain_source(inst, i));
    }
    return;
  }
  for (unsigned word = 0; word < d.count; ++word) {
    Ref to = d;
    to.part = static_cast<std::uint8_t>(d.part + word);
    to.count = 1;
    const unsigned each = 4 / part, first = word * each;
    if (part == 2 && inst.src_count == 1) {
      out.move(to, s.plain_source(inst, 0));
    } else if (part == 2) {
      out.emit("PRMT", to, {s.plain_source(inst, first), number(0x5410), s.plain_source(inst, first + 1)});
    } else {
      const unsigned bytes = std::min(each, inst.src_count - first);
      const Ref low = out.new_register(), high = out.new_register();
      out.emit("PRMT", bytes > 2 ? low : to,
               {s.plain_source(inst, first), number(bytes > 2 ? 0x0040 : 0x7740),
                s.plain_source(inst, first + 1)});
      if (bytes < 4) continue;
      out.emit("PRMT", high,
               {s.plain_source(inst, first + 2), number(0x0040), s.plain_source(inst, first + 3)});
      out.emit("PRMT", to, {value_of(low), number(0x5410), value_of(high)});
    }
  }
}

void unpack(Selector& s, const Inst& inst) {
  const unsigned part = ptx::size_of(inst.type) / inst.dst_count;
  const Value from = s.plain_source(inst, 0);
  Builder& out = s.out();
  for (unsigned k = 0; k < inst.dst_count; ++k) {
    const Ref d = s.result(inst, k);
    if (!d) continue;
    if (part >= 4) {
      if (from.kind == Value::Kind::reg && from.ref) {
        Value piece = from;
        piece.ref.count = static_cast<std::uint8_t>(part / 4);
        piece.ref.part = static_cast<std::uint8_t>(from.ref.part + k * part / 4);
        piece.wide = part == 8;
        out.move(d, piece);
      } else {
        out.move(d, half_of(from, k == 1));
      }
      continue;
    }
    const unsigned at = k * part, word = at / 4;
    const Value piece = from.wide ? half_of(from, word == 1) : from;
    const unsigned byte = at % 4;
    if (part == 2)
      out.emit("PRMT", d, {piece, number(byte == 0 ? 0x7710 : 0x7732), zero()});
    else
      out.emit("PRMT", d, {piece, number(0x7770u | byte), zero()});
    // Bytes 4 to 7 are those of RZ.
  }
}

void move(Selector& s, const Inst& inst) {
  if (inst.type == Type::pred) return move_predicate(s, inst);
  if (inst.src_count == 1 && inst.src[0].kind == OperandKind::special) return read_special(s, inst);
  if (inst.dst_count > 1) return unpack(s, inst);
  if (inst.src_count > 1) return pack(s, inst);
  const Ref d = s.result(inst);
  if (!d) return;
  if (inst.frame_relative) {
    s.frame_place(static_cast<std::int64_t>(s.known(inst.src[0]).value_or(0)), s.low(d));
    if (d.count == 2) s.out().move(s.high(d), zero());
    return;
  }
  const Value from = s.plain_source(inst, 0);
  if (d.count == 1) return s.out().move(d, from.wide ? half_of(from, false) : from);
  if (!from.wide && from.kind == Value::Kind::reg) {
    s.out().move(s.low(d), from);
    return s.out().move(s.high(d), zero());
  }
  s.out().move(d, from);
}

// ---- generic addresses: the upper word says which space ----

Value window(Selector& s, Space space) {
  const machine::LaunchSlots slots = machine::launch_slots(s.generation());
  if (space == Space::local) return s.launch_word(slots.local_window + 4);
  if (space == Space::param) return s.launch_word(slots.parameter_window + 4);
  if (slots.shared_window != machine::no_slot) return s.launch_word(slots.shared_window + 4);
  constexpr std::uint8_t shared_window_high = 0x2f;
  const Ref d = s.out().new_register();
  read_special_register(s, d, shared_window_high);
  return value_of(d);
}

void convert_address(Selector& s, const Inst& inst) {
  const Ref d = s.result(inst);
  Builder& out = s.out();
  if (inst.frame_relative) {
    s.frame_place(static_cast<std::int64_t>(s.known(inst.src[0]).value_or(0)), s.low(d));
    if (d.count == 2) out.move(s.high(d), inst.mods.to ? zero() : window(s, Space::local));
    return;
  }
  const Value from = s.plain_source(inst, 0);
  const bool windowed =
      inst.mods.space == Space::shared || inst.mods.space == Space::local || inst.mods.space == Space::param;
  out.move(s.low(d), from.wide ? half_of(from, false) : from);
  if (d.count < 2) return;
  if (windowed)
    out.move(s.high(d), inst.mods.to ? zero() : window(s, inst.mods.space));
  else
    out.move(s.high(d), from.wide ? half_of(from, true) : zero());
}

void is_space(Selector& s, const Inst& inst) {
  const Value address = s.plain_source(inst, 0);
  if (!address.wide) s.give_up("isspacep of an address of 32 bits");
  const Value high = s.out().as_register(half_of(address, true));
  Builder& out = s.out();
  const auto test = [&](Space space, std::string_view word, Ref result, Condition with) {
    Instruction& i =
        out.emit("ISETP", {}, {high, window(s, space)}, {{"cmp", word}, {"u32", "U32"}, {"bool", "AND"}});
    out.set_result(i, "Pd", result);
    out.set_condition(i, "Pc", with);
  };
  const Space space = inst.mods.space;
  if (space == Space::shared || space == Space::local || space == Space::param)
    return test(space, "EQ", s.result(inst), always());
  if (space != Space::global) s.give_up("isspacep of this space");
  const Ref not_shared = out.new_predicate(), not_local = out.new_predicate();
  test(Space::shared, "NE", not_shared, always());
  test(Space::local, "NE", not_local, {not_shared});
  test(Space::param, "NE", s.result(inst), {not_local});
}

}  // namespace

std::span<const SelectionRow> move_selections() {
  static constexpr SelectionRow rows[] = {
      {Op::mov, move}, {Op::cvta, convert_address}, {Op::isspacep, is_space}};
  return rows;
}

}  // namespace simtlab::assembler

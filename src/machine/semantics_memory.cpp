// Loads, stores, constants, asynchronous copies, fences.
//
// Scopes, orders and hints of caches say nothing about values here: a warp's accesses take effect in their
// order.
#include "machine/launch_state.h"
#include "machine/semantics_common.h"
#include "ptx/machine_ops.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::Type;

struct Size {
  Type type;
  std::uint8_t count;
};
// By the field `size`: what a register takes, and how many registers.
constexpr Size sizes[] = {{Type::u8, 1},  {Type::s8, 1},  {Type::u16, 1}, {Type::s16, 1},
                          {Type::b32, 1}, {Type::b32, 2}, {Type::b32, 4}, {Type::b32, 4}};

// What the predicate that a load writes means is not known; compiled code leaves it out.
void refuse_unknown_modifiers(Translator& t) {
  if (t.has("Pd") && t.operand("Pd").number != true_predicate)
    t.refuse("has a second result, which is not executed");
  if (t.field("zd") != 0) t.refuse("has .ZD, which is not executed");
}

void set_order(Translator& t, ptx::Mods& mods) {
  if (t.word("sem") == "STRONG" || t.word("order").starts_with("STRONG")) mods.order = ptx::MemOrder::relaxed;
}

// The address of LDG, STG, LD, ST ...: mostly a pair of registers, which the access itself reads.
struct Address {
  ptx::Operand operand;
  std::uint32_t form = 0;  // of Mods::video
  std::int64_t offset = 0;
};

Address low_window_address(Translator& t, const Operand& memory) {
  const ptx::Operand address = t.temporary_wide();
  const auto offset = static_cast<std::uint64_t>(memory.value);
  t.emit(Op::add, Type::u64, {address}, {t.address(memory), t.number(offset, 8)});
  leave_low_window(t, address);
  return {address};
}

Address address_for(Translator& t, const Operand& memory, ptx::Space space) {
  if (space == ptx::Space::generic && has_low_windows(t.instruction().generation))
    return low_window_address(t, memory);
  if (space == ptx::Space::global || space == ptx::Space::generic)
    if (const std::optional<ptx::Operand> halves = t.address_halves(memory))
      return {*halves, ptx::address_in_halves, memory.value};
  return {t.address(memory), 0, memory.value};
}

ptx::Inst& load_into(Translator& t, const Operand& destination, Size size, ptx::Space space,
                     const ptx::Operand& address, std::int64_t offset) {
  ptx::Inst& inst = t.emit_memory(Op::ld, size.type, {}, {address});
  inst.imm_offset = offset;
  inst.mods.space = space;
  inst.mods.vector = size.count;
  inst.dst[inst.dst_count++] = t.result(destination);
  for (unsigned i = 1; i < size.count; ++i) inst.dst[inst.dst_count++] = t.register_behind(destination, i);
  set_order(t, inst.mods);
  return inst;
}

// On Maxwell and Pascal the predicate of LD and ST says that the address is outside of the window of shared
// memory, which is found out here anyway. Later, a lane whose source predicate is false reads nothing and
// gets 0. That is inferred from kernels of cuDNN for convolutions, which load what lies in the padding so.
void load(Translator& t, ptx::Space space) {
  refuse_unknown_modifiers(t);
  const Operand &memory = t.operand("mem"), &destination = t.operand("Rd");
  const Size size = sizes[t.field("size")];
  const Address address = address_for(t, memory, space);
  const bool conditional = t.has("Pp") && !t.is_true(t.operand("Pp")) && !t.instruction().form->bundled();
  ptx::Inst& inst = load_into(t, destination, size, space, address.operand, address.offset);
  inst.mods.video = address.form;
  if (!conditional) return;
  const ptx::Operand wanted = t.predicate("Pp");
  inst.guard = wanted;
  for (unsigned i = 0; i < size.count && destination.number != zero_register; ++i) {
    const ptx::Operand out = i == 0 ? t.result(destination) : t.register_behind(destination, i);
    t.emit(Op::selp, Type::b32, {out}, {out, t.number(0), wanted});
  }
}

ptx::Inst& store(Translator& t, ptx::Space space) {
  const Operand& memory = t.operand("mem");
  const Size size = sizes[t.field("size")];
  const Address address = address_for(t, memory, space);
  const Operand& value = t.has("Rb") ? t.operand("Rb") : t.operand("Rc");
  ptx::Inst& inst = t.emit_memory(Op::st, size.type, {}, {address.operand});
  inst.mods.video = address.form;
  inst.imm_offset = address.offset;
  inst.mods.space = space;
  inst.mods.vector = size.count;
  for (unsigned i = 0; i < size.count; ++i) {
    const bool zero = value.number == zero_register;
    inst.src[inst.src_count++] = zero ? t.number(0) : i == 0 ? t.raw(value) : t.register_behind(value, i);
  }
  set_order(t, inst.mods);
  return inst;
}

// LDSLK: every lane gets the value; Pd says which have the lock.
void load_and_lock(Translator& t) {
  const Address address = address_for(t, t.operand("mem"), ptx::Space::shared);
  ptx::Inst& inst = load_into(t, t.operand("Rd"), sizes[t.field("size")], ptx::Space::shared, address.operand,
                              address.offset);
  inst.mods.video = ptx::takes_lock;
  inst.dst[inst.dst_count++] = t.predicate_result("Pd");
}

// STSUL; STSCUL, whose Pd says that the lane still had the lock: here it has.
void store_and_unlock(Translator& t) {
  store(t, ptx::Space::shared).mods.video = ptx::gives_lock;
  if (!t.has("Pd")) return;
  const ptx::Operand always = t.predicate({.kind = OperandKind::pred, .number = true_predicate});
  t.emit(Op::mov, Type::pred, {t.predicate_result("Pd")}, {always});
}

// The register (LDC) or uniform register (ULDC) that is added to a place in a constant bank.
ptx::Operand index_of(Translator& t, const Operand& c) {
  if (c.base != zero_register) return t.raw({.kind = OperandKind::reg, .number = c.base});
  return t.raw({.kind = OperandKind::ureg, .number = c.uniform});
}

// LDC, ULDC: c[bank][register + offset]. The sum has 32 bits. Beside a register the offset is a signed number
// of 16 bits: linked jump tables are read by c[0x2][R0+-0x7fd4] with 0x8000 added to R0.
void load_constant(Translator& t) {
  const Operand& c = t.operand("c");
  if (c.kind != OperandKind::constant)
    t.refuse("reads a constant bank by its descriptor, which is not executed");
  if (t.field("mode") != 0) t.refuse("takes the constant bank from a register, which is not executed");
  const Size size = sizes[t.field("size")];
  const Operand& destination = t.instruction().operands[0];
  const bool indexed = c.base != zero_register || c.uniform != zero_uniform;
  // 16 bits, which have a sign beside a register: ULDC R5, c[0x3][UR6+-0x8].
  const auto offset = indexed ? static_cast<std::uint32_t>(static_cast<std::int16_t>(c.value))
                              : static_cast<std::uint32_t>(c.value);
  const auto place_of_index = [&] {
    const ptx::Operand place = t.temporary();
    t.emit(Op::add, Type::u32, {place}, {index_of(t, c), t.number(offset)});
    return place;
  };
  if (!indexed && c.number == 0 && size.type == Type::b32) {
    for (unsigned i = 0; i < size.count; ++i)
      t.emit(Op::mov, Type::b32, {i == 0 ? t.result(destination) : t.register_behind(destination, i)},
             {t.launch_state(offset + 4 * i)});
    return;
  }
  if (c.number == 0) {
    // The launch's block of parameters is the bank.
    const ptx::Operand place = indexed ? place_of_index() : t.number(0);
    load_into(t, destination, size, ptx::Space::param, place, indexed ? 0 : offset);
    return;
  }
  if (!indexed) {
    load_into(t, destination, size, ptx::Space::constant, t.bank_address(c.number, offset), 0);
    return;
  }
  const ptx::Operand wide = t.temporary_wide(), address = t.temporary_wide();
  t.emit(Op::mov, Type::b64, {wide}, {place_of_index(), t.number(0)});
  t.emit(Op::add, Type::u64, {address}, {wide, t.bank_address(c.number, 0)});
  load_into(t, destination, size, ptx::Space::constant, address, 0);
}

// LDGSTS: from global to shared memory. A lane with a false predicate writes zeros: with .ZFILL that is what
// cp.async with a source size of 0 becomes, without it cp.async that ignores its source. With .ZFILL, the low
// bits of the address say how many bytes at the end are zeros (that is how compiled code says the size).
void copy_async(Translator& t) {
  const Operand &shared = t.operand("shared"), &memory = t.operand("mem");
  const Size size = sizes[t.field("size")];
  if (size.type != Type::b32) t.refuse("copies less than a word, which is not executed");
  const ptx::Operand to = t.address(shared);
  ptx::Operand from = t.address(memory);
  if (memory.value != 0) {
    const ptx::Operand sum = t.temporary_wide();
    t.emit(Op::add, Type::u64, {sum}, {from, t.number(static_cast<std::uint64_t>(memory.value), 8)});
    from = sum;
  }
  const unsigned bytes = 4u * size.count;
  const Operand& wanted = t.operand("Pp");
  ptx::Operand limit;
  if (t.field("zfill") != 0) {
    const ptx::Operand aligned = t.temporary_wide(), missing = t.temporary_wide(), low = t.temporary();
    t.emit(Op::and_, Type::b64, {aligned}, {from, t.number(~std::uint64_t{bytes - 1}, 8)});
    t.emit(Op::sub, Type::u64, {missing}, {from, aligned});
    t.emit(Op::mov, Type::b64, {low, {.kind = ptx::OperandKind::sink, .bytes = 4}}, {missing});
    limit = t.temporary();
    t.emit(Op::sub, Type::u32, {limit}, {t.number(bytes), low});
    from = aligned;
  }
  if (!t.is_true(wanted)) {
    const ptx::Operand all = limit.kind == ptx::OperandKind::none ? t.number(bytes) : limit;
    limit = t.temporary();
    t.emit(Op::selp, Type::b32, {limit}, {all, t.number(0), t.predicate(wanted)});
  }
  ptx::Inst& inst = t.emit_memory(Op::cp_async, Type::b32, {}, {to, from});
  inst.imm_offset = shared.value;
  inst.mods.space = ptx::Space::shared;
  inst.mods.copy_bytes = static_cast<std::uint8_t>(bytes);
  if (limit.kind != ptx::OperandKind::none) inst.src[inst.src_count++] = limit;
}

// QSPC: in which window a generic address lies. No block has its shared memory in another one's window (.D).
void query_space(Translator& t) {
  const Operand& memory = t.operand("mem");
  const std::string_view space = t.word("space");
  if (t.operand("Rd").number != zero_register || !memory.wide) t.refuse("has a form that is not executed");
  if (space == "D") {
    const ptx::Operand never =
        t.predicate({.kind = OperandKind::pred, .number = true_predicate, .inverted = true});
    t.emit(Op::mov, Type::pred, {t.predicate_result("Pd")}, {never});
    return;
  }
  ptx::Operand address = t.address(memory);
  if (memory.value != 0) {
    const ptx::Operand sum = t.temporary_wide();
    t.emit(Op::add, Type::u64, {sum}, {address, t.number(static_cast<std::uint64_t>(memory.value), 8)});
    address = sum;
  }
  ptx::Inst& inst = t.emit(Op::isspacep, Type::u64, {t.predicate_result("Pd")}, {address});
  inst.mods.space = space == "S" ? ptx::Space::shared : space == "L" ? ptx::Space::local : ptx::Space::global;
}

// Fences, waits for copies, hints: nothing is late here.
void change_nothing(Translator&) {}

}  // namespace

// The windows are apart by so much.
void leave_low_window(Translator& t, const ptx::Operand& address) {
  const ptx::Operand window = t.temporary_wide(), before = t.temporary_wide(), apart = t.temporary_wide();
  const ptx::Operand inside = t.temporary_predicate();
  t.emit(Op::shr, Type::u64, {window}, {address, t.number(low_window_at)});
  // One of the windows 1 and 2
  t.emit(Op::sub, Type::u64, {before}, {window, t.number(1, 8)});
  t.emit(Op::setp, Type::u64, {inside}, {before, t.number(2, 8)}).mods.compare = ptx::Compare::lt;
  t.emit(Op::mul, Type::u64, {apart}, {window, t.number(ptx::shared_window - low_shared_window, 8)})
      .mods.mul = ptx::MulMode::lo;
  t.emit(Op::selp, Type::b64, {apart}, {apart, t.number(0, 8), inside});
  t.emit(Op::add, Type::u64, {address}, {address, apart});
}

std::span<const SemanticsRow> memory_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"LDG", [](Translator& t) { load(t, ptx::Space::global); }},
      {"STG", [](Translator& t) { store(t, ptx::Space::global); }},
      {"LDS", [](Translator& t) { load(t, ptx::Space::shared); }},
      {"STS", [](Translator& t) { store(t, ptx::Space::shared); }},
      {"LDSLK", load_and_lock},
      {"STSCUL", store_and_unlock},
      {"STSUL", store_and_unlock},
      {"LD", [](Translator& t) { load(t, ptx::Space::generic); }},
      {"ST", [](Translator& t) { store(t, ptx::Space::generic); }},
      {"LDL", [](Translator& t) { load(t, ptx::Space::local); }},
      {"STL", [](Translator& t) { store(t, ptx::Space::local); }},
      {"LDC", load_constant},
      {"ULDC", load_constant},
      {"LDGSTS", copy_async},
      {"QSPC", query_space},
      {"LDGDEPBAR", change_nothing},
      {"DEPBAR", change_nothing},
      {"MEMBAR", change_nothing},
      {"ERRBAR", change_nothing},
      {"CGAERRBAR", change_nothing},
      {"FENCE", change_nothing},
      {"CCTL", change_nothing},
      {"CCTLL", change_nothing},
      {"ACQBULK", change_nothing},
      {"PMTRIG", change_nothing},
      {"PREEXIT", change_nothing},
  };
  return rows;
}

}  // namespace simtlab::machine

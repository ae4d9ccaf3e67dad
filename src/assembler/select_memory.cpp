// Loads and stores.
#include <array>
#include <optional>

#include "assembler/selector.h"
#include "machine/launch_state.h"

namespace simtlab::assembler {
namespace {

using ptx::CacheOp;
using ptx::MemOrder;
using ptx::OperandKind;

std::string_view size_word(Type type, unsigned bytes) {
  switch (bytes) {
    case 1: return ptx::is_signed(type) ? "S8" : "U8";
    case 2: return ptx::is_signed(type) ? "S16" : "U16";
    case 8: return "64";
    case 16: return "128";
    default: return "";
  }
}

// The order of an access, as the generation says it; `load` of the read-only path.
void set_order(Selector& s, Instruction& i, const Inst& inst) {
  Builder& out = s.out();
  const ptx::Mods& m = inst.mods;
  // Past L1 is what all of the device sees, past L2 what the system does.
  const bool past_l1 = m.cache == CacheOp::cg && m.order == MemOrder::weak;
  const bool strong =
      m.order != MemOrder::weak || past_l1 || m.cache == CacheOp::cv || m.cache == CacheOp::wt;
  const bool read_only = m.cache == CacheOp::nc;
  const bool device_scope = past_l1 || m.scope == ptx::Scope::gpu;
  const bool wide_scope = !past_l1 && (m.order == MemOrder::volatile_ || m.scope == ptx::Scope::sys ||
                                       m.scope == ptx::Scope::none || m.order == MemOrder::mmio);
  constexpr unsigned evict_first = 0, last_use = 3;
  if (i.code.form->field("evict") >= 0 && m.cache == CacheOp::cs) out.set_field(i, "evict", evict_first);
  if (i.code.form->field("evict") >= 0 && m.cache == CacheOp::lu) out.set_field(i, "evict", last_use);
  if (i.code.form->field("sem") >= 0) {
    constexpr unsigned constant = 0, strong_order = 2;
    if (read_only) out.set_field(i, "sem", constant);
    if (strong) {
      out.set_field(i, "sem", strong_order);
      out.set_field(i, "scope", wide_scope ? 3 : device_scope ? 2 : 0);
    } else if (i.code.form->field("scope") >= 0) {
      out.set_field(i, "scope", 3);
    }
  } else if (i.code.form->field("order") >= 0) {
    constexpr unsigned constant = 4, strong_block = 5, strong_device = 7, strong_system = 10;
    if (read_only) out.set_field(i, "order", constant);
    if (strong)
      out.set_field(i, "order",
                    wide_scope                               ? strong_system
                    : m.scope == ptx::Scope::cta && !past_l1 ? strong_block
                                                             : strong_device);
  }
}

std::string_view load_name(Space space) {
  switch (space) {
    case Space::global: return "LDG";
    case Space::shared: return "LDS";
    case Space::local: return "LDL";
    default: return "LD";
  }
}
std::string_view store_name(Space space) {
  switch (space) {
    case Space::global: return "STG";
    case Space::shared: return "STS";
    case Space::local: return "STL";
    default: return "ST";
  }
}

bool is_wide(Space space) { return space == Space::global || space == Space::generic; }

// An element of the vector that was loaded into `words`, whole registers first.
void take_element(Selector& s, const Inst& inst, unsigned k, Ref words) {
  const Ref d = s.result(inst, k);
  if (!d) return;
  const unsigned bytes = ptx::size_of(inst.type);
  Builder& out = s.out();
  Value from = value_of(words);
  from.wide = false;
  from.ref.part = static_cast<std::uint8_t>(words.part + k * bytes / 4);
  from.ref.count = static_cast<std::uint8_t>(bytes >= 8 ? bytes / 4 : 1);
  from.wide = bytes == 8;
  const bool sign = ptx::is_signed(inst.type);
  const unsigned register_bytes = inst.dst[k].bytes;
  if (bytes >= 4) {
    if (bytes == 16) {
      for (unsigned w = 0; w < 4; ++w) {
        Ref to = d, piece = from.ref;
        to.part = static_cast<std::uint8_t>(d.part + w), to.count = 1;
        piece.part = static_cast<std::uint8_t>(piece.part + w), piece.count = 1;
        out.move(to, value_of(piece));
      }
      return;
    }
    if (register_bytes == 8 && bytes == 4 && d.count == 2) {  // extended
      out.move(s.low(d), from);
      if (!sign) return out.move(s.high(d), zero());
      out.emit("SHF", s.high(d), {zero(), number(31), from}, {{"dir", "R"}, {"type", "S32"}, {"hi", "HI"}});
      return;
    }
    return out.move(bytes == 8 ? d : s.low(d), from);
  }
  // The only element was extended by the load itself.
  Value word = from;
  if (inst.mods.vector > 1) {
    const unsigned byte = k * bytes % 4;
    const Ref part = out.new_register();
    const std::uint32_t by = bytes == 2
                                 ? (byte == 0 ? (sign ? 0x9910u : 0x7710u) : (sign ? 0xbb32u : 0x7732u))
                                 : (sign ? 0x1111u * (8 | byte) - 8 : 0x7770u | byte);
    out.emit("PRMT", part, {from, number(by), zero()});
    word = value_of(part);
  }
  if (register_bytes == 2 && sign) return s.mask(d, word, 16);
  out.move(s.low(d), word);
  if (d.count < 2) return;
  if (!sign) return out.move(s.high(d), zero());
  out.emit("SHF", s.high(d), {zero(), number(31), word}, {{"dir", "R"}, {"type", "S32"}, {"hi", "HI"}});
}

void load_parameter(Selector& s, const Inst& inst) {
  const unsigned bytes = ptx::size_of(inst.type);
  const std::uint32_t first = machine::launch_slots(s.generation()).parameters;
  Builder& out = s.out();
  const auto at = s.known(inst.src[0]);
  for (unsigned k = 0; k < inst.mods.vector; ++k) {
    const std::int64_t offset = inst.imm_offset + std::int64_t{k} * bytes;
    Ref base{};
    std::uint32_t place = first + static_cast<std::uint32_t>(offset);
    if (at) {
      place += static_cast<std::uint32_t>(*at);
    } else {
      Value v = s.in_register(inst, 0);
      base = s.low(v.ref);
    }
    const Ref loaded = out.new_register(bytes <= 4 ? 1 : bytes / 4);
    if (at && bytes >= 4 && bytes <= 8 && place % 4 == 0) {
      out.move(loaded, parameter(place, bytes == 8));
    } else {
      Value c = parameter(place);
      Instruction& i = out.emit("LDC", loaded, {c}, {{"size", size_word(inst.type, bytes)}});
      for (std::size_t o = 0; o < i.code.form->operands.size(); ++o)
        if (i.code.form->operands[o].kind == machine::OperandKind::constant) {
          i.code.operands[o].base = machine::zero_register;
          i.refs[o] = base;
        }
    }
    Inst single = inst;
    single.mods.vector = 1;
    single.dst[0] = inst.dst[k];
    single.dst_count = 1;
    take_element(s, single, 0, loaded);
  }
}

// LDC, up to 64 bits at once. False: it is not known to be of the bank.
bool load_from_bank(Selector& s, const Inst& inst) {
  const std::optional<Selector::BankPlace> place = s.bank_place(inst);
  const unsigned bytes = ptx::size_of(inst.type);
  if (!place || bytes > 8) return false;
  Builder& out = s.out();
  for (unsigned k = 0; k < inst.mods.vector; ++k) {
    const Ref loaded = out.new_register(bytes <= 4 ? 1 : bytes / 4);
    Value c = parameter(place->offset + k * bytes);
    c.bank = 3;
    Instruction& i = out.emit("LDC", loaded, {c}, {{"size", size_word(inst.type, bytes)}});
    for (std::size_t o = 0; o < i.code.form->operands.size(); ++o)
      if (i.code.form->operands[o].kind == machine::OperandKind::constant) {
        i.code.operands[o].base = machine::zero_register;
        i.refs[o] = place->index;
      }
    Inst single = inst;
    single.mods.vector = 1;
    single.dst[0] = inst.dst[k];
    single.dst_count = 1;
    take_element(s, single, 0, loaded);
  }
  return true;
}

void load(Selector& s, const Inst& inst) {
  Space space = inst.mods.space;
  if (inst.frame_relative) space = Space::local;
  if (space == Space::param) return load_parameter(s, inst);
  if (space == Space::constant && load_from_bank(s, inst)) return;
  if (space == Space::constant) space = Space::global;
  const unsigned bytes = ptx::size_of(inst.type) * inst.mods.vector;
  if (bytes > 16) s.give_up("a load of more than 16 bytes");
  Builder& out = s.out();
  const bool wide = is_wide(space);
  const Place place = s.place(inst, wide);
  const Ref words = out.new_register(bytes <= 4 ? 1 : bytes / 4);
  const Type type = inst.mods.vector > 1 ? Type::b32 : inst.type;
  Ref base = place.base;
  const bool frame = inst.frame_relative;
  Instruction& i = wide ? out.access(load_name(space), words, base, place.offset, true, {},
                                     {{"size", size_word(type, bytes)}, {"e", "E"}})
                        : out.access(load_name(space), words, base, place.offset, false, {},
                                     {{"size", size_word(type, bytes)}});
  if (frame) s.use_stack(i);
  set_order(s, i, inst);
  if (inst.mods.order == MemOrder::acquire || inst.mods.order == MemOrder::sc)
    acquire(s, inst.mods.scope, space);
  for (unsigned k = 0; k < inst.mods.vector; ++k) take_element(s, inst, k, words);
}

// The values of a store side by side.
Value stored(Selector& s, const Inst& inst) {
  const unsigned bytes = ptx::size_of(inst.type), count = inst.mods.vector;
  Builder& out = s.out();
  if (count == 1) {
    Value v = s.plain_source(inst, 1);
    if (bytes < 8) return v.wide ? half_of(v, false) : v;
    if (bytes == 8 && !v.wide) s.give_up("a store of 64 bits from a narrower register");
    if (v.is_number() && v.bits == 0) return zero();
    return v;
  }
  const unsigned whole = bytes * count;
  const Ref words = out.new_register(whole <= 4 ? 1 : whole / 4);
  if (bytes >= 4) {
    for (unsigned k = 0; k < count; ++k) {
      Ref to = words;
      to.count = static_cast<std::uint8_t>(bytes / 4);
      to.part = static_cast<std::uint8_t>(k * bytes / 4);
      const Value v = s.plain_source(inst, 1 + k);
      out.move(to, bytes == 4 && v.wide ? half_of(v, false) : v);
    }
    return value_of(words);
  }
  const auto element = [&](unsigned k) {
    const Value v = s.plain_source(inst, 1 + k);
    return v.wide ? half_of(v, false) : v;
  };
  for (unsigned w = 0; w < (whole + 3) / 4; ++w) {
    Ref to = words;
    to.count = 1;
    to.part = static_cast<std::uint8_t>(w);
    if (bytes == 2) {
      out.emit("PRMT", to, {element(2 * w), number(0x5410), element(2 * w + 1)});
      continue;
    }
    const Ref low = whole == 2 ? to : out.new_register();
    out.emit("PRMT", low, {element(4 * w), number(0x0040), element(4 * w + 1)});
    if (whole == 2) break;
    const Ref high = out.new_register();
    out.emit("PRMT", high, {element(4 * w + 2), number(0x0040), element(4 * w + 3)});
    out.emit("PRMT", to, {value_of(low), number(0x5410), value_of(high)});
  }
  return value_of(words);
}

void store(Selector& s, const Inst& inst) {
  Space space = inst.mods.space;
  if (inst.frame_relative) space = Space::local;
  if (space == Space::param || space == Space::constant) s.give_up("a store to this space");
  const unsigned bytes = ptx::size_of(inst.type) * inst.mods.vector;
  if (bytes > 16) s.give_up("a store of more than 16 bytes");
  Builder& out = s.out();
  const bool wide = is_wide(space);
  const Place place = s.place(inst, wide);
  Value value = stored(s, inst);
  if (value.kind != Value::Kind::reg) value = out.as_register(value);
  if (inst.mods.order == MemOrder::release || inst.mods.order == MemOrder::sc) release(s, inst.mods.scope);
  const Type type = Type::b32;
  Instruction& i = wide ? out.access(store_name(space), {}, place.base, place.offset, true, {value},
                                     {{"size", size_word(type, bytes)}, {"e", "E"}})
                        : out.access(store_name(space), {}, place.base, place.offset, false, {value},
                                     {{"size", size_word(type, bytes)}});
  if (inst.frame_relative) s.use_stack(i);
  set_order(s, i, inst);
}

std::string_view scope_word(ptx::Scope scope) {
  return scope == ptx::Scope::sys ? "SYS" : scope == ptx::Scope::cta ? "CTA" : "GPU";
}

// Errors of accesses before it are reported where the block is left.
void order_accesses(Selector& s, ptx::Scope scope, std::string_view kind) {
  Builder& out = s.out();
  out.emit("MEMBAR", {}, {}, {{"scope", scope_word(scope)}, {"sem", kind}});
  if (scope == ptx::Scope::cta) return;
  out.emit("ERRBAR", {}, {});
  if (out.has_form("CGAERRBAR")) out.emit("CGAERRBAR", {}, {});
}

void fence(Selector& s, const Inst& inst) {
  const MemOrder order = inst.mods.order;
  const ptx::Scope scope = inst.mods.scope;
  if (order != MemOrder::acquire) {
    const bool all = inst.op == Op::fence && order != MemOrder::sc;
    order_accesses(s, scope, all ? "ALL" : "SC");
  }
  if (order != MemOrder::release) acquire(s, scope, Space::global);
}

void hint(Selector&, const Inst&) {}  // it says nothing about values

}  // namespace

void release(Selector& s, ptx::Scope scope) { order_accesses(s, scope, "ALL"); }

// Lines that the first cache holds may be old. Shared memory has no such cache, but that of a cluster's other
// blocks.
void acquire(Selector& s, ptx::Scope scope, Space space) {
  if (scope == ptx::Scope::cta || (space == Space::shared && s.generation() < 90)) return;
  s.out().emit("CCTL", {}, {}, {{"op", "IVALL"}});
}

void Selector::use_stack(Instruction& i) {
  for (std::size_t k = 0; k < i.code.form->operands.size(); ++k)
    if (i.code.form->operands[k].kind == machine::OperandKind::memory) i.code.operands[k].base = 1;
}

std::span<const SelectionRow> memory_selections() {
  static constexpr SelectionRow rows[] = {
      {Op::ld, load},        {Op::ldu, load},           {Op::st, store},
      {Op::membar, fence},   {Op::fence, fence},        {Op::prefetch, hint},
      {Op::prefetchu, hint}, {Op::applypriority, hint}, {Op::discard, hint},
  };
  return rows;
}

}  // namespace simtlab::assembler

// What lanes of a warp and warps of a block do together.
//
// Lanes that a mask names must be here together. Where the mask is a number that names the whole warp, the
// code is taken to have met; before other masks there is WARPSYNC. With a mask in a register, lanes that name
// different ones may run together: what they vote on is cut to their masks.
#include <optional>

#include "assembler/selector.h"

namespace simtlab::assembler {
namespace {

using ptx::BarMode;
using ptx::OperandKind;

constexpr std::uint32_t whole_warp = 0xffffffffu;

struct Members {
  Value mask;
  std::optional<std::uint32_t> known;
  bool whole() const { return known == whole_warp; }
};

Members members_of(Selector& s, const Inst& inst, unsigned i) {
  Members out;
  if (const auto n = s.known(inst.src[i])) out.known = static_cast<std::uint32_t>(*n);
  out.mask = s.plain_source(inst, i);
  return out;
}

void meet(Selector& s, const Members& members) {
  if (members.whole()) return;
  // As a number on all but Hopper
  const Value mask = s.generation() >= 90 ? s.out().as_register(members.mask) : members.mask;
  s.out().emit("WARPSYNC", {}, {mask});
}

void meet_before(Selector& s, const Inst& inst, unsigned i) { meet(s, members_of(s, inst, i)); }

Ref and_word(Selector& s, Ref d, const Value& a, const Value& b) {
  Instruction& i = s.out().emit("LOP3", d, {a, b, zero()});
  s.out().set_number(i, "lut", 0xc0);
  return d;
}

Ref equal_words(Selector& s, Ref p, std::string_view compare, const Value& a, const Value& b,
                std::string_view combine = "AND", Condition with = always()) {
  Instruction& i = s.out().emit("ISETP", {}, {a, b}, {{"cmp", compare}, {"u32", "U32"}, {"bool", combine}});
  s.out().set_result(i, "Pd", p);
  s.out().set_condition(i, "Pc", with);
  return p;
}

// ---- votes ----

void emit_vote(Selector& s, std::string_view mode, Ref lanes, Ref outcome, Condition of) {
  Builder& out = s.out();
  Instruction& i = out.emit("VOTE", lanes, {}, {{"mode", mode}});
  if (outcome) out.set_result(i, "Pd", outcome);
  out.set_condition(i, "Pa", of);
}

void vote(Selector& s, const Inst& inst) {
  using ptx::VoteMode;
  Builder& out = s.out();
  const Ref d = s.result(inst);
  Condition p = s.condition(inst, 0);
  const Members members =
      inst.src_count > 1 ? members_of(s, inst, 1) : Members{number(whole_warp), whole_warp};
  meet(s, members);
  const VoteMode mode = inst.mods.vote;
  // Lanes that are active are in their masks; if all have one mask, it may be left out.
  if (members.known) {
    if (mode == VoteMode::ballot) return emit_vote(s, "ANY", d, {}, p);
    return emit_vote(s, mode == VoteMode::all ? "ALL" : mode == VoteMode::any ? "ANY" : "EQ", {}, d, p);
  }
  const Ref lanes = out.new_register(), ours = mode == VoteMode::ballot ? d : out.new_register();
  if (mode == VoteMode::all) p.inverted = !p.inverted;
  emit_vote(s, "ANY", lanes, {}, p);
  and_word(s, ours, value_of(lanes), members.mask);
  if (mode == VoteMode::ballot) return;
  if (mode != VoteMode::uni) {
    equal_words(s, d, mode == VoteMode::any ? "NE" : "EQ", value_of(ours), zero());
    return;
  }
  const Ref none_of_them = equal_words(s, out.new_predicate(), "EQ", value_of(ours), zero());
  equal_words(s, d, "EQ", value_of(ours), members.mask, "OR", {none_of_them});
}

void active_lanes(Selector& s, const Inst& inst) { emit_vote(s, "ANY", s.result(inst), {}, always()); }

// d: the lanes of the mask with the same value; of .all: the mask or 0, and whether all have it.
void match(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  const Members members = members_of(s, inst, 1);
  const Value value = s.in_register(inst, 0);
  const std::string_view wide = ptx::size_of(inst.type) == 8 ? "U64" : "";
  meet(s, members);
  const Ref d = s.result(inst), p = s.result(inst, 1);
  if (members.known) {
    Instruction& i = out.emit("MATCH", d, {value}, {{"mode", inst.mods.all ? "ALL" : "ANY"}, {"u64", wide}});
    if (p) out.set_result(i, "Pd", p);
    return;
  }
  const Ref lanes = out.new_register(), ours = inst.mods.all ? out.new_register() : d;
  out.emit("MATCH", lanes, {value}, {{"mode", "ANY"}, {"u64", wide}});
  and_word(s, ours, value_of(lanes), members.mask);
  if (!inst.mods.all) return;
  const Ref all = p ? p : out.new_predicate();
  equal_words(s, all, "EQ", value_of(ours), members.mask);
  if (!d) return;
  Instruction& i = out.emit("SEL", d, {value_of(ours), zero()});
  out.set_condition(i, "Pc", {all});
}

// ---- values of other lanes ----

void shuffle(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  constexpr std::string_view modes[] = {"", "UP", "DOWN", "BFLY", "IDX"};
  constexpr std::uint64_t lane_bits = 31, clamp_bits = 0x1f1f;
  if (inst.src_count > 3) meet_before(s, inst, 3);
  const Value a = s.in_register(inst, 0);
  // Numbers have places of their own; 0, too.
  const auto choose = [&](unsigned i, std::uint64_t bits) -> std::optional<std::int64_t> {
    const auto n = s.known(inst.src[i]);
    return n ? std::optional(static_cast<std::int64_t>(*n & bits)) : std::nullopt;
  };
  const auto lane = choose(1, lane_bits), clamp = choose(2, clamp_bits);
  const Value b = lane ? number(1) : s.in_register(inst, 1), c = clamp ? number(1) : s.in_register(inst, 2);
  Instruction& i = out.emit("SHFL", s.result(inst), {a, b, c},
                            {{"mode", modes[static_cast<std::size_t>(inst.mods.shfl)]}});
  if (lane) out.set_number(i, "lane", *lane);
  if (clamp) out.set_number(i, "clamp", *clamp);
  if (const Ref p = s.result(inst, 1)) out.set_result(i, "Pd", p);
}

std::string_view reduction_word(ptx::AtomOp op) {
  switch (op) {
    case ptx::AtomOp::and_: return "";
    case ptx::AtomOp::or_: return "OR";
    case ptx::AtomOp::xor_: return "XOR";
    case ptx::AtomOp::add: return "SUM";
    case ptx::AtomOp::min: return "MIN";
    case ptx::AtomOp::max: return "MAX";
    default: Selector::give_up("a reduction of this kind");
  }
}

void reduce(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  const Members members = members_of(s, inst, 1);
  if (!out.has_form("REDUX")) s.give_up("redux on this generation");
  if (!members.known) s.give_up("redux of lanes that a register names");
  const Value value = s.in_register(inst, 0);
  meet(s, members);
  Instruction& i =
      out.emit("REDUX", {}, {value},
               {{"op", reduction_word(inst.mods.atom)}, {"s32", ptx::is_signed(inst.type) ? "S32" : ""}});
  set_uniform_result(i);
  out.move(s.result(inst), uniform_register(uniform_result));
}

void elect(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  if (!out.has_form("ELECT")) s.give_up("elect on this generation");
  const Members members = members_of(s, inst, 0);
  if (!members.known) s.give_up("elect of lanes that a register names");
  meet(s, members);
  const Ref d = s.result(inst), p = s.result(inst, 1);
  Instruction& i = out.emit("ELECT", {}, {});
  if (p) out.set_result(i, "Pd", p);
  if (!d) return;
  set_uniform_result(i);
  out.move(d, uniform_register(uniform_result));
}

// ---- barriers ----

void warp_barrier(Selector& s, const Inst& inst) {
  const Members members = members_of(s, inst, 0);
  if (!members.whole()) return meet(s, members);
  if (s.generation() >= 90)
    s.out().emit("WARPSYNC", {}, {}, {{"mode", "ALL"}});
  else
    s.out().emit("WARPSYNC", {}, {number(whole_warp)});
}

// Number and count of a barrier, in the instruction or in registers; both in registers: in one, the count
// from bit 16 on.
Instruction& emit_barrier(Selector& s, const Inst& inst, std::string_view mode) {
  Builder& out = s.out();
  const auto bar = s.known(inst.src[0]);
  const bool counts = inst.src_count > 1 && inst.src[1].kind != OperandKind::none;
  const auto count = counts ? s.known(inst.src[1]) : std::optional<std::uint64_t>(0);
  Value a = number(1), b = number(1);
  if (!bar && !count) {
    constexpr unsigned count_from = 16, count_bits = 0xfff0000;
    constexpr std::uint8_t second_selects = 0xe2;
    const Ref shifted = out.new_register(), packed = out.new_register();
    out.emit("SHF", shifted, {s.plain_source(inst, 1), number(count_from), zero()},
             {{"dir", "L"}, {"type", "U32"}});
    Instruction& i =
        out.emit("LOP3", packed, {value_of(shifted), number(count_bits), s.in_register(inst, 0)});
    out.set_number(i, "lut", second_selects);
    a = b = value_of(packed);
  } else {
    if (!bar) a = s.in_register(inst, 0);
    if (!count) b = s.in_register(inst, 1);
  }
  // Lanes that wait make room for others.
  const bool defers = s.generation() >= 80 && mode != "ARV" && (inst.mods.aligned || s.generation() >= 90);
  Instruction& i = out.emit("BAR", {}, {a, b}, {{"mode", mode}, {"defer", defers ? "DEFER_BLOCKING" : ""}});
  if (bar) out.set_number(i, "bar", static_cast<std::int64_t>(*bar & 15));
  if (count) out.set_number(i, "count", static_cast<std::int64_t>(*count & 0xfff));
  return i;
}

void block_barrier(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  const BarMode mode = inst.mods.bar;
  if (mode == BarMode::arrive || mode == BarMode::sync || mode == BarMode::none) {
    emit_barrier(s, inst, mode == BarMode::arrive ? "ARV" : "SYNC");
    return;
  }
  Instruction& i = emit_barrier(s, inst, "RED");
  const int red = i.code.form->field("red");
  constexpr std::uint16_t all = 1, any = 2;
  if (mode != BarMode::red_popc)
    i.code.fields[static_cast<std::size_t>(red)] = mode == BarMode::red_and ? all : any;
  out.set_condition(i, "Pc", s.condition(inst, inst.src_count - 1u));
  const Ref d = s.result(inst);
  Instruction& result = out.emit("B2R", mode == BarMode::red_popc ? d : Ref{}, {}, {{"mode", "RESULT"}});
  if (mode != BarMode::red_popc && d) out.set_result(result, "Pd", d);
}

void sleep(Selector& s, const Inst& inst) {
  s.out().emit("NANOSLEEP", {}, {s.plain_source(inst, 0)}, {{"warp", s.generation() < 80 ? "WARP" : ""}});
}

// ---- asynchronous copies ----

void set_memory(Instruction& i, machine::Name name, Ref base, std::int64_t offset, bool pair) {
  const auto at = static_cast<std::size_t>(i.code.form->operand(name));
  machine::Operand& o = i.code.operands[at];
  o.value = offset;
  o.base = machine::zero_register;
  o.pair = pair;
  i.refs[at] = base;
}

// An offset that the instruction has no room for is added before it.
Place within(Selector& s, Place at, unsigned bits) {
  const std::int64_t limit = std::int64_t{1} << (bits - 1);
  if (at.offset < limit && at.offset >= -limit) return at;
  const auto offset = static_cast<std::uint64_t>(at.offset);
  const Ref sum = s.out().new_register(at.wide ? 2 : 1);
  if (at.wide)
    s.add_wide(sum, value_of(at.base), number(offset, true));
  else
    s.out().emit("IADD3", sum, {value_of(at.base), number(offset & 0xffffffffu), zero()});
  return {sum, 0, at.wide};
}

// Fewer bytes than the copy has: the rest are zeros. How many these are says the low part of the address; a
// predicate, that not all of them are.
Condition limit_copy(Selector& s, const Inst& inst, Place& from, unsigned bytes) {
  Builder& out = s.out();
  const Ref missing = out.new_register(), masked = out.new_register(2), sum = out.new_register(2);
  Value size = s.plain_source(inst, 2);
  const Ref some = equal_words(s, out.new_predicate(), "NE", out.as_register(size), zero());
  size = out.as_register(size);
  size.negated = true;
  out.emit("IADD3", missing, {size, number(bytes), zero()});
  and_word(s, s.low(masked), value_of(missing), number(bytes - 1));
  out.move(s.high(masked), zero());
  s.add_wide(sum, value_of(from.base), value_of(masked));
  from.base = sum;
  return {some};
}

void copy(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  if (ptx::is_bulk_copy(inst)) s.give_up("a bulk copy");
  if (!out.has_form("LDGSTS")) s.give_up("cp.async on this generation");
  const unsigned bytes = inst.mods.copy_bytes;
  Inst source = inst;
  source.src[0] = inst.src[1];
  source.imm_offset = 0;
  constexpr unsigned shared_offset_bits = 20, global_offset_bits = 12;
  const Place to = within(s, s.place(inst, false), shared_offset_bits);
  Place from = within(s, s.place(source, true), global_offset_bits);
  const bool limits = inst.src_count > 2 && s.known(inst.src[2]) != std::optional<std::uint64_t>(bytes);
  const Condition wanted = limits ? limit_copy(s, inst, from, bytes) : always();
  Instruction& i = out.emit("LDGSTS", {}, {},
                            {{"size", bytes == 4   ? ""
                                      : bytes == 8 ? "64"
                                                   : "128"},
                             {"bypass", inst.mods.cache == ptx::CacheOp::cg ? "BYPASS" : ""},
                             {"zfill", limits ? "ZFILL" : ""}});
  set_memory(i, "shared", to.base, to.offset, false);
  set_memory(i, "mem", from.base, from.offset, true);
  out.set_field(i, "a64", 1);
  out.set_condition(i, "Pp", wanted);
}

// A group of copies ends: its scoreboard is SB0, which what sets control information leaves to copies.
void commit(Selector& s, const Inst&) { s.out().emit("LDGDEPBAR", {}, {}); }

void wait_for_copies(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  if (inst.mods.wait_all) commit(s, inst);
  std::uint64_t groups = 0;
  if (!inst.mods.wait_all && inst.src_count > 0) groups = s.known(inst.src[0]).value_or(0);
  Instruction& i = out.emit("DEPBAR", {}, {number(0)}, {{"le", "LE"}});
  out.set_number(i, "cnt", static_cast<std::int64_t>(std::min<std::uint64_t>(groups, 63)));
}

// ---- what says nothing about values ----

void no_instruction(Selector&, const Inst&) {}

}  // namespace

std::span<const SelectionRow> warp_selections() {
  static constexpr SelectionRow rows[] = {
      {Op::shfl, shuffle},
      {Op::vote, vote},
      {Op::match, match},
      {Op::activemask, active_lanes},
      {Op::redux, reduce},
      {Op::elect, elect},
      {Op::bar, block_barrier},
      {Op::bar_warp, warp_barrier},
      {Op::nanosleep, sleep},
      {Op::cp_async, copy},
      {Op::cp_async_commit, commit},
      {Op::cp_async_wait, wait_for_copies},
      {Op::griddepcontrol, no_instruction},
      {Op::setmaxnreg, no_instruction},
  };
  return rows;
}

}  // namespace simtlab::assembler

// Special registers, votes, shuffles. What they tell of the lanes of a warp they tell of the active ones.
//
// Results in the uniform datapath are written for the whole warp, whatever lanes are active.
#include "machine/translator.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::Special;
using ptx::Type;

constexpr std::uint32_t whole_warp = 0xffffffffu;

struct SpecialRow {
  std::uint8_t number;
  Special special;
  std::uint8_t shift = 0;  // where it begins in the register
};
constexpr SpecialRow specials[] = {{0x00, Special::laneid},          {0x02, Special::nwarpid, 8},
                                   {0x03, Special::warpid, 8},       {0x21, Special::tid_x},
                                   {0x22, Special::tid_y},           {0x23, Special::tid_z},
                                   {0x25, Special::ctaid_x},         {0x26, Special::ctaid_y},
                                   {0x27, Special::ctaid_z},         {0x32, Special::total_smem_size},
                                   {0x38, Special::lanemask_eq},     {0x39, Special::lanemask_lt},
                                   {0x3a, Special::lanemask_le},     {0x3b, Special::lanemask_gt},
                                   {0x3c, Special::lanemask_ge},     {0x43, Special::smid},
                                   {0x50, Special::clock},           {0x51, Special::clock_hi},
                                   {0x52, Special::globaltimer_lo},  {0x53, Special::globaltimer_hi},
                                   {0x88, Special::cluster_ctarank}, {0xff, Special::zero}};
// CUDA 11 reads both halves of the window of shared memory on sm_90.
constexpr std::uint8_t shared_window_high = 0x2f, shared_window_low = 0x30, lowest_local = 0x37, zero = 0xff;
// Counters of performance monitors, which count nothing here.
bool is_monitor(std::uint8_t number) { return number >= 0x64 && number <= 0x73; }

// 32 bits of a special register.
ptx::Operand special_value(Translator& t, std::uint8_t number) {
  if (number == shared_window_high) return t.number(ptx::shared_window >> 32);
  if (number == shared_window_low) return t.number(ptx::shared_window & 0xffffffffu);
  if (number == lowest_local) return t.number(0);  // offset of the end of the stack
  if (is_monitor(number)) return t.number(0);
  for (const SpecialRow& row : specials) {
    if (row.number != number) continue;
    const ptx::Operand value = t.special(row.special);
    if (row.shift == 0) return value;
    const ptx::Operand shifted = t.temporary();
    t.emit(Op::shl, Type::b32, {shifted}, {value, t.number(row.shift)});
    return shifted;
  }
  t.refuse("reads a special register that is not known");
}

// A uniform register takes the value of the lowest active lane.
void to_uniform(Translator& t, const ptx::Operand& value) {
  if (t.operand("URd").number != zero_uniform) t.emit(Op::broadcast, Type::b32, {t.result("URd")}, {value});
}

void read_special(Translator& t) {
  const ptx::Operand value = special_value(t, t.operand("sr").number);
  if (t.has("URd")) return to_uniform(t, value);
  t.emit(Op::mov, Type::b32, {t.result("Rd")}, {value});
}

// CS2R reads a pair of registers, or with .32 one.
void read_counter(Translator& t) {
  const std::uint8_t number = t.operand("sr").number;
  if (t.word("w64") == "32" || t.instruction().form->field("w64") < 0) return read_special(t);
  const Operand& destination = t.operand("Rd");
  if (number == zero || is_monitor(number)) {
    t.emit(Op::mov, Type::b32, {t.result(destination)}, {t.number(0)});
    t.emit(Op::mov, Type::b32, {t.register_behind(destination, 1)}, {t.number(0)});
    return;
  }
  const bool clock = number == 0x50, timer = number == 0x52;
  if (!clock && !timer) t.refuse("reads a pair of special registers that is not known");
  t.store_wide(destination, t.special(clock ? Special::clock64 : Special::globaltimer, 8));
}

ptx::VoteMode mode_of(std::string_view word) {
  return word == "ALL" ? ptx::VoteMode::all : word == "ANY" ? ptx::VoteMode::any : ptx::VoteMode::uni;
}

void emit_vote(Translator& t, ptx::VoteMode mode, const ptx::Operand& result) {
  const bool ballot = mode == ptx::VoteMode::ballot;
  t.emit(Op::vote, ballot ? Type::b32 : Type::pred, {result}, {t.predicate("Pa")}).mods.vote = mode;
}

// Rd: the lanes with a true predicate, whatever the mode.
void vote(Translator& t) {
  if (t.operand("Rd").number != zero_register) {
    // Pd may be Pa: the ballot first
    emit_vote(t, ptx::VoteMode::ballot, t.result("Rd"));
  }
  if (t.operand("Pd").number != true_predicate)
    emit_vote(t, mode_of(t.word("mode")), t.predicate_result("Pd"));
}

void vote_uniform(Translator& t) {
  if (t.operand("URd").number != zero_uniform) {
    const ptx::Operand lanes = t.temporary();
    emit_vote(t, ptx::VoteMode::ballot, lanes);
    to_uniform(t, lanes);
  }
  if (t.operand("UPd").number == true_predicate) return;
  const ptx::Operand outcome = t.temporary_predicate();
  emit_vote(t, mode_of(t.word("mode")), outcome);
  t.emit(Op::broadcast, Type::pred, {t.predicate_result("UPd")}, {outcome});
}

void shuffle(Translator& t) {
  constexpr ptx::ShflMode modes[] = {ptx::ShflMode::idx, ptx::ShflMode::up, ptx::ShflMode::down,
                                     ptx::ShflMode::bfly};
  const ptx::Operand value = t.raw(t.operand("Ra"));
  const ptx::Operand lane = t.raw(t.operand(t.has("lane") ? "lane" : "Rb"));
  const ptx::Operand clamp = t.raw(t.operand(t.has("clamp") ? "clamp" : "Rc"));
  ptx::Inst& inst =
      t.emit(Op::shfl, Type::b32, {t.result("Rd"), t.predicate_result("Pd")}, {value, lane, clamp});
  inst.mods.shfl = modes[t.field("mode")];
}

void match(Translator& t) {
  const bool wide = t.word("u64") == "U64";
  const ptx::Operand value = wide ? t.raw_wide(t.operand("Ra")) : t.raw(t.operand("Ra"));
  const ptx::Operand lanes = t.result("Rd");
  const bool all = t.word("mode") == "ALL";
  if (!all && t.operand("Pd").number != true_predicate)
    t.refuse("has a second result, which is not executed");
  ptx::Inst& inst = t.emit(Op::match, wide ? Type::b64 : Type::b32, {lanes, t.predicate_result("Pd")},
                           {value, t.number(whole_warp)});
  inst.mods.all = all;
}

void reduce(Translator& t) {
  struct Row {
    std::string_view word;
    ptx::AtomOp op;
  };
  constexpr Row operations[] = {{"", ptx::AtomOp::and_},    {"OR", ptx::AtomOp::or_},
                                {"XOR", ptx::AtomOp::xor_}, {"SUM", ptx::AtomOp::add},
                                {"MIN", ptx::AtomOp::min},  {"MAX", ptx::AtomOp::max}};
  const ptx::Operand result = t.temporary();
  ptx::Inst& inst = t.emit(Op::redux, t.word("s32") == "S32" ? Type::s32 : Type::u32, {result},
                           {t.raw(t.operand("Ra")), t.number(whole_warp)});
  for (const Row& row : operations)
    if (row.word == t.word("op")) inst.mods.atom = row.op;
  to_uniform(t, result);
}

// ELECT: the lowest active lane with a true predicate (or, of the form with a uniform register, in its mask;
// not seen in compiled code). URd is the lane's number, as PTX's elect.sync has it.
void elect(Translator& t) {
  const ptx::Operand chosen = t.temporary();
  const ptx::Operand elected = t.predicate_result("Pd");
  if (!t.has("URa") && t.is_true(t.operand("Pc"))) {
    t.emit(Op::elect, Type::b32, {chosen, elected}, {t.number(whole_warp)});
    return to_uniform(t, chosen);
  }
  const ptx::Operand lanes = t.temporary(), negated = t.temporary(), lowest = t.temporary();
  const Operand always{.kind = OperandKind::pred, .number = true_predicate};
  const ptx::Operand wanted = t.predicate(t.has("Pc") ? t.operand("Pc") : always);
  t.emit(Op::vote, Type::b32, {lanes}, {wanted}).mods.vote = ptx::VoteMode::ballot;
  if (t.has("URa")) t.emit(Op::and_, Type::b32, {lanes}, {lanes, t.integer(t.operand("URa"))});
  t.emit(Op::neg, Type::s32, {negated}, {lanes});
  t.emit(Op::and_, Type::b32, {lowest}, {lanes, negated});
  t.emit(Op::setp, Type::u32, {elected}, {lowest, t.special(Special::lanemask_eq)}).mods.compare =
      ptx::Compare::eq;
  t.emit(Op::sub, Type::u32, {negated}, {lowest, t.number(1)});
  t.emit(Op::popc, Type::b32, {chosen}, {negated});
  to_uniform(t, chosen);
}

}  // namespace

std::span<const SemanticsRow> warp_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"S2R", read_special}, {"S2UR", read_special},  {"CS2R", read_counter},
      {"VOTE", vote},        {"VOTEU", vote_uniform}, {"SHFL", shuffle},
      {"MATCH", match},      {"REDUX", reduce},       {"ELECT", elect},
  };
  return rows;
}

}  // namespace simtlab::machine

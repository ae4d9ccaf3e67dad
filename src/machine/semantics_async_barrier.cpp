// Barriers in shared memory (mbarrier): ATOMS.ARRIVE and ARRIVES of sm_80, SYNCS of sm_90.
//
// Their state is 64 bits of shared memory. How it is packed follows from what compiled code writes for
// mbarrier.init and reads for mbarrier.pending_count (exec/memops/atomic.cpp says it). What
// arrives behind copies does so when a model says that they are done, else at once.
#include "machine/semantics_common.h"
#include "ptx/machine_ops.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::Type;

constexpr unsigned hopper = 90;

// What models read of it: an access to shared memory, which the table of opcodes does not say.
void describe(Translator& t, const ptx::Inst& access) {
  ptx::Inst& view = t.view();
  view.op = access.op;
  view.op_class =
      access.op == Op::atom || access.op == Op::red ? ptx::OpClass::shared_atomic : ptx::OpClass::shared;
  view.type = access.type;
  view.mods.space = ptx::Space::shared;
  view.mods.vector = access.mods.vector;
  view.mods.behind_copies = access.mods.behind_copies;
}

// Rd, where the form has it, gets the state before.
void arrive(Translator& t, std::uint32_t how, bool behind_copies = false) {
  const Operand& memory = t.operand("mem");
  const ptx::Operand address = t.address(memory);
  const bool wanted = t.has("Rd") && t.operand("Rd").number != zero_register;
  ptx::Inst& inst = t.emit_memory(wanted ? Op::atom : Op::red, Type::b64, {}, {address, t.number(0, 8)});
  inst.imm_offset = memory.value;
  inst.mods.space = ptx::Space::shared;
  inst.mods.atom = ptx::AtomOp::inc;
  inst.mods.video = how;
  inst.mods.behind_copies = behind_copies;
  describe(t, inst);
  if (!wanted) return;
  inst.dst[inst.dst_count++] = t.result("Rd");
  inst.dst[inst.dst_count++] = t.register_behind(t.operand("Rd"), 1);
}

// ARRIVES.LDGSTSBAR: when the copies before are done. TRANSCNT takes back what SYNCS.ARRIVE.A0T1 announced;
// nothing is announced here.
void arrive_behind_copies(Translator& t) {
  if (t.field("b72") != 0) t.refuse("has modifiers that are not known");
  const std::string_view kind = t.word("kind");
  const bool ampere = t.instruction().generation < hopper;
  if (!ampere && kind == "TRANSCNT") return;
  if (ampere ? !kind.empty() : kind != "ARVCNT") t.refuse("has modifiers that are not known");
  arrive(t, ampere ? ptx::arrives_ampere : ptx::arrives_hopper, true);
}

// SYNCS.ARRIVE: A1T0 is one arrival, with .OPTOUT of a thread that does not come again. A0T1 announces a
// copy. The others count the bytes of bulk copies.
void arrive_hopper(Translator& t) {
  const bool plain = t.word("ret").empty() || t.word("ret") == "RED";
  const bool zero = t.operand("Rb").number == zero_register;
  if (!plain || !zero || t.field("b72") != 0 || t.field("b75") > 1 || t.field("b87") != 0 ||
      t.field("order") != 0)
    t.refuse("counts bytes or several arrivals, which is not executed");
  const std::string_view par = t.word("par");
  if (par == "A0T1" && t.operand("Rd").number == zero_register && t.field("b75") == 0) return;
  if (par != "A1T0") t.refuse("counts bytes or several arrivals, which is not executed");
  arrive(t, t.field("b75") != 0 ? ptx::arrives_hopper_and_drops : ptx::arrives_hopper);
}

// SYNCS.PHASECHK: is the phase another one than bit 31 of Rb says? .TRYWAIT may wait for it; code asks again.
void check_phase(Translator& t) {
  if (t.field("b73") != 0 || t.field("order") != 0 || t.field("b84") != 0 || t.field("rd") != 0)
    t.refuse("has modifiers that are not known");
  const Operand& memory = t.operand("mem");
  const ptx::Operand address = t.address(memory), high = t.temporary(), differs = t.temporary();
  ptx::Inst& inst = t.emit_memory(Op::ld, Type::b32, {high}, {address});
  inst.imm_offset = memory.value + 4;
  inst.mods.space = ptx::Space::shared;
  describe(t, inst);
  t.emit(Op::xor_, Type::b32, {differs}, {high, t.raw(t.operand("Rb"))});
  t.emit(Op::setp, Type::s32, {t.predicate_result("Pd")}, {differs, t.number(0)}).mods.compare =
      ptx::Compare::lt;
}

// SYNCS.EXCH.64: the warp writes a new state; compiled code does not want the old one.
void set_state(Translator& t) {
  if (t.operand("URd").number != zero_uniform || t.field("size") != 1 || t.field("c64") != 0)
    t.refuse("is not executed with a result");
  const Operand &memory = t.operand("mem"), &value = t.operand("URb");
  const ptx::Operand address = t.address(memory);
  const auto words = words_of(t, value);
  ptx::Inst& inst = t.emit_memory(Op::st, Type::b32, {}, {address, words.first, words.second});
  inst.imm_offset = memory.value;
  inst.mods.space = ptx::Space::shared;
  inst.mods.vector = 2;
  describe(t, inst);
}

void invalidate(Translator& t) {
  if (t.field("op") != 0) t.refuse("is not executed");
}

}  // namespace

void arrive_ampere(Translator& t) { arrive(t, ptx::arrives_ampere); }

std::span<const SemanticsRow> async_barrier_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"ARRIVES", arrive_behind_copies}, {"SYNCS.ARRIVE", arrive_hopper}, {"SYNCS.PHASECHK", check_phase},
      {"SYNCS.EXCH", set_state},         {"SYNCS.CCTL", invalidate},
  };
  return rows;
}

}  // namespace simtlab::machine

// Bulk copies, and mbarrier: barriers in shared memory, whose state is a word of 64 bits. Its instructions
// become loads, stores and atomic operations on that word, so that everything behind the decoder knows them
// already. How the word is packed is what code compiled for sm_90 writes and reads
// (machine/semantics_async_barrier.cpp): bits 1 to 20 are 2^20 - expected arrivals, 21 to 42 the bytes that
// are under way, 43 to 62 are 2^20 - pending arrivals, bit 63 is the phase.
#include <limits>

#include "ptx/decode.h"
#include "ptx/machine_ops.h"

namespace simtlab::ptx {
namespace {

constexpr std::uint64_t most_arrivals = (1u << 20) - 1;
constexpr std::uint64_t both_counts = std::uint64_t{1} << 1 | std::uint64_t{1} << 43;

}  // namespace

// What has no effect but its result; executed whatever the guard says.
Operand FunctionDecoder::computed(const Inst& like, Op op, OpClass op_class, Type type,
                                  std::initializer_list<Operand> sources) {
  Inst inst = plain(like, op, op_class, type);
  const Operand out = new_reg(op == Op::cvt || type == Type::b64 ? Type::u64 : type);
  if (op == Op::cvt) inst.stype = Type::u32;
  add_dst(inst, out);
  for (const Operand& source : sources) add_src(inst, source);
  emit(inst);
  return out;
}

Operand FunctionDecoder::widened(const Inst& like, const AstOperand& o) {
  return computed(like, Op::cvt, OpClass::int_alu, Type::u64, {source(o, Type::u32)});
}

// init: [BARRIER], COUNT
void FunctionDecoder::mbarrier_init(Inst& inst) {
  expect_count(2, 2);
  add_src(inst, address(inst, arg(0), inst.imm_offset));
  if (arg(1).kind == Kind::integer) {
    const std::uint64_t count = integer_constant(arg(1), "the count of a barrier", most_arrivals);
    if (count == 0) fail(arg(1), "a barrier that awaits nobody");
    add_src(inst, constant((most_arrivals + 1 - count) * both_counts, 8));
    return emit(inst);
  }
  const Operand left = computed(inst, Op::sub, OpClass::int_alu, Type::u32,
                                {constant(most_arrivals + 1, 4), source(arg(1), Type::u32)});
  const Operand field =
      computed(inst, Op::and_, OpClass::int_alu, Type::b32, {left, constant(most_arrivals, 4)});
  const Operand wide = computed(inst, Op::cvt, OpClass::int_alu, Type::u64, {field});
  Inst product = plain(inst, Op::mul, OpClass::int_mul, Type::u64);
  product.mods.mul = MulMode::lo;
  const Operand word = new_reg(Type::u64);
  add_dst(product, word);
  add_src(product, wide);
  add_src(product, constant(both_counts, 8));
  emit(product);
  add_src(inst, word);
  emit(inst);
}

// inval: [BARRIER]; an operation on the barrier as the others are, which do not race with each other.
void FunctionDecoder::mbarrier_invalidate(Inst& inst) {
  expect_count(1, 1);
  add_src(inst, address(inst, arg(0), inst.imm_offset));
  inst.mods.atom = AtomOp::exch;
  inst.mods.order = MemOrder::relaxed;
  inst.mods.scope = Scope::cta;
  add_src(inst, constant(0, 8));
  emit(inst);
}

// [STATE,] [BARRIER] [, COUNT]; expect_tx, complete_tx: BYTES in place of the count. What is added to the
// word stands in Mods::video.
void FunctionDecoder::mbarrier_arrive(Inst& inst, std::string_view family) {
  const bool drops = family.starts_with("mbarrier.drop"), bytes = family.ends_with("_tx"),
             arrives = !family.starts_with("mbarrier.expect") && !family.starts_with("mbarrier.complete");
  std::size_t at = 0;
  if (arrives) {
    expect_count(2, 3);
    const bool wanted = !(arg(0).kind == Kind::sink);
    if (wanted) add_dst(inst, result(arg(0), Type::b64));
    if (!wanted) inst.op = Op::red;
    at = 1;
  } else {
    expect_count(2, 2);
    inst.op = Op::red;
  }
  add_src(inst, address(inst, arg(at), inst.imm_offset));
  inst.mods.atom = AtomOp::inc;
  inst.mods.video = arrives_counted;
  if (inst.mods.order == MemOrder::weak) inst.mods.order = arrives ? MemOrder::release : MemOrder::relaxed;
  if (inst.mods.scope == Scope::none) inst.mods.scope = Scope::cta;
  const std::uint64_t dropped = drops ? arrival_drops : 0;
  if (args_.top.size() == at + 1) {
    if (bytes) fail_here("the number of bytes is missing");
    add_src(inst, constant(1 | dropped, 8));
    return emit(inst);
  }
  const AstOperand& value = arg(at + 1);
  if (!bytes) {
    if (value.kind == Kind::integer) {
      add_src(inst, constant(integer_constant(value, "the count of an arrival", most_arrivals) | dropped, 8));
    } else {
      const Operand count = widened(inst, value);
      add_src(inst, drops
                        ? computed(inst, Op::or_, OpClass::int_alu, Type::b64, {count, constant(dropped, 8)})
                        : count);
    }
    return emit(inst);
  }
  const std::uint64_t counted = arrives ? 1 | dropped : 0;
  if (family.starts_with("mbarrier.complete")) {
    const Operand less =
        computed(inst, Op::sub, OpClass::int_alu, Type::u32, {constant(0, 4), source(value, Type::u32)});
    add_src(inst, upper_word(inst, computed(inst, Op::cvt, OpClass::int_alu, Type::u64, {less}), counted));
  } else {
    add_src(inst, upper_word(inst, widened(inst, value), counted));
  }
  emit(inst);
}

// value << 32 | low
Operand FunctionDecoder::upper_word(const Inst& like, Operand value, std::uint64_t low) {
  const Operand high =
      computed(like, Op::shl, OpClass::int_alu, Type::b64, {value, constant(arrival_bytes_at, 4)});
  if (low == 0) return high;
  return computed(like, Op::or_, OpClass::int_alu, Type::b64, {high, constant(low, 8)});
}

// test_wait, try_wait: PREDICATE, [BARRIER], STATE or parity [, time]: is the phase another one? try_wait may
// wait for it; that it does not is one of the answers that it may give.
void FunctionDecoder::mbarrier_test(Inst& inst, bool parity) {
  expect_count(3, current_->opcode.starts_with("mbarrier.try_wait") ? 4 : 3);
  const Operand done = predicate_result(arg(0));
  const Operand now = new_reg(Type::b64);
  if (inst.mods.order == MemOrder::weak) inst.mods.order = MemOrder::acquire;
  if (inst.mods.scope == Scope::none) inst.mods.scope = Scope::cta;
  add_dst(inst, now);
  add_src(inst, address(inst, arg(1), inst.imm_offset));
  inst.mods.video = asks_barrier;
  inst.op_class = class_of(ClassRule::load, inst.type, inst.stype, inst.mods);
  Operand before;
  if (parity) {
    const Operand wide = widened(inst, arg(2));
    before = computed(inst, Op::shl, OpClass::int_alu, Type::b64, {wide, constant(63, 4)});
  } else {
    before = source(arg(2), Type::b64);
  }
  if (args_.top.size() == 4) source(arg(3), Type::u32);  // how long it may wait
  emit(inst);
  const Operand differs = computed(inst, Op::xor_, OpClass::int_alu, Type::b64, {now, before});
  Inst test = plain(inst, Op::setp, OpClass::int_alu, Type::s64);
  test.guard = inst.guard;
  test.mods.compare = Compare::lt;
  add_dst(test, done);
  add_src(test, differs);
  add_src(test, constant(0, 8));
  emit(test);
}

// COUNT, STATE: arrivals that were pending then
void FunctionDecoder::mbarrier_pending(Inst& inst) {
  expect_count(2, 2);
  const Operand count = result(arg(0), Type::b32);
  const Operand high =
      computed(inst, Op::shr, OpClass::int_alu, Type::u64, {source(arg(1), Type::b64), constant(43, 4)});
  Inst low = plain(inst, Op::cvt, OpClass::int_alu, Type::u32);
  low.stype = Type::u64;
  const Operand field = new_reg(Type::u32);
  add_dst(low, field);
  add_src(low, high);
  emit(low);
  const Operand left =
      computed(inst, Op::sub, OpClass::int_alu, Type::u32, {constant(most_arrivals + 1, 4), field});
  Inst last = plain(inst, Op::and_, OpClass::int_alu, Type::b32);
  last.guard = inst.guard;
  add_dst(last, count);
  add_src(last, left);
  add_src(last, constant(most_arrivals, 4));
  emit(last);
}

// cp.async.mbarrier.arrive: [BARRIER]; arrives once the thread's copies are done. Without .noinc it is
// awaited in addition to the others: nothing changes but that it has to come before they are through.
void FunctionDecoder::mbarrier_behind_copies(Inst& inst, bool counted) {
  expect_count(1, 1);
  add_src(inst, address(inst, arg(0), inst.imm_offset));
  inst.mods.atom = AtomOp::inc;
  inst.mods.video = arrives_counted;
  inst.mods.behind_copies = true;
  inst.mods.order = MemOrder::release;
  inst.mods.scope = Scope::cta;
  inst.op_class = class_of(ClassRule::atomic, inst.type, inst.stype, inst.mods);
  add_src(inst, constant(counted ? 1 : 0, 8));
  emit(inst);
}

// cp.async.bulk: [TO], [FROM], BYTES, [BARRIER] or none [, POLICY]. What a copy to shared memory brings is
// taken off the barrier's bytes under way when it is done.
void FunctionDecoder::copy_bulk(Inst& inst, const Match& match, bool load) {
  drop_cache_policy(match);
  expect_count(load ? 4 : 3, load ? 4 : 3);
  Inst near = inst, far = inst;
  near.mods.space = Space::shared;
  far.mods.space = Space::global;
  std::int64_t near_offset = 0, far_offset = 0;
  const Operand shared = address(near, arg(load ? 0 : 1), near_offset);
  const Operand base = address(far, arg(load ? 1 : 0), far_offset);
  const Operand global = fold_offset(inst, base, far_offset);
  const Operand bytes = source(arg(2), Type::u32);
  inst.type = Type::b8;
  inst.mods.cache = CacheOp::cg;
  inst.mods.space = load ? Space::shared : Space::global;
  inst.imm_offset = near_offset;
  add_src(inst, shared);
  add_src(inst, global);
  add_src(inst, bytes);
  emit(inst);
  if (!load) return;
  Inst done = plain(inst, Op::red, OpClass::shared_atomic, Type::b64);
  done.guard = inst.guard;
  done.mods.space = Space::shared;
  done.mods.atom = AtomOp::inc;
  done.mods.video = arrives_counted;
  done.mods.behind_copies = true;
  done.mods.order = MemOrder::release;
  done.mods.scope = Scope::cta;
  add_src(done, address(done, arg(3), done.imm_offset));
  const Operand less = computed(inst, Op::sub, OpClass::int_alu, Type::u32, {constant(0, 4), bytes});
  add_src(done, upper_word(inst, computed(inst, Op::cvt, OpClass::int_alu, Type::u64, {less}), 0));
  emit(done);
}

// Operands by family. True: the instruction is one of these, and emitted.
bool FunctionDecoder::mbarrier(Inst& inst, const Match& match) {
  if (match.family.starts_with("bulk.")) {
    if (match.family == "bulk.commit") {
      expect_count(0, 0);
      inst.mods.video = closes_bulk_group;
      emit(inst);
    } else if (match.family.starts_with("bulk.wait")) {
      expect_count(1, 1);
      inst.mods.video = match.family == "bulk.wait" ? waits_for_bulk : waits_for_bulk_reads;
      const std::uint64_t left =
          integer_constant(arg(0), "the number of groups", std::numeric_limits<std::uint32_t>::max());
      add_src(inst, constant(left, 4));
      emit(inst);
    } else {
      copy_bulk(inst, match, match.family == "bulk.load");
    }
    return true;
  }
  if (!match.family.starts_with("mbarrier.")) return false;
  const std::string_view family = match.family;
  if (inst.op == Op::atom) inst.op_class = class_of(match.form->rule, inst.type, inst.stype, inst.mods);
  if (family == "mbarrier.init")
    mbarrier_init(inst);
  else if (family == "mbarrier.inval")
    mbarrier_invalidate(inst);
  else if (family == "mbarrier.state")
    mbarrier_test(inst, false);
  else if (family == "mbarrier.parity")
    mbarrier_test(inst, true);
  else if (family == "mbarrier.pending")
    mbarrier_pending(inst);
  else if (family == "mbarrier.copies")
    mbarrier_behind_copies(inst, false);
  else if (family == "mbarrier.copies_counted")
    mbarrier_behind_copies(inst, true);
  else
    mbarrier_arrive(inst, family);
  return true;
}

}  // namespace simtlab::ptx

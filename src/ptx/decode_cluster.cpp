// Clusters: whose shared memory an address lies in, and stores that complete at a barrier. Of a block in a
// cluster a shared address has the block's rank from bit 24 on, as on hardware; so mapa and getctarank are
// moves of bits, and everything behind the decoder knows them already.
#include "ptx/decode.h"
#include "ptx/machine_ops.h"

namespace simtlab::ptx {
namespace {

constexpr std::uint64_t rank_bits = 8;

}  // namespace

Operand FunctionDecoder::cluster_rank(const Inst& like) {
  Operand special;
  special.kind = OperandKind::special;
  special.bytes = 4;
  special.index = static_cast<std::uint32_t>(Special::cluster_ctarank);
  return computed(like, Op::mov, OpClass::int_alu, Type::u32, {special});
}

// An address in the block's own shared memory as others know it.
Operand FunctionDecoder::in_cluster(const Inst& like, Operand shared) {
  if (!scope_.module->clusters) return shared;
  const Operand rank = cluster_rank(like);
  Inst sum = plain(like, Op::mad, OpClass::int_mul, Type::u32);
  sum.mods.mul = shared.bytes == 8 ? MulMode::wide : MulMode::lo;
  const Operand out = new_reg(shared.bytes == 8 ? Type::u64 : Type::u32);
  add_dst(sum, out);
  add_src(sum, rank);
  add_src(sum, constant(cluster_stride, 4));
  add_src(sum, shared);
  emit(sum);
  return out;
}

// A register, or a variable in shared memory.
Operand FunctionDecoder::shared_value(const Inst& like, const AstOperand& o, unsigned bytes) {
  const Type type = bytes == 8 ? Type::u64 : Type::u32;
  if (o.kind != Kind::symbol && o.kind != Kind::local_var) return source(o, type);
  Inst scratch = like;
  scratch.op = Op::mov;
  return symbol_address(o, type, scratch);
}

// ADDRESS, ADDRESS, RANK
void FunctionDecoder::map_address(Inst& inst, bool generic) {
  expect_count(3, 3);
  const bool wide = inst.type == Type::u64;
  const Operand out = result(arg(0), inst.type);
  Operand from = shared_value(inst, arg(1), wide ? 8 : 4);
  const bool variable = arg(1).kind == Kind::symbol || arg(1).kind == Kind::local_var;
  if (generic && variable)
    from = computed(inst, Op::or_, OpClass::int_alu, Type::b64, {from, constant(shared_window, 8)});
  const Operand rank = wide ? widened(inst, arg(2)) : source(arg(2), Type::u32);
  inst.op = Op::bfi;
  inst.op_class = OpClass::bit;
  inst.type = wide ? Type::b64 : Type::b32;
  inst.mods = {};
  add_dst(inst, out);
  for (const Operand& o : {rank, from, constant(cluster_shift, 4), constant(rank_bits, 4)}) add_src(inst, o);
  emit(inst);
}

// RANK, ADDRESS
void FunctionDecoder::rank_of_address(Inst& inst) {
  expect_count(2, 2);
  const bool wide = inst.type == Type::u64;
  const Operand out = result(arg(0), Type::u32), from = shared_value(inst, arg(1), wide ? 8 : 4);
  Inst field = plain(inst, Op::bfe, OpClass::bit, wide ? Type::u64 : Type::u32);
  if (!wide) field.guard = inst.guard;
  const Operand rank = wide ? new_reg(Type::u64) : out;
  add_dst(field, rank);
  for (const Operand& o : {from, constant(cluster_shift, 4), constant(rank_bits, 4)}) add_src(field, o);
  emit(field);
  if (!wide) return;
  Inst low = plain(inst, Op::cvt, OpClass::int_alu, Type::u32);
  low.guard = inst.guard;
  low.stype = Type::u64;
  add_dst(low, out);
  add_src(low, rank);
  emit(low);
}

// [ADDRESS], VALUE, [BARRIER]: what was stored is taken off the barrier's bytes under way.
void FunctionDecoder::store_async(Inst& inst, const Match& match, bool reduces) {
  inst.mods.space = Space::shared;
  inst.mods.order = MemOrder::relaxed;
  inst.mods.scope = Scope::cluster;
  expect_count(3, 3);
  const AstOperand* const barrier = args_.top.back();
  args_.top.pop_back();
  if (reduces)
    atomic(inst, match, false);
  else
    store(inst, match);
  inst.op_class = class_of(reduces ? ClassRule::atomic : ClassRule::store, inst.type, inst.stype, inst.mods);
  emit(inst);
  const std::uint64_t bytes = std::uint64_t{size_of(inst.type)} * inst.mods.vector;
  Inst done = plain(inst, Op::red, OpClass::shared_atomic, Type::b64);
  done.guard = inst.guard;
  done.mods.space = Space::shared;
  done.mods.atom = AtomOp::inc;
  done.mods.video = arrives_counted;
  done.mods.order = MemOrder::release;
  done.mods.scope = Scope::cluster;
  add_src(done, address(done, *barrier, done.imm_offset));
  add_src(done, constant((0 - bytes) << arrival_bytes_at, 8));
  emit(done);
}

// True: the instruction is one of these, and emitted.
bool FunctionDecoder::cluster(Inst& inst, const Match& match) {
  if (match.family == "cluster.map" || match.family == "cluster.map_generic")
    map_address(inst, match.family == "cluster.map_generic");
  else if (match.family == "cluster.rank")
    rank_of_address(inst);
  else if (match.family == "cluster.store" || match.family == "cluster.reduce")
    store_async(inst, match, match.family == "cluster.reduce");
  else
    return false;
  return true;
}

}  // namespace simtlab::ptx

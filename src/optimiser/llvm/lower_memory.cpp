// Loads, stores and calls: the operations that LLVM does not know, and its own.
#include <fmt/format.h>

#include "optimiser/llvm/lowerer.h"

namespace simtlab::optimiser {
const std::vector<ptx::Constant>& Lowerer::constants_behind(const llvm::CallInst& call) const {
  unsigned n = 0;
  call.getCalledFunction()->getName().drop_front(3).getAsInteger(10, n);
  return lifted_.owners[n]->fn.constants;
}

Lowerer::Access Lowerer::access_of(llvm::Type* t) const {
  Access a;
  if (auto* v = llvm::dyn_cast<llvm::FixedVectorType>(t)) {
    a.count = v->getNumElements();
    t = v->getElementType();
  }
  const unsigned bits = t->isIntegerTy(1) ? 0 : bits_of(t);
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) give_up("an access of an unusual width");
  a.bytes = bits / 8;
  if (a.count != 1 && a.count != 2 && a.count != 4) give_up("a vector of an unusual length");
  if (a.count * a.bytes > 16) give_up("an access of more than 16 bytes");
  return a;
}

void Lowerer::load(llvm::LoadInst& i) {
  const Access a = access_of(i.getType());
  Inst inst = begin(Op::ld, is_fp(i.getType()) ? (a.bytes == 8 ? Type::f64 : Type::f32)
                            : a.bytes == 1     ? Type::u8
                                               : bits(a.bytes));
  const Address where = address(i.getPointerOperand());
  set_address(inst, where);
  inst.mods.vector = static_cast<std::uint8_t>(a.count);
  if (where.space == Space::global && i.hasMetadata(llvm::LLVMContext::MD_invariant_load))
    inst.mods.cache = ptx::CacheOp::nc;
  Parts p = registers_for(i.getType());
  for (const Operand& o : p) add_dst(inst, o);
  finish(inst);
  alias(i, std::move(p));
}

void Lowerer::store_value(llvm::StoreInst& i) {
  llvm::Type* t = i.getValueOperand()->getType();
  const Access a = access_of(t);
  const Parts values = parts(i.getValueOperand());
  const Address where = address(i.getPointerOperand());
  Inst inst = begin(Op::st, is_fp(t)       ? (a.bytes == 8 ? Type::f64 : Type::f32)
                            : a.bytes == 1 ? Type::u8
                                           : bits(a.bytes));
  set_address(inst, where);
  inst.mods.vector = static_cast<std::uint8_t>(a.count);
  for (Operand o : values) {
    if (o.kind == OperandKind::none) o = number(0, container(a.bytes * 8));
    if (a.bytes == 1 && o.kind == OperandKind::imm) o = number(constants_[o.index].value, 1);
    add_src(inst, o);
  }
  finish(inst);
}

void Lowerer::call(llvm::CallInst& i) {
  if (const Inst* op = operation(i)) return operation(i, *op);
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) return known(*intrinsic);
  const llvm::StringRef name = i.getCalledFunction()->getName();
  if (name.starts_with("special.")) {
    unsigned n = 0;
    name.drop_front(8).getAsInteger(10, n);
    Operand s;
    s.kind = OperandKind::special;
    s.bytes = static_cast<std::uint8_t>(container(bits_of(i.getType())));
    s.index = n;
    return emit(Op::mov, integer(s.bytes), define(i), {s});
  }
  if (name.starts_with("cvta.")) {
    ptx::Mods mods;
    mods.to = name.starts_with("cvta.to.");
    mods.space = name.ends_with("shared") ? Space::shared : Space::local;
    return emit(Op::cvta, Type::u64, define(i), {in_a_register(operand(i.getArgOperand(0)))}, mods);
  }
  give_up("a call of " + name.str());
}

void Lowerer::known(llvm::IntrinsicInst& i) {
  namespace N = llvm::Intrinsic;
  const unsigned id = i.getIntrinsicID();
  if (id == N::assume || id == N::lifetime_start || id == N::lifetime_end ||
      id == N::experimental_noalias_scope_decl || llvm::isa<llvm::DbgInfoIntrinsic>(i))
    return;
  if (i.getType()->isVectorTy()) give_up("an operation on vectors");
  ptx::Mods mods;
  const auto arg = [&](unsigned k) { return operand(i.getArgOperand(k)); };
  if (id == N::fma) {
    mods.rounding = ptx::Rounding::rn;
    return emit(Op::fma, float_type(i), define(i), {arg(0), arg(1), arg(2)}, mods);
  }
  if (id == N::fabs) return emit(Op::abs, float_type(i), define(i), {arg(0)});
  const unsigned n = i.getType()->isIntegerTy() ? bits_of(i.getType()) : 0, bytes = n == 0 ? 0 : container(n);
  const bool whole = n != 0 && n == bytes * 8;
  if (!whole) give_up(fmt::format("'{}' of LLVM", N::getBaseName(id).str()));
  switch (id) {
    case N::smin: return emit(Op::min, integer(bytes, true), define(i), {arg(0), arg(1)});
    case N::smax: return emit(Op::max, integer(bytes, true), define(i), {arg(0), arg(1)});
    case N::umin: return emit(Op::min, integer(bytes), define(i), {arg(0), arg(1)});
    case N::umax: return emit(Op::max, integer(bytes), define(i), {arg(0), arg(1)});
    case N::abs: return emit(Op::abs, integer(bytes, true), define(i), {arg(0)});
    case N::ctpop:
    case N::ctlz: {
      if (bytes < 4) give_up("a count of bits of 16 bits");
      const Op op = id == N::ctpop ? Op::popc : Op::clz;
      if (bytes == 4) return emit(op, Type::b32, define(i), {arg(0)});
      Operand count = new_register(4);
      emit(op, Type::b64, count, {arg(0)});
      return emit(Op::cvt, Type::u64, define(i), {count}, {}, Type::u32);
    }
    case N::bitreverse:
      if (bytes < 4) give_up("reversed 16 bits");
      return emit(Op::brev, bits(bytes), define(i), {arg(0)});
    case N::bswap: {
      if (bytes != 4) give_up("reversed bytes");
      return emit(Op::prmt, Type::b32, define(i), {arg(0), number(0, 4), number(0x0123, 4)});
    }
    case N::fshl:
    case N::fshr: {
      if (bytes != 4) return funnel(i, bytes, id == N::fshl);
      mods.left = id == N::fshl;
      mods.wrap = true;
      return emit(Op::shf, Type::b32, define(i), {arg(1), arg(0), arg(2)}, mods);
    }
    case N::uadd_sat: {  // min(a, not b) + b
      Operand room = new_register(bytes), smaller = new_register(bytes);
      emit(Op::not_, bits(bytes), room, {arg(1)});
      emit(Op::min, integer(bytes), smaller, {arg(0), room});
      return emit(Op::add, integer(bytes), define(i), {smaller, arg(1)});
    }
    case N::usub_sat: {  // max(a, b) - b
      Operand larger = new_register(bytes);
      emit(Op::max, integer(bytes), larger, {arg(0), arg(1)});
      return emit(Op::sub, integer(bytes), define(i), {larger, arg(1)});
    }
    default: give_up(fmt::format("'{}' of LLVM", N::getBaseName(id).str()));
  }
}

// The upper (left) or lower half of two values side by side, shifted: of 64 and of 16 bits, of two shifts.
void Lowerer::funnel(llvm::IntrinsicInst& i, unsigned bytes, bool left) {
  if (bytes < 2) give_up("a rotation of bytes");
  const unsigned last = bytes * 8 - 1;
  const Operand upper = operand(i.getArgOperand(0)), lower = operand(i.getArgOperand(1));
  const Operand kept = left ? upper : lower, taken = left ? lower : upper;
  const auto shift = [&](bool to_left, const Operand& to, const Operand& from, const Operand& by) {
    emit(to_left ? Op::shl : Op::shr, to_left ? bits(bytes) : integer(bytes), to, {from, by});
  };
  Operand amount, rest;
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(i.getArgOperand(2))) {
    const std::uint64_t by = constant->getZExtValue() & last;
    amount = number(by, 4);
    rest = number(last - by, 4);
  } else {
    const Operand word = new_register(4);
    emit(Op::cvt, Type::u32, word, {operand(i.getArgOperand(2))}, {}, integer(bytes));
    amount = new_register(4);
    emit(Op::and_, Type::b32, amount, {word, number(last, 4)});
    rest = new_register(4);
    emit(Op::xor_, Type::b32, rest, {amount, number(last, 4)});
  }
  // By one, and by the rest less one.
  const Operand once = new_register(bytes), other = new_register(bytes), own = new_register(bytes);
  shift(!left, once, taken, number(1, 4));
  shift(!left, other, once, rest);
  shift(left, own, kept, amount);
  emit(Op::or_, bits(bytes), define(i), {own, other});
}

const Inst* Lowerer::operation(const llvm::CallInst& call) const {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || !callee->getName().starts_with("op.")) return nullptr;
  unsigned n = 0;
  callee->getName().drop_front(3).getAsInteger(10, n);
  return &lifted_.operations[n];
}

void Lowerer::operation(llvm::CallInst& i, const Inst& pattern) {
  Inst inst = pattern;
  inst.line = at_.line, inst.column = at_.column, inst.file = at_.file, inst.source_line = at_.source_line;
  inst.guard = guard_;
  if (pattern.frame_relative) give_up("an operation on the frame");
  unsigned argument = 0;
  for (unsigned k = 0; k < inst.src_count; ++k) {
    Operand& o = inst.src[k];
    if (o.kind == OperandKind::special || o.kind == OperandKind::imm) {
      if (o.kind == OperandKind::imm) o = constant_of(constants_behind(i)[o.index], o.bytes);
      continue;
    }
    if (o.kind != OperandKind::reg && o.kind != OperandKind::pred) continue;
    Operand value = operand(i.getArgOperand(argument++));
    if (o.kind == OperandKind::reg) {
      const unsigned bytes = o.bytes;
      if (bytes == 1) value.bytes = value.kind == OperandKind::imm ? 1 : value.bytes;
      o = value;
      continue;
    }
    value.negated = value.negated != o.negated;
    o = value;
  }
  Parts p = registers_for(i.getType());
  unsigned n = 0;
  for (unsigned k = 0; k < inst.dst_count; ++k)
    if (inst.dst[k].kind == OperandKind::reg || inst.dst[k].kind == OperandKind::pred) inst.dst[k] = p[n++];
  code_.push_back(inst);
  if (!p.empty()) alias(i, std::move(p));
}

}  // namespace simtlab::optimiser

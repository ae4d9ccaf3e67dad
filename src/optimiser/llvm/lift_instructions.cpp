// Arithmetic, comparisons, moves and conversions that LLVM knows.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "optimiser/llvm/lifter.h"

namespace simtlab::optimiser {
bool Lifter::plain_float(const Inst& inst) {
  const ptx::Mods& m = inst.mods;
  return (inst.type == Type::f32 || inst.type == Type::f64) && !m.ftz && !m.sat && !m.approx &&
         (m.rounding == ptx::Rounding::none || m.rounding == ptx::Rounding::rn);
}

bool Lifter::plain_integer(const Inst& inst) {
  return !is_float(inst.type) && inst.type != Type::u16x2 && inst.type != Type::s16x2 &&
         inst.type != Type::pred && !inst.mods.sat && !inst.mods.relu && size_of(inst.type) <= 8;
}

bool Lifter::known(const Inst& inst) {
  switch (inst.op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::mad:
    case Op::addc:
    case Op::subc:
    case Op::madc:
    case Op::fma:
    case Op::neg:
    case Op::abs:
    case Op::min:
    case Op::max: return arithmetic(inst);
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
    case Op::shl:
    case Op::shr: return logic(inst);
    case Op::popc:
    case Op::clz:
    case Op::brev: return bits(inst);
    case Op::setp: return compare(inst);
    case Op::selp:
      write(inst.dst[0], b_.CreateSelect(read(inst.src[2], Type::pred), src(inst, 0), src(inst, 1)));
      return true;
    case Op::mov: return move(inst);
    case Op::cvt: return convert(inst);
    case Op::cvta: return convert_address(inst);
    case Op::ld:
    case Op::ldu: return load(inst);
    case Op::st: return store(inst);
    default: return false;
  }
}

bool Lifter::arithmetic(const Inst& inst) {
  if (is_float(inst.type)) return plain_float(inst) && float_arithmetic(inst);
  if (!plain_integer(inst)) return false;
  if (inst.mods.cc_in || inst.mods.cc_out || inst.op == Op::addc || inst.op == Op::subc ||
      inst.op == Op::madc)
    return with_carry(inst);
  Value* a = src(inst, 0);
  switch (inst.op) {
    case Op::neg: write(inst.dst[0], b_.CreateNeg(a)); return true;
    case Op::abs:
      write(inst.dst[0], b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getFalse()));
      return true;
    case Op::mul:
    case Op::mad: {
      Value* p = product(inst, a);
      if (p == nullptr) return false;
      if (inst.op == Op::mad) p = b_.CreateAdd(p, as(raw(inst.src[2], p->getType()), p->getType()));
      write(inst.dst[0], p);
      return true;
    }
    default: break;
  }
  Value* c = src(inst, 1);
  const bool sign = is_signed(inst.type);
  switch (inst.op) {
    case Op::add: write(inst.dst[0], b_.CreateAdd(a, c)); return true;
    case Op::sub: write(inst.dst[0], b_.CreateSub(a, c)); return true;
    case Op::min:
      write(inst.dst[0],
            b_.CreateBinaryIntrinsic(sign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, c));
      return true;
    case Op::max:
      write(inst.dst[0],
            b_.CreateBinaryIntrinsic(sign ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, c));
      return true;
    default: return false;
  }
}

Value* Lifter::raw(const ptx::Operand& o, llvm::Type* type) {
  const unsigned bits = width(type);
  return read(o, bits == 64 ? Type::b64 : bits == 32 ? Type::b32 : bits == 16 ? Type::b16 : Type::b8);
}

Value* Lifter::product(const Inst& inst, Value* a) {
  Value* c = src(inst, 1);
  const unsigned bits = size_of(inst.type) * 8;
  if (inst.mods.mul == ptx::MulMode::lo) return b_.CreateMul(a, c);
  if (inst.mods.mul != ptx::MulMode::wide) return nullptr;
  llvm::Type* wide = b_.getIntNTy(bits * 2);
  if (is_signed(inst.type)) return b_.CreateNSWMul(b_.CreateSExt(a, wide), b_.CreateSExt(c, wide));
  return b_.CreateNUWMul(b_.CreateZExt(a, wide), b_.CreateZExt(c, wide));
}

Value* Lifter::upper_half(Value* a, Value* c, bool sign) {
  const unsigned bits = width(a->getType());
  if (bits <= 32) {
    llvm::Type* wide = b_.getIntNTy(2 * bits);
    Value* p = sign ? b_.CreateNSWMul(b_.CreateSExt(a, wide), b_.CreateSExt(c, wide))
                    : b_.CreateNUWMul(b_.CreateZExt(a, wide), b_.CreateZExt(c, wide));
    return b_.CreateTrunc(b_.CreateLShr(p, bits), a->getType());
  }
  // Of four products of words.
  const auto low = [&](Value* v) { return b_.CreateAnd(v, 0xffffffffu); };
  const auto high = [&](Value* v) { return b_.CreateLShr(v, 32); };
  Value* low_high = b_.CreateMul(low(a), high(c));
  Value* middle = b_.CreateAdd(b_.CreateMul(high(a), low(c)), high(b_.CreateMul(low(a), low(c))));
  Value* sum = b_.CreateAdd(low_high, low(middle));
  Value* out = b_.CreateAdd(b_.CreateAdd(b_.CreateMul(high(a), high(c)), high(middle)), high(sum));
  if (!sign) return out;
  // A negative factor counts as one that is larger by 2 to the 64th.
  out = b_.CreateSub(out, b_.CreateAnd(b_.CreateAShr(a, 63), c));
  return b_.CreateSub(out, b_.CreateAnd(b_.CreateAShr(c, 63), a));
}

bool Lifter::with_carry(const Inst& inst) {
  if (guard_ != nullptr) give_up("a guarded sum with a carry");
  Value *a = src(inst, 0), *c = src(inst, 1);
  const bool product = inst.op == Op::mad || inst.op == Op::madc;
  if (product) {
    a = inst.mods.mul == ptx::MulMode::hi ? upper_half(a, c, is_signed(inst.type)) : b_.CreateMul(a, c);
    c = src(inst, 2);
  }
  Value* in = inst.mods.cc_in ? b_.CreateZExt(b_.CreateLoad(b_.getInt1Ty(), carry_), a->getType()) : nullptr;
  const bool sum = inst.op != Op::sub && inst.op != Op::subc;
  Value* first = sum ? b_.CreateAdd(a, c) : b_.CreateSub(a, c);
  Value* carry = sum ? b_.CreateICmpULT(first, a) : b_.CreateICmpULT(a, c);
  Value* result = first;
  if (in != nullptr) {
    result = sum ? b_.CreateAdd(first, in) : b_.CreateSub(first, in);
    carry = b_.CreateOr(carry, sum ? b_.CreateICmpULT(result, first) : b_.CreateICmpULT(first, in));
  }
  if (inst.mods.cc_out) b_.CreateStore(carry, carry_);
  write(inst.dst[0], result);
  return true;
}

bool Lifter::float_arithmetic(const Inst& inst) {
  Value* a = src(inst, 0);
  Value* v = nullptr;
  switch (inst.op) {
    case Op::add: v = b_.CreateFAdd(a, src(inst, 1)); break;
    case Op::sub: v = b_.CreateFSub(a, src(inst, 1)); break;
    case Op::mul: v = b_.CreateFMul(a, src(inst, 1)); break;
    case Op::neg: v = b_.CreateFNeg(a); break;
    case Op::abs: v = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a); break;
    case Op::fma:
      if (inst.mods.rounding != ptx::Rounding::rn) return false;
      v = b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, src(inst, 1), src(inst, 2)});
      break;
    default: return false;
  }
  write(inst.dst[0], v);
  return true;
}

bool Lifter::logic(const Inst& inst) {
  if (inst.type != Type::pred && !plain_integer(inst)) return false;
  Value* a = src(inst, 0);
  const bool shift = inst.op == Op::shl || inst.op == Op::shr;
  if (inst.op == Op::not_) {
    write(inst.dst[0], b_.CreateNot(a));
    return true;
  }
  if (!shift) {
    Value* c = src(inst, 1);
    write(inst.dst[0], inst.op == Op::and_  ? b_.CreateAnd(a, c)
                       : inst.op == Op::or_ ? b_.CreateOr(a, c)
                                            : b_.CreateXor(a, c));
    return true;
  }
  if (inst.src[1].kind != OperandKind::imm) return false;
  const unsigned bits = size_of(inst.type) * 8;
  const std::uint64_t amount = frame_->fn.constants[inst.src[1].index].value & 0xffffffffu;
  const bool sign = inst.op == Op::shr && is_signed(inst.type);
  if (amount >= bits && !sign) {
    write(inst.dst[0], b_.getIntN(bits, 0));
    return true;
  }
  Value* by = b_.getIntN(bits, std::min<std::uint64_t>(amount, bits - 1));
  write(inst.dst[0], inst.op == Op::shl ? b_.CreateShl(a, by)
                     : sign             ? b_.CreateAShr(a, by)
                                        : b_.CreateLShr(a, by));
  return true;
}

bool Lifter::bits(const Inst& inst) {
  Value* a = src(inst, 0);
  Value* v = nullptr;
  if (inst.op == Op::popc) v = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a);
  if (inst.op == Op::brev) v = b_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, a);
  if (inst.op == Op::clz) v = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, a, b_.getFalse());
  write(inst.dst[0], v);
  return true;
}

llvm::CmpInst::Predicate Lifter::predicate_of(Compare c, Type type) {
  using P = llvm::CmpInst::Predicate;
  if (is_float(type)) {
    switch (c) {
      case Compare::eq: return P::FCMP_OEQ;
      case Compare::ne: return P::FCMP_ONE;
      case Compare::lt: return P::FCMP_OLT;
      case Compare::le: return P::FCMP_OLE;
      case Compare::gt: return P::FCMP_OGT;
      case Compare::ge: return P::FCMP_OGE;
      case Compare::equ: return P::FCMP_UEQ;
      case Compare::neu: return P::FCMP_UNE;
      case Compare::ltu: return P::FCMP_ULT;
      case Compare::leu: return P::FCMP_ULE;
      case Compare::gtu: return P::FCMP_UGT;
      case Compare::geu: return P::FCMP_UGE;
      case Compare::num: return P::FCMP_ORD;
      case Compare::nan: return P::FCMP_UNO;
      default: return P::BAD_FCMP_PREDICATE;
    }
  }
  const bool sign = is_signed(type);
  switch (c) {
    case Compare::eq: return P::ICMP_EQ;
    case Compare::ne: return P::ICMP_NE;
    case Compare::lt: return sign ? P::ICMP_SLT : P::ICMP_ULT;
    case Compare::le: return sign ? P::ICMP_SLE : P::ICMP_ULE;
    case Compare::gt: return sign ? P::ICMP_SGT : P::ICMP_UGT;
    case Compare::ge: return sign ? P::ICMP_SGE : P::ICMP_UGE;
    case Compare::lo: return P::ICMP_ULT;
    case Compare::ls: return P::ICMP_ULE;
    case Compare::hi: return P::ICMP_UGT;
    case Compare::hs: return P::ICMP_UGE;
    default: return P::BAD_ICMP_PREDICATE;
  }
}

bool Lifter::compare(const Inst& inst) {
  if (inst.mods.ftz || (is_float(inst.type) && inst.type != Type::f32 && inst.type != Type::f64))
    return false;
  const auto predicate = predicate_of(inst.mods.compare, inst.type);
  if (predicate == llvm::CmpInst::BAD_FCMP_PREDICATE || predicate == llvm::CmpInst::BAD_ICMP_PREDICATE)
    return false;
  Value* p = b_.CreateCmp(predicate, src(inst, 0), src(inst, 1));
  Value* q = inst.dst_count > 1 ? b_.CreateNot(p) : nullptr;
  if (inst.mods.bool_op != ptx::BoolOp::none) {
    Value* c = read(inst.src[2], Type::pred);
    const auto join = [&](Value* v) {
      return inst.mods.bool_op == ptx::BoolOp::and_  ? b_.CreateAnd(v, c)
             : inst.mods.bool_op == ptx::BoolOp::or_ ? b_.CreateOr(v, c)
                                                     : b_.CreateXor(v, c);
    };
    p = join(p);
    if (q != nullptr) q = join(q);
  }
  write(inst.dst[0], p);
  if (q != nullptr) write(inst.dst[1], q);
  return true;
}

bool Lifter::move(const Inst& inst) {
  if (inst.frame_relative) {
    write(inst.dst[0], b_.CreatePtrToInt(frame_at(inst), b_.getInt64Ty()));
    return true;
  }
  if (inst.dst_count > 1) {  // unpacks
    const unsigned part = size_of(inst.type) * 8 / inst.dst_count;
    Value* a = as(src(inst, 0), b_.getIntNTy(size_of(inst.type) * 8));
    for (unsigned i = 0; i < inst.dst_count; ++i)
      write(inst.dst[i], b_.CreateTrunc(b_.CreateLShr(a, i * part), b_.getIntNTy(part)));
    return true;
  }
  if (inst.src_count > 1) {  // packs
    llvm::Type* whole = b_.getIntNTy(size_of(inst.type) * 8);
    const unsigned part = size_of(inst.type) * 8 / inst.src_count;
    Value* v = nullptr;
    for (unsigned i = 0; i < inst.src_count; ++i) {
      Value* x = b_.CreateZExt(raw(inst.src[i], b_.getIntNTy(part)), whole);
      x = b_.CreateShl(x, i * part);
      v = v == nullptr ? x : b_.CreateOr(v, x);
    }
    write(inst.dst[0], v);
    return true;
  }
  write(inst.dst[0], src(inst, 0));
  return true;
}

bool Lifter::convert(const Inst& inst) {
  const Type to = inst.type, from = inst.stype;
  const ptx::Mods& m = inst.mods;
  if (m.ftz || m.sat || m.relu || inst.src_count != 1) return false;
  const bool to_float = to == Type::f32 || to == Type::f64,
             from_float = from == Type::f32 || from == Type::f64;
  if ((is_float(to) && !to_float) || (is_float(from) && !from_float)) return false;
  Value* a = read(inst.src[0], from);
  if (!to_float && !from_float) {
    const unsigned bits = size_of(to) * 8;
    Value* v = b_.CreateIntCast(a, b_.getIntNTy(bits), is_signed(from));
    write(inst.dst[0], v, is_signed(to));
    return true;
  }
  if (to_float && !from_float) {
    if (m.rounding != ptx::Rounding::rn) return false;
    write(inst.dst[0],
          is_signed(from) ? b_.CreateSIToFP(a, value_type(to)) : b_.CreateUIToFP(a, value_type(to)));
    return true;
  }
  if (!from_float || !to_float || to == from) return false;
  if (to == Type::f64 && m.rounding == ptx::Rounding::none) {
    write(inst.dst[0], b_.CreateFPExt(a, b_.getDoubleTy()));
    return true;
  }
  if (to != Type::f32 || m.rounding != ptx::Rounding::rn) return false;
  write(inst.dst[0], b_.CreateFPTrunc(a, b_.getFloatTy()));
  return true;
}

}  // namespace simtlab::optimiser

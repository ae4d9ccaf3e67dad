// Arithmetic, comparisons, selections and conversions.
#include <fmt/format.h>
#include <llvm/Analysis/SimplifyQuery.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>

#include "optimiser/llvm/lowerer.h"

namespace simtlab::optimiser {
void Lowerer::instruction(llvm::Instruction& i) {
  using I = llvm::Instruction;
  switch (i.getOpcode()) {
    case I::Alloca: return;
    case I::Load: return load(llvm::cast<llvm::LoadInst>(i));
    case I::Store: return store_value(llvm::cast<llvm::StoreInst>(i));
    case I::GetElementPtr: {
      auto& gep = llvm::cast<llvm::GEPOperator>(i);
      Address a = address(gep.getPointerOperand());
      add_indices(a, gep);
      addresses_[&i] = a;
      return;
    }
    case I::Call: return call(llvm::cast<llvm::CallInst>(i));
    case I::ICmp: return compare(llvm::cast<llvm::ICmpInst>(i));
    case I::FCmp: return compare_floats(llvm::cast<llvm::FCmpInst>(i));
    case I::Select: return select(llvm::cast<llvm::SelectInst>(i));
    case I::ZExt:
    case I::SExt:
    case I::Trunc: return convert_integer(llvm::cast<llvm::CastInst>(i));
    case I::SIToFP:
    case I::UIToFP:
    case I::FPExt:
    case I::FPTrunc: return convert_float(llvm::cast<llvm::CastInst>(i));
    case I::Freeze: return alias(i, parts(i.getOperand(0)));
    case I::BitCast:
      return alias(i, recut(parts(i.getOperand(0)), bits_of(i.getOperand(0)->getType()->getScalarType()),
                            bits_of(i.getType()->getScalarType())));
    case I::IntToPtr: {
      Address a;
      a.space = space_of(i.getType()->getPointerAddressSpace());
      add_index(a, i.getOperand(0), 1);
      addresses_[&i] = a;
      return;
    }
    case I::PtrToInt: return alias(i, {in_register(address(i.getOperand(0)))});
    case I::ExtractValue:
      return alias(i,
                   {parts(i.getOperand(0)).at(llvm::cast<llvm::ExtractValueInst>(i).getIndices().front())});
    case I::ExtractElement: {
      auto* n = llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1));
      if (n == nullptr) give_up("an element by a variable index");
      return alias(i, {parts(i.getOperand(0)).at(n->getZExtValue())});
    }
    case I::InsertElement: {
      auto* n = llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(2));
      if (n == nullptr) give_up("an element by a variable index");
      Parts p(llvm::cast<llvm::FixedVectorType>(i.getType())->getNumElements());
      if (!llvm::isa<llvm::UndefValue>(i.getOperand(0))) p = parts(i.getOperand(0));
      p.at(n->getZExtValue()) = operand(i.getOperand(1));
      return alias(i, std::move(p));
    }
    case I::ShuffleVector: {
      auto& s = llvm::cast<llvm::ShuffleVectorInst>(i);
      const unsigned n = llvm::cast<llvm::FixedVectorType>(s.getOperand(0)->getType())->getNumElements();
      Parts p;
      for (const int k : s.getShuffleMask()) {
        if (k < 0) {
          p.emplace_back();
          continue;
        }
        const bool first = static_cast<unsigned>(k) < n;
        const Value* v = s.getOperand(first ? 0 : 1);
        p.push_back(parts(v).at(static_cast<unsigned>(k) - (first ? 0 : n)));
      }
      return alias(i, std::move(p));
    }
    case I::FNeg: return emit(Op::neg, float_type(i), define(i), {operand(i.getOperand(0))});
    default: break;
  }
  if (auto* op = llvm::dyn_cast<llvm::BinaryOperator>(&i)) return binary(*op);
  give_up(fmt::format("'{}' of LLVM", i.getOpcodeName()));
}

// The bits of registers in registers of another width.
Parts Lowerer::recut(const Parts& from, unsigned have, unsigned want) {
  if (have == want) return from;
  const unsigned most = std::max(have, want), least = std::min(have, want), ratio = most / least;
  if (least < 16 || most % least != 0 || ratio > 4) give_up("a vector of bytes cut otherwise");
  Parts out;
  if (have > want) {
    for (const Operand& whole : from) {
      Inst inst = begin(Op::mov, bits(have / 8));
      for (unsigned k = 0; k < ratio; ++k) add_dst(inst, out.emplace_back(new_register(want / 8)));
      add_src(inst, whole.kind == OperandKind::none ? number(0, have / 8) : whole);
      finish(inst);
    }
    return out;
  }
  for (std::size_t first = 0; first + ratio <= from.size(); first += ratio) {
    Inst inst = begin(Op::mov, bits(want / 8));
    add_dst(inst, out.emplace_back(new_register(want / 8)));
    for (unsigned k = 0; k < ratio; ++k) {
      const Operand& part = from[first + k];
      add_src(inst, part.kind == OperandKind::none ? number(0, have / 8) : part);
    }
    finish(inst);
  }
  return out;
}

void Lowerer::binary(llvm::BinaryOperator& i) {
  using I = llvm::Instruction;
  llvm::Type* t = i.getType();
  if (t->isVectorTy()) give_up("a sum of vectors");
  if (t->isFloatingPointTy()) {
    ptx::Mods mods;
    mods.rounding = ptx::Rounding::rn;
    const Op op = i.getOpcode() == I::FAdd   ? Op::add
                  : i.getOpcode() == I::FSub ? Op::sub
                  : i.getOpcode() == I::FMul ? Op::mul
                                             : Op::div;
    if (i.getOpcode() == I::FRem) give_up("a remainder of floats");
    return emit(op, float_type(i), define(i), {operand(i.getOperand(0)), operand(i.getOperand(1))}, mods);
  }
  if (t->isIntegerTy(1)) return predicates(i);
  const unsigned n = bits_of(t), bytes = container(n);
  if (i.getOpcode() == I::Mul && wide_product(i)) return;
  if (i.getOpcode() == I::Shl && wide_shift(i)) return;
  Operand a = operand(i.getOperand(0)), b = operand(i.getOperand(1));
  const bool whole = n == bytes * 8;
  ptx::Mods mods;
  switch (i.getOpcode()) {
    case I::Add: return masked(i, Op::add, integer(bytes, true), {a, b}, mods, whole);
    case I::Sub: return masked(i, Op::sub, integer(bytes, true), {a, b}, mods, whole);
    case I::Mul:
      mods.mul = ptx::MulMode::lo;
      return masked(i, Op::mul, integer(bytes, true), {a, b}, mods, whole);
    case I::And: return emit(Op::and_, bits(bytes), define(i), {a, b});
    case I::Or:
      if (packs(i)) return;
      return emit(Op::or_, bits(bytes), define(i), {a, b});
    case I::Xor:
      if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1)); c && c->isMinusOne() && whole)
        return emit(Op::not_, bits(bytes), define(i), {a});
      return emit(Op::xor_, bits(bytes), define(i), {a, b});
    case I::Shl: return masked(i, Op::shl, bits(bytes), {a, amount(b)}, mods, whole);
    case I::LShr: return emit(Op::shr, integer(bytes), define(i), {a, amount(b)});
    case I::AShr:
      if (!whole) a = extended(a, n, bytes);
      return masked(i, Op::shr, integer(bytes, true), {a, amount(b)}, mods, whole);
    case I::UDiv:
    case I::SDiv: return emit(Op::div, integer(bytes, i.getOpcode() == I::SDiv), define(i), {a, b});
    case I::URem:
    case I::SRem: return emit(Op::rem, integer(bytes, i.getOpcode() == I::SRem), define(i), {a, b});
    default: give_up(fmt::format("'{}' of LLVM", i.getOpcodeName()));
  }
}

void Lowerer::masked(llvm::Instruction& i, Op op, Type type, std::initializer_list<Operand> sources,
                     const ptx::Mods& mods, bool whole) {
  if (whole) return emit(op, type, define(i), sources, mods);
  const unsigned n = bits_of(i.getType()), bytes = container(n);
  Operand t = new_register(bytes);
  emit(op, type, t, sources, mods);
  emit(Op::and_, bits(bytes), define(i), {t, number((std::uint64_t{1} << n) - 1, bytes)});
}

Operand Lowerer::extended(const Operand& a, unsigned n, unsigned bytes) {
  if (n == bytes * 8) return a;
  Operand up = new_register(bytes), out = new_register(bytes);
  const Operand by = number(bytes * 8 - n, 4);
  emit(Op::shl, bits(bytes), up, {a, by});
  emit(Op::shr, integer(bytes, true), out, {up, by});
  return out;
}

Operand Lowerer::amount(const Operand& b) {
  if (b.kind == OperandKind::imm) return number(constants_[b.index].value, 4);
  if (b.bytes == 4) return b;
  Operand out = new_register(4);
  emit(Op::cvt, Type::u32, out, {b}, {}, integer(b.bytes));
  return out;
}

std::optional<Lowerer::Word> Lowerer::word_of(Value* v, bool sign) const {
  using namespace llvm::PatternMatch;
  const llvm::APInt* c = nullptr;
  Value* inner = nullptr;
  if (match(v, m_APInt(c)))
    return (sign ? c->isSignedIntN(32) : c->isIntN(32)) ? std::optional(Word{v, false}) : std::nullopt;
  if ((sign ? match(v, m_SExt(m_Value(inner))) : match(v, m_ZExt(m_Value(inner)))) &&
      inner->getType()->isIntegerTy(32))
    return Word{inner, true};
  if (sign || !llvm::MaskedValueIsZero(v, llvm::APInt::getHighBitsSet(64, 32), llvm::SimplifyQuery(layout_)))
    return std::nullopt;
  return Word{match(v, m_And(m_Value(inner), m_SpecificInt(0xffffffff))) ? inner : v, false};
}

Operand Lowerer::lower_word(const Word& word) {
  if (word.whole) return operand(word.value);
  if (const auto* c = llvm::dyn_cast<llvm::ConstantInt>(word.value)) return number(c->getZExtValue(), 4);
  Operand out = new_register(4);
  emit(Op::cvt, Type::u32, out, {operand(word.value)}, {}, Type::u64);
  return out;
}

bool Lowerer::wide_product(llvm::BinaryOperator& i) {
  if (!i.getType()->isIntegerTy(64)) return false;
  for (const bool sign : {true, false}) {
    const std::optional<Word> a = word_of(i.getOperand(0), sign), b = word_of(i.getOperand(1), sign);
    if (!a || !b) continue;
    ptx::Mods mods;
    mods.mul = ptx::MulMode::wide;
    const Operand x = lower_word(*a), y = lower_word(*b);
    emit(Op::mul, sign ? Type::s32 : Type::u32, define(i), {x, y}, mods);
    return true;
  }
  return false;
}

bool Lowerer::wide_shift(llvm::BinaryOperator& i) {
  using namespace llvm::PatternMatch;
  Value* a = nullptr;
  const llvm::APInt* c = nullptr;
  if (!i.getType()->isIntegerTy(64) || !match(i.getOperand(1), m_APInt(c)) || c->uge(31)) return false;
  const bool sign = match(i.getOperand(0), m_SExt(m_Value(a)));
  if (!sign && !match(i.getOperand(0), m_ZExt(m_Value(a)))) return false;
  if (!a->getType()->isIntegerTy(32)) return false;
  ptx::Mods mods;
  mods.mul = ptx::MulMode::wide;
  emit(Op::mul, sign ? Type::s32 : Type::u32, define(i),
       {operand(a), number(std::uint64_t{1} << c->getZExtValue(), 4)}, mods);
  return true;
}

bool Lowerer::packs(llvm::BinaryOperator& i) {
  using namespace llvm::PatternMatch;
  Value *low = nullptr, *high = nullptr;
  if (!i.getType()->isIntegerTy(64) ||
      !match(&i, m_c_Or(m_ZExt(m_Value(low)), m_Shl(m_ZExt(m_Value(high)), m_SpecificInt(32)))))
    return false;
  if (!low->getType()->isIntegerTy(32) || !high->getType()->isIntegerTy(32)) return false;
  emit(Op::mov, Type::b64, define(i), {operand(low), operand(high)});
  return true;
}

void Lowerer::predicates(llvm::BinaryOperator& i) {
  using I = llvm::Instruction;
  Operand a = operand(i.getOperand(0));
  if (i.getOpcode() == I::Xor || i.getOpcode() == I::Add || i.getOpcode() == I::Sub) {
    if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1)); c && c->isOne()) {
      a.negated = !a.negated;
      return alias(i, {a});
    }
  }
  Operand b = operand(i.getOperand(1));
  const Op op = i.getOpcode() == I::And ? Op::and_ : i.getOpcode() == I::Or ? Op::or_ : Op::xor_;
  if (i.getOpcode() != I::And && i.getOpcode() != I::Or && i.getOpcode() != I::Xor)
    give_up("a sum of predicates");
  emit(op, Type::pred, define(i), {a, b});
}

void Lowerer::compare(llvm::ICmpInst& i) {
  llvm::Type* t = i.getOperand(0)->getType();
  Operand a = operand(i.getOperand(0)), b = operand(i.getOperand(1));
  if (t->isIntegerTy(1)) {
    if (!i.isEquality()) give_up("an order of predicates");
    Operand p = define(i);
    emit(Op::xor_, Type::pred, p, {a, b});
    if (i.getPredicate() == llvm::CmpInst::ICMP_EQ) values_[&i].front().negated = true;
    return;
  }
  const unsigned n = bits_of(t), bytes = container(n);
  if (i.isSigned()) a = extended(a, n, bytes), b = extended(b, n, bytes);
  ptx::Mods mods;
  using P = llvm::CmpInst;
  switch (i.getPredicate()) {
    case P::ICMP_EQ: mods.compare = Compare::eq; break;
    case P::ICMP_NE: mods.compare = Compare::ne; break;
    case P::ICMP_ULT:
    case P::ICMP_SLT: mods.compare = Compare::lt; break;
    case P::ICMP_ULE:
    case P::ICMP_SLE: mods.compare = Compare::le; break;
    case P::ICMP_UGT:
    case P::ICMP_SGT: mods.compare = Compare::gt; break;
    default: mods.compare = Compare::ge; break;
  }
  emit(Op::setp, integer(bytes, i.isSigned()), define(i), {a, b}, mods);
}

void Lowerer::compare_floats(llvm::FCmpInst& i) {
  ptx::Mods mods;
  using P = llvm::CmpInst;
  switch (i.getPredicate()) {
    case P::FCMP_OEQ: mods.compare = Compare::eq; break;
    case P::FCMP_ONE: mods.compare = Compare::ne; break;
    case P::FCMP_OLT: mods.compare = Compare::lt; break;
    case P::FCMP_OLE: mods.compare = Compare::le; break;
    case P::FCMP_OGT: mods.compare = Compare::gt; break;
    case P::FCMP_OGE: mods.compare = Compare::ge; break;
    case P::FCMP_UEQ: mods.compare = Compare::equ; break;
    case P::FCMP_UNE: mods.compare = Compare::neu; break;
    case P::FCMP_ULT: mods.compare = Compare::ltu; break;
    case P::FCMP_ULE: mods.compare = Compare::leu; break;
    case P::FCMP_UGT: mods.compare = Compare::gtu; break;
    case P::FCMP_UGE: mods.compare = Compare::geu; break;
    case P::FCMP_ORD: mods.compare = Compare::num; break;
    case P::FCMP_UNO: mods.compare = Compare::nan; break;
    default: give_up("a comparison that is a constant");
  }
  emit(Op::setp, float_type(*i.getOperand(0)), define(i),
       {operand(i.getOperand(0)), operand(i.getOperand(1))}, mods);
}

void Lowerer::select(llvm::SelectInst& i) {
  if (i.getCondition()->getType()->isVectorTy()) give_up("a selection of vectors");
  Operand p = operand(i.getCondition());
  if (i.getType()->isIntegerTy(1)) {
    auto constant = [](const Value* v) { return llvm::dyn_cast<llvm::ConstantInt>(v); };
    if (auto* c = constant(i.getFalseValue()); c && c->isZero())
      return emit(Op::and_, Type::pred, define(i), {p, operand(i.getTrueValue())});
    if (auto* c = constant(i.getTrueValue()); c && c->isOne())
      return emit(Op::or_, Type::pred, define(i), {p, operand(i.getFalseValue())});
    Operand a = operand(i.getTrueValue()), b = operand(i.getFalseValue()), not_p = p;
    not_p.negated = !p.negated;
    Operand x = new_predicate(), y = new_predicate();
    emit(Op::and_, Type::pred, x, {p, a});
    emit(Op::and_, Type::pred, y, {not_p, b});
    return emit(Op::or_, Type::pred, define(i), {x, y});
  }
  const Parts a = parts(i.getTrueValue());
  const Parts b = parts(i.getFalseValue());
  Parts out = registers_for(i.getType());
  for (std::size_t k = 0; k < out.size(); ++k)
    p.negated ? emit(Op::selp, bits(out[k].bytes), out[k], {b[k], a[k], positive(p)})
              : emit(Op::selp, bits(out[k].bytes), out[k], {a[k], b[k], p});
  alias(i, std::move(out));
}

Operand Lowerer::positive(Operand p) {
  p.negated = false;
  return p;
}

void Lowerer::convert_integer(llvm::CastInst& i) {
  using I = llvm::Instruction;
  llvm::Type *from = i.getOperand(0)->getType(), *to = i.getType();
  if (to->isVectorTy()) give_up("a conversion of vectors");
  const unsigned n = bits_of(to), bytes = container(n), m = bits_of(from), source_bytes = container(m);
  Operand a = operand(i.getOperand(0));
  if (from->isIntegerTy(1)) {
    const std::uint64_t one = i.getOpcode() == I::SExt ? ~std::uint64_t{0} : 1;
    const std::uint64_t value = n == 64 ? one : one & ((std::uint64_t{1} << n) - 1);
    if (a.negated)
      return emit(Op::selp, bits(bytes), define(i), {number(0, bytes), number(value, bytes), positive(a)});
    return emit(Op::selp, bits(bytes), define(i), {number(value, bytes), number(0, bytes), a});
  }
  if (i.getOpcode() == I::Trunc) {
    if (n == 1) {
      Operand bit = new_register(source_bytes);
      emit(Op::and_, bits(source_bytes), bit, {a, number(1, source_bytes)});
      ptx::Mods mods;
      mods.compare = Compare::ne;
      return emit(Op::setp, integer(source_bytes), define(i), {bit, number(0, source_bytes)}, mods);
    }
    if (unpacks(i)) return;
    Operand out = a;
    if (bytes != source_bytes) {
      out = new_register(bytes);
      emit(Op::cvt, integer(bytes), out, {a}, {}, integer(source_bytes));
    }
    if (n == bytes * 8) return alias(i, {out});
    return emit(Op::and_, bits(bytes), define(i), {out, number((std::uint64_t{1} << n) - 1, bytes)});
  }
  if (i.getOpcode() == I::ZExt) {
    if (bytes == source_bytes) return alias(i, {a});
    return emit(Op::cvt, integer(bytes), define(i), {a}, {}, integer(source_bytes));
  }
  if (m == 8) return extended_byte(i, a, n, bytes);
  a = extended(a, m, source_bytes);
  if (bytes != source_bytes) {
    Operand out = new_register(bytes);
    emit(Op::cvt, integer(bytes, true), out, {a}, {}, integer(source_bytes, true));
    a = out;
  }
  if (n == bytes * 8) return alias(i, {a});
  emit(Op::and_, bits(bytes), define(i), {a, number((std::uint64_t{1} << n) - 1, bytes)});
}

void Lowerer::extended_byte(llvm::CastInst& i, const Operand& a, unsigned n, unsigned bytes) {
  Operand out = new_register(bytes);
  emit(Op::cvt, integer(bytes, true), out, {a}, {}, Type::s8);
  if (n == bytes * 8) return alias(i, {out});
  emit(Op::and_, bits(bytes), define(i), {out, number((std::uint64_t{1} << n) - 1, bytes)});
}

bool Lowerer::unpacks(llvm::CastInst& i) {
  using namespace llvm::PatternMatch;
  Value* whole = nullptr;
  if (!i.getType()->isIntegerTy(32) || !match(i.getOperand(0), m_LShr(m_Value(whole), m_SpecificInt(32))) ||
      !whole->getType()->isIntegerTy(64))
    return false;
  Inst inst = begin(Op::mov, Type::b64);
  add_dst(inst, new_register(4));
  add_dst(inst, define(i));
  add_src(inst, operand(whole));
  finish(inst);
  return true;
}

void Lowerer::convert_float(llvm::CastInst& i) {
  using I = llvm::Instruction;
  ptx::Mods mods;
  Operand a = operand(i.getOperand(0));
  llvm::Type* from = i.getOperand(0)->getType();
  if (i.getOpcode() == I::FPExt) return emit(Op::cvt, Type::f64, define(i), {a}, mods, Type::f32);
  mods.rounding = ptx::Rounding::rn;
  if (i.getOpcode() == I::FPTrunc) return emit(Op::cvt, Type::f32, define(i), {a}, mods, Type::f64);
  const bool sign = i.getOpcode() == I::SIToFP;
  if (from->isIntegerTy(1)) {
    Operand n = new_register(4);
    emit(Op::selp, Type::b32, n, {number(sign ? 0xffffffffu : 1, 4), number(0, 4), a});
    return emit(Op::cvt, float_type(i), define(i), {n}, mods, integer(4, sign));
  }
  const unsigned m = bits_of(from), bytes = container(m);
  if (sign) a = extended(a, m, bytes);
  emit(Op::cvt, float_type(i), define(i), {in_a_register(a)}, mods, integer(bytes, sign));
}

}  // namespace simtlab::optimiser

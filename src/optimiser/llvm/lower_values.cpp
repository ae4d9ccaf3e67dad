// Registers, constants, addresses, and how an instruction is written.
#include <fmt/format.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>

#include "optimiser/llvm/lowerer.h"
#include "ptx/opcodes.h"

namespace simtlab::optimiser {
unsigned Lowerer::bits_of(const llvm::Type* t) const {
  if (t->isPointerTy()) return 64;
  const auto bits = static_cast<unsigned>(t->getPrimitiveSizeInBits().getFixedValue());
  if (bits == 0 || bits > 64) give_up("a value of an unusual width");
  return bits;
}

Operand Lowerer::new_register(unsigned bytes) {
  Operand o;
  o.kind = OperandKind::reg;
  o.bytes = static_cast<std::uint8_t>(bytes);
  o.index = static_cast<std::uint32_t>(types_.size());
  types_.push_back(bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64);
  return o;
}

Operand Lowerer::new_predicate() {
  Operand o;
  o.kind = OperandKind::pred;
  o.index = static_cast<std::uint32_t>(types_.size());
  types_.push_back(Type::pred);
  return o;
}

Operand Lowerer::new_value(llvm::Type* t) {
  return t->isIntegerTy(1) ? new_predicate() : new_register(container(bits_of(t)));
}

Parts Lowerer::registers_for(llvm::Type* t) {
  Parts out;
  if (auto* v = llvm::dyn_cast<llvm::FixedVectorType>(t)) {
    for (unsigned i = 0; i < v->getNumElements(); ++i) out.push_back(new_value(v->getElementType()));
  } else if (auto* s = llvm::dyn_cast<llvm::StructType>(t)) {
    for (llvm::Type* e : s->elements()) out.push_back(new_value(e));
  } else if (!t->isVoidTy()) {
    out.push_back(new_value(t));
  }
  return out;
}

Operand Lowerer::constant_of(const ptx::Constant& c, unsigned bytes) {
  const auto key = std::make_tuple(static_cast<int>(c.kind), c.symbol, c.value, bytes > 4);
  const auto [it, fresh] = constant_index_.try_emplace(key, static_cast<std::uint32_t>(constants_.size()));
  if (fresh) constants_.push_back(c);
  Operand o;
  o.kind = OperandKind::imm;
  o.bytes = static_cast<std::uint8_t>(bytes);
  o.index = it->second;
  return o;
}

Operand Lowerer::number(std::uint64_t value, unsigned bytes) {
  ptx::Constant c;
  c.value = bytes >= 8 ? value : value & ((std::uint64_t{1} << bytes * 8) - 1);
  return constant_of(c, bytes);
}

ptx::OpClass Lowerer::class_of(Op op, Type type, Type stype, const ptx::Mods& mods) {
  using R = ptx::ClassRule;
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::fma:
    case Op::neg:
    case Op::abs:
    case Op::min:
    case Op::max:
    case Op::setp: return ptx::class_of(R::by_type, type, stype, mods);
    case Op::mul:
      return is_float(type) ? ptx::class_of(R::by_type, type, stype, mods) : ptx::OpClass::int_mul;
    case Op::mad: return ptx::OpClass::int_mul;
    case Op::div:
      return is_float(type) ? ptx::class_of(R::float_div, type, stype, mods) : ptx::OpClass::int_div;
    case Op::popc:
    case Op::clz:
    case Op::brev:
    case Op::prmt: return ptx::OpClass::bit;
    case Op::cvt: return ptx::class_of(R::convert, type, stype, mods);
    case Op::ld: return ptx::class_of(R::load, type, stype, mods);
    case Op::st: return ptx::class_of(R::store, type, stype, mods);
    case Op::bra:
    case Op::ret:
    case Op::trap: return ptx::OpClass::control;
    default: return ptx::OpClass::int_alu;
  }
}

Inst Lowerer::begin(Op op, Type type) const {
  Inst inst;
  inst.op = op;
  inst.type = type;
  inst.line = at_.line, inst.column = at_.column, inst.file = at_.file, inst.source_line = at_.source_line;
  inst.guard = guard_;
  return inst;
}

void Lowerer::finish(Inst inst) {
  inst.op_class = class_of(inst.op, inst.type, inst.stype, inst.mods);
  code_.push_back(inst);
}

void Lowerer::emit(Op op, Type type, const Operand& dst, std::initializer_list<Operand> sources,
                   const ptx::Mods& mods, Type stype) {
  Inst inst = begin(op, type);
  inst.stype = stype;
  inst.mods = mods;
  add_dst(inst, dst);
  for (const Operand& o : sources) add_src(inst, o);
  finish(inst);
}

Type Lowerer::integer(unsigned bytes, bool sign) {
  if (sign) return bytes == 1 ? Type::s8 : bytes == 2 ? Type::s16 : bytes == 4 ? Type::s32 : Type::s64;
  return bytes == 1 ? Type::u8 : bytes == 2 ? Type::u16 : bytes == 4 ? Type::u32 : Type::u64;
}

void Lowerer::copy(const Operand& to, const Operand& from) {
  if (to == from) return;
  emit(Op::mov, to.kind == OperandKind::pred ? Type::pred : bits(to.bytes), to, {from});
}

void Lowerer::at(const llvm::Instruction& i) {
  const llvm::DebugLoc& loc = i.getDebugLoc();
  const unsigned line = loc ? loc.getLine() : 0;
  if (line == 0 || line > lifted_.lines.size()) return;
  const auto& [function, pc] = lifted_.lines[line - 1];
  const Inst& source = function->fn.code[pc];
  at_ = {source.line, source.column, source.file, source.source_line};
}

Operand Lowerer::constant_value(const llvm::Constant& c) {
  llvm::Type* t = c.getType();
  if (auto* i = llvm::dyn_cast<llvm::ConstantInt>(&c)) {
    if (t->isIntegerTy(1)) return constant_predicate(i->isOne());
    return number(i->getZExtValue(), container(bits_of(t)));
  }
  if (auto* f = llvm::dyn_cast<llvm::ConstantFP>(&c))
    return number(f->getValueAPF().bitcastToAPInt().getZExtValue(), container(bits_of(t)));
  if (llvm::isa<llvm::UndefValue>(c) || llvm::isa<llvm::ConstantPointerNull>(c)) {
    if (t->isIntegerTy(1)) return constant_predicate(false);
    return number(0, container(bits_of(t)));
  }
  if (auto* e = llvm::dyn_cast<llvm::ConstantExpr>(&c)) return expression(*e);
  give_up("a constant of an unusual kind");
}

Operand Lowerer::constant_predicate(bool value) {
  Operand p = new_predicate();
  ptx::Mods mods;
  mods.compare = value ? Compare::eq : Compare::ne;
  emit(Op::setp, Type::u32, p, {number(0, 4), number(0, 4)}, mods);
  return p;
}

Operand Lowerer::expression(const llvm::ConstantExpr& e) {
  switch (e.getOpcode()) {
    case llvm::Instruction::PtrToInt: return in_register(address(e.getOperand(0)));
    case llvm::Instruction::Add: {
      Operand a = operand(e.getOperand(0));
      if (auto* n = llvm::dyn_cast<llvm::ConstantInt>(e.getOperand(1)); n && a.kind == OperandKind::imm) {
        ptx::Constant c = constants_[a.index];
        c.value += n->getZExtValue();
        return constant_of(c, a.bytes);
      }
      Operand out = new_register(8);
      emit(Op::add, Type::u64, out, {a, operand(e.getOperand(1))});
      return out;
    }
    case llvm::Instruction::Sub: {
      Operand out = new_register(8);
      emit(Op::sub, Type::u64, out, {operand(e.getOperand(0)), operand(e.getOperand(1))});
      return out;
    }
    default: give_up("an expression of constants");
  }
}

const Parts& Lowerer::parts(const Value* v) {
  if (auto it = values_.find(v); it != values_.end()) return it->second;
  if (auto* c = llvm::dyn_cast<llvm::Constant>(v)) {
    // Made where it is used: what is emitted for one use may not be passed on the way to another.
    Parts made;
    if (auto* t = llvm::dyn_cast<llvm::FixedVectorType>(c->getType())) {
      for (unsigned i = 0; i < t->getNumElements(); ++i)
        made.push_back(constant_value(*c->getAggregateElement(i)));
    } else {
      made.push_back(constant_value(*c));
    }
    return scratch_ = std::move(made);
  }
  if (v->getType()->isPointerTy()) {
    const Operand made = in_register(address(v));
    return scratch_ = {made};
  }
  give_up(fmt::format("a value without a register: {}", v->getName().str()));
}

Operand Lowerer::in_a_register(Operand o) {
  if (o.kind != OperandKind::imm) return o;
  Operand r = new_register(o.bytes);
  copy(r, o);
  return r;
}

Operand Lowerer::define(const llvm::Instruction& i) {
  Parts& p = values_[&i];
  p = registers_for(i.getType());
  return p.front();
}

void Lowerer::lay_out_frame() {
  for (llvm::BasicBlock& block : function_)
    for (llvm::Instruction& i : block)
      if (auto* a = llvm::dyn_cast<llvm::AllocaInst>(&i)) {
        const std::uint64_t bytes = layout_.getTypeAllocSize(a->getAllocatedType());
        const std::uint64_t align = a->getAlign().value();
        frame_bytes_ = static_cast<std::uint32_t>((frame_bytes_ + align - 1) / align * align);
        frame_[a] = frame_bytes_;
        frame_bytes_ += static_cast<std::uint32_t>(bytes);
      }
  frame_bytes_ = (frame_bytes_ + 15) / 16 * 16;
}

Address Lowerer::address(const Value* p) {
  if (auto it = addresses_.find(p); it != addresses_.end()) return it->second;
  if (auto it = values_.find(p); it != values_.end()) {
    Address a = unknown(p);
    a.base = it->second.front();
    return a;
  }
  if (auto* a = llvm::dyn_cast<llvm::AllocaInst>(p)) {
    Address out;
    out.space = Space::local, out.frame = true, out.offset = frame_.at(a);
    return out;
  }
  if (auto* g = llvm::dyn_cast<llvm::GlobalVariable>(p)) {
    Address out;
    out.space = space_of(g->getType()->getPointerAddressSpace());
    if (g->getName().starts_with("space.")) return out;
    out.base = constant_of(lifted_.symbols.at(g->getName().str()), 8);
    return out;
  }
  if (auto* e = llvm::dyn_cast<llvm::ConstantExpr>(p);
      e != nullptr && e->getOpcode() == llvm::Instruction::IntToPtr) {
    Address out;
    out.space = space_of(p->getType()->getPointerAddressSpace());
    add_index(out, e->getOperand(0), 1);
    return out;
  }
  if (auto* gep = llvm::dyn_cast<llvm::GEPOperator>(p)) {  // a constant expression
    Address out = address(gep->getPointerOperand());
    add_indices(out, *gep);
    return out;
  }
  give_up("an address of an unusual kind");
}

Address Lowerer::unknown(const Value* p) const {
  Address a;
  a.space = space_of(p->getType()->getPointerAddressSpace());
  if (a.space == Space::generic && of_frame(p)) a.space = Space::local;
  return a;
}

bool Lowerer::of_frame(const Value* p) {
  llvm::SmallVector<const Value*, 4> objects;
  llvm::getUnderlyingObjects(p, objects, nullptr, 0);
  const auto is_frame = [](const Value* o) { return llvm::isa<llvm::AllocaInst>(o); };
  const bool all = std::ranges::all_of(objects, is_frame);
  if (!all && std::ranges::any_of(objects, is_frame)) give_up("an address in the frame or elsewhere");
  return !objects.empty() && all;
}

Space Lowerer::space_of(unsigned number) {
  switch (number) {
    case global_space: return Space::global;
    case shared_space: return Space::shared;
    case constant_space: return Space::constant;
    case param_space: return Space::param;
    case local_space: return Space::local;
    default: return Space::generic;
  }
}

void Lowerer::add_indices(Address& out, const llvm::GEPOperator& gep) {
  const unsigned width = layout_.getIndexTypeSizeInBits(gep.getType());
  llvm::MapVector<Value*, llvm::APInt> variables;
  llvm::APInt fixed(width, 0);
  if (!gep.collectOffset(layout_, width, variables, fixed)) give_up("an address of an unusual kind");
  out.offset += fixed.getSExtValue();
  for (auto& [index, scale] : variables) add_index(out, index, scale.getSExtValue());
}

void Lowerer::add_index(Address& out, Value* index, std::int64_t scale) {
  using namespace llvm::PatternMatch;
  Value* inner = nullptr;
  const llvm::APInt* c = nullptr;
  while (match(index, m_AddLike(m_Value(inner), m_APInt(c)))) {
    out.offset += c->getSExtValue() * scale;
    index = inner;
  }
  if (auto* n = llvm::dyn_cast<llvm::ConstantInt>(index)) {
    out.offset += n->getSExtValue() * scale;
    return;
  }
  Operand x = operand(index);
  if (scale != 1) {
    Operand product = new_register(8);
    ptx::Mods mods;
    const bool power = scale > 0 && (scale & (scale - 1)) == 0;
    if (power) {
      emit(Op::shl, Type::b64, product,
           {x, number(static_cast<std::uint64_t>(__builtin_ctzll(static_cast<std::uint64_t>(scale))), 4)});
    } else {
      mods.mul = ptx::MulMode::lo;
      emit(Op::mul, Type::s64, product, {x, number(static_cast<std::uint64_t>(scale), 8)}, mods);
    }
    x = product;
  }
  if (out.base.kind == OperandKind::none && !out.frame) {
    out.base = x;
    return;
  }
  Operand sum = new_register(8);
  if (out.frame) {
    Operand begin = frame_register(0);
    emit(Op::add, Type::u64, sum, {begin, x});
    out.frame = false;
  } else {
    emit(Op::add, Type::u64, sum, {out.base, x});
  }
  out.base = sum;
}

Operand Lowerer::frame_register(std::int64_t offset) {
  Operand r = new_register(8);
  Inst inst = begin(Op::mov, Type::u64);
  inst.frame_relative = true;
  add_dst(inst, r);
  add_src(inst, number(static_cast<std::uint64_t>(offset), 8));
  finish(inst);
  return r;
}

Operand Lowerer::in_register(const Address& a) {
  if (a.frame) return frame_register(a.offset);
  if (a.base.kind == OperandKind::none) return number(static_cast<std::uint64_t>(a.offset), 8);
  if (a.offset == 0) return a.base;
  if (a.base.kind == OperandKind::imm) {
    ptx::Constant c = constants_[a.base.index];
    c.value += static_cast<std::uint64_t>(a.offset);
    return constant_of(c, 8);
  }
  Operand r = new_register(8);
  emit(Op::add, Type::s64, r, {a.base, number(static_cast<std::uint64_t>(a.offset), 8)});
  return r;
}

void Lowerer::set_address(Inst& inst, const Address& a) {
  inst.mods.space = a.space;
  inst.frame_relative = a.frame;
  if (a.frame) return add_src(inst, number(static_cast<std::uint64_t>(a.offset), 8));
  if (a.base.kind == OperandKind::none) return add_src(inst, number(static_cast<std::uint64_t>(a.offset), 8));
  add_src(inst, a.base);
  inst.imm_offset = a.offset;
}

}  // namespace simtlab::optimiser

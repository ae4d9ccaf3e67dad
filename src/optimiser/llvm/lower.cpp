#include "optimiser/llvm/lower.h"

#include <fmt/format.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "ptx/opcodes.h"

namespace simtlab::optimiser {
namespace {

using llvm::Value;
using ptx::Compare;
using ptx::Inst;
using ptx::Op;
using ptx::Operand;
using ptx::OperandKind;
using ptx::Space;
using ptx::Type;
using Parts = std::vector<Operand>;

// An address: of a state space, or in the frame. The register may be absent.
struct Address {
  Space space = Space::generic;
  bool frame = false;
  Operand base;
  std::int64_t offset = 0;
};

class Lowerer {
 public:
  explicit Lowerer(const Lifted& lifted)
      : lifted_(lifted), function_(*lifted.function), layout_(lifted.module->getDataLayout()) {}

  void run() {
    lay_out_frame();
    order_blocks();
    for (llvm::BasicBlock* block : order_)
      for (llvm::PHINode& phi : block->phis()) values_[&phi] = registers_for(phi.getType());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (predicated_.contains(order_[i])) continue;
      next_ = nullptr;
      for (std::size_t k = i + 1; k < order_.size() && next_ == nullptr; ++k)
        if (!predicated_.contains(order_[k])) next_ = order_[k];
      block(*order_[i]);
    }
    for (const auto& [pc, target] : branches_) code_[pc].target = start_.at(target);
  }

  // Definitions before uses, and a loop in one piece: of two ways, the one that stays in the loop comes first.
  void order_blocks() {
    const llvm::DominatorTree tree(function_);
    const llvm::LoopInfo loops(tree);
    std::map<const llvm::BasicBlock*, bool> seen;
    struct Visit {
      llvm::BasicBlock* block;
      std::vector<llvm::BasicBlock*> left;  // successors, the last one is visited first
    };
    std::vector<Visit> stack;
    const auto enter = [&](llvm::BasicBlock* b) {
      if (seen[b]) return;
      seen[b] = true;
      Visit v{b, {}};
      for (llvm::BasicBlock* s : llvm::successors(b)) v.left.push_back(s);
      std::stable_sort(v.left.begin(), v.left.end(), [&](auto* x, auto* y) { return loops.getLoopDepth(x) > loops.getLoopDepth(y); });
      stack.push_back(std::move(v));
    };
    enter(&function_.getEntryBlock());
    while (!stack.empty()) {
      if (stack.back().left.empty()) {
        order_.push_back(stack.back().block);
        stack.pop_back();
        continue;
      }
      llvm::BasicBlock* s = stack.back().left.back();
      stack.back().left.pop_back();
      enter(s);
    }
    std::reverse(order_.begin(), order_.end());
  }

  void store(ptx::VirtualFunction& f) {
    f.fn.code = std::move(code_);
    f.fn.constants = std::move(constants_);
    f.registers = std::move(types_);
    f.fn.frame_bytes = frame_bytes_;
    f.fn.branch_tables.clear();
    f.fn.call_sites.clear();
    f.callees.clear();
    f.shared_uses.clear();
  }

 private:
  [[noreturn]] static void give_up(std::string why) { throw GivenUp{std::move(why)}; }

  // ---- registers and constants ----

  static unsigned container(unsigned bits) { return bits <= 16 ? 2 : bits <= 32 ? 4 : 8; }
  unsigned bits_of(const llvm::Type* t) const {
    if (t->isPointerTy()) return 64;
    const auto bits = static_cast<unsigned>(t->getPrimitiveSizeInBits().getFixedValue());
    if (bits == 0 || bits > 64) give_up("a value of an unusual width");
    return bits;
  }
  Operand new_register(unsigned bytes) {
    Operand o;
    o.kind = OperandKind::reg;
    o.bytes = static_cast<std::uint8_t>(bytes);
    o.index = static_cast<std::uint32_t>(types_.size());
    types_.push_back(bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64);
    return o;
  }
  Operand new_predicate() {
    Operand o;
    o.kind = OperandKind::pred;
    o.index = static_cast<std::uint32_t>(types_.size());
    types_.push_back(Type::pred);
    return o;
  }
  Operand new_value(llvm::Type* t) {
    return t->isIntegerTy(1) ? new_predicate() : new_register(container(bits_of(t)));
  }
  Parts registers_for(llvm::Type* t) {
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
  Operand constant_of(const ptx::Constant& c, unsigned bytes) {
    const auto key = std::make_tuple(static_cast<int>(c.kind), c.symbol, c.value, bytes > 4);
    const auto [it, fresh] = constant_index_.try_emplace(key, static_cast<std::uint32_t>(constants_.size()));
    if (fresh) constants_.push_back(c);
    Operand o;
    o.kind = OperandKind::imm;
    o.bytes = static_cast<std::uint8_t>(bytes);
    o.index = it->second;
    return o;
  }
  Operand number(std::uint64_t value, unsigned bytes) {
    ptx::Constant c;
    c.value = bytes >= 8 ? value : value & ((std::uint64_t{1} << bytes * 8) - 1);
    return constant_of(c, bytes);
  }

  // ---- emission ----

  static ptx::OpClass class_of(Op op, Type type, Type stype, const ptx::Mods& mods) {
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
      case Op::div: return is_float(type) ? ptx::class_of(R::float_div, type, stype, mods) : ptx::OpClass::int_div;
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

  Inst begin(Op op, Type type) const {
    Inst inst;
    inst.op = op;
    inst.type = type;
    inst.line = line_, inst.column = column_, inst.file = file_, inst.source_line = source_line_;
    inst.guard = guard_;
    return inst;
  }
  void finish(Inst inst) {
    inst.op_class = class_of(inst.op, inst.type, inst.stype, inst.mods);
    code_.push_back(inst);
  }
  static void add_dst(Inst& inst, const Operand& o) { inst.dst[inst.dst_count++] = o; }
  static void add_src(Inst& inst, const Operand& o) { inst.src[inst.src_count++] = o; }
  void emit(Op op, Type type, const Operand& dst, std::initializer_list<Operand> sources, const ptx::Mods& mods = {},
            Type stype = Type::none) {
    Inst inst = begin(op, type);
    inst.stype = stype;
    inst.mods = mods;
    add_dst(inst, dst);
    for (const Operand& o : sources) add_src(inst, o);
    finish(inst);
  }
  static Type integer(unsigned bytes, bool sign = false) {
    if (sign) return bytes == 1 ? Type::s8 : bytes == 2 ? Type::s16 : bytes == 4 ? Type::s32 : Type::s64;
    return bytes == 1 ? Type::u8 : bytes == 2 ? Type::u16 : bytes == 4 ? Type::u32 : Type::u64;
  }
  static Type bits(unsigned bytes) { return bytes == 1 ? Type::b8 : bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64; }

  void copy(const Operand& to, const Operand& from) {
    if (to == from) return;
    emit(Op::mov, to.kind == OperandKind::pred ? Type::pred : bits(to.bytes), to, {from});
  }

  void at(const llvm::Instruction& i) {
    const llvm::DebugLoc& loc = i.getDebugLoc();
    const unsigned line = loc ? loc.getLine() : 0;
    if (line == 0 || line > lifted_.lines.size()) return;
    const auto& [function, pc] = lifted_.lines[line - 1];
    const Inst& source = function->fn.code[pc];
    line_ = source.line, column_ = source.column, file_ = source.file, source_line_ = source.source_line;
  }

  // ---- values ----

  Operand constant_value(const llvm::Constant& c) {
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
  Operand constant_predicate(bool value) {
    Operand p = new_predicate();
    ptx::Mods mods;
    mods.compare = value ? Compare::eq : Compare::ne;
    emit(Op::setp, Type::u32, p, {number(0, 4), number(0, 4)}, mods);
    return p;
  }
  // Addresses of variables, with sums.
  Operand expression(const llvm::ConstantExpr& e) {
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

  const Parts& parts(const Value* v) {
    if (auto it = values_.find(v); it != values_.end()) return it->second;
    if (auto* c = llvm::dyn_cast<llvm::Constant>(v)) {
      // Made where it is used: what is emitted for one use may not be passed on the way to another.
      Parts made;
      if (auto* t = llvm::dyn_cast<llvm::FixedVectorType>(c->getType())) {
        for (unsigned i = 0; i < t->getNumElements(); ++i) made.push_back(constant_value(*c->getAggregateElement(i)));
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
  Operand operand(const Value* v) { return parts(v).front(); }
  // Where the instruction takes registers only.
  Operand in_a_register(Operand o) {
    if (o.kind != OperandKind::imm) return o;
    Operand r = new_register(o.bytes);
    copy(r, o);
    return r;
  }
  Operand define(const llvm::Instruction& i) {
    Parts& p = values_[&i];
    p = registers_for(i.getType());
    return p.front();
  }
  void alias(const llvm::Instruction& i, Parts p) { values_[&i] = std::move(p); }

  // ---- frame and addresses ----

  void lay_out_frame() {
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

  Address address(const Value* p) {
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
    if (auto* e = llvm::dyn_cast<llvm::ConstantExpr>(p); e != nullptr && e->getOpcode() == llvm::Instruction::IntToPtr) {
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
  // Of a phi or a selection: the space of its type; an address in the frame was made a full one.
  Address unknown(const Value* p) const {
    Address a;
    a.space = space_of(p->getType()->getPointerAddressSpace());
    if (a.space == Space::generic && of_frame(p)) a.space = Space::local;
    return a;
  }
  static bool of_frame(const Value* p) {
    llvm::SmallVector<const Value*, 4> objects;
    llvm::getUnderlyingObjects(p, objects, nullptr, 0);
    const auto is_frame = [](const Value* o) { return llvm::isa<llvm::AllocaInst>(o); };
    const bool all = std::ranges::all_of(objects, is_frame);
    if (!all && std::ranges::any_of(objects, is_frame)) give_up("an address in the frame or elsewhere");
    return !objects.empty() && all;
  }
  static Space space_of(unsigned number) {
    switch (number) {
      case global_space: return Space::global;
      case shared_space: return Space::shared;
      case constant_space: return Space::constant;
      case param_space: return Space::param;
      case local_space: return Space::local;
      default: return Space::generic;
    }
  }

  void add_indices(Address& out, const llvm::GEPOperator& gep) {
    const unsigned width = layout_.getIndexTypeSizeInBits(gep.getType());
    llvm::MapVector<Value*, llvm::APInt> variables;
    llvm::APInt fixed(width, 0);
    if (!gep.collectOffset(layout_, width, variables, fixed)) give_up("an address of an unusual kind");
    out.offset += fixed.getSExtValue();
    for (auto& [index, scale] : variables) add_index(out, index, scale.getSExtValue());
  }
  void add_index(Address& out, Value* index, std::int64_t scale) {
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
        emit(Op::shl, Type::b64, product, {x, number(static_cast<std::uint64_t>(__builtin_ctzll(static_cast<std::uint64_t>(scale))), 4)});
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
  // The place of a byte of the frame in local memory.
  Operand frame_register(std::int64_t offset) {
    Operand r = new_register(8);
    Inst inst = begin(Op::mov, Type::u64);
    inst.frame_relative = true;
    add_dst(inst, r);
    add_src(inst, number(static_cast<std::uint64_t>(offset), 8));
    finish(inst);
    return r;
  }
  Operand in_register(const Address& a) {
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
  void set_address(Inst& inst, const Address& a) {
    inst.mods.space = a.space;
    inst.frame_relative = a.frame;
    if (a.frame) return add_src(inst, number(static_cast<std::uint64_t>(a.offset), 8));
    if (a.base.kind == OperandKind::none) return add_src(inst, number(static_cast<std::uint64_t>(a.offset), 8));
    add_src(inst, a.base);
    inst.imm_offset = a.offset;
  }

  // ---- blocks ----

  // A block that only its branch leads to and that leads to where the branch leads else, of few instructions without branches:
  // its instructions are guarded.
  bool can_predicate(const llvm::BasicBlock& block, const llvm::BasicBlock& other) const {
    if (block.getSinglePredecessor() == nullptr || block.getSingleSuccessor() != &other || &block == &other) return false;
    unsigned count = 0;
    for (const llvm::Instruction& i : block) {
      if (llvm::isa<llvm::PHINode>(i)) return false;
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&i)) {
        const Inst* op = operation(*call);
        if (op == nullptr && !llvm::isa<llvm::IntrinsicInst>(call)) return false;
        if (op != nullptr && call->isConvergent() && op->op != Op::st && op->op != Op::atom && op->op != Op::red) return false;
      }
      if (++count > 8) return false;
    }
    return true;
  }

  void block(llvm::BasicBlock& b) {
    start_[&b] = static_cast<std::uint32_t>(code_.size());
    body(b);
    llvm::Instruction& end = *b.getTerminator();
    at(end);
    if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(&end)) {
      if (branch->isUnconditional()) {
        phi_copies(b, *branch->getSuccessor(0));
        jump(*branch->getSuccessor(0));
        return;
      }
      return conditional(b, *branch);
    }
    if (llvm::isa<llvm::ReturnInst>(end)) {
      code_.push_back(finished(begin(Op::ret, Type::none)));
      return;
    }
    if (llvm::isa<llvm::UnreachableInst>(end)) {
      code_.push_back(finished(begin(Op::trap, Type::none)));
      return;
    }
    give_up("a terminator of an unusual kind");
  }
  static Inst finished(Inst inst) {
    inst.op_class = ptx::OpClass::control;
    return inst;
  }
  void jump(llvm::BasicBlock& target, const Operand& guard = {}) {
    if (&target == next_ && guard.kind == OperandKind::none) return;
    Inst inst = begin(Op::bra, Type::none);
    inst.guard = guard;
    branches_.emplace_back(static_cast<std::uint32_t>(code_.size()), &target);
    code_.push_back(finished(inst));
  }
  void conditional(llvm::BasicBlock& b, llvm::BranchInst& branch) {
    llvm::BasicBlock &yes = *branch.getSuccessor(0), &no = *branch.getSuccessor(1);
    Operand p = operand(branch.getCondition());
    Operand not_p = p;
    not_p.negated = !p.negated;
    if (&yes == &no) {
      phi_copies(b, yes);
      return jump(yes);
    }
    for (const bool first : {true, false}) {
      llvm::BasicBlock &inside = first ? yes : no, &other = first ? no : yes;
      if (start_.contains(&inside) || !can_predicate(inside, other)) continue;
      predicated_.insert({&inside, 1});
      guard_ = first ? p : not_p;
      body(inside);
      Parts to, from;
      collect_copies(inside, other, to, from);
      Parts to_direct, from_direct;
      guard_ = first ? not_p : p;
      collect_copies(b, other, to_direct, from_direct);
      parallel(to_direct, from_direct);
      guard_ = first ? p : not_p;
      parallel(to, from);
      guard_ = {};
      return jump_behind(other, inside);
    }
    // Edges into blocks with phis are no critical ones: the copies of an edge belong to a block of its own.
    if (has_phis(yes) || has_phis(no)) give_up("a critical edge");
    if (&yes == next_) return jump(no, not_p);
    jump(yes, p);
    jump(no);
  }
  static bool has_phis(const llvm::BasicBlock& b) { return b.phis().begin() != b.phis().end(); }
  // The next block may have been taken in.
  void jump_behind(llvm::BasicBlock& target, const llvm::BasicBlock& taken) {
    if (next_ == &taken) {
      const auto it = std::find(order_.begin(), order_.end(), &taken);
      next_ = nullptr;
      for (auto k = it + 1; k != order_.end() && next_ == nullptr; ++k)
        if (!predicated_.contains(*k)) next_ = *k;
    }
    jump(target);
  }

  void collect_copies(const llvm::BasicBlock& from, llvm::BasicBlock& to, Parts& targets, Parts& sources) {
    for (llvm::PHINode& phi : to.phis()) {
      const Value* v = phi.getIncomingValueForBlock(&from);
      if (llvm::isa<llvm::UndefValue>(v)) continue;
      const Parts value = parts(v);
      const Parts& target = values_.at(&phi);
      for (std::size_t i = 0; i < target.size(); ++i) {
        if (target[i] == value[i]) continue;
        targets.push_back(target[i]);
        sources.push_back(value[i]);
      }
    }
  }
  void phi_copies(const llvm::BasicBlock& from, llvm::BasicBlock& to) {
    Parts targets, sources;
    collect_copies(from, to, targets, sources);
    parallel(targets, sources);
  }
  // All at once: a target that another copy still reads comes later, a cycle goes through a temporary.
  void parallel(Parts& targets, Parts& sources) {
    const auto same = [](const Operand& a, const Operand& b) {
      const auto reg = [](const Operand& o) { return o.kind == OperandKind::reg || o.kind == OperandKind::pred; };
      return reg(a) && reg(b) && a.index == b.index;
    };
    std::map<std::uint32_t, unsigned> readers;
    for (const Operand& s : sources)
      if (s.kind == OperandKind::reg || s.kind == OperandKind::pred) ++readers[s.index];
    std::vector<std::size_t> ready;
    std::vector<bool> done(targets.size(), false);
    std::map<std::uint32_t, std::size_t> writer;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      writer[targets[i].index] = i;
      if (!readers.contains(targets[i].index)) ready.push_back(i);
    }
    std::size_t left = targets.size(), scan = 0;
    while (left > 0) {
      while (!ready.empty()) {
        const std::size_t i = ready.back();
        ready.pop_back();
        copy(targets[i], sources[i]);
        done[i] = true;
        --left;
        const Operand& s = sources[i];
        if (s.kind != OperandKind::reg && s.kind != OperandKind::pred) continue;
        if (--readers[s.index] == 0 && writer.contains(s.index) && !done[writer[s.index]]) ready.push_back(writer[s.index]);
      }
      if (left == 0) break;
      while (done[scan]) ++scan;
      // A cycle: keep the value that this copy would destroy.
      const Operand old = targets[scan];
      const Operand kept = old.kind == OperandKind::pred ? new_predicate() : new_register(old.bytes);
      copy(kept, old);
      for (std::size_t k = 0; k < sources.size(); ++k)
        if (!done[k] && same(sources[k], old)) {
          const bool negated = sources[k].negated;
          sources[k] = kept;
          sources[k].negated = negated;
        }
      readers[kept.index] = readers[old.index];
      readers[old.index] = 0;
      ready.push_back(scan);
    }
  }

  void body(llvm::BasicBlock& b) {
    for (llvm::Instruction& i : b) {
      if (i.isTerminator() || llvm::isa<llvm::PHINode>(i)) continue;
      at(i);
      instruction(i);
    }
  }

  // ---- instructions ----

  const Inst* operation(const llvm::CallInst& call) const {
    const llvm::Function* callee = call.getCalledFunction();
    if (callee == nullptr || !callee->getName().starts_with("op.")) return nullptr;
    unsigned n = 0;
    callee->getName().drop_front(3).getAsInteger(10, n);
    return &lifted_.operations[n];
  }
  const std::vector<ptx::Constant>& constants_behind(const llvm::CallInst& call) const {
    unsigned n = 0;
    call.getCalledFunction()->getName().drop_front(3).getAsInteger(10, n);
    return lifted_.owners[n]->fn.constants;
  }

  void instruction(llvm::Instruction& i) {
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
      case I::BitCast:
      case I::Freeze:
        if (i.getType()->isVectorTy() != i.getOperand(0)->getType()->isVectorTy()) give_up("a vector as a number");
        if (i.getType()->isVectorTy() && i.getOpcode() == I::BitCast &&
            llvm::cast<llvm::FixedVectorType>(i.getType())->getNumElements() !=
                llvm::cast<llvm::FixedVectorType>(i.getOperand(0)->getType())->getNumElements())
          give_up("a vector cut otherwise");
        return alias(i, parts(i.getOperand(0)));
      case I::IntToPtr: {
        Address a;
        a.space = space_of(i.getType()->getPointerAddressSpace());
        add_index(a, i.getOperand(0), 1);
        addresses_[&i] = a;
        return;
      }
      case I::PtrToInt: return alias(i, {in_register(address(i.getOperand(0)))});
      case I::ExtractValue:
        return alias(i, {parts(i.getOperand(0)).at(llvm::cast<llvm::ExtractValueInst>(i).getIndices().front())});
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

  static Type float_type(const Value& v) { return v.getType()->isDoubleTy() ? Type::f64 : Type::f32; }

  void binary(llvm::BinaryOperator& i) {
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
  void masked(llvm::Instruction& i, Op op, Type type, std::initializer_list<Operand> sources, const ptx::Mods& mods, bool whole) {
    if (whole) return emit(op, type, define(i), sources, mods);
    const unsigned n = bits_of(i.getType()), bytes = container(n);
    Operand t = new_register(bytes);
    emit(op, type, t, sources, mods);
    emit(Op::and_, bits(bytes), define(i), {t, number((std::uint64_t{1} << n) - 1, bytes)});
  }
  // With the sign of bit n - 1 in the whole container.
  Operand extended(const Operand& a, unsigned n, unsigned bytes) {
    if (n == bytes * 8) return a;
    Operand up = new_register(bytes), out = new_register(bytes);
    const Operand by = number(bytes * 8 - n, 4);
    emit(Op::shl, bits(bytes), up, {a, by});
    emit(Op::shr, integer(bytes, true), out, {up, by});
    return out;
  }
  // Amounts of shifts have 32 bits.
  Operand amount(const Operand& b) {
    if (b.kind == OperandKind::imm) return number(constants_[b.index].value, 4);
    if (b.bytes == 4) return b;
    Operand out = new_register(4);
    emit(Op::cvt, Type::u32, out, {b}, {}, integer(b.bytes));
    return out;
  }

  // (sign- or zero-extended 32 bits) * (the like, or a number that fits)
  bool wide_product(llvm::BinaryOperator& i) {
    using namespace llvm::PatternMatch;
    if (!i.getType()->isIntegerTy(64)) return false;
    for (const bool sign : {true, false}) {
      Value *a = nullptr, *b = nullptr;
      const llvm::APInt* c = nullptr;
      const auto ext = [&](Value* v, Value*& inner) {
        return (sign ? match(v, m_SExt(m_Value(inner))) : match(v, m_ZExt(m_Value(inner)))) && inner->getType()->isIntegerTy(32);
      };
      if (!ext(i.getOperand(0), a)) continue;
      ptx::Mods mods;
      mods.mul = ptx::MulMode::wide;
      Operand y;
      if (ext(i.getOperand(1), b))
        y = operand(b);
      else if (match(i.getOperand(1), m_APInt(c)) && (sign ? c->isSignedIntN(32) : c->isIntN(32)))
        y = number(c->getZExtValue(), 4);
      else
        continue;
      emit(Op::mul, sign ? Type::s32 : Type::u32, define(i), {operand(a), y}, mods);
      return true;
    }
    return false;
  }
  bool wide_shift(llvm::BinaryOperator& i) {
    using namespace llvm::PatternMatch;
    Value* a = nullptr;
    const llvm::APInt* c = nullptr;
    if (!i.getType()->isIntegerTy(64) || !match(i.getOperand(1), m_APInt(c)) || c->uge(31)) return false;
    const bool sign = match(i.getOperand(0), m_SExt(m_Value(a)));
    if (!sign && !match(i.getOperand(0), m_ZExt(m_Value(a)))) return false;
    if (!a->getType()->isIntegerTy(32)) return false;
    ptx::Mods mods;
    mods.mul = ptx::MulMode::wide;
    emit(Op::mul, sign ? Type::s32 : Type::u32, define(i), {operand(a), number(std::uint64_t{1} << c->getZExtValue(), 4)}, mods);
    return true;
  }
  // Two words put together.
  bool packs(llvm::BinaryOperator& i) {
    using namespace llvm::PatternMatch;
    Value *low = nullptr, *high = nullptr;
    if (!i.getType()->isIntegerTy(64) ||
        !match(&i, m_c_Or(m_ZExt(m_Value(low)), m_Shl(m_ZExt(m_Value(high)), m_SpecificInt(32)))))
      return false;
    if (!low->getType()->isIntegerTy(32) || !high->getType()->isIntegerTy(32)) return false;
    emit(Op::mov, Type::b64, define(i), {operand(low), operand(high)});
    return true;
  }

  void predicates(llvm::BinaryOperator& i) {
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
    if (i.getOpcode() != I::And && i.getOpcode() != I::Or && i.getOpcode() != I::Xor) give_up("a sum of predicates");
    emit(op, Type::pred, define(i), {a, b});
  }

  void compare(llvm::ICmpInst& i) {
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
  void compare_floats(llvm::FCmpInst& i) {
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
    emit(Op::setp, float_type(*i.getOperand(0)), define(i), {operand(i.getOperand(0)), operand(i.getOperand(1))}, mods);
  }

  void select(llvm::SelectInst& i) {
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
  static Operand positive(Operand p) {
    p.negated = false;
    return p;
  }

  void convert_integer(llvm::CastInst& i) {
    using I = llvm::Instruction;
    llvm::Type *from = i.getOperand(0)->getType(), *to = i.getType();
    if (to->isVectorTy()) give_up("a conversion of vectors");
    const unsigned n = bits_of(to), bytes = container(n), m = bits_of(from), source_bytes = container(m);
    Operand a = operand(i.getOperand(0));
    if (from->isIntegerTy(1)) {
      const std::uint64_t one = i.getOpcode() == I::SExt ? ~std::uint64_t{0} : 1;
      const std::uint64_t value = n == 64 ? one : one & ((std::uint64_t{1} << n) - 1);
      if (a.negated) return emit(Op::selp, bits(bytes), define(i), {number(0, bytes), number(value, bytes), positive(a)});
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
  void extended_byte(llvm::CastInst& i, const Operand& a, unsigned n, unsigned bytes) {
    Operand out = new_register(bytes);
    emit(Op::cvt, integer(bytes, true), out, {a}, {}, Type::s8);
    if (n == bytes * 8) return alias(i, {out});
    emit(Op::and_, bits(bytes), define(i), {out, number((std::uint64_t{1} << n) - 1, bytes)});
  }
  // The upper word of 64 bits.
  bool unpacks(llvm::CastInst& i) {
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

  void convert_float(llvm::CastInst& i) {
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

  // ---- memory ----

  struct Access {
    unsigned count = 1, bytes = 4;
  };
  Access access_of(llvm::Type* t) const {
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
  void load(llvm::LoadInst& i) {
    const Access a = access_of(i.getType());
    Inst inst = begin(Op::ld, is_fp(i.getType()) ? (a.bytes == 8 ? Type::f64 : Type::f32) : a.bytes == 1 ? Type::u8 : bits(a.bytes));
    const Address where = address(i.getPointerOperand());
    set_address(inst, where);
    inst.mods.vector = static_cast<std::uint8_t>(a.count);
    if (where.space == Space::global && i.hasMetadata(llvm::LLVMContext::MD_invariant_load)) inst.mods.cache = ptx::CacheOp::nc;
    Parts p = registers_for(i.getType());
    for (const Operand& o : p) add_dst(inst, o);
    finish(inst);
    alias(i, std::move(p));
  }
  static bool is_fp(const llvm::Type* t) { return t->getScalarType()->isFloatingPointTy(); }
  void store_value(llvm::StoreInst& i) {
    llvm::Type* t = i.getValueOperand()->getType();
    const Access a = access_of(t);
    const Parts values = parts(i.getValueOperand());
    const Address where = address(i.getPointerOperand());
    Inst inst = begin(Op::st, is_fp(t) ? (a.bytes == 8 ? Type::f64 : Type::f32) : a.bytes == 1 ? Type::u8 : bits(a.bytes));
    set_address(inst, where);
    inst.mods.vector = static_cast<std::uint8_t>(a.count);
    for (Operand o : values) {
      if (o.kind == OperandKind::none) o = number(0, container(a.bytes * 8));
      if (a.bytes == 1 && o.kind == OperandKind::imm) o = number(constants_[o.index].value, 1);
      add_src(inst, o);
    }
    finish(inst);
  }

  // ---- calls ----

  void call(llvm::CallInst& i) {
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

  void operation(llvm::CallInst& i, const Inst& pattern) {
    Inst inst = pattern;
    inst.line = line_, inst.column = column_, inst.file = file_, inst.source_line = source_line_;
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

  void known(llvm::IntrinsicInst& i) {
    namespace N = llvm::Intrinsic;
    const unsigned id = i.getIntrinsicID();
    if (id == N::assume || id == N::lifetime_start || id == N::lifetime_end || id == N::experimental_noalias_scope_decl ||
        llvm::isa<llvm::DbgInfoIntrinsic>(i))
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
        if (bytes != 4) give_up("a rotation of 64 bits");
        mods.left = id == N::fshl;
        mods.wrap = true;
        return emit(Op::shf, Type::b32, define(i), {arg(1), arg(0), arg(2)}, mods);
      }
      case N::usub_sat: {  // max(a, b) - b
        Operand larger = new_register(bytes);
        emit(Op::max, integer(bytes), larger, {arg(0), arg(1)});
        return emit(Op::sub, integer(bytes), define(i), {larger, arg(1)});
      }
      default: give_up(fmt::format("'{}' of LLVM", N::getBaseName(id).str()));
    }
  }

  const Lifted& lifted_;
  llvm::Function& function_;
  const llvm::DataLayout& layout_;

  std::vector<Inst> code_;
  std::vector<ptx::Constant> constants_;
  std::map<std::tuple<int, std::uint32_t, std::uint64_t, bool>, std::uint32_t> constant_index_;
  std::vector<Type> types_;
  std::uint32_t frame_bytes_ = 0;
  std::map<const llvm::AllocaInst*, std::uint32_t> frame_;
  std::unordered_map<const Value*, Parts> values_;
  std::unordered_map<const Value*, Address> addresses_;
  Parts scratch_;
  std::vector<llvm::BasicBlock*> order_;
  std::map<const llvm::BasicBlock*, int> predicated_;
  std::map<const llvm::BasicBlock*, std::uint32_t> start_;
  std::vector<std::pair<std::uint32_t, llvm::BasicBlock*>> branches_;
  llvm::BasicBlock* next_ = nullptr;
  Operand guard_;
  std::uint32_t line_ = 0, column_ = 0, file_ = 0, source_line_ = 0;
};

}  // namespace

void lower(const Lifted& lifted, ptx::VirtualFunction& f) {
  Lowerer lowerer(lifted);
  lowerer.run();
  lowerer.store(f);
}

}  // namespace simtlab::optimiser

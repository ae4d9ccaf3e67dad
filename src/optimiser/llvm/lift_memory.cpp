// Addresses, loads and stores, and the operations that LLVM does not know.
#include <fmt/format.h>

#include "optimiser/llvm/lifter.h"
#include "ptx/special.h"

namespace simtlab::optimiser {
Effect effect_of(const Inst& inst) {
  switch (inst.op) {
    case Op::shfl:
    case Op::vote:
    case Op::match:
    case Op::redux:
    case Op::elect:
    case Op::activemask: return Effect::lanes;
    case Op::ld:
    case Op::ldu: return inst.mods.order == ptx::MemOrder::weak ? Effect::reads : Effect::memory;
    case Op::tex: return Effect::reads;
    case Op::st:
    case Op::atom:
    case Op::red:
    case Op::prefetch:
    case Op::prefetchu:
    case Op::cp_async:
    case Op::cp_async_commit:
    case Op::cp_async_wait:
    case Op::membar:
    case Op::fence:
    case Op::bar:
    case Op::bar_warp:
    case Op::nanosleep:
    case Op::vprintf:
    case Op::assertfail:
    case Op::heap_alloc:
    case Op::heap_free:
    case Op::pmevent:
    case Op::griddepcontrol:
    case Op::setmaxnreg: return Effect::memory;
    default: return inst.dst_count == 0 ? Effect::memory : Effect::none;  // what else would it be for?
  }
}

// Quotients and roots have a sequence for most operands and another one for the rest.
bool has_slow_path(const Inst& inst) {
  switch (inst.op) {
    case Op::div:
    case Op::rem:
      return ptx::is_float(inst.type) ? !inst.mods.approx && !inst.mods.full
                                      : ptx::size_of(inst.type) == 8 && inst.src[1].kind == OperandKind::reg;
    case Op::rcp: return !inst.mods.approx && !inst.mods.ftz;
    case Op::sqrt: return !inst.mods.approx;
    default: return false;
  }
}

bool Lifter::convert_address(const Inst& inst) {
  Value* a = inst.frame_relative ? b_.CreatePtrToInt(frame_at(inst), b_.getInt64Ty()) : src(inst, 0);
  const Space space = inst.mods.space;
  if (space != Space::shared && space != Space::local && space != Space::param) {
    write(inst.dst[0], a);
    return true;
  }
  if (space == Space::param) return false;
  const std::string name = fmt::format("cvta{}.{}", inst.mods.to ? ".to" : "", name_of(space));
  auto* callee = llvm::cast<llvm::Function>(
      out_.module
          ->getOrInsertFunction(name, llvm::FunctionType::get(b_.getInt64Ty(), {b_.getInt64Ty()}, false))
          .getCallee());
  pure(*callee);
  write(inst.dst[0], b_.CreateCall(callee, {a}));
  return true;
}

Value* Lifter::frame_at(const Inst& inst) {
  if (frame_->memory == nullptr) give_up("a frame of no bytes");
  Value* offset = raw(inst.src[0], b_.getInt64Ty());
  if (inst.imm_offset != 0)
    offset = b_.CreateAdd(offset, b_.getInt64(static_cast<std::uint64_t>(inst.imm_offset)));
  return b_.CreateGEP(b_.getInt8Ty(), frame_->memory, offset);
}

Value* Lifter::pointer(const Inst& inst) {
  if (inst.frame_relative) return frame_at(inst);
  const bool short_address = inst.src[0].bytes == 4 && inst.src[0].kind == OperandKind::reg;
  Value* address = raw(inst.src[0], b_.getIntNTy(short_address ? 32 : 64));
  if (short_address) address = b_.CreateZExt(address, b_.getInt64Ty());
  Value* p = nullptr;
  switch (inst.mods.space) {
    case Space::global: p = in_space("space.global", global_space, address); break;
    case Space::shared: p = in_space("space.shared", shared_space, address); break;
    case Space::constant: p = in_space("space.const", constant_space, address); break;
    case Space::param: p = in_space("space.param", param_space, address); break;
    case Space::local: p = b_.CreateIntToPtr(address, b_.getPtrTy(local_space)); break;
    default: p = b_.CreateIntToPtr(address, b_.getPtrTy(generic_space)); break;
  }
  if (inst.imm_offset != 0)
    p = b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(static_cast<std::uint64_t>(inst.imm_offset)));
  return p;
}

Value* Lifter::in_space(const char* name, unsigned number, Value* address) {
  return b_.CreateGEP(b_.getInt8Ty(), space_variable(*out_.module, name, number), address);
}

bool Lifter::plain_access(const Inst& inst) {
  const ptx::Mods& m = inst.mods;
  const bool usual = m.cache == ptx::CacheOp::none ||
                     (inst.op != Op::st && (m.cache == ptx::CacheOp::ca || m.cache == ptx::CacheOp::nc)) ||
                     (inst.op == Op::st && m.cache == ptx::CacheOp::wb);
  return usual && m.order == ptx::MemOrder::weak;
}

llvm::Type* Lifter::access_type(const Inst& inst) {
  llvm::Type* element = value_type(inst.type);
  return inst.mods.vector > 1 ? llvm::FixedVectorType::get(element, inst.mods.vector) : element;
}

bool Lifter::load(const Inst& inst) {
  if (!plain_access(inst) || size_of(inst.type) > 8) return false;
  llvm::LoadInst* v = b_.CreateAlignedLoad(access_type(inst), pointer(inst), alignment_of(inst));
  if (inst.mods.space == Space::param || inst.mods.space == Space::constant ||
      inst.mods.cache == ptx::CacheOp::nc || inst.op == Op::ldu)
    v->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  const bool sign = is_signed(inst.type) && !is_float(inst.type);
  if (inst.mods.vector == 1) {
    write(inst.dst[0], v, sign);
    return true;
  }
  for (unsigned i = 0; i < inst.dst_count; ++i) write(inst.dst[i], b_.CreateExtractElement(v, i), sign);
  return true;
}

bool Lifter::store(const Inst& inst) {
  if (!plain_access(inst) || size_of(inst.type) > 8) return false;
  llvm::Type* type = access_type(inst);
  Value* v = nullptr;
  if (inst.mods.vector == 1) {
    v = read(inst.src[1], inst.type);
  } else {
    v = llvm::PoisonValue::get(type);
    for (unsigned i = 0; i < inst.mods.vector; ++i)
      v = b_.CreateInsertElement(v, read(inst.src[1 + i], inst.type), i);
  }
  b_.CreateAlignedStore(v, pointer(inst), alignment_of(inst));
  return true;
}

std::string Lifter::key_of(const Inst& inst) {
  std::string out =
      fmt::format("{} {} {} {} {} {} {} {}", static_cast<int>(inst.op), static_cast<int>(inst.type),
                  static_cast<int>(inst.stype), inst.imm_offset, inst.frame_relative, inst.dst_count,
                  inst.src_count, static_cast<int>(inst.op_class));
  const ptx::Mods& m = inst.mods;
  out += fmt::format(" {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", static_cast<int>(m.rounding),
                     static_cast<int>(m.compare), static_cast<int>(m.bool_op), static_cast<int>(m.mul),
                     static_cast<int>(m.atom), static_cast<int>(m.shfl), static_cast<int>(m.vote),
                     static_cast<int>(m.cache), static_cast<int>(m.scope), static_cast<int>(m.order),
                     static_cast<int>(m.prmt), static_cast<int>(m.bar), static_cast<int>(m.geometry),
                     static_cast<int>(m.space), m.vector);
  out += fmt::format(" {}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{} {} {} {} {} {}", m.ftz, m.sat, m.approx, m.full,
                     m.relu, m.nan, m.xorsign, m.abs, m.uni, m.to, m.shift_amount, m.left, m.wrap, m.all,
                     m.aligned, m.wait_all, m.turns, m.testp, m.lut, m.copy_bytes, m.src_type_hi, m.video);
  for (unsigned i = 0; i < inst.dst_count; ++i)
    out += fmt::format(" d{}:{}", static_cast<int>(inst.dst[i].kind), inst.dst[i].bytes);
  for (unsigned i = 0; i < inst.src_count; ++i) {
    const ptx::Operand& o = inst.src[i];
    const bool reg = o.kind == OperandKind::reg || o.kind == OperandKind::pred;
    out += fmt::format(" s{}:{}:{}:{}", static_cast<int>(o.kind), o.bytes, o.negated, reg ? 0 : o.index);
  }
  return out;
}

llvm::Type* Lifter::bits_of(const ptx::Operand& o) {
  return o.kind == OperandKind::pred ? b_.getInt1Ty() : b_.getIntNTy(o.bytes * 8u);
}

void Lifter::opaque(const Inst& inst, Effect effect) {
  std::vector<Value*> arguments;
  std::vector<llvm::Type*> argument_types, results;
  for (unsigned i = 0; i < inst.src_count; ++i) {
    const ptx::Operand& o = inst.src[i];
    if (o.kind == OperandKind::special && ptx::is_clock(static_cast<ptx::Special>(o.index)))
      give_up("it reads the clock");
    if (o.kind != OperandKind::reg && o.kind != OperandKind::pred) continue;
    Value* v = o.kind == OperandKind::pred ? value_of(o) : as(value_of(o), b_.getIntNTy(o.bytes * 8u));
    arguments.push_back(v);
    argument_types.push_back(v->getType());
  }
  if (inst.frame_relative) give_up("an operation on the frame");
  for (unsigned i = 0; i < inst.dst_count; ++i)
    if (inst.dst[i].kind == OperandKind::reg || inst.dst[i].kind == OperandKind::pred)
      results.push_back(bits_of(inst.dst[i]));
  llvm::Type* result = results.empty() ? b_.getVoidTy()
                       : results.size() == 1
                           ? results.front()
                           : static_cast<llvm::Type*>(llvm::StructType::get(context_, results));
  std::string key = fmt::format("{} {}", static_cast<const void*>(&frame_->f), key_of(inst));
  const auto [it, fresh] =
      names_.try_emplace(std::move(key), static_cast<std::uint32_t>(out_.operations.size()));
  if (fresh) out_.operations.push_back(inst), out_.owners.push_back(&frame_->f);
  auto* callee = llvm::cast<llvm::Function>(
      out_.module
          ->getOrInsertFunction(fmt::format("op.{}", it->second),
                                llvm::FunctionType::get(result, argument_types, false))
          .getCallee());
  if (fresh) describe(*callee, effect);
  if (fresh && has_slow_path(inst)) callee->addFnAttr(divides_a_block);
  llvm::CallInst* call = b_.CreateCall(callee, arguments);
  unsigned n = 0;
  for (unsigned i = 0; i < inst.dst_count; ++i) {
    if (inst.dst[i].kind != OperandKind::reg && inst.dst[i].kind != OperandKind::pred) continue;
    write(inst.dst[i], results.size() == 1 ? static_cast<Value*>(call) : b_.CreateExtractValue(call, n));
    ++n;
  }
}

void Lifter::describe(llvm::Function& f, Effect effect) {
  f.setDoesNotThrow();
  f.addFnAttr(llvm::Attribute::NoFree);
  switch (effect) {
    case Effect::none: pure(f); break;
    case Effect::lanes:
      f.setConvergent();
      f.setWillReturn();
      f.setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
      break;
    case Effect::reads:
      f.setWillReturn();
      f.setOnlyReadsMemory();
      break;
    case Effect::memory: f.setConvergent(); break;
  }
}

}  // namespace simtlab::optimiser

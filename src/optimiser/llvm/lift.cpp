// Functions, blocks and branches; registers and operands.
#include "optimiser/llvm/lift.h"

#include <fmt/format.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "optimiser/llvm/lifter.h"
#include "optimiser/llvm/written_once.h"
#include "ptx/special.h"

namespace simtlab::optimiser {
namespace {

// Largest value and one, of special registers that LLVM gains from knowing.
std::uint64_t bound_of(ptx::Special s) {
  switch (s) {
    case ptx::Special::tid_x:
    case ptx::Special::tid_y: return 1024;
    case ptx::Special::tid_z: return 64;
    case ptx::Special::ntid_x:
    case ptx::Special::ntid_y: return 1025;
    case ptx::Special::ntid_z: return 65;
    case ptx::Special::laneid: return 32;
    case ptx::Special::ctaid_x: return 0x7fffffffu;
    case ptx::Special::nctaid_x: return 0x80000000u;
    case ptx::Special::ctaid_y:
    case ptx::Special::ctaid_z: return 65535;
    case ptx::Special::nctaid_y:
    case ptx::Special::nctaid_z: return 65536;
    case ptx::Special::zero: return 1;
    default: return 0;
  }
}

}  // namespace

llvm::GlobalVariable* space_variable(llvm::Module& module, const char* name, unsigned number) {
  if (auto* known = module.getNamedGlobal(name)) return known;
  auto* out = new llvm::GlobalVariable(
      module, llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0), false,
      llvm::GlobalValue::ExternalLinkage, nullptr, name, nullptr, llvm::GlobalValue::NotThreadLocal, number);
  // Its address counts as 0.
  out->setAlignment(llvm::Align(1024));
  return out;
}

void Lifted::leave_out(std::string_view why) {
  if (left_out.find(why) != std::string::npos) return;
  if (!left_out.empty()) left_out += "; ";
  left_out += why;
}

Lifter::Lifter(const ptx::VirtualFunction& f, const Program& program, llvm::LLVMContext& context)
    : kernel_(f), program_of_(program), ptx_(program.module), context_(context), b_(context) {
  out_.module = std::make_unique<llvm::Module>("kernel", context);
  // Pointers of 64 bits everywhere; integers of 16 and 32 bits are what registers hold, so
  // that no counter of a loop is made wider.
  out_.module->setDataLayout("e-i64:64-i128:128-v16:16-v32:32-n16:32");
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), false);
  out_.function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "kernel", *out_.module);
  out_.function->addFnAttr(llvm::Attribute::NullPointerIsValid);
  out_.function->addFnAttr(llvm::Attribute::Convergent);
}

Lifted Lifter::run() {
  describe_lines();
  entry_ = llvm::BasicBlock::Create(context_, "entry", out_.function);
  Frame frame(kernel_);
  frame_ = &frame;
  llvm::BasicBlock* first = begin_function();
  lift_code();
  b_.SetInsertPoint(entry_);
  b_.CreateBr(first);
  return std::move(out_);
}

llvm::AllocaInst* Lifter::variable(llvm::Type* type) {
  llvm::IRBuilder<> at(entry_);
  return at.CreateAlloca(type);
}

llvm::BasicBlock* Lifter::begin_function() {
  Frame& now = *frame_;
  now.first_line = static_cast<std::uint32_t>(out_.lines.size());
  for (std::uint32_t pc = 0; pc < now.fn.code.size(); ++pc) out_.lines.emplace_back(&now.f, pc);
  if (out_.lines.size() > most_instructions)
    give_up(now.caller == nullptr ? "it has more than 50,000 instructions"
                                  : "with the functions that it calls it has more than 50,000 instructions");
  const auto [once, fresh] = written_once_.try_emplace(&now.f);
  if (fresh) once->second = written_once(now.f);
  now.registers.resize(now.f.registers.size());
  now.values.resize(now.f.registers.size());
  for (std::size_t r = 0; r < now.registers.size(); ++r) {
    // To find the values of variables takes LLVM their number times that of branches.
    if (once->second[r]) continue;
    llvm::AllocaInst* const v = now.registers[r] = variable(register_type(now.f.registers[r]));
    // As where PTX is executed. LLVM would drop a store of a value that nobody made, and a branch by one.
    if (now.caller == nullptr)
      llvm::IRBuilder<>(entry_).CreateStore(llvm::Constant::getNullValue(v->getAllocatedType()), v);
  }
  if (carry_ == nullptr) carry_ = variable(b_.getInt1Ty());
  if (now.fn.frame_bytes > 0) {
    now.memory = variable(llvm::ArrayType::get(b_.getInt8Ty(), now.fn.frame_bytes));
    now.memory->setAlignment(llvm::Align(std::max<std::uint64_t>(16, now.f.frame_align)));
  }
  make_blocks();
  return now.blocks.front().second;
}

void Lifter::lift_code() {
  Frame& now = *frame_;
  for (std::size_t i = 0; i < now.blocks.size(); ++i) {
    const std::uint32_t end =
        i + 1 < now.blocks.size() ? now.blocks[i + 1].first : static_cast<std::uint32_t>(now.fn.code.size());
    b_.SetInsertPoint(now.blocks[i].second);
    for (std::uint32_t pc = now.blocks[i].first; pc < end; ++pc) {
      b_.SetCurrentDebugLocation(llvm::DILocation::get(context_, now.first_line + pc + 1, 0, program_));
      instruction(pc);
    }
    if (b_.GetInsertBlock()->getTerminator() == nullptr) b_.CreateBr(block_at(end));
  }
}

void Lifter::call(const Inst& inst) {
  const ptx::CallSite& site = frame_->fn.call_sites[inst.target];
  if (site.indirect) give_up("a call through a pointer");
  const ptx::VirtualFunction& callee = program_of_.functions[site.function];
  for (const Frame* f = frame_; f != nullptr; f = f->caller)
    if (&f->f == &callee) give_up("a function that calls itself");
  Frame inner(callee);
  inner.caller = frame_;
  inner.behind = llvm::BasicBlock::Create(context_, "behind", out_.function);
  Frame& outer = *frame_;
  const llvm::DebugLoc place = b_.getCurrentDebugLocation();
  frame_ = &inner;
  llvm::BasicBlock* first = begin_function();
  frame_ = &outer;
  for (const ptx::CallArg& a : site.args) pass(a, outer, inner, false);
  b_.CreateBr(first);
  frame_ = &inner;
  lift_code();
  frame_ = &outer;
  b_.SetInsertPoint(inner.behind);
  b_.SetCurrentDebugLocation(place);
  for (const ptx::CallArg& a : site.returns) pass(a, outer, inner, true);
}

void Lifter::pass(const ptx::CallArg& a, Frame& outer, Frame& inner, bool back) {
  const auto at = [&](Frame& f, std::uint32_t offset) {
    if (f.memory == nullptr || offset + a.bytes > f.fn.frame_bytes)
      give_up("an argument outside of the frame");
    return b_.CreateGEP(b_.getInt8Ty(), f.memory, b_.getInt64(offset));
  };
  if (a.reg.kind == OperandKind::sink) return;
  if (a.reg.kind != OperandKind::none) {
    llvm::Type* bits = b_.getIntNTy(a.bytes * 8);
    Value* p = at(inner, a.callee_offset);
    if (back)
      write(a.reg, b_.CreateAlignedLoad(bits, p, llvm::Align(1)));
    else
      b_.CreateAlignedStore(raw(a.reg, bits), p, llvm::Align(1));
    return;
  }
  for (std::uint32_t done = 0; done < a.bytes;) {
    const std::uint32_t left = a.bytes - done, step = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    Value *outside = at(outer, a.caller_offset), *inside = at(inner, a.callee_offset);
    outside = b_.CreateGEP(b_.getInt8Ty(), outside, b_.getInt64(done));
    inside = b_.CreateGEP(b_.getInt8Ty(), inside, b_.getInt64(done));
    Value* v = b_.CreateAlignedLoad(b_.getIntNTy(step * 8), back ? inside : outside, llvm::Align(1));
    b_.CreateAlignedStore(v, back ? outside : inside, llvm::Align(1));
    done += step;
  }
}

void Lifter::describe_lines() {
  llvm::DIBuilder d(*out_.module);
  out_.module->addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  auto* file = d.createFile("kernel.ptx", ".");
  d.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "", true, "", 0);
  program_ = d.createFunction(file, kernel_.fn.name, kernel_.fn.name, file, 1,
                              d.createSubroutineType(d.getOrCreateTypeArray({})), 1, llvm::DINode::FlagZero,
                              llvm::DISubprogram::SPFlagDefinition);
  out_.function->setSubprogram(program_);
  d.finalize();
}

bool Lifter::ends_block(const Inst& inst) {
  return inst.op == Op::bra || inst.op == Op::brx || inst.op == Op::ret || inst.op == Op::exit ||
         inst.op == Op::trap;
}

void Lifter::make_blocks() {
  Frame& now = *frame_;
  std::vector<std::uint32_t> leaders{0};
  for (std::uint32_t pc = 0; pc < now.fn.code.size(); ++pc) {
    const Inst& inst = now.fn.code[pc];
    if (inst.op == Op::bra) leaders.push_back(inst.target);
    if (inst.op == Op::brx)
      for (const std::uint32_t target : now.fn.branch_tables[inst.target]) leaders.push_back(target);
    if (ends_block(inst) && pc + 1 < now.fn.code.size()) leaders.push_back(pc + 1);
  }
  std::sort(leaders.begin(), leaders.end());
  leaders.erase(std::unique(leaders.begin(), leaders.end()), leaders.end());
  for (const std::uint32_t pc : leaders)
    now.blocks.emplace_back(pc, llvm::BasicBlock::Create(context_, fmt::format("pc{}", pc), out_.function));
}

llvm::BasicBlock* Lifter::block_at(std::uint32_t pc) {
  const auto& blocks = frame_->blocks;
  const auto it = std::lower_bound(blocks.begin(), blocks.end(), pc,
                                   [](const auto& block, std::uint32_t at) { return block.first < at; });
  if (it == blocks.end() || it->first != pc) give_up("code that runs over its end");
  return it->second;
}

llvm::Type* Lifter::register_type(Type t) {
  if (t == Type::pred) return b_.getInt1Ty();
  if (t == Type::f32) return b_.getFloatTy();
  if (t == Type::f64) return b_.getDoubleTy();
  const unsigned bytes = size_of(t);
  if (bytes == 0 || bytes > 8) give_up("a register of 128 bits");
  return b_.getIntNTy(bytes * 8);
}

unsigned Lifter::width(const llvm::Type* t) {
  return static_cast<unsigned>(t->getPrimitiveSizeInBits().getFixedValue());
}

Value* Lifter::as(Value* v, llvm::Type* type) {
  if (v->getType() == type) return v;
  const unsigned have = width(v->getType()), want = width(type);
  if (!v->getType()->isIntegerTy()) v = b_.CreateBitCast(v, b_.getIntNTy(have));
  if (have > want) v = b_.CreateTrunc(v, b_.getIntNTy(want));
  if (have < want) v = b_.CreateZExt(v, b_.getIntNTy(want));
  return v->getType() == type ? v : b_.CreateBitCast(v, type);
}

Value* Lifter::constant(const ptx::Operand& o, llvm::Type* type) {
  const ptx::Constant& c = frame_->fn.constants[o.index];
  if (c.kind == ptx::Constant::Kind::value) {
    const unsigned bits = width(type);
    return as(llvm::ConstantInt::get(context_, llvm::APInt(64, c.value).trunc(bits)), type);
  }
  const std::string name = fmt::format("symbol.{}.{}", static_cast<int>(c.kind), c.symbol);
  llvm::GlobalVariable* symbol = out_.module->getNamedGlobal(name);
  if (symbol == nullptr) {
    symbol =
        new llvm::GlobalVariable(*out_.module, b_.getInt8Ty(), false, llvm::GlobalValue::ExternalLinkage,
                                 nullptr, name, nullptr, llvm::GlobalValue::NotThreadLocal, global_space);
    ptx::Constant base = c;
    base.value = 0;
    if (c.kind == ptx::Constant::Kind::global_symbol)
      symbol->setAlignment(llvm::Align(std::max<std::uint32_t>(1, ptx_.variables[c.symbol].align)));
    out_.symbols.emplace(name, base);
  }
  Value* address = b_.CreatePtrToInt(symbol, b_.getInt64Ty());
  if (c.value != 0) address = b_.CreateAdd(address, b_.getInt64(c.value));
  return as(address, type);
}

Value* Lifter::special(const ptx::Operand& o) {
  const auto s = static_cast<ptx::Special>(o.index);
  if (ptx::is_clock(s)) give_up("it reads the clock");
  if (s == ptx::Special::zero) return b_.getIntN(o.bytes * 8u, 0);
  const bool known_block = kernel_.fn.req_ntid[0] != 0;
  if (known_block && s >= ptx::Special::ntid_x && s <= ptx::Special::ntid_z)
    return b_.getInt32(kernel_.fn.req_ntid[static_cast<int>(s) - static_cast<int>(ptx::Special::ntid_x)]);
  auto* type = b_.getIntNTy(std::max(1u, o.bytes * 8u));
  const std::string name = fmt::format("special.{}", o.index);
  auto* callee = llvm::cast<llvm::Function>(
      out_.module->getOrInsertFunction(name, llvm::FunctionType::get(type, false)).getCallee());
  pure(*callee);
  llvm::CallInst* call = b_.CreateCall(callee);
  std::uint64_t bound = bound_of(s);
  if (known_block && s >= ptx::Special::tid_x && s <= ptx::Special::tid_z)
    bound = kernel_.fn.req_ntid[static_cast<int>(s) - static_cast<int>(ptx::Special::tid_x)];
  if (bound != 0)
    call->setMetadata(llvm::LLVMContext::MD_range,
                      llvm::MDBuilder(context_).createRange(llvm::APInt(32, 0), llvm::APInt(32, bound)));
  return call;
}

void Lifter::pure(llvm::Function& f) {
  f.setDoesNotAccessMemory();
  f.setDoesNotThrow();
  f.setWillReturn();
  f.addFnAttr(llvm::Attribute::NoFree);
  f.addFnAttr(llvm::Attribute::NoSync);
  f.addFnAttr(llvm::Attribute::Speculatable);
}

Value* Lifter::value_of(const ptx::Operand& o) {
  if (llvm::AllocaInst* place = frame_->registers[o.index]; place != nullptr)
    return b_.CreateLoad(place->getAllocatedType(), place);
  Value* v = frame_->values[o.index];
  return v != nullptr ? v : llvm::Constant::getNullValue(register_type(frame_->f.registers[o.index]));
}

Value* Lifter::read(const ptx::Operand& o, Type type) {
  switch (o.kind) {
    case OperandKind::reg: return as(value_of(o), value_type(type));
    case OperandKind::pred: {
      Value* p = value_of(o);
      return o.negated ? b_.CreateNot(p) : p;
    }
    case OperandKind::imm: return constant(o, value_type(type));
    case OperandKind::special: return as(special(o), value_type(type));
    case OperandKind::none:
    case OperandKind::sink: break;
  }
  give_up("an operand that has no value");
}

void Lifter::write(const ptx::Operand& o, Value* v, bool sign) {
  if (o.kind != OperandKind::reg && o.kind != OperandKind::pred) return;
  llvm::Type* type = register_type(frame_->f.registers[o.index]);
  const unsigned have = width(v->getType()), want = width(type);
  if (sign && have < want && v->getType()->isIntegerTy()) v = b_.CreateSExt(v, b_.getIntNTy(want));
  v = as(v, type);
  llvm::AllocaInst* place = frame_->registers[o.index];
  if (place == nullptr) {
    frame_->values[o.index] = v;
    return;
  }
  if (guard_ != nullptr) {
    Value* old = b_.CreateLoad(type, place);
    v = b_.CreateSelect(guard_, v, old);
  }
  b_.CreateStore(v, place);
}

void Lifter::instruction(std::uint32_t pc) {
  const Inst& inst = frame_->fn.code[pc];
  guard_ = nullptr;
  if (inst.op == Op::nop || inst.op == Op::brkpt) return;
  Value* guard = inst.guard.kind == OperandKind::none ? nullptr : read(inst.guard, Type::pred);
  if (inst.op == Op::bra) {
    llvm::BasicBlock* target = block_at(inst.target);
    if (guard == nullptr)
      b_.CreateBr(target);
    else
      b_.CreateCondBr(guard, target, block_at(pc + 1));
    return;
  }
  if (inst.op == Op::brx) return table(inst, guard, pc);
  if (inst.op == Op::ret || inst.op == Op::exit || inst.op == Op::trap) return leave(inst, guard, pc);
  if (guard == nullptr) return body(inst);
  if (effect_of(inst) == Effect::none && inst.op != Op::call) {
    guard_ = guard;
    body(inst);
    guard_ = nullptr;
    return;
  }
  auto* inside =
      llvm::BasicBlock::Create(context_, "guarded", out_.function, b_.GetInsertBlock()->getNextNode());
  auto* behind = llvm::BasicBlock::Create(context_, "behind", out_.function, inside->getNextNode());
  b_.CreateCondBr(guard, inside, behind);
  b_.SetInsertPoint(inside);
  body(inst);
  b_.CreateBr(behind);
  b_.SetInsertPoint(behind);
}

void Lifter::table(const Inst& inst, Value* guard, std::uint32_t pc) {
  const std::vector<std::uint32_t>& targets = frame_->fn.branch_tables[inst.target];
  if (targets.empty()) give_up("an empty table");
  if (guard != nullptr) {
    auto* inside = llvm::BasicBlock::Create(context_, "table", out_.function);
    b_.CreateCondBr(guard, inside, block_at(pc + 1));
    b_.SetInsertPoint(inside);
  }
  auto* jump = b_.CreateSwitch(raw(inst.src[0], b_.getInt32Ty()), block_at(targets.back()));
  for (std::uint32_t i = 0; i + 1 < targets.size(); ++i) jump->addCase(b_.getInt32(i), block_at(targets[i]));
}

void Lifter::leave(const Inst& inst, Value* guard, std::uint32_t pc) {
  llvm::BasicBlock* next = nullptr;
  if (guard != nullptr) {
    auto* inside = llvm::BasicBlock::Create(context_, "leave", out_.function);
    next = block_at(pc + 1);
    b_.CreateCondBr(guard, inside, next);
    b_.SetInsertPoint(inside);
  }
  if (inst.op == Op::trap) {
    Inst plain = inst;
    plain.guard = {};
    opaque(plain, Effect::memory);
  }
  if (inst.op == Op::ret && frame_->behind != nullptr)
    b_.CreateBr(frame_->behind);
  else
    b_.CreateRetVoid();
}

void Lifter::body(const Inst& inst) {
  if (inst.op == Op::call) return call(inst);
  if (!known(inst)) {
    Inst plain = inst;
    plain.guard = {};
    opaque(plain, effect_of(inst));
  }
}

Lifted lift(const ptx::VirtualFunction& f, const Program& program, llvm::LLVMContext& context) {
  return Lifter(f, program, context).run();
}

}  // namespace simtlab::optimiser

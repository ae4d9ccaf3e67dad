#include "optimiser/llvm/lift.h"

#include <fmt/format.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "ptx/special.h"

namespace simtlab::optimiser {
namespace {

using llvm::Value;
using ptx::Compare;
using ptx::Inst;
using ptx::Op;
using ptx::OperandKind;
using ptx::Space;
using ptx::Type;

// What an operation that LLVM does not know does beside its results.
enum class Effect : std::uint8_t { none, lanes, reads, memory };

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
    default: return Effect::none;
  }
}

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
  auto* out = new llvm::GlobalVariable(module, llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0), false,
                                       llvm::GlobalValue::ExternalLinkage, nullptr, name, nullptr,
                                       llvm::GlobalValue::NotThreadLocal, number);
  // Its address counts as 0.
  out->setAlignment(llvm::Align(1024));
  return out;
}

namespace {

class Lifter {
 public:
  Lifter(const ptx::VirtualFunction& f, const Program& program, llvm::LLVMContext& context)
      : kernel_(f), program_of_(program), ptx_(program.module), context_(context), b_(context) {
    out_.module = std::make_unique<llvm::Module>("kernel", context);
    // Pointers of 64 bits everywhere; integers of 16, 32 and 64 bits are what registers hold.
    out_.module->setDataLayout("e-i64:64-i128:128-v16:16-v32:32-n16:32:64");
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), false);
    out_.function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "kernel", *out_.module);
    out_.function->addFnAttr(llvm::Attribute::NullPointerIsValid);
    out_.function->addFnAttr(llvm::Attribute::Convergent);
  }

  Lifted run() {
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

 private:
  // A function while its code is lifted: the kernel, or one that is called, each time anew.
  struct Frame {
    explicit Frame(const ptx::VirtualFunction& function) : f(function), fn(function.fn) {}
    const ptx::VirtualFunction& f;
    const ptx::Function& fn;
    std::uint32_t first_line = 0;                                      // of its code in the debug information
    std::vector<std::pair<std::uint32_t, llvm::BasicBlock*>> blocks;  // by pc
    std::vector<llvm::AllocaInst*> registers;
    llvm::AllocaInst* memory = nullptr;
    llvm::BasicBlock* behind = nullptr;  // where it returns to; null: the kernel
    Frame* caller = nullptr;
  };
  // Instructions that a kernel may have once the functions that it calls are part of it.
  static constexpr std::size_t most_instructions = 50'000;

  [[noreturn]] static void give_up(std::string why) { throw GivenUp{std::move(why)}; }

  llvm::AllocaInst* variable(llvm::Type* type) {
    llvm::IRBuilder<> at(entry_);
    return at.CreateAlloca(type);
  }

  // Registers, frame and blocks of the function at hand; returns its first block.
  llvm::BasicBlock* begin_function() {
    Frame& now = *frame_;
    now.first_line = static_cast<std::uint32_t>(out_.lines.size());
    for (std::uint32_t pc = 0; pc < now.fn.code.size(); ++pc) out_.lines.emplace_back(&now.f, pc);
    if (out_.lines.size() > most_instructions) give_up("its functions, called often, are too long");
    for (const Type t : now.f.registers) now.registers.push_back(variable(register_type(t)));
    if (carry_ == nullptr) carry_ = variable(b_.getInt1Ty());
    if (now.fn.frame_bytes > 0) {
      now.memory = variable(llvm::ArrayType::get(b_.getInt8Ty(), now.fn.frame_bytes));
      now.memory->setAlignment(llvm::Align(std::max<std::uint64_t>(16, now.f.frame_align)));
    }
    make_blocks();
    return now.blocks.front().second;
  }

  void lift_code() {
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

  // The function takes the place of its call: arguments go to its frame, results come from there.
  void call(const Inst& inst) {
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

  // Between the caller (a register, or bytes of its frame) and the frame of the callee.
  void pass(const ptx::CallArg& a, Frame& outer, Frame& inner, bool back) {
    const auto at = [&](Frame& f, std::uint32_t offset) {
      if (f.memory == nullptr || offset + a.bytes > f.fn.frame_bytes) give_up("an argument outside of the frame");
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

  // A line of the debug information is the instruction of PTX and one.
  void describe_lines() {
    llvm::DIBuilder d(*out_.module);
    out_.module->addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
    auto* file = d.createFile("kernel.ptx", ".");
    d.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "", true, "", 0);
    program_ = d.createFunction(file, kernel_.fn.name, kernel_.fn.name, file, 1, d.createSubroutineType(d.getOrCreateTypeArray({})), 1,
                                llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
    out_.function->setSubprogram(program_);
    d.finalize();
  }

  static bool ends_block(const Inst& inst) {
    return inst.op == Op::bra || inst.op == Op::brx || inst.op == Op::ret || inst.op == Op::exit || inst.op == Op::trap;
  }

  void make_blocks() {
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
  llvm::BasicBlock* block_at(std::uint32_t pc) {
    const auto& blocks = frame_->blocks;
    const auto it = std::lower_bound(blocks.begin(), blocks.end(), pc,
                                     [](const auto& block, std::uint32_t at) { return block.first < at; });
    if (it == blocks.end() || it->first != pc) give_up("code that runs over its end");
    return it->second;
  }

  // ---- types and operands ----

  llvm::Type* register_type(Type t) {
    if (t == Type::pred) return b_.getInt1Ty();
    if (t == Type::f32) return b_.getFloatTy();
    if (t == Type::f64) return b_.getDoubleTy();
    const unsigned bytes = size_of(t);
    if (bytes == 0 || bytes > 8) give_up("a register of 128 bits");
    return b_.getIntNTy(bytes * 8);
  }
  llvm::Type* value_type(Type t) { return register_type(t); }

  static unsigned width(const llvm::Type* t) {
    return static_cast<unsigned>(t->getPrimitiveSizeInBits().getFixedValue());
  }
  // The value as another type: bits of the same width, or the low part of a wider register.
  Value* as(Value* v, llvm::Type* type) {
    if (v->getType() == type) return v;
    const unsigned have = width(v->getType()), want = width(type);
    if (!v->getType()->isIntegerTy()) v = b_.CreateBitCast(v, b_.getIntNTy(have));
    if (have > want) v = b_.CreateTrunc(v, b_.getIntNTy(want));
    if (have < want) v = b_.CreateZExt(v, b_.getIntNTy(want));
    return v->getType() == type ? v : b_.CreateBitCast(v, type);
  }

  Value* constant(const ptx::Operand& o, llvm::Type* type) {
    const ptx::Constant& c = frame_->fn.constants[o.index];
    if (c.kind == ptx::Constant::Kind::value) {
      const unsigned bits = width(type);
      return as(llvm::ConstantInt::get(context_, llvm::APInt(64, c.value).trunc(bits)), type);
    }
    const std::string name = fmt::format("symbol.{}.{}", static_cast<int>(c.kind), c.symbol);
    llvm::GlobalVariable* symbol = out_.module->getNamedGlobal(name);
    if (symbol == nullptr) {
      symbol = new llvm::GlobalVariable(*out_.module, b_.getInt8Ty(), false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                        name, nullptr, llvm::GlobalValue::NotThreadLocal, global_space);
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

  Value* special(const ptx::Operand& o) {
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

  static void pure(llvm::Function& f) {
    f.setDoesNotAccessMemory();
    f.setDoesNotThrow();
    f.setWillReturn();
    f.addFnAttr(llvm::Attribute::NoFree);
    f.addFnAttr(llvm::Attribute::NoSync);
    f.addFnAttr(llvm::Attribute::Speculatable);
  }

  Value* read(const ptx::Operand& o, Type type) {
    switch (o.kind) {
      case OperandKind::reg: return as(b_.CreateLoad(frame_->registers[o.index]->getAllocatedType(), frame_->registers[o.index]), value_type(type));
      case OperandKind::pred: {
        Value* p = b_.CreateLoad(b_.getInt1Ty(), frame_->registers[o.index]);
        return o.negated ? b_.CreateNot(p) : p;
      }
      case OperandKind::imm: return constant(o, value_type(type));
      case OperandKind::special: return as(special(o), value_type(type));
      case OperandKind::none:
      case OperandKind::sink: break;
    }
    give_up("an operand that has no value");
  }

  // A result may go to a register that is wider than the type; sign: how it is then extended.
  void write(const ptx::Operand& o, Value* v, bool sign = false) {
    if (o.kind != OperandKind::reg && o.kind != OperandKind::pred) return;
    llvm::Type* type = frame_->registers[o.index]->getAllocatedType();
    const unsigned have = width(v->getType()), want = width(type);
    if (sign && have < want && v->getType()->isIntegerTy()) v = b_.CreateSExt(v, b_.getIntNTy(want));
    v = as(v, type);
    if (guard_ != nullptr) {
      Value* old = b_.CreateLoad(type, frame_->registers[o.index]);
      v = b_.CreateSelect(guard_, v, old);
    }
    b_.CreateStore(v, frame_->registers[o.index]);
  }
  Value* src(const Inst& inst, unsigned i) { return read(inst.src[i], inst.type); }

  // ---- instructions ----

  void instruction(std::uint32_t pc) {
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
    auto* inside = llvm::BasicBlock::Create(context_, "guarded", out_.function, b_.GetInsertBlock()->getNextNode());
    auto* behind = llvm::BasicBlock::Create(context_, "behind", out_.function, inside->getNextNode());
    b_.CreateCondBr(guard, inside, behind);
    b_.SetInsertPoint(inside);
    body(inst);
    b_.CreateBr(behind);
    b_.SetInsertPoint(behind);
  }

  // An index behind the table is the program's error; it goes to the last target.
  void table(const Inst& inst, Value* guard, std::uint32_t pc) {
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

  void leave(const Inst& inst, Value* guard, std::uint32_t pc) {
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

  void body(const Inst& inst) {
    if (inst.op == Op::call) return call(inst);
    if (!known(inst)) {
      Inst plain = inst;
      plain.guard = {};
      opaque(plain, effect_of(inst));
    }
  }

  static bool plain_float(const Inst& inst) {
    const ptx::Mods& m = inst.mods;
    return (inst.type == Type::f32 || inst.type == Type::f64) && !m.ftz && !m.sat && !m.approx &&
           (m.rounding == ptx::Rounding::none || m.rounding == ptx::Rounding::rn);
  }
  static bool plain_integer(const Inst& inst) {
    return !is_float(inst.type) && inst.type != Type::u16x2 && inst.type != Type::s16x2 && inst.type != Type::pred &&
           !inst.mods.sat && !inst.mods.relu && size_of(inst.type) <= 8;
  }

  bool known(const Inst& inst) {
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

  bool arithmetic(const Inst& inst) {
    if (is_float(inst.type)) return plain_float(inst) && float_arithmetic(inst);
    if (!plain_integer(inst)) return false;
    if (inst.mods.cc_in || inst.mods.cc_out || inst.op == Op::addc || inst.op == Op::subc || inst.op == Op::madc)
      return with_carry(inst);
    Value* a = src(inst, 0);
    switch (inst.op) {
      case Op::neg: write(inst.dst[0], b_.CreateNeg(a)); return true;
      case Op::abs: write(inst.dst[0], b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getFalse())); return true;
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
        write(inst.dst[0], b_.CreateBinaryIntrinsic(sign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, c));
        return true;
      case Op::max:
        write(inst.dst[0], b_.CreateBinaryIntrinsic(sign ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, c));
        return true;
      default: return false;
    }
  }

  Value* raw(const ptx::Operand& o, llvm::Type* type) {
    const unsigned bits = width(type);
    return read(o, bits == 64 ? Type::b64 : bits == 32 ? Type::b32 : bits == 16 ? Type::b16 : Type::b8);
  }

  Value* product(const Inst& inst, Value* a) {
    Value* c = src(inst, 1);
    const unsigned bits = size_of(inst.type) * 8;
    if (inst.mods.mul == ptx::MulMode::lo) return b_.CreateMul(a, c);
    if (inst.mods.mul != ptx::MulMode::wide) return nullptr;
    llvm::Type* wide = b_.getIntNTy(bits * 2);
    if (is_signed(inst.type)) return b_.CreateNSWMul(b_.CreateSExt(a, wide), b_.CreateSExt(c, wide));
    return b_.CreateNUWMul(b_.CreateZExt(a, wide), b_.CreateZExt(c, wide));
  }

  // Sums whose carry (or borrow) goes to the next one.
  bool with_carry(const Inst& inst) {
    if (guard_ != nullptr) give_up("a guarded sum with a carry");
    Value *a = src(inst, 0), *c = src(inst, 1);
    const bool product = inst.op == Op::mad || inst.op == Op::madc;
    if (product) {
      if (inst.mods.mul == ptx::MulMode::hi) give_up("the upper half of a product with a carry");
      a = b_.CreateMul(a, c);
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

  bool float_arithmetic(const Inst& inst) {
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

  bool logic(const Inst& inst) {
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
    write(inst.dst[0], inst.op == Op::shl ? b_.CreateShl(a, by) : sign ? b_.CreateAShr(a, by) : b_.CreateLShr(a, by));
    return true;
  }

  bool bits(const Inst& inst) {
    Value* a = src(inst, 0);
    Value* v = nullptr;
    if (inst.op == Op::popc) v = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a);
    if (inst.op == Op::brev) v = b_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, a);
    if (inst.op == Op::clz) v = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, a, b_.getFalse());
    write(inst.dst[0], v);
    return true;
  }

  static llvm::CmpInst::Predicate predicate_of(Compare c, Type type) {
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

  bool compare(const Inst& inst) {
    if (inst.mods.ftz || (is_float(inst.type) && inst.type != Type::f32 && inst.type != Type::f64)) return false;
    const auto predicate = predicate_of(inst.mods.compare, inst.type);
    if (predicate == llvm::CmpInst::BAD_FCMP_PREDICATE || predicate == llvm::CmpInst::BAD_ICMP_PREDICATE) return false;
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

  bool move(const Inst& inst) {
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

  bool convert(const Inst& inst) {
    const Type to = inst.type, from = inst.stype;
    const ptx::Mods& m = inst.mods;
    if (m.ftz || m.sat || m.relu || inst.src_count != 1) return false;
    const bool to_float = to == Type::f32 || to == Type::f64, from_float = from == Type::f32 || from == Type::f64;
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
      write(inst.dst[0], is_signed(from) ? b_.CreateSIToFP(a, value_type(to)) : b_.CreateUIToFP(a, value_type(to)));
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

  // Addresses of global and constant memory are their own generic ones. Of the others the conversion is a call that the
  // passes see through.
  bool convert_address(const Inst& inst) {
    Value* a = inst.frame_relative ? b_.CreatePtrToInt(frame_at(inst), b_.getInt64Ty()) : src(inst, 0);
    const Space space = inst.mods.space;
    if (space != Space::shared && space != Space::local && space != Space::param) {
      write(inst.dst[0], a);
      return true;
    }
    if (space == Space::param) return false;
    const std::string name = fmt::format("cvta{}.{}", inst.mods.to ? ".to" : "", name_of(space));
    auto* callee = llvm::cast<llvm::Function>(
        out_.module->getOrInsertFunction(name, llvm::FunctionType::get(b_.getInt64Ty(), {b_.getInt64Ty()}, false)).getCallee());
    pure(*callee);
    write(inst.dst[0], b_.CreateCall(callee, {a}));
    return true;
  }

  // ---- memory ----

  Value* frame_at(const Inst& inst) {
    if (frame_->memory == nullptr) give_up("a frame of no bytes");
    Value* offset = raw(inst.src[0], b_.getInt64Ty());
    if (inst.imm_offset != 0) offset = b_.CreateAdd(offset, b_.getInt64(static_cast<std::uint64_t>(inst.imm_offset)));
    return b_.CreateGEP(b_.getInt8Ty(), frame_->memory, offset);
  }

  Value* pointer(const Inst& inst) {
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
  Value* in_space(const char* name, unsigned number, Value* address) {
    return b_.CreateGEP(b_.getInt8Ty(), space_variable(*out_.module, name, number), address);
  }

  static bool plain_access(const Inst& inst) {
    const ptx::Mods& m = inst.mods;
    const bool usual = m.cache == ptx::CacheOp::none || (inst.op != Op::st && (m.cache == ptx::CacheOp::ca || m.cache == ptx::CacheOp::nc)) ||
                       (inst.op == Op::st && m.cache == ptx::CacheOp::wb);
    return usual && m.order == ptx::MemOrder::weak;
  }

  llvm::Type* access_type(const Inst& inst) {
    llvm::Type* element = value_type(inst.type);
    return inst.mods.vector > 1 ? llvm::FixedVectorType::get(element, inst.mods.vector) : element;
  }
  static llvm::Align alignment_of(const Inst& inst) { return llvm::Align(std::uint64_t{size_of(inst.type)} * inst.mods.vector); }

  bool load(const Inst& inst) {
    if (!plain_access(inst) || size_of(inst.type) > 8) return false;
    llvm::LoadInst* v = b_.CreateAlignedLoad(access_type(inst), pointer(inst), alignment_of(inst));
    if (inst.mods.space == Space::param || inst.mods.space == Space::constant || inst.mods.cache == ptx::CacheOp::nc ||
        inst.op == Op::ldu)
      v->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    const bool sign = is_signed(inst.type) && !is_float(inst.type);
    if (inst.mods.vector == 1) {
      write(inst.dst[0], v, sign);
      return true;
    }
    for (unsigned i = 0; i < inst.dst_count; ++i) write(inst.dst[i], b_.CreateExtractElement(v, i), sign);
    return true;
  }

  bool store(const Inst& inst) {
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

  // ---- operations that LLVM does not know ----

  // What two instructions must share to be one operation.
  static std::string key_of(const Inst& inst) {
    std::string out = fmt::format("{} {} {} {} {} {} {} {}", static_cast<int>(inst.op), static_cast<int>(inst.type),
                                  static_cast<int>(inst.stype), inst.imm_offset, inst.frame_relative, inst.dst_count,
                                  inst.src_count, static_cast<int>(inst.op_class));
    const ptx::Mods& m = inst.mods;
    out += fmt::format(" {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", static_cast<int>(m.rounding), static_cast<int>(m.compare),
                       static_cast<int>(m.bool_op), static_cast<int>(m.mul), static_cast<int>(m.atom),
                       static_cast<int>(m.shfl), static_cast<int>(m.vote), static_cast<int>(m.cache),
                       static_cast<int>(m.scope), static_cast<int>(m.order), static_cast<int>(m.prmt),
                       static_cast<int>(m.bar), static_cast<int>(m.geometry), static_cast<int>(m.space), m.vector);
    out += fmt::format(" {}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{} {} {} {} {} {}", m.ftz, m.sat, m.approx, m.full, m.relu, m.nan, m.xorsign,
                       m.abs, m.uni, m.to, m.shift_amount, m.left, m.wrap, m.all, m.aligned, m.wait_all, m.turns, m.testp, m.lut,
                       m.copy_bytes, m.src_type_hi, m.video);
    for (unsigned i = 0; i < inst.dst_count; ++i)
      out += fmt::format(" d{}:{}", static_cast<int>(inst.dst[i].kind), inst.dst[i].bytes);
    for (unsigned i = 0; i < inst.src_count; ++i) {
      const ptx::Operand& o = inst.src[i];
      const bool reg = o.kind == OperandKind::reg || o.kind == OperandKind::pred;
      out += fmt::format(" s{}:{}:{}:{}", static_cast<int>(o.kind), o.bytes, o.negated, reg ? 0 : o.index);
    }
    return out;
  }

  llvm::Type* bits_of(const ptx::Operand& o) {
    return o.kind == OperandKind::pred ? b_.getInt1Ty() : b_.getIntNTy(o.bytes * 8u);
  }

  void opaque(const Inst& inst, Effect effect) {
    std::vector<Value*> arguments;
    std::vector<llvm::Type*> argument_types, results;
    for (unsigned i = 0; i < inst.src_count; ++i) {
      const ptx::Operand& o = inst.src[i];
      if (o.kind == OperandKind::special && ptx::is_clock(static_cast<ptx::Special>(o.index))) give_up("it reads the clock");
      if (o.kind != OperandKind::reg && o.kind != OperandKind::pred) continue;
      Value* v = o.kind == OperandKind::pred ? b_.CreateLoad(b_.getInt1Ty(), frame_->registers[o.index])
                                             : as(b_.CreateLoad(frame_->registers[o.index]->getAllocatedType(), frame_->registers[o.index]),
                                                  b_.getIntNTy(o.bytes * 8u));
      arguments.push_back(v);
      argument_types.push_back(v->getType());
    }
    if (inst.frame_relative) give_up("an operation on the frame");
    for (unsigned i = 0; i < inst.dst_count; ++i)
      if (inst.dst[i].kind == OperandKind::reg || inst.dst[i].kind == OperandKind::pred) results.push_back(bits_of(inst.dst[i]));
    llvm::Type* result = results.empty()       ? b_.getVoidTy()
                         : results.size() == 1 ? results.front()
                                               : static_cast<llvm::Type*>(llvm::StructType::get(context_, results));
    std::string key = fmt::format("{} {}", static_cast<const void*>(&frame_->f), key_of(inst));
    const auto [it, fresh] = names_.try_emplace(std::move(key), static_cast<std::uint32_t>(out_.operations.size()));
    if (fresh) out_.operations.push_back(inst), out_.owners.push_back(&frame_->f);
    auto* callee = llvm::cast<llvm::Function>(
        out_.module->getOrInsertFunction(fmt::format("op.{}", it->second), llvm::FunctionType::get(result, argument_types, false))
            .getCallee());
    if (fresh) describe(*callee, effect);
    llvm::CallInst* call = b_.CreateCall(callee, arguments);
    unsigned n = 0;
    for (unsigned i = 0; i < inst.dst_count; ++i) {
      if (inst.dst[i].kind != OperandKind::reg && inst.dst[i].kind != OperandKind::pred) continue;
      write(inst.dst[i], results.size() == 1 ? static_cast<Value*>(call) : b_.CreateExtractValue(call, n));
      ++n;
    }
  }

  static void describe(llvm::Function& f, Effect effect) {
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

  const ptx::VirtualFunction& kernel_;
  const Program& program_of_;
  const ptx::Module& ptx_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  Lifted out_;
  llvm::DISubprogram* program_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  Frame* frame_ = nullptr;
  llvm::AllocaInst* carry_ = nullptr;
  Value* guard_ = nullptr;
  std::map<std::string, std::uint32_t> names_;  // of operations
};

}  // namespace

Lifted lift(const ptx::VirtualFunction& f, const Program& program, llvm::LLVMContext& context) {
  return Lifter(f, program, context).run();
}

}  // namespace simtlab::optimiser

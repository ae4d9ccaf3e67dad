// The class behind lift(): a function becomes LLVM IR block by block.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "optimiser/llvm/lift.h"

namespace simtlab::optimiser {
using llvm::Value;
using ptx::Compare;
using ptx::Inst;
using ptx::Op;
using ptx::OperandKind;
using ptx::Space;
using ptx::Type;

// What an operation that LLVM does not know does beside its results.
enum class Effect : std::uint8_t { none, lanes, reads, memory };
Effect effect_of(const Inst& inst);

class Lifter {
 public:
  Lifter(const ptx::VirtualFunction& f, const Program& program, llvm::LLVMContext& context);

  Lifted run();

 private:
  // A function while its code is lifted: the kernel, or one that is called, each time anew.
  struct Frame {
    explicit Frame(const ptx::VirtualFunction& function) : f(function), fn(function.fn) {}
    const ptx::VirtualFunction& f;
    const ptx::Function& fn;
    std::uint32_t first_line = 0;                                     // of its code in the debug information
    std::vector<std::pair<std::uint32_t, llvm::BasicBlock*>> blocks;  // by pc
    // A register is a variable or, where it is written once, a value: null until then.
    std::vector<llvm::AllocaInst*> registers;
    std::vector<Value*> values;
    llvm::AllocaInst* memory = nullptr;
    llvm::BasicBlock* behind = nullptr;  // where it returns to; null: the kernel
    Frame* caller = nullptr;
  };
  // Instructions that a kernel may have once the functions that it calls are part of it.
  static constexpr std::size_t most_instructions = 50'000;

  [[noreturn]] static void give_up(std::string why) { throw GivenUp{std::move(why)}; }

  llvm::AllocaInst* variable(llvm::Type* type);

  // Registers, frame and blocks of the function at hand; returns its first block.
  llvm::BasicBlock* begin_function();

  void lift_code();

  // The function takes the place of its call: arguments go to its frame, results come from there.
  void call(const Inst& inst);

  // Between the caller (a register, or bytes of its frame) and the frame of the callee.
  void pass(const ptx::CallArg& a, Frame& outer, Frame& inner, bool back);

  // A line of the debug information is the instruction of PTX and one.
  void describe_lines();

  static bool ends_block(const Inst& inst);

  void make_blocks();
  llvm::BasicBlock* block_at(std::uint32_t pc);

  // ---- types and operands ----

  llvm::Type* register_type(Type t);
  llvm::Type* value_type(Type t) { return register_type(t); }

  static unsigned width(const llvm::Type* t);
  // The value as another type: bits of the same width, or the low part of a wider register.
  Value* as(Value* v, llvm::Type* type);

  Value* constant(const ptx::Operand& o, llvm::Type* type);

  Value* special(const ptx::Operand& o);

  static void pure(llvm::Function& f);

  // All of a register, or of a predicate
  Value* value_of(const ptx::Operand& o);
  Value* read(const ptx::Operand& o, Type type);

  // A result may go to a register that is wider than the type; sign: how it is then extended.
  void write(const ptx::Operand& o, Value* v, bool sign = false);
  Value* src(const Inst& inst, unsigned i) { return read(inst.src[i], inst.type); }

  // ---- instructions ----

  void instruction(std::uint32_t pc);

  // An index behind the table is the program's error; it goes to the last target.
  void table(const Inst& inst, Value* guard, std::uint32_t pc);

  void leave(const Inst& inst, Value* guard, std::uint32_t pc);

  void body(const Inst& inst);

  static bool plain_float(const Inst& inst);
  static bool plain_integer(const Inst& inst);

  bool known(const Inst& inst);

  bool arithmetic(const Inst& inst);

  Value* raw(const ptx::Operand& o, llvm::Type* type);

  Value* product(const Inst& inst, Value* a);

  // Sums whose carry (or borrow) goes to the next one.
  // Of the product of two integers
  Value* upper_half(Value* a, Value* c, bool sign);
  bool with_carry(const Inst& inst);

  bool float_arithmetic(const Inst& inst);

  bool logic(const Inst& inst);

  bool bits(const Inst& inst);

  static llvm::CmpInst::Predicate predicate_of(Compare c, Type type);

  bool compare(const Inst& inst);

  bool move(const Inst& inst);

  bool convert(const Inst& inst);

  // Addresses of global and constant memory are their own generic ones. Of the others the conversion is a
  // call that the passes see through.
  bool convert_address(const Inst& inst);

  // ---- memory ----

  Value* frame_at(const Inst& inst);

  Value* pointer(const Inst& inst);
  Value* in_space(const char* name, unsigned number, Value* address);

  static bool plain_access(const Inst& inst);

  llvm::Type* access_type(const Inst& inst);
  static llvm::Align alignment_of(const Inst& inst) {
    return llvm::Align(std::uint64_t{size_of(inst.type)} * inst.mods.vector);
  }

  bool load(const Inst& inst);

  bool store(const Inst& inst);

  // ---- operations that LLVM does not know ----

  // What two instructions must share to be one operation.
  static std::string key_of(const Inst& inst);

  llvm::Type* bits_of(const ptx::Operand& o);

  void opaque(const Inst& inst, Effect effect);

  static void describe(llvm::Function& f, Effect effect);

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
  std::map<const ptx::VirtualFunction*, std::vector<bool>> written_once_;
};

}  // namespace simtlab::optimiser

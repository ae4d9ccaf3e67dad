// The class behind lower(): LLVM IR becomes instructions over virtual registers.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "optimiser/llvm/lift.h"

namespace simtlab::optimiser {
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

  void run();

  // Definitions before uses, and a loop in one piece: of two ways, the one that stays in the loop comes
  // first.
  void order_blocks();

  void store(ptx::VirtualFunction& f);

 private:
  [[noreturn]] static void give_up(std::string why) { throw GivenUp{std::move(why)}; }

  // ---- registers and constants ----

  static unsigned container(unsigned bits) { return bits <= 16 ? 2 : bits <= 32 ? 4 : 8; }
  unsigned bits_of(const llvm::Type* t) const;
  Operand new_register(unsigned bytes);
  Operand new_predicate();
  Operand new_value(llvm::Type* t);
  Parts registers_for(llvm::Type* t);
  Operand constant_of(const ptx::Constant& c, unsigned bytes);
  Operand number(std::uint64_t value, unsigned bytes);

  // ---- emission ----

  static ptx::OpClass class_of(Op op, Type type, Type stype, const ptx::Mods& mods);

  Inst begin(Op op, Type type) const;
  void finish(Inst inst);
  static void add_dst(Inst& inst, const Operand& o) { inst.dst[inst.dst_count++] = o; }
  static void add_src(Inst& inst, const Operand& o) { inst.src[inst.src_count++] = o; }
  void emit(Op op, Type type, const Operand& dst, std::initializer_list<Operand> sources,
            const ptx::Mods& mods = {}, Type stype = Type::none);
  static Type integer(unsigned bytes, bool sign = false);
  static Type bits(unsigned bytes) {
    return bytes == 1 ? Type::b8 : bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64;
  }

  void copy(const Operand& to, const Operand& from);

  void at(const llvm::Instruction& i);

  // ---- values ----

  Operand constant_value(const llvm::Constant& c);
  Operand constant_predicate(bool value);
  // Addresses of variables, with sums.
  Operand expression(const llvm::ConstantExpr& e);

  const Parts& parts(const Value* v);
  Operand operand(const Value* v) { return parts(v).front(); }
  // Where the instruction takes registers only.
  Operand in_a_register(Operand o);
  Operand define(const llvm::Instruction& i);
  void alias(const llvm::Instruction& i, Parts p) { values_[&i] = std::move(p); }

  // ---- frame and addresses ----

  void lay_out_frame();

  Address address(const Value* p);
  // Of a phi or a selection: the space of its type; an address in the frame was made a full one.
  Address unknown(const Value* p) const;
  static bool of_frame(const Value* p);
  static Space space_of(unsigned number);

  void add_indices(Address& out, const llvm::GEPOperator& gep);
  void add_index(Address& out, Value* index, std::int64_t scale);
  // The place of a byte of the frame in local memory.
  Operand frame_register(std::int64_t offset);
  Operand in_register(const Address& a);
  void set_address(Inst& inst, const Address& a);

  // ---- blocks ----

  // A block that only its branch leads to and that leads to where the branch leads else, of few instructions
  // without branches: its instructions are guarded.
  bool can_predicate(const llvm::BasicBlock& block, const llvm::BasicBlock& other) const;

  void block(llvm::BasicBlock& b);
  static Inst finished(Inst inst);
  void jump(llvm::BasicBlock& target, const Operand& guard = {});
  void conditional(llvm::BasicBlock& b, llvm::BranchInst& branch);
  static bool has_phis(const llvm::BasicBlock& b) { return b.phis().begin() != b.phis().end(); }
  // The next block may have been taken in.
  void jump_behind(llvm::BasicBlock& target, const llvm::BasicBlock& taken);

  void collect_copies(const llvm::BasicBlock& from, llvm::BasicBlock& to, Parts& targets, Parts& sources);
  void phi_copies(const llvm::BasicBlock& from, llvm::BasicBlock& to);
  // All at once: a target that another copy still reads comes later, a cycle goes through a temporary.
  void parallel(Parts& targets, Parts& sources);

  void body(llvm::BasicBlock& b);

  // ---- instructions ----

  const Inst* operation(const llvm::CallInst& call) const;
  const std::vector<ptx::Constant>& constants_behind(const llvm::CallInst& call) const;

  void instruction(llvm::Instruction& i);

  static Type float_type(const Value& v) { return v.getType()->isDoubleTy() ? Type::f64 : Type::f32; }

  Parts recut(const Parts& from, unsigned have, unsigned want);
  void binary(llvm::BinaryOperator& i);
  void masked(llvm::Instruction& i, Op op, Type type, std::initializer_list<Operand> sources,
              const ptx::Mods& mods, bool whole);
  // With the sign of bit n - 1 in the whole container.
  Operand extended(const Operand& a, unsigned n, unsigned bytes);
  // Amounts of shifts have 32 bits.
  Operand amount(const Operand& b);

  // The lower half of a factor of 64 bits that it says all about. whole: `value` is that half itself.
  struct Word {
    Value* value = nullptr;
    bool whole = false;
  };
  std::optional<Word> word_of(Value* v, bool sign) const;
  Operand lower_word(const Word& word);
  // Of two such factors, or of one and a number that fits.
  bool wide_product(llvm::BinaryOperator& i);
  bool wide_shift(llvm::BinaryOperator& i);
  // Two words put together.
  bool packs(llvm::BinaryOperator& i);

  void predicates(llvm::BinaryOperator& i);

  void compare(llvm::ICmpInst& i);
  void compare_floats(llvm::FCmpInst& i);

  void select(llvm::SelectInst& i);
  static Operand positive(Operand p);

  void convert_integer(llvm::CastInst& i);
  void extended_byte(llvm::CastInst& i, const Operand& a, unsigned n, unsigned bytes);
  // The upper word of 64 bits.
  bool unpacks(llvm::CastInst& i);

  void convert_float(llvm::CastInst& i);

  // ---- memory ----

  struct Access {
    unsigned count = 1, bytes = 4;
  };
  Access access_of(llvm::Type* t) const;
  void load(llvm::LoadInst& i);
  static bool is_fp(const llvm::Type* t) { return t->getScalarType()->isFloatingPointTy(); }
  void store_value(llvm::StoreInst& i);

  // ---- calls ----

  void call(llvm::CallInst& i);

  void operation(llvm::CallInst& i, const Inst& pattern);

  void known(llvm::IntrinsicInst& i);
  void funnel(llvm::IntrinsicInst& i, unsigned bytes, bool left);

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
  // Of the instruction at hand, in the PTX and in the source.
  struct Line {
    std::uint32_t line = 0, column = 0, file = 0, source_line = 0;
  } at_;
};

}  // namespace simtlab::optimiser

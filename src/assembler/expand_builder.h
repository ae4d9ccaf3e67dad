// What the parts of expand() write their instructions with.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ptx/decode.h"

namespace simtlab::assembler {

// Instructions in place of one. Code of two streams: `main`, and what runs rarely, behind the kernel's last
// instruction. Results are new registers; `give` and `result` write the register of the instruction at hand.
class Expansion {
 public:
  using Inst = ptx::Inst;
  using Mods = ptx::Mods;
  using Op = ptx::Op;
  using Operand = ptx::Operand;
  using Type = ptx::Type;
  using Sources = std::initializer_list<Operand>;
  using Label = std::uint32_t;

  Expansion(ptx::VirtualFunction& function, unsigned generation);

  unsigned generation() const { return generation_; }
  const Inst& at() const { return *at_; }
  // What is written from now on stands for this instruction. carry: the flag of .cc is in use around it.
  void start(const Inst& inst, bool carry);
  // The instruction as it is.
  void keep(const Inst& inst) { main_.push_back(inst); }
  void refuse(std::string why);
  const std::string& why() const { return why_; }
  // Somewhere in the function is the bitwise or of these two registers of 64 bits.
  void find_joined(const std::vector<Inst>& code);
  bool are_joined(const Operand& a, const Operand& b) const;

  // ---- operands ----

  Operand number(std::uint64_t value, unsigned bytes = 4);
  Operand single(float value);
  Operand real(double value);
  Operand make(Type type);
  static bool is_number(const Operand& o) { return o.kind == ptx::OperandKind::imm; }
  // Whether its value is known here: of an address it is not.
  bool known(const Operand& o) const;
  std::uint64_t value(const Operand& o) const;
  // The same value in a register.
  Operand in_register(const Operand& o);
  static Operand inverse(Operand predicate) {
    predicate.negated = !predicate.negated;
    return predicate;
  }

  // ---- instructions ----

  Operand op(Op op, Type type, Sources sources, const Mods& mods = {}, Type stype = Type::none);
  Inst& to(const Operand& result, Op op, Type type, Sources sources, const Mods& mods = {},
           Type stype = Type::none);
  // For the lanes of the predicate.
  void to_if(const Operand& guard, const Operand& result, Op op, Type type, Sources sources,
             const Mods& mods = {}, Type stype = Type::none);
  // The last instruction: it writes the result of the one at hand, under its guard.
  void give(Op op, Type type, Sources sources, const Mods& mods = {}, Type stype = Type::none);
  // A register for a result that takes more than one instruction, and its end.
  Operand result();
  void finish(const Operand& result);

  Operand add(Type type, const Operand& a, const Operand& b) { return op(Op::add, type, {a, b}); }
  Operand sub(Type type, const Operand& a, const Operand& b) { return op(Op::sub, type, {a, b}); }
  Operand low_product(Type type, const Operand& a, const Operand& b);
  Operand high_product(Type type, const Operand& a, const Operand& b);
  Operand wide_product(Type type, const Operand& a, const Operand& b);
  Operand logic(Op operation, const Operand& a, const Operand& b, unsigned bytes = 4);
  Operand shift_left(const Operand& a, const Operand& by, unsigned bytes = 4);
  Operand shift_right(Type type, const Operand& a, const Operand& by);
  Operand compare(ptx::Compare compare, Type type, const Operand& a, const Operand& b);
  // ... and (or, or exclusively or) a predicate.
  Operand compare(ptx::Compare compare, Type type, const Operand& a, const Operand& b, ptx::BoolOp with,
                  const Operand& predicate);
  Operand select(Type type, const Operand& yes, const Operand& no, const Operand& predicate);
  Operand convert(Type to, Type from, const Operand& a, ptx::Rounding rounding = ptx::Rounding::none,
                  bool ftz = false);
  // Words of 64 bits.
  Operand low(const Operand& wide);
  Operand high(const Operand& wide);
  Operand pair(const Operand& low, const Operand& high);

  // Floating point. Signs are instructions that selection makes modifiers of.
  Operand fma(Type type, const Operand& a, const Operand& b, const Operand& c,
              ptx::Rounding rounding = ptx::Rounding::rn);
  Operand minus(Type type, const Operand& a) { return op(Op::neg, type, {a}); }
  Operand magnitude(Type type, const Operand& a) { return op(Op::abs, type, {a}); }
  // An approximation that is one instruction of the hardware.
  Operand approximate(Op operation, Type type, const Operand& a);

  // ---- carries: keep_carry() before, give_carry() behind a sequence that uses the flag ----

  bool carry_in_use() const { return carry_in_use_; }
  void keep_carry();
  void give_carry();

  // ---- branches ----

  Label label();
  void bind(Label label);
  void branch(Label label);
  void branch_if(const Operand& predicate, Label label);
  // For the lanes that the guard of the instruction at hand lets through.
  void branch_where(const Operand& predicate, Label label);
  void branch_here(Label label) { jump(at_->guard, label); }
  void aside() { stream_ = &rare_; }
  void back() { stream_ = &main_; }

  // ---- the end: expand.cpp ----

  std::uint32_t place() const { return static_cast<std::uint32_t>(main_.size()); }
  // new_place: of the instructions of the function as it was.
  std::vector<Inst> finished(const std::vector<std::uint32_t>& new_place);

 private:
  struct Place {
    bool rare = false;
    std::uint32_t index = 0;
  };
  struct Jump {
    Place from;
    Label label = 0;
  };
  Place here() const { return {stream_ == &rare_, static_cast<std::uint32_t>(stream_->size())}; }
  void jump(const Operand& guard, Label label);
  bool redirect(const Operand& value);

  ptx::VirtualFunction& function_;
  unsigned generation_;
  const Inst* at_ = nullptr;
  std::size_t first_ = 0;             // instruction behind the last label
  std::uint32_t first_register_ = 0;  // of those made for the instruction at hand
  bool carry_in_use_ = false;
  Operand carry_;
  std::vector<Inst> main_, rare_;
  std::vector<Inst>* stream_ = &main_;
  std::vector<Place> labels_;
  std::vector<Jump> jumps_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::unordered_set<std::uint64_t> joined_;
  std::string why_;
};

}  // namespace simtlab::assembler

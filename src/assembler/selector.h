// The class behind select(). Its parts: values (select_values.cpp), and a file for each kind of instruction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assembler/build.h"
#include "ptx/cfg.h"
#include "ptx/decode.h"

namespace simtlab::assembler {

using ptx::Fold;
using ptx::Inst;
using ptx::Op;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

// Where an access goes: a register (none: no register) and an offset. wide: the register is a pair.
struct Place {
  Ref base;
  std::int64_t offset = 0;
  bool wide = false;
};

class Selector {
 public:
  Selector(const ptx::VirtualFunction& function, const ptx::Module& module, unsigned generation,
           Program& program);
  void run();

  // ---- for the functions that know an operation ----

  Builder& out() { return builder_; }
  unsigned generation() const { return generation_; }
  [[noreturn]] static void give_up(std::string why) { throw GivenUp{std::move(why)}; }

  // Source i: a register, a number, a parameter or an address. A sign that the instruction before put on it
  // (Fold::sign) is a modifier. Values of 64 bits are wide; see half_of().
  Value source(const Inst& inst, unsigned i);
  // The same without modifiers, in a register.
  Value in_register(const Inst& inst, unsigned i) { return builder_.as_register(plain_source(inst, i)); }
  // The same as source() of an instruction that takes no modifiers.
  Value plain_source(const Inst& inst, unsigned i);
  // A source of 8 or 16 bits, extended to 32 by its sign.
  Value extended(const Inst& inst, unsigned i, unsigned bits);
  Value sign_extended(const Value& value, unsigned bits);
  // d = value & (2^bits - 1)
  void mask(Ref d, const Value& value, unsigned bits);
  Condition condition(const Operand& predicate) const;
  Condition condition(const Inst& inst, unsigned i) const { return condition(inst.src[i]); }

  // Result k; none: it is not wanted.
  Ref result(const Inst& inst, unsigned k = 0);
  Ref low(Ref wide) const;
  Ref high(Ref wide) const;
  // The instruction that makes source i, if it is taken in by this one.
  const Inst* taken(const Inst& inst, unsigned i, Fold kind) const;
  // The only instruction that makes it, always; null: none.
  const Inst* definition(const Operand& operand) const;
  // Somebody reads the register, as it is in PTX.
  bool is_read(const Operand& operand) const;
  std::optional<std::uint64_t> known(const Operand& operand) const;  // a number

  // The comparison that a predicate operand is, where an `and` or `or` makes it a part of itself.
  const Inst* comparison(const Inst& inst, unsigned i) const;
  // Makes those after all.
  void make_comparisons(const Inst& inst);

  Place place(const Inst& inst, bool wide);
  // A place in constant bank 3: of a variable, or a register behind one. nullopt: it is not known to be one.
  struct BankPlace {
    std::uint32_t offset = 0;
    Ref index;
  };
  std::optional<BankPlace> bank_place(const Inst& load);
  // Address of a byte of the frame, in local memory.
  Value frame_place(std::int64_t offset, Ref result);
  // The address in it is R1's, beside its offset.
  void use_stack(Instruction& i);
  // A word of constant bank 0.
  Value launch_word(std::uint32_t offset) const { return parameter(offset); }

  const ptx::Function& function() const { return f_.fn; }
  const ptx::Module& module() const { return module_; }
  Program& program() { return program_; }

  // The block of an instruction; branches name it.
  std::uint32_t block_at(std::uint32_t pc) const { return cfg_.block_of[pc]; }

  // The carry flag, within a block.
  std::optional<Condition> flag() const { return flag_; }
  void set_flag(Condition flag) { flag_ = flag; }

  // add, sub of integers: what select_integer.cpp has for others.
  void add_wide(Ref d, const Value& a, const Value& b);
  // A number of 64 bits that is no immediate lies in constant bank 2, as the vendor's assembler has it up to
  // Ampere.
  Value in_bank(const Value& v);

 private:
  void make_registers();
  void select_block(std::uint32_t block);
  void order_blocks(std::uint32_t from_ptx);
  void instruction(const Inst& inst);
  void emit(const Inst& inst);
  void make_left_out(const Operand& operand);
  bool is_left_out(const Inst& inst) const;
  Ref ref_of(const Operand& operand) const;
  std::optional<Value> constant_of_bank(const Inst& load, unsigned bytes) const;
  std::optional<Value> constant_value(const Operand& operand, unsigned bytes);
  Value constant_of(std::uint32_t index, unsigned bytes);
  Value address_half(const ptx::Constant& constant, bool high);

  const ptx::VirtualFunction& f_;
  const ptx::Module& module_;
  unsigned generation_;
  Program& program_;
  ptx::Cfg cfg_;
  Builder builder_;
  std::vector<std::uint32_t> definition_;  // of each register: its only instruction, unguarded; none
  std::vector<bool> read_;
  std::vector<Ref> refs_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> addresses_;
  std::map<std::uint64_t, std::uint32_t> literals_;  // places in Program::literals
  std::optional<Condition> flag_;
  unsigned depth_ = 0;  // of make_left_out()
};

// What knows an operation.
using Selection = void (*)(Selector&, const Inst&);
struct SelectionRow {
  Op op;
  Selection select;
};
std::span<const SelectionRow> integer_selections();
std::span<const SelectionRow> logic_selections();
std::span<const SelectionRow> move_selections();
std::span<const SelectionRow> floating_selections();
std::span<const SelectionRow> memory_selections();
std::span<const SelectionRow> control_selections();
std::span<const SelectionRow> conversion_selections();  // cvt, halves
std::span<const SelectionRow> half_selections();        // f16, bf16 and their pairs
std::span<const SelectionRow> atomic_selections();
std::span<const SelectionRow> call_selections();  // of the driver
std::span<const SelectionRow> warp_selections();  // votes, shuffles, barriers

// ---- what the files share ----

inline bool is_single_half(Type t) { return t == Type::f16 || t == Type::bf16; }
inline bool is_half_pair(Type t) { return t == Type::f16x2 || t == Type::bf16x2; }

// The word of a comparison of floats; empty: it is none. The comparison with its sides changed.
std::string_view float_comparison(ptx::Compare compare);
ptx::Compare swapped_comparison(ptx::Compare compare);
std::string_view combination_word(ptx::BoolOp op);
// What comes before an access that releases, and after one that acquires.
void release(Selector& s, ptx::Scope scope);
void acquire(Selector& s, ptx::Scope scope, Space space);
// p (and, of pairs, q for the upper halves) = (a compare b) combined with a predicate
void compare_halves(Selector& s, const Inst& inst, Ref p, Ref q, ptx::BoolOp combine, Condition with);

inline bool is_integer(Type t) { return !ptx::is_float(t) && t != Type::pred && t != Type::none; }

}  // namespace simtlab::assembler

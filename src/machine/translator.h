// Collects what an instruction does in operations of the executor (ptx::Inst over the rows of Layout).
//
// Operations run one after another on the lanes that execute the instruction. An intermediate value has rows
// of its own, which live until the instruction ends.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "machine/code.h"
#include "machine/flow_stack.h"
#include "ptx/module.h"

namespace simtlab::machine {

// Variables of the module that hold the constant banks 1 and up, by bank.
struct ConstantBank {
  std::uint32_t variable = 0;
  std::uint64_t bytes = 0;
};
using ConstantBanks = std::map<std::uint8_t, ConstantBank>;

// Modifiers of an operation are set on what emit() returns.
class Translator {
 public:
  // constants: of the ptx::Function that the code belongs to.
  Translator(const Layout& layout, std::vector<ptx::Constant>& constants, Code& code,
             ConstantBanks banks = {});

  // What `instruction` does becomes the next action of the code. Throws Error(unsupported,
  // "machine-instruction") with its name where it is not executed yet.
  // view: what models read of it, which may be completed (barriers).
  void translate(const Instruction& instruction, ptx::Inst& view, const std::string& kernel);
  // Words of constant bank 0 that are handles of texture references, by offset: variables of the module.
  void set_textures(std::map<std::uint32_t, std::uint32_t> textures) { textures_ = std::move(textures); }
  // The immediate of the next instruction is (a half of) the address of a variable. Null: it is a number.
  void set_address(const ptx::Constant* address) { address_ = address; }
  // What the next instruction does to the stack of branches, where the generation has one.
  void set_stack(const StackEffect& effect) { stack_ = effect; }

  // ---- for the functions that know an instruction ----

  const Instruction& instruction() const { return *instruction_; }
  Action& action() { return action_; }
  ptx::Inst& view() { return *view_; }
  const StackEffect& stack() const { return stack_; }
  // Whether the code asks more of the flags of sums than carry and zero, and whether an address is in the
  // window of shared memory: on old generations, where it costs to find out for nothing.
  bool tests_signs() const { return tests_signs_; }
  bool tests_window() const { return tests_window_; }
  // Whether some sum may carry twice.
  bool adds_three() const { return adds_three_; }
  bool has_register(std::uint32_t number) const { return number < layout_.registers; }
  // The instruction's flags are set. One whose flags nothing knows is refused.
  void know_flags() { knows_flags_ = true; }
  // The 32-bit result of the last operation, a value also where nobody reads it.
  ptx::Operand last_result();
  unsigned field(Name name, unsigned otherwise = 0) const { return instruction_->field(name, otherwise); }
  // The word of a modifier: "ANY"; empty if it has none, or the form has no such modifier.
  std::string_view word(Name field) const;
  // The operand of this name; one that the form does not have is an error of ours.
  const Operand& operand(Name name) const;
  bool has(Name name) const { return instruction_->form->operand(name) >= 0; }
  // The sources that hold values (registers, constants, immediates, uniform registers) in their order: a, b,
  // c of a mnemonic whatever its form.
  const Operand& source(unsigned index) const;
  unsigned source_count() const { return static_cast<unsigned>(sources_.size()); }

  // Values as they stand, without - ~ and ||: 32 bits, 64 bits of a pair of registers (or of a constant).
  ptx::Operand raw(const Operand& source);
  ptx::Operand raw_wide(const Operand& source);
  // With the modifiers of an integer (-, ~).
  ptx::Operand integer(const Operand& source);
  ptx::Operand integer_wide(const Operand& source);
  // With those of a float (||, then -): f32 in 32 bits, f64 in 64.
  ptx::Operand single(const Operand& source);
  ptx::Operand real(const Operand& source);

  // Predicates: as a source (with its !), as a result.
  ptx::Operand predicate(const Operand& source) const;
  ptx::Operand predicate(Name name) const { return predicate(operand(name)); }
  ptx::Operand predicate_result(Name name) const;
  bool is_true(const Operand& predicate) const;   // PT
  bool is_false(const Operand& predicate) const;  // !PT

  // The 32-bit row of a result. RZ: a value that nobody reads.
  ptx::Operand result(const Operand& destination) const;
  ptx::Operand result(Name name) const { return result(operand(name)); }
  // Register `offset` behind an operand's.
  ptx::Operand register_behind(const Operand& first, unsigned offset) const;
  // A 64-bit source, and result, in two rows side by side: low words, high words. For operations that say so
  // (ptx/machine_ops.h).
  ptx::Operand halves(const Operand& source);
  ptx::Operand result_halves(const Operand& destination) const;
  // Writes a 64-bit value to a pair of registers.
  void store_wide(const Operand& destination, const ptx::Operand& value);

  ptx::Operand temporary();       // 32 bits
  ptx::Operand temporary_wide();  // 64 bits
  ptx::Operand temporary_predicate();
  ptx::Operand number(std::uint64_t value, unsigned bytes = 4);
  ptx::Operand special(ptx::Special special, unsigned bytes = 4) const;
  // 32 (or 64) bits of constant bank 0 at this byte: launch state and parameters.
  ptx::Operand launch_state(std::uint32_t offset, unsigned bytes = 4);
  // The device address of a byte of another bank, 64 bits.
  ptx::Operand bank_address(std::uint8_t bank, std::uint32_t offset);
  // Where the result of BAR.RED waits for B2R.
  ptx::Operand barrier_count() const;
  ptx::Operand barrier_predicate() const;

  ptx::Inst& emit(ptx::Op op, ptx::Type type, std::initializer_list<ptx::Operand> results,
                  std::initializer_list<ptx::Operand> sources);
  // The same for what accesses memory; at most one an instruction.
  ptx::Inst& emit_memory(ptx::Op op, ptx::Type type, std::initializer_list<ptx::Operand> results,
                         std::initializer_list<ptx::Operand> sources);
  // The address in a memory operand: 64 bits (wide) or 32, without its constant offset, which goes to the
  // operation's imm_offset.
  ptx::Operand address(const Operand& memory);
  // The pair of registers that is the address but for its offset, for ptx::address_in_halves. nullopt: the
  // address has other parts.
  std::optional<ptx::Operand> address_halves(const Operand& memory) const;

  [[noreturn]] void refuse(std::string_view why) const;

 private:
  void find_tests();
  ptx::Operand row(std::uint32_t index, unsigned bytes) const;
  const OperandForm& form_of(const Operand& operand) const;
  bool has_uniform(const Operand& memory) const;
  ptx::Operand pair_of(std::uint32_t first);
  ptx::Operand constant(const Operand& source, unsigned bytes);
  ptx::Operand constant_place(const Operand& source);
  std::optional<ptx::Operand> held_constant(const Operand& source, unsigned bytes);
  std::optional<ptx::Operand> literal(const Operand& source, unsigned bytes);

  const Layout& layout_;
  std::vector<ptx::Constant>& constants_;
  Code& code_;
  ConstantBanks banks_;
  std::map<std::uint32_t, std::uint32_t> textures_;
  const Instruction* instruction_ = nullptr;
  const ptx::Constant* address_ = nullptr;
  StackEffect stack_;
  ptx::Inst* view_ = nullptr;
  std::string kernel_;
  Action action_;
  std::vector<const Operand*> sources_;
  ptx::Operand temporary_row(std::uint32_t first, std::uint32_t count) const;  // of Layout::temporary

  std::uint32_t next_temporary_ = first_temporary_row, next_predicate_ = 0;
  bool tests_signs_ = false, tests_window_ = false, adds_three_ = false, knows_flags_ = false;
  std::map<std::tuple<int, std::uint64_t, unsigned>, std::uint32_t> numbers_;  // of constants_
};

// A function that knows one mnemonic (or several alike), by the name without modifiers: "IADD3", "IADD3.X".
using Semantics = void (*)(Translator&);
struct SemanticsRow {
  std::string_view mnemonic;
  Semantics translate;
};
std::span<const SemanticsRow> integer_semantics();   // sums and products of integers, minima, comparisons
std::span<const SemanticsRow> logic_semantics();     // logic, shifts, bits, moves, predicates
std::span<const SemanticsRow> floating_semantics();  // f32, f64, f16, conversions
std::span<const SemanticsRow> memory_semantics();    // loads, stores, constants, fences
std::span<const SemanticsRow> atomic_semantics();
std::span<const SemanticsRow> texture_semantics();
std::span<const SemanticsRow> async_barrier_semantics();  // barriers in shared memory
std::span<const SemanticsRow> double_semantics();         // f64
std::span<const SemanticsRow> half_semantics();           // f16, bf16
std::span<const SemanticsRow> conversion_semantics();     // F2F, F2I, I2F, FRND and the packing ones
std::span<const SemanticsRow> warp_semantics();           // votes, shuffles, special registers
std::span<const SemanticsRow> control_semantics();        // branches, convergence, barriers, exits
// What Maxwell and Pascal do otherwise, or alone: asked before the others.
std::span<const SemanticsRow> bundled_semantics();
std::span<const SemanticsRow> bundled_compare_semantics();
std::span<const SemanticsRow> bundled_video_semantics();
std::span<const SemanticsRow> bundled_texture_semantics();
std::span<const SemanticsRow> bundled_control_semantics();

}  // namespace simtlab::machine

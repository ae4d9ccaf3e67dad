// Makes machine instructions: chooses the form for what the sources are, and puts into registers what no form
// takes.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assembler/program.h"

namespace simtlab::assembler {

// A source of an instruction.
struct Value {
  enum class Kind : std::uint8_t {
    reg,       // `ref`; if it is none RZ or, where `bits` is not 0, the register with the number below it
    number,    // `bits`: an integer, or the bits of a float (f32 or f64)
    constant,  // bytes of constant bank `bank` from `offset` on
    address,   // half of an address (Program::addresses[bits])
    uniform,   // uniform register `ref`, or the one with number `bits` if it is none
  };
  Kind kind = Kind::reg;
  Ref ref{};
  bool negated = false, absolute = false, inverted = false;
  std::uint8_t half = 0, part = 0;  // as machine::Operand has them
  std::uint8_t bank = 0;
  bool wide = false;  // 64 bits
  std::uint32_t offset = 0;
  std::uint64_t bits = 0;

  bool is_number() const { return kind == Kind::number; }
  bool is_zero_register() const { return kind == Kind::reg && !ref && bits == 0; }
  bool plain() const { return !negated && !absolute && !inverted && half == 0 && part == 0; }
};
inline Value zero() { return {}; }
inline Value value_of(Ref ref) { return {.ref = ref, .wide = ref.count == 2}; }
inline Value number(std::uint64_t bits, bool wide = false) {
  return {.kind = Value::Kind::number, .wide = wide, .bits = bits};
}
inline Value parameter(std::uint32_t offset, bool wide = false) {
  return {.kind = Value::Kind::constant, .wide = wide, .offset = offset};
}
inline Value uniform_register(std::uint8_t at) { return {.kind = Value::Kind::uniform, .bits = at}; }
inline Value uniform_value(Ref ref) {
  return {.kind = Value::Kind::uniform, .ref = ref, .wide = ref.count == 2, .bits = machine::zero_uniform};
}
// The low or high word of a value of 64 bits.
Value half_of(const Value& wide, bool high);

// A predicate as a source: none is PT, or !PT.
struct Condition {
  Ref ref{};
  bool inverted = false;
};
inline Condition always() { return {}; }
inline Condition never() { return {{}, true}; }

// What the sources of an instruction are, in the order in which they are written; `at`: its operands.
struct SourceValues {
  std::array<Value, 4> values{};
  std::array<std::uint8_t, 4> at{};
  std::size_t count = 0;
  std::span<const Value> all() const { return {values.data(), count}; }
};
// nullopt: one of them is not known as a value. named: registers that have a number are values, too.
std::optional<SourceValues> source_values(const Instruction& instruction, bool named = false);

// HFMA2 that the pipe of products of matrices does; emit() knows it as HFMA2.MMA.
bool on_tensor_pipe(const machine::Form& form);

// Whether instructions of lanes read constant banks as operands. ptxas writes none for Hopper: constants come
// by LDC and ULDC.
inline bool reads_constants(unsigned generation) { return generation < 90; }

// The uniform register of instructions that give lanes a value by one, at once moved to a register of theirs.
constexpr std::uint8_t uniform_result = 4;
void set_uniform_result(Instruction& i);

struct FieldWord {
  std::string_view field, word;
};

class Builder {
 public:
  Builder(Program& program, unsigned generation) : program_(program), generation_(generation) {}

  // Where the next instructions go, and what they are made of.
  void start(std::uint32_t block);
  std::uint32_t block() const { return block_; }
  // What comes now is in a new block behind this one.
  void split();
  void at(const ptx::Inst& inst);
  // Instructions from here on are guarded (where they are not marked as unconditional).
  void guard(Condition condition) { guard_ = condition; }
  Condition guard() const { return guard_; }

  Ref new_register(unsigned width = 1);
  Ref new_predicate();

  // The instruction that is at the end of the block now. `result` none: RZ. Sources in the order in which
  // they are written. Predicates that are not set are PT as results and as sources; set() changes one.
  Instruction& emit(std::string_view mnemonic, Ref result, std::initializer_list<Value> sources,
                    std::initializer_list<FieldWord> fields = {});
  // With an address: register + offset. `values`: of a store or an atomic operation.
  Instruction& access(std::string_view mnemonic, Ref result, Ref base, std::int64_t offset, bool wide,
                      std::initializer_list<Value> values, std::initializer_list<FieldWord> fields);

  // An access to the place of `like`, with a form of its own
  Instruction access_like(std::string_view mnemonic, Ref result, const Instruction& like) const;

  // `like` with another form and these sources, beside which all is as it was: results and conditions by the
  // names of operands, with and without the U of the uniform datapath, and fields. nullopt: the form lacks
  // what `like` says, or does not take a source.
  // left_out: fields that are not taken over.
  std::optional<Instruction> with_form(const Instruction& like, const machine::Form& form,
                                       std::span<const Value> sources,
                                       std::span<const std::string_view> left_out = {}) const;

  // By the names of the form's operands.
  void set_result(Instruction& i, machine::Name operand, Ref predicate);
  void set_condition(Instruction& i, machine::Name operand, Condition condition);
  void set_number(Instruction& i, machine::Name operand, std::int64_t value);
  void set_field(Instruction& i, machine::Name field, unsigned value);
  void set_word(Instruction& i, const FieldWord& word) { set_fields(i, {word}); }
  bool has_form(std::string_view mnemonic) const;
  std::span<const machine::Form* const> forms(std::string_view mnemonic) const;
  // That takes the sources as they are; null: none does.
  const machine::Form* form_for(std::string_view mnemonic, std::span<const Value> sources) const;

  // The value in a register (a pair where it is wide), without modifiers.
  Ref in_register(const Value& value);
  Value as_register(const Value& value) { return value_of(in_register(value)); }
  // d = value; a copy that allocation may take away.
  void move(Ref d, const Value& value);

 private:
  using Fields = std::initializer_list<FieldWord>;
  const machine::Form* form_with_registers(std::string_view mnemonic, std::span<Value> values);
  Instruction start_instruction(const machine::Form& form) const;
  static void set_source(Instruction& i, std::size_t operand, const Value& value);
  void set_fields(Instruction& i, Fields fields);
  Instruction& append(Instruction i);
  void move_word(Ref d, const Value& value);
  void put_in_register(Value& value);

  Program& program_;
  unsigned generation_;
  std::uint32_t block_ = 0;
  Condition guard_;
  const ptx::Inst* origin_ = nullptr;
  // Numbers and parameters that are in registers already, in this block
  using Key = std::tuple<int, std::uint64_t, std::uint32_t>;
  static Key key_of(const Value& value);
  std::map<Key, Ref> kept_;
};

}  // namespace simtlab::assembler

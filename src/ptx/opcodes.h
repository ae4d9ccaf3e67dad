// The one table of PTX instructions: what may follow a base opcode, which operands it takes, how it is
// classed for timing, whether simtlab executes it. Decode, `simtlab list ptx` and the tests read it.
//
// A form is   base opcode | modifiers | operands.
// Modifiers are groups separated by blanks: "a|b" one of, "?a" optional, "!a" part of the name, UPPER CASE a
// macro of opcode_match.cpp. The first group of type names sets Inst::type, the second Inst::stype. A text
// may have its modifiers in another order than the form, as ptxas takes them; the name stays in front, and
// types keep their order. Operands are separated by blanks, in order, "=" marks results:
//   T the type, S the source type, W twice as wide as the type, u32 etc. that type, p a predicate, p|q a pair
//   whose second half may be left out, A an address, # an integer constant, ? may be left out, ~ the register
//   may be wider than the type. Names in < > are families with rules of their own in decode.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/inst.h"
#include "ptx/op.h"

namespace simtlab::ptx {

// How the class of an instruction follows from its types and modifiers. by_type: int_alu, fp16, fp32 or fp64
// by the operand type.
enum class ClassRule : std::uint8_t { fixed, by_type, float_div, float_sqrt, convert, load, store, atomic };

// The class of a form: always the same one, or by a rule.
struct FormClass {
  ClassRule rule = ClassRule::fixed;
  OpClass fixed = OpClass::int_alu;
  constexpr FormClass(OpClass c)
      : fixed(c) {}  // NOLINT(google-explicit-constructor): rows of the table name either
  constexpr FormClass(ClassRule r) : rule(r) {}  // NOLINT(google-explicit-constructor)
};

struct Form {
  std::string_view base, modifiers, operands;
  Op op = Op::nop;
  FormClass rule = OpClass::int_alu;
  bool refused = false;
  std::string_view note;  // refused: why; supported: remark for the coverage table; may be empty
};
std::span<const Form> opcode_table();

// One group of modifiers of a form, macros expanded.
struct FormGroup {
  std::string_view macro;  // name of the macro or prefix, or empty
  std::vector<std::string_view> words;
  bool optional = false, repeats = false;
  bool rest = false;   // "*": whatever follows
  bool types = false;  // names of types
  bool named = false;  // "!": part of the instruction's name, stays in front
};
const std::vector<FormGroup>& groups_of(const Form& form);  // `form` is an element of opcode_table()

// Kinds of operands in a signature.
struct OperandSpec {
  enum class What : std::uint8_t {
    type,
    stype,
    wide,
    fixed,
    pred,
    pred_pair,
    value_pred,
    address,
    constant
  } what = What::type;
  Type fixed = Type::none;
  bool result = false, optional = false, relaxed = false;
};

// An opcode text that fits a form.
struct Match {
  const Form* form = nullptr;
  Op op = Op::nop;
  OpClass op_class = OpClass::int_alu;
  Type type = Type::none, stype = Type::none;
  Mods mods;
  bool cache_policy = false;  // .L2::cache_hint: one more operand at the end
  std::string_view family;    // "<ld>" without brackets, or empty: `operands` rules
  const std::vector<OperandSpec>* operands = nullptr;
};

// Looks opcode texts up and remembers the results. One object a decode.
class OpcodeMatcher {
 public:
  struct Result {
    std::optional<Match> match;  // supported
    std::string problem, hint;   // otherwise: why not
  };
  const Result& find(std::string_view opcode);

 private:
  std::unordered_map<std::string_view, Result> seen_;
};

OpClass class_of(FormClass of, Type type, Type stype, const Mods& mods);

}  // namespace simtlab::ptx

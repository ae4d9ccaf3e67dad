// What the parts of bundled.h share: the instruction that is being rewritten, and sums and products in terms
// of the older generations.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "assembler/build.h"

namespace simtlab::assembler {

struct Flags {
  bool in = false, out = false;  // .X, .CC
};

class BundledBuilder {
 public:
  BundledBuilder(Program& program, unsigned generation);

  Builder& out() { return out_; }
  unsigned generation() const { return generation_; }

  // What comes now stands in for this instruction: with its guard and its line.
  void stand_for(const Instruction& i);
  Instruction& emit(std::string_view name, Ref d, std::initializer_list<Value> sources,
                    std::initializer_list<FieldWord> fields = {});

  // The result of an instruction without effects: of an earlier one in this block that says the same.
  Value shared(std::string_view name, std::initializer_list<Value> sources,
               std::initializer_list<FieldWord> fields = {});
  void start(std::uint32_t block);
  // Registers that an instruction wrote have other values now.
  void note_writes(const Instruction& i);

  Ref temporary(unsigned width = 1) { return out_.new_register(width); }
  // A number that no form takes as it is: constant bank 2.
  Value literal(const Value& number);
  // `number` where a form of `name` takes it at this place among `sources`, else a literal.
  Value number_or_literal(std::string_view name, std::vector<Value> sources, std::size_t at);

  // ---- sums ----
  // d = a + b, of which one may be negated (with a carry in: its complement).
  void add(Ref d, Value a, Value b, Flags flags = {});
  // d = (a << n) + b
  void add_shifted(Ref d, Value a, Value b, unsigned n, Flags flags = {});
  void add_three(Ref d, Value a, Value b, Value c);
  void shift_left(Ref d, const Value& a, unsigned n);
  void shift_right(Ref d, const Value& a, unsigned n, bool is_signed);
  Value shifted_left(const Value& a, unsigned n) {
    return shared("SHL", {out_.as_register(a), number(n)}, {});
  }
  Value shifted_right(const Value& a, unsigned n, bool is_signed) {
    return shared("SHR", {out_.as_register(a), number(n)}, {{"u32", is_signed ? "" : "U32"}});
  }

  // One word of a pair that is shifted: the high one to the left, the low one to the right. The amount is at
  // most `most`, or its bits that `most` has where it wraps.
  struct PairShift {
    Value low, high, by;
    bool left = false, is_signed = false;
    std::uint32_t most = 32;
    bool wraps = false;
  };
  // Where no instruction shifts such pairs: none does up to the first Kepler
  void move_between(Ref d, const PairShift& s);

  // ---- products ----
  // d = a * b + c
  void multiply_add(Ref d, Value a, Value b, Value c);
  // The upper word of a * b
  void multiply_high(Ref d, Value a, Value b, bool is_signed);
  // Both words, lower first
  std::pair<Value, Value> multiply_wide(Value a, Value b, bool is_signed);
  // d = a word of a * b + c; the low one sets a carry, the high one adds it.
  enum class Word : bool { low, high };
  void add_product(Word word, Ref d, Value a, Value b, const Value& c, bool is_signed);
  // Up to Kepler: IMAD and IMUL instead of products of halves
  bool whole_products() const { return !out_.has_form("XMAD"); }
  // Values below 2^16, known from what wrote them.
  void note_writers();

 private:
  void order_factors(Value& a, Value& b);
  // c as a form of IMAD takes it beside these factors; b may become a register.
  Value fit_addend(const Value& a, Value& b, const Value& c);
  Value high_word(const Value& a, const Value& b, const Value& x0, bool is_signed);
  bool is_short(const Value& v) const;

  Program& program_;
  Builder out_;
  unsigned generation_;
  ptx::Inst origin_;
  std::vector<bool> short_;                          // by register
  std::vector<std::uint32_t> versions_;              // how often it has been written in this block
  std::map<std::vector<std::uint64_t>, Ref> made_;   // by what shared() is asked for
  std::map<std::uint64_t, std::uint32_t> literals_;  // places in Program::literals
};

inline Ref part_of(const Ref& wide, unsigned part) {
  return {.reg = wide.reg, .part = static_cast<std::uint8_t>(wide.part + part), .count = 1};
}
inline Value plain(Value v) {
  v.negated = v.absolute = v.inverted = false;
  return v;
}
// Zero, whatever its signs
inline bool is_nothing(const Value& v) { return v.is_zero_register() || (v.is_number() && v.bits == 0); }
// The number that a value without bits elsewhere is, 32 bits with its signs.
inline std::optional<std::uint32_t> known_number(const Value& v) {
  if (v.is_zero_register()) return 0;
  if (!v.is_number() || v.absolute) return std::nullopt;
  auto bits = static_cast<std::uint32_t>(v.bits);
  if (v.inverted) bits = ~bits;
  if (v.negated) bits = 0u - bits;
  return bits;
}

}  // namespace simtlab::assembler

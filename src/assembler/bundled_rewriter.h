// Rewrites a program, instruction by instruction. Its functions stand by subject in bundled.cpp (the table of
// names, and what all others need), bundled_sums.cpp, bundled_logic.cpp, bundled_floats.cpp,
// bundled_memory.cpp and bundled_locks.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "assembler/bundled_builder.h"

namespace simtlab::assembler {

class Bundler {
 public:
  Bundler(Program& program, unsigned generation, std::vector<Ref> locks_done)
      : p_(program), b_(program, generation), locks_done_(std::move(locks_done)) {}

  void run();

 private:
  using Rewrite = void (Bundler::*)(const Instruction&);
  struct Row {
    std::string_view name;
    Rewrite rewrite;
  };
  static std::span<const Row> rows();
  void rewrite(const Instruction& i);

  // ---- what an instruction says ----

  static Ref result(const Instruction& i, std::string_view name = "Rd");
  static Condition condition(const Instruction& i, std::string_view name);
  static bool is_true(const Condition& c) { return !c.ref && !c.inverted; }
  static bool is_false(const Condition& c) { return !c.ref && c.inverted; }
  static std::string_view word(const Instruction& i, std::string_view field);
  static unsigned number_of(const Instruction& i, std::string_view operand);
  // Whether it writes (as_result) or reads a part of this register.
  static bool touches(const Instruction& i, const Ref& r, bool as_result);
  static bool writes(const Instruction& i, const Ref& r) { return touches(i, r, true); }
  static bool reads(const Instruction& i, const Ref& r) { return touches(i, r, false); }

  // Constants of bank 0 where this generation has them, and numbers instead of registers that hold them.
  std::vector<Value> sources(const Instruction& i) const;
  // Where this generation has a parameter or a value of the launch.
  std::uint32_t place_of(std::uint32_t offset) const;

  // Registers that always hold one number of few bits: Volta's forms had no room for it.
  void find_numbers();
  void find_uses();
  void find_products();
  // Who wrote the register last before the instruction `at` of this block, if nothing that it read has been
  // written since.
  // How far apart two instructions may stand that are rewritten as one: bounds the time.
  static constexpr std::size_t farthest_pair = 256;
  const Instruction* writer_in_block(const Ref& r, std::size_t at) const;

  // ---- the same instruction under another form ----

  void same(const Instruction& i);
  Instruction& with_name(const Instruction& i, std::string_view name);
  Instruction& with_name(const Instruction& like, std::string_view name, std::vector<Value> values);
  // One value that keeps all forms from taking the sources: a literal where one is taken there, else a
  // register.
  void make_fit(std::string_view name, std::vector<Value>& values);
  Instruction& append(Instruction i, const Instruction& like);
  // A field back to what it is without a word.
  static void clear(Instruction& i, std::string_view field);
  // In a register with the signs that it has.
  Value in_register(const Value& v);
  void drop(const Instruction&) {}
  void refuse(const Instruction& i);
  void move(const Instruction& i);

  // ---- sums ----

  // What the words of a sum add; the first value of scaled ones is shifted.
  struct Terms {
    std::vector<Value> values;  // at most three
    unsigned shift = 0;
    bool scaled = false;
  };

  void three_terms(const Instruction& i);
  void scaled(const Instruction& i);
  void scaled_high(const Instruction& i);
  // The low word of a sum of 64 bits: `carry` (and `second`) are read by who makes the high word, mostly the
  // next instruction.
  void low_word(const Instruction& low, const Ref& carry, const Ref& second);
  // A high word whose low one is elsewhere.
  void high_word(const Instruction& i);
  // Moves between the words of a sum go in front of it, where they may.
  void make_with_this(std::size_t later);
  void gather_sums();
  // The next instruction that reads a predicate of `writer`, which stands at `from`, if it may be made here:
  // with the same guard, and nothing between has to do with what it reads and writes. 0: there is none.
  std::size_t reader_of(std::size_t from, const Instruction& writer, const Ref& p) const;
  // Of the same sum: it is made before.
  static bool is_carry_chain(const Instruction& earlier, const Instruction& later);
  static bool is_high_word(const Instruction& i);
  static bool adds_carry_plainly(const Instruction& i);
  // Whether the carry of a high word, if it has one, goes to one that may be made here, and so on.
  bool goes_on_plainly(std::size_t high) const;
  Terms terms_of(const Instruction& i) const;
  // The terms of a high word in their places: those that are nothing count, since a low word stands for each.
  std::vector<Value> high_terms(const Instruction& high);
  void both_words(const Instruction& low, const Instruction& high);
  void emit_pair(const Instruction& low, const Instruction& high, Ref d);
  void add_high(Ref top, const std::vector<Value>& terms, bool carries);
  // LEA and LEA.HI.X. False: other instructions are better.
  bool scaled_pair(const Terms& a, const Instruction& high, Ref d, Ref top);
  // The same by a product (IMAD.HI.X), up to Kepler
  bool scaled_by_product(const Terms& a, const Instruction& high, const std::vector<Value>& v, Ref d,
                         Ref top);
  // The high word of high:low << n
  Value upper_of_shifted(const Value& low, const Value& high, unsigned n);
  // The two words stand apart: the carry as a predicate. It is what the sum of two numbers is below the first
  // one, or that the difference does not borrow.
  void apart(const Instruction& low, const Ref& carry, const Ref& second);

  // ---- products ----

  // a * b + high:low
  struct WideProduct {
    Value a, b;
    bool is_signed = false;
    bool adds = false;
    Value low{}, high{};
  };
  // Another one in the block has the same factors.
  bool is_repeated(const WideProduct& p);

  void product(const Instruction& i);
  void high_product(const Instruction& i);
  void wide_product(const Instruction& i);
  WideProduct wide_factors(const Instruction& i) const;
  void wide_into(const Instruction& i, Ref low, Ref high);
  // By 2^n
  void shift_into(const WideProduct& p, Ref low, Ref high, unsigned n);
  // The product is first (its lower word) and top.
  void add_words(const WideProduct& p, Ref low, Ref high, const Value& first, const Value& top);

  // ---- logic, shifts, bit fields ----

  void logic(const Instruction& i);
  // d, and in p whether it is not 0. Either may be none.
  void emit_logic(Ref d, Ref p, unsigned table, const std::vector<Value>& v);
  bool two_inputs(Ref d, Ref p, unsigned table, Value a, Value b, const std::vector<unsigned>& inputs);
  void three_inputs(Ref d, Ref p, unsigned table, const std::vector<Value>& v);
  // The same from LOPs, up to Kepler
  void by_two_inputs(Ref d, unsigned table, const std::vector<Value>& v);
  void shift(const Instruction& i);
  void reverse(const Instruction& i);
  void magnitude(const Instruction& i);
  // VABSDIFF: |a - b| + c
  void difference(const Instruction& i);
  void difference_of_bytes(const Instruction& i);
  // SGXT: the lower bits of a, extended
  void extend(const Instruction& i);
  // BMSK: as many ones as b says, from bit a on
  void mask(const Instruction& i);
  // A number of bits: its lower five bits, or at most 32.
  void bound_amount(Ref d, const Value& x, bool wraps);

  // ---- predicates, comparisons ----

  void predicate_logic(const Instruction& i);
  void compare(const Instruction& i);
  // Whether nobody but comparisons of high words that make the low one themselves reads its result.
  bool only_for_high_words(const Instruction& i) const;
  // The comparison of the low words, if it may be made where that of the high ones stands.
  const Instruction* low_words(const Instruction& high, std::size_t at) const;
  void compare_high(const Instruction& i, std::vector<Value> v);
  void finish_comparison(Instruction& set, const Instruction& like);
  // `set` has its own condition: the other one comes with a PSETP.
  void combine(Instruction& set, const Instruction& like, std::string_view op);

  // ---- floats, extrema, conversions ----

  // A choice of the words of a double by this predicate gives those of `result`: of an extremum.
  struct Extremum {
    std::uint32_t predicate = 0;
    Ref operand, result;
  };

  // FADD, FMUL: a number that does not fit has an instruction of its own.
  void float_sum(const Instruction& i);
  // FMUL, FFMA, DMUL, DFMA: one sign of the product, no absolute values
  void float_product(const Instruction& i);
  Value absolute(Value v, bool wide);
  Value without_signs(Value x);
  void float_select(const Instruction& i);
  void choose(const Instruction& i);
  void emit_choice(const Instruction& i, std::vector<Value>& v, const Condition& c);
  // DSETP.MIN says which of two doubles it is and whether both are NaN, for who chooses the words by it: all
  // of it becomes DMNMX.
  void compare_doubles(const Instruction& i);
  // SEL of a word by such a predicate
  bool chooses_word(const Instruction& i, const std::vector<Value>& v);
  void check_division(const Instruction& i);
  // A half as a float: -0 is added.
  void halves(const Instruction& i);
  void half_sum(const Instruction& i);
  // MUFU takes what RRO makes of angles, instead of turns; and of exponents.
  void special(const Instruction& i);
  std::optional<Value> angle_of(const Value& turns) const;
  // Conversions have their types as numbers in fields of the same codes.
  void convert(const Instruction& i);
  void bound_byte(Ref d, const Value& x, bool is_signed);

  // ---- memory, barriers, where lanes meet ----

  void load(const Instruction& i);
  // The words of its sizes stand elsewhere.
  void shared_load(const Instruction& given);
  // LDC: mostly with a register in the place
  void load_constant(const Instruction& i);
  void store(const Instruction& i);
  void atomic(const Instruction& given);
  // Its offset has so few bits: else the address is added up before.
  void bring_near(Instruction& i, unsigned bits);
  // Of shared memory where it has no atomics (lock_shared.h)
  void locked(const Instruction& i);
  Ref swapped(Ref old, const Value& expected, const Value& wanted, bool wide);
  Ref changed_by(const Instruction& i, Ref old, const Value& given, bool wide);
  // INC, DEC
  void count(Ref d, const Value& x, const Value& most, bool up);
  static Value word_of(const Value& v, unsigned k, bool wide);
  // The value to compare with and the new one side by side
  void swap(const Instruction& given);
  void fence(const Instruction& i);
  void counter(const Instruction& i);
  void barrier(const Instruction& i);
  // Of the driver: PRET says where it returns to, JMX goes there.
  void call(const Instruction& i);
  void set_meeting(const Instruction& i);
  void meet(const Instruction& i);

  Program& p_;
  BundledBuilder b_;
  std::vector<Instruction> old_;        // of this block
  std::vector<bool> done_;              // made earlier
  std::vector<std::size_t> also_made_;  // by the instruction being rewritten, beside itself
  std::size_t at_ = 0;
  std::vector<Ref> locks_done_;  // by block: of loops on locks
  std::vector<Extremum> extrema_;
  std::vector<std::uint32_t> settled_;  // predicates that guard nothing any more
  std::vector<std::uint32_t> uses_;     // reads by register
  // Wide products of a register and a number, by block, register, its part, and the number
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint8_t, std::uint32_t>, unsigned> products_;
  std::vector<std::optional<std::uint32_t>> numbers_;  // by register
};

}  // namespace simtlab::assembler

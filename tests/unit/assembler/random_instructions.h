// Programs of machine instructions drawn at random, over registers that have the numbers in Register::fixed.
#pragma once

#include <cstdint>
#include <vector>

#include "assembler/build.h"
#include "assembler/program.h"

namespace simtlab::assembler::testing {

// What allocation does: operands, guards and addresses get the numbers of their registers.
inline void number_operands(Program& program) {
  const auto number = [&](const Ref& ref) {
    return static_cast<std::uint8_t>(program.registers[ref.reg].fixed + ref.part);
  };
  for (Block& block : program.blocks)
    for (Instruction& i : block.code) {
      for (std::size_t k = 0; k < i.code.operand_count(); ++k) {
        if (!i.refs[k]) continue;
        machine::Operand& o = i.code.operands[k];
        (o.kind == machine::OperandKind::memory ? o.base : o.number) = number(i.refs[k]);
      }
      if (i.guard) i.code.guard = number(i.guard);
    }
}

class RandomProgram {
 public:
  RandomProgram(unsigned generation, std::uint64_t seed)
      : builder_(program_, generation), state_(seed * 2 + 1) {
    program_.generation = generation;
    for (std::uint8_t n = 2; n < 14; ++n) singles_.push_back(fixed(1, n));
    for (std::uint8_t n = 14; n < 20; n = static_cast<std::uint8_t>(n + 2)) pairs_.push_back(fixed(2, n));
    for (std::uint8_t n = 20; n < 28; n = static_cast<std::uint8_t>(n + 4)) quads_.push_back(fixed(4, n));
    for (std::uint8_t n = 0; n < 6; ++n)
      predicates_.push_back({.reg = program_.add({.file = File::predicate, .width = 1, .fixed = n})});
  }

  // Blocks of `length` instructions: each goes on to the next one or, for some lanes, to any other; with two
  // branches the others go to a third one.
  Program make(std::uint32_t blocks, unsigned length, bool two_branches = false) {
    program_.blocks.resize(blocks);
    for (std::uint32_t b = 0; b < blocks; ++b) {
      builder_.start(b);
      for (unsigned k = 0; k < length; ++k) add();
      builder_.guard(always());
      if (b + 1 == blocks) {
        builder_.emit("EXIT", {}, {});
      } else {
        program_.blocks[b].next = b + 1;
        if (draw(4) == 0) continue;
        builder_.guard({any(predicates_), draw(2) == 0});
        builder_.emit("BRA", {}, {}).target = draw(blocks);
        builder_.guard(always());
        if (!two_branches || draw(2) == 0) continue;
        builder_.emit("BRA", {}, {}).target = draw(blocks);
        program_.blocks[b].next = none;
      }
    }
    std::uint32_t line = 0;
    for (Block& block : program_.blocks)
      for (Instruction& i : block.code) i.line = ++line;
    return program_;
  }

 private:
  Ref fixed(std::uint8_t width, std::uint8_t number) {
    return {.reg = program_.add({.file = File::general, .width = width, .fixed = number}),
            .part = 0,
            .count = width};
  }
  std::uint32_t draw(std::uint32_t below) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::uint32_t>(state_ >> 33) % below;
  }
  Ref any(const std::vector<Ref>& from) { return from[draw(static_cast<std::uint32_t>(from.size()))]; }
  Ref word() {
    if (draw(3) != 0) return any(singles_);
    Ref r = draw(2) == 0 ? any(pairs_) : any(quads_);
    r.part = static_cast<std::uint8_t>(draw(r.count));
    r.count = 1;
    return r;
  }
  Value source() { return value_of(word()); }
  Value wide() { return value_of(any(pairs_)); }

  void add() {
    builder_.guard(draw(6) == 0 ? Condition{any(predicates_), draw(2) == 0} : always());
    switch (draw(16)) {
      case 0: builder_.emit("FFMA", word(), {source(), source(), source()}); break;
      case 1: builder_.emit("IADD3", word(), {source(), source(), source()}); break;
      case 2: builder_.emit("IMAD", word(), {source(), source(), source()}); break;
      case 3: builder_.emit("IMAD.WIDE", any(pairs_), {source(), source(), wide()}); break;
      case 4: {
        Instruction& i = builder_.emit("ISETP", {}, {source(), source()}, {{"cmp", "LT"}});
        builder_.set_result(i, "Pd", any(predicates_));
        break;
      }
      case 5: {
        Instruction& i = builder_.emit("SEL", word(), {source(), source()});
        builder_.set_condition(i, "Pc", {any(predicates_), draw(2) == 0});
        break;
      }
      case 6: builder_.emit("MUFU", word(), {source()}, {{"op", "RCP"}}); break;
      case 7: builder_.access("LDG", word(), any(pairs_), offset(), true, {}, {}); break;
      case 8:
        builder_.access("LDS", draw(2) == 0 ? word() : any(quads_), word(), offset(), false, {}, {});
        fix_size();
        break;
      case 9: builder_.access("STS", {}, word(), offset(), false, {source()}, {}); break;
      case 10: builder_.access("STG", {}, any(pairs_), offset(), true, {source()}, {}); break;
      case 11: builder_.emit("DFMA", any(pairs_), {wide(), wide(), wide()}); break;
      case 12: builder_.emit("HFMA2", word(), {source(), source(), source()}); break;
      case 13: builder_.emit("I2F", word(), {source()}); break;
      case 14: builder_.emit("MOV", word(), {source()}); break;
      default:
        if (draw(4) == 0 && builder_.guard().ref.reg == none)
          builder_.emit("MEMBAR", {}, {});
        else
          builder_.emit("MOV", word(), {number(draw(1000) + 1)});
        break;
    }
  }
  std::int64_t offset() { return 4 * static_cast<std::int64_t>(draw(8)); }
  // Of 128 bits if the result is.
  void fix_size() {
    Instruction& i = program_.blocks[builder_.block()].code.back();
    for (std::size_t k = 0; k < i.code.operand_count(); ++k)
      if (i.is_write(k) && i.refs[k].count == 4) builder_.set_field(i, "size", 6);
  }

  Program program_;
  Builder builder_;
  std::vector<Ref> singles_, pairs_, quads_, predicates_;
  std::uint64_t state_;
};

}  // namespace simtlab::assembler::testing

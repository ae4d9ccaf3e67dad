#include "machine/encode.h"

#include <gtest/gtest.h>

#include <random>

#include "machine/decode.h"

namespace simtlab::machine {
namespace {

// A random word of a form: a value that each field knows, anything else in its operands.
Word random_word(const Form& form, std::mt19937_64& random) {
  Word word{random(), random()};
  Word kept = form.explained;
  kept.set(105, 20);
  word = word & kept;
  const auto put = [&](unsigned first, unsigned width, std::uint64_t value) {
    Word mask;
    mask.set(first, width);
    word = word & ~mask;
    for (unsigned i = 0; i < width; ++i)
      if ((value >> i & 1u) != 0) word.set(first + i, 1);
  };
  put(0, 12, form.opcode);
  put(91, 1, form.bit_91 ? 1 : 0);
  for (const FieldForm* field : form.fields) {
    if (field->any) continue;
    const auto value = field->values[random() % field->values.size()].first;
    const Bits& bits = field->bits;
    put(bits.pieces[0].first, bits.pieces[0].width, value);
    if (bits.pieces[1].width != 0)
      put(bits.pieces[1].first, bits.pieces[1].width, value >> bits.pieces[0].width);
  }
  return word;
}

TEST(Encode, makes_the_word_that_was_decoded) {
  std::mt19937_64 random(7);
  unsigned words = 0;
  for (const unsigned generation : {70u, 75u, 80u, 86u, 89u, 90u})
    for (const Form& form : Forms::shipped().all())
      // Of the others nothing but the opcode is known.
      for (int n = 0; n < 20 && form.has(generation) && form.trust != Trust::outline; ++n) {
        const Word word = random_word(form, random);
        const auto decoded = decode(Forms::shipped(), generation, word, 0x100);
        const auto* const instruction = std::get_if<Instruction>(&decoded);
        if (instruction == nullptr) continue;
        ++words;
        EXPECT_EQ(word, encode(*instruction)) << form.mnemonic << " " << form.form << " sm_" << generation;
      }
  EXPECT_GT(words, 40'000u);
}

// Addresses that are added to a register are those of the file.
TEST(Encode, makes_jumps_by_a_register) {
  for (const std::uint64_t bits : {0xe20000000007020full, 0xe20000000107020full, 0xe2500ffff607020full}) {
    const Word word{bits, 0};
    const auto decoded = decode(Forms::shipped(), 50, word, 0x100);
    ASSERT_TRUE(std::holds_alternative<Instruction>(decoded));
    EXPECT_EQ(encode(std::get<Instruction>(decoded)).low, bits);
  }
}

}  // namespace
}  // namespace simtlab::machine

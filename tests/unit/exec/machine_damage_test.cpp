// Random words and damaged files end in an error or at a limit.
#include "machine_damage.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/files.h"
#include "machine/decode.h"

namespace simtlab::exec::damage {
namespace {

using machine::Form;
using machine::Forms;
using machine::Word;

std::string room(unsigned generation) {
  return read_file(
      std::string(SIMTLAB_SOURCE_DIR "/tests/data/machine/room.sm_") + std::to_string(generation) + ".cubin",
      1 << 20);
}

class RandomCode : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Generations, RandomCode, testing::Values(70u, 75u, 80u, 86u, 89u, 90u));

TEST_P(RandomCode, any_word_is_decoded_or_has_a_reason) {
  std::mt19937_64 random(GetParam());
  for (unsigned i = 0; i < 20'000; ++i) {
    const auto decoded = machine::decode(Forms::shipped(), GetParam(), {random(), random()}, 0);
    if (const auto* why = std::get_if<machine::Undecoded>(&decoded)) { EXPECT_FALSE(why->reason.empty()); }
  }
}

// Words of every form, alone and many together.
TEST_P(RandomCode, drawn_instructions_are_decoded_and_their_execution_ends) {
  std::mt19937_64 random(GetParam() * 7 + 1);
  const std::string file = room(GetParam());
  std::vector<Word> executed;
  unsigned decoded = 0, drawn = 0;
  for (const Form& form : Forms::shipped().all()) {
    if (!form.has(GetParam())) continue;
    const Word word = draw_word(form, random);
    ++drawn;
    decoded +=
        std::holds_alternative<machine::Instruction>(machine::decode(Forms::shipped(), GetParam(), word, 0));
    if (execute(with_code(file, {&word, 1})) != End::refused) executed.push_back(word);
  }
  EXPECT_EQ(decoded, drawn);
  EXPECT_GT(executed.size(), 100u);
  unsigned ended[3] = {};
  for (unsigned program = 0; program < 150; ++program) {
    std::vector<Word> words;
    for (unsigned i = 0; i < 30; ++i) words.push_back(executed[random() % executed.size()]);
    ++ended[static_cast<unsigned>(execute(with_code(file, words)))];
  }
  EXPECT_GT(ended[1] + ended[2], 100u);
}

// Bytes of a file are changed, and its end is cut off.
TEST_P(RandomCode, damaged_files_end_in_an_error) {
  std::mt19937_64 random(GetParam() * 11 + 3);
  const std::string file = room(GetParam());
  for (unsigned round = 0; round < 300; ++round) {
    std::string damaged = file;
    for (unsigned i = 0; i < 1 + round % 8; ++i)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    if (round % 10 == 0) damaged.resize(random() % damaged.size());
    execute(damaged);
  }
}

}  // namespace
}  // namespace simtlab::exec::damage

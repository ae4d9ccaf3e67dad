// Any bytes as machine code: the first names the generation, the rest replaces the code of a small kernel,
// which is then executed for a few thousand instructions. Words are taken as they are, and (second byte) as
// the form of their first bits with fields that it has. Only simtlab::Error may come out.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../unit/exec/machine_damage.h"
#include "base/files.h"
#include "machine/decode.h"

namespace {

using simtlab::machine::Form;
using simtlab::machine::Forms;
using simtlab::machine::Word;

constexpr unsigned generations[] = {70, 75, 80, 86, 89, 90};

const std::string& room(unsigned index) {
  static const std::vector<std::string> files = [] {
    std::vector<std::string> out;
    for (const unsigned generation : generations)
      out.push_back(simtlab::read_file(std::string(SIMTLAB_SOURCE_DIR "/tests/data/machine/room.sm_") +
                                           std::to_string(generation) + ".cubin",
                                       1 << 20));
    return out;
  }();
  return files[index];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const unsigned index = data[0] % 6;
  const bool whole_words = data[1] % 2 == 0;
  const auto all = Forms::shipped().all();
  std::vector<Word> words;
  for (std::size_t at = 2; at + sizeof(Word) <= size && words.size() < 48; at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, data + at, sizeof word);
    if (!whole_words) {
      const Form& form = all[word.low % all.size()];
      std::mt19937_64 random(word.high ^ word.low);
      word = simtlab::exec::damage::draw_word(form, random);
    }
    words.push_back(word);
  }
  simtlab::exec::damage::execute(simtlab::exec::damage::with_code(room(index), words));
  return 0;
}

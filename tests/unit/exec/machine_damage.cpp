#include "machine_damage.h"

#include <cstring>
#include <vector>

#include "base/error.h"
#include "exec/executor.h"
#include "exec/heap.h"
#include "machine/image.h"

namespace simtlab::exec::damage {
namespace {

using machine::Bits;
using machine::Word;

constexpr std::uint64_t most_instructions = 3000;
constexpr std::uint64_t memory_bytes = 16ull << 20, buffer_bytes = 64 << 10;

void put(Word& word, const Bits& bits, std::uint64_t value) {
  for (const Bits::Piece& piece : bits.pieces)
    for (unsigned i = 0; i < piece.width; ++i, value >>= 1)
      if (const unsigned at = piece.first + i; (value & 1) != 0)
        (at < 64 ? word.low : word.high) |= std::uint64_t{1} << (at % 64);
}

void clear(Word& word, const Bits& bits) {
  Word mask;
  bits.mark(mask);
  word = word & ~mask;
}

bool runs(const ptx::Module& module, std::uint32_t function) {
  GlobalMemory memory(memory_bytes, 0);
  const LoadedModule loaded(std::shared_ptr<const ptx::Module>(std::shared_ptr<void>(), &module), memory);
  const std::uint64_t buffer = memory.allocate(buffer_bytes, "buffer").value();
  const ptx::Function& f = module.functions[function];
  std::vector<std::byte> block(f.param_bytes);
  for (std::size_t i = 0; i + sizeof buffer <= block.size(); i += sizeof buffer)
    std::memcpy(&block[i], &buffer, sizeof buffer);
  DeviceHeap heap(memory);
  heap.prepare();
  LaunchParams p;
  p.module = &loaded;
  p.function = function;
  p.grid = {2};
  p.block = {64};
  p.params = block;
  p.heap = &heap;
  FunctionalOptions options;
  options.max_warp_instructions = most_instructions;
  try {
    Launch launch(p, memory);
    run_functional(launch, options);
  } catch (const Error&) { return false; }
  return true;
}

}  // namespace

Word draw_word(const machine::Form& form, std::mt19937_64& random) {
  Word word{random(), random()};
  // The guard is true in most words, so that they do something.
  Word guard;
  guard.set(12, 4);
  Word control;
  control.set(105, 23);
  word = word & (form.explained | control);
  if (random() % 4 != 0) word = (word & ~guard) | Word{std::uint64_t{7} << 12, 0};
  for (const machine::FieldForm* field : form.fields) {
    if (field->any || field->values.empty()) continue;
    clear(word, field->bits);
    put(word, field->bits, field->values[random() % field->values.size()].first);
  }
  word.low = (word.low & ~std::uint64_t{0xfff}) | form.opcode;
  constexpr std::uint64_t bit_91 = std::uint64_t{1} << (91 - 64);
  word.high = form.bit_91 ? word.high | bit_91 : word.high & ~bit_91;
  return word;
}

std::string with_code(std::string cubin, std::span<const Word> words) {
  const auto bytes = std::as_bytes(std::span(cubin));
  const machine::Image image = machine::read_image(bytes, "damaged");
  if (image.kernels.empty()) return cubin;
  const machine::Bytes code = image.elf.sections[image.kernels.front().section].data;
  const auto first = static_cast<std::size_t>(code.data() - bytes.data());
  constexpr Word exit{0x000000000000794dull, 0x000fea0003800000ull};
  for (std::size_t i = 0; (i + 1) * sizeof(Word) <= code.size(); ++i) {
    const Word& word = i < words.size() && (i + 2) * sizeof(Word) <= code.size() ? words[i] : exit;
    std::memcpy(&cubin[first + i * sizeof(Word)], &word, sizeof word);
  }
  return cubin;
}

End execute(const std::string& cubin) {
  std::shared_ptr<const ptx::Module> module;
  try {
    module = machine::load_cubin(std::as_bytes(std::span(cubin)), "damaged");
  } catch (const Error&) { return End::refused; }
  End end = End::finished;
  for (std::uint32_t i = 0; i < module->functions.size(); ++i)
    if (module->functions[i].is_entry && !runs(*module, i)) end = End::stopped;
  return end;
}

}  // namespace simtlab::exec::damage

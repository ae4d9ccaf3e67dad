// Cubins as an attacker would write them: an error, never a crash, a hang, or an access outside.
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "base/error.h"
#include "exec/executor.h"
#include "exec/memory.h"
#include "machine/image.h"

namespace simtlab::exec {
namespace {

constexpr std::uint64_t room = 64 << 20, buffer_bytes = 1 << 16;

std::string hostile_cubin(const std::string& name) {
  std::ifstream file(std::string(SIMTLAB_SOURCE_DIR) + "/tests/data/machine/" + name + ".cubin",
                     std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Outcome {
  unsigned loaded = 0, ran = 0, refused = 0;
};

// One warp of one kernel, for a few instructions. Every 8 bytes of the parameters are the address of a
// buffer.
void launch_one(const LoadedModule& module, std::uint32_t number, std::uint64_t buffer,
                GlobalMemory& memory) {
  const ptx::Function& f = module.module().functions[number];
  std::vector<std::byte> parameters(f.param_bytes);
  for (std::size_t at = 0; at + 8 <= parameters.size(); at += 8)
    std::memcpy(parameters.data() + at, &buffer, 8);
  LaunchParams p;
  p.module = &module;
  p.function = number;
  p.block = {32};
  p.params = parameters;
  p.print = [](std::string_view) {};
  const Launch launch(p, memory);
  FunctionalOptions options;
  options.max_warp_instructions = 3000;
  run_functional(launch, options);
}

// Only Error may come out, and none that says that we are wrong.
void try_all(const std::string& cubin, Outcome& outcome) {
  GlobalMemory memory(room, 0);
  try {
    const LoadedModule module(machine::open_cubin(cubin, "hostile.cubin"), memory);
    ++outcome.loaded;
    const std::uint64_t buffer = memory.allocate(buffer_bytes, "buffer").value();
    for (std::uint32_t i = 0; i < module.module().functions.size(); ++i) {
      try {
        launch_one(module, i, buffer, memory);
        ++outcome.ran;
      } catch (const Error& error) {
        EXPECT_FALSE(error.diagnostics().empty());
        ++outcome.refused;
      }
    }
  } catch (const Error& error) { EXPECT_FALSE(error.diagnostics().empty()); }
}

template <class T>
T at(const std::string& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}
template <class T>
std::string with(std::string bytes, std::size_t offset, T value) {
  if (offset + sizeof value <= bytes.size()) std::memcpy(bytes.data() + offset, &value, sizeof value);
  return bytes;
}

Elf64_Shdr section_of(const std::string& cubin, std::size_t index) {
  return at<Elf64_Shdr>(cubin, at<Elf64_Ehdr>(cubin, 0).e_shoff + index * sizeof(Elf64_Shdr));
}
std::string name_of(const std::string& cubin, const Elf64_Shdr& section) {
  const Elf64_Shdr names = section_of(cubin, at<Elf64_Ehdr>(cubin, 0).e_shstrndx);
  return cubin.data() + names.sh_offset + section.sh_name;
}

class Hostile : public testing::TestWithParam<const char*> {
 protected:
  const std::string cubin = hostile_cubin(GetParam());
};
INSTANTIATE_TEST_SUITE_P(, Hostile,
                         testing::Values("variables.sm_70", "calls.sm_80", "recursion.sm_90", "tables.sm_75"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST_P(Hostile, WholeFilesRun) {
  Outcome outcome;
  try_all(cubin, outcome);
  EXPECT_EQ(outcome.loaded, 1u);
}

TEST_P(Hostile, EveryFieldOfEveryHeader) {
  const auto header = at<Elf64_Ehdr>(cubin, 0);
  Outcome outcome;
  for (std::size_t i = 4; i < sizeof header; i += 2)
    for (const std::uint16_t value : std::initializer_list<std::uint16_t>{0, 1, 0x40, 0x7fff, 0xffff})
      try_all(with(cubin, i, value), outcome);
  for (std::size_t s = 0; s < header.e_shnum; ++s)
    for (std::size_t field = 0; field < sizeof(Elf64_Shdr); field += 4) {
      const std::size_t place = header.e_shoff + s * sizeof(Elf64_Shdr) + field;
      for (const std::uint32_t value :
           {0u, 1u, 0x7fffffffu, 0xfffffff0u, at<std::uint32_t>(cubin, place) + 8})
        try_all(with(cubin, place, value), outcome);
    }
  EXPECT_GT(outcome.loaded, 0u);
}

// Attributes, symbols and relocations, word by word; the other sections at sampled bytes.
TEST_P(Hostile, ContentsOfSections) {
  std::mt19937 random(7);
  Outcome outcome;
  for (std::size_t s = 0; s < at<Elf64_Ehdr>(cubin, 0).e_shnum; ++s) {
    const Elf64_Shdr section = section_of(cubin, s);
    const std::string name = name_of(cubin, section);
    if (section.sh_type == SHT_NOBITS || section.sh_size == 0 || name.starts_with(".debug")) continue;
    const bool tables = name.starts_with(".nv.info") || name.starts_with(".rel") || name == ".symtab";
    const std::size_t words = section.sh_size / 4, step = tables ? 1 : std::max<std::size_t>(1, words / 60);
    for (std::size_t w = 0; w < words; w += step) {
      const std::size_t place = section.sh_offset + 4 * w;
      try_all(with(cubin, place, 0xffffffffu), outcome);
      try_all(with(cubin, place, at<std::uint32_t>(cubin, place) ^ 1u << random() % 32), outcome);
      if (tables) try_all(with(cubin, place, 0x00ffffffu), outcome);
    }
  }
  EXPECT_GT(outcome.loaded, 0u);
  EXPECT_GT(outcome.ran + outcome.refused, 0u);
}

// Bits of instructions that stay what they are in kind: registers, offsets, targets, immediates.
TEST_P(Hostile, OperandsOfInstructions) {
  std::mt19937 random(11);
  Outcome outcome;
  for (std::size_t s = 0; s < at<Elf64_Ehdr>(cubin, 0).e_shnum; ++s) {
    const Elf64_Shdr section = section_of(cubin, s);
    if (!name_of(cubin, section).starts_with(".text.")) continue;
    const std::size_t count = section.sh_size / 16;
    for (std::size_t i = 0; i < count; i += std::max<std::size_t>(1, count / 40)) {
      std::string wrong = cubin;
      char* const word = wrong.data() + section.sh_offset + 16 * i;
      for (int byte = 2; byte < 8; ++byte) word[byte] = static_cast<char>(random());
      try_all(wrong, outcome);
      std::memset(word + 4, 0xff, 4);  // the immediate, an offset, part of a target
      try_all(wrong, outcome);
    }
  }
  EXPECT_GT(outcome.loaded, 0u);
}

}  // namespace
}  // namespace simtlab::exec

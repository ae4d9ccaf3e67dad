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
                         testing::Values("variables.sm_70", "calls.sm_80", "recursion.sm_90", "tables.sm_75",
                                         "calls.sm_61", "recursion.sm_50", "calls_object.sm_50"),
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

// ---- by hand: what a message says

// Instructions of sm_80. mov: into register `to`.
using CodeWords = std::vector<machine::Word>;
machine::Word mov(unsigned to, std::uint32_t value) {
  return {std::uint64_t{value} << 32 | std::uint64_t{to} << 16 | 0x7802u, 0x00000a0000000f00u};
}
constexpr machine::Word exit_word{0x000000000000794du, 0x000fea0003800000u},
    nop_word{0x0000000000007918u, 0x000fc00000000000u}, brx_r6{0xfffffe5006007949u, 0x000fea000383ffffu},
    ret_r20{0x0000000014007950u, 0x000fec0003e00000u}, call_r6{0x0000000006007343u, 0x021fea0003c00000u},
    bra_here{0xfffffff000007947u, 0x000fc0000383ffffu}, bra_far{0xfffffffc00007947u, 0x000fc00003830000u},
    bar_r8{0x000000080000751du, 0x000fec0000010000u}, bar_of_33{0x0000840000007b1du, 0x000fec0000010000u},
    load_descriptor{0x0000460000047ab9u, 0x000fc80000000a00u},
    store_to_r2{0x0000000702007986u, 0x0041e8000c101904u};

std::size_t place_of(const std::string& cubin, std::string_view section) {
  for (std::size_t i = 0; i < at<Elf64_Ehdr>(cubin, 0).e_shnum; ++i)
    if (name_of(cubin, section_of(cubin, i)) == section) return i;
  ADD_FAILURE() << section;
  return 0;
}
std::string with_code(std::string cubin, const CodeWords& words, machine::Word behind = exit_word) {
  const Elf64_Shdr text = section_of(cubin, place_of(cubin, ".text.room"));
  for (std::size_t i = 0; i < text.sh_size / 16; ++i)
    cubin = with(std::move(cubin), text.sh_offset + 16 * i, i < words.size() ? words[i] : behind);
  return cubin;
}
std::string with_size(const std::string& cubin, std::string_view section, std::uint64_t size) {
  return with(cubin,
              at<Elf64_Ehdr>(cubin, 0).e_shoff + place_of(cubin, section) * sizeof(Elf64_Shdr) +
                  offsetof(Elf64_Shdr, sh_size),
              size);
}
// Puts a value behind the beginning of the first entry of an attribute.
template <class T>
std::string with_attribute(const std::string& cubin, std::string_view section, unsigned attribute,
                           std::size_t offset, T value) {
  const Elf64_Shdr info = section_of(cubin, place_of(cubin, section));
  for (std::size_t place = info.sh_offset; place + 4 <= info.sh_offset + info.sh_size;) {
    if (at<std::uint8_t>(cubin, place + 1) == attribute) return with(cubin, place + offset, value);
    const bool sized = at<std::uint8_t>(cubin, place) == 4;
    place += 4 + (sized ? (at<std::uint16_t>(cubin, place + 2) + 3u) / 4 * 4 : 0u);
  }
  ADD_FAILURE() << section << " " << attribute;
  return cubin;
}
// The kernel's symbol gets the name of another: two symbols of one name.
std::string with_two_symbols(const std::string& whole) {
  std::string cubin = whole;
  const Elf64_Shdr symbols = section_of(cubin, place_of(cubin, ".symtab"));
  const auto last = at<Elf64_Sym>(cubin, symbols.sh_offset + symbols.sh_size - sizeof(Elf64_Sym));
  for (std::size_t i = 1; i + 1 < symbols.sh_size / sizeof(Elf64_Sym); ++i)
    cubin = with(std::move(cubin), symbols.sh_offset + i * sizeof(Elf64_Sym), last);
  return cubin;
}

struct Misuse {
  const char* name;
  std::string (*damaged)(const std::string&);
  const char* says;  // empty: it runs
};

class Misused : public testing::TestWithParam<Misuse> {};
INSTANTIATE_TEST_SUITE_P(
    , Misused,
    testing::Values(
        Misuse{"jump_outside",
               [](const auto& c) {
                 return with_code(c, {mov(6, 0x12345670), mov(7, 0), brx_r6});
               },
               "jump to 0x123454f0, which is no instruction of the kernel, by thread (0,0,0) in block "
               "(0,0,0) of "
               "kernel room (misused at 0x0020)"},
        Misuse{"jump_into_an_instruction",
               [](const auto& c) {
                 return with_code(c, {mov(20, 8), mov(21, 0), ret_r20});
               },
               "jump to 0x8, which"},
        Misuse{"call_of_data",
               [](const auto& c) {
                 return with_code(c, {mov(6, 0), mov(7, 2), call_r6});
               },
               "a pointer to a function that was not set"},
        Misuse{"call_into_a_function",
               [](const auto& c) {
                 return with_code(c, {mov(6, 0x44), mov(7, 7), call_r6});
               },
               "jump to 0x700000044"},
        Misuse{"call_of_no_system_function",
               [](const auto& c) {
                 return with_code(c, {mov(6, 0x1000), mov(7, 6), call_r6});
               },
               "jump to 0x600001000"},
        Misuse{"branch_out_of_the_code", [](const auto& c) { return with_code(c, {bra_far}); },
               "the branch at 0x0000 of kernel room leaves its code"},
        Misuse{"no_end", [](const auto& c) { return with_code(c, {}, nop_word); },
               "runs past the last instruction of the code"},
        Misuse{"a_loop_without_end", [](const auto& c) { return with_code(c, {bra_here}); },
               "stopped after 3000 warp instructions, the limit given"},
        Misuse{"a_store_into_code",
               [](const auto& c) {
                 return with_code(c, {load_descriptor, mov(2, 0), mov(3, 7), store_to_r2});
               },
               "Invalid global write of 4 bytes at address 0x700000000"},
        Misuse{"barrier_200",
               [](const auto& c) {
                 return with_code(c, {mov(8, 200), bar_r8});
               },
               "barrier 200 does not exist (0 to 15)"},
        Misuse{"barrier_of_33_threads", [](const auto& c) { return with_code(c, {bar_of_33}); },
               "barrier for 33 threads"},
        Misuse{"no_code", [](const auto& c) { return with_size(c, ".text.room", 0); }, "has no code"},
        Misuse{"half_an_instruction", [](const auto& c) { return with_size(c, ".text.room", 8); },
               "no whole number of instructions"},
        Misuse{"attributes_cut_short", [](const auto& c) { return with_size(c, ".nv.info.room", 6); },
               ".nv.info.room is cut off"},
        Misuse{"common_attributes_cut_short", [](const auto& c) { return with_size(c, ".nv.info", 9); },
               ".nv.info is cut off"},
        Misuse{"four_billion_registers",
               [](const auto& c) { return with_attribute(c, ".nv.info", 0x2f, 8, 4'000'000'000u); },
               "kernel room has 4000000000 registers a thread, more than 255"},
        Misuse{"barriers_beyond_the_hardware",
               [](const auto& c) { return with_attribute(c, ".nv.info.room", 0x4c, 2, std::uint8_t{200}); },
               "200 barriers, more than 16"},
        Misuse{"a_stack_of_four_gigabytes",
               [](const auto& c) { return with_attribute(c, ".nv.info", 0x12, 8, 0xfffffff0u); },
               "it needs 4294967280 bytes of local memory a thread"},
        Misuse{"shared_memory_of_a_terabyte",
               [](const auto& c) { return with_size(c, ".nv.shared.room", std::uint64_t{1} << 40); },
               "bytes of shared memory a block"},
        Misuse{
            "parameters_beyond_the_bank",
            [](const auto& c) { return with_attribute(c, ".nv.info.room", 0x0a, 10, std::uint16_t{0xffff}); },
            "take 65535 bytes, and constant bank 0 has room for 65184"},
        Misuse{"parameters_elsewhere",
               [](const auto& c) { return with_attribute(c, ".nv.info.room", 0x0a, 8, std::uint16_t{0}); },
               "begin at 0x0 of constant bank 0, not at 0x160"},
        Misuse{
            "a_parameter_outside",
            [](const auto& c) { return with_attribute(c, ".nv.info.room", 0x17, 10, std::uint16_t{0xfff0}); },
            "is not inside of its 16 bytes"},
        Misuse{"two_symbols_of_a_name", with_two_symbols, ""}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST_P(Misused, IsAnErrorWithItsPlace) {
  GlobalMemory memory(room, 0);
  std::string said;
  try {
    const LoadedModule module(machine::open_cubin(GetParam().damaged(hostile_cubin("room.sm_80")), "misused"),
                              memory);
    module.module().complete(0);
    launch_one(module, 0, memory.allocate(buffer_bytes, "buffer").value(), memory);
  } catch (const Error& error) { said = error.format(); }
  if (*GetParam().says == 0) {
    EXPECT_EQ(said, "");
    return;
  }
  EXPECT_NE(said.find(GetParam().says), std::string::npos) << said;
}

}  // namespace
}  // namespace simtlab::exec

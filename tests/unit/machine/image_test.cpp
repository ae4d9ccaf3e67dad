// Cubins of our own kernels, whole and damaged.
#include "machine/image.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "machine/link.h"
#include "machine/listing.h"
#include "machine/symbols.h"

namespace simtlab::machine {
namespace {

std::string cubin(unsigned generation) {
  return read_file(std::string(SIMTLAB_SOURCE_DIR "/tests/data/machine/variables.sm_") +
                       std::to_string(generation) + ".cubin",
                   1 << 20, "cubin");
}

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

class Generations : public testing::TestWithParam<unsigned> {};

TEST_P(Generations, EveryWordIsKnown) {
  const std::string file = cubin(GetParam());
  const Image image = read_image(bytes_of(file), "variables.cubin");
  EXPECT_EQ(image.generation, GetParam());
  ASSERT_EQ(image.kernels.size(), 1u);
  EXPECT_EQ(image.kernels[0].name, "variables");
  EXPECT_TRUE(image.kernels[0].is_entry);
  EXPECT_EQ(image.kernels[0].parameters.size(), 2u);
  for (const ListedInstruction& line : list_kernel(image, image.kernels[0]).instructions)
    EXPECT_FALSE(line.text.empty()) << std::get<Undecoded>(line.decoded).reason;
}

INSTANTIATE_TEST_SUITE_P(All, Generations, testing::Values(70u, 75u, 80u, 86u, 89u, 90u));

TEST_P(Generations, VariablesArePartsOfTheirSections) {
  const std::string file = cubin(GetParam());
  const Image image = read_image(bytes_of(file), "variables.cubin");
  ptx::Module module;
  Symbols symbols(image, module);
  symbols.relocate();
  const ptx::Variable* const table = module.find_variable("table");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->bytes, 16u);
  EXPECT_EQ(module.variables.at(static_cast<std::size_t>(table->within)).name, ".nv.global.init");
  const ptx::Variable* const amount = module.find_variable("amount");
  ASSERT_NE(amount, nullptr);
  EXPECT_EQ(module.variables.at(static_cast<std::size_t>(amount->within)).name, ".nv.constant3");
  EXPECT_EQ(amount->within_offset, 32u);
  // A variable holds the address of another one.
  const ptx::Variable* const data = module.find_variable(".nv.global.init");
  ASSERT_EQ(data->relocs.size(), 1u);
  EXPECT_EQ(data->relocs[0].offset, module.find_variable("pointer")->within_offset);
  EXPECT_EQ(static_cast<std::uint64_t>(data->relocs[0].addend),
            module.find_variable("counter")->within_offset);
  EXPECT_GE(module.find_variable(".nv.constant4")->relocs.size(), 1u);
  const std::vector<Word> linked = link(image, image.kernels[0], symbols).words;
  ASSERT_EQ(linked.size(), image.kernels[0].words.size());
  for (std::size_t i = 0; i < linked.size(); ++i) EXPECT_EQ(linked[i], image.kernels[0].words[i]) << i;
}

TEST(Image, AKernelIsCompleteWhenItIsAskedFor) {
  const auto module = open_cubin(
      read_file(SIMTLAB_SOURCE_DIR "/tests/data/machine/flow.sm_80.cubin", 1 << 20, "cubin"), "flow");
  ASSERT_GE(module->functions.size(), 2u);
  for (const ptx::Function& f : module->functions) {
    EXPECT_FALSE(f.machine);
    EXPECT_TRUE(f.code.empty());
    EXPECT_GT(f.registers, 0u);
    EXPECT_GT(f.param_bytes, 0u);
  }
  module->complete(1);
  EXPECT_FALSE(module->functions[0].machine);
  ASSERT_TRUE(module->functions[1].machine);
  const void* const before = module->functions[1].code.data();
  module->complete(1);  // nothing is done twice
  EXPECT_EQ(module->functions[1].code.data(), before);
}

TEST(Image, DamagedFilesAreErrors) {
  const std::string whole = cubin(80);
  // What stands behind the list of sections is not read
  for (std::size_t size = 0; size + 512 < whole.size(); size += 61) {
    const std::string cut = whole.substr(0, size);
    EXPECT_THROW(read_image(bytes_of(cut), "cut"), Error) << size;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string wrong = whole;
    for (int k = 0; k < 3; ++k) wrong[random() % wrong.size()] = static_cast<char>(random());
    try {
      load_cubin(bytes_of(wrong), "wrong");
    } catch (const Error&) {}
  }
}

// Offsets, values, sizes, addends: each aligned field of a file, one after the other. Objects are linked, and
// addresses in the bundles of Pascal are computed.
TEST(Image, NoFieldIsTrusted) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const char* const name : {"calls_object.sm_61", "variables.sm_75"}) {
    const std::string whole =
        read_file(fmt::format("{}/tests/data/machine/{}.cubin", SIMTLAB_SOURCE_DIR, name), 1 << 20, "cubin");
    for (std::size_t at = 0; at + sizeof(std::int64_t) <= whole.size(); at += sizeof(std::int64_t))
      for (const std::int64_t value : {least, least / 16 + 1, std::int64_t{-8}, most}) {
        std::string wrong = whole;
        std::memcpy(wrong.data() + at, &value, sizeof value);
        try {
          const Image image = read_image(bytes_of(wrong), "wrong");
          for (const ImageKernel& kernel : image.kernels) list_kernel(image, kernel);
        } catch (const Error&) {}
        try {
          load_cubin(bytes_of(wrong), "wrong");
        } catch (const Error&) {}
      }
  }
}

TEST(Lines, SourceAndPtxOfAnInstruction) {
  const std::string file =
      read_file(SIMTLAB_SOURCE_DIR "/tests/data/machine/lines.sm_80.cubin", 1 << 20, "cubin");
  const Image image = read_image(bytes_of(file), "lines.cubin");
  const CodeLines lines = read_code_lines(image.elf);
  ASSERT_TRUE(lines.ptx);
  std::size_t products = 0;
  for (const ListedInstruction& line :
       list_kernel(image, image.kernels[0], lines.source, *lines.ptx).instructions)
    if (line.line == 3 && (*lines.ptx)[line.ptx_line].starts_with("mul.f32")) {
      EXPECT_EQ(line.file, "lines.cu");
      products += line.text.starts_with("FMUL") ? 1 : 0;
    }
  EXPECT_EQ(products, 2u);
  EXPECT_EQ((*lines.ptx)[0], "");
  EXPECT_EQ((*lines.ptx)[1u << 30], "");
}

}  // namespace
}  // namespace simtlab::machine

// Objects of two files, joined: names, and what kernels need for the functions that they call. That the code
// runs is tested in exec.
#include "machine/join.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "machine/image.h"

namespace simtlab::machine {
namespace {

Object object(const std::string& name) {
  return {read_file(SIMTLAB_SOURCE_DIR "/tests/data/machine/" + name + ".cubin", 1 << 20), name};
}
Object main_of(unsigned generation) { return object("objects_main.sm_" + std::to_string(generation)); }
Object other_of(unsigned generation) { return object("objects_other.sm_" + std::to_string(generation)); }

std::string error_of(const std::vector<Object>& objects, Missing missing = Missing::fail) {
  try {
    join_objects(objects, missing);
  } catch (const Error& error) { return error.format(); }
  return "";
}

const ImageKernel& kernel_of(const Image& image, const std::string& name) {
  const auto found = std::ranges::find(image.kernels, name, &ImageKernel::name);
  EXPECT_NE(found, image.kernels.end()) << name;
  return *found;
}

class Objects : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Generations, Objects, testing::Values(50u, 61u, 75u, 80u, 90u));

TEST_P(Objects, AKernelNeedsWhatItsFunctionsNeed) {
  const std::string joined = join_objects({main_of(GetParam()), other_of(GetParam())}, Missing::fail);
  const Image image = read_image(std::as_bytes(std::span(joined)), "joined");
  EXPECT_FALSE(is_relocatable(std::as_bytes(std::span(joined))));
  EXPECT_EQ(image.generation, GetParam());
  const std::uint32_t reserved = GetParam() >= 90 ? 1024 : 0;
  // What nvlink says
  EXPECT_EQ(kernel_of(image, "shapes").shared_bytes, reserved + 256);
  EXPECT_EQ(kernel_of(image, "own_memory").shared_bytes, reserved + 256 + 400);
  EXPECT_GE(kernel_of(image, "shapes").registers, kernel_of(image, "_Z4deepi").registers);
  EXPECT_GT(kernel_of(image, "shapes").stack_bytes, 0u);
  EXPECT_EQ(kernel_of(image, "shapes").barriers, 1u);
  // Templates are in both objects
  EXPECT_EQ(std::ranges::count(image.kernels, "_Z5twiceIfET_S0_", &ImageKernel::name), 1);
}

TEST_P(Objects, TheOrderDoesNotMatterForWhatIsFound) {
  const std::string joined = join_objects({other_of(GetParam()), main_of(GetParam())}, Missing::fail);
  // On Maxwell and Pascal the remainder of halves is a function.
  EXPECT_EQ(read_image(std::as_bytes(std::span(joined)), "joined").kernels.size(),
            GetParam() < 70 ? 10u : 9u);
}

TEST(Join, ErrorsNameSymbolAndObject) {
  const std::string missing = error_of({main_of(80)});
  for (const char* const text : {"'total' is not defined", "'_Z4deepi'", "'factors'",
                                 "objects_main.sm_80 needs it", "link the object or library"})
    EXPECT_NE(missing.find(text), std::string::npos) << text << "\n" << missing;
  EXPECT_EQ(missing.find("'buffer'"), std::string::npos) << missing;  // dynamic shared memory
  EXPECT_EQ(error_of({main_of(80)}, Missing::stay), "");
  EXPECT_NE(
      error_of({other_of(80), main_of(80), other_of(80)}).find("is defined in objects_other.sm_80 and in"),
      std::string::npos);
  EXPECT_NE(
      error_of({main_of(80), other_of(90)}).find("machine code for sm_80, objects_other.sm_90 for sm_90"),
      std::string::npos);
  EXPECT_NE(error_of({main_of(80), object("tables.sm_80")}).find("tables.sm_80 is linked already"),
            std::string::npos);
}

// What an attacker writes into symbols, relocations and headers.
TEST(Join, DamagedObjectsAreErrors) {
  const Object other = other_of(75);
  Object wrong = main_of(75);
  const std::string whole = wrong.bytes;
  for (std::size_t at = 4; at + 4 <= whole.size(); at += whole.size() / 500 * 4) {
    wrong.bytes = whole;
    for (const char value : {'\xff', '\x01'}) {
      std::fill_n(wrong.bytes.begin() + static_cast<std::ptrdiff_t>(at), 4, value);
      try {
        const std::string joined = join_objects({wrong, other}, Missing::fail);
        load_cubin(std::as_bytes(std::span(joined)), "joined");
      } catch (const Error& error) { EXPECT_FALSE(error.diagnostics().empty()); }
    }
  }
}

}  // namespace
}  // namespace simtlab::machine

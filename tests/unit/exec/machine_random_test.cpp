// Random programs of tools/machine_trust.py: PTX and the machine code of each generation leave the same
// memory.
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/error.h"
#include "machine_comparison.h"
#include "optimiser/optimiser.h"

namespace simtlab::exec::comparison {
namespace {

const std::string data = SIMTLAB_SOURCE_DIR "/tests/data/machine/";

class RandomProgram : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, RandomProgram, testing::Values("12", "84", "100", "106"));

TEST_P(RandomProgram, leaves_what_its_ptx_leaves) {
  const Suite suite = read_suite(data + "random_" + GetParam() + ".suite");
  unsigned compared = 0;
  compare_suite(suite, [&](const Finding& f) {
    EXPECT_EQ(name_of(f.outcome), "equal") << f.label << ": " << f.text;
    ++compared;
  });
  EXPECT_EQ(compared, suite.cubins.size());
}

// Flags, windows of addresses, the stack of branches.
TEST(BundledCode, leaves_what_the_same_ptx_leaves) {
  unsigned compared = 0;
  compare_suite(read_suite(data + "bundled.suite"), [&](const Finding& f) {
    EXPECT_EQ(name_of(f.outcome), "equal") << f.label << " " << f.kernel->name << ": " << f.text;
    ++compared;
  });
  EXPECT_EQ(compared, 12u);
}

TEST_P(RandomProgram, leaves_what_it_leaves_without_the_optimiser) {
  Suite suite = read_suite(data + "random_" + GetParam() + ".suite");
  suite.cubins = {{"optimised", ""}};
  if (!optimiser::can_load()) GTEST_SKIP() << "built without LLVM 19";
  compare_suite(suite, [&](const Finding& f) { EXPECT_EQ(name_of(f.outcome), "equal") << f.text; });
}

// With results that come as late as its control information allows, too.
TEST_P(RandomProgram, leaves_what_it_leaves_as_machine_code_of_our_own) {
  Suite suite = read_suite(data + "random_" + GetParam() + ".suite");
  suite.cubins = {{"70", "sm_70"}, {"75", "sm_75"}, {"80", "sm_80"}, {"86", "sm_86"}, {"90", "sm_90"}};
  // Calls and jump tables go away in the optimiser; sanitizers have none.
  const bool some_stay = !optimiser::can_load();
  compare_suite(suite, [&](const Finding& f) {
    if (some_stay && f.outcome == Outcome::refused) return;
    EXPECT_EQ(name_of(f.outcome), "equal") << f.label << " " << f.kernel->name << ": " << f.text;
  });
}

// Few values at a time, so that steps that need room have it: numbers in registers, loops in loops.
TEST(RandomLoops, leave_what_they_leave_as_machine_code_of_our_own) {
  Suite suite = read_suite(data + "random_loops.suite");
  suite.cubins = {{"70", "sm_70"}, {"80", "sm_80"}, {"90", "sm_90"}};
  unsigned compared = 0;
  compare_suite(suite, [&](const Finding& f) {
    EXPECT_EQ(name_of(f.outcome), "equal") << f.label << " " << f.kernel->name << ": " << f.text;
    ++compared;
  });
  EXPECT_EQ(compared, 24u);
}

// What Fermi and Kepler lack is made of other instructions.
TEST(OlderGenerations, leave_what_the_ptx_leaves) {
  Suite suite = read_suite(data + "older.suite");
  suite.cubins = {{"20", "sm_20"}, {"30", "sm_30"}, {"35", "sm_35"}, {"50", "sm_50"}, {"61", "sm_61"}};
  unsigned compared = 0;
  compare_suite(suite, [&](const Finding& f) {
    EXPECT_EQ(name_of(f.outcome), "equal") << f.label << " " << f.kernel->name << ": " << f.text;
    ++compared;
  });
  EXPECT_EQ(compared, 30u);
}

// Some of the programs have dp2a or dp4a, which came with Pascal's sm_61: three of the eight, and four where
// no optimiser removes what is not used, as under sanitizers.
TEST(OlderGenerations, leave_what_random_loops_leave) {
  Suite suite = read_suite(data + "random_loops.suite");
  suite.cubins = {{"20", "sm_20"}, {"35", "sm_35"}, {"52", "sm_52"}};
  const unsigned refused_of_each = !optimiser::can_load() ? 4 : 3;
  unsigned equal = 0, refused = 0;
  compare_suite(suite, [&](const Finding& f) {
    if (f.outcome == Outcome::refused) {
      EXPECT_NE(f.text.find("IDP"), std::string::npos) << f.text;
      ++refused;
      return;
    }
    EXPECT_EQ(name_of(f.outcome), "equal") << f.label << " " << f.kernel->name << ": " << f.text;
    ++equal;
  });
  EXPECT_EQ(refused, 3 * refused_of_each);
  EXPECT_EQ(equal, 24 - refused);
}

// The optimiser takes called functions into kernels, as slow paths of sines in double precision.
TEST(CarriesAndRotations, leave_what_the_ptx_leaves) {
  const bool optimises = optimiser::can_load();
  Suite suite = read_suite(data + "carries.suite");
  if (optimises) suite.cubins = {{"optimised", ""}};
  for (const char* generation : {"35", "50", "70", "80", "90"})
    suite.cubins.push_back({generation, "sm_" + std::string(generation)});
  unsigned equal = 0;
  compare_suite(suite, [&](const Finding& f) {
    // Longer chains of carries than a pair are put together by the optimiser alone.
    if (!optimises && f.outcome == Outcome::refused) {
      EXPECT_TRUE(f.kernel->name.starts_with("carries")) << f.kernel->name << ": " << f.text;
      return;
    }
    EXPECT_EQ(name_of(f.outcome), "equal") << f.label << " " << f.kernel->name << ": " << f.text;
    ++equal;
  });
  if (optimises) {
    EXPECT_EQ(equal, suite.kernels.size() * suite.cubins.size());
  } else {
    EXPECT_GE(equal, 2 * suite.cubins.size());
  }
}

// Arrays that one index leads into: with parameters in uniform registers on Turing.
TEST(ArraysOfOneIndex, leave_what_the_ptx_leaves) {
  Suite suite = read_suite(data + "offsets.suite");
  for (const char* generation : {"50", "70", "75", "80", "90"})
    suite.cubins.emplace_back(generation, "sm_" + std::string(generation));
  unsigned equal = 0;
  compare_suite(suite, [&](const Finding& f) {
    EXPECT_EQ(name_of(f.outcome), "equal") << f.label << " " << f.kernel->name << ": " << f.text;
    ++equal;
  });
  EXPECT_EQ(equal, suite.kernels.size() * suite.cubins.size());
}

// Several rounds of them are made without a test between.
TEST(CountedLoops, leave_what_the_ptx_leaves) {
  const bool optimises = optimiser::can_load();
  Suite suite = read_suite(data + "counts.suite");
  suite.cubins = {{"50", "sm_50"}, {"80", "sm_80"}};
  if (optimises) suite.cubins.emplace_back("optimised", "");
  unsigned equal = 0;
  compare_suite(suite, [&](const Finding& f) {
    EXPECT_EQ(name_of(f.outcome), "equal") << f.label << " " << f.kernel->name << ": " << f.text;
    ++equal;
  });
  EXPECT_EQ(equal, suite.kernels.size() * suite.cubins.size());
}

TEST(MachineComparison, what_whole_programs_found_is_equal) {
  compare_suite(read_suite(data + "found.suite"), [](const Finding& f) {
    EXPECT_EQ(name_of(f.outcome), "equal") << f.label << " " << f.kernel->name << ": " << f.text;
  });
}

TEST(MachineComparison, a_suite_that_is_none_says_where) {
  const std::string file = testing::TempDir() + "/bad.suite";
  for (const char* text :
       {"ptx a.ptx\nkernel k 1 32\n", "\nnothing\n", "\nkernel k 1 32 0 1 exact f33*4\n"}) {
    write_file_atomically(file, text);
    try {
      read_suite(file);
      ADD_FAILURE() << text;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(":2: "), std::string::npos) << error.what();
    }
  }
}

// Buffers whose values are drawn alike are alike, and NaN are NaN.
TEST(MachineComparison, values_are_compared_by_their_format) {
  const Format& f = format_of("f16x2");
  const std::vector<std::byte> a = draw(f, 64, 5), b = draw(f, 64, 5);
  EXPECT_EQ(a, b);
  const std::uint32_t nan = 0x7e003c00, other = 0x7fff3c00, near = 0x7e003c01, far = 0x7e003c40;
  const auto likeness = [&](const std::uint32_t& x, const std::uint32_t& y) {
    return compare(f, std::as_bytes(std::span(&x, 1)).data(), std::as_bytes(std::span(&y, 1)).data());
  };
  EXPECT_EQ(likeness(nan, other), Likeness::equal);
  EXPECT_EQ(likeness(nan, near), Likeness::near);
  EXPECT_EQ(likeness(nan, far), Likeness::different);
}

}  // namespace
}  // namespace simtlab::exec::comparison

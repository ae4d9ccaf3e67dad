#include "gpu/kernel_choice.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace simtlab::gpu {
namespace {

bool selects(const char* text, const char* name, std::uint64_t launch = 1, std::uint64_t of_kernel = 1,
             const char* demangled = nullptr) {
  return KernelChoice(text).selects(name, demangled == nullptr ? name : demangled, launch, of_kernel);
}

TEST(KernelChoice, nothing_and_a_star_choose_all) {
  EXPECT_TRUE(KernelChoice().all());
  EXPECT_TRUE(KernelChoice("*").all());
  EXPECT_TRUE(selects("", "k", 17));
}

TEST(KernelChoice, names_match_as_patterns_mangled_or_not) {
  EXPECT_TRUE(selects("mat*", "matmul"));
  EXPECT_FALSE(selects("mat?", "matmul"));
  EXPECT_TRUE(selects("reduce", "_Z6reducePfi", 1, 1, "reduce(float*, int)"));
  EXPECT_TRUE(selects("_Z6reducePfi", "_Z6reducePfi", 1, 1, "reduce(float*, int)"));
  EXPECT_TRUE(selects("void f<int, 3>(int*),x", "_Z1f", 1, 1, "void f<int, 3>(int*)"));
  EXPECT_TRUE(selects("f<int, 3>", "_Z1f", 1, 1, "void f<int, 3>(int*)"));
  EXPECT_TRUE(selects("(anonymous namespace)::k", "_ZN12_GLOBAL__N_11kEPf", 1, 1,
                      "(anonymous namespace)::k(float*)"));
  EXPECT_TRUE(selects("a,b", "b"));
  EXPECT_FALSE(selects("a,b", "c"));
}

TEST(KernelChoice, numbers_count_launches_of_the_program) {
  EXPECT_TRUE(selects("3", "k", 3));
  EXPECT_FALSE(selects("3", "k", 4));
  EXPECT_TRUE(selects("2-4,9-", "k", 4));
  EXPECT_FALSE(selects("2-4,9-", "k", 5));
  EXPECT_TRUE(selects("2-4,9-", "k", 900));
}

TEST(KernelChoice, a_number_behind_a_name_counts_launches_of_that_kernel) {
  EXPECT_TRUE(selects("k:2", "k", 40, 2));
  EXPECT_FALSE(selects("k:2", "k", 2, 40));
  EXPECT_TRUE(selects("k*:2-3", "kernel", 40, 3));
  EXPECT_TRUE(selects("space::k", "_ZN", 1, 5, "space::k(int)"));
}

TEST(KernelChoice, what_makes_no_sense_is_refused) {
  for (const char* text : {"0", "k:0", "4-2", "-3", "a,,b", ",", "3-2-1", "99999999999999999999"})
    EXPECT_THROW(KernelChoice{text}, Error) << text;
}

}  // namespace
}  // namespace simtlab::gpu

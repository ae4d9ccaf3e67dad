#include "corun/live/kernel_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace simtlab::corun::live {
namespace {

TEST(KernelNames, TellsEachKernelOnceAConnection) {
  KernelNames kernels;
  EXPECT_TRUE(kernels.all_told());
  EXPECT_EQ(kernels.add("a", 32, 0), 0u);
  EXPECT_EQ(kernels.add("b", 16, 64), 1u);
  std::vector<std::string> told;
  const auto send = [&](const Register& r) { return told.push_back(r.name), true; };
  EXPECT_FALSE(kernels.all_told());
  EXPECT_TRUE(kernels.tell(send));
  EXPECT_TRUE(kernels.tell(send));
  EXPECT_THAT(told, testing::ElementsAre("a", "b"));
  kernels.begin_connection();
  EXPECT_FALSE(kernels.all_told());
  EXPECT_TRUE(kernels.tell(send));
  EXPECT_EQ(told.size(), 4u);
}

TEST(KernelNames, GoesOnWhereSendingFailed) {
  KernelNames kernels;
  kernels.add("a", 0, 0), kernels.add("b", 0, 0);
  std::vector<std::uint32_t> numbers;
  EXPECT_FALSE(
      kernels.tell([&](const Register& r) { return numbers.push_back(r.kernel), numbers.size() < 2; }));
  EXPECT_TRUE(kernels.tell([&](const Register& r) { return numbers.push_back(r.kernel), true; }));
  EXPECT_THAT(numbers, testing::ElementsAre(0u, 1u, 1u));
}

TEST(KernelNames, GivesOneNumberToAllBeyondTheMost) {
  KernelNames kernels;
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < KernelNames::most + 3; ++i) last = kernels.add("k" + std::to_string(i), 1, 1);
  EXPECT_EQ(last, KernelNames::most - 1);
  std::string name;
  kernels.tell([&](const Register& r) { return name = r.name, true; });
  EXPECT_EQ(name, "(other kernels)");
}

}  // namespace
}  // namespace simtlab::corun::live

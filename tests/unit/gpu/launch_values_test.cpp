#include "gpu/launch_values.h"

#include <gtest/gtest.h>

namespace simtlab::gpu {
namespace {

TEST(LocalMemory, PlacesArgumentsBehindStaticMemoryAndAligned) {
  LocalMemory local(20, 10);
  EXPECT_EQ(local.add(4, 4), 32u);
  EXPECT_EQ(local.add(64, 64), 64u);
  EXPECT_EQ(local.add(1, 1), 128u);
  EXPECT_EQ(local.dynamic_bytes(), 129u - 20u);
}

TEST(LocalMemory, RefusesMoreThanALaunchCanHave) {
  LocalMemory local(0);
  EXPECT_EQ(local.add(std::uint64_t{1} << 40, 4), std::nullopt);
  EXPECT_EQ(local.add(0xfffffff0u, 4), 0u);
  EXPECT_EQ(local.add(64, 4), std::nullopt);
}

}  // namespace
}  // namespace simtlab::gpu

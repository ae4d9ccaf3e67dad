#include "memory/divider.h"

#include <gtest/gtest.h>

#include <random>

namespace simtlab::memory {
namespace {

TEST(Divider, IsTheProcessorsDivision) {
  std::mt19937_64 random(1);
  for (const std::uint32_t divisor :
       {1u, 2u, 3u, 5u, 6u, 7u, 12u, 48u, 64u, 80u, 641u, 65535u, 65536u, 0x7fffffffu, 0xffffffffu}) {
    const Divider by(divisor);
    const auto check = [&](std::uint64_t n) {
      ASSERT_EQ(by.of(n).quotient, n / divisor) << n << " / " << divisor;
      ASSERT_EQ(by.of(n).rest, n % divisor) << n << " / " << divisor;
    };
    constexpr std::uint64_t top = 0xffffffff;
    for (std::uint64_t n = 0; n < 2000; ++n) check(n);
    for (std::uint64_t k = 1; k < 2000; ++k)  // around multiples, up to beyond 32 bits
      for (const std::uint64_t n :
           {k * divisor - 1, k * divisor, k * divisor + 1, top / divisor * divisor - k, top - k, top + k})
        check(n);
    for (int i = 0; i < 20000; ++i) check(random() >> (random() % 64));
  }
}

}  // namespace
}  // namespace simtlab::memory

// Division by a number that is known beforehand: a multiplication, exact for dividends below 2^32 (Lemire,
// Kaser, Kurz: Faster remainder by direct computation, 2019); larger ones are divided.
#pragma once

#include <cstdint>

namespace simtlab::memory {

class Divider {
 public:
  explicit Divider(std::uint32_t divisor = 1)
      : divisor_(divisor), factor_(divisor > 1 ? ~std::uint64_t{0} / divisor + 1 : 0) {}

  struct Result {
    std::uint64_t quotient, rest;
  };
  Result of(std::uint64_t n) const {
    if ((n >> 32) != 0 || factor_ == 0) [[unlikely]]
      return {n / divisor_, n % divisor_};
    __extension__ using Wide = unsigned __int128;
    const auto quotient = static_cast<std::uint64_t>(Wide{n} * factor_ >> 64);
    return {quotient, n - quotient * divisor_};
  }
  std::uint32_t divisor() const { return divisor_; }

 private:
  std::uint32_t divisor_;
  std::uint64_t factor_;  // 2^64 / divisor, rounded up; 0: by 1
};

}  // namespace simtlab::memory

// Which numbers of registers are taken in which gaps.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace simtlab::assembler {

// A set of numbers below 256.
struct Numbers {
  std::array<std::uint64_t, 4> words{};

  void add(unsigned n) { words[n / 64] |= std::uint64_t{1} << n % 64; }
  bool has(unsigned n) const { return (words[n / 64] >> n % 64 & 1u) != 0; }
  bool empty() const { return (words[0] | words[1] | words[2] | words[3]) == 0; }
  Numbers& operator|=(const Numbers& o) {
    for (unsigned w = 0; w < 4; ++w) words[w] |= o.words[w];
    return *this;
  }
  // Every number less by `count`, which is below 64.
  Numbers lowered(unsigned count) const {
    if (count == 0) return *this;
    Numbers out;
    for (unsigned w = 0; w < 4; ++w)
      out.words[w] = words[w] >> count | (w < 3 ? words[w + 1] << (64 - count) : 0);
    return out;
  }
};

// A tree over the gaps.
class Occupied {
 public:
  explicit Occupied(std::uint32_t gaps);
  void clear();
  void take(unsigned number, std::uint32_t from, std::uint32_t to);
  // Taken anywhere in the gaps from `from` to before `to`.
  Numbers in(std::uint32_t from, std::uint32_t to) const;

 private:
  std::uint32_t leaves_;
  std::vector<Numbers> whole_, some_;  // of a node: taken in all of its gaps by one call, in some
};

}  // namespace simtlab::assembler

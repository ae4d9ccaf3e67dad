#include "stream/bank_conflicts.h"

#include <algorithm>
#include <array>
#include <bit>

namespace simtlab::stream {
namespace {

constexpr unsigned warp_lanes = 32;
constexpr unsigned max_banks = 64;

// Lanes that one pass can serve at best.
unsigned lanes_per_group(unsigned bytes, const Banks& banks) {
  return std::clamp(banks.count * banks.bytes / std::max(bytes, 1u), 1u, warp_lanes);
}

std::uint32_t group_mask(unsigned first, unsigned width) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << width) - 1) << first);
}

// Words seen in each bank within one group; a lane touches at most 32 / 4 words.
class GroupBanks {
 public:
  explicit GroupBanks(const Banks& banks) : banks_(banks) {}

  void add(std::uint64_t offset, unsigned bytes) {
    const std::uint64_t first = offset / banks_.bytes;
    const std::uint64_t last = (offset + std::max(bytes, 1u) - 1) / banks_.bytes;
    for (std::uint64_t word = first; word <= last; ++word) add_word(word);
  }
  unsigned passes() const { return passes_; }

 private:
  void add_word(std::uint64_t word) {
    const unsigned bank = static_cast<unsigned>(word % banks_.count);
    const unsigned known = counts_[bank];
    for (unsigned i = 0; i < known; ++i)
      if (words_[bank][i] == word) return;
    if (known == warp_lanes) return;
    words_[bank][known] = word;
    counts_[bank] = static_cast<std::uint8_t>(known + 1);
    passes_ = std::max(passes_, known + 1);
  }

  const Banks& banks_;
  unsigned passes_ = 0;
  std::array<std::uint8_t, max_banks> counts_{};
  std::array<std::array<std::uint64_t, warp_lanes>, max_banks> words_;  // first counts_[bank] entries are set
};

// The two patterns that nearly every access has, and that need no table: all lanes consecutive, or all equal.
bool conflict_free(const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes) {
  if (mask != 0xffffffffu || offsets[0] % bytes != 0) return false;
  std::uint64_t step = 0, same = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    step |= offsets[lane] ^ (offsets[0] + std::uint64_t{lane} * bytes);
    same |= offsets[lane] ^ offsets[0];
  }
  return step == 0 || same == 0;
}

}  // namespace

unsigned shared_passes_ideal(std::uint32_t mask, unsigned bytes, const Banks& banks) {
  const unsigned width = lanes_per_group(bytes, banks);
  unsigned passes = 0;
  for (unsigned first = 0; first < warp_lanes; first += width) passes += (mask & group_mask(first, width)) != 0 ? 1u : 0u;
  return passes;
}

unsigned shared_passes(const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes, const Banks& banks) {
  if (conflict_free(offsets, mask, bytes)) return shared_passes_ideal(mask, bytes, banks);
  const unsigned width = lanes_per_group(bytes, banks);
  unsigned passes = 0;
  for (unsigned first = 0; first < warp_lanes; first += width) {
    std::uint32_t rest = mask & group_mask(first, width);
    if (rest == 0) continue;
    GroupBanks group(banks);
    for (; rest != 0; rest &= rest - 1) group.add(offsets[std::countr_zero(rest)], bytes);
    passes += group.passes();
  }
  return passes;
}

unsigned shared_atomic_passes(const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes, const Banks& banks) {
  const unsigned width = lanes_per_group(bytes, banks);
  unsigned passes = 0;
  for (unsigned first = 0; first < warp_lanes; first += width) {
    std::array<std::uint8_t, max_banks> busy{};
    unsigned most = 0;
    for (std::uint32_t rest = mask & group_mask(first, width); rest != 0; rest &= rest - 1) {
      const std::uint64_t word = offsets[std::countr_zero(rest)] / banks.bytes;
      most = std::max<unsigned>(most, ++busy[word % banks.count]);
    }
    passes += most;
  }
  return passes;
}

unsigned constant_passes(const std::uint64_t* addresses, std::uint32_t mask) {
  unsigned passes = 0;
  for (std::uint32_t rest = mask; rest != 0; ++passes) {
    const std::uint64_t address = addresses[std::countr_zero(rest)] / 4;
    for (std::uint32_t others = rest; others != 0; others &= others - 1) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(others));
      if (addresses[lane] / 4 == address) rest &= ~(1u << lane);
    }
  }
  return passes;
}

}  // namespace simtlab::stream

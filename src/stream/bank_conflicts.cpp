// Runs once for every shared-memory instruction of every warp. The two patterns that nearly every access has
// (lanes on consecutive words, or on one word) are recognised first; a group of lanes whose banks see one
// word each needs one pass; only the rest counts distinct words by bank.
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

// One group of lanes whose accesses share a pass as far as their banks allow.
class Group {
 public:
  explicit Group(const Banks& banks)
      : word_shift_(static_cast<unsigned>(std::countr_zero(banks.bytes))), bank_mask_(banks.count - 1) {}

  // Nearly always each bank sees one word: then one pass does.
  unsigned passes(const std::uint64_t* offsets, std::uint32_t lanes, unsigned bytes) const {
    std::array<std::uint64_t, max_banks> first;
    std::uint64_t seen = 0, conflict = 0, previous = ~std::uint64_t{0};
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const std::uint64_t offset = offsets[std::countr_zero(rest)];
      if (offset == previous) continue;  // the words are those of the lane before
      previous = offset;
      const std::uint64_t last = (offset + bytes - 1) >> word_shift_;
      for (std::uint64_t word = offset >> word_shift_; word <= last; ++word) {
        const std::uint64_t bank = word & bank_mask_;
        const std::uint64_t bit = std::uint64_t{1} << bank;
        if (seen & bit) {
          conflict |= first[bank] ^ word;
        } else {
          first[bank] = word;
          seen |= bit;
        }
      }
    }
    return conflict == 0 ? 1 : distinct_words(offsets, lanes, bytes);
  }

 private:
  // Most distinct words that one bank has to deliver.
  unsigned distinct_words(const std::uint64_t* offsets, std::uint32_t lanes, unsigned bytes) const {
    std::array<std::uint8_t, max_banks> counts{};
    std::array<std::array<std::uint64_t, warp_lanes>, max_banks> words;  // the first counts[bank] are set
    unsigned most = 0;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const std::uint64_t offset = offsets[std::countr_zero(rest)];
      const std::uint64_t last = (offset + bytes - 1) >> word_shift_;
      for (std::uint64_t word = offset >> word_shift_; word <= last; ++word) {
        auto& list = words[word & bank_mask_];
        std::uint8_t& known = counts[word & bank_mask_];
        if (known == warp_lanes ||
            std::find(list.begin(), list.begin() + known, word) != list.begin() + known)
          continue;
        list[known++] = word;
        most = std::max<unsigned>(most, known);
      }
    }
    return most;
  }

  unsigned word_shift_;
  std::uint64_t bank_mask_;
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

bool all_equal(const std::uint64_t* offsets) {
  std::uint64_t same = 0;
  for (unsigned lane = 1; lane < warp_lanes; ++lane) same |= offsets[lane] ^ offsets[0];
  return same == 0;
}

// Whether active lanes that are `apart` (1 or 2) from each other in a block of twice as many ask for the
// same.
bool equal_pairs(const std::uint64_t* offsets, std::uint32_t mask, unsigned apart) {
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const unsigned other = lane ^ apart;
    if (other < lane || (mask >> lane & mask >> other & 1) == 0) continue;
    if (offsets[lane] != offsets[other]) return false;
  }
  return true;
}

}  // namespace

unsigned shared_passes_ideal(std::uint32_t mask, unsigned bytes, const Banks& banks) {
  const unsigned width = lanes_per_group(bytes, banks);
  unsigned passes = 0;
  for (unsigned first = 0; first < warp_lanes; first += width)
    passes += (mask & group_mask(first, width)) != 0 ? 1u : 0u;
  return passes;
}

unsigned shared_passes(const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes, const Banks& banks) {
  if (conflict_free(offsets, mask, bytes)) return shared_passes_ideal(mask, bytes, banks);
  const unsigned width = lanes_per_group(bytes, banks);
  const Group group(banks);
  unsigned passes = 0;
  for (unsigned first = 0; first < warp_lanes; first += width) {
    const std::uint32_t lanes = mask & group_mask(first, width);
    if (lanes != 0) passes += group.passes(offsets, lanes, std::max(bytes, 1u));
  }
  return passes;
}

unsigned shared_load_passes(const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes,
                            const Banks& banks) {
  const unsigned width = 2 * lanes_per_group(bytes, banks);
  if (banks.pairs && width <= warp_lanes && mask == 0xffffffffu && all_equal(offsets))
    return (warp_lanes + width - 1) / width;
  if (!banks.pairs || width > warp_lanes ||
      (!equal_pairs(offsets, mask, 1) && !equal_pairs(offsets, mask, 2)))
    return shared_passes(offsets, mask, bytes, banks);
  const Group group(banks);
  unsigned passes = 0;
  for (unsigned first = 0; first < warp_lanes; first += width) {
    const std::uint32_t lanes = mask & group_mask(first, width);
    if (lanes == 0) continue;
    if (group.passes(offsets, lanes, bytes) > 1) return shared_passes(offsets, mask, bytes, banks);
    ++passes;
  }
  return passes;
}

unsigned shared_atomic_passes(const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes,
                              const Banks& banks) {
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

// Sectors that stores have begun and not completed: which of their bytes are there.
//
// Few lines of a kernel have such sectors, so these are kept apart from the records of all lines.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace simtlab::cache {

using SectorBytes = std::array<std::uint32_t, 4>;  // bit i of an element: byte i of that 32-byte sector

inline constexpr SectorBytes all_bytes = {~0u, ~0u, ~0u, ~0u};

// The sectors of which a store has all bytes.
inline std::uint8_t whole_in(const SectorBytes& bytes, std::uint8_t sectors) {
  std::uint8_t out = 0;
  for (unsigned s = 0; s < bytes.size(); ++s)
    if (bytes[s] == ~std::uint32_t{0}) out = static_cast<std::uint8_t>(out | 1u << s);
  return out & sectors;
}

// Adds the bytes of a store to sectors that are not whole yet. Returns those that are whole now.
inline std::uint8_t completed_by(const SectorBytes& bytes, std::uint8_t sectors, SectorBytes& begun) {
  for (unsigned s = 0; s < begun.size(); ++s)
    if ((sectors >> s & 1) != 0) begun[s] |= bytes[s];
  return whole_in(begun, sectors);
}

inline std::uint8_t begun_sectors(const SectorBytes& begun) {
  std::uint8_t out = 0;
  for (unsigned s = 0; s < begun.size(); ++s)
    if (begun[s] != 0) out = static_cast<std::uint8_t>(out | 1u << s);
  return out;
}

class PartialSectors {
 public:
  struct Bytes {
    SectorBytes ever{};  // in a cache without limits
    SectorBytes lru{};   // in the fully associative one
  };
  // By the index of a line's record; made when it is first asked for.
  Bytes& at(std::uint32_t line) {
    if (line >= places_.size()) places_.resize(line + 1 + line / 2, 0);
    if (places_[line] == 0) {
      items_.emplace_back();
      places_[line] = static_cast<std::uint32_t>(items_.size());
    }
    return items_[places_[line] - 1];
  }
  Bytes* find(std::uint32_t line) {  // null: none of its sectors was ever begun
    return line < places_.size() && places_[line] != 0 ? &items_[places_[line] - 1] : nullptr;
  }
  std::uint64_t bytes() const {
    return places_.capacity() * sizeof places_[0] + items_.capacity() * sizeof(Bytes);
  }
  void clear() {
    places_.clear();
    items_.clear();
  }

 private:
  std::vector<std::uint32_t> places_;  // by line: number in items_ plus 1
  std::vector<Bytes> items_;
};

}  // namespace simtlab::cache

// Memory traffic as a sequence of accesses: what trace readers and generators have in common and the driver
// takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace simtlab::memory::traffic {

// What decides when an access is made, apart from the memory being able to take it.
enum class Pace : std::uint8_t {
  eager,         // as soon as it is accepted
  timed,         // not before Access::cycle
  instructions,  // by a core that executes Access::bubbles other instructions before it (core.h)
  chased,        // when the one before it is done
};

inline constexpr std::size_t most_levels = 8;

struct Access {
  std::uint64_t address = 0;  // bytes; not of one given by its levels
  std::uint64_t cycle = 0;    // Pace::timed: clocks of the memory
  std::uint64_t bubbles = 0;  // Pace::instructions
  std::uint32_t source = 0;   // who asks, for fair schedulers
  bool write = false;
  // A place instead of an address: channel, ..., row, column, in the order of the technology's levels.
  std::uint8_t levels = 0;  // how many; 0: `address` counts
  std::array<std::uint32_t, most_levels> level;
};

class Source {
 public:
  virtual ~Source() = default;
  // False at the end. Throws Error for bad input. Sets all fields of `access` that its pace and kind need.
  virtual bool next(Access& access) = 0;
  virtual Pace pace() const = 0;
  // Where the last access stands, for messages about it; no file where it stands nowhere.
  virtual Diagnostic place() const { return {}; }
};

}  // namespace simtlab::memory::traffic

// Which line of a full set has to leave: one file a rule in policies/replace_*.cpp.
//
// Least recently used, first in first out and random follow from the order of the lines that the cache keeps itself (memory/cache.cpp); the rules
// here keep what they need beside it. A new rule is a new file, a line in replacement.cpp and a name in device/device.h.
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.h"
#include "stream/trace/bytes.h"

namespace simtlab::memory {

class Replacement {
 public:
  virtual ~Replacement() = default;
  virtual void filled(std::uint32_t set, std::uint32_t way) = 0;   // with another line
  virtual void used(std::uint32_t set, std::uint32_t way) = 0;
  virtual std::uint32_t victim(std::uint32_t set) = 0;             // the way; all of the set are taken
  virtual void clear() = 0;
  virtual void save(stream::trace::Buffer& out) const = 0;
  virtual void restore(stream::trace::Bytes& in) = 0;              // throws stream::trace::Malformed
};

// Null for what the cache does itself.
std::unique_ptr<Replacement> make_replacement(device::Replacement kind, std::uint32_t sets, std::uint32_t ways);

std::unique_ptr<Replacement> make_tree_lru(std::uint32_t sets, std::uint32_t ways);
std::unique_ptr<Replacement> make_least_frequent(std::uint32_t sets, std::uint32_t ways);
std::unique_ptr<Replacement> make_most_frequent(std::uint32_t sets, std::uint32_t ways);

}  // namespace simtlab::memory

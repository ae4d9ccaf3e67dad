// Which line of a full set has to leave: one file a rule, policies/replace_NAME.cpp, which gives a
// ReplacementRule replace_NAME.
//
// Least recently used, first in first out and random follow from the order of the lines that the cache keeps
// itself (memory/cache.cpp); the others keep what they need beside it. A new rule is a new file: the build
// makes the list (cmake/registry.cmake).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/named.h"
#include "device/device.h"
#include "stream/trace/bytes.h"

namespace simtlab::memory {

class Replacement {
 public:
  virtual ~Replacement() = default;
  virtual void filled(std::uint32_t set, std::uint32_t way) = 0;  // with another line
  virtual void used(std::uint32_t set, std::uint32_t way) = 0;
  virtual std::uint32_t victim(std::uint32_t set) = 0;  // the way; all of the set are taken
  virtual void clear() = 0;
  virtual void save(stream::trace::Buffer& out) const = 0;
  virtual void restore(stream::trace::Bytes& in) = 0;  // throws stream::trace::Malformed
};

struct ReplacementRule {
  std::string_view doc;  // one sentence
  // Null: the cache does it by itself
  std::unique_ptr<Replacement> (*make)(std::uint32_t sets, std::uint32_t ways);
};
std::span<const Named<ReplacementRule>> replacement_rules();  // in the order of the names

// Null for a rule that the cache carries out by itself.
std::unique_ptr<Replacement> make_replacement(device::Replacement kind, std::uint32_t sets,
                                              std::uint32_t ways);

}  // namespace simtlab::memory

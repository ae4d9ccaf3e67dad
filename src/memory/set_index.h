// Which set a line goes to: one file a rule, policies/index_NAME.cpp, which gives a SetIndexRule index_NAME.
// A new rule is a new file: the build makes the list (cmake/registry.cmake).
//
// key: the number of the line (address / line size).
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/named.h"
#include "device/device.h"

namespace simtlab::memory {

class SetIndex {
 public:
  virtual ~SetIndex() = default;
  virtual std::uint32_t set_of(std::uint64_t key) const = 0;  // below the number of sets
};

struct SetGeometry {
  std::uint32_t sets = 1, line_bytes = 128;
  std::string bits = "none";  // device::SetIndex::bits
};

struct SetIndexRule {
  std::string_view doc;  // one sentence
  std::unique_ptr<SetIndex> (*make)(const SetGeometry& geometry);
};
std::span<const Named<SetIndexRule>> set_index_rules();  // in the order of the names

// geometry: as device::contradictions() lets it pass.
std::unique_ptr<SetIndex> make_set_index(device::SetIndex kind, const SetGeometry& geometry);

}  // namespace simtlab::memory

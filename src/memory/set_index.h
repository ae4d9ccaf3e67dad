// Which set a line goes to: one file a rule in policies/index_*.cpp.
//
// key: the number of the line (address / line size). A new rule is a new file, a line in set_index.cpp and a name in device/device.h.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string>

#include "device/device.h"

namespace simtlab::memory {

class SetIndex {
 public:
  virtual ~SetIndex() = default;
  virtual std::uint32_t set_of(std::uint64_t key) const = 0;   // below the number of sets
};

struct SetGeometry {
  std::uint32_t sets = 1, line_bytes = 128;
  std::string bits = "none";   // device::SetIndex::bits
};

// geometry: as device::contradictions() lets it pass.
std::unique_ptr<SetIndex> make_set_index(device::SetIndex kind, const SetGeometry& geometry);

std::unique_ptr<SetIndex> make_modulo_index(const SetGeometry& geometry);
std::unique_ptr<SetIndex> make_hash_index(const SetGeometry& geometry);
std::unique_ptr<SetIndex> make_xor_index(const SetGeometry& geometry);
std::unique_ptr<SetIndex> make_fermi_index(const SetGeometry& geometry);
std::unique_ptr<SetIndex> make_bits_index(const SetGeometry& geometry);

}  // namespace simtlab::memory

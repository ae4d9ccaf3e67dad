// Accesses given by their place (channel,...,row,column) instead of an address, as Ramulator 2's read/write
// traces do.
#pragma once

#include <string>
#include <vector>

#include "memory/dram/address_mapping.h"
#include "memory/traffic/source.h"

namespace simtlab::memory::traffic {

class Places {
 public:
  explicit Places(const memory::dram::AddressMapping& mapping);

  // The address of the place. Throws Error(bad_input, "trace-place") if the levels are not those of this
  // memory, or one of them is out of range; `place` of the source says where it stands.
  std::uint64_t address(const Access& access, const Source& source) const;

 private:
  [[noreturn]] void refuse(const Source& source, std::string message) const;

  const memory::dram::AddressMapping& mapping_;
  std::vector<memory::dram::MapField> levels_;
};

}  // namespace simtlab::memory::traffic

// Memory that comes and goes in the order of a stream (cudaMallocAsync, cudaFreeAsync): who uses it has to
// wait for the one, and is waited for by the other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "check/findings.h"
#include "check/streams.h"

namespace simtlab::check {

class OrderedMemory {
 public:
  // The first use by a kernel or a copy.
  struct Use {
    Submitted by;
    InstructionAt at;
    result::Access access;
  };
  struct Allocation {
    std::uint64_t bytes = 0;
    Submitted allocated;
    std::vector<Use> uses;
    std::uint32_t seen_in = 0;  // the launch that has used it last
  };

  bool any() const { return !all_.empty(); }
  void add(std::uint64_t address, std::uint64_t bytes, Submitted allocated) {
    all_[address] = {bytes, std::move(allocated), {}, 0};
  }
  // Null: there is none.
  Allocation* find(std::uint64_t address) {
    auto at = all_.upper_bound(address);
    if (at == all_.begin()) return nullptr;
    --at;
    return address - at->first < at->second.bytes ? &at->second : nullptr;
  }
  void erase(std::uint64_t address) { all_.erase(address); }
  // A use of the launch, which `allocated` may not come before.
  static void used(Findings& findings, Allocation& allocation, Use use, const std::string& memory);
  // The uses that this does not come behind.
  static void freed(Findings& findings, const Allocation& allocation, const Submitted& freed,
                    const std::string& memory);

 private:
  std::map<std::uint64_t, Allocation> all_;
};

}  // namespace simtlab::check

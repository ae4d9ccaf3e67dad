// L2 in several parts, each near to a part of the SMs.
//
// Every line has its home slice in one part, by its address. A read of an SM in another part looks first in
// the slice of its own part that stands opposite the home: there a copy may lie. If not, it crosses to the
// home and leaves a copy on its way back. Writes and atomics go to the home and drop the copies. So an SM
// sees near hits as long as its near part holds what it reads (half of L2 with two parts), and far ones
// beyond, as pointer chases on A100 and H100 do (docs/lab/validation.md).
//
// Which SMs are near to which part: the two SMs of a TPC have consecutive numbers, TPCs go round over the
// GPCs of the chip (an H100's SMs 0, 16, 32 and 48 are of its first GPC: accel-sim/gpu-app-collection, pull
// request 87), and a GPC stands beside one part. So pairs of SMs go round over the parts, and a launch of few
// blocks, which are handed out in the order of the SMs, has both halves of L2.
#pragma once

#include <cstdint>

#include "device/device.h"

namespace simtlab::timing {

class L2Parts {
 public:
  explicit L2Parts(const device::Device& device)
      : parts_(device.l2_partitions), slices_(device.l2_slices), part_slices_(slices_ / parts_) {}

  bool several() const { return parts_ > 1; }
  std::uint32_t count() const { return parts_; }
  std::uint32_t part_of_sm(std::uint32_t sm) const { return sm / tpc_sms % parts_; }
  std::uint32_t part_of_slice(std::uint32_t slice) const { return slice / part_slices_; }
  // The slice of `part` that keeps copies of lines of `home`; home itself in its own part.
  std::uint32_t opposite(std::uint32_t home, std::uint32_t part) const {
    return home % part_slices_ + part * part_slices_;
  }
  // The line's number among the copies of a slice, apart from the slice's own lines.
  std::uint64_t copy(std::uint32_t home, std::uint64_t slice_line) const {
    return slice_line | std::uint64_t{part_of_slice(home) + 1} << copy_shift;
  }

 private:
  static constexpr std::uint32_t tpc_sms = 2;
  static constexpr unsigned copy_shift = 42;  // below what DRAM tags keep for lines (memory_system.cpp)
  std::uint32_t parts_, slices_, part_slices_;
};

}  // namespace simtlab::timing

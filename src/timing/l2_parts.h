// L2 in several parts, each near to a part of the SMs.
//
// Every line has its home slice in one part, by its address. A read of an SM in another part looks first in
// the slice of its own part that stands opposite the home: there a copy may lie. If not, it crosses to the
// home and leaves a copy on its way back. Writes and atomics go to the home and drop the copies. So an SM
// sees near hits as long as its near part holds what it reads (half of L2 with two parts), and far ones
// beyond, as pointer chases on A100 and H100 do (docs/lab/validation.md).
#pragma once

#include <cstdint>

#include "device/device.h"

namespace simtlab::timing {

class L2Parts {
 public:
  explicit L2Parts(const device::Device& device)
      : parts_(device.l2_partitions),
        slices_(device.l2_slices),
        sms_(device.sm.count),
        part_slices_(slices_ / parts_) {}

  bool several() const { return parts_ > 1; }
  std::uint32_t count() const { return parts_; }
  std::uint32_t part_of_sm(std::uint32_t sm) const {
    return static_cast<std::uint32_t>(std::uint64_t{sm} * parts_ / sms_);
  }
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
  static constexpr unsigned copy_shift = 42;  // below what DRAM tags keep for lines (memory_system.cpp)
  std::uint32_t parts_, slices_, sms_, part_slices_;
};

}  // namespace simtlab::timing

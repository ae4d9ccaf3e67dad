// Which classes of operations share hardware, as far as the figures of a device file tell it.
#pragma once

namespace simtlab::device {

// Conversions from and to 64-bit types: where they are as fast as fp64 arithmetic it is the fp64 units that
// do them. Rates: thread results a cycle and SM. Estimated: on boards without fast fp64 both rates of the
// programming guide are the same few a cycle.
inline bool fp64_units_convert(double fp64_rate, double convert64_rate) {
  return fp64_rate == convert64_rate;
}

}  // namespace simtlab::device

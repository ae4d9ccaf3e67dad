// Quantities with units: the only place that reads "1.41 GHz", "192 KiB", "350 ns" and prints them.
//
// Each unit has one canonical scale in which the library keeps the number (see Unit). Bytes know decimal
// (kB, MB, GB, TB) and binary prefixes (KiB, MiB, GiB, TiB); "KB" is refused because people mean either.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace simtlab {

// What a number measures; the comment is the canonical scale.
enum class Unit : std::uint8_t {
  none,              // plain number
  hertz,             // Hz
  bytes,             // B
  nanoseconds,       // ns; reads ps, ns, us, ms, s
  cycles,            // cycles of the clock the parameter names
  bytes_per_second,  // B/s
  bytes_per_cycle,   // B/cycle
  per_cycle,         // events per cycle, written "/cycle"
  bits,              // bits; for widths of interfaces
  megatransfers,     // MT/s, the rate of one pin
  milliamperes,      // mA
  volts,             // V; reads V, mV
};

// The canonical spelling: "Hz", "B", "ns", "cycles", "B/s", "B/cycle", "/cycle", "bits", "MT/s", "mA",
// "V"; "" for plain numbers.
std::string_view name_of(Unit unit);

// Reads `text` as a finite, non-negative quantity of `unit`, in its canonical scale. A blank between number
// and unit is optional. A number without its unit is an error unless it is 0 (or unit is none). Throws
// Error(bad_input, "quantity") whose hint shows the right form.
double parse_quantity(std::string_view text, Unit unit);

// The same for whole numbers: also refuses fractions and what does not fit 64 bits.
std::uint64_t parse_whole_quantity(std::string_view text, Unit unit);

// The shortest text that parse_quantity reads back to exactly `value`: 196608 B is "192 KiB".
std::string format_quantity(double value, Unit unit);

}  // namespace simtlab

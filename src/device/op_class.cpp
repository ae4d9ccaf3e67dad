#include "device/op_class.h"

#include "device/shared_units.h"

namespace simtlab::device {
namespace {

// A class much slower than the cores (under half of their rate) runs beside them on units of its own. An
// unknown rate counts as slow.
bool is_slow(double rate, double cores) { return !(2 * rate >= cores); }

}  // namespace

Pipe pipe_of(OpClass c, bool cores_shared, std::span<const double, op_class_count> rates) {
  const double fp32 = rates[index(OpClass::fp32)], int_alu = rates[index(OpClass::int_alu)];
  const Pipe integer = cores_shared ? Pipe::fma : Pipe::alu;
  switch (traits(c).lanes) {
    case Lanes::integer: return integer;
    case Lanes::multiplier: return is_slow(rates[index(c)], fp32) ? Pipe::slow_int : Pipe::fma;
    case Lanes::bit:
      return is_slow(rates[index(c)], !cores_shared && int_alu > 0 ? int_alu : fp32) ? Pipe::slow_int
                                                                                     : integer;
    case Lanes::wide_conversion:
      return fp64_units_convert(rates[index(OpClass::fp64)], rates[index(c)]) ? Pipe::fp64 : Pipe::xu;
    case Lanes::of_pipe: break;
  }
  return traits(c).pipe;
}

}  // namespace simtlab::device

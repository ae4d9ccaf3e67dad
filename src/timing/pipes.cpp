#include "timing/pipes.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "device/shared_units.h"

namespace simtlab::timing {
namespace {

using ptx::OpClass;

double throughput_of(const device::Device& device, OpClass c) {
  return device.throughput[static_cast<std::size_t>(c)];
}

bool shares_cores(const device::Device& device, OpClass c) {
  return 2 * throughput_of(device, c) >=
         throughput_of(device, device.cc_major >= 7 && c == OpClass::bit ? OpClass::int_alu : OpClass::fp32);
}

// Units of the whole SM with a queue in front.
bool is_queued(Pipe pipe) { return pipe == Pipe::mio || pipe == Pipe::lg || pipe == Pipe::tex; }

Pipe pipe_of(const device::Device& device, OpClass c) {
  using enum OpClass;
  const bool split = device.cc_major >= 7;  // integer units beside the floating-point ones
  switch (c) {
    case int_alu: return split ? Pipe::alu : Pipe::fma;
    case int_mul: return shares_cores(device, c) ? Pipe::fma : Pipe::slow_int;
    case bit: return shares_cores(device, c) ? (split ? Pipe::alu : Pipe::fma) : Pipe::slow_int;
    case fp16:
    case fp32: return Pipe::fma;
    case int_div:
    case fp32_div:
    case fp32_sqrt: return Pipe::subroutine;
    case fp64:
    case fp64_div:
    case fp64_sqrt: return Pipe::fp64;
    case sfu:
    case convert: return Pipe::xu;
    case convert64:
      return device::fp64_units_convert(throughput_of(device, fp64), throughput_of(device, convert64))
                 ? Pipe::fp64
                 : Pipe::xu;
    case shuffle:
    case shared:
    case shared_atomic: return Pipe::mio;
    case constant: return Pipe::constant;
    case load:
    case store:
    case atomic:
    case async_copy: return Pipe::lg;
    case texture: return Pipe::tex;
    default: return Pipe::control;
  }
}

}  // namespace

std::string_view name_of(Pipe pipe) {
  static constexpr std::array<std::string_view, pipe_count> names = {
      "fma", "alu", "slow_int", "fp64", "xu", "subroutine", "control", "mio", "constant", "lg", "tex"};
  return names[static_cast<std::size_t>(pipe)];
}

Stall throttle_stall(Pipe pipe) {
  switch (pipe) {
    case Pipe::mio:
    case Pipe::constant: return Stall::mio_throttle;
    case Pipe::lg: return Stall::lg_throttle;
    case Pipe::tex: return Stall::tex_throttle;
    case Pipe::control: return Stall::dispatch;
    default: return Stall::math_pipe_throttle;
  }
}

namespace {

// Classes whose latency is a parameter of another part (timing/latencies.h), not of the table.
bool latency_elsewhere(OpClass c) {
  using enum OpClass;
  return c == control || c == barrier || c == load || c == store || c == shared || c == constant ||
         c == async_copy;
}

}  // namespace

PipeTable::PipeTable(const device::Device& device) : turns(std::max(1u, device.sm.issue_turns)) {
  for (std::size_t i = 0; i < class_count; ++i) {
    const auto c = static_cast<OpClass>(i);
    const double rate = device.throughput[i];
    const double latency = latency_elsewhere(c) ? 1 : device.latency[i];
    if (!(rate > 0) || !(latency > 0))
      throw Error(ExitCode::bad_input, "device-value",
                  fmt::format("device '{}' gives no {} for operation class '{}'", device.name,
                              rate > 0 ? "latency" : "throughput", device::op_class_names[i]),
                  "the cycle-level model needs latency and throughput of every class in the device file");
    classes[i].pipe = pipe_of(device, c);
    classes[i].latency = static_cast<std::uint32_t>(std::llround(std::max(1.0, latency) * 256));
    classes[i].sm_cost = memory::to_fixed(32.0 / rate);
    classes[i].interval = is_queued(classes[i].pipe) ? memory::to_fixed(1)
                                                     : memory::to_fixed(32.0 * device.sm.schedulers / rate);
  }
}

}  // namespace simtlab::timing

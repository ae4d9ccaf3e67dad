#include "timing/pipes.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace simtlab::timing {
namespace {

using ptx::OpClass;

// Later integers have lanes of their own
bool cores_shared(const device::Device& device) { return device.cc_major < 7; }

}  // namespace

Stall throttle_stall(Pipe pipe) {
  switch (device::traits(pipe).throttle) {
    case device::Throttle::mio: return Stall::mio_throttle;
    case device::Throttle::lg: return Stall::lg_throttle;
    case device::Throttle::tex: return Stall::tex_throttle;
    case device::Throttle::dispatch: return Stall::dispatch;
    case device::Throttle::math: break;
  }
  return Stall::math_pipe_throttle;
}

PipeTable::PipeTable(const device::Device& device)
    : turns(std::max(1u, device.sm.issue_turns)),
      operands(device.operands),
      shared_interval(memory::to_fixed(device.shared.interval)) {
  for (std::size_t i = 0; i < class_count; ++i) {
    const auto c = static_cast<OpClass>(i);
    const double rate = device.throughput[i];
    // Else timing/latencies.h has it
    const double latency = device::traits(c).latency_at.empty() ? device.latency[i] : 1;
    if (!(rate > 0) || !(latency > 0))
      throw Error(ExitCode::bad_input, "device-value",
                  fmt::format("device '{}' gives no {} for operation class '{}'", device.name,
                              rate > 0 ? "latency" : "throughput", device::op_class_names[i]),
                  "the cycle-level model needs latency and throughput of every class in the device file");
    classes[i].pipe = device::pipe_of(c, cores_shared(device), device.throughput);
    classes[i].latency = static_cast<std::uint32_t>(std::llround(std::max(1.0, latency) * 256));
    classes[i].sm_cost = memory::to_fixed(32.0 / rate);
    classes[i].interval = device::traits(classes[i].pipe).shared_by_sm
                              ? memory::to_fixed(1)
                              : memory::to_fixed(32.0 * device.sm.schedulers / rate);
    // Arrivals are counted by a unit of the SM (timing/unit_ports.h); they issue as branches do.
    if (c == OpClass::barrier)
      classes[i].interval =
          std::min(classes[i].interval,
                   memory::to_fixed(32.0 * device.sm.schedulers /
                                    device.throughput[static_cast<std::size_t>(OpClass::control)]));
  }
}

}  // namespace simtlab::timing

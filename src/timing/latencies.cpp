#include "timing/latencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "device/main_memory.h"
#include "ptx/op.h"

namespace simtlab::timing {
namespace {

using memory::Cycle;

Cycle whole(double cycles) { return static_cast<Cycle>(std::llround(std::max(cycles, 1.0))); }
std::uint32_t fine(double cycles) {
  return static_cast<std::uint32_t>(std::llround(std::max(cycles, 1.0) * 256));
}

double class_latency(const device::Device& device, ptx::OpClass c) {
  return device.latency[static_cast<std::size_t>(c)];
}

void require(bool condition, const device::Device& device, const char* what) {
  if (!condition)
    throw Error(ExitCode::bad_input, "device-value", fmt::format("device '{}': {}", device.name, what),
                "correct the latencies in the device file or with --set");
}

}  // namespace

Latencies::Latencies(const device::Device& device) {
  require(device.l1.latency >= 1, device, "l1.latency is missing");
  require(device.l2.latency >= 8, device, "l2.latency is below 8 cycles");
  require(device.dram.latency >= device.l2.latency + device::far_and_translation(device) + 1, device,
          "dram.latency is not above l2.latency");
  const Cycle l2 = whole(device.l2.latency);
  // A file without a value for the network gets a quarter of the way each direction.
  const double one_way =
      device.interconnect.latency > 0 ? device.interconnect.latency : device.l2.latency / 4;
  network = std::clamp<Cycle>(whole(one_way), 1, (l2 - 4) / 2);
  to_network = std::min<Cycle>(8, (l2 - 2 * network) / 2);
  slice = l2 - 2 * network - to_network;
  // Half of the lines of a chase live far away, and where translations are modelled each of its loads misses
  // one: the file's value has both.
  dram = whole(device.dram.latency - device::far_and_translation(device) - device.l2.latency);
  const double far = device.l2_partitions > 1 ? device.l2_far_latency : 0;
  // A far hit looks its tag up in both parts.
  far_one_way =
      far > 0 ? std::max<Cycle>(
                    1, static_cast<Cycle>(std::max(0.0, std::round((far - static_cast<double>(slice)) / 2))))
              : 0;
  translation = device.tlb.enabled ? static_cast<Cycle>(std::llround(device.tlb.miss_latency)) : 0;
  atomic_extra = static_cast<Cycle>(
      std::max(0.0, std::round(class_latency(device, ptx::OpClass::atomic) - device.l2.latency)));
  branch = whole(device.sm.branch_latency > 0 ? device.sm.branch_latency
                                              : class_latency(device, ptx::OpClass::control));
  barrier = whole(device.sm.barrier_latency > 0 ? device.sm.barrier_latency
                                                : class_latency(device, ptx::OpClass::barrier));
  fence = whole(class_latency(device, ptx::OpClass::fence));
  const double one_register = device.l1.latency - device.l1_register_latency;
  l1_hit = fine(one_register);
  l1_register = static_cast<std::uint32_t>(std::llround(device.l1_register_latency * 256));
  shared =
      fine(device.shared.latency > 0 ? device.shared.latency : class_latency(device, ptx::OpClass::shared));
  cluster = device.shared.cluster_latency > 0 ? fine(device.shared.cluster_latency) : fine(device.l2.latency);
  constant = fine(device.constant.latency > 0 ? device.constant.latency
                                              : class_latency(device, ptx::OpClass::constant));
  const double texture = class_latency(device, ptx::OpClass::texture);
  texture_extra = texture > one_register ? fine(texture - one_register) : 0;
}

}  // namespace simtlab::timing

// Latencies of the parts, from the load-to-use latencies of the device file by subtraction.
//
// On an idle GPU a load that misses L1 goes through
//   to_network   address generation and L1 look-up, until the request enters the network
//   network      one way to the L2 slice (interconnect.latency of the file)
//   slice        queueing, tag look-up and data of L2
//   network      back; the dependent instruction may issue in the cycle of arrival
// whose sum is l2.latency; a miss in L2 adds `dram` = dram.latency - l2.latency. An L1 hit takes l1.latency
// whole. Between parts of L2 (l2.partitions) a request travels far_one_way, and back. Only the sums are
// measured on hardware; the split decides no idle latency.
#pragma once

#include "device/device.h"
#include "memory/time.h"

namespace simtlab::timing {

struct Latencies {
  memory::Cycle to_network = 0, network = 0, slice = 0, dram = 0;
  memory::Cycle far_one_way = 0, translation = 0;  // 0: L2 is one part; translations never miss
  memory::Cycle atomic_extra = 0;                  // atomics: latency[atomic] - l2.latency, at the slice
  memory::Cycle branch = 1, barrier = 1, fence = 1;
  std::uint32_t l1_hit = 0;       // of one register; 8 binary places
  std::uint32_t l1_register = 0;  // more for each register beyond the first
  std::uint32_t shared = 0;
  std::uint32_t cluster = 0;  // another block's shared memory
  std::uint32_t constant = 0;
  std::uint32_t texture_extra = 0;  // latency[texture] - l1.latency

  explicit Latencies(const device::Device& device);
};

}  // namespace simtlab::timing

#include "timing/main_memory.h"

#include <cmath>

#include "device/main_memory.h"
#include "device/memory_controller.h"
#include "memory/channel_memory.h"
#include "memory/dram/own_channels.h"
#include "memory/dram/plugin.h"
#include "memory/simple_memory.h"
#include "timing/bandwidth.h"

namespace simtlab::timing {
namespace {

// Measured copies and reads include their row misses, so the simple model's streams of whole lines get
// exactly that much.
std::unique_ptr<memory::MainMemory> make_simple(const device::Device& device, const Latencies& latencies) {
  memory::SimpleMemoryConfig config;
  config.partitions = device.dram.partitions;
  config.latency = latencies.dram;
  config.bytes_per_cycle = read_bandwidth(device) / device.sm_clock_hz / device.dram.partitions;
  config.write_cost = write_cost(device);
  config.access_bytes = device.dram.access_bytes;
  config.row_miss_penalty = device.dram.row_miss_penalty;
  config.row_bytes = device.dram.row_bytes;
  return std::make_unique<memory::SimpleMemory>(config);
}

std::unique_ptr<memory::MainMemory> behind_queues(const device::Device& device,
                                                  std::unique_ptr<memory::dram::Channels> channels) {
  memory::ChannelMemoryConfig config;
  config.partitions = device.dram.partitions;
  config.clock_period = 1e12 / device.sm_clock_hz;
  config.path = static_cast<memory::Cycle>(std::llround(device.dram.path));
  config.request_queue = device.dram.request_queue;
  config.return_queue = device.dram.return_queue;
  config.return_bytes_per_cycle = device.l2.bytes_per_cycle / device.dram.partitions;
  return std::make_unique<memory::ChannelMemory>(config, std::move(channels));
}

std::unique_ptr<memory::MainMemory> make_technology(const device::Device& device) {
  const device::Technology technology = device::load_technology(device.dram.technology).technology;
  const device::MemoryController controller =
      device::load_memory_controller(device.dram.controller).controller;
  return behind_queues(
      device, std::make_unique<memory::dram::OwnChannels>(technology, controller, device.dram.partitions));
}

std::unique_ptr<memory::MainMemory> make_plugin(device::Device& device, const device::MemoryChoice& choice) {
  auto channels = std::make_unique<memory::dram::PluginChannels>(memory::dram::PluginConfig{
      choice.library, choice.config, device.dram.partitions, device.dram.stall_limit});
  device.dram.technology = channels->name();
  device.dram.bandwidth = channels->peak_bytes_per_second() * device.dram.partitions;
  device.dram.bandwidth_measured = device.dram.read_bandwidth_measured = 0;
  device.dram.access_bytes = channels->access_bytes();
  return behind_queues(device, std::move(channels));
}

std::unique_ptr<memory::MainMemory> make_unlimited(const device::Device& device, const Latencies& latencies) {
  memory::SimpleMemoryConfig config;
  config.partitions = device.dram.partitions;
  config.latency = latencies.dram;
  config.bytes_per_cycle = 1e12;
  config.access_bytes = device.dram.access_bytes;
  config.row_bytes = device.dram.row_bytes;
  return std::make_unique<memory::SimpleMemory>(config);
}

}  // namespace

std::unique_ptr<memory::MainMemory> make_main_memory(device::Device& device, const Latencies& latencies,
                                                     bool unlimited) {
  if (unlimited) return make_unlimited(device, latencies);
  const device::MemoryChoice choice = device::memory_choice(device.dram.model);
  switch (choice.kind) {
    case device::MemoryKind::plugin: return make_plugin(device, choice);
    case device::MemoryKind::technology: return make_technology(device);
    case device::MemoryKind::simple: break;
  }
  return make_simple(device, latencies);
}

void check_main_memory(device::Device device) {
  if (device::memory_choice(device.dram.model).kind != device::MemoryKind::simple)
    make_main_memory(device, Latencies(device));
}

}  // namespace simtlab::timing

// gpu.stall.classic.dram_full under every memory: much of the time while more is asked for than it can give,
// never while it has time.
#include <gtest/gtest.h>

#include "device/catalogue.h"
#include "device/technology.h"
#include "timing/main_memory.h"
#include "timing/memory_system.h"

namespace simtlab::timing {
namespace {

std::vector<std::string> models() {
  std::vector<std::string> out = device::list_technologies();
  out.emplace_back("simple");
  out.emplace_back("plugin:" SIMTLAB_BINARY_DIR "/plugins/behaviours.so?config=fixed");
  out.emplace_back("plugin:" SIMTLAB_BINARY_DIR "/plugins/fixed_latency.so");
  return out;
}

// Neither L2's bandwidth nor its miss registers nor the queue to DRAM are what a request waits for, unless
// they are set to.
device::Device device_with(const std::string& model,
                           const std::vector<std::pair<std::string, std::string>>& more = {}) {
  std::vector<device::Setting> settings;
  const auto set = [&](const std::string& key, const std::string& value) {
    settings.push_back({key, value, {"command line", "test", "", false}});
  };
  set("dram.model", model);
  set("l2.bytes_per_cycle", "12000 B/cycle");
  set("l2.mshr_entries", "1024");
  for (const auto& [key, value] : more) set(key, value);
  return device::load_device("gtx480", settings).device;
}

struct Counted {
  double share = 0;  // of the slices' cycles
  Cycle cycles = 0;
};

// Reads or writes of so many lines, one every `gap` cycles in 1/16.
Counted stream(device::Device d, RequestKind kind, unsigned lines, Cycle gap) {
  const Latencies latencies(d);
  Interconnect network(d, latencies.network);
  MemorySystem memory(d, latencies, network, make_main_memory(d, latencies));
  for (std::uint64_t i = 0; i < lines; ++i) {
    TimedRequest request;
    request.at = i * gap / 16;
    request.request.line = i;
    request.request.sectors = 0xf;
    request.request.kind = kind;
    request.request.bytes.fill(~std::uint32_t{0});
    request.request.sm = static_cast<std::uint16_t>(i % d.sm.count);
    memory.push(request);
  }
  Counted out;
  while (!memory.idle()) {
    out.cycles = memory.next_event();
    memory.advance(out.cycles + 1);
    network.deliver();
  }
  out.share =
      static_cast<double>(memory.counters().full_cycles) / static_cast<double>(out.cycles * d.l2_slices);
  return out;
}

TEST(DramFull, IsCountedWhileAnyMemoryIsAskedForMoreThanItGives) {
  ASSERT_GE(models().size(), 28u);
  for (const std::string& model : models()) {
    const Counted c = stream(device_with(model), RequestKind::read, 3000, 2);
    EXPECT_GT(c.share, 0.5) << model;
    EXPECT_LE(c.share, 1.0) << model;
  }
}

// Not of our own queues: with ones that never fill, too.
TEST(DramFull, IsCountedOfQueuesOfAnotherLength) {
  for (const std::string& model : device::list_technologies())
    EXPECT_GT(stream(device_with(model, {{"dram.request_queue", "65536"}}), RequestKind::read, 3000, 2).share,
              0.5)
        << model;
}

TEST(DramFull, IsCountedOfWrites) {
  for (const std::string& model : models()) {
    // A small L2, so that what is written leaves it.
    const Counted c = stream(device_with(model, {{"l2.bytes", "96 KiB"}}), RequestKind::write, 12000, 2);
    EXPECT_GT(c.share, 0.2) << model;
  }
}

TEST(DramFull, IsNothingWhileTheMemoryHasTime) {
  for (const std::string& model : models())
    EXPECT_EQ(stream(device_with(model), RequestKind::read, 400, 16 * 300).share, 0) << model;
}

}  // namespace
}  // namespace simtlab::timing

#include "timing/memory_system.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "device/catalogue.h"

namespace simtlab::timing {
namespace {

// Takes one request at a time and keeps a note of who asked.
class OneAtATime final : public memory::MainMemory {
 public:
  explicit OneAtATime(std::vector<std::uint32_t>& served) : served_(served) {}
  bool ready(std::uint32_t, Cycle) const override { return !busy_; }
  void push(const memory::MemoryRequest& request, Cycle now) override {
    request_ = request;
    busy_ = true;
    at_ = now + 10;
    served_.push_back(static_cast<std::uint32_t>(request.tag >> 48));  // the slice
  }
  Cycle next_event() const override { return busy_ ? at_ : never; }
  void advance(Cycle now, std::vector<memory::MemoryDone>& done) override {
    if (!busy_ || now < at_) return;
    busy_ = false;
    done.push_back({request_.tag, request_.partition, request_.write, request_.sectors});
  }
  memory::MemoryStatistics statistics() const override { return {}; }
  void restart() override { busy_ = false; }

 private:
  std::vector<std::uint32_t>& served_;
  memory::MemoryRequest request_;
  bool busy_ = false;
  Cycle at_ = 0;
};

// Otherwise the slice of the lowest number empties while the others stand still.
TEST(MemorySystem, SlicesThatWaitForOnePartitionTakeTurns) {
  device::Device d = device::load_device("gtx480").device;
  d.dram.partitions = 1;
  for (const std::uint32_t slices : {2u, 3u, 96u}) {
    d.l2_slices = slices;
    d.l2.bytes = slices * 64 * 1024;
    const Latencies latencies(d);
    Interconnect network(d, latencies.network);
    std::vector<std::uint32_t> served;
    MemorySystem memory(d, latencies, network, std::make_unique<OneAtATime>(served));
    const unsigned rounds = 20;
    for (std::uint64_t line = 0; line < rounds * slices * 2; ++line) {
      TimedRequest request;
      request.request.line = line;
      request.request.sectors = 1;
      memory.push(request);
    }
    memory.advance(1'000'000);
    ASSERT_EQ(served.size(), rounds * slices * 2);
    std::vector<unsigned> of(slices);
    for (std::size_t i = 0; i < served.size(); ++i) {
      ++of[served[i]];
      const unsigned fair = static_cast<unsigned>(i / slices);
      ASSERT_NEAR(of[served[i]], fair, 3) << "slice " << served[i] << " of " << slices << " after " << i;
    }
  }
}

}  // namespace
}  // namespace simtlab::timing

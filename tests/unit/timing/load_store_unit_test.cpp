// The load-store unit alone: its requests go to a network that nobody serves, its answers are made by hand.
#include "timing/load_store_unit.h"

#include <gtest/gtest.h>

#include <array>

#include "unit_bench.h"

namespace simtlab::timing {
namespace {

// A load, a store, an atomic whose old value is wanted, and one of each register.
constexpr const char* accesses = R"(.visible .entry k() {
  .reg .b64 %rd<4>; .reg .b32 %r<8>;
  ld.global.u32 %r1, [%rd1];
  st.global.u32 [%rd1], %r2;
  atom.global.add.u32 %r3, [%rd1], %r2;
  add.s32 %r4, %r1, %r2;
  ret;
})";

struct Waiter final : MemoryWaiter {
  void load_done(const Load& load, Cycle at) override { loads.emplace_back(load.warp, at); }
  void stores_done(std::uint32_t warp, Cycle now) override { stores.emplace_back(warp, now); }
  void stores_left(std::uint32_t warp, Cycle now) override { left.emplace_back(warp, now); }
  std::vector<std::pair<std::uint32_t, Cycle>> loads, stores, left;
};

struct LoadStoreUnitTest : testing::Test {
  explicit LoadStoreUnitTest(std::uint32_t miss_registers = 4) : bench(accesses, 4, device(miss_registers)) {
    board.begin(4);
    board.widen(bench.slots());
    policies.begin();
    unit.make_cold(bench.simulator.device.l1.ways);
  }
  static device::Device device(std::uint32_t miss_registers) {
    device::Device d = device_of("v100");
    d.l1.mshr_entries = miss_registers;
    return d;
  }
  // All lanes of the warp at addresses `stride` apart.
  void access(std::uint32_t warp, std::uint32_t pc, std::uint64_t address, std::uint64_t stride, Cycle now) {
    std::array<std::uint64_t, 32> lanes{};
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = address + i * stride;
    stream::Step step;
    step.mask = step.active = ~0u;
    step.addresses = lanes.data();
    step.bytes = 4;
    step.space = ptx::Space::global;
    bench.sm.now = now;
    unit.access(warp, program[pc], step, now, now);
  }
  // What L2 would answer to the n-th request.
  Reply answer(std::size_t n, Cycle at) {
    const Request& request = requests.outbox().at(n).request;
    return {.at = at,
            .line = request.line,
            .tag = request.tag,
            .route = request.route,
            .sectors = request.sectors,
            .launch = request.launch};
  }
  const CacheCounters& l1() const { return bench.tenant.counters.l1; }

  UnitBench bench;
  const Program& program = bench.program();
  Waiter waiter;
  Scoreboard board;
  UnitPorts ports{bench.simulator.device};
  Interconnect network{bench.simulator.device, 100};
  std::vector<WarpScheduler> schedulers{bench.simulator.device.sm.schedulers};
  WarpPolicies policies{bench.config.policy, bench.simulator.device, schedulers};
  LoadTable loads{bench.sm, bench.warps, waiter, nullptr};
  RequestPort requests{bench.sm, network};
  LoadStoreUnit unit{bench.sm, {bench.warps, board, ports, loads, requests, policies, waiter, nullptr}};
};

TEST_F(LoadStoreUnitTest, AMissAsksForItsSectorsAndIsDoneWhenTheyHaveCome) {
  access(0, 0, 4096, 4, 10);
  ASSERT_EQ(requests.outbox().size(), 1u);
  EXPECT_EQ(requests.outbox()[0].request.line, 32u);
  EXPECT_EQ(requests.outbox()[0].request.sectors, 0xf);
  EXPECT_EQ(bench.warps[0].loads, 1u);
  EXPECT_EQ(cycle_of(board.latest(0, program, program[3], 0)), no_cycle);
  EXPECT_TRUE(waiter.loads.empty());
  unit.fill(answer(0, 500));
  ASSERT_EQ(waiter.loads.size(), 1u);
  EXPECT_EQ(waiter.loads[0], std::pair(0u, Cycle{500}));
  EXPECT_EQ(bench.warps[0].loads, 0u);
  EXPECT_EQ(loads.under_way(), 0u);
}

TEST_F(LoadStoreUnitTest, AHitIsDoneAfterTheLatencyOfL1) {
  access(0, 0, 4096, 4, 10);
  unit.fill(answer(0, 500));
  access(1, 0, 4096, 4, 600);
  ASSERT_EQ(waiter.loads.size(), 2u);
  EXPECT_EQ(waiter.loads[1], std::pair(1u, Cycle{600 + (bench.latencies.l1_hit >> 8)}));
  EXPECT_EQ(requests.outbox().size(), 1u);
  EXPECT_EQ(l1().read_hits, 4u);
  EXPECT_EQ(l1().read_misses, 4u);
}

TEST_F(LoadStoreUnitTest, AMissOfWhatIsUnderWayAsksNoSecondTimeAndIsDoneWithTheFirst) {
  access(0, 0, 4096, 4, 10);
  access(1, 0, 4096, 4, 11);
  EXPECT_EQ(requests.outbox().size(), 1u);
  EXPECT_EQ(l1().read_pending, 4u);
  unit.fill(answer(0, 500));
  EXPECT_EQ(waiter.loads.size(), 2u);
}

TEST_F(LoadStoreUnitTest, WithoutAMissRegisterSegmentsWaitInOrderUntilAReplyFreesOne) {
  access(0, 0, 0, 128, 10);  // 32 lines, 4 registers
  EXPECT_EQ(requests.outbox().size(), 4u);
  EXPECT_EQ(unit.waiting(), 1u);
  access(1, 0, 0, 4, 11);  // behind it, though its line is under way
  EXPECT_EQ(unit.waiting(), 2u);
  EXPECT_EQ(unit.next_retry(), never);
  unit.reply_arrived(200);
  EXPECT_EQ(unit.next_retry(), 200u);
  unit.fill(answer(0, 200));
  EXPECT_FALSE(unit.retry(200)) << "the first instruction has 27 lines to go";
  ASSERT_EQ(requests.outbox().size(), 5u);
  EXPECT_EQ(requests.outbox()[4].request.line, 4u);
  EXPECT_EQ(bench.tenant.counters.mshr_stall_cycles, 190u);
  for (std::size_t i = 1; i < requests.outbox().size(); ++i) {
    unit.fill(answer(i, 200 + i));
    unit.retry(200 + i);
  }
  EXPECT_EQ(unit.waiting(), 0u);
  EXPECT_EQ(waiter.loads.size(), 2u);
  EXPECT_EQ(unit.misses_under_way(), 0u);
}

TEST_F(LoadStoreUnitTest, EightWaitingInstructionsThrottleIssue) {
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_NE(ports.free_from(Pipe::lg, 0, 1000000), never) << i;
    access(i % 4, 0, std::uint64_t{i} << 16, 128, 10 + i);
  }
  EXPECT_EQ(ports.free_from(Pipe::lg, 0, 1000000), never);
  EXPECT_EQ(ports.free_from(Pipe::mio, 0, 1000000), 1000000u);
}

TEST_F(LoadStoreUnitTest, AWarpHearsOfItsStoresWhenTheLastIsAcknowledged) {
  access(2, 1, 4096, 64, 10);  // 16 lines
  ASSERT_EQ(requests.outbox().size(), 16u);
  EXPECT_EQ(bench.warps[2].stores, 16u);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_TRUE(waiter.stores.empty());
    unit.acknowledge_store(requests.outbox()[i].request.tag, &bench.tenant, 400 + i);
  }
  ASSERT_EQ(waiter.stores.size(), 1u);
  EXPECT_EQ(waiter.stores[0], std::pair(2u, Cycle{415}));
  EXPECT_EQ(requests.stores(), 0u);
}

TEST_F(LoadStoreUnitTest, AnAnswerToAWarpThatHasEndedIsNoneForTheOneInItsPlace) {
  access(2, 1, 4096, 64, 10);
  bench.warps[2] = {.tenant = &bench.tenant, .life = bench.warps[2].life + 1};
  bench.warps[2].stores = 1;
  for (std::size_t i = 0; i < 16; ++i)
    unit.acknowledge_store(requests.outbox()[i].request.tag, &bench.tenant, 400 + i);
  EXPECT_TRUE(waiter.stores.empty());
  EXPECT_EQ(bench.warps[2].stores, 1u);
  EXPECT_EQ(bench.tenant.stores, 0u);
  EXPECT_EQ(bench.tenant.finished_at, 415u) << "the launch lasts until then";
}

TEST_F(LoadStoreUnitTest, AWarpKnowsWhenItsStoresLeave) {
  access(0, 1, 4096, 4, 10);  // a line as a whole
  const Cycle left = requests.outbox().back().at - bench.latencies.network;
  EXPECT_EQ(bench.warps[0].stores_at, left);
  access(1, 1, 8192, 64, 200);  // words
  EXPECT_GT(bench.warps[1].stores_at, requests.outbox().back().at - bench.latencies.network + 30)
      << "they wait for others of their sectors";
}

TEST_F(LoadStoreUnitTest, AnAtomicGoesPastL1AndThrowsItsSectorsOut) {
  access(0, 0, 4096, 4, 10);
  unit.fill(answer(0, 500));
  access(0, 2, 4096, 4, 600);
  ASSERT_EQ(requests.outbox().size(), 2u);
  EXPECT_EQ(requests.outbox()[1].request.kind, RequestKind::atomic);
  EXPECT_EQ(requests.direct_sectors(), 4u);
  EXPECT_EQ(bench.warps[0].answers, 1u);
  unit.answer_direct(answer(1, 900));
  EXPECT_EQ(waiter.loads.size(), 2u);
  EXPECT_EQ(bench.warps[0].answers, 0u);
  access(1, 0, 4096, 4, 1000);
  EXPECT_EQ(l1().read_misses, 8u);
}

}  // namespace
}  // namespace simtlab::timing

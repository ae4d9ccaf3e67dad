// The heap of malloc and free in kernels.
#include "exec/heap.h"

#include <random>

#include "kernel_support.h"

namespace simtlab::exec {
namespace {

TEST(DeviceHeap, blocks_do_not_overlap_and_everything_comes_back) {
  GlobalMemory memory(64 << 20, 0);
  DeviceHeap heap(memory);
  ASSERT_TRUE(heap.set_bytes(1 << 16));
  heap.prepare();
  EXPECT_FALSE(heap.set_bytes(1 << 17));
  std::mt19937 random(1);
  std::map<std::uint64_t, std::uint64_t> held;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 3 != 0) {
      const std::uint64_t bytes = 1 + random() % 3000;
      const std::uint64_t at = heap.allocate(bytes);
      if (at == 0) continue;
      EXPECT_EQ(at % 16, 0u);
      ASSERT_NE(memory.find(at, bytes), nullptr);
      const auto next = held.lower_bound(at);
      ASSERT_TRUE(next == held.end() || at + bytes <= next->first);
      ASSERT_TRUE(next == held.begin() || std::prev(next)->first + std::prev(next)->second <= at);
      held.emplace(at, bytes);
    } else if (!held.empty()) {
      const auto any = std::next(held.begin(), static_cast<std::ptrdiff_t>(random() % held.size()));
      ASSERT_TRUE(heap.release(any->first));
      ASSERT_FALSE(heap.release(any->first));
      held.erase(any);
    }
  }
  for (const auto& [at, bytes] : held) ASSERT_TRUE(heap.release(at));
  EXPECT_NE(heap.allocate(1 << 16), 0u);
  EXPECT_EQ(heap.allocate(1), 0u);
}

TEST(DeviceHeap, freeing_what_was_not_allocated_is_a_fault_with_its_place) {
  Machine m(R"(
.extern .func free(.param .b64 p);
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  { .param .b64 a; st.param.b64 [a], %rd1; call.uni free, (a); }
  ret;
})");
  DeviceHeap heap(m.memory);
  heap.prepare();
  m.params.heap = &heap;
  const std::uint64_t block = heap.allocate(100);
  m.run({1, 1, 1}, {1, 1, 1}, block);
  try {
    m.run({1, 1, 1}, {1, 1, 1}, block);
    FAIL() << "freed twice";
  } catch (const Fault& fault) {
    EXPECT_THAT(fault.format(), testing::HasSubstr("free of address"));
    EXPECT_THAT(fault.format(), testing::HasSubstr("thread (0,0,0)"));
  }
}

}  // namespace
}  // namespace simtlab::exec

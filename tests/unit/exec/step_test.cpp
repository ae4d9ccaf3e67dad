// Stepping block by block, as the timing model does, against functional runs; what steps and records report.
#include <map>

#include "kernel_support.h"

namespace simtlab::exec {
namespace {

// Divergent loop, barrier, shared memory, atomic.
const std::string mixed = lane_kernel(R"(
  mov.u32 %r62, %tid.x;
  mov.u32 %r3, s;
  mad.lo.u32 %r4, %r62, 4, %r3;
  mov.u32 %r2, 0;
LOOP:
  add.u32 %r1, %r1, %r2;
  add.u32 %r2, %r2, 1;
  and.b32 %r5, %r0, 7;
  setp.le.u32 %p1, %r2, %r5;
  @%p1 bra LOOP;
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  xor.b32 %r6, %r62, 33;
  mad.lo.u32 %r6, %r6, 4, %r3;
  ld.shared.u32 %r7, [%r6];
  add.u32 %r1, %r1, %r7;
  setp.gt.u32 %p2, %r1, 20;
  @%p2 atom.global.add.u32 %r8, [%rd2], 1;
)",
                                      {}, "  .shared .align 4 .b32 s[128];\n");

struct Trace {
  std::vector<std::uint32_t> pcs, masks;
  std::vector<std::uint64_t> addresses;  // of active lanes of memory instructions
  bool operator==(const Trace&) const = default;
};

class Recorder final : public Consumer {
 public:
  void consume(std::uint64_t warp, std::span<const Record> records,
               std::span<const std::uint64_t> addresses) override {
    Trace& t = traces[warp];
    for (const Record& r : records) {
      t.pcs.push_back(r.pc);
      t.masks.push_back(r.mask);
      if (r.address_index == ptx::no_pc) continue;
      for (unsigned lane = 0; lane < warp_size; ++lane)
        if (r.mask >> lane & 1)
          t.addresses.push_back(addresses[std::size_t{r.address_index} * warp_size + lane]);
    }
  }
  std::map<std::uint64_t, Trace> traces;
};

TEST(Step, warps_stepped_one_instruction_at_a_time_do_what_a_functional_run_does) {
  Machine m(mixed);
  const std::vector<std::uint32_t> zeros(256);
  const auto out = m.upload(zeros), in = m.upload(zeros);
  Recorder recorder;
  m.options.consumer = &recorder;
  const FunctionalResult result = m.run({2}, {128}, out, in);
  const auto hits = m.download<std::uint32_t>(in, 1)[0];
  const auto values = m.download<std::uint32_t>(out, 256);
  EXPECT_GT(hits, 0u);

  std::map<std::uint64_t, Trace> traces;
  std::uint64_t instructions = 0, threads = 0;
  m.memory.fill(in, std::byte{0}, 4);
  m.memory.fill(out, std::byte{0}, 1024);
  const auto launch = m.prepare({2}, {128}, out, in);
  Block block(*launch);
  for (std::uint64_t b = 0; b < 2; ++b) {
    block.reset(b, 0, 0);
    while (!block.finished()) {
      block.check_progress();
      for (unsigned w = 0; w < block.warp_count(); ++w) {
        if (block.status(w) != WarpStatus::ready) continue;
        const ptx::Inst* next = block.peek(w);
        const std::uint32_t pc = block.peek_pc(w), active = block.active_mask(w);
        const Step& s = block.step(w, instructions);
        EXPECT_EQ(s.inst, next);
        EXPECT_EQ(s.pc, pc);
        EXPECT_EQ(s.active, active);
        EXPECT_EQ(s.mask & ~s.active, 0u);
        Trace& t = traces[b * 4 + w];
        t.pcs.push_back(s.pc);
        t.masks.push_back(s.mask);
        if (s.addresses != nullptr)
          for (unsigned lane = 0; lane < warp_size; ++lane)
            if (s.mask >> lane & 1) t.addresses.push_back(s.addresses[lane]);
        ++instructions;
        threads += static_cast<unsigned>(__builtin_popcount(s.mask));
      }
    }
  }
  EXPECT_EQ(m.download<std::uint32_t>(out, 256), values);
  EXPECT_EQ(m.download<std::uint32_t>(in, 1)[0], hits);
  EXPECT_EQ(instructions, result.warp_instructions);
  EXPECT_EQ(threads, result.thread_instructions);
  EXPECT_TRUE(traces == recorder.traces);
}

TEST(Step, arithmetic_at_once_between_steps_changes_nothing) {
  Machine m(mixed);
  const std::vector<std::uint32_t> zeros(256);
  const auto out = m.upload(zeros), in = m.upload(zeros);
  const FunctionalResult result = m.run({2}, {128}, out, in);
  const auto values = m.download<std::uint32_t>(out, 256);
  m.memory.fill(in, std::byte{0}, 4);
  m.memory.fill(out, std::byte{0}, 1024);
  const auto launch = m.prepare({2}, {128}, out, in);
  Block block(*launch);
  std::uint64_t instructions = 0, threads = 0, at_once = 0;
  for (std::uint64_t b = 0; b < 2; ++b) {
    block.reset(b, 0, 0);
    while (!block.finished()) {
      block.check_progress();
      for (unsigned w = 0; w < block.warp_count(); ++w) {
        if (block.status(w) != WarpStatus::ready) continue;
        const auto run = block.run_plain(w, 3);
        EXPECT_LE(run.instructions, 3u);
        const Step& s = block.step(w, 0);
        instructions += run.instructions + 1;
        at_once += run.instructions;
        threads += run.threads + static_cast<unsigned>(__builtin_popcount(s.mask));
      }
    }
  }
  EXPECT_GT(at_once, 0u);
  EXPECT_EQ(m.download<std::uint32_t>(out, 256), values);
  EXPECT_EQ(instructions, result.warp_instructions);
  EXPECT_EQ(threads, result.thread_instructions);
}

TEST(Step, memory_steps_report_space_size_and_addresses) {
  Machine m(lane_kernel(R"(
  mov.u32 %r3, s;
  ld.global.v2.u32 {%r4, %r5}, [%rd2];
  st.shared.u8 [%r3+5], %r4;
  mov.u64 %rd5, s;
  cvta.shared.u64 %rd6, %rd5;
  ld.u32 %r6, [%rd6+8];
  ld.u64 %rd7, [%rd2+8];
  cp.async.ca.shared.global [%r3+16], [%rd2], 8;
)",
                        {}, "  .shared .align 16 .b8 s[32];\n"));
  const auto out = m.upload(std::vector<std::uint32_t>(32)), in = m.upload(std::vector<std::uint32_t>(32));
  const auto launch = m.prepare({1}, {32}, out, in);
  Block block(*launch);
  struct Seen {
    ptx::Space space;
    unsigned bytes;
    std::uint64_t address, address2;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> seen;
  while (!block.finished()) {
    const Step& s = block.step(0, 0);
    if (s.addresses != nullptr)
      seen.push_back({s.space, s.bytes, s.addresses[3], s.addresses2 == nullptr ? 0 : s.addresses2[3]});
  }
  using ptx::Space;
  const std::vector<Seen> expected = {{Space::param, 8, 0, 0},    {Space::param, 8, 8, 0},
                                      {Space::global, 8, in, 0},  {Space::shared, 1, 5, 0},
                                      {Space::shared, 4, 8, 0},   {Space::global, 8, in + 8, 0},
                                      {Space::global, 8, in, 16}, {Space::global, 4, out + 12, 0}};
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], expected[i]) << i;
}

TEST(Step, a_warp_at_a_barrier_is_not_ready_until_the_last_one_arrives) {
  Machine m(lane_kernel("  bar.sync 0;\n"));
  const auto out = m.upload(std::vector<std::uint32_t>(64)), in = m.upload(std::vector<std::uint32_t>(64));
  const auto launch = m.prepare({1}, {64}, out, in);
  Block block(*launch);
  while (block.status(0) == WarpStatus::ready) block.step(0, 0);
  EXPECT_EQ(block.status(0), WarpStatus::barrier);
  EXPECT_EQ(block.status(1), WarpStatus::ready);
  while (block.peek(1)->op != ptx::Op::bar) block.step(1, 0);
  EXPECT_EQ(block.status(0), WarpStatus::barrier);
  block.step(1, 0);
  EXPECT_EQ(block.status(0), WarpStatus::ready);
  while (block.status(0) == WarpStatus::ready) block.step(0, 0);
  EXPECT_EQ(block.status(0), WarpStatus::exited);
  EXPECT_EQ(block.peek(0), nullptr);
  EXPECT_FALSE(block.finished());
}

TEST(Step, the_next_instruction_is_that_of_the_lanes_that_run_next) {
  Machine m(lane_kernel(R"(
  setp.lt.u32 %p1, %r0, 8;
  @%p1 bra LOW;
  mov.u32 %r1, 1;
  bra JOIN;
LOW:
  mov.u32 %r1, 2;
JOIN:
  mov.u32 %r2, 3;
)"));
  const auto out = m.upload(std::vector<std::uint32_t>(32)), in = m.upload(std::vector<std::uint32_t>(32));
  const auto launch = m.prepare({1}, {32}, out, in);
  Block block(*launch);
  while (block.peek(0)->op != ptx::Op::bra) block.step(0, 0);
  block.step(0, 0);
  EXPECT_EQ(block.active_mask(0), 0xffffff00u);
  block.step(0, 0);
  block.step(0, 0);  // bra JOIN: the other side is next
  EXPECT_EQ(block.active_mask(0), 0xffu);
  block.step(0, 0);
  EXPECT_EQ(block.active_mask(0), ~0u);
}

TEST(Step, a_block_reset_to_another_index_starts_afresh) {
  Machine m(lane_kernel("  ld.shared.u32 %r1, [s];\n  st.shared.u32 [s], 77;\n", {},
                        "  .shared .align 4 .b32 s;\n"));
  EXPECT_EQ(run_lanes(m, 96, 32), each_thread(96, [](unsigned) { return 0; }));
}

}  // namespace
}  // namespace simtlab::exec

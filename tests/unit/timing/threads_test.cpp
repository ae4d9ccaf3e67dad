// One GPU on several host threads: values, times and faults are those of one thread, also where a program
// leaves them open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "simulator.h"

namespace simtlab::timing {
namespace {

using testing::HasSubstr;

struct Outcome {
  result::Metrics metrics;
  std::vector<std::uint32_t> memory;
  std::string printed, error;
};

// Runs kernel k(.param .u64 data) on `words` zeroed words.
Outcome run(const std::string& body, unsigned threads, unsigned blocks, unsigned block, std::size_t words,
            const char* gpu = "v100") {
  Simulator s(device_of(gpu),
              ".visible .entry k(.param .u64 data) { .reg .b64 %rd<16>; .reg .b32 %r<32>; .reg .pred %p<8>;\n"
              ".shared .align 8 .b32 s[64];\n"
              "ld.param.u64 %rd1, [data]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x;\n"
              "mad.lo.u32 %r4, %r1, %r3, %r2; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;\n" +
                  body + "\nret; }\n",
              {.threads = threads});
  const std::uint64_t data = s.upload(std::vector<std::uint32_t>(words));
  Outcome out;
  try {
    out.metrics = s.run("k", {blocks, 1, 1}, {block, 1, 1}, data).metrics;
  } catch (const Error& error) { out.error = error.what(); }
  out.memory.resize(words);
  s.memory.read(data, std::as_writable_bytes(std::span(out.memory)));
  return out;
}

void expect_same_for_any_number(const std::string& body, unsigned blocks, unsigned block, std::size_t words) {
  const Outcome one = run(body, 1, blocks, block, words);
  for (const unsigned threads : {2u, 3u, 8u}) {
    const Outcome many = run(body, threads, blocks, block, words);
    EXPECT_EQ(many.error, one.error);
    EXPECT_EQ(many.memory, one.memory) << threads << " threads";
    EXPECT_EQ(many.metrics, one.metrics) << threads << " threads";
  }
}

TEST(Threads, atomics_are_exact_and_their_answers_the_same) {
  // Each thread takes a ticket and leaves its number there.
  const std::string body =
      "atom.global.add.u32 %r5, [%rd1], 1; mul.wide.u32 %rd4, %r5, 4; add.u64 %rd5, %rd1, %rd4;"
      "st.global.u32 [%rd5+4], %r4;";
  const Outcome one = run(body, 1, 160, 64, 160 * 64 + 1);
  EXPECT_EQ(one.memory[0], 160u * 64);
  std::vector<std::uint32_t> numbers(one.memory.begin() + 1, one.memory.end());
  std::ranges::sort(numbers);
  for (std::uint32_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], i);
  expect_same_for_any_number(body, 160, 64, 160 * 64 + 1);
}

// The answer of an atomic that nobody reads has a register all the same, which others get behind it; machine
// code has no instruction for some of them.
TEST(Threads, an_unwanted_answer_does_not_come_on_top_of_what_follows) {
  std::string body = "atom.global.add.u32 %r5, [%rd1], 1;";
  // Live together: one gets that register
  for (int i = 0; i < 8; ++i)
    body += " mov.u32 %r" + std::to_string(10 + i) + ", " + std::to_string(1 << i) + ";";
  body += " ld.volatile.global.u32 %r7, [%rd3+4]; add.u32 %r6, %r2, %r7;";  // behind the end of the quantum
  for (int i = 0; i < 8; ++i) body += " add.u32 %r6, %r6, %r" + std::to_string(10 + i) + ";";
  const Outcome one = run(body + " st.global.u32 [%rd3+4], %r6;", 1, 160, 64, 160 * 64 + 1);
  for (std::uint32_t i = 0; i < 160 * 64; ++i) ASSERT_EQ(one.memory[i + 1], 255 + i % 64) << i;
}

TEST(Threads, races_have_one_outcome) {
  // All write one word, read it back, and keep what they read.
  expect_same_for_any_number(
      "st.global.u32 [%rd1], %r4; membar.gl; ld.volatile.global.u32 %r5, [%rd1]; st.global.u32 [%rd3+4], "
      "%r5;",
      200, 32, 200 * 32 + 1);
}

TEST(Threads, own_stores_are_seen_at_once) {
  // Byte, word and pair; the neighbours' lanes too.
  const std::string body =
      "st.global.u32 [%rd3], %r4; xor.b32 %r6, %r4, 1; mul.wide.u32 %rd4, %r6, 4; add.u64 %rd5, %rd1, %rd4;"
      "ld.global.u32 %r7, [%rd5]; add.u32 %r7, %r7, 1; st.global.u32 [%rd3], %r7; ld.global.u32 %r8, [%rd3];"
      "st.global.u8 [%rd3+3], %r2; ld.global.u32 %r9, [%rd3]; st.global.u32 [%rd3], %r9;";
  const Outcome one = run(body, 1, 100, 64, 6400);
  for (std::uint32_t i = 0; i < 6400; ++i) ASSERT_EQ(one.memory[i], ((i ^ 1) + 1) | (i % 64) << 24) << i;
  expect_same_for_any_number(body, 100, 64, 6400);
}

TEST(Threads, a_load_after_an_atomic_of_its_own_thread_sees_it) {
  const std::string body =
      "red.global.add.u32 [%rd3], 5; ld.global.u32 %r5, [%rd3]; add.u32 %r5, %r5, 1; st.global.u32 [%rd3], "
      "%r5;"
      "atom.global.add.u32 %r6, [%rd3], 10; ld.global.u32 %r7, [%rd3]; st.global.u32 [%rd3], %r7;";
  const Outcome one = run(body, 1, 90, 128, 90 * 128);
  for (const std::uint32_t value : one.memory) ASSERT_EQ(value, 16u);
  expect_same_for_any_number(body, 90, 128, 90 * 128);
}

TEST(Threads, generic_atomics_may_mix_shared_and_global_memory) {
  const std::string body =
      "mov.u32 %r9, s; cvt.u64.u32 %rd6, %r9; cvta.shared.u64 %rd7, %rd6; st.shared.u32 [%r9], 0; bar.sync 0;"
      "and.b32 %r5, %r2, 1; setp.eq.u32 %p1, %r5, 0; selp.b64 %rd8, %rd7, %rd1, %p1; atom.add.u32 %r6, "
      "[%rd8], 1; bar.sync 0;"
      "ld.shared.u32 %r7, [%r9]; setp.ne.u32 %p2, %r2, 0; @%p2 bra E; mul.wide.u32 %rd4, %r1, 4; add.u64 "
      "%rd5, %rd1, %rd4;"
      "st.global.u32 [%rd5+4], %r7; E:";
  const Outcome one = run(body, 1, 100, 64, 101);
  EXPECT_EQ(one.memory[0], 3200u);
  for (std::size_t i = 1; i <= 100; ++i) ASSERT_EQ(one.memory[i], 32u);
  expect_same_for_any_number(body, 100, 64, 101);
}

TEST(Threads, a_lock_between_blocks_works) {
  // One thread a block: lock, read, add, write, unlock.
  const std::string body =
      "setp.ne.u32 %p1, %r2, 0; @%p1 bra E; L: atom.global.cas.b32 %r5, [%rd1], 0, 1; setp.ne.u32 %p2, %r5, "
      "0;"
      "@%p2 bra L; membar.gl; ld.volatile.global.u32 %r6, [%rd1+4]; add.u32 %r6, %r6, 1; "
      "st.volatile.global.u32 [%rd1+4], %r6;"
      "membar.gl; atom.global.exch.b32 %r7, [%rd1], 0; E:";
  const Outcome one = run(body, 1, 170, 32, 2);
  EXPECT_EQ(one.memory, (std::vector<std::uint32_t>{0, 170}));
  expect_same_for_any_number(body, 170, 32, 2);
}

TEST(Threads, stores_of_every_width_and_pattern_arrive) {
  // Scattered 16-byte stores, then contiguous ones of 8 and 2 bytes over part of them.
  const std::string body =
      "mul.lo.u32 %r5, %r4, 37; rem.u32 %r5, %r5, 6400; mul.wide.u32 %rd4, %r5, 16; add.u64 %rd5, %rd1, %rd4;"
      "st.global.v4.u32 [%rd5], {%r4, %r5, %r1, %r2}; mul.wide.u32 %rd6, %r4, 8; add.u64 %rd7, %rd1, %rd6;"
      "st.global.u64 [%rd7+102400], %rd6; mul.wide.u32 %rd8, %r4, 2; add.u64 %rd9, %rd1, %rd8; st.global.u16 "
      "[%rd9+102400], %r4;";
  const Outcome one = run(body, 1, 100, 64, 102400 / 4 + 12800);
  for (std::uint32_t i = 0; i < 6400; ++i) {
    const std::uint32_t at = i * 37 % 6400;
    ASSERT_EQ(one.memory[at * 4], i);
    ASSERT_EQ(one.memory[at * 4 + 1], at);
    ASSERT_EQ(one.memory[at * 4 + 2], i / 64);
    ASSERT_EQ(one.memory[at * 4 + 3], i % 64);
  }
  expect_same_for_any_number(body, 100, 64, 102400 / 4 + 12800);
}

TEST(Threads, asynchronous_copies_read_own_stores) {
  const std::string body =
      "and.b32 %r5, %r2, 31; mul.lo.u32 %r6, %r5, 4; mov.u32 %r7, s; add.u32 %r7, %r7, %r6;"
      "add.u32 %r8, %r4, 7; st.global.u32 [%rd3], %r8; cp.async.ca.shared.global [%r7], [%rd3], 4; "
      "cp.async.wait_all;"
      "ld.shared.u32 %r9, [%r7]; st.global.u32 [%rd3], %r9;";
  const Outcome one = run(body, 1, 100, 32, 3200);
  for (std::uint32_t i = 0; i < 3200; ++i) ASSERT_EQ(one.memory[i], i + 7);
  expect_same_for_any_number(body, 100, 32, 3200);
}

TEST(Threads, of_several_faults_the_same_one_is_reported_and_stores_before_it_stay) {
  // Blocks from 60 on read beyond the buffer.
  const std::string body =
      "st.global.u32 [%rd3], %r4; setp.lt.u32 %p1, %r1, 60; @%p1 bra E; ld.global.u32 %r5, [%rd3+1048576]; "
      "st.global.u32 [%rd3], %r5; E:";
  const Outcome one = run(body, 1, 120, 32, 120 * 32);
  EXPECT_THAT(one.error, HasSubstr("Invalid"));
  expect_same_for_any_number(body, 120, 32, 120 * 32);
}

TEST(Threads, fused_float_additions_keep_their_order) {
  // Sums of floats depend on the order of the additions.
  const std::string body =
      "cvt.rn.f32.u32 %r5, %r4; atom.global.add.f32 %r6, [%rd1], %r5; st.global.b32 [%rd3+4], %r6;";
  expect_same_for_any_number(body, 160, 96, 160 * 96 + 1);
}

}  // namespace
}  // namespace simtlab::timing

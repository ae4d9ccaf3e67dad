// What a program computes does not depend on the mode, on who looks on, on the number of threads.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "random_kernel.h"
#include "stream/trace/reader.h"
#include "watched.h"

namespace simtlab::gpu {
namespace {

std::string difference(const Left& got, const Left& wanted) {
  if (got.printed != wanted.printed) return "printed " + got.printed + ", not " + wanted.printed;
  for (std::size_t i = 0; i < wanted.words.size(); ++i)
    if (got.words[i] != wanted.words[i])
      return fmt::format("word {} is {:#x}, not {:#x}", i, got.words[i], wanted.words[i]);
  return {};
}

// The plain functional run decides.
Left check(const device::Device& device, const Program& program) {
  const Folder folder;
  Options plain;
  plain.mode = Mode::functional;
  const Left wanted = run(device, plain, program);
  for (const Watcher& watcher : watchers()) {
    if (program.blocks_wait && watcher.leaves_blocks_out) continue;
    SCOPED_TRACE(watcher.name);
    Options options;
    watcher.look(options, folder.path());
    EXPECT_EQ(difference(run(device, options, program), wanted), "");
  }
  return wanted;
}

// Global thread number in %r0, thread in the block in %r1, buffer in %d0; answers go to the 4 words at %d1,
// which are the thread's own. The words before them belong to everybody.
constexpr std::uint32_t common = 256, own = 4;

std::string kernel(const std::string& name, const std::string& body, const std::string& before = {}) {
  return before + fmt::format(R"(.visible .entry {}(.param .u64 buffer)
{{
  .reg .pred %p<8>; .reg .b16 %s<8>; .reg .b32 %r<32>; .reg .b64 %d<32>; .reg .f32 %f<8>; .reg .f64 %g<8>;
  .shared .align 16 .b8 cells[1024];
  ld.param.u64 %d0, [buffer];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r0, %r2, %r3, %r1;
  mul.wide.u32 %d1, %r0, {}; add.u64 %d1, %d1, %d0; add.u64 %d1, %d1, {};
{}
  ret;
}}
)",
                              name, own * 4, common * 4, body);
}

Program program_of(const std::string& body, const std::string& before = {}, std::uint32_t blocks = 4,
                   std::uint32_t threads = 96) {
  Program out{".version 8.3\n.target sm_90\n.address_size 64\n" + kernel("k", body, before),
              {"k", "k"},
              blocks,
              threads,
              {}};
  out.words.resize(common + std::size_t{blocks} * threads * own);
  for (std::uint32_t i = 0; i < out.words.size(); ++i) out.words[i] = i < common ? 0 : i * 2654435761u;
  return out;
}

class SameMemory : public testing::Test {
 protected:
  static void SetUpTestSuite() { device_ = std::make_unique<device::Device>(small_device("h100")); }
  static std::unique_ptr<device::Device> device_;
};
std::unique_ptr<device::Device> SameMemory::device_;

TEST_F(SameMemory, AnswersOfAtomicsToOneCellAreAPermutation) {
  const Left left =
      check(*device_, program_of("  atom.global.add.u32 %r4, [%d0], 1; red.global.add.u32 [%d0+4], %r4; "
                                 "mul.lo.u32 %r5, %r4, %r4; red.global.add.u32 [%d0+8], %r5;"));
  const std::uint32_t n = 2 * 4 * 96;
  EXPECT_EQ(left.words[0], n);
  EXPECT_EQ(left.words[1], n * (n - 1) / 2);
}

struct Operation {
  std::string name, type;
  unsigned bytes;
};

std::vector<Operation> operations() {
  std::vector<Operation> out = {
      {"add", "u32", 4},        {"add", "s32", 4},         {"add", "u64", 8},
      {"add", "f32", 4},        {"add", "f64", 8},         {"add.noftz", "f16", 2},
      {"add.noftz", "bf16", 2}, {"add.noftz", "f16x2", 4}, {"add.noftz", "bf16x2", 4},
      {"inc", "u32", 4},        {"dec", "u32", 4},         {"exch", "b32", 4},
      {"exch", "b64", 8},       {"cas", "b16", 2},         {"cas", "b32", 4},
      {"cas", "b64", 8}};  // those of 128 bits need registers that PTX text has none of here
  for (const char* name : {"min", "max"})
    for (const char* type : {"u32", "s32", "u64", "s64"})
      out.push_back({name, type, static_cast<unsigned>(type[1] == '3' ? 4 : 8)});
  for (const char* name : {"and", "or", "xor"})
    for (const char* type : {"b32", "b64"})
      out.push_back({name, type, static_cast<unsigned>(type[1] == '3' ? 4 : 8)});
  return out;
}

// Lanes of a warp meet at two cells, whose place is that of the warp; each answer is an operand of the next
// operation.
std::string chain(const Operation& op, const std::string& space) {
  const unsigned b = op.bytes;
  std::string out = fmt::format(R"(
  shr.u32 %r10, %r1, 5; and.b32 %r11, %r1, 1; mad.lo.u32 %r12, %r10, 2, %r11; mul.lo.u32 %r12, %r12, 16;
  mov.u64 %d10, cells; cvt.u64.u32 %d11, %r12; add.u64 %d12, %d10, %d11;
  mul.wide.u32 %d13, %r2, {}; add.u64 %d13, %d13, %d0; add.u64 %d13, %d13, %d11;
  cvta.shared.u64 %d14, %d12; cvta.global.u64 %d15, %d13; and.b32 %r13, %r1, 2; setp.eq.u32 %p1, %r13, 0; selp.b64 %d16, %d14, %d15, %p1;
  ld.global.u64 %d20, [%d1]; and.b64 %d20, %d20, 0x000f000f000f000f; ld.global.u64 %d21, [%d1+8];
  mov.u32 %r15, 0;
AGAIN:
)",
                                (96 / 32) * 2 * 16);
  const std::string at = space == "global" ? "%d13" : space == "shared" ? "%d12" : "%d16";
  const std::string what = space == "generic" ? "" : space + ".";
  const std::string third = op.name == "cas" ? ", NEXT" : "";
  std::string step;
  if (b == 8)
    step = fmt::format("add.u64 %d22, %d20, 3; atom.{}{}.{} %d20, [{}], %d20{};", what, op.name, op.type, at,
                       third);
  else if (b == 4)
    step = fmt::format(
        "cvt.u32.u64 %r20, %d20; add.u32 %r22, %r20, 3; atom.{}{}.{} %r21, [{}], %r20{}; cvt.u64.u32 %d20, "
        "%r21;",
        what, op.name, op.type, at, third);
  else
    step = fmt::format(
        "cvt.u16.u64 %s0, %d20; add.u16 %s2, %s0, 3; atom.{}{}.{} %s1, [{}], %s0{}; cvt.u64.u16 %d20, %s1;",
        what, op.name, op.type, at, third);
  const std::string next = b == 8 ? "%d22" : b == 4 ? "%r22" : "%s2";
  if (const std::size_t mark = step.find("NEXT"); mark != std::string::npos) step.replace(mark, 4, next);
  return out + "  " + step + R"(
  add.u64 %d20, %d20, 1; add.u32 %r15, %r15, 1; setp.lt.u32 %p2, %r15, 5; @%p2 bra AGAIN;
  bar.sync 0; ld.shared.u64 %d23, [%d12]; xor.b64 %d21, %d21, %d23;
  st.global.u64 [%d1], %d20; st.global.u64 [%d1+8], %d21;
)";
}

class SameMemoryOfAtomics : public SameMemory, public testing::WithParamInterface<const char*> {};

TEST_P(SameMemoryOfAtomics, EveryOperationOfEveryWidth) {
  for (const Operation& op : operations()) {
    SCOPED_TRACE(op.name + "." + op.type);
    const Program program = program_of(chain(op, GetParam()), {}, 3, 64);
    const Left left = check(*device_, program);
    EXPECT_NE(left.words, program.words);
    if (HasFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(, SameMemoryOfAtomics, testing::Values("global", "shared", "generic"),
                         [](const auto& instance) { return std::string(instance.param); });

// Values that only warps of one block hand to each other, through shared and global memory, for many rounds.
TEST_F(SameMemory, WhatWarpsHandOnThroughBarriers) {
  check(*device_, program_of(R"(
  mov.u64 %d10, cells; mul.wide.u32 %d11, %r1, 8; add.u64 %d12, %d10, %d11;
  add.u32 %r4, %r1, 33; rem.u32 %r4, %r4, %r3; mul.wide.u32 %d13, %r4, 8; add.u64 %d14, %d10, %d13;
  sub.u32 %r5, %r4, %r1; mul.wide.s32 %d15, %r5, 16; add.u64 %d16, %d1, %d15;
  mov.u32 %r6, %r0; mov.u32 %r15, 0;
AGAIN:
  st.shared.u32 [%d12], %r6; st.global.u32 [%d1], %r6; red.global.add.u32 [%d1+4], %r6; bar.sync 0;
  ld.shared.u32 %r7, [%d14]; ld.global.u32 %r8, [%d16]; ld.global.u32 %r9, [%d16+4]; mad.lo.u32 %r6, %r7, 5, %r8; xor.b32 %r6, %r6, %r9; bar.sync 0;
  add.u32 %r15, %r15, 1; setp.lt.u32 %p2, %r15, 60; @%p2 bra AGAIN;
  st.global.u32 [%d1+8], %r6;
)"));
}

// The last block of all adds up what the others left: it knows that it is the last from the answer of an
// atomic.
TEST_F(SameMemory, TheLastBlockByItsTicket) {
  const Left left = check(*device_, program_of(R"(
  atom.shared.add.u32 %r4, [cells], %r1; red.global.add.u32 [%d0+16], %r1; bar.sync 0;
  setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;
  ld.shared.u32 %r5, [cells]; mul.wide.u32 %d10, %r2, 4; add.u64 %d10, %d10, %d0; st.global.u32 [%d10+64], %r5; membar.gl;
  atom.global.inc.u32 %r6, [%d0], 6; setp.ne.u32 %p2, %r6, 6; @%p2 bra DONE;
  mov.u32 %r7, 0; mov.u32 %r8, 0; mov.u64 %d11, %d0;
SUM: ld.volatile.global.u32 %r9, [%d11+64]; add.u32 %r7, %r7, %r9; add.u64 %d11, %d11, 4; add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, 7; @%p3 bra SUM;
  atom.global.add.u32 %r10, [%d0+4], %r7;
DONE:
)",
                                               {}, 7));
  EXPECT_EQ(left.words[1], 2u * 7 * (96 * 95 / 2));
}

// A block goes on when the one before it has said so.
TEST_F(SameMemory, BlocksThatWaitForTheOneBefore) {
  Program program = program_of(R"(
  setp.ne.u32 %p1, %r1, 0; @%p1 bra READY;
WAIT: atom.global.or.b32 %r4, [%d0], 0; setp.ne.u32 %p2, %r4, %r2; @%p2 bra WAIT;
READY: bar.sync 0;
  ld.volatile.global.u32 %r5, [%d0+4]; mad.lo.u32 %r5, %r5, 3, 1; st.global.u32 [%d1], %r5; bar.sync 0;
  @%p1 bra DONE;
  st.volatile.global.u32 [%d0+4], %r5; membar.gl; add.u32 %r6, %r2, 1; setp.eq.u32 %p3, %r6, %nctaid.x; @%p3 mov.u32 %r6, 0; atom.global.exch.b32 %r7, [%d0], %r6;
DONE:
)",
                               {}, 5);
  program.blocks_wait = true;
  check(*device_, program);
}

TEST_F(SameMemory, VotesAndShufflesOfAnswers) {
  check(*device_, program_of(R"(
  shr.u32 %r10, %r0, 5; mul.wide.u32 %d10, %r10, 4; add.u64 %d10, %d10, %d0; mov.u32 %r15, 0;
AGAIN:
  atom.global.add.u32 %r4, [%d10], %r0; setp.gt.u32 %p1, %r4, 100; vote.sync.ballot.b32 %r5, %p1, 0xffffffff;
  shfl.sync.bfly.b32 %r6, %r4, 5, 31, 0xffffffff; add.u32 %r7, %r5, %r6; add.u32 %r0, %r0, %r7; redux.sync.add.u32 %r8, %r4, 0xffffffff; add.u32 %r7, %r7, %r8;
  add.u32 %r15, %r15, 1; setp.lt.u32 %p2, %r15, 30; @%p2 bra AGAIN;
  st.global.u32 [%d1], %r7; st.global.u32 [%d1+4], %r0;
)"));
}

// A turn of a warp is 256 instructions: answers are needed on both sides of its end, and by functions that
// are called.
TEST_F(SameMemory, AnswersAcrossTurnsAndCalls) {
  std::string body = "  mov.u32 %r4, %r0;\n";
  for (unsigned i = 0; i < 400; ++i) {
    body += fmt::format("  atom.global.{} %r5, [%d1+{}], %r4; mad.lo.u32 %r4, %r5, 7, %r4;\n",
                        i % 2 == 0 ? "add.u32" : "xor.b32", i % 3 * 4);
    if (i % 50 == 0)
      body +=
          "  { .param .b32 x; .param .b32 y; st.param.b32 [x], %r5; call.uni (y), twice, (x); ld.param.b32 "
          "%r6, [y]; add.u32 %r4, %r4, %r6; }\n";
  }
  check(*device_,
        program_of(body + "  st.global.u32 [%d1+12], %r4;\n",
                   ".func (.param .b32 out) twice(.param .b32 a)\n{\n  .reg .b32 %h<2>;\n  ld.param.b32 %h1, "
                   "[a]; shl.b32 %h1, %h1, 1; st.param.b32 [out], %h1;\n  ret;\n}\n"));
}

TEST_F(SameMemory, WhatIsPrinted) {
  Program program = program_of(R"(
  setp.ne.u32 %p1, %r0, 0; @%p1 bra DONE;
  atom.global.add.u32 %r4, [%d0], 5; atom.global.add.u32 %r5, [%d0], 6;
  mov.u64 %d10, arguments; cvta.local.u64 %d11, %d10; st.local.u32 [%d10], %r4; st.local.u32 [%d10+4], %r5; mov.u64 %d12, format;
  { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %d12; st.param.b64 [b], %d11; call.uni (r), vprintf, (a, b); }
DONE:
)",
                               ".global .align 1 .b8 format[7] = {37, 117, 32, 37, 117, 10, 0};\n.extern "
                               ".func (.param .b32 result) vprintf(.param .b64 a, .param .b64 b);\n");
  program.ptx.insert(program.ptx.find(".shared .align 16 .b8 cells"), ".local .align 8 .b8 arguments[16]; ");
  EXPECT_EQ(check(*device_, program).printed, "0 5\n11 16\n");
}

// Without a clock the number of warp instructions stands for it; who looks on does not change it.
TEST_F(SameMemory, TheClockOfFunctionalRuns) {
  const Program program = program_of("  mov.u64 %d10, %clock64; st.global.u64 [%d1], %d10;", {}, 200, 64);
  const Folder folder;
  Options plain;
  plain.mode = Mode::functional;
  const Left wanted = run(*device_, plain, program);
  for (const Watcher& watcher : watchers()) {
    if (!watcher.name.starts_with("functional")) continue;
    SCOPED_TRACE(watcher.name);
    Options options;
    watcher.look(options, folder.path());
    EXPECT_EQ(difference(run(*device_, options, program), wanted), "");
  }
}

// Warps and blocks race for one cell, and everybody keeps the answer: each mode has an order of its own, and
// it does not depend on who looks on.
TEST_F(SameMemory, RacesEndTheSameWayInOneMode) {
  const Program program = program_of(R"(
  mov.u32 %r15, 0;
AGAIN: atom.global.exch.b32 %r4, [%d0], %r0; ld.volatile.global.u32 %r5, [%d0+4]; st.volatile.global.u32 [%d0+4], %r0; mad.lo.u32 %r6, %r5, 3, %r4;
  add.u32 %r15, %r15, 1; setp.lt.u32 %p2, %r15, 20; @%p2 bra AGAIN;
  st.global.u32 [%d1], %r4; st.global.u32 [%d1+4], %r5; st.global.u32 [%d1+8], %r6;
)");
  const Folder folder;
  for (const char* mode : {"functional ", "timing "}) {
    std::optional<Left> wanted;
    for (const Watcher& watcher : watchers()) {
      // These change times and with them the order, or leave the clock to somebody else.
      const bool other = watcher.leaves_blocks_out || watcher.name.find("kernels") != std::string::npos ||
                         watcher.name.find("lowering") != std::string::npos ||
                         watcher.name.find("what if") != std::string::npos ||
                         watcher.name.find("shared") != std::string::npos;
      if (!watcher.name.starts_with(mode) || other) continue;
      SCOPED_TRACE(watcher.name);
      Options options;
      watcher.look(options, folder.path());
      const Left left = run(*device_, options, program);
      if (!wanted) wanted = left;
      EXPECT_EQ(difference(left, *wanted), "");
    }
    ASSERT_TRUE(wanted);
  }
}

// A trace of a run without a clock is that of the run with one: it has the same warps, and the same time when
// it is run.
TEST_F(SameMemory, TracesOfAllModesAreTheSameToTheClock) {
  const Folder folder;
  const Program program = program_of(chain({"add", "u32", 4}, "generic"));
  const auto replayed = [&](Mode of, Mode as) {
    Options recording;
    recording.mode = of;
    recording.record = folder.path() / "t.simt";
    run(*device_, recording, program);
    Options options;
    options.mode = as;
    Gpu gpu(*device_, options);
    const auto trace = stream::trace::open(recording.record);
    gpu.replay(*trace);
    return gpu.result();
  };
  const double cycles = replayed(Mode::timing, Mode::timing).total.get("gpu.cycles").value();
  EXPECT_EQ(replayed(Mode::functional, Mode::timing).total.get("gpu.cycles"), cycles);
  EXPECT_EQ(replayed(Mode::cache, Mode::timing).total.get("gpu.instructions.warp"),
            replayed(Mode::timing, Mode::timing).total.get("gpu.instructions.warp"));
  // Loads behind atomics of the same line: without a clock nothing waits for them.
  const auto reads = replayed(Mode::functional, Mode::cache).total.get("gpu.instructions.warp");
  EXPECT_EQ(replayed(Mode::timing, Mode::cache).total.get("gpu.instructions.warp"), reads);
}

// SIMTLAB_RANDOM_KERNELS=1000-1999 takes those seeds.
class RandomKernels : public testing::TestWithParam<unsigned> {};

// Each seed is a program of two kernels.
TEST_P(RandomKernels, LeaveTheSameMemory) {
  constexpr unsigned parts = 8;
  unsigned first = 0, last = 47;
  const char* const wanted = std::getenv("SIMTLAB_RANDOM_KERNELS");
  ASSERT_TRUE(wanted == nullptr || std::sscanf(wanted, "%u-%u", &first, &last) == 2) << wanted;
  const char* const devices[] = {"gtx480", "v100", "h100"};
  for (unsigned seed = first; seed <= last; ++seed) {
    if (seed % parts != GetParam()) continue;
    RandomKernel random(seed);
    const std::string one = random.entry("one"), two = random.entry("two");
    Program program{RandomKernel::module(one + two),
                    {"one", "two", "one"},
                    RandomKernel::blocks,
                    RandomKernel::threads,
                    {}};
    Rng rng(seed);
    for (unsigned word = 0; word < RandomKernel::words; ++word) program.words.push_back(rng.next32());
    SCOPED_TRACE(fmt::format("seed {}", seed));
    check(small_device(devices[seed % 3]), program);
    if (HasFailure()) {
      ADD_FAILURE() << program.ptx;
      return;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, RandomKernels, testing::Range(0u, 8u));

}  // namespace
}  // namespace simtlab::gpu

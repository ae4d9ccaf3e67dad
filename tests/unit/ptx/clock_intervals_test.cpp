// Loads that nothing in a measured interval waits for: a family of kernels, each with what is to be found in
// it.
#include "ptx/clock_intervals.h"

#include <gtest/gtest.h>

#include "helpers.h"

namespace simtlab::ptx::test {
namespace {

const std::string params = ".param .u64 p";
const std::string begin = "ld.param.u64 %rd1, [p];\n";
const std::string store_difference = "sub.u32 %r9, %r2, %r1;\nst.global.u32 [%rd1], %r9;\n";
const std::string store_value = "st.global.u32 [%rd1+8], %r3;\n";

// Loads that are found, as "load:begin-end" by their number among the loads and clock reads of the kernel.
std::string found(const std::string& body, const std::string& more = {}, bool folding = true) {
  const auto module =
      load(head + more + ".visible .entry k(" + params + ") {\n" + registers + begin + body + "ret;\n}\n");
  const Function& f = *module->find_function("k");
  const auto number = [&](std::uint32_t pc, bool clock) {
    unsigned n = 0;
    for (std::uint32_t i = 0; i < pc; ++i) {
      const Inst& inst = f.code[i];
      const bool is_clock = inst.src_count == 1 && inst.src[0].kind == OperandKind::special;
      const bool is_load = (inst.op == Op::ld && inst.mods.space != Space::param) || inst.op == Op::atom ||
                           inst.op == Op::tex || inst.op == Op::ldu || inst.op == Op::cp_async;
      n += clock ? is_clock : is_load;
    }
    return n;
  };
  std::string out;
  for (const UnwaitedLoad& one : unwaited_loads(f, folding))
    out += (out.empty() ? "" : " ") + std::to_string(number(one.load, false)) + ":" +
           std::to_string(number(one.begin, true)) + "-" + std::to_string(number(one.end, true));
  return out;
}

std::string timed(const std::string& body, const std::string& clock = "clock") {
  return "mov.u32 %r1, %" + clock + ";\n" + body + "mov.u32 %r2, %" + clock + ";\n";
}

TEST(ClockIntervals, FindALoadThatIsUsedAfterTheSecondRead) {
  EXPECT_EQ(found(timed("ld.global.u32 %r3, [%rd1+4];\n") + store_difference + store_value), "0:0-1");
  // Nobody uses it at all, or another load takes its register.
  EXPECT_EQ(
      found(timed("ld.global.u32 %r3, [%rd1+4];\nld.global.u32 %r3, [%rd1+16];\nadd.u32 %r3, %r3, 1;\n") +
            store_difference + store_value),
      "0:0-1");
  EXPECT_EQ(found(timed("ld.global.u32 %r3, [%rd1+4];\n") + store_difference), "0:0-1");
}

TEST(ClockIntervals, KnowEveryKindOfLoad) {
  for (const char* load :
       {"ld.global.u32 %r3, [%rd1+4];", "ld.global.cg.u32 %r3, [%rd1+4];",
        "ld.volatile.global.u32 %r3, [%rd1+4];", "ld.u32 %r3, [%rd1+4];", "ld.local.u32 %r3, [%r8];",
        "ld.shared.u32 %r3, [%r8];", "ld.const.u32 %r3, [%rd1];", "ldu.global.u32 %r3, [%rd1+4];",
        "atom.global.add.u32 %r3, [%rd1+4], 1;", "atom.shared.add.u32 %r3, [%r8], 1;",
        "ld.global.v2.u32 {%r3, %r4}, [%rd1+8];", "ld.global.nc.u32 %r3, [%rd1+4];"})
    EXPECT_EQ(found("mov.u32 %r8, 0;\n" + timed(std::string(load) + "\n") + store_difference + store_value),
              "0:0-1")
        << load;
  EXPECT_EQ(
      found(timed("tex.1d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [t, {%r8}];\n") + store_difference + store_value,
            ".global .texref t;\n"),
      "0:0-1");
  EXPECT_EQ(found("mov.u32 %r8, 0;\n" +
                  timed("cp.async.ca.shared.global [%r8], [%rd1], 4;\ncp.async.commit_group;\n") +
                  store_difference),
            "0:0-1");
}

TEST(ClockIntervals, KnowEveryClock) {
  for (const char* clock : {"clock", "clock_hi", "globaltimer_lo", "globaltimer_hi"})
    EXPECT_EQ(found(timed("ld.global.u32 %r3, [%rd1+4];\n", clock) + store_difference + store_value), "0:0-1")
        << clock;
  for (const char* clock : {"clock64", "globaltimer"}) {
    const std::string read = std::string("mov.u64 %rdN, %") + clock + ";\n";
    std::string first = read, second = read;
    first.replace(first.find('N'), 1, "2"), second.replace(second.find('N'), 1, "3");
    EXPECT_EQ(found(first + "ld.global.u32 %r3, [%rd1+4];\n" + second +
                    "sub.s64 %rd4, %rd3, %rd2;\nst.global.u64 [%rd1], %rd4;\n" + store_value),
              "0:0-1")
        << clock;
  }
}

TEST(ClockIntervals, AreSilentWhereAnythingWaits) {
  const std::string load = "ld.global.u32 %r3, [%rd1+4];\n";
  for (const char* use :
       {"add.u32 %r4, %r3, 1;", "st.shared.u32 [%r8], %r3;", "st.global.u32 [%rd1+8], %r3;",
        "setp.eq.u32 %p1, %r3, 0;", "atom.global.add.u32 %r4, [%rd1+8], %r3;\nadd.u32 %r4, %r4, 1;",
        "cvt.rn.f32.u32 %f1, %r3;", "@%p2 add.u32 %r4, %r3, 1;"})
    EXPECT_EQ(found("mov.u32 %r8, 0;\nsetp.eq.u32 %p2, %r8, 0;\n" + timed(load + use + "\n") +
                    store_difference + store_value + "st.global.u32 [%rd1+12], %r4;\n"),
              "")
        << use;
  for (const char* settles : {"bar.sync 0;", "barrier.sync 0;", "membar.gl;", "membar.cta;",
                              "fence.acq_rel.gpu;", "bar.warp.sync 0xffffffff;"})
    EXPECT_EQ(found(timed(load + settles + "\n") + store_difference + store_value), "") << settles;
  EXPECT_EQ(
      found("mov.u32 %r8, 0;\n" + timed("cp.async.ca.shared.global [%r8], [%rd1], 4;\ncp.async.wait_all;\n") +
            store_difference),
      "");
  // A barrier that comes before the load orders nothing.
  EXPECT_EQ(found(timed("bar.sync 0;\n" + load) + store_difference + store_value), "0:0-1");
}

// The assembler reads the source of a copy where the copy is used; without such folding the copy waits.
TEST(ClockIntervals, KnowThatACopyIsNoInstruction) {
  const std::string copied = timed("ld.global.u32 %r3, [%rd1+4];\nmov.u32 %r4, %r3;\n") + store_difference +
                             "st.global.u32 [%rd1+8], %r4;\n";
  EXPECT_EQ(found(copied), "0:0-1");
  EXPECT_EQ(found(copied, {}, false), "");
  EXPECT_EQ(found(timed("ld.global.u32 %r3, [%rd1+4];\nmov.u32 %r4, %r3;\nadd.u32 %r5, %r4, 1;\n") +
                  store_difference + "st.global.u32 [%rd1+8], %r5;\n"),
            "");
}

TEST(ClockIntervals, AreSilentAboutStoresAndParameters) {
  EXPECT_EQ(found(timed("st.global.u32 [%rd1+4], %r8;\n") + store_difference), "");
  EXPECT_EQ(found(timed("red.global.add.u32 [%rd1+4], 1;\n") + store_difference), "");
  EXPECT_EQ(found(timed("ld.param.u64 %rd2, [p];\n") + store_difference), "");
  EXPECT_EQ(found(timed("prefetch.global.L2 [%rd1];\n") + store_difference), "");
}

TEST(ClockIntervals, AreSilentAboutLoadsOutside) {
  const std::string warm = "ld.global.u32 %r4, [%rd1+64];\n",
                    used = "ld.global.u32 %r3, [%rd1+4];\nadd.u32 %r3, %r3, 1;\n";
  EXPECT_EQ(found(warm + timed(used) + store_difference + store_value), "");
  EXPECT_EQ(found(timed(used) + store_difference + warm), "");
  // Around in a loop: between the second read and the first one of the next turn.
  EXPECT_EQ(
      found("$top:\n" + warm + timed(used) + store_difference + "setp.lt.u32 %p1, %r3, 5;\n@%p1 bra $top;\n"),
      "");
  // Between two measured sections, whose values are stored as they are.
  EXPECT_EQ(
      found("mov.u32 %r1, %clock;\n" + used + "mov.u32 %r2, %clock;\n" + warm + "mov.u32 %r5, %clock;\n" +
            used + "mov.u32 %r6, %clock;\nst.global.v4.u32 [%rd1], {%r1, %r2, %r5, %r6};\n"),
      "");
}

const std::string link = "ld.global.u64 %rd2, [%rd2];\n";

TEST(ClockIntervals, AreSilentAboutChases) {
  const std::string start = "mov.u64 %rd2, %rd1;\nmov.u32 %r5, 0;\n",
                    keep = "st.global.u64 [%rd1+8], %rd2;\n";
  EXPECT_EQ(
      found(start +
            timed("$loop:\n" + link + "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 100;\n@%p1 bra $loop;\n") +
            store_difference + keep),
      "");
  EXPECT_EQ(found(start +
                  timed("$loop:\n" + link + link + link + link +
                        "add.u32 %r5, %r5, 4;\nsetp.lt.u32 %p1, %r5, 100;\n@%p1 bra $loop;\n") +
                  store_difference + keep),
            "");
  // Unrolled: nothing waits for the last of many.
  std::string chain;
  for (int i = 0; i < 8; ++i)
    chain += "ld.global.u32 %r3, [%rd2];\nmul.wide.u32 %rd3, %r3, 4;\nadd.u64 %rd2, %rd1, %rd3;\n";
  EXPECT_EQ(found(start + timed(chain + "ld.global.u32 %r3, [%rd2];\n") + store_difference + store_value),
            "");
  // Of two, the one that nothing waits for is half of what is measured.
  EXPECT_EQ(found(start + timed(link + "ld.global.u32 %r3, [%rd2];\n") + store_difference + store_value),
            "1:0-1");
  // One access a turn, kept in shared memory before the clock is read again (fine-grained chase); then the
  // same without that.
  const std::string turn =
      "mov.u32 %r1, %clock;\nld.global.u32 %r3, [%rd2];\nmul.wide.u32 %rd3, %r3, 4;\nadd.u64 %rd2, %rd1, "
      "%rd3;\n";
  const std::string again =
      "mov.u32 %r2, %clock;\n" + store_difference + "setp.lt.u32 %p1, %r3, 5;\n@%p1 bra $fine;\n";
  EXPECT_EQ(found(start + "$fine:\n" + turn + "st.shared.u32 [%r5], %r3;\n" + again), "");
  EXPECT_EQ(found(start + "$fine:\nmov.u32 %r1, %clock;\nld.global.u32 %r3, [%rd2];\nmov.u32 %r2, %clock;\n" +
                  store_difference +
                  "mul.wide.u32 %rd3, %r3, 4;\nadd.u64 %rd2, %rd1, %rd3;\nsetp.lt.u32 %p1, %r3, 5;\n@%p1 bra "
                  "$fine;\n"),
            "0:0-1");
}

// Independent loads are issued one after the other, and the clock is read before any of them is back.
TEST(ClockIntervals, FindAllOfSeveralIndependentLoads) {
  const std::string three =
      "ld.global.u32 %r3, [%rd1+4];\nld.global.u32 %r4, [%rd1+8];\nld.global.u32 %r5, [%rd1+12];\n";
  const std::string after = "add.u32 %r3, %r3, %r4;\nadd.u32 %r3, %r3, %r5;\n";
  EXPECT_EQ(found(timed(three) + store_difference + after + store_value), "0:0-1 1:0-1 2:0-1");
  EXPECT_EQ(found(timed(three + after) + store_difference + store_value), "");
  EXPECT_EQ(found(timed(three + "add.u32 %r3, %r3, %r4;\n") + store_difference + "add.u32 %r3, %r3, %r5;\n" +
                  store_value),
            "2:0-1");
}

TEST(ClockIntervals, AreThoseThatAreSubtracted) {
  // Three sections, the first and last of which are measured.
  const std::string read = "ld.global.u32 %r3, [%rd1+4];\n", use = "add.u32 %r4, %r3, 1;\n";
  const std::string all =
      "mov.u32 %r1, %clock;\n" + read + "mov.u32 %r2, %clock;\n" + use + "mov.u32 %r5, %clock;\n";
  EXPECT_EQ(found(all + "sub.u32 %r6, %r2, %r1;\nst.global.u32 [%rd1], %r6;\nst.global.u32 [%rd1+8], %r4;\n"),
            "0:0-1");
  EXPECT_EQ(found(all + "sub.u32 %r6, %r5, %r1;\nst.global.u32 [%rd1], %r6;\nst.global.u32 [%rd1+8], %r4;\n"),
            "");
  // In other words for the same: minus by complement, in floating point, in 64 bits of two halves, summed
  // over a loop.
  EXPECT_EQ(found(timed(read) + "neg.s32 %r6, %r1;\nadd.u32 %r9, %r2, %r6;\nst.global.u32 [%rd1], %r9;\n" +
                  store_value),
            "0:0-1");
  EXPECT_EQ(found(timed(read) +
                  "sub.u32 %r9, %r2, %r1;\ncvt.rn.f32.u32 %f1, %r9;\nmul.f32 %f1, %f1, "
                  "0f3F000000;\nst.global.f32 [%rd1], %f1;\n" +
                  store_value),
            "0:0-1");
  EXPECT_EQ(found("mov.u32 %r7, 0;\n$top:\n" + timed(read) +
                  "add.u32 %r6, %r7, %r2;\nsub.u32 %r7, %r6, %r1;\nsetp.lt.u32 %p1, %r3, 5;\n@%p1 bra "
                  "$top;\nst.global.u32 [%rd1], %r7;\n"),
            "0:0-1");
  EXPECT_EQ(
      found(timed(read) + "sub.u32 %r9, %r2, %r1;\natom.global.add.u32 %r6, [%rd1], %r9;\n" + store_value),
      "0:0-1");
  // From one read of the clock to the next turn's.
  EXPECT_EQ(found("mov.u32 %r1, %clock;\n$top:\nmov.u32 %r2, %clock;\nsub.u32 %r9, %r2, %r1;\nst.global.u32 "
                  "[%rd1], %r9;\nmov.u32 %r1, %r2;\n" +
                  read + "setp.lt.u32 %p1, %r9, 5;\n@%p1 bra $top;\n" + store_value),
            "0:1-1");
}

TEST(ClockIntervals, OfValuesThatAreStoredAsTheyAreArePairs) {
  const std::string read = "ld.global.u32 %r3, [%rd1+4];\n";
  EXPECT_EQ(found(timed(read) + "st.global.v2.u32 [%rd1], {%r1, %r2};\n" + store_value), "0:0-1");
  EXPECT_EQ(found(timed(read + "add.u32 %r4, %r3, 1;\n") +
                  "st.global.v2.u32 [%rd1], {%r1, %r2};\nst.global.u32 [%rd1+8], %r4;\n"),
            "");
}

// A clock that is only compared measures nothing: time-outs, back-off.
TEST(ClockIntervals, AreSilentAboutTimeOuts) {
  EXPECT_EQ(found("mov.u32 %r1, %clock;\n$spin:\nld.volatile.global.u32 %r3, [%rd1];\nmov.u32 %r2, "
                  "%clock;\nsub.u32 %r4, %r2, %r1;\nsetp.gt.u32 %p1, %r4, 1000;\n@%p1 bra $out;\n"
                  "setp.eq.u32 %p2, %r3, 0;\n@%p2 bra $spin;\n$out:\n" +
                  store_value),
            "");
  // Besides, how long it took is stored: all polls but the last were waited for.
  EXPECT_EQ(found("mov.u32 %r1, %clock;\n$spin:\nld.volatile.global.u32 %r3, [%rd1];\nsetp.eq.u32 %p2, %r3, "
                  "0;\n@%p2 bra $spin;\nmov.u32 %r2, %clock;\n" +
                  store_difference),
            "");
  EXPECT_EQ(found("mov.u32 %r1, %clock;\n$wait:\nmov.u32 %r2, %clock;\nsub.u32 %r4, %r2, %r1;\nsetp.lt.u32 "
                  "%p1, %r4, 1000;\n@%p1 bra $wait;\nld.global.u32 %r3, [%rd1];\n" +
                  store_value),
            "");
}

// The whole of a kernel is timed: a loop that waits for its loads, with others beside it, and calls.
TEST(ClockIntervals, AreSilentAboutTimersOfWholeKernels) {
  const std::string loop =
      "mov.u32 %r5, 0;\nmov.u32 %r6, 0;\n$loop:\nld.global.u32 %r3, [%rd1+4];\nadd.u32 %r6, %r6, "
      "%r3;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 64;\n@%p1 bra $loop;\n";
  EXPECT_EQ(found(timed("ld.global.u32 %r4, [%rd1+12];\n" + loop) + store_difference +
                  "add.u32 %r6, %r6, %r4;\nst.global.u32 [%rd1+8], %r6;\n"),
            "");
  const std::string callee =
      ".func (.param .u32 o) f(.param .u32 i) {\n.reg .u32 %r<3>;\nld.param.u32 %r1, [i];\nst.param.u32 [o], "
      "%r1;\nret;\n}\n";
  const std::string call =
      "{\n.param .u32 a; .param .u32 b;\nst.param.u32 [a], %r8;\ncall (b), f, (a);\nld.param.u32 %r4, "
      "[b];\n}\n";
  EXPECT_EQ(
      found("mov.u32 %r8, 0;\n" + timed("ld.global.u32 %r3, [%rd1+4];\n" + call + "add.u32 %r4, %r4, 1;\n") +
                store_difference + store_value,
            callee),
      "");
}

TEST(ClockIntervals, SeeEachWayThroughAnInterval) {
  // Used on one way only: something waits.
  const std::string read = "ld.global.u32 %r3, [%rd1+4];\n";
  EXPECT_EQ(
      found("setp.eq.u32 %p1, %r8, 0;\n" +
            timed(read + "@%p1 bra $past;\nadd.u32 %r4, %r3, 1;\nst.global.u32 [%rd1+16], %r4;\n$past:\n") +
            store_difference + store_value),
      "");
  // A load on a way that ends the kernel is not in the interval.
  EXPECT_EQ(found("setp.eq.u32 %p1, %r8, 0;\n" + timed("@%p1 bra $on;\n" + read + "ret;\n$on:\n") +
                  store_difference),
            "");
  // The second read on each of two ways.
  EXPECT_EQ(found("setp.eq.u32 %p1, %r8, 0;\nmov.u32 %r1, %clock;\n" + read +
                  "@%p1 bra $b;\nmov.u32 %r2, %clock;\nbra $end;\n$b:\nmov.u32 %r2, %clock;\n$end:\n" +
                  store_difference + store_value),
            "0:0-1 0:0-2");
}

TEST(ClockIntervals, AreNoneWithoutTwoReads) {
  EXPECT_EQ(found("ld.global.u32 %r3, [%rd1+4];\n" + store_value), "");
  EXPECT_EQ(
      found("mov.u32 %r1, %clock;\nld.global.u32 %r3, [%rd1+4];\nst.global.u32 [%rd1], %r1;\n" + store_value),
      "");
}

}  // namespace
}  // namespace simtlab::ptx::test

// Atomic operations: old values and results with all lanes on few addresses, exact in lane order.
#include <bit>

#include "kernel_support.h"

namespace simtlab::exec {
namespace {

class Atomic : public EachIsa {};
SIMTLAB_EACH_ISA(Atomic);

// One operation: 32 threads apply it to cell (i % 2), operand i * scale + bias. Returns are checked against a
// sequential run.
template <class T, class F>
void check(const std::string& op, const std::string& type, const char* reg, T initial,
           const std::function<T(unsigned)>& operand, const F& apply, const std::string& space = "global") {
  const std::string size = std::to_string(sizeof(T));
  const std::string address = space == "shared" ? "%rd21" : "%rd22";
  const std::string r = reg;
  Machine m(R"(
.visible .entry k(.param .u64 cells, .param .u64 operands, .param .u64 olds)
{
  .shared .align 8 .b8 s[16];
  .reg .pred %p<4>;
  .reg .b16 %rs<16>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<32>;
  .reg .f32 %f<16>;
  .reg .f64 %fd<16>;
  ld.param.u64 %rd1, [cells];
  ld.param.u64 %rd2, [operands];
  ld.param.u64 %rd3, [olds];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd4, %r1, )" +
            size + R"(;
  add.s64 %rd5, %rd2, %rd4;
  add.s64 %rd6, %rd3, %rd4;
  and.b32 %r2, %r1, 1;
  mul.wide.u32 %rd7, %r2, )" +
            size + R"(;
  mov.u64 %rd20, s;
  add.s64 %rd21, %rd20, %rd7;
  add.s64 %rd22, %rd1, %rd7;
  cvta.shared.u64 %rd23, %rd21;
  setp.lt.u32 %p1, %r1, 2;
  ld.b)" + std::to_string(8 * sizeof(T)) +
            " " + r + "0, [%rd22];\n  @%p1 st.shared.b" + std::to_string(8 * sizeof(T)) + " [%rd21], " + r +
            R"(0;
  bar.sync 0;
  ld.global.b)" +
            std::to_string(8 * sizeof(T)) + " " + r + "1, [%rd5];\n  atom." +
            (space == "generic" ? "" : space + ".") + op + "." + type + " " + r + "2, [" +
            (space == "generic" ? "%rd23" : address) + "], " + r + "1" + (op == "cas" ? ", " + r + "1" : "") +
            ";\n" + R"(
  st.global.b)" +
            std::to_string(8 * sizeof(T)) + " [%rd6], " + r + R"(2;
  bar.sync 0;
)" +
            (space == "global" ? ""
                               : "  @%p1 ld.shared.b" + std::to_string(8 * sizeof(T)) + " " + r +
                                     "0, [%rd21];\n  @%p1 st.global.b" + std::to_string(8 * sizeof(T)) +
                                     " [%rd22], " + r + "0;\n") +
            "  ret;\n}\n");
  std::vector<T> operands(32), olds(32), cells(2, initial), expected_olds(32);
  for (unsigned i = 0; i < 32; ++i) operands[i] = operand(i);
  const auto dc = m.upload(cells), dop = m.upload(operands), dold = m.upload(olds);
  for (unsigned i = 0; i < 32; ++i) {
    expected_olds[i] = cells[i % 2];
    cells[i % 2] = apply(cells[i % 2], operands[i]);
  }
  m.run({1}, {32}, dc, dop, dold);
  EXPECT_EQ(m.download<T>(dold, 32), expected_olds) << op << "." << type << " " << space;
  EXPECT_EQ(m.download<T>(dc, 2), cells) << op << "." << type << " " << space;
}

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <class T>
T mix(unsigned i) {
  return static_cast<T>((i + 1) * 0x9e3779b97f4a7c15ull >> (64 - 8 * sizeof(T)));
}

TEST_P(Atomic, integers_are_exact_in_lane_order_in_every_space) {
  for (const char* space : {"global", "shared", "generic"}) {
    check<u32>(
        "add", "u32", "%r1", 5, mix<u32>, [](u32 a, u32 b) { return a + b; }, space);
    check<s32>(
        "add", "s32", "%r1", -5, mix<s32>,
        [](s32 a, s32 b) { return static_cast<s32>(static_cast<u32>(a) + static_cast<u32>(b)); }, space);
    check<u64>(
        "add", "u64", "%rd1", 5, mix<u64>, [](u64 a, u64 b) { return a + b; }, space);
    check<s32>(
        "min", "s32", "%r1", 5, mix<s32>, [](s32 a, s32 b) { return std::min(a, b); }, space);
    check<s32>(
        "max", "s32", "%r1", 5, mix<s32>, [](s32 a, s32 b) { return std::max(a, b); }, space);
    check<u32>(
        "min", "u32", "%r1", ~0u, mix<u32>, [](u32 a, u32 b) { return std::min(a, b); }, space);
    check<u32>(
        "max", "u32", "%r1", 5, mix<u32>, [](u32 a, u32 b) { return std::max(a, b); }, space);
    check<s64>(
        "min", "s64", "%rd1", 5, mix<s64>, [](s64 a, s64 b) { return std::min(a, b); }, space);
    check<s64>(
        "max", "s64", "%rd1", 5, mix<s64>, [](s64 a, s64 b) { return std::max(a, b); }, space);
    check<u64>(
        "min", "u64", "%rd1", ~0ull, mix<u64>, [](u64 a, u64 b) { return std::min(a, b); }, space);
    check<u64>(
        "max", "u64", "%rd1", 5, mix<u64>, [](u64 a, u64 b) { return std::max(a, b); }, space);
    check<u32>(
        "inc", "u32", "%r1", 0, [](unsigned i) { return i / 9; },
        [](u32 a, u32 b) { return a >= b ? 0 : a + 1; }, space);
    check<u32>(
        "dec", "u32", "%r1", 3, [](unsigned i) { return i / 5; },
        [](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; }, space);
    check<u32>(
        "and", "b32", "%r1", ~0u, [](unsigned i) { return ~(1u << i / 3); },
        [](u32 a, u32 b) { return a & b; }, space);
    check<u32>(
        "or", "b32", "%r1", 0, [](unsigned i) { return 1u << i / 3; }, [](u32 a, u32 b) { return a | b; },
        space);
    check<u32>(
        "xor", "b32", "%r1", 77, mix<u32>, [](u32 a, u32 b) { return a ^ b; }, space);
    check<u64>(
        "and", "b64", "%rd1", ~0ull, mix<u64>, [](u64 a, u64 b) { return a & b; }, space);
    check<u64>(
        "or", "b64", "%rd1", 0, mix<u64>, [](u64 a, u64 b) { return a | b; }, space);
    check<u64>(
        "xor", "b64", "%rd1", 0, mix<u64>, [](u64 a, u64 b) { return a ^ b; }, space);
    check<u32>(
        "exch", "b32", "%r1", 9, mix<u32>, [](u32, u32 b) { return b; }, space);
    check<u64>(
        "exch", "b64", "%rd1", 9, mix<u64>, [](u64, u64 b) { return b; }, space);
  }
}

TEST_P(Atomic, floating_point_sums_are_rounded_in_lane_order) {
  for (const char* space : {"global", "shared", "generic"}) {
    check<float>(
        "add", "f32", "%f1", 1e6f, [](unsigned i) { return 0.1f * static_cast<float>(i); },
        [](float a, float b) { return a + b; }, space);
    check<double>(
        "add", "f64", "%fd1", 1e16, [](unsigned i) { return 1.1 * i; },
        [](double a, double b) { return a + b; }, space);
  }
}

TEST_P(Atomic, f32_sums_flush_subnormals_in_global_memory_only) {
  const float tiny = std::bit_cast<float>(3u);
  check<float>(
      "add", "f32", "%f1", 0.0f, [=](unsigned) { return tiny; }, [](float, float) { return 0.0f; }, "global");
  check<float>(
      "add", "f32", "%f1", 0.0f, [=](unsigned) { return tiny; }, [](float a, float b) { return a + b; },
      "shared");
  check<float>(
      "add", "f32", "%f1", 0.0f, [=](unsigned) { return tiny; }, [](float a, float b) { return a + b; },
      "generic");
}

// f16 as the bits of values k / 8 with |k| <= 2048 * 8: sums of small multiples of 1/8 are exact.
u16 half_of(int eighths) {
  if (eighths == 0) return 0;
  const unsigned sign = eighths < 0 ? 0x8000 : 0;
  unsigned m = static_cast<unsigned>(eighths < 0 ? -eighths : eighths), e = 15 + 7;
  while (m < 1024) m <<= 1, --e;
  return static_cast<u16>(sign | e << 10 | (m & 1023));
}

TEST_P(Atomic, sixteen_bit_floats_add_alone_and_in_pairs) {
  int value[2] = {8, 8};
  unsigned n = 0;
  check<u16>(
      "add.noftz", "f16", "%rs1", half_of(8), [](unsigned i) { return half_of(static_cast<int>(i) - 20); },
      [&](u16, u16) {
        const unsigned i = n++;
        return half_of(value[i % 2] += static_cast<int>(i) - 20);
      });
  int low[2] = {8, 8}, high[2] = {8, 8};
  n = 0;
  check<u32>(
      "add.noftz", "f16x2", "%r1", half_of(8) * 0x10001u,
      [](unsigned i) {
        return half_of(static_cast<int>(i) - 20) | static_cast<u32>(half_of(static_cast<int>(i) + 3)) << 16;
      },
      [&](u32, u32) {
        const unsigned i = n++;
        return half_of(low[i % 2] += static_cast<int>(i) - 20) |
               static_cast<u32>(half_of(high[i % 2] += static_cast<int>(i) + 3)) << 16;
      });
  const auto bf = [](float f) { return static_cast<u16>(std::bit_cast<u32>(f) >> 16); };
  // Adding 1 to 256 in bf16 (8 bits of significand) ties to even: 256 stays 256.
  check<u16>(
      "add.noftz", "bf16", "%rs1", bf(256.0f), [&](unsigned) { return bf(1.0f); },
      [&](u16 a, u16) { return a; });
  // 2049 is not an f16; 2048 + 1 ties to 2048, 2048 + 3 to 2052.
  check<u16>(
      "add.noftz", "f16", "%rs1", 0x6800,
      [](unsigned i) {
        return static_cast<u16>(i == 0 ? 0x3c00 : i == 2 ? 0x4200 : 0);
      },
      [](u16 a, u16 b) { return b == 0x4200 ? u16{0x6802} : a; });
  // Subnormal f16 add exactly; overflow goes to infinity.
  check<u16>(
      "add.noftz", "f16", "%rs1", 3, [](unsigned i) { return static_cast<u16>(i < 2 ? 5 : 0); },
      [](u16 a, u16 b) { return static_cast<u16>(a + b); });
  check<u16>(
      "add.noftz", "f16", "%rs1", 0x7bff, [](unsigned i) { return static_cast<u16>(i < 2 ? 0x7bff : 0); },
      [](u16 a, u16 b) { return b ? u16{0x7c00} : a; });
}

TEST_P(Atomic, compare_and_swap_serialises_a_counter_under_contention) {
  Machine m(lane_kernel(R"(
  ld.global.u32 %r2, [%rd2];
RETRY:
  add.u32 %r3, %r2, 1;
  atom.global.cas.b32 %r4, [%rd2], %r2, %r3;
  setp.eq.u32 %p1, %r4, %r2;
  mov.u32 %r2, %r4;
  @!%p1 bra RETRY;
  mov.u32 %r1, %r4;
  atom.global.cas.b64 %rd10, [%rd2+8], 0, 7;
  mov.b16 %rs1, 0;
  cvt.u16.u32 %rs2, %r0;
  atom.global.cas.b16 %rs3, [%rd2+16], %rs1, %rs2;
)"));
  const auto out = m.upload(std::vector<u32>(128)), in = m.upload(std::vector<u32>(128));
  m.run({2}, {64}, out, in);
  auto tickets = m.download<u32>(out, 128);
  std::sort(tickets.begin(), tickets.end());
  EXPECT_EQ(tickets, each_thread(128, [](unsigned i) { return i; }));
  const auto cells = m.download<u32>(in, 5);
  EXPECT_THAT(cells, testing::ElementsAre(128u, 0u, 7u, 0u, 1u));
}

TEST_P(Atomic, reductions_work_without_a_result_and_under_a_mask) {
  Machine m(lane_kernel(R"(
  and.b32 %r2, %r0, 3;
  setp.eq.u32 %p1, %r2, 1;
  @%p1 red.global.add.u32 [%rd2], 2;
  red.shared.max.u32 [s], %r0;
  bar.sync 0;
  ld.shared.u32 %r1, [s];
)",
                        {}, "  .shared .align 4 .b32 s;\n"));
  const auto out = m.upload(std::vector<u32>(64)), in = m.upload(std::vector<u32>(64));
  m.run({1}, {64}, out, in);
  EXPECT_EQ(m.download<u32>(in, 1)[0], 32u);
  EXPECT_EQ(m.download<u32>(out, 64), each_thread(64, [](unsigned) { return 63; }));
}

}  // namespace
}  // namespace simtlab::exec

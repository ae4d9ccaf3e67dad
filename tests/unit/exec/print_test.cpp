// Device printf, assert and trap.
#include "kernel_support.h"

namespace simtlab::exec {
namespace {

using testing::HasSubstr;

std::string text_variable(const std::string& name, const std::string& text) {
  std::string bytes;
  for (const char c : text) bytes += std::to_string(static_cast<int>(static_cast<unsigned char>(c))) + ", ";
  return ".global .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {" + bytes + "0};\n";
}

// What one thread prints: `stores` fill the argument buffer at %rd10.
std::string printed(const std::string& format, const std::string& stores, unsigned threads = 1) {
  Machine m(text_variable("format", format) + text_variable("word", "word") + R"(
.extern .func (.param .b32 result) vprintf(.param .b64 a, .param .b64 b);
)" +
            lane_kernel(R"(
  mov.u64 %rd10, buffer;
  cvta.local.u64 %rd11, %rd10;
  mov.u64 %rd13, word;
  mov.u64 %rd12, format;
)" + stores + R"(
  {
    .param .b64 a;
    .param .b64 b;
    .param .b32 r;
    st.param.b64 [a], %rd12;
    st.param.b64 [b], %rd11;
    call.uni (r), vprintf, (a, b);
    ld.param.b32 %r1, [r];
  }
)",
                        {}, "  .local .align 8 .b8 buffer[64];\n"));
  run_lanes(m, threads, threads);
  return m.printed;
}

TEST(Print, formats_follow_c) {
  EXPECT_EQ(printed("plain %% text\n", ""), "plain % text\n");
  EXPECT_EQ(printed("%d|%5d|%-5d|%05d|%+d|%x|%#X|%o|%u", R"(
  mov.u32 %r2, -42;
  st.local.u32 [%rd10], %r2; st.local.u32 [%rd10+4], %r2; st.local.u32 [%rd10+8], %r2; st.local.u32 [%rd10+12], 42;
  st.local.u32 [%rd10+16], 42; st.local.u32 [%rd10+20], 255; st.local.u32 [%rd10+24], 255; st.local.u32 [%rd10+28], 8; st.local.u32 [%rd10+32], %r2;
)"),
            "-42|  -42|-42  |00042|+42|ff|0XFF|10|4294967254");
  EXPECT_EQ(printed("%c%3c|%ld %lld %lu %zu", R"(
  st.local.u32 [%rd10], 65; st.local.u32 [%rd10+4], 66;
  mov.u64 %rd14, -5000000000;
  st.local.u64 [%rd10+8], %rd14; st.local.u64 [%rd10+16], %rd14; st.local.u64 [%rd10+24], 7; st.local.u64 [%rd10+32], 8;
)"),
            "A  B|-5000000000 -5000000000 7 8");
  EXPECT_EQ(printed("%f %.2f %8.3e %g %G", R"(
  mov.f64 %fd1, 0d3FF8000000000000; mov.f64 %fd2, 0dC09A522B6AE7D567;
  st.local.f64 [%rd10], %fd1; st.local.f64 [%rd10+8], %fd2; st.local.f64 [%rd10+16], %fd2; st.local.f64 [%rd10+24], %fd1; st.local.f64 [%rd10+32], %fd2;
)"),
            "1.500000 -1684.54 -1.685e+03 1.5 -1684.54");
  EXPECT_EQ(printed("[%s] [%6s] [%-6s] [%.2s] [%s]", R"(
  st.local.u64 [%rd10], %rd13; st.local.u64 [%rd10+8], %rd13; st.local.u64 [%rd10+16], %rd13; st.local.u64 [%rd10+24], %rd13; st.local.u64 [%rd10+32], 0;
)"),
            "[word] [  word] [word  ] [wo] [(null)]");
  EXPECT_EQ(printed("%*d|%-*d|%.*f|%hhd %hd %p", R"(
  st.local.u32 [%rd10], 5; st.local.u32 [%rd10+4], 1; st.local.u32 [%rd10+8], 3; st.local.u32 [%rd10+12], 2; st.local.u32 [%rd10+16], 1;
  mov.f64 %fd1, 0d3FF8000000000000; st.local.f64 [%rd10+24], %fd1;
  st.local.u32 [%rd10+32], 257; st.local.u32 [%rd10+36], 65537; mov.u64 %rd14, 4096; st.local.u64 [%rd10+40], %rd14;
)"),
            "    1|2  |1.5|1 1 0x1000");
}

TEST(Print, an_unfinished_or_unknown_conversion_is_printed_as_it_stands_and_widths_are_bounded) {
  EXPECT_EQ(printed("100%", ""), "100%");
  EXPECT_EQ(printed("%y", ""), "%y");
  EXPECT_EQ(printed("%999999999d", "  st.local.u32 [%rd10], 1;\n").size(), 4096u);
}

TEST(Print, threads_print_in_lane_order_and_get_the_number_of_arguments) {
  EXPECT_EQ(printed("%u,", "  st.local.u32 [%rd10], %r0;\n", 40).substr(0, 12), "0,1,2,3,4,5,");
  EXPECT_EQ(printed("%u,", "  st.local.u32 [%rd10], %r0;\n", 40).size(), 10u * 2 + 30 * 3);
}

TEST(Print, a_bad_string_is_a_fault_with_its_place) {
  EXPECT_THAT(
      error_of([] { printed("%s", "  mov.u64 %rd14, 99; st.local.u64 [%rd10], %rd14;\n"); }),
      HasSubstr(
          "Invalid read of printf's string at address 0x63 by thread (0,0,0) in block (0,0,0) of kernel k"));
}

TEST(Print, a_failed_assertion_stops_the_program_with_its_text) {
  Machine m(text_variable("what", "i < n") + text_variable("file", "app.cu") +
            text_variable("function", "void k(int)") + R"(
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
)" + lane_kernel(R"(
  setp.ne.u32 %p1, %r0, 37;
  @%p1 bra END;
  mov.u64 %rd10, what; mov.u64 %rd11, file; mov.u64 %rd12, function;
  {
    .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
    st.param.b64 [a], %rd10; st.param.b64 [b], %rd11; st.param.b32 [c], 12; st.param.b64 [d], %rd12; st.param.b64 [e], 1;
    call.uni __assertfail, (a, b, c, d, e);
  }
)"));
  try {
    run_lanes(m, 64, 64);
    FAIL() << "no assertion";
  } catch (const Fault& f) {
    EXPECT_EQ(f.kind(), Fault::Kind::assertion);
    EXPECT_THAT(
        f.what(),
        HasSubstr("app.cu:12: void k(int): block: [0,0,0], thread: [37,0,0] Assertion `i < n` failed."));
  }
}

TEST(Print, a_trap_names_the_thread) {
  Machine m(lane_kernel("  setp.eq.u32 %p1, %r0, 33;\n  @%p1 trap;\n"));
  try {
    run_lanes(m, 64, 64);
    FAIL() << "no trap";
  } catch (const Fault& f) {
    EXPECT_EQ(f.kind(), Fault::Kind::trap);
    EXPECT_THAT(f.what(), HasSubstr("trap executed by thread (33,0,0) in block (0,0,0) of kernel k"));
  }
}

}  // namespace
}  // namespace simtlab::exec

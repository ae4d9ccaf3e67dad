// Lines of a kernel as text.
#include "report/profile_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::LineProfile;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

LineProfile line(std::uint32_t ptx_line, const std::string& ptx, const std::string& code,
                 std::uint64_t slots) {
  LineProfile out;
  out.function = "k";
  out.ptx_line = ptx_line;
  out.ptx = ptx;
  out.code = code;
  out.file = "app.cu";
  out.line = 7;
  out.text = "y = a * x + y;";
  out.instructions = slots;
  out.slots = {slots};
  return out;
}

KernelResult profiled_kernel() {
  KernelResult k;
  k.profile.reasons = {"selected"};
  k.profile.slots = {30};
  k.profile.lines = {line(12, "fma.rn.f32 \t%f4,  %f1, %f2, %f3;", "/*0040*/ FFMA R1, R2, R3, R4;", 20),
                     line(13, "st.global.f32 \t[%rd1], %f4;", "/*0050*/ STG.E [R2], R1;", 10)};
  return k;
}

TEST(ProfileText, MachineCodeStandsBetweenItsSourceAndItsPtx) {
  KernelResult k = profiled_kernel();
  EXPECT_THAT(profile_text(k, {}), ContainsRegex("app.cu:7  y = a \\* x \\+ y;\n"
                                                 "[^\n]*  0x0040  FFMA R1, R2, R3, R4;\n"
                                                 " +PTX 12  fma.rn.f32 %f4, %f1, %f2, %f3;\n"
                                                 "[^\n]*  0x0050  STG.E \\[R2\\], R1;\n"
                                                 " +PTX 13  st.global.f32 \\[%rd1\\], %f4;\n"));
  for (LineProfile& l : k.profile.lines) {
    l.file.clear();
    l.text.clear();
  }
  EXPECT_THAT(profile_text(k, {}), ContainsRegex("0x0040  FFMA R1, R2, R3, R4;\n +PTX 12  fma.rn.f32 %f4,"));
}

TEST(ProfileText, CodeThatCameFromNoPtxHasNone) {
  KernelResult k = profiled_kernel();
  for (LineProfile& l : k.profile.lines) {
    l.ptx_line = 0;
    l.ptx.clear();
  }
  EXPECT_THAT(profile_text(k, {}), HasSubstr("FFMA"));
  EXPECT_THAT(profile_text(k, {}), Not(HasSubstr("PTX")));
}

TEST(ProfileText, CodeIsShownWithOneBlankAtATime) {
  EXPECT_EQ(shown_code("\t add.s32 \t %r1,  %r2;"), "add.s32 %r1, %r2;");
  EXPECT_EQ(shown_code(""), "");
}

}  // namespace
}  // namespace simtlab::report

// Words of compiled kernels and the text that they are.
#include "machine/print.h"

#include <gtest/gtest.h>

#include "machine/bundles.h"
#include "machine/decode.h"

namespace simtlab::machine {
namespace {

std::string text(unsigned generation, Word word, std::uint32_t address = 0) {
  const auto decoded = decode(Forms::shipped(), generation, word, address);
  if (const auto* why = std::get_if<Undecoded>(&decoded)) return "unknown: " + why->reason;
  return text_of(std::get<Instruction>(decoded));
}

TEST(Print, MovesOfTheMultiplierHaveNamesOfTheirOwn) {
  EXPECT_EQ(text(80, {0x00000004ff057424, 0x000fe200078e00ff}), "IMAD.MOV.U32 R5, RZ, RZ, 0x4");
  EXPECT_EQ(text(80, {0x0000000104077824, 0x000fe200078e0205}), "IMAD.IADD R7, R4, 0x1, R5");
  EXPECT_EQ(text(80, {0x0000000409007824, 0x000fe200078e00ff}), "IMAD.SHL.U32 R0, R9, 0x4, RZ");
}

// A shift by 16 is none.
TEST(Print, ShiftsOfTheMultiplierHaveNamesButForHalves) {
  EXPECT_EQ(text(80, {0x00010000080b7824, 0x010fc800078e00ff}), "IMAD.U32 R11, R8, 0x10000, RZ");
}

TEST(Print, SignsAreCombinedWhateverHoldsThem) {
  EXPECT_EQ(text(80, {0x0000580002007a1f, 0x000fe40000720205}),
            "PLOP3.LUT P1, PT, R2.SIGN, c[0x0] [0x160].SIGN, R5.SIGN, 0x2, 0x0");
  EXPECT_EQ(text(90, {0x0000000602007c1f, 0x140fe40008720205}),
            "PLOP3.LUT P1, PT, R2.reuse.SIGN, UR6.SIGN, R5.reuse.SIGN, 0x2, 0x0");
}

TEST(Print, TheThirdOperandMayBeTheConstant) {
  EXPECT_EQ(text(80, {0x00005c0002097614, 0x004fca00000e0205}), "VABSDIFF R9, R2, R5, c[0x0][0x170]");
}

TEST(Print, DescriptorsOfMemoryAreWrittenFromHopperOn) {
  EXPECT_EQ(text(80, {0x0000000402027981, 0x000ea8000c1e1900}), "LDG.E R2, [R2.64]");
  EXPECT_EQ(text(90, {0x0000000402027981, 0x000ea8000c1e1900}), "LDG.E R2, desc[UR4][R2.64]");
}

TEST(Print, AddressesAreUnsignedWithoutARegister) {
  EXPECT_EQ(text(80, {0xfffff0ffff007388, 0x000fe20000000800}), "STS [0xfffff0], RZ");
}

TEST(Print, FloatsHaveTwentyDigits) {
  EXPECT_EQ(text(80, {0x3dcccccd02047421, 0x000fe20000000000}), "FADD R4, R2, 0.10000000149011611938");
  EXPECT_EQ(text(80, {0x5f80000003187823, 0x000fe200000000ff}),
            "FFMA R24, R3, 1.84467440737095516160e+19, RZ");
  EXPECT_EQ(text(80, {0x7f8000001a00780b, 0x000fe20003f1d200}), "FSETP.NEU.FTZ.AND P0, PT, |R26|, +INF , PT");
}

TEST(Print, TheUniformDatapathHasItsOwnGuards) {
  EXPECT_EQ(text(80, {0x000000000000a9c3, 0x000fe20000002500}), "@!UP2 S2UR UR0, SR_CTAID.X");
}

TEST(Print, BranchesNameAddresses) {
  EXPECT_EQ(text(80, {0x0000004000007947, 0x000fe20003800000}, 0x40), "BRA 0x90");
}

// Control bits of an instruction of Maxwell and Pascal that keeps operands (1 A, 2 B, 4 C) and does nothing
// else.
Word bundled(std::uint64_t word, std::uint64_t kept = 0) {
  return {word, (std::uint64_t{0x7e0} | kept << 17) << (first_control_bit - 64)};
}

TEST(Print, MaxwellWritesHalvesBeforeWhatIsKept) {
  EXPECT_EQ(text(50, bundled(0x4e307f8005e70710, 1)), "XMAD R16, R7.H1.reuse, c[0x0] [0x178].H1, RZ");
  EXPECT_EQ(text(61, bundled(0x5d11000020570007, 5)), "HADD2 R7, R0.H0_H0.reuse, R5.H0_H0.reuse");
  EXPECT_EQ(text(50, bundled(0x3859403f8007000e)), "FADD R14, -|R0|, 1");
  EXPECT_EQ(text(50, bundled(0x4c10800005470c08)), "IADD R8.CC, R12, c[0x0][0x150]");
}

// What is no operand of the form.
TEST(Print, MaxwellNamesFlagsAndShapes) {
  EXPECT_EQ(text(50, bundled(0x38e8010000f7ff11)), "P2R R17, CC, RZ, 0xf");
  EXPECT_EQ(text(50, bundled(0xeef3000000c70602)), "ATOM.E.CAS.64 R2, [R6], R12, R14");
  EXPECT_EQ(text(50, bundled(0xd8300500c0a70008, 1)), "TEXS.T R12, R8, R0, R10, 0x50, 2D, RGBA");
  EXPECT_EQ(text(50, bundled(0xe300000000070001)), "EXIT CC.LT");
  EXPECT_EQ(text(50, bundled(0xe30000000007000f)), "EXIT");
}

TEST(Print, MaxwellNamesTypesOfVideoInstructions) {
  EXPECT_EQ(text(50, bundled(0x3b77056060b70808)), "VMNMX.MX.MAX R8, R8, R11, R10");
  EXPECT_EQ(text(50, bundled(0x3b76056060b70808)), "VMNMX.U32.S32.MX.MAX R8, R8, R11, R10");
}

TEST(Print, MaxwellHasSpecialRegistersOfItsOwn) {
  EXPECT_EQ(text(50, bundled(0xf0c8000000470000)), "S2R R0, SR_PM0");
  EXPECT_EQ(text(50, bundled(0xf0c8000002170000)), "S2R R0, SR_TID.X");
  EXPECT_EQ(text(50, bundled(0xf0c8000006470000)), "S2R R0, SR100");
}

// As files have them: a control word stands before three instructions.
TEST(Print, MaxwellCountsControlWordsInAddresses) {
  EXPECT_EQ(text(50, bundled(0xe24000000107000f), 0), "BRA 0x20");
}

TEST(Decode, BitsWithoutMeaningAreRefused) {
  const std::string why = text(80, {0x00000004ff057424, 0x000fe200078e00ff | (1ull << 15)});
  EXPECT_TRUE(why.starts_with("unknown: ")) << why;
}

}  // namespace
}  // namespace simtlab::machine

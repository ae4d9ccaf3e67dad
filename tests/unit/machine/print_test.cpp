// Words of compiled kernels and the text that they are.
#include "machine/print.h"

#include <gtest/gtest.h>

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

TEST(Decode, BitsWithoutMeaningAreRefused) {
  const std::string why = text(80, {0x00000004ff057424, 0x000fe200078e00ff | (1ull << 15)});
  EXPECT_TRUE(why.starts_with("unknown: ")) << why;
}

}  // namespace
}  // namespace simtlab::machine

// Classes of opcodes for the timing model.
#include "machine/classes.h"

#include <gtest/gtest.h>

#include <string>

#include "machine/translator.h"

namespace simtlab::machine {
namespace {

TEST(Classes, EveryInstructionThatIsExecutedHasOne) {
  // Locks of shared memory are of Fermi and Kepler.
  const SassTable table = SassTable::of_version(90), kepler = SassTable::of_version(35),
                  fermi = SassTable::of_version(20);
  for (const auto rows :
       {integer_semantics(), logic_semantics(), floating_semantics(), memory_semantics(), atomic_semantics(),
        double_semantics(), half_semantics(), conversion_semantics(), warp_semantics(), control_semantics()})
    for (const SemanticsRow& row : rows)
      EXPECT_TRUE(table.of(row.mnemonic).known || kepler.of(row.mnemonic).known ||
                  fermi.of(row.mnemonic).known)
          << std::string(row.mnemonic);
}

// As disassemblers write them, and as forms are called.
TEST(Classes, ConversionsOf64BitsAreOfTheirOwn) {
  const SassTable table = SassTable::of_version(75);
  const auto class_of = [&](const char* mnemonic) { return decode(table.of(mnemonic), mnemonic).op_class; };
  for (const char* wide : {"F2F.F64.F32", "F2F.F32.F64", "F2F.64", "F2I.F64.TRUNC", "F2I.S64.TRUNC",
                           "I2F.F64", "I2F.U64", "I2F.F64.S64.RP", "FRND.F64.FLOOR"})
    EXPECT_EQ(class_of(wide), ptx::OpClass::convert64) << wide;
  for (const char* narrow : {"F2F.F16.F32", "F2I.TRUNC.NTZ", "I2F.U32.RP", "I2F", "FRND.FLOOR"})
    EXPECT_EQ(class_of(narrow), ptx::OpClass::convert) << narrow;
}

}  // namespace
}  // namespace simtlab::machine

// Classes of opcodes for the timing model.
#include "machine/classes.h"

#include <gtest/gtest.h>

#include <string>

#include "machine/translator.h"

namespace simtlab::machine {
namespace {

TEST(Classes, EveryInstructionThatIsExecutedHasOne) {
  const SassTable table = SassTable::of_version(90);
  for (const auto rows :
       {integer_semantics(), logic_semantics(), floating_semantics(), memory_semantics(), atomic_semantics(),
        double_semantics(), half_semantics(), conversion_semantics(), warp_semantics(), control_semantics()})
    for (const SemanticsRow& row : rows)
      EXPECT_TRUE(table.of(row.mnemonic).known) << std::string(row.mnemonic);
}

}  // namespace
}  // namespace simtlab::machine

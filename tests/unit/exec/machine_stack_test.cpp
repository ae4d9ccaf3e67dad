// The stack of branches and calls of Maxwell and Pascal as it is executed: code that compilers do not write.
#include "kernel_support.h"
#include "machine/bundles.h"
#include "machine/decode.h"
#include "machine/function.h"
#include "machine/views.h"
#include "ptx/decode.h"

namespace simtlab::exec {
namespace {

using testing::HasSubstr;

constexpr unsigned maxwell = 50;
constexpr std::uint64_t sync_word = 0xf0f800000007000full, exit_word = 0xe30000000007000full,
                        ret = 0xe32000000007000full, jmx_r2 = 0xe20000000007020full,
                        thread_to_r0 = 0xf0c8000002170000ull,  // S2R R0, SR_TID.X
    p0_if_from_16 = 0x366c038001070007ull,                     // ISETP.GE.U32.AND P0, PT, R0, 0x10, PT
    bar_sync = 0xf0a81b8000070000ull;                          // BAR.SYNC 0x0

std::uint64_t to(std::uint64_t opcode, std::size_t from, std::size_t target) {
  const std::int64_t distance =
      machine::address_in_file(maxwell, static_cast<std::int64_t>(target * machine::word_bytes)) -
      machine::address_in_file(maxwell, static_cast<std::int64_t>(from * machine::word_bytes)) -
      std::int64_t{machine::bundled_bytes};
  return opcode | (static_cast<std::uint64_t>(distance) & 0xffffffu) << 20;
}
std::uint64_t ssy(std::size_t from, std::size_t target) { return to(0xe290000000000000ull, from, target); }
std::uint64_t cal(std::size_t from, std::size_t target) { return to(0xe260000000000040ull, from, target); }
std::uint64_t pret(std::size_t from, std::size_t target) { return to(0xe270000000000040ull, from, target); }
std::uint64_t branch_if_p0(std::size_t from, std::size_t target) {
  return to(0xe24000000000000full, from, target);
}
std::uint64_t branch_if_not_p0(std::size_t from, std::size_t target) {
  return to(0xe24000000008000full, from, target);
}

machine::MadeCode made_of(const std::vector<std::uint64_t>& words) {
  machine::MadeCode out;
  out.generation = maxwell;
  out.registers = 8;
  for (const std::uint64_t word : words) {
    const auto address = static_cast<std::uint32_t>(out.words.size() * machine::word_bytes);
    out.words.push_back({word, 0});
    const auto decoded = machine::decode(machine::Forms::shipped(), maxwell, out.words.back(), address);
    if (const auto* why = std::get_if<machine::Undecoded>(&decoded)) throw std::logic_error(why->reason);
    out.instructions.push_back(std::get<machine::Instruction>(decoded));
  }
  out.lines.resize(words.size());
  out.ptx_lines.resize(words.size());
  return out;
}

// What one warp ends with.
std::string fault_of(const std::vector<std::uint64_t>& words) {
  ptx::LoadOptions options;
  options.assemble = [&](ptx::VirtualFunction& f, const ptx::Module&, std::string&) {
    machine::Views views(machine::SassTable::shipped(maxwell));
    machine::set_code(f.fn, made_of(words), views);
    return true;
  };
  GlobalMemory memory(64 << 20, 0);
  const LoadedModule module(
      ptx::load_module("test.ptx",
                       ".version 8.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n",
                       options),
      memory);
  LaunchParams p;
  p.module = &module;
  p.block = {32};
  FunctionalOptions run;
  run.max_warp_instructions = 1'000'000;
  try {
    run_functional(Launch(p, memory), run);
  } catch (const Fault& fault) { return fault.format(); }
  return "";
}

// Half of the warp waits where lanes meet, the other half at the barrier of the block.
TEST(MachineStack, ADeadlockNamesWhoWaitsAtASync) {
  const std::string fault =
      fault_of({ssy(0, 6), thread_to_r0, p0_if_from_16, branch_if_p0(3, 5), bar_sync, sync_word, exit_word});
  EXPECT_THAT(fault, HasSubstr("lanes 0xffff0000 at 0x0038 (SYNC)"));
  EXPECT_THAT(fault, HasSubstr("lanes 0x0000ffff at 0x0030 (BAR)"));
}

// In front of the first instruction there is none to name.
TEST(MachineStack, ADeadlockNamesWhoMeetsAtTheBeginOfTheCode) {
  const std::string fault =
      fault_of({ssy(0, 0), thread_to_r0, p0_if_from_16, branch_if_p0(3, 5), bar_sync, sync_word, exit_word});
  EXPECT_THAT(fault, HasSubstr("lanes 0xffff0000 at 0x0008 (SYNC)"));
}

TEST(MachineStack, ADeadlockNamesWhoReturns) {
  EXPECT_THAT(
      fault_of({cal(0, 2), exit_word, thread_to_r0, p0_if_from_16, branch_if_p0(4, 6), bar_sync, ret}),
      HasSubstr("(RET)"));
}

TEST(MachineStack, CallsWithoutAnEndAreFound) {
  const std::string fault = fault_of({cal(0, 2), exit_word, cal(2, 2), ret});
  EXPECT_THAT(fault, HasSubstr("is in 65536 calls"));
  EXPECT_THAT(fault, HasSubstr("[stack-overflow]"));
}

TEST(MachineStack, AJumpIntoACallReturnsNowhere) {
  EXPECT_THAT(fault_of({branch_if_not_p0(0, 2), pret(1, 3), jmx_r2, exit_word}),
              HasSubstr("returns, and nothing has called"));
}

}  // namespace
}  // namespace simtlab::exec

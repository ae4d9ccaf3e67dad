// Machine code whose results come as late as its control information allows: code of a compiler leaves the
// memory that it leaves otherwise, code with a gap does not, and the gap is found.
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "kernel_support.h"
#include "machine/code.h"
#include "machine/image.h"

namespace simtlab::exec {
namespace {

using testing::HasSubstr;

using DelayWords = std::vector<std::uint32_t>;

std::string cubin_named(const std::string& name) {
  std::ifstream file(std::string(SIMTLAB_SOURCE_DIR) + "/tests/data/machine/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// What is in both buffers after each kernel that takes two of them: input, output.
DelayWords memory_after(const std::string& cubin, const std::string& kernel, Results results) {
  GlobalMemory memory(64 << 20, 0);
  const LoadedModule module(machine::load_cubin(std::as_bytes(std::span(cubin)), "test.cubin"), memory);
  DelayWords in(4096), out(1 << 18);
  std::mt19937 random(17);
  for (std::uint32_t& word : in) word = kernel.starts_with("lock") ? 0 : static_cast<std::uint32_t>(random());
  const auto in_at = memory.allocate(in.size() * 4, "in").value(),
             out_at = memory.allocate(out.size() * 4, "out").value();
  memory.write(in_at, std::as_bytes(std::span(in)));
  LaunchParams p;
  p.module = &module;
  const auto& functions = module.module().functions;
  const auto found = std::ranges::find(functions, kernel, &ptx::Function::name);
  EXPECT_NE(found, functions.end()) << kernel;
  p.function = static_cast<std::uint32_t>(found - functions.begin());
  p.block = {64};
  p.results = results;
  const std::vector<std::byte> packed = pack_arguments(in_at, out_at);
  p.params = packed;
  FunctionalOptions options;
  options.max_warp_instructions = 10'000'000;
  run_functional(Launch(p, memory), options);
  memory.read(in_at, std::as_writable_bytes(std::span(in)));
  memory.read(out_at, std::as_writable_bytes(std::span(out)));
  in.insert(in.end(), out.begin(), out.end());
  return in;
}

// Kernels of a cubin with two pointers, whose results come from lanes of a warp alone.
std::vector<std::string> kernels_of(const std::string& cubin) {
  std::vector<std::string> out;
  const auto module = machine::load_cubin(std::as_bytes(std::span(cubin)), "test.cubin");
  for (const ptx::Function& f : module->functions)
    if (f.param_bytes == 16) out.push_back(f.name);
  return out;
}

class LateResults : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, LateResults,
                         testing::Values("flow.sm_75", "flow.sm_80", "flow.sm_90", "memory.sm_75",
                                         "memory.sm_80", "memory.sm_90", "integers.sm_70", "integers.sm_75",
                                         "integers.sm_80", "integers.sm_90", "floating_70.sm_70",
                                         "floating_70.sm_75", "floating_70.sm_80", "floating_70.sm_86",
                                         "floating_70.sm_89", "floating_70.sm_90", "recursion.sm_50",
                                         "recursion.sm_61", "recursion.sm_80", "predicates.sm_80"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST_P(LateResults, CodeOfACompilerLeavesTheSameMemory) {
  const std::string cubin = cubin_named(std::string(GetParam()) + ".cubin");
  for (const std::string& kernel : kernels_of(cubin)) {
    SCOPED_TRACE(kernel);
    const DelayWords early = memory_after(cubin, kernel, Results::early);
    try {
      EXPECT_EQ(memory_after(cubin, kernel, Results::checked), early);
    } catch (const Fault& fault) { ADD_FAILURE() << fault.what(); }
  }
}

// A cubin with the control information of one instruction changed.
class DamagedCode : public testing::Test {
 protected:
  std::string cubin_ = cubin_named("memory.sm_80.cubin");

  const machine::Instruction& instruction_at(std::uint32_t address) {
    module_ = machine::load_cubin(std::as_bytes(std::span(cubin_)), "test.cubin");
    const auto found = std::ranges::find(module_->functions, "sizes", &ptx::Function::name);
    return found->machine->instructions[address / 16];
  }
  // Sets `width` bits of the word from bit `first` on, in the file.
  void change(std::uint32_t address, unsigned first, unsigned width, std::uint64_t value) {
    const machine::Image image = machine::read_image(std::as_bytes(std::span(cubin_)), "test.cubin");
    const auto kernel = std::ranges::find(image.kernels, "sizes", &machine::ImageKernel::name);
    const machine::Word word = kernel->words[address / 16], next = kernel->words[address / 16 + 1];
    const std::uint64_t parts[4] = {word.low, word.high, next.low, next.high};
    const std::string bytes(reinterpret_cast<const char*>(parts), sizeof parts);
    const std::size_t at = cubin_.find(bytes);
    ASSERT_NE(at, std::string::npos);
    const std::uint64_t mask = ((std::uint64_t{1} << width) - 1) << (first - 64);
    const std::uint64_t high = (word.high & ~mask) | value << (first - 64);
    std::memcpy(cubin_.data() + at + 8, &high, sizeof high);
  }
  void expect_reported(const char* what) {
    try {
      memory_after(cubin_, "sizes", Results::checked);
      ADD_FAILURE() << "the gap is not found";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.id(), "machine-hazard");
      EXPECT_THAT(fault.what(), HasSubstr(what));
    }
  }
  void expect_found(const char* what) {
    const DelayWords want = memory_after(cubin_, "sizes", Results::early);
    EXPECT_NE(memory_after(cubin_, "sizes", Results::late), want);
    expect_reported(what);
  }

 private:
  std::shared_ptr<const ptx::Module> module_;
};

constexpr unsigned stall_bit = 105, wait_bit = 116, write_bit = 110;

TEST_F(DamagedCode, AWaitThatIsMissingIsFound) {
  ASSERT_EQ(instruction_at(0xa0).mnemonic(), "STG");
  ASSERT_EQ(instruction_at(0xa0).control.wait_mask, 1 << 2);
  change(0xa0, wait_bit, 6, 0);
  expect_found("STG at 0x00a0 reads R11 without waiting for scoreboard 2 of LDG at 0x0060");
}

TEST_F(DamagedCode, AStallThatIsTooShortIsFound) {
  ASSERT_EQ(instruction_at(0x90).mnemonic(), "IMAD.WIDE");
  ASSERT_EQ(instruction_at(0x90).control.stall, 5);
  change(0x90, stall_bit, 4, 1);
  EXPECT_THROW(memory_after(cubin_, "sizes", Results::late), Fault) << "an address is an old value";
  expect_reported("STG at 0x00a0 reads R8 1 cycles after IMAD.WIDE at 0x0090, whose result takes 5");
}

TEST_F(DamagedCode, AScoreboardThatIsNotSetIsFound) {
  ASSERT_EQ(instruction_at(0x10).mnemonic(), "S2R");
  change(0x10, write_bit, 3, 7);
  expect_found("reads R10 of S2R at 0x0010, which sets no scoreboard");
}

// What reads its operands late has not read them: only the checked mode sees that.
TEST_F(DamagedCode, AnOperandThatIsOverwrittenIsFound) {
  ASSERT_EQ(instruction_at(0xb0).mnemonic(), "LDG");
  ASSERT_EQ(instruction_at(0xa0).control.read_barrier, 0);
  change(0xb0, wait_bit, 6, 0);
  expect_reported("LDG at 0x00b0 writes R11, which STG at 0x00a0 may not have read");
}

TEST(LateResultsOfPtx, AreRefused) {
  Machine m(".entry k(.param .u64 in, .param .u64 out) { ret; }");
  m.params.results = Results::late;
  try {
    m.run({1}, {32}, std::uint64_t{0}, std::uint64_t{0});
    ADD_FAILURE() << "it runs";
  } catch (const Error& error) { EXPECT_EQ(error.id(), "results-ptx"); }
}

}  // namespace
}  // namespace simtlab::exec

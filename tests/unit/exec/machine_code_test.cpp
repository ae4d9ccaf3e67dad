// Kernels of our own as PTX and as the vendor's machine code: both leave the same memory. tests/data/machine
// has sources and cubins.
#include <bit>
#include <fstream>
#include <iterator>
#include <random>

#include "exec/heap.h"
#include "exec/store_buffer.h"
#include "kernel_support.h"
#include "machine/image.h"

namespace simtlab::exec {
namespace {

std::string text_of(const std::string& name) {
  std::ifstream file(std::string(SIMTLAB_SOURCE_DIR) + "/tests/data/machine/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::shared_ptr<const ptx::Module> load(const std::string& name) {
  std::string text = text_of(name);
  if (name.ends_with(".ptx")) return ptx::load_module(name, std::move(text));
  return machine::load_cubin(std::as_bytes(std::span(text)), name);
}

struct Case {
  std::string file, kernel;
  unsigned threads = 32, blocks = 1;
  bool zeros = false;  // of the input
  std::uint32_t dynamic_shared = 0;
  bool late = false;  // instruction by instruction, with atomics that give their results afterwards
  std::uint32_t stack = default_stack_bytes;
};

using Words = std::vector<std::uint32_t>;
constexpr std::size_t input_words = 4096, output_words = 32;  // output: most of a thread

Words input_of(const Case& c) {
  Words in(input_words);
  std::mt19937 random(17);
  if (!c.zeros)
    for (std::uint32_t& word : in) word = static_cast<std::uint32_t>(random());
  return in;
}

// By the kernel that ran last.
std::string& printed() {
  static std::string text;
  return text;
}

// One instruction after another; stores and atomics act after each.
void step_through(const Launch& launch, GlobalMemory& memory) {
  StoreBuffer buffer(memory, [](std::string_view text) { printed() += text; });
  Block block(launch, &buffer);
  std::uint64_t now = 0;
  for (std::uint64_t i = 0; i < launch.block_count(); ++i)
    for (block.reset(i, 0, 0); !block.finished();)
      for (unsigned w = 0; w < block.warp_count(); ++w)
        if (block.status(w) == WarpStatus::ready) {
          EXPECT_NE(block.peek(w), nullptr);
          block.step(w, ++now);
          buffer.commit();
        }
}

// What is in both buffers afterwards: output, then input.
Words run(const std::string& file, const Case& c) {
  GlobalMemory memory(64 << 20, 0);
  const LoadedModule module(load(file), memory);
  const auto& functions = module.module().functions;
  const auto found = std::ranges::find(functions, c.kernel, &ptx::Function::name);
  if (found == functions.end()) throw std::logic_error(file + " has no kernel " + c.kernel);
  const Words in = input_of(c);
  Words out(output_words * c.threads * c.blocks);
  const auto in_at = memory.allocate(in.size() * 4, "in").value(),
             out_at = memory.allocate(out.size() * 4, "out").value();
  memory.write(in_at, std::as_bytes(std::span(in)));
  LaunchParams p;
  p.module = &module;
  p.function = static_cast<std::uint32_t>(found - functions.begin());
  p.grid = {c.blocks};
  p.block = {c.threads};
  p.dynamic_shared_bytes = c.dynamic_shared;
  p.stack_bytes = c.stack;
  const std::vector<std::byte> packed = pack_arguments(in_at, out_at);
  p.params = packed;
  DeviceHeap heap(memory);
  heap.prepare();
  p.heap = &heap;
  p.print = [&](std::string_view text) { printed() += text; };
  printed().clear();
  const Launch launch(p, memory);
  if (c.late) {
    step_through(launch, memory);
  } else {
    FunctionalOptions options;
    options.max_warp_instructions = 10'000'000;
    run_functional(launch, options);
  }
  Words after(in.size());
  memory.read(out_at, std::as_writable_bytes(std::span(out)));
  memory.read(in_at, std::as_writable_bytes(std::span(after)));
  out.insert(out.end(), after.begin(), after.end());
  return out;
}

class MachineCode : public testing::TestWithParam<unsigned> {
 protected:
  std::string cubin(const std::string& file) const {
    return file + ".sm_" + std::to_string(GetParam()) + ".cubin";
  }
  void expect_same(const Case& c) const {
    const Words want = run(c.file + ".ptx", c);
    const std::string text = printed();
    const Words got = run(cubin(c.file), c);
    ASSERT_EQ(want.size(), got.size());
    EXPECT_EQ(printed(), text);
    unsigned shown = 0;
    for (std::size_t i = 0; i < want.size() && shown < 5; ++i)
      if (want[i] != got[i]) {
        ADD_FAILURE() << c.kernel << ": word " << i << " is " << std::hex << got[i] << ", PTX leaves "
                      << want[i];
        ++shown;
      }
  }
  void expect_recursion() const;
  void expect_overflow() const;
};

void MachineCode::expect_recursion() const {
  const Case c{"recursion", "recursion", 64};
  const Words in = input_of(c), got = run(cubin("recursion"), c);
  for (unsigned t = 0; t < 64; ++t) {
    std::uint32_t want = 1;
    for (std::uint32_t n = 2; n <= (in[t] & 7); ++n) want = want * n + n - 1;
    EXPECT_EQ(got[t * 8], want) << "thread " << t;
  }
}

void MachineCode::expect_overflow() const {
  // Seven calls have no room in it.
  const Case small{
      .file = "recursion", .kernel = "recursion", .threads = 64, .stack = GetParam() < 70 ? 32u : 64u};
  try {
    run(cubin(small.file), small);
    FAIL() << small.stack << " bytes suffice";
  } catch (const Fault& e) {
    EXPECT_EQ(e.kind(), Fault::Kind::stack_overflow);
    EXPECT_EQ(e.id(), "stack-overflow");
    const std::string text = e.format();
    for (const std::string& part :
         {fmt::format("stack of {} bytes a thread", small.stack), std::string("of kernel recursion"),
          std::string("cudaLimitStackSize"), std::string("thread (")})
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  Case large = small;
  large.stack = 100'000;
  EXPECT_EQ(run(cubin(large.file), large), run(cubin("recursion"), {"recursion", "recursion", 64}));
}

INSTANTIATE_TEST_SUITE_P(, MachineCode, testing::Values(75u, 80u, 90u),
                         [](const auto& instance) { return "sm_" + std::to_string(instance.param); });

TEST_P(MachineCode, LoopsOfDifferentLengthMeet) { expect_same({"flow", "loops", 96, 2}); }
TEST_P(MachineCode, LanesShuffleApart) { expect_same({"flow", "shuffles", 32}); }
TEST_P(MachineCode, LanesShareALock) { expect_same({"flow", "locks", 32, 1, true}); }
TEST_P(MachineCode, BarriersReduceAndCount) { expect_same({"flow", "barriers", 128}); }
TEST_P(MachineCode, LoadsAndStoresHaveEverySize) { expect_same({"memory", "sizes", 64}); }
TEST_P(MachineCode, AtomicsOfGlobalMemory) { expect_same({"memory", "global_atomics", 32}); }
TEST_P(MachineCode, AtomicsOfFloats) { expect_same({"memory", "float_atomics", 32}); }
TEST_P(MachineCode, AtomicsOfSharedMemory) { expect_same({"memory", "shared_atomics", 64}); }
TEST_P(MachineCode, AtomicsOfGenericAddresses) { expect_same({"memory", "generic_atomics", 32}); }
TEST_P(MachineCode, ResultsOfAtomicsMayBeLate) {
  for (const char* kernel : {"global_atomics", "float_atomics", "generic_atomics"})
    expect_same({.file = "memory", .kernel = kernel, .late = true});
}
TEST_P(MachineCode, SpecialRegisters) { expect_same({"memory", "specials", 96, 3, false, 256}); }
TEST_P(MachineCode, VotesAndShuffles) { expect_same({"memory", "votes", 32}); }
TEST_P(MachineCode, CopiesThatDoNotWait) {
  if (GetParam() >= 80) expect_same({"ampere", "copies", 64});
}
TEST_P(MachineCode, CopiesReadAPartOfWhatTheyWrite) {
  if (GetParam() >= 80) expect_same({"copies", "parts", 64});
}
TEST_P(MachineCode, ThreadsMeetAtBarriersInSharedMemory) {
  if (GetParam() < 80) return;
  const Case c{"phases", "phases", 64};
  EXPECT_EQ(run(cubin(c.file), c), run("phases_reference.ptx", c));
  expect_same(c);
}
TEST_P(MachineCode, AtomicsOfVectorsOfFloats) {
  if (GetParam() != 90) return;
  for (const bool late : {false, true}) {
    const Case c{.file = "vectors", .kernel = "vectors", .late = late};
    EXPECT_EQ(run(cubin(c.file), c), run("vectors_reference.ptx", c));
  }
}
TEST_P(MachineCode, EveryBlockIsACluster) {
  if (GetParam() == 90) expect_same({"clusters", "specials", 32, 3});
}
TEST_P(MachineCode, ReductionsOfAWarp) {
  if (GetParam() >= 80) expect_same({"ampere", "reductions", 32});
}

TEST_P(MachineCode, ConstantBanks) { expect_same({"calls", "constants", 64}); }
TEST_P(MachineCode, CallsAndJumpsThroughTables) { expect_same({"calls", "calls", 64}); }
TEST_P(MachineCode, FunctionsWhoseAddressesAreData) { expect_same({"tables", "tables", 64}); }
TEST_P(MachineCode, FunctionsOfTheDriver) { expect_same({"calls", "driver", 64}); }

// The generations before have some of the files.
class BundledMachineCode : public MachineCode {};
INSTANTIATE_TEST_SUITE_P(, BundledMachineCode, testing::Values(50u, 61u),
                         [](const auto& instance) { return "sm_" + std::to_string(instance.param); });
TEST_P(BundledMachineCode, ConstantBanks) { expect_same({"calls", "constants", 64}); }
TEST_P(BundledMachineCode, FunctionsOfTheDriver) { expect_same({"calls", "driver", 64}); }
TEST_P(BundledMachineCode, CallsAndJumpsThroughTables) { expect_same({"calls", "calls", 64}); }
TEST_P(BundledMachineCode, CodeThatIsStillToBeLinked) {
  for (const char* kernel : {"constants", "calls", "driver"}) {
    const Case c{"calls", kernel, 64};
    const Words want = run("calls.ptx", c);
    const std::string text = printed();
    EXPECT_EQ(run(cubin("calls_object"), c), want) << kernel;
    EXPECT_EQ(printed(), text);
  }
}

// Code that is still to be linked
TEST(SharedMemoryOfAnObject, VariablesLieSideBySide) {
  const Case c{"shared_object", "two", 64};
  const Words want = run("shared_object.ptx", c);
  EXPECT_EQ(run("shared_object.sm_50.cubin", c), want);
  EXPECT_EQ(run("shared_object.sm_80.cubin", c), want);
}

// PTX text runs in other ways here: what the program means is computed.
TEST_P(MachineCode, LanesMeetFromTwoPlaces) {
  const Case c{"flow", "two_places", 32};
  const Words in = input_of(c), got = run(cubin("flow"), c);
  Words x(in.begin(), in.begin() + 32);
  for (unsigned n = 0; n < 6; ++n) {
    for (unsigned lane = 0; lane < 32; ++lane)
      if (n == (lane & 3)) x[lane] *= 5;
    const Words before = x;
    for (unsigned lane = 0; lane < 32; ++lane) {
      const std::uint32_t y = before[lane == 31 ? 31 : lane + 1];
      x[lane] = n == (lane & 3) ? x[lane] ^ y : x[lane] + y;
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(got[lane * 8], x[lane]) << "lane " << lane;
}

// PTX text may not do it.
TEST_P(MachineCode, FunctionsCallThemselves) { expect_recursion(); }
TEST_P(BundledMachineCode, FunctionsCallThemselves) { expect_recursion(); }
TEST_P(MachineCode, AStackThatIsTooSmallOverflows) { expect_overflow(); }
TEST_P(BundledMachineCode, AStackThatIsTooSmallOverflows) { expect_overflow(); }

// The address of a function that one kernel leaves in memory is that of the same function in another.
TEST_P(MachineCode, FunctionsHaveOneAddressInAllKernels) {
  GlobalMemory memory(64 << 20, 0);
  const LoadedModule module(load(cubin("tables")), memory);
  const Words in(32, 5);
  Words out(32);
  const auto in_at = memory.allocate(128, "in").value(), out_at = memory.allocate(128, "out").value();
  memory.write(in_at, std::as_bytes(std::span(in)));
  const std::vector<std::byte> packed = pack_arguments(in_at, out_at);
  for (const char* kernel : {"keep", "use"}) {
    LaunchParams p;
    p.module = &module;
    const ptx::Function* const f = module.module().find_function(kernel);
    ASSERT_NE(f, nullptr);
    p.function = static_cast<std::uint32_t>(f - module.module().functions.data());
    p.block = {32};
    if (f->param_bytes != 0) p.params = packed;
    const Launch launch(p, memory);
    run_functional(launch);
  }
  memory.read(out_at, std::as_writable_bytes(std::span(out)));
  EXPECT_EQ(out, Words(32, 5 * 5 + 1));
}

TEST_P(MachineCode, EveryLaneGetsTheLock) {
  const Case c{"flow", "lock_behind", 64, 1, true};
  const Words got = run(cubin("flow"), c);
  Words order;
  for (unsigned t = 0; t < 64; ++t) order.push_back(got[t * 8]);
  std::ranges::sort(order);
  EXPECT_EQ(order, each_thread(64, [](unsigned i) { return i + 1; }));
}

TEST_P(MachineCode, BothSidesOfABranchComeToTheBarrier) {
  const Case c{"flow", "barrier_apart", 64};
  const Words got = run(cubin("flow"), c);
  for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(got[t * 8], t % 2 == 1 ? 1063u : 100u) << "thread " << t;
}

}  // namespace
}  // namespace simtlab::exec

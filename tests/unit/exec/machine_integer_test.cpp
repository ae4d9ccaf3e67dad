// Integer instructions of machine code against the PTX that they were made of: tests/data/machine/integers.*.
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "arith_support.h"
#include "exec/arguments.h"
#include "exec/executor.h"
#include "machine/image.h"

namespace simtlab::exec {
namespace {

constexpr unsigned threads = 512;

std::string data(const std::string& name) {
  std::ifstream file(std::string(SIMTLAB_SOURCE_DIR "/tests/data/machine/") + name, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Inputs {
  std::vector<std::uint32_t> narrow[3];
  std::vector<std::uint64_t> wide[3];
  Inputs() {
    arith::Random random(31);
    for (unsigned i = 0; i < threads; ++i)
      for (unsigned k = 0; k < 3; ++k) {
        narrow[k].push_back(static_cast<std::uint32_t>(arith::sample(random, ptx::Type::u32)));
        wide[k].push_back(arith::sample(random, ptx::Type::u64));
      }
  }
};

// What the kernel writes: `results` words of 64 bits a thread.
std::vector<std::uint64_t> run(std::shared_ptr<const ptx::Module> module, const Inputs& inputs,
                               std::size_t results) {
  GlobalMemory memory(64ull << 20, 0);
  LoadedModule loaded(std::move(module), memory);
  const auto upload = [&](const auto& values) {
    const std::uint64_t address = memory.allocate(values.size() * sizeof(values[0]), "input").value();
    memory.write(address, std::as_bytes(std::span(values)));
    return address;
  };
  std::vector<std::uint64_t> out(threads * results, 0x5a5a5a5a5a5a5a5aull);
  const std::uint64_t to = upload(out);
  const std::vector<std::byte> packed =
      pack_arguments(upload(inputs.narrow[0]), upload(inputs.narrow[1]), upload(inputs.narrow[2]),
                     upload(inputs.wide[0]), upload(inputs.wide[1]), upload(inputs.wide[2]), to);
  LaunchParams p;
  p.module = &loaded;
  p.grid = {1, 1, 1};
  p.block = {threads, 1, 1};
  p.params = packed;
  Launch launch(p, memory);
  run_functional(launch);
  memory.read(to, std::as_writable_bytes(std::span(out)));
  return out;
}

// The instructions of the PTX text, one text a result.
std::vector<std::string> texts(const std::string& ptx) {
  std::vector<std::string> out;
  std::stringstream lines(ptx);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("st.global") != std::string::npos) {
      out.push_back(text);
      text.clear();
    } else if (line.find("%o, %o, %y") != std::string::npos) {
      text.clear();
    } else {
      text += line;
    }
  }
  return out;
}

class IntegersOf : public testing::TestWithParam<int> {};

TEST_P(IntegersOf, machine_code_gives_what_ptx_gives) {
  const std::string ptx = data("integers.ptx"), cubin = data(fmt::format("integers.sm_{}.cubin", GetParam()));
  const std::vector<std::string> names = texts(ptx);
  ASSERT_GT(names.size(), 80u);
  const Inputs inputs;
  const auto want = run(ptx::load_module("integers.ptx", ptx), inputs, names.size());
  const auto got =
      run(machine::load_cubin(std::as_bytes(std::span(cubin)), "integers.cubin"), inputs, names.size());
  for (std::size_t k = 0; k < names.size(); ++k)
    for (std::size_t t = 0; t < threads; ++t)
      ASSERT_EQ(got[t * names.size() + k], want[t * names.size() + k])
          << names[k] << " of a " << inputs.narrow[0][t] << ", b " << inputs.narrow[1][t] << ", c "
          << inputs.narrow[2][t] << ", A " << inputs.wide[0][t] << ", B " << inputs.wide[1][t] << ", C "
          << inputs.wide[2][t];
}
INSTANTIATE_TEST_SUITE_P(Generations, IntegersOf, testing::Values(70, 75, 80, 90));

// Kernels of (in, out): three rows of inputs, one value a thread and row; `results` words a thread.
std::vector<std::uint32_t> run_rows(std::shared_ptr<const ptx::Module> module, const Inputs& inputs,
                                    std::size_t results) {
  GlobalMemory memory(64ull << 20, 0);
  LoadedModule loaded(std::move(module), memory);
  std::vector<std::uint32_t> in, out(threads * results, 0x5a5a5a5au);
  for (const auto& row : inputs.narrow) in.insert(in.end(), row.begin(), row.end());
  const std::uint64_t from = memory.allocate(in.size() * 4, "in").value();
  const std::uint64_t to = memory.allocate(out.size() * 4, "out").value();
  memory.write(from, std::as_bytes(std::span(in)));
  memory.write(to, std::as_bytes(std::span(out)));
  const std::vector<std::byte> packed = pack_arguments(from, to);
  LaunchParams p;
  p.module = &loaded;
  p.grid = {1, 1, 1};
  p.block = {threads, 1, 1};
  p.params = packed;
  Launch launch(p, memory);
  run_functional(launch);
  memory.read(to, std::as_writable_bytes(std::span(out)));
  return out;
}

TEST(MachineIntegers, predicates_go_to_registers_and_back) {
  const std::string ptx = data("predicates.ptx"), cubin = data("predicates.sm_80.cubin");
  const Inputs inputs;
  EXPECT_EQ(run_rows(machine::load_cubin(std::as_bytes(std::span(cubin)), "predicates.cubin"), inputs, 4),
            run_rows(ptx::load_module("predicates.ptx", ptx), inputs, 4));
}

// cvt.pack of the PTX manual: a and b saturated, a above b, the low bits of c above them.
TEST(MachineIntegers, pairs_are_saturated) {
  const std::string cubin = data("pack.sm_80.cubin");
  const Inputs inputs;
  const auto got = run_rows(machine::load_cubin(std::as_bytes(std::span(cubin)), "pack.cubin"), inputs, 9);
  const struct {
    unsigned bits;
    bool is_signed, has_c;
  } kinds[9] = {{8, false, true}, {8, true, true},  {16, false, false}, {16, true, false}, {2, false, true},
                {2, true, true},  {4, false, true}, {4, true, true},    {8, false, false}};
  for (unsigned t = 0; t < threads; ++t)
    for (unsigned k = 0; k < 9; ++k) {
      const unsigned n = kinds[k].bits;
      const std::int64_t most = (std::int64_t{1} << (kinds[k].is_signed ? n - 1 : n)) - 1;
      const std::int64_t least = kinds[k].is_signed ? -most - 1 : 0;
      const auto part = [&](std::uint32_t v) {
        const std::int64_t x = static_cast<std::int32_t>(v), clamped = x < least  ? least
                                                                       : x > most ? most
                                                                                  : x;
        return static_cast<std::uint64_t>(clamped) & ((std::uint64_t{1} << n) - 1);
      };
      const std::uint64_t c = kinds[k].has_c ? inputs.narrow[2][t] : 0;
      const auto want =
          static_cast<std::uint32_t>(c << 2 * n | part(inputs.narrow[0][t]) << n | part(inputs.narrow[1][t]));
      ASSERT_EQ(got[9 * t + k], want) << "result " << k << " of " << inputs.narrow[0][t] << ", "
                                      << inputs.narrow[1][t] << ", " << inputs.narrow[2][t];
    }
}

}  // namespace
}  // namespace simtlab::exec

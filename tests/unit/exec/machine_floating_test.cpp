// Floating-point instructions and conversions of machine code against PTX: the same kernels as PTX text and
// as cubins of each generation leave the same memory.
//
// tests/data/machine/floating_*.ptx say what they were assembled with. A kernel's name says what it takes and
// gives: exact_3xf32_ffw takes three f32 and gives two f32 and a word, in 8 bytes each; near: results are
// approximations, which the assembler surrounds with scaling.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "exec/executor.h"
#include "machine/image.h"
#include "machine_comparison.h"

namespace simtlab::exec::machine_floating {
namespace {

using comparison::draw;
using comparison::Format;
using comparison::format_of;
using comparison::Likeness;

constexpr unsigned threads = 512;

constexpr unsigned slot = 8;  // bytes of a result

struct Kernel {
  std::string name;
  const Format* in = nullptr;
  unsigned in_count = 0;
  std::string out;  // letters of formats
  bool near = false;

  explicit Kernel(const std::string& text) : name(text) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, '_');) parts.push_back(part);
    near = parts.at(0) == "near";
    in_count = static_cast<unsigned>(parts.at(1).at(0) - '0');
    in = &format_of(parts.at(1).substr(2));
    out = parts.at(2);
  }
};

std::vector<std::byte> run(const std::shared_ptr<const ptx::Module>& module, const Kernel& kernel) {
  GlobalMemory memory(64ull << 20, 0);
  LoadedModule loaded(module, memory);
  const std::size_t count = std::size_t{threads} * kernel.in_count;
  const std::vector<std::byte> in = draw(*kernel.in, count, count + kernel.in->bytes);
  std::vector<std::byte> out(threads * kernel.out.size() * slot);
  const std::uint64_t parameters[2] = {memory.allocate(in.size(), "in").value(),
                                       memory.allocate(out.size(), "out").value()};
  memory.write(parameters[0], in);
  memory.write(parameters[1], out);
  LaunchParams p;
  p.module = &loaded;
  for (std::uint32_t i = 0; i < module->functions.size(); ++i)
    if (module->functions[i].name == kernel.name) p.function = i;
  p.grid = {threads / 128, 1, 1};
  p.block = {128, 1, 1};
  p.params = std::as_bytes(std::span(parameters));
  Launch launch(p, memory);
  run_functional(launch);
  memory.read(parameters[1], out);
  return out;
}

// What one thread gave in one slot.
void compare(const Kernel& kernel, const Format& f, const std::byte* ptx, const std::byte* machine,
             const std::string& where) {
  const Likeness likeness = comparison::compare(f, ptx, machine);
  if (likeness == Likeness::equal || (likeness == Likeness::near && kernel.near)) return;
  const auto bits = [&](const std::byte* at) {
    std::uint64_t value = 0;
    std::memcpy(&value, at, f.bytes);
    return value;
  };
  ADD_FAILURE() << kernel.name << " " << where << std::hex << ": PTX " << bits(ptx) << ", machine "
                << bits(machine);
}

void compare(const Kernel& kernel, std::span<const std::byte> ptx, std::span<const std::byte> machine) {
  for (std::size_t k = 0; k < kernel.out.size(); ++k) {
    const Format& f = format_of(kernel.out.substr(k, 1));
    for (std::size_t i = 0; i < threads && !testing::Test::HasFailure(); ++i) {
      const std::size_t at = (i * kernel.out.size() + k) * slot;
      compare(kernel, f, &ptx[at], &machine[at],
              "result " + std::to_string(k) + " of thread " + std::to_string(i));
    }
  }
}

class MachineFloating : public testing::TestWithParam<unsigned> {};

TEST_P(MachineFloating, leaves_what_the_same_ptx_leaves) {
  const std::filesystem::path folder = std::filesystem::path(SIMTLAB_SOURCE_DIR) / "tests/data/machine";
  unsigned kernels = 0;
  for (const unsigned source : {70u, 80u, 89u, 90u}) {
    const std::string stem = "floating_" + std::to_string(source);
    const std::string cubin = (folder / (stem + ".sm_" + std::to_string(GetParam()) + ".cubin")).string();
    if (!std::filesystem::exists(cubin)) continue;
    const std::string text = read_file(folder / (stem + ".ptx"), 1 << 20), image = read_file(cubin, 1 << 20);
    const auto ptx = ptx::load_module(stem, text);
    const auto machine = machine::load_cubin(std::as_bytes(std::span(image)), cubin);
    for (const ptx::Function& function : ptx->functions) {
      const Kernel kernel(function.name);
      compare(kernel, run(ptx, kernel), run(machine, kernel));
      ++kernels;
    }
  }
  EXPECT_GE(kernels, 8u);
}

INSTANTIATE_TEST_SUITE_P(Generations, MachineFloating, testing::Values(70u, 75u, 80u, 86u, 89u, 90u));

}  // namespace
}  // namespace simtlab::exec::machine_floating

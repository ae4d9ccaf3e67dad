// Floating-point instructions and conversions of machine code against PTX: the same kernels as PTX text and
// as cubins of each generation leave the same memory.
//
// tests/data/machine/floating_*.ptx say what they were assembled with. A kernel's name says what it takes and
// gives: exact_3xf32_ffw takes three f32 and gives two f32 and a word, in 8 bytes each; near: results are
// approximations, which the assembler surrounds with scaling.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <random>
#include <sstream>

#include "base/files.h"
#include "exec/executor.h"
#include "machine/image.h"

namespace simtlab::exec::machine_floating {
namespace {

constexpr unsigned threads = 512;

struct Format {
  std::string_view name;
  char letter;
  unsigned bytes;
  unsigned fraction, bits;  // of one element; 0: no floating type
  unsigned elements = 1;
};
constexpr Format formats[] = {
    {"f32", 'f', 4, 23, 32}, {"f64", 'd', 8, 52, 64},      {"f16", 'h', 2, 10, 16},
    {"bf16", 'b', 2, 7, 16}, {"f16x2", 'H', 4, 10, 16, 2}, {"bf16x2", 'B', 4, 7, 16, 2},
    {"b16", 's', 2, 0, 16},  {"b32", 'w', 4, 0, 32},       {"b64", 'x', 8, 0, 64}};
constexpr unsigned slot = 8;  // bytes of a result

const Format& format_of(std::string_view name) {
  for (const Format& f : formats)
    if (f.name == name || (name.size() == 1 && f.letter == name[0])) return f;
  throw std::logic_error("the name of a test kernel");
}

std::uint64_t mask_of(unsigned bits) {
  return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

// Zeros, the least and the largest subnormal and normal numbers, infinities, NaN, small integers and halves
// of them, the neighbours of 1: of both signs.
std::uint64_t corner(const Format& f, std::mt19937_64& random) {
  if (f.fraction == 0) {
    const std::uint64_t shift = random() % f.bits, one = std::uint64_t{1} << shift;
    return (one + random() % 3 - 1) & mask_of(f.bits);
  }
  const std::uint64_t exponent = mask_of(f.bits - 1) >> f.fraction << f.fraction,
                      one = exponent >> 1 & exponent, least = std::uint64_t{1} << f.fraction;
  const std::uint64_t values[] = {0,
                                  1,
                                  least - 1,
                                  least,
                                  least + 1,
                                  exponent - 1,
                                  exponent,
                                  exponent + 1,
                                  exponent | (least >> 1),
                                  one,
                                  one + 1,
                                  one - 1,
                                  one + least,
                                  one - least,
                                  one + (least >> 1),
                                  one + least + (least >> 2),
                                  one + 5 * least + 3,
                                  one + 3 * least + (least >> 4)};
  const std::uint64_t value = values[random() % std::size(values)];
  return random() % 2 == 0 ? value : value | std::uint64_t{1} << (f.bits - 1);
}

std::uint64_t element(const Format& f, std::mt19937_64& random) {
  switch (random() % 4) {
    case 0: return random() & mask_of(f.bits);
    case 1: {
      // Near 1, so that sums and quotients are ordinary.
      if (f.fraction == 0) return random() & mask_of(f.bits);
      const std::uint64_t one = mask_of(f.bits - 2) >> f.fraction << f.fraction;
      return (one + (random() & mask_of(f.fraction + 3)) - mask_of(f.fraction + 2)) & mask_of(f.bits);
    }
    default: return corner(f, random);
  }
}

std::vector<std::byte> inputs(const Format& f, unsigned count) {
  std::mt19937_64 random(count + f.bytes);
  std::vector<std::byte> out;
  for (unsigned i = 0; i < count * f.elements; ++i) {
    const std::uint64_t value = element(f, random);
    const auto bytes = std::as_bytes(std::span(&value, 1)).first(f.bytes / f.elements);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

bool is_nan(const Format& f, std::uint64_t value) {
  const std::uint64_t magnitude = value & mask_of(f.bits - 1);
  return f.fraction != 0 && magnitude > mask_of(f.bits - 1) >> f.fraction << f.fraction;
}

// Positions of floating values in their order, so that neighbours differ by one.
std::int64_t position(const Format& f, std::uint64_t value) {
  const auto magnitude = static_cast<std::int64_t>(value & mask_of(f.bits - 1));
  return value >> (f.bits - 1) & 1 ? -magnitude : magnitude;
}

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
  const std::vector<std::byte> in = inputs(*kernel.in, threads * kernel.in_count);
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

// Within an ulp or two, or (sin and cos, whose argument the machine scales and rounds) absolutely.
bool is_close(const Format& f, std::uint64_t a, std::uint64_t b) {
  if (std::abs(position(f, a) - position(f, b)) <= 2) return true;
  if (f.bytes != 4) return false;
  return std::abs(std::bit_cast<float>(static_cast<std::uint32_t>(a)) -
                  std::bit_cast<float>(static_cast<std::uint32_t>(b))) <= 1e-5f;
}

// What one thread gave in one slot.
void compare(const Kernel& kernel, const Format& f, const std::byte* ptx, const std::byte* machine,
             const std::string& where) {
  const unsigned bytes = f.bytes / f.elements;
  for (unsigned i = 0; i < f.elements; ++i) {
    std::uint64_t want = 0, got = 0;
    std::memcpy(&want, ptx + i * bytes, bytes);
    std::memcpy(&got, machine + i * bytes, bytes);
    if (want == got || (is_nan(f, want) && is_nan(f, got))) continue;
    if (kernel.near && !is_nan(f, want) && !is_nan(f, got) && is_close(f, want, got)) continue;
    ADD_FAILURE() << kernel.name << " " << where << std::hex << ": PTX " << want << ", machine " << got;
    return;
  }
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

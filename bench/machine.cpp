// Kernels as PTX and as machine code: warp instructions a second of the functional executor, without a
// consumer.
#include <benchmark/benchmark.h>

#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>

#include "exec/arguments.h"
#include "exec/executor.h"
#include "exec/memory.h"
#include "machine/image.h"

namespace {

using namespace simtlab;

std::shared_ptr<const ptx::Module> load(bool machine_code) {
  const std::string name = machine_code ? "machine.sm_80.cubin" : "machine.ptx";
  std::ifstream in(std::string(SIMTLAB_SOURCE_DIR) + "/bench/data/" + name, std::ios::binary);
  if (!in) throw std::runtime_error("bench/data/" + name + " cannot be read");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  return machine_code ? machine::open_cubin(std::move(text), name) : ptx::load_module(name, std::move(text));
}

struct Shape {
  exec::Dim3 grid, block;
};

// machine: 0 PTX, 1 machine code.
template <class... More>
void run(benchmark::State& state, const char* kernel, const Shape& shape, unsigned buffers, More... more) {
  exec::GlobalMemory memory(256u << 20, 0);
  const exec::LoadedModule module(load(state.range(0) == 1), memory);
  const auto buffer = [&] { return memory.allocate(16 << 20, "buffer").value(); };
  const auto a = buffer(), b = buffer(), c = buffer();
  const auto arguments =
      buffers == 3 ? exec::pack_arguments(a, b, c, more...) : exec::pack_arguments(a, b, more...);
  exec::LaunchParams p;
  p.module = &module;
  p.function =
      static_cast<std::uint32_t>(module.module().find_function(kernel) - module.module().functions.data());
  p.grid = shape.grid;
  p.block = shape.block;
  p.params = arguments;
  const exec::Launch launch(p, memory);
  std::uint64_t instructions = 0;
  for (auto _ : state) instructions += exec::run_functional(launch).warp_instructions;
  state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
}

void hash(benchmark::State& s) { run(s, "hash", {{8, 1, 1}, {256, 1, 1}}, 2, 2000); }
void matmul(benchmark::State& s) { run(s, "matmul", {{8, 32, 1}, {32, 8, 1}}, 3, 256); }
void nbody(benchmark::State& s) { run(s, "nbody", {{8, 1, 1}, {256, 1, 1}}, 2, 1024); }
void histogram(benchmark::State& s) { run(s, "histogram", {{8, 1, 1}, {256, 1, 1}}, 2, 1 << 20); }
void stencil(benchmark::State& s) { run(s, "stencil", {{4, 16, 1}, {32, 8, 1}}, 2, 128, 128, 64); }
void doubles(benchmark::State& s) { run(s, "dchain", {{8, 1, 1}, {256, 1, 1}}, 2, 2000); }

#define SIMTLAB_BOTH(kernel) \
  BENCHMARK(kernel)->ArgName("machine")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)
SIMTLAB_BOTH(hash);
SIMTLAB_BOTH(matmul);
SIMTLAB_BOTH(nbody);
SIMTLAB_BOTH(histogram);
SIMTLAB_BOTH(stencil);
SIMTLAB_BOTH(doubles);
#undef SIMTLAB_BOTH

}  // namespace

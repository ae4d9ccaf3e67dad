// Speed of the functional executor on one core with a consumer that counts: warp instructions a second.
// The instruction set is the best of the host; SIMTLAB_ISA=baseline|avx2|avx512 chooses another.
#include "exec/executor.h"

#include <benchmark/benchmark.h>

#include <bit>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "exec/arguments.h"
#include "exec/memory.h"

namespace {

using namespace simtlab;

std::shared_ptr<const ptx::Module> load(const std::string& name) {
  std::ifstream in(std::string(SIMTLAB_SOURCE_DIR) + "/bench/data/" + name + ".ptx");
  if (!in) throw std::runtime_error("bench/data/" + name + ".ptx cannot be read");
  return ptx::load_module(name + ".ptx", {std::istreambuf_iterator<char>(in), {}});
}

class Counter final : public exec::Consumer {
 public:
  void consume(std::uint64_t, std::span<const exec::Record> records,
               std::span<const std::uint64_t> addresses) override {
    for (const exec::Record& r : records)
      threads += r.mask == ~0u ? 32u : static_cast<unsigned>(std::popcount(r.mask));
    instructions += records.size();
    accesses += addresses.size() / exec::warp_size;
  }
  std::uint64_t instructions = 0, threads = 0, accesses = 0;
};

void measure(benchmark::State& state, const exec::LaunchParams& params, exec::GlobalMemory& memory) {
  const exec::Launch launch(params, memory);
  Counter counter;
  for (auto _ : state) {
    exec::FunctionalOptions options;
    options.consumer = &counter;
    benchmark::DoNotOptimize(exec::run_functional(launch, options));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(counter.instructions));
  state.counters["lanes"] = static_cast<double>(counter.threads) / static_cast<double>(counter.instructions);
  state.SetLabel(std::string(exec::instruction_set()));
}

void matmul(benchmark::State& state) {
  exec::GlobalMemory memory(64u << 20, 0);
  const exec::LoadedModule module(load("matmul"), memory);
  const std::uint32_t n = 256, half = static_cast<std::uint32_t>(state.range(0));
  const auto buffer = [&] { return memory.allocate(n * n * 4, "matrix").value(); };
  const auto a = buffer(), b = buffer(), c = buffer();
  const auto params = exec::pack_arguments(a, b, c, n, half);
  exec::LaunchParams launch;
  launch.module = &module;
  launch.grid = {n / 32, n / 8, 1};
  launch.block = {32, 8, 1};
  launch.params = params;
  measure(state, launch, memory);
}
BENCHMARK(matmul)->ArgName("half")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void saxpy(benchmark::State& state) {
  exec::GlobalMemory memory(64u << 20, 0);
  const exec::LoadedModule module(load("saxpy"), memory);
  const std::uint32_t n = 1u << 20, half = static_cast<std::uint32_t>(state.range(0));
  const auto x = memory.allocate(n * 4, "x").value(), y = memory.allocate(n * 4, "y").value();
  const auto params = exec::pack_arguments(x, y, 2.0f, n, half);
  exec::LaunchParams launch;
  launch.module = &module;
  launch.grid = {256, 1, 1};
  launch.block = {256, 1, 1};
  launch.params = params;
  measure(state, launch, memory);
}
BENCHMARK(saxpy)->ArgName("half")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace

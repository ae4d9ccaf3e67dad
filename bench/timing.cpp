// Speed of the cycle-level simulation on one core: warp instructions a second of a tiled matrix
// multiplication at full occupancy. bench/data/matmul_tiled.ptx: 16x16 tiles in shared memory, one element of
// the result a thread (clang -O3).
#include "timing/timing.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "device/catalogue.h"
#include "exec/executor.h"

namespace {

using namespace simtlab;

std::shared_ptr<const ptx::Module> load(const std::string& name) {
  std::ifstream in(std::string(SIMTLAB_SOURCE_DIR) + "/bench/data/" + name + ".ptx");
  if (!in) throw std::runtime_error("bench/data/" + name + ".ptx cannot be read");
  return ptx::load_module(name + ".ptx", {std::istreambuf_iterator<char>(in), {}});
}

// registers: a thread; chosen so that registers do not limit the occupancy.
void matmul_tiled(benchmark::State& state, const char* gpu, std::uint32_t registers) {
  const device::Device device = device::load_device(gpu).device;
  const auto n = static_cast<std::uint32_t>(state.range(0));
  const std::uint64_t bytes = std::uint64_t{n} * n * 4;
  exec::GlobalMemory memory(1u << 30, 0);
  const exec::LoadedModule module(load("matmul_tiled"), memory);
  const std::uint64_t a = memory.allocate(bytes, "a").value(), b = memory.allocate(bytes, "b").value(),
                      c = memory.allocate(bytes, "c").value();
  struct {
    std::uint64_t a, b, c;
    std::uint32_t n, pad;
  } values{a, b, c, n, 0};
  exec::LaunchParams params;
  params.module = &module;
  params.grid = {n / 16, n / 16, 1};
  params.block = {16, 16, 1};
  params.params = std::as_bytes(std::span(&values, 1)).first(28);
  const exec::Launch launch(params, memory);
  double instructions = 0, cycles = 0;
  for (auto _ : state) {
    timing::CycleGpu simulated(device, {.registers_override = registers});
    const result::KernelResult result = simulated.run(launch);
    instructions += *result.metrics.get("gpu.instructions.warp");
    cycles += *result.metrics.get("gpu.cycles");
    state.counters["occupancy"] = *result.metrics.get("occupancy.achieved");
    state.counters["ipc"] = *result.metrics.get("gpu.ipc.warp");
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
  state.counters["cycles"] = cycles / static_cast<double>(state.iterations());
}
BENCHMARK_CAPTURE(matmul_tiled, gtx480, "gtx480", 20)->Arg(384)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(matmul_tiled, h100, "h100", 32)->Arg(544)->Unit(benchmark::kMillisecond);

}  // namespace

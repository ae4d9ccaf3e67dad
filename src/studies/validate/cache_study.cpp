#include "studies/validate/cache_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "cache/study.h"
#include "exec/arguments.h"
#include "exec/executor.h"
#include "stream/executed.h"
#include "timing/timing.h"

namespace simtlab::studies::validate {
namespace {

// A thread. Not published; few enough that six groups of 256 fit an SM, as its other limits allow. The
// estimate of our PTX is 24, which leaves five: then 16x10 has 9.2 % instead of 11.3 %.
constexpr std::uint32_t registers = 20;
constexpr std::uint32_t nx = 128, ny = 128, nz = 32;  // of the stencil

// A device's memory with the kernels and one launch of one of them.
class Prepared {
 public:
  Prepared(const CacheCase& c, const device::Device& device, const std::string& ptx)
      : memory_(std::uint64_t{1} << 28, 0), module_(ptx::load_module("cache.ptx", ptx), memory_) {
    exec::LaunchParams p;
    p.module = &module_;
    const ptx::Function* function = module_.module().find_function(name_of(c.kernel));
    SIMTLAB_ASSERT(function != nullptr, "the probe file has the kernels of the study");
    p.function = static_cast<std::uint32_t>(function - module_.module().functions.data());
    p.sm_count = device.sm.count;
    p.max_warps_per_sm = device.sm.max_warps;
    p.clock_hz = device.sm_clock_hz;
    const std::uint32_t n = c.width * c.groups;
    std::vector<std::byte> packed;
    if (c.kernel == CacheKernel::stencil) {
      p.grid = {c.warps ? 4u : 2u, ny - 2, nz - 2};
      p.block = {c.warps ? 32u : 64u, 1, 1};
      packed = exec::pack_arguments(buffer(nx * ny * nz), buffer(nx * ny * nz), nx, ny, nz, 0.5f, 0.1f);
    } else {
      p.grid = c.warps ? exec::Dim3{n / 32, n, 1} : exec::Dim3{c.groups, c.groups, 1};
      p.block = c.warps ? exec::Dim3{32, 1, 1} : exec::Dim3{c.width, c.width, 1};
      packed = c.kernel == CacheKernel::transpose
                   ? exec::pack_arguments(buffer(n * n), buffer(n * n), n, n)
                   : exec::pack_arguments(buffer(n * n), buffer(n * n), buffer(n * n), n);
    }
    p.params = packed;
    launch_ = std::make_unique<exec::Launch>(p, memory_);
  }

  const exec::Launch& launch() const { return *launch_; }

 private:
  std::uint64_t buffer(std::uint64_t floats) { return memory_.allocate(floats * 4, "buffer").value(); }

  exec::GlobalMemory memory_;
  exec::LoadedModule module_;
  std::unique_ptr<exec::Launch> launch_;
};

}  // namespace

std::string CacheCase::name() const {
  if (warps) return "one warp";
  return kernel == CacheKernel::stencil ? "64x1" : fmt::format("{}x{}", width, groups);
}

std::string_view name_of(CacheKernel kernel) {
  return kernel == CacheKernel::transpose ? "transpose"
         : kernel == CacheKernel::matmul  ? "matmul"
                                          : "stencil";
}

std::vector<CacheCase> published_cases() {
  std::vector<CacheCase> out;
  for (const CacheKernel kernel : {CacheKernel::transpose, CacheKernel::matmul}) {
    for (const std::uint32_t groups : {2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u})
      out.push_back({kernel, 16, groups});
    if (kernel == CacheKernel::transpose) out.push_back({kernel, 16, 16});
    for (const std::uint32_t groups : {2u, 3u, 4u, 5u}) out.push_back({kernel, 32, groups});
    if (kernel == CacheKernel::transpose) out.push_back({kernel, 32, 10});
  }
  out.push_back({CacheKernel::stencil, 64, 2});
  return out;
}

result::KernelResult run_case(const CacheCase& c, const device::Device& device, const cache::Options& options,
                              const std::string& ptx, const volatile bool* interrupt) {
  const Prepared prepared(c, device, ptx);
  const stream::ExecutedLaunch source(prepared.launch());
  cache::Study study(device, options);
  return study.run({.source = &source,
                    .occupancy = timing::fit(device, source, registers),
                    .buffers = {},
                    .interrupt = interrupt});
}

result::KernelResult time_case(const CacheCase& c, const device::Device& device, const std::string& ptx,
                               const volatile bool* interrupt) {
  const Prepared prepared(c, device, ptx);
  timing::Options options;
  options.interrupt = interrupt;
  options.registers_override = registers;
  timing::CycleGpu gpu(device, options);
  return gpu.run(prepared.launch());
}

}  // namespace simtlab::studies::validate

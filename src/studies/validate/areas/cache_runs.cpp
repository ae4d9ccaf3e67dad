#include "studies/validate/areas/cache_runs.h"

#include <fmt/format.h>

#include "base/error.h"
#include "cache/options.h"
#include "device/catalogue.h"
#include "studies/run/kernel.h"

namespace simtlab::studies::validate {
namespace {

constexpr unsigned nx = 128, ny = 128, nz = 32;  // of the stencil

compile::LaunchOptions launch_of(const CacheCase& c) {
  compile::LaunchOptions out;
  out.kernel = name_of(c.kernel);
  if (c.kernel == CacheKernel::stencil) {
    const std::string buffer = fmt::format("buffer:{}:f32", nx * ny * nz);
    out.global = fmt::format("128x{}x{}", ny - 2, nz - 2);
    out.block = c.warps ? "32" : "64";
    out.args = {
        buffer,    buffer,   fmt::format("s32:{}", nx), fmt::format("s32:{}", ny), fmt::format("s32:{}", nz),
        "f32:0.5", "f32:0.1"};
    return out;
  }
  const unsigned n = c.width * c.groups;
  const std::string buffer = fmt::format("buffer:{0}x{0}:f32", n), size = fmt::format("s32:{}", n);
  if (c.warps)
    out.grid = fmt::format("{}x{}", n / 32, n);
  else
    out.global = fmt::format("{0}x{0}", n);
  out.block = c.warps ? std::string("32x1") : fmt::format("{0}x{0}", c.width);
  out.args = c.kernel == CacheKernel::transpose ? std::vector<std::string>{buffer, buffer, size, size}
                                                : std::vector<std::string>{buffer, buffer, buffer, size};
  return out;
}

result::KernelResult run(const CacheCase& c, const CacheVariant& variant, bool timed) {
  KernelRun kernel;
  kernel.file = (device::data_directory() / "probes" / "cache.cl").string();
  kernel.options = variant.build;
  kernel.launch = launch_of(c);
  RunOptions given;
  given.set("gpu", "gtx480");
  if (!timed) given.set("cache", cache::to_text(cache::parse_options(variant.study)));
  if (!variant.registers.empty()) given.set("regs", variant.registers);
  if (!variant.seed.empty()) given.set("seed", variant.seed);
  for (const auto& [key, value] : variant.settings) given.add("set", fmt::format("{}={}", key, value));
  OutputOptions output;
  output.quiet = true;
  Outcome out = run_kernel(kernel, given, output);
  if (out.failure) throw Error(*out.failure);
  SIMTLAB_ASSERT(out.result && out.result->kernels.size() == 1, "one launch has one result");
  return std::move(out.result->kernels.front());
}

}  // namespace

result::KernelResult run_case(const CacheCase& c, const CacheVariant& variant) {
  return run(c, variant, false);
}
result::KernelResult time_case(const CacheCase& c, const CacheVariant& variant) {
  return run(c, variant, true);
}

}  // namespace simtlab::studies::validate

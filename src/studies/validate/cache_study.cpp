#include "studies/validate/cache_study.h"

#include <fmt/format.h>

namespace simtlab::studies::validate {

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

}  // namespace simtlab::studies::validate

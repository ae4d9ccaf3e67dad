// The three kernels of a published cache study, in all its configurations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::studies::validate {

enum class CacheKernel : std::uint8_t { transpose, matmul, stencil };

struct CacheCase {
  CacheKernel kernel = CacheKernel::transpose;
  std::uint32_t width = 16;  // work-items of a group in x and y; 64 x 1 of the stencil
  std::uint32_t groups = 2;  // in x and y; the stencil has 2 x 126 x 30
  bool warps = false;        // groups of one warp, 32 x 1, over the same elements
  std::string name() const;  // "16x8"
};
std::string_view name_of(CacheKernel kernel);  // "transpose"
// The configurations of the dissertation.
std::vector<CacheCase> published_cases();

}  // namespace simtlab::studies::validate

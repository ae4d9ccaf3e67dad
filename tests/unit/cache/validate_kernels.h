// The three kernels that `simtlab validate cache` runs, the loop of the multiplication unrolled four times.
#pragma once

#include <fstream>
#include <sstream>

#include "kernels.h"

namespace simtlab::cache {

class StudyKernels {
 public:
  bool name_buffers = false;
  std::uint64_t max_bytes = 0;
  std::vector<Buffer> buffers;  // of the last run, if they are named

  result::KernelResult transpose(const device::Device& device, const Options& options, std::uint32_t groups) {
    Kernels k(text());
    const std::uint32_t n = 16 * groups;
    const std::uint64_t in = k.allocate(n * n * 4), out = k.allocate(n * n * 4);
    if (name_buffers) k.buffers = buffers = {{in, in + n * n * 4, "idata"}, {out, out + n * n * 4, "odata"}};
    k.max_bytes = max_bytes;
    return k.run(device, options, "transpose", {groups, groups, 1}, {16, 16, 1}, in, out, n, n);
  }
  result::KernelResult matmul(const device::Device& device, const Options& options, std::uint32_t width,
                              std::uint32_t groups) {
    Kernels k(text());
    const std::uint32_t n = width * groups;
    const std::uint64_t a = k.allocate(n * n * 4), b = k.allocate(n * n * 4), c = k.allocate(n * n * 4);
    if (name_buffers)
      k.buffers = buffers = {{a, a + n * n * 4, "a"}, {b, b + n * n * 4, "b"}, {c, c + n * n * 4, "c"}};
    return k.run(device, options, "matmul", {groups, groups, 1}, {width, width, 1}, a, b, c, n);
  }
  result::KernelResult stencil(const device::Device& device, const Options& options) {
    Kernels k(text());
    const std::uint64_t in = k.allocate(128 * 128 * 32 * 4), out = k.allocate(128 * 128 * 32 * 4);
    return k.run(device, options, "stencil", {2, 126, 30}, {64, 1, 1}, in, out, 128u, 128u, 32u, 0.5f, 0.1f);
  }

 private:
  // Without its .version, .target and .address_size, which Kernels writes.
  static std::string text() {
    std::ifstream file(SIMTLAB_SOURCE_DIR "/data/probes/cache.ptx");
    std::stringstream all;
    all << file.rdbuf();
    const std::string whole = all.str();
    return whole.substr(whole.find("\n", whole.find(".address_size")));
  }
};

}  // namespace simtlab::cache

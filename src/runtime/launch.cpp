#include "runtime/launch.h"

#include <fmt/format.h>

#include <cstring>

#include "runtime/runtime.h"

namespace simtlab::runtime {
namespace {

// CUDA wants an opt-in (cudaFuncSetAttribute) for more shared memory than every device has.
CudaError check_shared(Runtime& runtime, const KernelEntry& entry, const ptx::Function& function,
                       std::size_t dynamic) {
  const device::Device::Sm& sm = runtime.device().sm;
  const std::uint64_t all = dynamic + function.shared_bytes;
  if (all <= sm.shared_bytes_per_block) return success;
  if (all > sm.shared_bytes_per_block_optin) {
    runtime.warn(
        fmt::format("simtlab: error: kernel '{}': {} bytes of shared memory a block, the device has {} "
                    "[launch-resources]\n",
                    entry.name, all, sm.shared_bytes_per_block_optin));
    return error_invalid_value;
  }
  if (dynamic <= entry.max_dynamic_shared) return success;
  runtime.warn(
      fmt::format("simtlab: error: kernel '{}': {} bytes of shared memory a block need an opt-in above {} "
                  "[launch-resources]\n"
                  "  hint: cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, {})\n",
                  entry.name, all, sm.shared_bytes_per_block, dynamic));
  return error_invalid_value;
}

}  // namespace

CudaError launch(Runtime& runtime, const void* host, const Dim3Arg& grid, const Dim3Arg& block,
                 void** arguments, std::size_t shared, StreamHandle stream_handle) {
  KernelEntry* entry = runtime.images.find_kernel(host);
  if (entry == nullptr) return error_invalid_device_function;
  gpu::Gpu& gpu = runtime.gpu();
  const std::optional<gpu::StreamId> stream = runtime.stream(stream_handle);
  if (!stream) return error_invalid_resource_handle;
  const gpu::Kernel kernel = runtime.images.resolve(*entry, gpu);
  const ptx::Function& function = gpu.module(kernel.module).functions[kernel.function];
  const CudaError fits = check_shared(runtime, *entry, function, shared);
  if (fits != success) return fits;

  // Callers do not pass sizes: the kernel's own parameter list says how much to read.
  std::vector<std::byte> block_of_parameters(function.param_bytes);
  if (!function.params.empty() && arguments == nullptr) return error_invalid_value;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const ptx::Param& p = function.params[i];
    if (arguments[i] == nullptr) return error_invalid_value;
    std::memcpy(block_of_parameters.data() + p.offset, arguments[i], p.bytes);
  }
  gpu.launch(kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z},
             static_cast<std::uint32_t>(shared), block_of_parameters, *stream);
  return success;
}

CudaError check_attributes(Runtime& runtime, const LaunchConfig& config) {
  const auto* attributes = static_cast<const LaunchAttribute*>(config.attributes);
  for (unsigned i = 0; i < config.attribute_count; ++i) {
    const LaunchAttribute& a = attributes[i];
    constexpr int cooperative = 2, cluster = 4;
    if (a.id == cooperative && a.integer != 0)
      return runtime.unsupported("cudaLaunchKernelExC", "cooperative launches (grid-wide synchronisation)");
    if (a.id == cluster) {
      Dim3Arg size{};
      std::memcpy(&size, a.bytes, sizeof size);
      if (std::uint64_t{size.x} * size.y * size.z > 1)
        return runtime.unsupported("cudaLaunchKernelExC", "thread block clusters");
    }
  }
  return success;
}

}  // namespace simtlab::runtime

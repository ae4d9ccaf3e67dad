#include "hosts/cuda/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hosts/cuda/runtime.h"

namespace simtlab::hosts::cuda {
namespace {

// CUDA wants an opt-in (cudaFuncSetAttribute) for more shared memory than every device has.
CudaError check_shared(Runtime& runtime, const KernelEntry& entry, const ptx::Function& function,
                       std::size_t dynamic) {
  const device::Device::Sm& sm = runtime.device().sm;
  const std::uint64_t all = dynamic + function.shared_bytes;
  if (all <= sm.shared_bytes_per_block) return success;
  if (all > sm.shared_bytes_per_block_optin) {
    runtime.refuse_launch(
        fmt::format("simtlab: error: kernel '{}': {} bytes of shared memory a block, the device has {} "
                    "[launch-resources]\n",
                    entry.name, all, sm.shared_bytes_per_block_optin));
    return error_invalid_value;
  }
  if (dynamic <= entry.max_dynamic_shared) return success;
  runtime.refuse_launch(
      fmt::format("simtlab: error: kernel '{}': {} bytes of shared memory a block need an opt-in above {} "
                  "[launch-resources]\n"
                  "  hint: cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, {})\n",
                  entry.name, all, sm.shared_bytes_per_block, dynamic));
  return error_invalid_value;
}

// CUDA wants an opt-in (cudaFuncSetAttribute) for clusters larger than every device with clusters takes; what
// else is wrong with one the launch says. Takes over the size that cudaFuncSetAttribute requires.
CudaError check_cluster(Runtime& runtime, const KernelEntry& entry, const ptx::Function& function,
                        std::optional<Dim3Arg>& cluster) {
  if (!cluster && entry.cluster.x != 0) cluster = entry.cluster;
  const Dim3Arg size =
      cluster.value_or(Dim3Arg{function.req_cluster[0], function.req_cluster[1], function.req_cluster[2]});
  const std::uint64_t blocks =
      std::uint64_t{std::max(size.x, 1u)} * std::max(size.y, 1u) * std::max(size.z, 1u);
  const unsigned most = runtime.device().shared.cluster_blocks;
  if (most == 0 || blocks <= most || entry.non_portable_cluster) return success;
  runtime.refuse_launch(fmt::format(
      "simtlab: error: kernel '{}': a cluster of {} blocks needs an opt-in above {} [launch-cluster]\n"
      "  hint: cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1)\n",
      entry.name, blocks, most));
  return error_invalid_cluster_size;
}

// The kernel's own parameter list says how much to read.
CudaError copy_arguments(const ptx::Function& function, const Arguments& arguments,
                         std::vector<std::byte>& out) {
  out.assign(function.param_bytes, std::byte{});
  if (arguments.packed != nullptr) {
    if (arguments.packed_bytes < out.size()) return error_invalid_value;
    std::memcpy(out.data(), arguments.packed, out.size());
    return success;
  }
  if (!function.params.empty() && arguments.each == nullptr) return error_invalid_value;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const ptx::Param& p = function.params[i];
    if (arguments.each[i] == nullptr) return error_invalid_value;
    std::memcpy(out.data() + p.offset, arguments.each[i], p.bytes);
  }
  return success;
}

CudaError prepare_kernel(Runtime& runtime, KernelEntry& entry, const Dim3Arg& grid, const Dim3Arg& block,
                         const Arguments& arguments, std::size_t shared, std::optional<Dim3Arg> cluster,
                         PreparedLaunch& out) {
  gpu::Gpu& gpu = runtime.gpu();
  out.kernel = runtime.images.resolve(entry, gpu);
  const ptx::Function& function = gpu.module(out.kernel.module).functions[out.kernel.function];
  const CudaError fits = check_shared(runtime, entry, function, shared);
  if (fits != success) return fits;
  const CudaError shape = check_cluster(runtime, entry, function, cluster);
  if (shape != success) return shape;
  const CudaError copied = copy_arguments(function, arguments, out.parameters);
  if (copied != success) return copied;
  out.grid = grid;
  out.block = block;
  out.cluster = cluster;
  out.shared = static_cast<std::uint32_t>(shared);
  return success;
}

}  // namespace

CudaError prepare(Runtime& runtime, const void* host, const Dim3Arg& grid, const Dim3Arg& block,
                  void** arguments, std::size_t shared, PreparedLaunch& out) {
  KernelEntry* const entry = runtime.find_kernel(host);
  if (entry == nullptr) return error_invalid_device_function;
  return prepare_kernel(runtime, *entry, grid, block, {.each = arguments}, shared, {}, out);
}

SubmitNode submit_of(PreparedLaunch launch) {
  return [l = std::move(launch)](Runtime& runtime, StreamHandle handle, bool first) {
    const std::optional<gpu::StreamId> stream = runtime.stream(handle);
    if (!stream) return error_invalid_resource_handle;
    std::optional<exec::Dim3> cluster;
    if (l.cluster) cluster = exec::Dim3{l.cluster->x, l.cluster->y, l.cluster->z};
    runtime.gpu().launch(l.kernel, {l.grid.x, l.grid.y, l.grid.z}, {l.block.x, l.block.y, l.block.z},
                         l.shared, l.parameters, *stream, !first, cluster);
    return success;
  };
}

CudaError launch(Runtime& runtime, KernelEntry& entry, const Dim3Arg& grid, const Dim3Arg& block,
                 const Arguments& arguments, std::size_t shared, StreamHandle stream_handle,
                 std::optional<Dim3Arg> cluster) {
  runtime.gpu();
  const std::optional<gpu::StreamId> stream = runtime.stream(stream_handle);
  if (!stream) return error_invalid_resource_handle;
  PreparedLaunch prepared;
  const CudaError code = prepare_kernel(runtime, entry, grid, block, arguments, shared, cluster, prepared);
  if (code != success) return code;
  if (runtime.graphs.capture_of(*stream) == nullptr)
    return submit_of(std::move(prepared))(runtime, stream_handle, true);
  runtime.graphs.add(*stream, NodeType::kernel)->submit = submit_of(std::move(prepared));
  return success;
}

CudaError launch(Runtime& runtime, const void* host, const Dim3Arg& grid, const Dim3Arg& block,
                 void** arguments, std::size_t shared, StreamHandle stream, std::optional<Dim3Arg> cluster) {
  KernelEntry* const entry = runtime.find_kernel(host);
  if (entry == nullptr) return error_invalid_device_function;
  return launch(runtime, *entry, grid, block, {.each = arguments}, shared, stream, cluster);
}

CudaError read_attributes(Runtime& runtime, const void* list, unsigned count, const char* caller,
                          std::optional<Dim3Arg>& out) {
  const auto* attributes = static_cast<const LaunchAttribute*>(list);
  for (unsigned i = 0; i < count; ++i) {
    const LaunchAttribute& a = attributes[i];
    constexpr int cooperative = 2, cluster = 4;
    if (a.id == cooperative && a.integer != 0)
      return runtime.unsupported(caller, "cooperative launches (grid-wide synchronisation)");
    if (a.id == cluster) {
      Dim3Arg size{};
      std::memcpy(&size, a.bytes, sizeof size);
      if (size.x == 0 || size.y == 0 || size.z == 0) return error_invalid_value;
      out = size;
    }
  }
  return success;
}

}  // namespace simtlab::hosts::cuda

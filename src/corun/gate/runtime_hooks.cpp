// Launches of the CUDA runtime: every form that programs of nvcc and clang use. Forms with _ptsz are those of
// programs compiled for per-thread default streams.
#include <utility>
#include <vector>

#include "corun/gate/driver_hooks.h"
#include "corun/gate/gate.h"
#include "corun/gate/real.h"
#include "hosts/cuda/cuda_api.h"

using namespace simtlab;
using corun::gate::gated;
using hosts::cuda::Dim3Arg;

namespace {

constexpr const char* unnamed = "(unnamed kernel)";

corun::gate::Shape shape_of(const Dim3Arg& grid, const Dim3Arg& block, std::size_t shared,
                            corun::live::Unit unit = corun::live::Unit::kernel) {
  return {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, static_cast<std::uint32_t>(shared), unit};
}

corun::gate::Shape shape_of(const hosts::cuda::LaunchConfig& config) {
  const auto* attributes = static_cast<const hosts::cuda::LaunchAttribute*>(config.attributes);
  corun::live::Unit unit = corun::live::Unit::kernel;
  for (unsigned i = 0; attributes != nullptr && i < config.attribute_count; ++i)
    if (constexpr int id = 2; attributes[i].id == id && attributes[i].integer != 0)
      unit = corun::live::Unit::cooperative;
  return shape_of(config.grid, config.block, config.shared_bytes, unit);
}

// What cudaConfigureCall has said for the next cudaLaunch of this thread (CUDA up to 9).
struct OldCall {
  corun::gate::Shape shape;
  void* stream = nullptr;
};
std::vector<OldCall>& old_calls() {
  thread_local std::vector<OldCall> calls;
  return calls;
}

}  // namespace

// ---- names

SIMTLAB_HOOK(void, __cudaRegisterFunction,
             (void** image, const char* host, char* device, const char* name, int limit, void* a, void* b,
              void* c, void* d, int* size)) {
  corun::gate::Gate::get().name(host, name);
  SIMTLAB_REAL_OR(__cudaRegisterFunction, static_cast<void>(corun::gate::nowhere("__cudaRegisterFunction")));
  real(image, host, device, name, limit, a, b, c, d, size);
}

SIMTLAB_HOOK(int, __cudaGetKernel, (const void** kernel, const void* host)) {
  SIMTLAB_REAL(__cudaGetKernel);
  const int code = real(kernel, host);
  if (kernel != nullptr && *kernel != host) corun::gate::Gate::get().same(*kernel, host);
  return code;
}

// ---- errors: a call of ours that led nowhere is one of the program's

SIMTLAB_HOOK(int, cudaGetLastError, ()) {
  const int failed = std::exchange(corun::gate::failed_call(), 0);
  SIMTLAB_REAL_OR(cudaGetLastError, failed);
  const int code = real();
  return failed != 0 ? failed : code;
}

SIMTLAB_HOOK(int, cudaPeekAtLastError, ()) {
  SIMTLAB_REAL_OR(cudaPeekAtLastError, corun::gate::failed_call());
  return corun::gate::failed_call() != 0 ? corun::gate::failed_call() : real();
}

// ---- launches

#define SIMTLAB_LAUNCH(name, per_thread, unit)                                                           \
  SIMTLAB_HOOK(int, name,                                                                                \
               (const void* function, Dim3Arg grid, Dim3Arg block, void** arguments, std::size_t shared, \
                void* stream)) {                                                                         \
    SIMTLAB_REAL(name);                                                                                  \
    return gated(*target->events, corun::gate::stream_of(stream, per_thread), function, unnamed,         \
                 shape_of(grid, block, shared, unit),                                                    \
                 [&] { return real(function, grid, block, arguments, shared, stream); });                \
  }
SIMTLAB_LAUNCH(cudaLaunchKernel, false, corun::live::Unit::kernel)
SIMTLAB_LAUNCH(cudaLaunchKernel_ptsz, true, corun::live::Unit::kernel)
SIMTLAB_LAUNCH(__cudaLaunchKernel, false, corun::live::Unit::kernel)
SIMTLAB_LAUNCH(__cudaLaunchKernel_ptsz, true, corun::live::Unit::kernel)
SIMTLAB_LAUNCH(cudaLaunchCooperativeKernel, false, corun::live::Unit::cooperative)
SIMTLAB_LAUNCH(cudaLaunchCooperativeKernel_ptsz, true, corun::live::Unit::cooperative)

#define SIMTLAB_LAUNCH_EX(name, per_thread)                                                             \
  SIMTLAB_HOOK(int, name,                                                                               \
               (const hosts::cuda::LaunchConfig* config, const void* function, void** arguments)) {     \
    SIMTLAB_REAL(name);                                                                                 \
    if (config == nullptr) return real(config, function, arguments);                                    \
    return gated(*target->events,                                                                       \
                 corun::gate::stream_of(reinterpret_cast<void*>(config->stream), per_thread), function, \
                 unnamed, shape_of(*config), [&] { return real(config, function, arguments); });        \
  }
SIMTLAB_LAUNCH_EX(cudaLaunchKernelExC, false)
SIMTLAB_LAUNCH_EX(cudaLaunchKernelExC_ptsz, true)

// A graph is one unit: its kernels may need each other.
#define SIMTLAB_GRAPH(name, per_thread)                                                           \
  SIMTLAB_HOOK(int, name, (void* program, void* stream)) {                                        \
    SIMTLAB_REAL(name);                                                                           \
    return gated(*target->events, corun::gate::stream_of(stream, per_thread), program, "(graph)", \
                 {{1, 1, 1}, {1, 1, 1}, 0, corun::live::Unit::graph},                             \
                 [&] { return real(program, stream); });                                          \
  }
SIMTLAB_GRAPH(cudaGraphLaunch, false)
SIMTLAB_GRAPH(cudaGraphLaunch_ptsz, true)

// Before CUDA 9.2.
SIMTLAB_HOOK(int, cudaConfigureCall, (Dim3Arg grid, Dim3Arg block, std::size_t shared, void* stream)) {
  SIMTLAB_REAL(cudaConfigureCall);
  const int code = real(grid, block, shared, stream);
  if (code == 0) old_calls().push_back({shape_of(grid, block, shared), stream});
  return code;
}
#define SIMTLAB_OLD_LAUNCH(name, per_thread)                                                          \
  SIMTLAB_HOOK(int, name, (const void* function)) {                                                   \
    SIMTLAB_REAL(name);                                                                               \
    OldCall call;                                                                                     \
    if (!old_calls().empty()) {                                                                       \
      call = old_calls().back();                                                                      \
      old_calls().pop_back();                                                                         \
    }                                                                                                 \
    return gated(*target->events, corun::gate::stream_of(call.stream, per_thread), function, unnamed, \
                 call.shape, [&] { return real(function); });                                         \
  }
SIMTLAB_OLD_LAUNCH(cudaLaunch, false)
SIMTLAB_OLD_LAUNCH(cudaLaunch_ptsz, true)

// Its kernels wait for one another on several devices: no device's limit may hold one of them back.
SIMTLAB_HOOK(int, cudaLaunchCooperativeKernelMultiDevice, (void* launches, unsigned count, unsigned flags)) {
  SIMTLAB_REAL(cudaLaunchCooperativeKernelMultiDevice);
  return corun::gate::ungated(corun::live::Ungated::several_devices, count,
                              [&] { return real(launches, count, flags); });
}

// ---- the runtime's way to functions of the driver

#define SIMTLAB_ENTRY_POINT(name, flags_when_default)                                                      \
  SIMTLAB_HOOK(int, name, (const char* symbol, void** function, unsigned long long flags, void* status)) { \
    SIMTLAB_REAL(name);                                                                                    \
    const int code = real(symbol, function, flags, status);                                                \
    if (code == 0)                                                                                         \
      corun::gate::exchange_driver(symbol, function, 0, flags == 0 ? flags_when_default : flags,           \
                                   __builtin_return_address(0));                                           \
    return code;                                                                                           \
  }
SIMTLAB_ENTRY_POINT(cudaGetDriverEntryPoint, 0u)
SIMTLAB_ENTRY_POINT(cudaGetDriverEntryPoint_ptsz, corun::gate::per_thread_flag)

#define SIMTLAB_ENTRY_POINT_BY_VERSION(name, flags_when_default)                                          \
  SIMTLAB_HOOK(                                                                                           \
      int, name,                                                                                          \
      (const char* symbol, void** function, unsigned version, unsigned long long flags, void* status)) {  \
    SIMTLAB_REAL(name);                                                                                   \
    const int code = real(symbol, function, version, flags, status);                                      \
    if (code == 0)                                                                                        \
      corun::gate::exchange_driver(symbol, function, static_cast<int>(version),                           \
                                   flags == 0 ? flags_when_default : flags, __builtin_return_address(0)); \
    return code;                                                                                          \
  }
SIMTLAB_ENTRY_POINT_BY_VERSION(cudaGetDriverEntryPointByVersion, 0u)
SIMTLAB_ENTRY_POINT_BY_VERSION(cudaGetDriverEntryPointByVersion_ptsz, corun::gate::per_thread_flag)

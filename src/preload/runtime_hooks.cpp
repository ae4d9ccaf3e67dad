// Launches of the CUDA runtime: every form that programs of nvcc and clang use. Forms with _ptsz are those of programs compiled for
// per-thread default streams.
#include "preload/gate.h"
#include "preload/real.h"
#include "runtime/cuda_api.h"

using namespace simtlab;
using preload::gated;
using runtime::Dim3Arg;

namespace {

preload::Shape shape_of(const Dim3Arg& grid, const Dim3Arg& block, std::size_t shared, live::Unit unit = live::Unit::kernel) {
  return {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, static_cast<std::uint32_t>(shared), unit};
}

bool cooperative(const runtime::LaunchConfig& config) {
  const auto* attributes = static_cast<const runtime::LaunchAttribute*>(config.attributes);
  for (unsigned i = 0; attributes != nullptr && i < config.attribute_count; ++i)
    if (constexpr int id = 2; attributes[i].id == id && attributes[i].integer != 0) return true;
  return false;
}

}  // namespace

const preload::EventApi& preload::runtime_events() {
  static const EventApi api = [] {
    EventApi out;
    out.create = next<int(void**, unsigned)>("cudaEventCreateWithFlags");
    out.record = next<int(void*, void*)>("cudaEventRecord");
    out.query = next<int(void*)>("cudaEventQuery");
    out.elapsed = next<int(float*, void*, void*)>("cudaEventElapsedTime");
    out.capturing = next<int(void*, int*)>("cudaStreamIsCapturing");
    out.capture_mode = next<int(int*)>("cudaThreadExchangeStreamCaptureMode");
    out.get_place = [](std::uintptr_t* place) {
      static auto* const real = next<int(int*)>("cudaGetDevice");
      int device = 0;
      const int code = real == nullptr ? 0 : real(&device);
      *place = static_cast<std::uintptr_t>(device);
      return code;
    };
    out.code = [](const void* function, std::uint32_t* registers, std::uint32_t* shared_bytes) {
      static auto* const real = next<int(void*, const void*)>("cudaFuncGetAttributes");
      if (real == nullptr) return 0;
      // cudaFuncAttributes: three sizes, the most threads, the registers; later versions have more behind them.
      struct { std::size_t shared, constant, local; int most_threads, registers, later[250]; } attributes{};
      const int code = real(&attributes, function);
      *registers = static_cast<std::uint32_t>(attributes.registers), *shared_bytes = static_cast<std::uint32_t>(attributes.shared);
      return code;
    };
    out.forget_error = [] {
      static auto* const real = next<int()>("cudaGetLastError");
      if (real != nullptr) real();
    };
    return out;
  }();
  return api;
}

// ---- names

SIMTLAB_HOOK void __cudaRegisterFunction(void** image, const char* host, char* device, const char* name, int limit, void* a, void* b, void* c, void* d, int* size) {
  static auto* const real = preload::next<decltype(__cudaRegisterFunction)>("__cudaRegisterFunction");
  preload::Gate::get().name(host, name);
  if (real != nullptr) real(image, host, device, name, limit, a, b, c, d, size);
}

SIMTLAB_HOOK int __cudaGetKernel(const void** kernel, const void* host) {
  SIMTLAB_REAL(__cudaGetKernel);
  const int code = real(kernel, host);
  if (kernel != nullptr && *kernel != host) preload::Gate::get().same(*kernel, host);
  return code;
}

// ---- launches

#define SIMTLAB_LAUNCH(name, per_thread, unit)                                                                                    \
  SIMTLAB_HOOK int name(const void* function, Dim3Arg grid, Dim3Arg block, void** arguments, std::size_t shared, void* stream) {  \
    SIMTLAB_REAL(name);                                                                                                           \
    return gated(preload::runtime_events(), preload::stream_of(stream, per_thread), function, "(unnamed kernel)",                 \
                 shape_of(grid, block, shared, unit), [&] { return real(function, grid, block, arguments, shared, stream); });    \
  }
SIMTLAB_LAUNCH(cudaLaunchKernel, false, live::Unit::kernel)
SIMTLAB_LAUNCH(cudaLaunchKernel_ptsz, true, live::Unit::kernel)
SIMTLAB_LAUNCH(__cudaLaunchKernel, false, live::Unit::kernel)
SIMTLAB_LAUNCH(__cudaLaunchKernel_ptsz, true, live::Unit::kernel)
SIMTLAB_LAUNCH(cudaLaunchCooperativeKernel, false, live::Unit::cooperative)
SIMTLAB_LAUNCH(cudaLaunchCooperativeKernel_ptsz, true, live::Unit::cooperative)

#define SIMTLAB_LAUNCH_EX(name, per_thread)                                                                                          \
  SIMTLAB_HOOK int name(const runtime::LaunchConfig* config, const void* function, void** arguments) {                               \
    SIMTLAB_REAL(name);                                                                                                              \
    if (config == nullptr) return real(config, function, arguments);                                                                 \
    return gated(preload::runtime_events(), preload::stream_of(reinterpret_cast<void*>(config->stream), per_thread), function,       \
                 "(unnamed kernel)", shape_of(config->grid, config->block, config->shared_bytes, cooperative(*config) ? live::Unit::cooperative : live::Unit::kernel), \
                 [&] { return real(config, function, arguments); });                                                                 \
  }
SIMTLAB_LAUNCH_EX(cudaLaunchKernelExC, false)
SIMTLAB_LAUNCH_EX(cudaLaunchKernelExC_ptsz, true)

// A graph is one unit: its kernels may need each other.
#define SIMTLAB_GRAPH(name, per_thread)                                                                                                 \
  SIMTLAB_HOOK int name(void* program, void* stream) {                                                                                  \
    SIMTLAB_REAL(name);                                                                                                                 \
    preload::Shape shape;                                                                                                               \
    shape.unit = live::Unit::graph;                                                                                                     \
    return gated(preload::runtime_events(), preload::stream_of(stream, per_thread), program, "(graph)", shape, [&] { return real(program, stream); });     \
  }
SIMTLAB_GRAPH(cudaGraphLaunch, false)
SIMTLAB_GRAPH(cudaGraphLaunch_ptsz, true)

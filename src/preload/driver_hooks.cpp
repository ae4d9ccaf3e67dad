// Launches of the CUDA driver, for programs that call it themselves: by name, or by cuGetProcAddress.
#include <string>
#include <string_view>

#include "preload/gate.h"
#include "preload/real.h"

using namespace simtlab;
using preload::gated;

namespace {

// As cuda.h lays it out.
struct DriverConfig {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  const void* attributes;
  unsigned attribute_count;
};

}  // namespace

const preload::EventApi& preload::driver_events() {
  static const EventApi api = [] {
    EventApi out;
    out.create = next<int(void**, unsigned)>("cuEventCreate");
    out.record = next<int(void*, void*)>("cuEventRecord");
    out.query = next<int(void*)>("cuEventQuery");
    out.elapsed = next<int(float*, void*, void*)>("cuEventElapsedTime");
    out.capturing = next<int(void*, int*)>("cuStreamIsCapturing");
    out.capture_mode = next<int(int*)>("cuThreadExchangeStreamCaptureMode");
    out.get_place = [](std::uintptr_t* place) {
      static auto* const real = next<int(void**)>("cuCtxGetCurrent");
      void* context = nullptr;
      const int code = real == nullptr ? 0 : real(&context);
      *place = reinterpret_cast<std::uintptr_t>(context);
      return code;
    };
    out.code = [](const void* function, std::uint32_t* registers, std::uint32_t* shared_bytes) {
      static auto* const real = next<int(int*, int, void*)>("cuFuncGetAttribute");
      if (real == nullptr) return 0;
      constexpr int shared_attribute = 1, registers_attribute = 4;   // CUfunction_attribute
      int shared = 0, used = 0;
      const int code = real(&shared, shared_attribute, const_cast<void*>(function)), more = real(&used, registers_attribute, const_cast<void*>(function));
      *registers = static_cast<std::uint32_t>(used), *shared_bytes = static_cast<std::uint32_t>(shared);
      return code != 0 ? code : more;
    };
    // Events are asked in the context that they are of.
    out.set_place = [](std::uintptr_t place) {
      static auto* const real = next<int(void*)>("cuCtxSetCurrent");
      thread_local std::uintptr_t current = 0;
      if (real == nullptr || place == current) return 0;
      current = place;
      return real(reinterpret_cast<void*>(place));
    };
    return out;
  }();
  return api;
}

SIMTLAB_HOOK int cuModuleGetFunction(void** function, void* module, const char* name) {
  SIMTLAB_REAL(cuModuleGetFunction);
  const int code = real(function, module, name);
  if (code == 0 && function != nullptr) preload::Gate::get().name(*function, name);
  return code;
}

#define SIMTLAB_DRIVER_LAUNCH(name, per_thread)                                                                                                   \
  SIMTLAB_HOOK int name(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void* stream,      \
                        void** arguments, void** extra) {                                                                                        \
    SIMTLAB_REAL(name);                                                                                                                           \
    return gated(preload::driver_events(), preload::stream_of(stream, per_thread), f, "(unnamed kernel)", {{gx, gy, gz}, {bx, by, bz}, shared, live::Unit::kernel}, \
                 [&] { return real(f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra); });                                              \
  }
SIMTLAB_DRIVER_LAUNCH(cuLaunchKernel, false)
SIMTLAB_DRIVER_LAUNCH(cuLaunchKernel_ptsz, true)

#define SIMTLAB_DRIVER_COOPERATIVE(name, per_thread)                                                                                              \
  SIMTLAB_HOOK int name(void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void* stream,      \
                        void** arguments) {                                                                                                       \
    SIMTLAB_REAL(name);                                                                                                                           \
    return gated(preload::driver_events(), preload::stream_of(stream, per_thread), f, "(unnamed kernel)",                                        \
                 {{gx, gy, gz}, {bx, by, bz}, shared, live::Unit::cooperative}, [&] { return real(f, gx, gy, gz, bx, by, bz, shared, stream, arguments); }); \
  }
SIMTLAB_DRIVER_COOPERATIVE(cuLaunchCooperativeKernel, false)
SIMTLAB_DRIVER_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, true)

#define SIMTLAB_DRIVER_EX(name, per_thread)                                                                                                \
  SIMTLAB_HOOK int name(const DriverConfig* c, void* f, void** arguments, void** extra) {                                                   \
    SIMTLAB_REAL(name);                                                                                                                    \
    if (c == nullptr) return real(c, f, arguments, extra);                                                                                 \
    return gated(preload::driver_events(), preload::stream_of(c->stream, per_thread), f, "(unnamed kernel)",                               \
                 {{c->grid[0], c->grid[1], c->grid[2]}, {c->block[0], c->block[1], c->block[2]}, c->shared_bytes, live::Unit::kernel},     \
                 [&] { return real(c, f, arguments, extra); });                                                                            \
  }
SIMTLAB_DRIVER_EX(cuLaunchKernelEx, false)
SIMTLAB_DRIVER_EX(cuLaunchKernelEx_ptsz, true)

#define SIMTLAB_DRIVER_GRAPH(name, per_thread)                                                                                                     \
  SIMTLAB_HOOK int name(void* program, void* stream) {                                                                                            \
    SIMTLAB_REAL(name);                                                                                                                           \
    return gated(preload::driver_events(), preload::stream_of(stream, per_thread), program, "(graph)", {{1, 1, 1}, {1, 1, 1}, 0, live::Unit::graph}, \
                 [&] { return real(program, stream); });                                                                                          \
  }
SIMTLAB_DRIVER_GRAPH(cuGraphLaunch, false)
SIMTLAB_DRIVER_GRAPH(cuGraphLaunch_ptsz, true)

// The driver's own way to its functions. What is ours is answered with ours, in the flavour that was asked for.
namespace {

void* hook_of(std::string_view name, bool per_thread) {
  struct Hook {
    std::string_view name;
    void *legacy, *per_thread;
  };
  static const Hook hooks[] = {
      {"cuLaunchKernel", reinterpret_cast<void*>(&cuLaunchKernel), reinterpret_cast<void*>(&cuLaunchKernel_ptsz)},
      {"cuLaunchKernelEx", reinterpret_cast<void*>(&cuLaunchKernelEx), reinterpret_cast<void*>(&cuLaunchKernelEx_ptsz)},
      {"cuLaunchCooperativeKernel", reinterpret_cast<void*>(&cuLaunchCooperativeKernel), reinterpret_cast<void*>(&cuLaunchCooperativeKernel_ptsz)},
      {"cuGraphLaunch", reinterpret_cast<void*>(&cuGraphLaunch), reinterpret_cast<void*>(&cuGraphLaunch_ptsz)},
      {"cuModuleGetFunction", reinterpret_cast<void*>(&cuModuleGetFunction), reinterpret_cast<void*>(&cuModuleGetFunction)},
  };
  for (const Hook& hook : hooks)
    if (hook.name == name) return per_thread ? hook.per_thread : hook.legacy;
  return nullptr;
}

constexpr std::uint64_t per_thread_flag = 2;

// Only if the exported function is there too: it is what the hook calls.
void exchange(const char* name, void** function, std::uint64_t flags) {
  if (name == nullptr || function == nullptr || *function == nullptr) return;
  const bool per_thread = (flags & per_thread_flag) != 0;
  void* const hook = hook_of(name, per_thread);
  if (hook != nullptr && ::dlsym(RTLD_NEXT, (std::string(name) + (per_thread && std::string_view(name) != "cuModuleGetFunction" ? "_ptsz" : "")).c_str()) != nullptr) *function = hook;
}

}  // namespace

SIMTLAB_HOOK int cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
  SIMTLAB_REAL(cuGetProcAddress);
  const int code = real(name, function, version, flags);
  if (code == 0) exchange(name, function, flags);
  return code;
}

SIMTLAB_HOOK int cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags, int* status) {
  SIMTLAB_REAL(cuGetProcAddress_v2);
  const int code = real(name, function, version, flags, status);
  if (code == 0) exchange(name, function, flags);
  return code;
}

// Launches of the CUDA driver: by name, by dlsym, or by cuGetProcAddress. So do programs that call it
// themselves, Triton and JAX, and every CUDA runtime that is linked in statically.
#include "corun/gate/driver_hooks.h"

#include <string>
#include <string_view>

#include "corun/gate/gate.h"
#include "corun/gate/real.h"

using namespace simtlab;
using corun::gate::gated;

namespace {

constexpr const char* unnamed = "(unnamed kernel)";

// As cuda.h lays it out.
struct DriverConfig {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  const void* attributes;
  unsigned attribute_count;
};

}  // namespace

// ---- names

SIMTLAB_HOOK(int, cuModuleGetFunction, (void** function, void* module, const char* name)) {
  SIMTLAB_REAL(cuModuleGetFunction);
  const int code = real(function, module, name);
  if (code == 0 && function != nullptr) corun::gate::Gate::get().name(*function, name);
  return code;
}
// A CUkernel is launched as it is, or as the function of a context.
SIMTLAB_HOOK(int, cuLibraryGetKernel, (void** kernel, void* library, const char* name)) {
  SIMTLAB_REAL(cuLibraryGetKernel);
  const int code = real(kernel, library, name);
  if (code == 0 && kernel != nullptr) corun::gate::Gate::get().name(*kernel, name);
  return code;
}
SIMTLAB_HOOK(int, cuKernelGetFunction, (void** function, void* kernel)) {
  SIMTLAB_REAL(cuKernelGetFunction);
  const int code = real(function, kernel);
  if (code == 0 && function != nullptr && *function != kernel)
    corun::gate::Gate::get().same(*function, kernel);
  return code;
}

// ---- launches

#define SIMTLAB_DRIVER_LAUNCH(name, per_thread)                                                        \
  SIMTLAB_HOOK(int, name,                                                                              \
               (void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
                unsigned shared, void* stream, void** arguments, void** extra)) {                      \
    SIMTLAB_REAL(name);                                                                                \
    return gated(*target->events, corun::gate::stream_of(stream, per_thread), f, unnamed,              \
                 {{gx, gy, gz}, {bx, by, bz}, shared, corun::live::Unit::kernel},                      \
                 [&] { return real(f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra); });   \
  }
SIMTLAB_DRIVER_LAUNCH(cuLaunchKernel, false)
SIMTLAB_DRIVER_LAUNCH(cuLaunchKernel_ptsz, true)

#define SIMTLAB_DRIVER_COOPERATIVE(name, per_thread)                                                   \
  SIMTLAB_HOOK(int, name,                                                                              \
               (void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
                unsigned shared, void* stream, void** arguments)) {                                    \
    SIMTLAB_REAL(name);                                                                                \
    return gated(*target->events, corun::gate::stream_of(stream, per_thread), f, unnamed,              \
                 {{gx, gy, gz}, {bx, by, bz}, shared, corun::live::Unit::cooperative},                 \
                 [&] { return real(f, gx, gy, gz, bx, by, bz, shared, stream, arguments); });          \
  }
SIMTLAB_DRIVER_COOPERATIVE(cuLaunchCooperativeKernel, false)
SIMTLAB_DRIVER_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, true)

#define SIMTLAB_DRIVER_EX(name, per_thread)                                                   \
  SIMTLAB_HOOK(int, name, (const DriverConfig* c, void* f, void** arguments, void** extra)) { \
    SIMTLAB_REAL(name);                                                                       \
    if (c == nullptr) return real(c, f, arguments, extra);                                    \
    return gated(*target->events, corun::gate::stream_of(c->stream, per_thread), f, unnamed,  \
                 {{c->grid[0], c->grid[1], c->grid[2]},                                       \
                  {c->block[0], c->block[1], c->block[2]},                                    \
                  c->shared_bytes,                                                            \
                  corun::live::Unit::kernel},                                                 \
                 [&] { return real(c, f, arguments, extra); });                               \
  }
SIMTLAB_DRIVER_EX(cuLaunchKernelEx, false)
SIMTLAB_DRIVER_EX(cuLaunchKernelEx_ptsz, true)

#define SIMTLAB_DRIVER_GRAPH(name, per_thread)                                                    \
  SIMTLAB_HOOK(int, name, (void* program, void* stream)) {                                        \
    SIMTLAB_REAL(name);                                                                           \
    return gated(*target->events, corun::gate::stream_of(stream, per_thread), program, "(graph)", \
                 {{1, 1, 1}, {1, 1, 1}, 0, corun::live::Unit::graph},                             \
                 [&] { return real(program, stream); });                                          \
  }
SIMTLAB_DRIVER_GRAPH(cuGraphLaunch, false)
SIMTLAB_DRIVER_GRAPH(cuGraphLaunch_ptsz, true)

// Before CUDA 4; the driver still has them. The block is what cuFuncSetBlockShape has said.
#define SIMTLAB_OLD_DRIVER_LAUNCH(name, parameters, arguments, grid, stream)                       \
  SIMTLAB_HOOK(int, name, parameters) {                                                            \
    SIMTLAB_REAL(name);                                                                            \
    return gated(*target->events, corun::gate::stream_of(stream, false), f, unnamed,               \
                 {grid, {1, 1, 1}, 0, corun::live::Unit::kernel}, [&] { return real arguments; }); \
  }
#define SIMTLAB_GRID(x, y) \
  { x, y, 1 }
SIMTLAB_OLD_DRIVER_LAUNCH(cuLaunch, (void* f), (f), SIMTLAB_GRID(1, 1), nullptr)
SIMTLAB_OLD_DRIVER_LAUNCH(cuLaunchGrid, (void* f, unsigned width, unsigned height), (f, width, height),
                          SIMTLAB_GRID(width, height), nullptr)
SIMTLAB_OLD_DRIVER_LAUNCH(cuLaunchGridAsync, (void* f, unsigned width, unsigned height, void* stream),
                          (f, width, height, stream), SIMTLAB_GRID(width, height), stream)

// Its kernels wait for one another on several devices: no device's limit may hold one of them back.
SIMTLAB_HOOK(int, cuLaunchCooperativeKernelMultiDevice, (void* launches, unsigned count, unsigned flags)) {
  SIMTLAB_REAL(cuLaunchCooperativeKernelMultiDevice);
  return corun::gate::ungated(corun::live::Ungated::several_devices, count,
                              [&] { return real(launches, count, flags); });
}

// ---- the driver's own way to its functions, which may be asked for itself. What is ours is answered with
// ours, in the flavour that was asked for.

SIMTLAB_HOOK(int, cuGetProcAddress, (const char* name, void** function, int version, std::uint64_t flags)) {
  SIMTLAB_REAL(cuGetProcAddress);
  const int code = real(name, function, version, flags);
  if (code == 0) corun::gate::exchange_driver(name, function, version, flags, __builtin_return_address(0));
  return code;
}

SIMTLAB_HOOK(int, cuGetProcAddress_v2,
             (const char* name, void** function, int version, std::uint64_t flags, int* status)) {
  SIMTLAB_REAL(cuGetProcAddress_v2);
  const int code = real(name, function, version, flags, status);
  if (code == 0) corun::gate::exchange_driver(name, function, version, flags, __builtin_return_address(0));
  return code;
}

void corun::gate::exchange_driver(const char* name, void** function, int version, std::uint64_t flags,
                                  const void* caller) {
  if (name == nullptr || function == nullptr || *function == nullptr) return;
  std::string wanted = name;
  // Since CUDA 12 it has one parameter more.
  if (wanted == "cuGetProcAddress" && (version == 0 || version >= 12000)) wanted += "_v2";
  Hook* hook = (flags & per_thread_flag) != 0 ? Hook::find((wanted + "_ptsz").c_str()) : nullptr;
  if (hook == nullptr) hook = Hook::find(wanted.c_str());
  if (hook != nullptr && *function != hook->ours() && hook->takes(*function, caller))
    *function = hook->ours();
}

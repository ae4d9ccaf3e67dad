// Launches of OpenCL are counted, and not gated.
#include <cstddef>

#include "corun/gate/gate.h"
#include "corun/gate/real.h"

using namespace simtlab;

namespace {
constexpr int device_not_available = -2;
}

SIMTLAB_HOOK(int, clEnqueueNDRangeKernel,
             (void* queue, void* kernel, unsigned dimensions, const std::size_t* offset,
              const std::size_t* global, const std::size_t* local, unsigned events, const void* list,
              void* event)) {
  SIMTLAB_REAL_OR(clEnqueueNDRangeKernel,
                  (corun::gate::nowhere("clEnqueueNDRangeKernel"), device_not_available));
  return corun::gate::ungated(corun::live::Ungated::opencl, 1, [&] {
    return real(queue, kernel, dimensions, offset, global, local, events, list, event);
  });
}

SIMTLAB_HOOK(int, clEnqueueTask,
             (void* queue, void* kernel, unsigned events, const void* list, void* event)) {
  SIMTLAB_REAL_OR(clEnqueueTask, (corun::gate::nowhere("clEnqueueTask"), device_not_available));
  return corun::gate::ungated(corun::live::Ungated::opencl, 1,
                              [&] { return real(queue, kernel, events, list, event); });
}

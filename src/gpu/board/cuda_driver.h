// The CUDA driver's library, loaded when it is asked for: libcuda.so.1, or what SIMTLAB_CUDA_DRIVER names.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "gpu/board/cuda_api.h"

namespace simtlab::gpu::board {

struct Driver {
#define SIMTLAB_CUDA_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
  SIMTLAB_CUDA_NEEDED(SIMTLAB_CUDA_MEMBER)
  SIMTLAB_CUDA_OPTIONAL(SIMTLAB_CUDA_MEMBER)
#undef SIMTLAB_CUDA_MEMBER
  // Of a library that SIMTLAB_CUDA_DRIVER names and that keeps the host's time itself, as a simulated one
  // does.
  double (*host_now_ns)() = nullptr;

  std::string library;         // as it was asked for
  bool chosen = false;         // by SIMTLAB_CUDA_DRIVER
  int version = 0;             // of CUDA: 12020
  std::string kernel_version;  // of the kernel module: "580.65.06"; empty: not told

  bool has_graphs() const {
    return graph_create != nullptr && graph_add_kernel != nullptr &&
           (graph_instantiate != nullptr || graph_instantiate_v2 != nullptr) && graph_launch != nullptr &&
           graph_exec_destroy != nullptr && graph_destroy != nullptr;
  }
  std::string text() const;  // "CUDA 12.2, driver 535.104"
};

// Loads and initialises it, once a process and library: it is never unloaded, its threads would go on in what
// is gone. Throws Error(unavailable) "board-driver", "board-driver-old", "board-none".
const Driver& driver();

// What a call of the driver that failed means. doing: "allocating 64 bytes", for the message.
Error error_of(const Driver& driver, Result result, std::string_view doing);
inline void check(const Driver& driver, Result result, std::string_view doing) {
  if (result != success) throw error_of(driver, result, doing);
}

}  // namespace simtlab::gpu::board

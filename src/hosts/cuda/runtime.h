// The process-wide state behind libcudart: a session, what the program registered, CUDA's errors. All of it
// is under the session's lock, taken by call().
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "gpu/gpu.h"
#include "hosts/cuda/contexts.h"
#include "hosts/cuda/cuda_api.h"
#include "hosts/cuda/graphs.h"
#include "hosts/cuda/images.h"
#include "hosts/cuda/modules.h"
#include "hosts/session.h"

namespace simtlab::hosts::cuda {

// Why a piece of device memory exists: decides copy directions and pointer attributes.
enum class MemoryKind : std::uint8_t { device, host, managed };

class Runtime : public hosts::Session {
 public:
  // Of the process: of simtlab's libraries that it has loaded (libcudart.so.*, libcuda.so.1) the first one
  // makes it, and the others find it.
  static Runtime& get();

  Images images;
  Modules modules;
  Contexts contexts;
  Graphs graphs;

  void reset_device();  // cudaDeviceReset: memory, streams and modules go, results stay
  void settle() override;

  // Turns an Error into CUDA's code, tells the user once, and keeps it in the result if it ends the run's
  // value.
  CudaError report(const Error& error);
  CudaError report_internal(const char* what);
  CudaError unsupported(const char* function, const std::string& what = {});
  CudaError sticky() const { return sticky_; }
  // A GPU that several programs share has gone: no reset brings it back.
  bool lost() const { return sticky_ == error_mps_rpc_failure; }

  // Memory that programs got from cudaMalloc*, by start address.
  std::map<std::uint64_t, MemoryKind> allocations;
  std::map<void*, unsigned> host_flags;  // of cudaHostAlloc
  std::set<void*> plain_host;            // page-locked memory that is not visible to the device
  std::map<const void*, std::size_t> registered_host;
  std::map<gpu::EventId, unsigned> event_flags;
  std::set<CudaArray*> arrays;
  unsigned device_flags = 0;
  std::map<int, std::size_t> limits;

  // By the host address that stands for it, or by a handle of the driver API. Null: none.
  KernelEntry* find_kernel(const void* handle);
  // Stream of a handle; throws nothing: nullopt if there is no such stream.
  std::optional<gpu::StreamId> stream(StreamHandle handle);
  static StreamHandle handle_of(gpu::StreamId id) { return id + 0x100; }
  MemoryKind const* kind_of(const void* pointer);  // null: not device memory

 private:
  Runtime() = default;

  CudaError sticky_ = success;
};

// State of one host thread.
struct ThreadState {
  CudaError last = success;
  struct Configuration {
    Dim3Arg grid, block;
    std::size_t shared;
    StreamHandle stream;
  };
  std::vector<Configuration> pushed;
};
ThreadState& thread_state();

}  // namespace simtlab::hosts::cuda

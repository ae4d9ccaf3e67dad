// The process-wide state behind libcudart: one simulated GPU, what the program registered, errors, the
// result.
//
// A drop-in CUDA runtime is process state by its nature (the API passes no context), so this is the one place
// with a singleton. Everything below it (gpu/, timing/, exec/) keeps none. All of it is under one lock, taken
// by call().
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/catalogue.h"
#include "gpu/gpu.h"
#include "result/run_config.h"
#include "runtime/cuda_api.h"
#include "runtime/graphs.h"
#include "runtime/images.h"

namespace simtlab::runtime {

// Why a piece of device memory exists: decides copy directions and pointer attributes.
enum class MemoryKind : std::uint8_t { device, host, managed };

class Runtime {
 public:
  static Runtime& get();

  std::mutex mutex;
  Images images;
  Graphs graphs;

  // The GPU, made at the first call that needs it. Throws Error if the configuration is bad; again at each
  // later call.
  gpu::Gpu& gpu();
  bool started() const { return gpu_ != nullptr; }
  const device::Device& device();
  void reset_device();  // cudaDeviceReset: memory, streams and modules go, results stay

  // Turns an Error into CUDA's code, tells the user once, and keeps it in the result if it ends the run's
  // value.
  CudaError report(const Error& error);
  CudaError report_internal(const char* what);
  // One stderr line, once per text.
  void warn(const std::string& text);
  CudaError unsupported(const char* function, const std::string& what = {});
  CudaError sticky() const { return sticky_; }

  std::string program() const;  // the executable's name
  const result::RunConfig& config() const { return config_; }
  bool interrupted() const { return interrupted_; }
  // where: in a kernel, in words; empty outside of kernels.
  void mark_interrupted(const std::string& where = {}) {
    interrupted_ = true;
    stopped_at_ = where;
  }
  void finish_recording() {
    if (gpu_) gpu_->finish_recording();
  }
  void finish_checkpoint();
  // Result so far; nullopt if the program made no CUDA call that counts.
  std::optional<result::Result> result();

  // Memory that programs got from cudaMalloc*, by start address.
  std::map<std::uint64_t, MemoryKind> allocations;
  std::map<void*, unsigned> host_flags;  // of cudaHostAlloc
  std::set<void*> plain_host;  // page-locked memory that is not visible to the device
  std::map<const void*, std::size_t> registered_host;
  std::map<gpu::EventId, unsigned> event_flags;
  std::set<CudaArray*> arrays;
  unsigned device_flags = 0;
  std::map<int, std::size_t> limits;

  // Stream of a handle; throws nothing: nullopt if there is no such stream.
  std::optional<gpu::StreamId> stream(StreamHandle handle);
  static StreamHandle handle_of(gpu::StreamId id) { return id + 0x100; }
  MemoryKind const* kind_of(const void* pointer);  // null: not device memory

 private:
  Runtime() = default;
  void read_configuration();
  void keep_failure(const Error& error);
  void tell_and_keep(const Error& error);

  bool configured_ = false;
  result::RunConfig config_;
  std::optional<device::LoadedDevice> loaded_;
  std::shared_ptr<const Error> start_failure_;
  std::unique_ptr<gpu::Gpu> gpu_;
  CudaError sticky_ = success;
  std::set<std::string> told_;
  std::string failure_, failure_id_, stopped_at_;
  int failure_code_ = 0;
  bool interrupted_ = false;
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

}  // namespace simtlab::runtime

// Errors and versions.
#include "hosts/cuda/call.h"
#include "hosts/cuda/error_codes.h"

using namespace simtlab::hosts::cuda;

namespace {

// What each library says it is; programs compare the major number.
int version() { return library_major == 11 ? 11080 : library_major == 12 ? 12080 : 13000; }

CudaError sticky() {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  return runtime.sticky();
}

}  // namespace

SIMTLAB_CUDA_API CudaError cudaGetLastError() {
  const CudaError poisoned = sticky();
  const CudaError last = thread_state().last;
  thread_state().last = success;
  return poisoned != success ? poisoned : last;
}
SIMTLAB_CUDA_API CudaError cudaPeekAtLastError() {
  const CudaError poisoned = sticky();
  return poisoned != success ? poisoned : thread_state().last;
}
SIMTLAB_CUDA_API const char* cudaGetErrorName(int code) {
  const ErrorCode* found = find_error(code);
  return found == nullptr ? "unrecognized error code" : found->name;
}
SIMTLAB_CUDA_API const char* cudaGetErrorString(int code) {
  const ErrorCode* found = find_error(code);
  return found == nullptr ? "unrecognized error code" : found->text;
}

SIMTLAB_CUDA_API CudaError cudaRuntimeGetVersion(int* out) {
  if (out == nullptr) return note(error_invalid_value);
  *out = version();
  return success;
}
SIMTLAB_CUDA_API CudaError cudaDriverGetVersion(int* out) {
  if (out == nullptr) return note(error_invalid_value);
  *out = version();
  return success;
}
SIMTLAB_CUDA_API CudaError cudaProfilerStart() {
  return call([](Runtime&) { return success; });
}
SIMTLAB_CUDA_API CudaError cudaProfilerStop() {
  return call([](Runtime&) { return success; });
}
SIMTLAB_CUDA_API CudaError cudaProfilerInitialize(const char*, const char*, int) { return success; }

// The shell around every API function: lock, sticky errors, exceptions to codes, cudaGetLastError.
#pragma once

#include <exception>
#include <new>
#include <source_location>
#include <string>
#include <string_view>

#include "hosts/cuda/error_codes.h"
#include "hosts/cuda/runtime.h"
#include "hosts/float_control.h"
#include "hosts/process.h"

namespace simtlab::hosts::cuda {

inline CudaError note(CudaError code) {
  // "Not ready" is an answer, not an error that is remembered.
  if (code != success && code != error_not_ready) thread_state().last = code;
  return code;
}

template <typename Body>
CudaError guarded(Runtime& runtime, Body&& body) {
  const hosts::DefaultFloatControl float_control;
  try {
    return body(runtime);
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted)
      hosts::stop_interrupted(runtime, error.diagnostics().front().message);
    return runtime.report(error);
  } catch (const std::bad_alloc&) { return error_memory_allocation; } catch (const std::exception& error) {
    return runtime.report_internal(error.what());
  }
}

// body: CudaError(Runtime&), run under the lock. After a fault of a kernel every call returns that fault.
// "cudaError_t cudaMalloc(void**, size_t)" -> "cudaMalloc"
inline std::string function_in(const std::source_location& where) {
  const std::string_view whole = where.function_name(), head = whole.substr(0, whole.find('('));
  return std::string(head.substr(head.find_last_of(" *&:") + 1));
}
// For checks: the program's call has failed.
inline void note_failed_call(Runtime& runtime, CudaError code, const std::source_location& where) {
  if (code == success || code == error_not_ready || !runtime.started()) return;
  if (!runtime.gpu().options().check.api) return;
  const ErrorCode* const error = find_error(static_cast<int>(code));
  runtime.gpu().note_api_error(function_in(where), error == nullptr ? std::to_string(code) : error->name);
}

template <typename Body>
CudaError call(Body&& body, std::source_location where = std::source_location::current()) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  if (library_major != driver_library) runtime.contexts.use_runtime();
  if (runtime.sticky() != success) return note(runtime.sticky());
  const CudaError code = guarded(runtime, [&](Runtime& r) {
    if (r.started()) r.gpu();  // a shared GPU may have gone
    return body(r);
  });
  note_failed_call(runtime, code, where);
  runtime.keep_counts();
  return note(code);
}

// The same for calls that work without a healthy context (queries of versions and errors, clean-up).
template <typename Body>
CudaError call_always(Body&& body) {
  Runtime& runtime = Runtime::get();
  const std::lock_guard lock(runtime.mutex);
  const CudaError code = guarded(runtime, body);
  runtime.keep_counts();
  return note(code);
}

}  // namespace simtlab::hosts::cuda

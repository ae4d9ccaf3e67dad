// Streams, events and host functions, on simulated time.
//
// A query that finds work unfinished answers "not ready" once and lets the simulated host wait for it, so
// that a program that polls in a loop ends after one more turn instead of for ever (D-RUNTIME-4).
#include <algorithm>

#include "hosts/cuda/call.h"

using namespace simtlab::hosts::cuda;
namespace gpu = simtlab::gpu;

namespace {

constexpr unsigned event_no_timing = 2;

// Event handles are never null and never collide with those of streams in a debugger.
EventHandle handle_of_event(gpu::EventId id) { return std::uintptr_t{id} + 0x100000; }

std::optional<gpu::EventId> event_of(Runtime& r, EventHandle handle) {
  if (handle < 0x100000 || handle - 0x100000 > 0xffffffffu) return std::nullopt;
  const auto id = static_cast<gpu::EventId>(handle - 0x100000);
  if (!r.gpu().has_event(id)) return std::nullopt;
  return id;
}

// CUDA's priorities go down from 0, the least; what lies outside of the range is clamped, as there.
CudaError create_stream(StreamHandle* out, unsigned flags, int priority) {
  return call([&](Runtime& r) {
    if (out == nullptr || flags > 1) return error_invalid_value;
    *out = Runtime::handle_of(r.gpu().create_stream(
        flags == 1, std::clamp(-std::max(priority, -1000), 0, gpu::Gpu::most_priority)));
    return success;
  });
}

CudaError create_event(EventHandle* out, unsigned flags) {
  return call([&](Runtime& r) {
    if (out == nullptr) return error_invalid_value;
    const gpu::EventId id = r.gpu().create_event();
    r.event_flags.emplace(id, flags);
    *out = handle_of_event(id);
    return success;
  });
}

template <typename Body>
CudaError with_stream(StreamHandle stream, Body&& body) {
  return call([&](Runtime& r) {
    const std::optional<gpu::StreamId> id = r.stream(stream);
    return id ? body(r, *id) : error_invalid_resource_handle;
  });
}

template <typename Body>
CudaError with_event(EventHandle event, Body&& body) {
  return call([&](Runtime& r) {
    const std::optional<gpu::EventId> id = event_of(r, event);
    return id ? body(r, *id) : error_invalid_resource_handle;
  });
}

// Nothing of a stream that is being captured happens; who waits for it has spoilt the capture.
bool cannot_wait(Runtime& r, gpu::StreamId stream) {
  Capture* capture = r.graphs.capture_of(stream);
  if (capture != nullptr) capture->valid = false;
  return capture != nullptr;
}

// A host function on a captured stream becomes a node of its graph. True: it has.
bool captured_host(StreamHandle stream, void (*function)(void*), void* data) {
  bool captured = false;
  call([&](Runtime& r) {
    const std::optional<gpu::StreamId> id = r.stream(stream);
    captured = id && r.graphs.capture_of(*id) != nullptr;
    if (!captured) return success;
    GraphNode* node = r.graphs.add(*id, NodeType::host);
    node->function = function;
    node->data = data;
    return success;
  });
  return captured;
}

}  // namespace

SIMTLAB_CUDA_API CudaError cudaStreamCreate(StreamHandle* out) { return create_stream(out, 0, 0); }
SIMTLAB_CUDA_API CudaError cudaStreamCreateWithFlags(StreamHandle* out, unsigned flags) {
  return create_stream(out, flags, 0);
}
SIMTLAB_CUDA_API CudaError cudaStreamCreateWithPriority(StreamHandle* out, unsigned flags, int priority) {
  return create_stream(out, flags, priority);
}
SIMTLAB_CUDA_API CudaError cudaStreamDestroy(StreamHandle stream) {
  return with_stream(stream, [](Runtime& r, gpu::StreamId id) {
    return r.gpu().destroy_stream(id) ? success : error_invalid_resource_handle;
  });
}
SIMTLAB_CUDA_API CudaError cudaStreamSynchronize(StreamHandle stream) {
  return with_stream(stream, [](Runtime& r, gpu::StreamId id) {
    if (cannot_wait(r, id)) return error_stream_capture_unsupported;
    r.gpu().synchronize(id);
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaStreamQuery(StreamHandle stream) {
  return with_stream(stream, [](Runtime& r, gpu::StreamId id) {
    if (cannot_wait(r, id)) return error_stream_capture_unsupported;
    if (r.gpu().idle(id)) return success;
    r.gpu().synchronize(id);
    return error_not_ready;
  });
}
SIMTLAB_CUDA_API CudaError cudaStreamGetPriority(StreamHandle stream, int* priority) {
  return with_stream(stream, [&](Runtime& r, gpu::StreamId id) {
    if (priority == nullptr) return error_invalid_value;
    *priority = -r.gpu().priority(id);
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaStreamGetFlags(StreamHandle stream, unsigned* flags) {
  return with_stream(stream, [&](Runtime& r, gpu::StreamId id) {
    if (flags == nullptr) return error_invalid_value;
    *flags = r.gpu().non_blocking(id) ? 1 : 0;
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaStreamGetId(StreamHandle stream, unsigned long long* out) {
  return with_stream(stream, [&](Runtime&, gpu::StreamId id) {
    if (out == nullptr) return error_invalid_value;
    *out = id + 1ull;
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaStreamGetDevice(StreamHandle stream, int* out) {
  return with_stream(stream, [&](Runtime&, gpu::StreamId) {
    if (out == nullptr) return error_invalid_value;
    *out = 0;
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  return with_stream(stream, [&](Runtime& r, gpu::StreamId id) {
    const std::optional<gpu::EventId> e = event_of(r, event);
    if (!e) return error_invalid_resource_handle;
    CudaError captured = success;
    if (r.graphs.wait(id, *e, captured)) return captured;
    r.gpu().wait_event(id, *e);
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](Runtime& r) {
    r.gpu();
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -gpu::Gpu::most_priority;
    return success;
  });
}

// Host functions run at once, in the calling thread and without the lock: everything before them on the
// stream has already taken effect.
SIMTLAB_CUDA_API CudaError cudaStreamAddCallback(StreamHandle stream,
                                                 void (*callback)(StreamHandle, CudaError, void*), void* data,
                                                 unsigned) {
  if (callback == nullptr) return note(error_invalid_value);
  const CudaError code = cudaStreamSynchronize(stream);
  if (code == error_invalid_resource_handle) return code;
  callback(stream, code, data);
  return code;
}
SIMTLAB_CUDA_API CudaError cudaLaunchHostFunc(StreamHandle stream, void (*function)(void*), void* data) {
  if (function == nullptr) return note(error_invalid_value);
  if (captured_host(stream, function, data)) return success;
  const CudaError code = cudaStreamSynchronize(stream);
  if (code != success) return code;
  function(data);
  return success;
}

SIMTLAB_CUDA_API CudaError cudaEventCreate(EventHandle* out) { return create_event(out, 0); }
SIMTLAB_CUDA_API CudaError cudaEventCreateWithFlags(EventHandle* out, unsigned flags) {
  return create_event(out, flags);
}
SIMTLAB_CUDA_API CudaError cudaEventDestroy(EventHandle event) {
  return with_event(event, [](Runtime& r, gpu::EventId id) {
    r.event_flags.erase(id);
    r.graphs.forget_event(id);
    r.gpu().destroy_event(id);
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaEventRecord(EventHandle event, StreamHandle stream) {
  return with_stream(stream, [&](Runtime& r, gpu::StreamId id) {
    const std::optional<gpu::EventId> e = event_of(r, event);
    if (!e) return error_invalid_resource_handle;
    if (r.graphs.capture_of(id) != nullptr) {
      r.graphs.record(*e, id);
      return success;
    }
    r.graphs.forget_event(*e);
    r.gpu().record_event(*e, id);
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaEventRecordWithFlags(EventHandle event, StreamHandle stream, unsigned) {
  return cudaEventRecord(event, stream);
}
SIMTLAB_CUDA_API CudaError cudaEventSynchronize(EventHandle event) {
  return with_event(event, [](Runtime& r, gpu::EventId id) {
    r.gpu().wait_host(id);
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaEventQuery(EventHandle event) {
  return with_event(event, [](Runtime& r, gpu::EventId id) {
    const std::optional<double> time = r.gpu().event_time_ns(id);
    if (!time || *time <= r.gpu().now_ns()) return success;
    r.gpu().wait_host(id);
    return error_not_ready;
  });
}
SIMTLAB_CUDA_API CudaError cudaEventElapsedTime(float* milliseconds, EventHandle start, EventHandle end) {
  return call([&](Runtime& r) {
    if (milliseconds == nullptr) return error_invalid_value;
    const std::optional<gpu::EventId> a = event_of(r, start), b = event_of(r, end);
    if (!a || !b || ((r.event_flags[*a] | r.event_flags[*b]) & event_no_timing) != 0)
      return error_invalid_resource_handle;
    const std::optional<double> begin = r.gpu().event_time_ns(*a), finish = r.gpu().event_time_ns(*b);
    if (!begin || !finish) return error_invalid_resource_handle;
    if (*begin > r.gpu().now_ns() || *finish > r.gpu().now_ns()) return error_not_ready;
    *milliseconds = static_cast<float>((*finish - *begin) * 1e-6);
    return success;
  });
}

// Not of CUDA: when, on simulated time, what was launched between two events of a stream began and ended. The
// cost of the launch, which the events have between them as on a board, is not in it. Both 0: not known. For
// simtlab's own library that gates launches, which must leave no error behind.
SIMTLAB_CUDA_API CudaError simtlabEventSpan(EventHandle start, EventHandle end, double* begin_ns,
                                            double* end_ns) {
  return call([&](Runtime& r) {
    const std::optional<gpu::EventId> a = event_of(r, start), b = event_of(r, end);
    *begin_ns = *end_ns = 0;
    if (!a || !b) return success;
    const std::optional<double> begin = r.gpu().next_begin_ns(*a), finish = r.gpu().event_time_ns(*b);
    if (begin && finish && *begin <= *finish && *finish <= r.gpu().now_ns())
      *begin_ns = *begin, *end_ns = *finish;
    return success;
  });
}

SIMTLAB_CUDA_ALIAS(cudaStreamSynchronize_ptsz, cudaStreamSynchronize);
SIMTLAB_CUDA_ALIAS(cudaStreamQuery_ptsz, cudaStreamQuery);
SIMTLAB_CUDA_ALIAS(cudaStreamGetPriority_ptsz, cudaStreamGetPriority);
SIMTLAB_CUDA_ALIAS(cudaStreamGetFlags_ptsz, cudaStreamGetFlags);
SIMTLAB_CUDA_ALIAS(cudaStreamGetId_ptsz, cudaStreamGetId);
SIMTLAB_CUDA_ALIAS(cudaStreamGetDevice_ptsz, cudaStreamGetDevice);
SIMTLAB_CUDA_ALIAS(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent);
SIMTLAB_CUDA_ALIAS(cudaStreamAddCallback_ptsz, cudaStreamAddCallback);
SIMTLAB_CUDA_ALIAS(cudaLaunchHostFunc_ptsz, cudaLaunchHostFunc);
SIMTLAB_CUDA_ALIAS(cudaEventRecord_ptsz, cudaEventRecord);
SIMTLAB_CUDA_ALIAS(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags);
SIMTLAB_CUDA_ALIAS(cudaEventElapsedTime_v2, cudaEventElapsedTime);

// Streams, events and captured graphs: the runtime's.
#include "hosts/cuda/driver/driver.h"
#include "hosts/cuda/driver/runtime_calls.h"

using namespace simtlab::hosts::cuda;

SIMTLAB_DRIVER_API DriverResult cuStreamCreate(StreamHandle* out, unsigned flags) {
  return forward([&] { return cudaStreamCreateWithPriority(out, flags, 0); });
}
SIMTLAB_DRIVER_API DriverResult cuStreamCreateWithPriority(StreamHandle* out, unsigned flags, int priority) {
  return forward([&] { return cudaStreamCreateWithPriority(out, flags, priority); });
}
SIMTLAB_DRIVER_API DriverResult cuStreamDestroy_v2(StreamHandle stream) {
  return forward([&] { return cudaStreamDestroy(stream); });
}
SIMTLAB_CUDA_ALIAS(cuStreamDestroy, cuStreamDestroy_v2);
SIMTLAB_DRIVER_API DriverResult cuStreamSynchronize(StreamHandle stream) {
  return forward([&] { return cudaStreamSynchronize(stream); });
}
SIMTLAB_DRIVER_API DriverResult cuStreamQuery(StreamHandle stream) {
  return forward([&] { return cudaStreamQuery(stream); });
}
SIMTLAB_DRIVER_API DriverResult cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned flags) {
  return forward([&] { return cudaStreamWaitEvent(stream, event, flags); });
}
SIMTLAB_DRIVER_API DriverResult cuStreamGetPriority(StreamHandle stream, int* out) {
  return forward([&] { return cudaStreamGetPriority(stream, out); });
}
SIMTLAB_DRIVER_API DriverResult cuStreamGetFlags(StreamHandle stream, unsigned* out) {
  return forward([&] { return cudaStreamGetFlags(stream, out); });
}
SIMTLAB_DRIVER_API DriverResult cuStreamGetId(StreamHandle stream, unsigned long long* out) {
  return forward([&] { return cudaStreamGetId(stream, out); });
}
SIMTLAB_DRIVER_API DriverResult cuStreamGetCtx(StreamHandle stream, Context** out) {
  return in_context([&](Runtime& r) {
    if (!r.stream(stream)) return driver_invalid_handle;
    if (out == nullptr) return driver_invalid_value;
    *out = r.contexts.current();
    return driver_success;
  });
}
SIMTLAB_DRIVER_API DriverResult cuStreamGetDevice(StreamHandle stream, Device* out) {
  return in_context([&](Runtime& r) {
    if (!r.stream(stream)) return driver_invalid_handle;
    if (out == nullptr) return driver_invalid_value;
    *out = 0;
    return driver_success;
  });
}

namespace {

// What cuStreamAddCallback was given; the runtime's callback gets its code in the runtime's numbers.
struct Callback {
  void (*function)(StreamHandle, DriverResult, void*);
  void* data;
};
void call_back(StreamHandle stream, CudaError code, void* data) {
  const auto* const callback = static_cast<const Callback*>(data);
  callback->function(stream, driver_result(code), callback->data);
}

}  // namespace

SIMTLAB_DRIVER_API DriverResult cuStreamAddCallback(StreamHandle stream,
                                                    void (*function)(StreamHandle, DriverResult, void*),
                                                    void* data, unsigned flags) {
  if (function == nullptr) return driver_invalid_value;
  Callback callback{function, data};  // it is called before this returns
  return forward([&] { return cudaStreamAddCallback(stream, call_back, &callback, flags); });
}

SIMTLAB_DRIVER_API DriverResult cuEventCreate(EventHandle* out, unsigned flags) {
  return forward([&] { return cudaEventCreateWithFlags(out, flags); });
}
SIMTLAB_DRIVER_API DriverResult cuEventDestroy_v2(EventHandle event) {
  return forward([&] { return cudaEventDestroy(event); });
}
SIMTLAB_CUDA_ALIAS(cuEventDestroy, cuEventDestroy_v2);
SIMTLAB_DRIVER_API DriverResult cuEventRecord(EventHandle event, StreamHandle stream) {
  return forward([&] { return cudaEventRecord(event, stream); });
}
SIMTLAB_DRIVER_API DriverResult cuEventRecordWithFlags(EventHandle event, StreamHandle stream, unsigned) {
  return cuEventRecord(event, stream);
}
SIMTLAB_DRIVER_API DriverResult cuEventQuery(EventHandle event) {
  return forward([&] { return cudaEventQuery(event); });
}
SIMTLAB_DRIVER_API DriverResult cuEventSynchronize(EventHandle event) {
  return forward([&] { return cudaEventSynchronize(event); });
}
SIMTLAB_DRIVER_API DriverResult cuEventElapsedTime(float* milliseconds, EventHandle start, EventHandle end) {
  return forward([&] { return cudaEventElapsedTime(milliseconds, start, end); });
}
SIMTLAB_CUDA_ALIAS(cuEventElapsedTime_v2, cuEventElapsedTime);

// ---- graphs, as capturing makes them

SIMTLAB_DRIVER_API DriverResult cuStreamBeginCapture_v2(StreamHandle stream, int mode) {
  return forward([&] { return cudaStreamBeginCapture(stream, mode); });
}
SIMTLAB_DRIVER_API DriverResult cuStreamBeginCapture(StreamHandle stream) {
  return cuStreamBeginCapture_v2(stream, 0);
}
SIMTLAB_DRIVER_API DriverResult cuStreamEndCapture(StreamHandle stream, Graph** out) {
  return forward([&] { return cudaStreamEndCapture(stream, out); });
}
SIMTLAB_DRIVER_API DriverResult cuStreamIsCapturing(StreamHandle stream, int* out) {
  return forward([&] { return cudaStreamIsCapturing(stream, out); });
}
SIMTLAB_DRIVER_API DriverResult cuThreadExchangeStreamCaptureMode(int* mode) {
  return driver_result(cudaThreadExchangeStreamCaptureMode(mode));
}
SIMTLAB_DRIVER_API DriverResult cuGraphCreate(Graph** out, unsigned flags) {
  return forward([&] { return cudaGraphCreate(out, flags); });
}
SIMTLAB_DRIVER_API DriverResult cuGraphDestroy(Graph* graph) {
  return forward([&] { return cudaGraphDestroy(graph); });
}
SIMTLAB_DRIVER_API DriverResult cuGraphInstantiateWithFlags(GraphProgram** out, const Graph* graph,
                                                            unsigned long long flags) {
  return forward([&] { return cudaGraphInstantiateWithFlags(out, graph, flags); });
}
// The error's node and text are for what this instantiation never refuses.
SIMTLAB_DRIVER_API DriverResult cuGraphInstantiate_v2(GraphProgram** out, const Graph* graph, void*, char*,
                                                      std::size_t) {
  return cuGraphInstantiateWithFlags(out, graph, 0);
}
SIMTLAB_CUDA_ALIAS(cuGraphInstantiate, cuGraphInstantiate_v2);
SIMTLAB_DRIVER_API DriverResult cuGraphLaunch(GraphProgram* program, StreamHandle stream) {
  return forward([&] { return cudaGraphLaunch(program, stream); });
}
SIMTLAB_DRIVER_API DriverResult cuGraphUpload(GraphProgram* program, StreamHandle stream) {
  return forward([&] { return cudaGraphUpload(program, stream); });
}
SIMTLAB_DRIVER_API DriverResult cuGraphExecDestroy(GraphProgram* program) {
  return forward([&] { return cudaGraphExecDestroy(program); });
}

SIMTLAB_CUDA_ALIAS(cuStreamSynchronize_ptsz, cuStreamSynchronize);
SIMTLAB_CUDA_ALIAS(cuStreamQuery_ptsz, cuStreamQuery);
SIMTLAB_CUDA_ALIAS(cuStreamWaitEvent_ptsz, cuStreamWaitEvent);
SIMTLAB_CUDA_ALIAS(cuStreamGetPriority_ptsz, cuStreamGetPriority);
SIMTLAB_CUDA_ALIAS(cuStreamGetFlags_ptsz, cuStreamGetFlags);
SIMTLAB_CUDA_ALIAS(cuStreamGetId_ptsz, cuStreamGetId);
SIMTLAB_CUDA_ALIAS(cuStreamGetCtx_ptsz, cuStreamGetCtx);
SIMTLAB_CUDA_ALIAS(cuStreamGetDevice_ptsz, cuStreamGetDevice);
SIMTLAB_CUDA_ALIAS(cuStreamAddCallback_ptsz, cuStreamAddCallback);
SIMTLAB_CUDA_ALIAS(cuStreamBeginCapture_ptsz, cuStreamBeginCapture);
SIMTLAB_CUDA_ALIAS(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2);
SIMTLAB_CUDA_ALIAS(cuStreamEndCapture_ptsz, cuStreamEndCapture);
SIMTLAB_CUDA_ALIAS(cuStreamIsCapturing_ptsz, cuStreamIsCapturing);
SIMTLAB_CUDA_ALIAS(cuEventRecord_ptsz, cuEventRecord);
SIMTLAB_CUDA_ALIAS(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags);
SIMTLAB_CUDA_ALIAS(cuGraphLaunch_ptsz, cuGraphLaunch);
SIMTLAB_CUDA_ALIAS(cuGraphUpload_ptsz, cuGraphUpload);

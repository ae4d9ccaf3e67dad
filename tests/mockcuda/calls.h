// What the entry points share: their declarations, how they find the device, the life of handles.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "base/error.h"
#include "mock.h"

#define MOCK_EXPORT extern "C" __attribute__((visibility("default")))

using namespace simtlab;
using namespace simtlab::gpu;
using namespace simtlab::gpu::board;
using namespace simtlab::gpu::board::mock;

// What is exported is what the table says, parameter for parameter.
#define MOCK_DECLARE(member, symbol, parameters) MOCK_EXPORT Result symbol parameters;
SIMTLAB_CUDA_NEEDED(MOCK_DECLARE)
SIMTLAB_CUDA_OPTIONAL(MOCK_DECLARE)
#undef MOCK_DECLARE
MOCK_EXPORT double simtlab_host_now_ns();

namespace simtlab::gpu::board::mock {

Result result_of(const Error& e);

template <class Work>
Result guarded(const Work& work) {
  try {
    return work();
  } catch (const Error& e) {
    if (std::getenv("SIMTLAB_MOCK_VERBOSE") != nullptr) std::fputs(e.format().c_str(), stderr);
    const Result result = result_of(e);
    if (e.code() == ExitCode::program_failed && state().current != nullptr) state().current->sticky = result;
    return result;
  } catch (const std::bad_alloc&) { return out_of_memory; } catch (...) {
    return unknown;
  }
}

// For calls that use the device of the current context.
template <class Work>
Result on_device(const Work& work) {
  State& s = state();
  if (!s.initialised) return not_initialized;
  if (s.current == nullptr || s.current->gpu == nullptr) return invalid_context;
  if (s.current->sticky != success) return s.current->sticky;
  return guarded([&]() -> Result { return work(*s.current, *s.current->gpu); });
}

template <class Tag>
bool lives(const DeviceState& d, Tag* handle) {
  return d.handles.contains(handle);
}
template <class Tag>
Tag* keep(DeviceState& d, Tag tag) {
  const auto handle = std::make_shared<Tag>(std::move(tag));
  d.handles[handle.get()] = handle;
  return handle.get();
}
template <class Tag>
Result drop(DeviceState& d, Tag* handle) {
  return d.handles.erase(handle) == 0 ? invalid_handle : success;
}

// nullptr is the default stream.
inline std::optional<StreamId> stream_id(const DeviceState& d, StreamHandle stream) {
  if (stream == nullptr) return 0;
  if (!lives(d, stream)) return std::nullopt;
  return stream->id;
}

// Calls that wait for kernels: with one that never ends nobody may make them.
inline void waits(const DeviceState& d) {
  if (!d.hung) return;
  std::fputs("mock driver: this call would wait for ever\n", stderr);
  std::abort();
}

}  // namespace simtlab::gpu::board::mock

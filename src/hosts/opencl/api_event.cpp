// Events, and commands that only wait.
#include "hosts/opencl/api.h"
#include "hosts/opencl/commands.h"
#include "hosts/opencl/info.h"

namespace simtlab::hosts::opencl::api {
namespace {

cl_int wait_marker(cl_command_queue queue_handle, cl_command_type type, bool barrier, cl_uint count,
                   const cl_event* list, cl_event* event) {
  return call([&](State& state) -> cl_int {
    const auto queue = need<Queue>(queue_handle, CL_INVALID_COMMAND_QUEUE);
    Submission s{queue, type, wait_list(*queue->context, count, list), event};
    s.barrier = barrier;
    return enqueue(state, s, {});
  });
}

}  // namespace

cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int* code) {
  return create<cl_event>(code, [&](State&) {
    const auto event = std::make_shared<Event>();
    event->context = need<Context>(context, CL_INVALID_CONTEXT);
    event->status = CL_SUBMITTED;
    return event;
  });
}

cl_int CL_API_CALL clSetUserEventStatus(cl_event handle, cl_int status) {
  return call([&](State& state) -> cl_int {
    const auto event = need<Event>(handle, CL_INVALID_EVENT);
    require(event->queue == nullptr, CL_INVALID_EVENT);
    require(status <= CL_COMPLETE, CL_INVALID_VALUE);
    require(event->status > CL_COMPLETE, CL_INVALID_OPERATION);
    event->status = status;
    notify(state, event);
    pump(state);
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event* list) {
  return call([&](State& state) -> cl_int {
    require(count != 0 && list != nullptr, CL_INVALID_VALUE);
    state.require_device();
    Events events;
    for (cl_uint i = 0; i < count; ++i) {
      events.push_back(need<Event>(list[i], CL_INVALID_EVENT));
      require(events.back()->context == events.front()->context, CL_INVALID_CONTEXT);
    }
    bool well = true;
    for (const auto& event : events) well = wait_for(state, event) && well;
    return well ? CL_SUCCESS : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  });
}

cl_int CL_API_CALL clGetEventInfo(cl_event handle, cl_event_info what, size_t size, void* value,
                                  size_t* size_out) {
  return call([&](State& state) -> cl_int {
    const auto event = need<Event>(handle, CL_INVALID_EVENT);
    const Answer answer(size, value, size_out);
    switch (what) {
      case CL_EVENT_COMMAND_QUEUE:
        return answer.one(event->queue ? reinterpret_cast<cl_command_queue>(event->queue->handle())
                                       : nullptr);
      case CL_EVENT_CONTEXT: return answer.one(reinterpret_cast<cl_context>(event->context->handle()));
      case CL_EVENT_COMMAND_TYPE: return answer.one(event->type);
      case CL_EVENT_COMMAND_EXECUTION_STATUS:
        // A program may ask until the answer is CL_COMPLETE: time on the device has to go on.
        pump(state);
        if (event->queue != nullptr) complete(state, event);
        return answer.one(event->status);
      case CL_EVENT_REFERENCE_COUNT: return answer.number(event->references());
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_int CL_API_CALL clSetEventCallback(cl_event handle, cl_int status, Event::Function function, void* data) {
  return call([&](State& state) -> cl_int {
    const auto event = need<Event>(handle, CL_INVALID_EVENT);
    require(function != nullptr, CL_INVALID_VALUE);
    require(status == CL_SUBMITTED || status == CL_RUNNING || status == CL_COMPLETE, CL_INVALID_VALUE);
    event->callbacks.push_back({function, status, data});
    state.owed.insert(event);
    if (event->status <= CL_COMPLETE)
      notify(state, event);
    else if (event->queue != nullptr && event->status == CL_SUBMITTED)
      complete_in_background(event);
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clRetainEvent(cl_event event) { return retain<Event>(event, CL_INVALID_EVENT); }
cl_int CL_API_CALL clReleaseEvent(cl_event event) { return release<Event>(event, CL_INVALID_EVENT); }

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event handle, cl_profiling_info what, size_t size, void* value,
                                           size_t* size_out) {
  return call([&](State& state) -> cl_int {
    const auto event = need<Event>(handle, CL_INVALID_EVENT);
    require(event->queue != nullptr && (event->queue->properties & CL_QUEUE_PROFILING_ENABLE) != 0,
            CL_PROFILING_INFO_NOT_AVAILABLE);
    pump(state);
    complete(state, event);
    require(event->status == CL_COMPLETE, CL_PROFILING_INFO_NOT_AVAILABLE);
    const Answer answer(size, value, size_out);
    const auto time = [&](double ns) { return answer.bits(static_cast<cl_ulong>(ns)); };
    switch (what) {
      case CL_PROFILING_COMMAND_QUEUED: return time(event->queued_ns);
      case CL_PROFILING_COMMAND_SUBMIT: return time(event->submitted_ns);
      case CL_PROFILING_COMMAND_START: return time(event->start_ns);
      case CL_PROFILING_COMMAND_END:
      case CL_PROFILING_COMMAND_COMPLETE: return time(event->end_ns);
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* list,
                                               cl_event* event) {
  // Without a list it waits for all commands before it.
  return wait_marker(queue, CL_COMMAND_MARKER, count == 0, count, list, event);
}
cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* list,
                                                cl_event* event) {
  return wait_marker(queue, CL_COMMAND_BARRIER, true, count, list, event);
}
cl_int CL_API_CALL clEnqueueMarker(cl_command_queue queue, cl_event* event) {
  return event == nullptr ? CL_INVALID_VALUE : wait_marker(queue, CL_COMMAND_MARKER, true, 0, nullptr, event);
}
cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue queue) {
  return wait_marker(queue, CL_COMMAND_BARRIER, true, 0, nullptr, nullptr);
}
cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event* list) {
  if (count == 0 || list == nullptr) return CL_INVALID_VALUE;
  const cl_int code = wait_marker(queue, CL_COMMAND_BARRIER, true, count, list, nullptr);
  return code == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : code;
}

}  // namespace simtlab::hosts::opencl::api

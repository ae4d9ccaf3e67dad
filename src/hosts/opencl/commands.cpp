#include "hosts/opencl/commands.h"

#include <algorithm>

#include "hosts/opencl/callbacks.h"

namespace simtlab::hosts::opencl {
namespace {

enum class Readiness { ready, not_yet, failed };

// A command that the GPU has can be waited for there.
Readiness readiness(const Events& waits) {
  Readiness all = Readiness::ready;
  for (const auto& event : waits) {
    if (event->status < 0) return Readiness::failed;
    const bool known = event->queue != nullptr ? event->status != CL_QUEUED : event->status == CL_COMPLETE;
    if (!known) all = Readiness::not_yet;
  }
  return all;
}

// Puts the command on its stream. Throws what that throws.
void give(State& state, Queue& queue, Command& command) {
  gpu::Gpu& gpu = state.gpu();
  Event& event = *command.event;
  for (const auto& other : command.waits)
    if (other->queue != nullptr && other->queue.get() != &queue && other->status == CL_SUBMITTED &&
        other->end)
      gpu.wait_event(queue.stream, *other->end);
  event.submitted_ns = std::max(event.queued_ns, gpu.now_ns());
  if (event.wanted) {
    event.begin = gpu.create_event();
    gpu.record_event(*event.begin, queue.stream);
  }
  if (command.submit) command.submit();
  // What submitting costs the host comes before the beginning.
  event.start_ns = gpu.now_ns();
  if (event.wanted) {
    event.end = gpu.create_event();
    gpu.record_event(*event.end, queue.stream);
  }
  event.status = CL_SUBMITTED;
}

void fail(State& state, const std::shared_ptr<Event>& event, cl_int code) {
  event->status = code;
  notify(state, event);
}

// True if a command left the queue.
bool advance(State& state, const std::shared_ptr<Queue>& queue) {
  bool any = false;
  for (std::size_t i = 0; i < queue->pending.size();) {
    const Readiness now = readiness(queue->pending[i].waits);
    const bool barrier = queue->pending[i].barrier;
    if (now == Readiness::not_yet || (barrier && i != 0)) {
      if (!queue->out_of_order() || barrier) break;
      ++i;
      continue;
    }
    Command command = std::move(queue->pending[i]);
    queue->pending.erase(queue->pending.begin() + static_cast<std::ptrdiff_t>(i));
    any = true;
    if (now == Readiness::failed || state.broken()) {
      fail(state, command.event,
           state.broken() ? CL_OUT_OF_RESOURCES : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
      continue;
    }
    try {
      give(state, *queue, command);
      if (!command.event->callbacks.empty()) complete_in_background(command.event);
    } catch (...) { fail(state, command.event, code_of_current_exception(state)); }
  }
  return any;
}

void keep(State& state, const std::shared_ptr<Queue>& queue, Command command) {
  queue->pending.push_back(std::move(command));
  if (std::ranges::find(state.waiting, queue) == state.waiting.end()) state.waiting.push_back(queue);
}

}  // namespace

Events wait_list(const Context& context, cl_uint count, const cl_event* list) {
  require((count == 0) == (list == nullptr), CL_INVALID_EVENT_WAIT_LIST);
  Events events;
  for (cl_uint i = 0; i < count; ++i) {
    events.push_back(need<Event>(list[i], CL_INVALID_EVENT_WAIT_LIST));
    require(events.back()->context.get() == &context, CL_INVALID_CONTEXT);
  }
  return events;
}

cl_int enqueue(State& state, const Submission& s, std::function<void()> submit) {
  state.require_device();
  const auto event = std::make_shared<Event>();
  event->context = s.queue->context;
  event->queue = s.queue;
  event->type = s.type;
  event->wanted = s.event_out != nullptr;
  event->queued_ns = state.gpu().now_ns();
  Command command{event, s.waits, std::move(submit), s.barrier};
  const Readiness now = readiness(s.waits);
  const bool may_overtake =
      s.queue->out_of_order() && !s.barrier && std::ranges::none_of(s.queue->pending, &Command::barrier);
  if (now == Readiness::failed) {
    event->status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (s.blocking) return event->status;
  } else if (now == Readiness::ready && (s.queue->pending.empty() || may_overtake)) {
    give(state, *s.queue, command);
  } else {
    keep(state, s.queue, std::move(command));
  }
  if (s.event_out != nullptr) {
    event->hand_out();
    *s.event_out = reinterpret_cast<cl_event>(event->handle());
  }
  if (!s.blocking) return CL_SUCCESS;
  return wait_for(state, event) ? CL_SUCCESS : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

void pump(State& state) {
  bool any = true;
  while (any) {
    any = false;
    const std::vector<std::shared_ptr<Queue>> queues = state.waiting;
    for (const auto& queue : queues) any |= advance(state, queue);
  }
  std::erase_if(state.waiting, [](const std::shared_ptr<Queue>& queue) { return queue->pending.empty(); });
  state.changed();
}

void finish(State& state, const std::shared_ptr<Queue>& queue) {
  pump(state);
  while (!queue->pending.empty()) state.wait(*current_lock());
  state.require_device();
  state.gpu().synchronize(queue->stream);
}

void complete(State& state, const std::shared_ptr<Event>& event) {
  if (event->status != CL_SUBMITTED) return;
  if (state.broken()) {
    fail(state, event, CL_OUT_OF_RESOURCES);
    return;
  }
  gpu::Gpu& gpu = state.gpu();
  try {
    if (event->end)
      gpu.wait_host(*event->end);
    else
      gpu.synchronize(event->queue->stream);
    if (event->begin) {
      const double end = std::max(event->submitted_ns, gpu.event_time_ns(*event->end).value_or(0));
      event->start_ns =
          std::min(end, std::max(event->start_ns, gpu.event_time_ns(*event->begin).value_or(0)));
      event->end_ns = end;
      gpu.destroy_event(*event->begin);
      gpu.destroy_event(*event->end);
      event->begin.reset();
      event->end.reset();
    }
  } catch (...) {
    fail(state, event, CL_OUT_OF_RESOURCES);
    throw;
  }
  event->status = CL_COMPLETE;
  notify(state, event);
}

bool wait_for(State& state, const std::shared_ptr<Event>& event) {
  pump(state);
  while (event->status == CL_QUEUED || (event->queue == nullptr && event->status > CL_COMPLETE))
    state.wait(*current_lock());
  complete(state, event);
  return event->status == CL_COMPLETE;
}

void notify(State& state, const std::shared_ptr<Event>& event) {
  const auto reached = [&](const Event::Callback& c) { return event->status <= c.status; };
  for (const Event::Callback& c : event->callbacks)
    if (reached(c))
      Callbacks::get().post([c, held = std::shared_ptr<Event>(event),
                             status = event->status < 0 ? event->status : c.status]() mutable {
        c.function(reinterpret_cast<cl_event>(held->handle()), status, c.data);
        // The last owner of an event must have the lock when it goes.
        static_cast<void>(call([&](State&) -> cl_int {
          held.reset();
          return CL_SUCCESS;
        }));
      });
  std::erase_if(event->callbacks, reached);
  if (event->callbacks.empty()) state.owed.erase(event);
  state.changed();
}

void complete_in_background(const std::shared_ptr<Event>& event) {
  Callbacks::get().post([handle = event->handle()] {
    static_cast<void>(call([&](State& state) -> cl_int {
      if (const auto found = find<Event>(handle)) complete(state, found);
      return CL_SUCCESS;
    }));
  });
}

}  // namespace simtlab::hosts::opencl

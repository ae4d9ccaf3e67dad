// From an enqueued command to an operation on a stream of the GPU, and its event.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hosts/opencl/objects.h"
#include "hosts/opencl/state.h"

namespace simtlab::hosts::opencl {

using Events = std::vector<std::shared_ptr<Event>>;

// The events of a wait list. Throws Failure: CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT.
Events wait_list(const Context& context, cl_uint count, const cl_event* list);

struct Submission {
  std::shared_ptr<Queue> queue;
  cl_command_type type = CL_COMMAND_MARKER;
  Events waits{};
  cl_event* event_out = nullptr;
  bool blocking = false;
  bool barrier = false;
};

// Gives the command to the GPU, or keeps it until the program's events allow it. `submit` puts the work on
// the queue's stream; what it refers to must live as long. blocking: returns when the command has ended.
cl_int enqueue(State& state, const Submission& submission, std::function<void()> submit);

// Commands whose events have come go to the GPU.
void pump(State& state);
// Waits until all commands of the queue have ended.
void finish(State& state, const std::shared_ptr<Queue>& queue);
// Waits until the command has ended, or was given up; true if it ended well. Events of the program are waited
// for without the lock.
bool wait_for(State& state, const std::shared_ptr<Event>& event);
// The same for a command that the GPU already has.
void complete(State& state, const std::shared_ptr<Event>& event);

// The status of an event changed: calls the functions that wait for it, and lets commands go on.
void notify(State& state, const std::shared_ptr<Event>& event);
// Somebody must make time go on for functions that wait for the event.
void complete_in_background(const std::shared_ptr<Event>& event);

}  // namespace simtlab::hosts::opencl

#include "hosts/opencl/objects.h"

#include "hosts/opencl/callbacks.h"
#include "hosts/opencl/state.h"

namespace simtlab::hosts::opencl {
namespace {

// Destructors let time go on where memory or code goes, and what a kernel does wrong comes out there.
template <typename Body>
void quietly(Body&& body) {
  State& state = State::get();
  try {
    body(state);
  } catch (...) { static_cast<void>(code_of_current_exception(state)); }
}

}  // namespace

Queue::Queue(std::shared_ptr<Context> its_context, cl_command_queue_properties its_properties)
    : context(std::move(its_context)),
      properties(its_properties),
      stream(State::get().gpu().create_stream(true)) {}

Queue::~Queue() {
  quietly([&](State& state) { state.gpu().destroy_stream(stream); });
}

Buffer::~Buffer() {
  if (parent == nullptr && address != 0) quietly([&](State& state) { state.gpu().release(address); });
  // The last one registered is called first.
  for (auto it = destructors.rbegin(); it != destructors.rend(); ++it)
    Callbacks::get().post([function = it->first, data = it->second,
                           mem = reinterpret_cast<cl_mem>(handle())] { function(mem, data); });
}

Program::~Program() {
  quietly([&](State& state) {
    if (module) state.gpu().unload_module(*module);
    if (offset_module) state.gpu().unload_module(*offset_module);
  });
}

Kernel::~Kernel() {
  if (program) --program->kernels;
}

const ptx::Function& Kernel::function() const {
  return State::get().gpu().module(kernel.module).functions[kernel.function];
}

Event::~Event() {
  quietly([&](State& state) {
    if (begin) state.gpu().destroy_event(*begin);
    if (end) state.gpu().destroy_event(*end);
  });
}

}  // namespace simtlab::hosts::opencl

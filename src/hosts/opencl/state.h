// The process-wide state of the OpenCL library, and the shell around every function: lock, checks, exceptions
// to error codes.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <vector>

#include "hosts/float_control.h"
#include "hosts/opencl/objects.h"
#include "hosts/session.h"

namespace simtlab::hosts::opencl {

// Ends a call with an error code.
struct Failure {
  cl_int code;
};

inline void require(bool condition, cl_int code) {
  if (!condition) throw Failure{code};
}

template <typename T>
std::shared_ptr<T> need(const void* handle, cl_int code) {
  std::shared_ptr<T> object = find<T>(handle);
  require(object != nullptr, code);
  return object;
}

class State : public hosts::Session {
 public:
  static State& get();

  const std::shared_ptr<Platform>& platform() const { return platform_; }
  const std::shared_ptr<DeviceObject>& device_object() const { return device_; }
  bool is_platform(cl_platform_id id) const { return static_cast<const void*>(id) == platform_->handle(); }
  bool is_device(cl_device_id id) const { return static_cast<const void*>(id) == device_->handle(); }

  // A kernel failed: nothing runs any more.
  bool broken() const { return broken_; }
  // Ends the call if nothing runs any more, a GPU that several programs share included.
  void require_device() {
    require(!broken_, CL_OUT_OF_RESOURCES);
    if (started()) gpu();
  }
  cl_int report(const Error& error);
  cl_int report_internal(const char* what);
  // Waits, without the lock, until something changed that a command may wait for.
  void wait(std::unique_lock<std::mutex>& lock) { changed_.wait(lock); }
  void changed() { changed_.notify_all(); }
  void settle() override;

  // Queues with commands that have to wait for an event of the program.
  std::vector<std::shared_ptr<Queue>> waiting;
  // Events that functions of the program wait for: they live until those were called, whatever the program
  // released.
  std::set<std::shared_ptr<Event>> owed;

 private:
  State();
  bool broken_ = false;
  std::shared_ptr<Platform> platform_;
  std::shared_ptr<DeviceObject> device_;
  std::condition_variable changed_;
};

// The lock of the call that this thread is in.
std::unique_lock<std::mutex>*& current_lock();

cl_int code_of_current_exception(State& state);

// body: cl_int(State&), under the lock; may throw Failure or Error.
template <typename Body>
cl_int call(Body&& body) {
  State& state = State::get();
  std::unique_lock lock(state.mutex);
  current_lock() = &lock;
  const hosts::DefaultFloatControl float_control;
  cl_int code = CL_SUCCESS;
  try {
    code = body(state);
  } catch (...) { code = code_of_current_exception(state); }
  state.keep_counts();
  return code;
}

// body: std::shared_ptr<T>(State&). The program gets a handle with one reference.
template <typename H, typename Body>
H create(cl_int* code_out, Body&& body) {
  H handle = nullptr;
  const cl_int code = call([&](State& state) -> cl_int {
    const auto object = body(state);
    object->hand_out();
    handle = reinterpret_cast<H>(object->handle());
    return CL_SUCCESS;
  });
  if (code_out != nullptr) *code_out = code;
  return code == CL_SUCCESS ? handle : nullptr;
}

template <typename T>
cl_int retain(const void* handle, cl_int code) {
  return call([&](State&) -> cl_int { return need<T>(handle, code)->retain() ? CL_SUCCESS : code; });
}
template <typename T>
cl_int release(const void* handle, cl_int code) {
  return call([&](State&) -> cl_int { return need<T>(handle, code)->release() ? CL_SUCCESS : code; });
}

}  // namespace simtlab::hosts::opencl

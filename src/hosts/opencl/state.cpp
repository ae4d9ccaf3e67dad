#include "hosts/opencl/state.h"

#include "exec/executor.h"
#include "hosts/process.h"

namespace simtlab::hosts::opencl {

State& State::get() {
  static State* state = new State;  // never destroyed: programs call us from their own exit handlers
  return *state;
}

State::State() : platform_(std::make_shared<Platform>()), device_(std::make_shared<DeviceObject>()) {
  platform_->hand_out();
  device_->hand_out();
}

std::unique_lock<std::mutex>*& current_lock() {
  static thread_local std::unique_lock<std::mutex>* lock = nullptr;
  return lock;
}

cl_int State::report(const Error& error) {
  // A program may try a launch that does not fit and go on; that alone is no failure of the run.
  if (error.id().starts_with("launch-") && error.code() == ExitCode::bad_input) {
    refuse_launch("simtlab: " + error.format());
    return error.id() == "launch-resources" ? CL_OUT_OF_RESOURCES : CL_INVALID_WORK_GROUP_SIZE;
  }
  tell_and_keep(error);
  if (failed_to_start()) return CL_DEVICE_NOT_AVAILABLE;
  if (error.id() != "corun-device" && error.code() == ExitCode::unavailable) return CL_COMPILER_NOT_AVAILABLE;
  broken_ = true;
  return CL_OUT_OF_RESOURCES;
}

cl_int State::report_internal(const char* what) {
  tell_and_keep(Error(ExitCode::failure, "internal", what));
  broken_ = true;
  return CL_OUT_OF_RESOURCES;
}

void State::settle() {
  if (broken_) return;
  const hosts::DefaultFloatControl float_control;
  try {
    gpu().synchronize();
  } catch (...) { static_cast<void>(code_of_current_exception(*this)); }
}

cl_int code_of_current_exception(State& state) {
  try {
    throw;
  } catch (const Failure& failure) { return failure.code; } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted)
      hosts::stop_interrupted(state, error.diagnostics().front().message);
    return state.report(error);
  } catch (const std::bad_alloc&) { return CL_OUT_OF_HOST_MEMORY; } catch (const std::exception& error) {
    return state.report_internal(error.what());
  }
}

}  // namespace simtlab::hosts::opencl

// The objects of OpenCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "hosts/opencl/registry.h"

namespace simtlab::hosts::opencl {

class Platform : public Object {};
class DeviceObject : public Object {};

class Context : public Object {
 public:
  std::vector<cl_context_properties> properties;  // as given, with the final 0
};

class Event;

// A command that has not been given to the GPU, because it has to wait for an event of the program.
struct Command {
  std::shared_ptr<Event> event;
  std::vector<std::shared_ptr<Event>> waits;
  std::function<void()> submit;  // puts the work on the queue's stream
  bool barrier = false;          // nothing behind it may overtake
};

// A stream of the GPU. Commands go to it in order, or, out of order, as soon as what they wait for is known
// to come; there they run in that order one after another.
class Queue : public Object {
 public:
  Queue(std::shared_ptr<Context> its_context, cl_command_queue_properties its_properties);
  ~Queue() override;
  bool out_of_order() const { return (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0; }

  const std::shared_ptr<Context> context;
  cl_command_queue_properties properties;
  gpu::StreamId stream;
  std::deque<Command> pending;
};

class Buffer : public Object {
 public:
  ~Buffer() override;

  std::shared_ptr<Context> context;
  std::shared_ptr<Buffer> parent;  // of a sub-buffer
  cl_mem_flags flags = 0;
  std::size_t size = 0, origin = 0;
  void* host_pointer = nullptr;  // CL_MEM_USE_HOST_PTR
  std::uint64_t address = 0;

  struct Mapping {
    std::byte* pointer = nullptr;
    std::size_t offset = 0, size = 0;
    cl_map_flags flags = 0;
    std::shared_ptr<std::vector<std::byte>> memory;  // unless it is the program's own
  };
  std::vector<Mapping> mappings;
  using Destructor = void(CL_CALLBACK*)(cl_mem, void*);
  std::vector<std::pair<Destructor, void*>> destructors;
};

class Program : public Object {
 public:
  ~Program() override;

  std::shared_ptr<Context> context;
  std::string source;  // empty: made from a binary
  bool has_source = false;
  std::string options, log;
  cl_build_status status = CL_BUILD_NONE;
  cl_program_binary_type binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
  std::string ptx;
  std::optional<gpu::ModuleId> module;
  std::optional<gpu::ModuleId> offset_module;  // the same with an offset of the global ids
  std::vector<std::string> build_options;
  std::vector<std::string> kernel_names;
  unsigned kernels = 0;  // objects that exist
};

class Kernel : public Object {
 public:
  ~Kernel() override;

  std::shared_ptr<Program> program;
  std::string name;
  gpu::Kernel kernel;
  struct Argument {
    bool set = false;
    std::vector<std::byte> value;  // by value
    std::weak_ptr<Buffer> buffer;  // of a pointer
    bool null_pointer = false;
    std::uint64_t local_bytes = 0;
  };
  std::vector<Argument> arguments;
  const ptx::Function& function() const;
};

class Event : public Object {
 public:
  ~Event() override;

  std::shared_ptr<Context> context;
  std::shared_ptr<Queue> queue;  // null: an event of the program
  cl_command_type type = CL_COMMAND_USER;
  cl_int status = CL_QUEUED;  // CL_QUEUED, CL_SUBMITTED, CL_COMPLETE or an error
  bool wanted = false;        // the program has it, or something waits for it: times are kept
  double queued_ns = 0, submitted_ns = 0, start_ns = 0, end_ns = 0;
  std::optional<gpu::EventId> begin, end;
  using Function = void(CL_CALLBACK*)(cl_event, cl_int, void*);
  struct Callback {
    Function function = nullptr;
    cl_int status = CL_COMPLETE;
    void* data = nullptr;
  };
  std::vector<Callback> callbacks;
};

}  // namespace simtlab::hosts::opencl

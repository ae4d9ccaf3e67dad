// Reading, writing, copying, filling buffers.
#include <limits>

#include "hosts/opencl/api.h"
#include "hosts/opencl/commands.h"

namespace simtlab::hosts::opencl::api {
namespace {

using Kind = gpu::Gpu::CopyKind;
using Box = gpu::Gpu::Box;

void* device_pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

// What host access its creation left a buffer.
void check_host_access(const Buffer& buffer, cl_mem_flags forbidden) {
  require((buffer.flags & (forbidden | CL_MEM_HOST_NO_ACCESS)) == 0, CL_INVALID_OPERATION);
}

void check_range(const Buffer& buffer, std::size_t offset, std::size_t size) {
  require(size != 0 && offset <= buffer.size && size <= buffer.size - offset, CL_INVALID_VALUE);
}

// A rectangle in a buffer or in host memory: where it begins, and its pitches.
struct Side {
  std::size_t offset = 0, row_pitch = 0, slice_pitch = 0;
  std::size_t end = 0;  // behind its last byte
};

Side side_of(const size_t* origin, const size_t* region, std::size_t row_pitch, std::size_t slice_pitch) {
  require(origin != nullptr && region != nullptr, CL_INVALID_VALUE);
  require(region[0] != 0 && region[1] != 0 && region[2] != 0, CL_INVALID_VALUE);
  Side side;
  side.row_pitch = row_pitch == 0 ? region[0] : row_pitch;
  require(side.row_pitch >= region[0], CL_INVALID_VALUE);
  std::size_t rows = 0;
  require(!__builtin_mul_overflow(region[1], side.row_pitch, &rows), CL_INVALID_VALUE);
  side.slice_pitch = slice_pitch == 0 ? rows : slice_pitch;
  require(side.slice_pitch >= rows && side.slice_pitch % side.row_pitch == 0, CL_INVALID_VALUE);
  const auto place = [&](std::size_t x, std::size_t y, std::size_t z) {
    std::size_t a = 0, b = 0, sum = 0;
    require(
        !__builtin_mul_overflow(z, side.slice_pitch, &a) && !__builtin_mul_overflow(y, side.row_pitch, &b),
        CL_INVALID_VALUE);
    require(!__builtin_add_overflow(a, b, &sum) && !__builtin_add_overflow(sum, x, &sum), CL_INVALID_VALUE);
    return sum;
  };
  const auto beyond = [&](std::size_t d, std::size_t n) {
    std::size_t sum = 0;
    require(!__builtin_add_overflow(origin[d], n, &sum), CL_INVALID_VALUE);
    return sum;
  };
  side.offset = place(origin[0], origin[1], origin[2]);
  side.end = place(beyond(0, region[0]), beyond(1, region[1] - 1), beyond(2, region[2] - 1));
  return side;
}

Box box_of(const size_t* region, const Side& to, const Side& from) {
  Box box;
  box.width = region[0];
  box.height = region[1];
  box.depth = region[2];
  box.dst_pitch = to.row_pitch;
  box.dst_slice = to.slice_pitch;
  box.src_pitch = from.row_pitch;
  box.src_slice = from.slice_pitch;
  return box;
}

struct Transfer {
  std::shared_ptr<Buffer> buffer;
  std::size_t offset = 0;  // in the buffer
  std::byte* host = nullptr;
  Box box;
  bool read = false;
};

cl_int transfer(State& state, const Submission& s, Transfer t) {
  return enqueue(state, s, [&state, queue = s.queue.get(), t = std::move(t)] {
    void* device = device_pointer(t.buffer->address + t.offset);
    const bool done =
        t.read ? state.gpu().copy_box(t.host, device, t.box, Kind::device_to_host, queue->stream, true)
               : state.gpu().copy_box(device, t.host, t.box, Kind::host_to_device, queue->stream, true);
    require(done, CL_OUT_OF_RESOURCES);
  });
}

// clEnqueueReadBuffer and clEnqueueWriteBuffer.
cl_int linear(cl_command_type type, cl_command_queue queue_handle, cl_mem memory, cl_bool blocking,
              size_t offset, size_t size, const void* host, cl_uint count, const cl_event* list,
              cl_event* event) {
  return call([&](State& state) -> cl_int {
    const auto queue = need<Queue>(queue_handle, CL_INVALID_COMMAND_QUEUE);
    const auto buffer = need<Buffer>(memory, CL_INVALID_MEM_OBJECT);
    require(buffer->context == queue->context, CL_INVALID_CONTEXT);
    require(host != nullptr, CL_INVALID_VALUE);
    check_range(*buffer, offset, size);
    const bool read = type == CL_COMMAND_READ_BUFFER;
    check_host_access(*buffer, read ? CL_MEM_HOST_WRITE_ONLY : CL_MEM_HOST_READ_ONLY);
    const Submission s{queue, type, wait_list(*queue->context, count, list), event, blocking != CL_FALSE};
    Box box;
    box.width = size;
    return transfer(state, s, {buffer, offset, static_cast<std::byte*>(const_cast<void*>(host)), box, read});
  });
}

cl_int rectangle(cl_command_type type, cl_command_queue queue_handle, cl_mem memory, cl_bool blocking,
                 const size_t* buffer_origin, const size_t* host_origin, const size_t* region,
                 size_t buffer_row, size_t buffer_slice, size_t host_row, size_t host_slice, const void* host,
                 cl_uint count, const cl_event* list, cl_event* event) {
  return call([&](State& state) -> cl_int {
    const auto queue = need<Queue>(queue_handle, CL_INVALID_COMMAND_QUEUE);
    const auto buffer = need<Buffer>(memory, CL_INVALID_MEM_OBJECT);
    require(buffer->context == queue->context, CL_INVALID_CONTEXT);
    require(host != nullptr, CL_INVALID_VALUE);
    const Side on_device = side_of(buffer_origin, region, buffer_row, buffer_slice),
               on_host = side_of(host_origin, region, host_row, host_slice);
    require(on_device.end <= buffer->size, CL_INVALID_VALUE);
    const bool read = type == CL_COMMAND_READ_BUFFER_RECT;
    check_host_access(*buffer, read ? CL_MEM_HOST_WRITE_ONLY : CL_MEM_HOST_READ_ONLY);
    const Submission s{queue, type, wait_list(*queue->context, count, list), event, blocking != CL_FALSE};
    return transfer(
        state, s,
        {buffer, on_device.offset, static_cast<std::byte*>(const_cast<void*>(host)) + on_host.offset,
         read ? box_of(region, on_host, on_device) : box_of(region, on_device, on_host), read});
  });
}

bool same_memory(const Buffer& a, const Buffer& b) {
  return (a.parent ? a.parent.get() : &a) == (b.parent ? b.parent.get() : &b);
}

cl_int copy(State& state, const Submission& s, std::shared_ptr<Buffer> from, std::shared_ptr<Buffer> to,
            std::size_t from_offset, std::size_t to_offset, const Box& box) {
  require(from->context == s.queue->context && to->context == s.queue->context, CL_INVALID_CONTEXT);
  return enqueue(state, s,
                 [&state, queue = s.queue.get(), from = std::move(from), to = std::move(to), from_offset,
                  to_offset, box] {
                   require(state.gpu().copy_box(device_pointer(to->address + to_offset),
                                                device_pointer(from->address + from_offset), box,
                                                Kind::device_to_device, queue->stream, true),
                           CL_OUT_OF_RESOURCES);
                 });
}

void fill(State& state, const Queue& queue, const Buffer& buffer, std::size_t offset, std::size_t size,
          const std::vector<std::byte>& pattern) {
  gpu::Gpu& gpu = state.gpu();
  const std::uint64_t begin = buffer.address + offset;
  bool one_byte = true;
  for (const std::byte b : pattern) one_byte &= b == pattern.front();
  if (one_byte) {
    require(gpu.fill(begin, pattern.front(), size, queue.stream, true), CL_OUT_OF_RESOURCES);
    return;
  }
  // The GPU fills with bytes: a pattern is written here, at the time that the fill takes.
  gpu.synchronize(queue.stream);
  for (std::size_t done = 0; done < size; done += pattern.size())
    require(gpu.memory().write(begin + done, pattern), CL_OUT_OF_RESOURCES);
  gpu.charge_fill(size, queue.stream, true);
}

}  // namespace

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t size, void* host, cl_uint count, const cl_event* list,
                                       cl_event* event) {
  return linear(CL_COMMAND_READ_BUFFER, queue, buffer, blocking, offset, size, host, count, list, event);
}
cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        size_t offset, size_t size, const void* host, cl_uint count,
                                        const cl_event* list, cl_event* event) {
  return linear(CL_COMMAND_WRITE_BUFFER, queue, buffer, blocking, offset, size, host, count, list, event);
}

cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                           const size_t* buffer_origin, const size_t* host_origin,
                                           const size_t* region, size_t buffer_row, size_t buffer_slice,
                                           size_t host_row, size_t host_slice, void* host, cl_uint count,
                                           const cl_event* list, cl_event* event) {
  return rectangle(CL_COMMAND_READ_BUFFER_RECT, queue, buffer, blocking, buffer_origin, host_origin, region,
                   buffer_row, buffer_slice, host_row, host_slice, host, count, list, event);
}
cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                            const size_t* buffer_origin, const size_t* host_origin,
                                            const size_t* region, size_t buffer_row, size_t buffer_slice,
                                            size_t host_row, size_t host_slice, const void* host,
                                            cl_uint count, const cl_event* list, cl_event* event) {
  return rectangle(CL_COMMAND_WRITE_BUFFER_RECT, queue, buffer, blocking, buffer_origin, host_origin, region,
                   buffer_row, buffer_slice, host_row, host_slice, host, count, list, event);
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue_handle, cl_mem from_handle, cl_mem to_handle,
                                       size_t from_offset, size_t to_offset, size_t size, cl_uint count,
                                       const cl_event* list, cl_event* event) {
  return call([&](State& state) -> cl_int {
    const auto queue = need<Queue>(queue_handle, CL_INVALID_COMMAND_QUEUE);
    const auto from = need<Buffer>(from_handle, CL_INVALID_MEM_OBJECT),
               to = need<Buffer>(to_handle, CL_INVALID_MEM_OBJECT);
    check_range(*from, from_offset, size);
    check_range(*to, to_offset, size);
    const std::uint64_t a = from->address + from_offset, b = to->address + to_offset;
    require(!same_memory(*from, *to) || a + size <= b || b + size <= a, CL_MEM_COPY_OVERLAP);
    const Submission s{queue, CL_COMMAND_COPY_BUFFER, wait_list(*queue->context, count, list), event};
    Box box;
    box.width = size;
    return copy(state, s, from, to, from_offset, to_offset, box);
  });
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue_handle, cl_mem from_handle,
                                           cl_mem to_handle, const size_t* from_origin,
                                           const size_t* to_origin, const size_t* region, size_t from_row,
                                           size_t from_slice, size_t to_row, size_t to_slice, cl_uint count,
                                           const cl_event* list, cl_event* event) {
  return call([&](State& state) -> cl_int {
    const auto queue = need<Queue>(queue_handle, CL_INVALID_COMMAND_QUEUE);
    const auto from = need<Buffer>(from_handle, CL_INVALID_MEM_OBJECT),
               to = need<Buffer>(to_handle, CL_INVALID_MEM_OBJECT);
    const Side a = side_of(from_origin, region, from_row, from_slice),
               b = side_of(to_origin, region, to_row, to_slice);
    require(a.end <= from->size && b.end <= to->size, CL_INVALID_VALUE);
    if (same_memory(*from, *to)) {
      const std::uint64_t a_begin = from->address + a.offset, b_begin = to->address + b.offset;
      const std::uint64_t a_end = from->address + a.end, b_end = to->address + b.end;
      // Rectangles that share rows without overlapping are rare; with equal pitches they can be told apart.
      const std::uint64_t distance = a_begin > b_begin ? a_begin - b_begin : b_begin - a_begin;
      const std::uint64_t column = distance % a.row_pitch;
      const bool beside = a.row_pitch == b.row_pitch && a.slice_pitch == b.slice_pitch &&
                          column >= region[0] && a.row_pitch - column >= region[0];
      require(a_end <= b_begin || b_end <= a_begin || beside, CL_MEM_COPY_OVERLAP);
    }
    const Submission s{queue, CL_COMMAND_COPY_BUFFER_RECT, wait_list(*queue->context, count, list), event};
    return copy(state, s, from, to, a.offset, b.offset, box_of(region, b, a));
  });
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue_handle, cl_mem memory, const void* pattern,
                                       size_t pattern_size, size_t offset, size_t size, cl_uint count,
                                       const cl_event* list, cl_event* event) {
  return call([&](State& state) -> cl_int {
    const auto queue = need<Queue>(queue_handle, CL_INVALID_COMMAND_QUEUE);
    const auto buffer = need<Buffer>(memory, CL_INVALID_MEM_OBJECT);
    require(buffer->context == queue->context, CL_INVALID_CONTEXT);
    require(pattern != nullptr && pattern_size != 0 && pattern_size <= 128 &&
                (pattern_size & (pattern_size - 1)) == 0,
            CL_INVALID_VALUE);
    check_range(*buffer, offset, size);
    require(offset % pattern_size == 0 && size % pattern_size == 0, CL_INVALID_VALUE);
    const auto* bytes = static_cast<const std::byte*>(pattern);
    const Submission s{queue, CL_COMMAND_FILL_BUFFER, wait_list(*queue->context, count, list), event};
    return enqueue(state, s,
                   [&state, queue = queue.get(), buffer, offset, size,
                    p = std::vector<std::byte>(bytes, bytes + pattern_size)] {
                     fill(state, *queue, *buffer, offset, size, p);
                   });
  });
}

cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue queue_handle, cl_uint n,
                                              const cl_mem* memories, cl_mem_migration_flags flags,
                                              cl_uint count, const cl_event* list, cl_event* event) {
  return call([&](State& state) -> cl_int {
    const auto queue = need<Queue>(queue_handle, CL_INVALID_COMMAND_QUEUE);
    require(n != 0 && memories != nullptr, CL_INVALID_VALUE);
    require((flags & ~static_cast<cl_mem_migration_flags>(CL_MIGRATE_MEM_OBJECT_HOST |
                                                          CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)) == 0,
            CL_INVALID_VALUE);
    for (cl_uint i = 0; i < n; ++i)
      require(need<Buffer>(memories[i], CL_INVALID_MEM_OBJECT)->context == queue->context,
              CL_INVALID_CONTEXT);
    // There is one device, and everything is on it.
    return enqueue(
        state, {queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, wait_list(*queue->context, count, list), event}, {});
  });
}

}  // namespace simtlab::hosts::opencl::api

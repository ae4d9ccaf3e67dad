// Copies and fills: bytes at once, time on the timeline.
#include <algorithm>
#include <cstring>

#include "gpu/impl.h"

namespace simtlab::gpu {
namespace {

// Bytes from the first to the last byte of a box; nullopt if that does not fit 63 bits.
std::optional<std::uint64_t> extent(const Gpu::Box& box, std::uint64_t pitch, std::uint64_t slice) {
  std::uint64_t rows = 0, slices = 0, all = 0, total = 0;
  const bool overflow =
      __builtin_mul_overflow(box.height - 1, pitch, &rows) ||
      __builtin_mul_overflow(box.depth - 1, slice, &slices) || __builtin_add_overflow(rows, slices, &all) ||
      __builtin_add_overflow(all, box.width, &all) || __builtin_mul_overflow(box.width, box.height, &total) ||
      __builtin_mul_overflow(total, box.depth, &total);
  if (overflow || (all >> 63) != 0) return std::nullopt;
  return all;
}

}  // namespace

double Gpu::Impl::copy_time(std::uint64_t bytes, CopyKind kind) const {
  const double size = static_cast<double>(bytes);
  const device::Device::Host& host = device.host;
  switch (kind) {
    case CopyKind::host_to_device:
      return host.copy_latency_ns + size / host.copy_bandwidth_h2d * 1e9;
    case CopyKind::device_to_host:
      return host.copy_latency_ns + size / host.copy_bandwidth_d2h * 1e9;
    case CopyKind::device_to_device:
      break;
  }
  // Read and written by the same memory.
  const double bandwidth =
      device.dram.bandwidth_measured > 0 ? device.dram.bandwidth_measured : device.dram.bandwidth;
  return host.launch_overhead_ns + 2 * size / bandwidth * 1e9;
}

double Gpu::Impl::fill_time(std::uint64_t bytes) const {
  const double bandwidth =
      device.dram.bandwidth_measured > 0 ? device.dram.bandwidth_measured : device.dram.bandwidth;
  return device.host.launch_overhead_ns + static_cast<double>(bytes) / bandwidth * 1e9;
}

void Gpu::Impl::charge(std::uint64_t bytes, CopyKind kind, StreamId stream, bool async) {
  note(stream::trace::OpKind::copy, {.flag = async, .stream = stream, .a = bytes, .b = static_cast<std::uint64_t>(kind)});
  const double duration = copy_time(bytes, kind);
  const Engine engine = kind == CopyKind::host_to_device   ? Engine::copy_in
                        : kind == CopyKind::device_to_host ? Engine::copy_out
                                                           : Engine::compute;
  timeline.submit(stream, engine, duration, 0, !async);
  ++copy_count;
  copy_bytes[static_cast<std::size_t>(kind)] += bytes;
  copy_time_ns += duration;
}

void Gpu::Impl::charge_fill(std::uint64_t bytes, StreamId stream, bool async) {
  note(stream::trace::OpKind::fill, {.flag = async, .stream = stream, .a = bytes});
  const double duration = fill_time(bytes);
  timeline.submit(stream, Engine::compute, duration, 0, !async);
  ++copy_count;
  fill_bytes += bytes;
  copy_time_ns += duration;
}

bool Gpu::copy(void* dst, const void* src, std::uint64_t bytes, CopyKind kind, StreamId stream, bool async) {
  const std::uint64_t to = reinterpret_cast<std::uint64_t>(dst), from = reinterpret_cast<std::uint64_t>(src);
  Impl& m = *impl_;
  if (bytes == 0) return true;
  switch (kind) {
    case CopyKind::host_to_device:
      if (!m.memory.write(to, {static_cast<const std::byte*>(src), bytes})) return false;
      break;
    case CopyKind::device_to_host:
      if (!m.memory.read(from, {static_cast<std::byte*>(dst), bytes})) return false;
      break;
    case CopyKind::device_to_device:
      if (m.memory.find(to, bytes) == nullptr || m.memory.find(from, bytes) == nullptr) return false;
      std::copy_n(m.memory.host(from), bytes, m.memory.host(to));
      break;
  }
  if (kind != CopyKind::device_to_host) m.invalidate(to, bytes);
  m.charge(bytes, kind, stream, async);
  return true;
}

bool Gpu::copy_box(void* dst, const void* src, const Box& box, CopyKind kind, StreamId stream, bool async) {
  Impl& m = *impl_;
  if (box.width == 0 || box.height == 0 || box.depth == 0) return true;
  const std::optional<std::uint64_t> to_extent = extent(box, box.dst_pitch, box.dst_slice);
  const std::optional<std::uint64_t> from_extent = extent(box, box.src_pitch, box.src_slice);
  if (!to_extent || !from_extent) return false;
  auto* to = static_cast<std::byte*>(dst);
  const auto* from = static_cast<const std::byte*>(src);
  const std::uint64_t to_address = reinterpret_cast<std::uint64_t>(dst);
  if (kind != CopyKind::device_to_host) {
    if (m.memory.find(to_address, *to_extent) == nullptr) return false;
    to = m.memory.host(to_address);
  }
  if (kind != CopyKind::host_to_device) {
    const std::uint64_t from_address = reinterpret_cast<std::uint64_t>(src);
    if (m.memory.find(from_address, *from_extent) == nullptr) return false;
    from = m.memory.host(from_address);
  }
  for (std::uint64_t z = 0; z < box.depth; ++z)
    for (std::uint64_t y = 0; y < box.height; ++y)
      std::memmove(to + z * box.dst_slice + y * box.dst_pitch, from + z * box.src_slice + y * box.src_pitch,
                   box.width);
  if (kind != CopyKind::device_to_host) m.invalidate(to_address, *to_extent);
  m.charge(box.width * box.height * box.depth, kind, stream, async);
  return true;
}

bool Gpu::fill_box(std::uint64_t address, std::byte value, const Box& box, StreamId stream, bool async) {
  Impl& m = *impl_;
  if (box.width == 0 || box.height == 0 || box.depth == 0) return true;
  const std::optional<std::uint64_t> all = extent(box, box.dst_pitch, box.dst_slice);
  if (!all || m.memory.find(address, *all) == nullptr) return false;
  for (std::uint64_t z = 0; z < box.depth; ++z)
    for (std::uint64_t y = 0; y < box.height; ++y)
      m.memory.fill(address + z * box.dst_slice + y * box.dst_pitch, value, box.width);
  m.invalidate(address, *all);
  m.charge_fill(box.width * box.height * box.depth, stream, async);
  return true;
}

bool Gpu::fill(std::uint64_t address, std::byte value, std::uint64_t bytes, StreamId stream, bool async) {
  Impl& m = *impl_;
  if (bytes == 0) return true;
  if (!m.memory.fill(address, value, bytes)) return false;
  m.invalidate(address, bytes);
  m.charge_fill(bytes, stream, async);
  return true;
}

void Gpu::charge_copy(std::uint64_t bytes, CopyKind kind, StreamId stream, bool async) {
  impl_->charge(bytes, kind, stream, async);
}

void Gpu::charge_fill(std::uint64_t bytes, StreamId stream, bool async) {
  impl_->charge_fill(bytes, stream, async);
}

}  // namespace simtlab::gpu

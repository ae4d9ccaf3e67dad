// Copies and fills: their time on the schedule, and what they do to memory when they end.
#include <algorithm>
#include <cstring>

#include "gpu/copy_time.h"
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

double copy_ns(const device::Device& device, std::uint64_t bytes, Gpu::CopyKind kind) {
  const double size = static_cast<double>(bytes);
  const device::Device::Host& host = device.host;
  switch (kind) {
    case Gpu::CopyKind::host_to_device: return host.copy_latency_ns + size / host.copy_bandwidth_h2d * 1e9;
    case Gpu::CopyKind::device_to_host: return host.copy_latency_ns + size / host.copy_bandwidth_d2h * 1e9;
    case Gpu::CopyKind::device_to_device: break;
  }
  // Read and written by the same memory.
  const double bandwidth =
      device.dram.bandwidth_measured > 0 ? device.dram.bandwidth_measured : device.dram.bandwidth;
  return host.launch_overhead_ns + 2 * size / bandwidth * 1e9;
}

double fill_ns(const device::Device& device, std::uint64_t bytes) {
  const double bandwidth =
      device.dram.bandwidth_measured > 0 ? device.dram.bandwidth_measured : device.dram.bandwidth;
  return device.host.launch_overhead_ns + static_cast<double>(bytes) / bandwidth * 1e9;
}

void written(timing::CycleGpu& gpu, const device::Device& device, std::uint64_t address,
             std::uint64_t bytes) {
  // A range as large as L2 empties all of it, which is right for very large ones only.
  constexpr std::uint64_t everything = std::uint64_t{1} << 28;
  if (bytes > everything) return gpu.invalidate(address, bytes);
  const std::uint64_t step = std::max<std::uint64_t>(device.l2.bytes / 4, 4096);
  for (std::uint64_t at = 0; at < bytes; at += step) gpu.invalidate(address + at, std::min(step, bytes - at));
}

void Gpu::Impl::invalidate(std::uint64_t address, std::uint64_t bytes) {
  if (options.shared)
    options.shared->invalidate(address, bytes);
  else if (timing)
    timing->invalidate(address, bytes);
}

std::shared_ptr<check::HostWork> Gpu::Impl::host_work(check::HostWork::Kind kind, StreamId stream,
                                                      bool blocking) {
  if (!checker) return nullptr;
  auto out = std::make_shared<check::HostWork>();
  out->kind = kind;
  out->submitted = checker->streams().submit(stream);
  if (blocking) checker->streams().synchronize(stream);
  return out;
}

void Gpu::Impl::charge(std::uint64_t bytes, CopyKind kind, StreamId stream, bool async,
                       std::function<void()> effect) {
  recorder.note(stream::trace::OpKind::copy,
                {.flag = async, .stream = stream, .a = bytes, .b = static_cast<std::uint64_t>(kind)});
  Work work;
  work.duration_ns = copy_ns(device, bytes, kind);
  work.engine = kind == CopyKind::host_to_device   ? Engine::copy_in
                : kind == CopyKind::device_to_host ? Engine::copy_out
                                                   : Engine::within;
  work.effect = std::move(effect);
  copies.add_copy(static_cast<std::size_t>(kind), bytes, work.duration_ns);
  submit(stream, std::move(work), 0, !async);
}

void Gpu::Impl::charge_fill(std::uint64_t bytes, StreamId stream, bool async, std::function<void()> effect) {
  recorder.note(stream::trace::OpKind::fill, {.flag = async, .stream = stream, .a = bytes});
  Work work;
  work.duration_ns = fill_ns(device, bytes);
  work.engine = Engine::within;
  work.effect = std::move(effect);
  copies.add_fill(bytes, work.duration_ns);
  submit(stream, std::move(work), 0, !async);
}

namespace {

// What a copy does to what is known of memory. from: on the device; 0: on the host.
void note_rows(check::Checker* checker, std::uint64_t to, std::uint64_t from, const Gpu::Box& box) {
  if (checker == nullptr) return;
  for (std::uint64_t z = 0; z < box.depth; ++z)
    for (std::uint64_t y = 0; y < box.height; ++y) {
      const std::uint64_t at = to + z * box.dst_slice + y * box.dst_pitch;
      if (from == 0)
        checker->written(at, box.width);
      else
        checker->copied(at, from + z * box.src_slice + y * box.src_pitch, box.width);
    }
}

void note_fetched(check::Checker* checker, std::uint64_t from, const Gpu::Box& box) {
  if (checker == nullptr) return;
  const bool whole = (box.height == 1 || box.src_pitch == box.width) &&
                     (box.depth == 1 || box.src_slice == box.src_pitch * box.height);
  if (whole) return checker->fetched(from, box.width * box.height * box.depth);
  for (std::uint64_t z = 0; z < box.depth; ++z)
    for (std::uint64_t y = 0; y < box.height; ++y)
      checker->fetched(from + z * box.src_slice + y * box.src_pitch, box.width);
}

std::vector<check::HostWork::Range> ranges(std::uint64_t address, const Gpu::Box& box, std::uint64_t pitch,
                                           std::uint64_t slice) {
  if ((box.height == 1 || pitch == box.width) && (box.depth == 1 || slice == pitch * box.height))
    return {{address, box.width * box.height * box.depth}};
  std::vector<check::HostWork::Range> out;
  for (std::uint64_t z = 0; z < box.depth; ++z)
    for (std::uint64_t y = 0; y < box.height; ++y)
      out.push_back({address + z * slice + y * pitch, box.width});
  return out;
}

void copy_rows(std::byte* to, const std::byte* from, const Gpu::Box& box) {
  for (std::uint64_t z = 0; z < box.depth; ++z)
    for (std::uint64_t y = 0; y < box.height; ++y)
      std::memmove(to + z * box.dst_slice + y * box.dst_pitch, from + z * box.src_slice + y * box.src_pitch,
                   box.width);
}

// What the host may change as soon as an asynchronous copy has been submitted, side by side.
std::shared_ptr<std::vector<std::byte>> staged(const std::byte* from, const Gpu::Box& box) {
  auto bytes = std::make_shared<std::vector<std::byte>>(box.width * box.height * box.depth);
  Gpu::Box packed = box;
  packed.dst_pitch = box.width;
  packed.dst_slice = box.width * box.height;
  copy_rows(bytes->data(), from, packed);
  return bytes;
}

}  // namespace

bool Gpu::copy(void* dst, const void* src, std::uint64_t bytes, CopyKind kind, StreamId stream, bool async) {
  Box box;
  box.width = bytes;
  return copy_box(dst, src, box, kind, stream, async);
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
    if (m.memory.global().find(to_address, *to_extent) == nullptr) return false;
    to = m.memory.global().host(to_address);
    m.recorder.note(stream::trace::OpKind::invalidate, {.a = to_address, .b = *to_extent});
  }
  if (kind != CopyKind::host_to_device) {
    const std::uint64_t from_address = reinterpret_cast<std::uint64_t>(src);
    if (m.memory.global().find(from_address, *from_extent) == nullptr) return false;
    from = m.memory.global().host(from_address);
  }
  using Kind = check::HostWork::Kind;
  const auto work = m.host_work(kind == CopyKind::host_to_device   ? Kind::to_device
                                : kind == CopyKind::device_to_host ? Kind::to_host
                                                                   : Kind::within_device,
                                stream, !async);
  if (work && kind != CopyKind::host_to_device)
    work->reads = ranges(reinterpret_cast<std::uint64_t>(src), box, box.src_pitch, box.src_slice);
  if (work && kind != CopyKind::device_to_host)
    work->writes = ranges(to_address, box, box.dst_pitch, box.dst_slice);
  std::function<void()> effect;
  if (kind == CopyKind::host_to_device && async && !m.schedule.idle()) {
    effect = [work, to, box, bytes = staged(from, box), &m, to_address, extent = *to_extent] {
      Box packed = box;
      packed.src_pitch = box.width;
      packed.src_slice = box.width * box.height;
      copy_rows(to, bytes->data(), packed);
      m.watch(work.get());
      note_rows(m.checker.get(), to_address, 0, box);
      m.invalidate(to_address, extent);
    };
  } else if (kind == CopyKind::host_to_device && async) {
    copy_rows(to, from, box);  // nothing is under way that could see the difference
    m.watch(work.get());
    note_rows(m.checker.get(), to_address, 0, box);
    m.invalidate(to_address, *to_extent);
  } else {
    effect = [=, &m, extent = *to_extent] {
      copy_rows(to, from, box);
      m.watch(work.get());
      if (kind == CopyKind::device_to_host)
        return note_fetched(m.checker.get(), reinterpret_cast<std::uint64_t>(src), box);
      note_rows(m.checker.get(), to_address,
                kind == CopyKind::device_to_device ? reinterpret_cast<std::uint64_t>(src) : 0, box);
      m.invalidate(to_address, extent);
    };
  }
  m.charge(box.width * box.height * box.depth, kind, stream, async, std::move(effect));
  return true;
}

bool Gpu::fill_box(std::uint64_t address, std::byte value, const Box& box, StreamId stream, bool async) {
  Impl& m = *impl_;
  if (box.width == 0 || box.height == 0 || box.depth == 0) return true;
  const std::optional<std::uint64_t> all = extent(box, box.dst_pitch, box.dst_slice);
  if (!all || m.memory.global().find(address, *all) == nullptr) return false;
  m.recorder.note(stream::trace::OpKind::invalidate, {.a = address, .b = *all});
  const auto work = m.host_work(check::HostWork::Kind::fill, stream, !async);
  if (work) work->writes = ranges(address, box, box.dst_pitch, box.dst_slice);
  m.charge_fill(box.width * box.height * box.depth, stream, async, [=, &m, all = *all] {
    m.watch(work.get());
    for (std::uint64_t z = 0; z < box.depth; ++z)
      for (std::uint64_t y = 0; y < box.height; ++y)
        m.memory.global().fill(address + z * box.dst_slice + y * box.dst_pitch, value, box.width);
    m.invalidate(address, all);
  });
  return true;
}

bool Gpu::fill(std::uint64_t address, std::byte value, std::uint64_t bytes, StreamId stream, bool async) {
  Box box;
  box.width = bytes;
  return fill_box(address, value, box, stream, async);
}

void Gpu::charge_copy(std::uint64_t bytes, CopyKind kind, StreamId stream, bool async) {
  impl_->host_work(check::HostWork::Kind::to_device, stream, !async);
  impl_->charge(bytes, kind, stream, async, {});
}

void Gpu::charge_fill(std::uint64_t bytes, StreamId stream, bool async) {
  impl_->host_work(check::HostWork::Kind::fill, stream, !async);
  impl_->charge_fill(bytes, stream, async, {});
}

}  // namespace simtlab::gpu

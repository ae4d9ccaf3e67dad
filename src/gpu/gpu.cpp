#include "gpu/gpu.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/error.h"
#include "device/occupancy.h"
#include "gpu/host_memory.h"
#include "gpu/timeline.h"
#include "result/totals.h"
#include "timing/timing.h"

namespace simtlab::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t launches_kept = 4096;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string demangle(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return out;
}

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

[[noreturn]] void refuse_launch(const std::string& kernel, const std::string& what, const std::string& hint) {
  throw Error(ExitCode::bad_input, "launch-shape", fmt::format("kernel '{}': {}", kernel, what), hint);
}

std::string shape(const exec::Dim3& d) {
  return fmt::format("({}, {}, {})", d.x, d.y, d.z);
}

// Limits of every device of compute capability 3.0 and later; earlier ones had 65535 blocks in x as well.
void check_shape(const device::Device& device, const std::string& kernel, const exec::Dim3& grid,
                 const exec::Dim3& block) {
  const std::string empty = "every dimension must be at least 1";
  if (grid.count() == 0) refuse_launch(kernel, fmt::format("the grid {} is empty", shape(grid)), empty);
  if (block.count() == 0) refuse_launch(kernel, fmt::format("the block {} is empty", shape(block)), empty);
  const std::uint32_t most_x = device.cc_major >= 3 ? 0x7fffffffu : 65535u;
  if (grid.x > most_x || grid.y > 65535 || grid.z > 65535)
    refuse_launch(kernel, fmt::format("the grid {} is larger than ({}, 65535, 65535)", shape(grid), most_x),
                  "loop inside the kernel instead");
  const std::uint32_t most = device.sm.max_threads_per_block;
  if (block.x > most || block.y > most || block.z > 64 || block.count() > most)
    refuse_launch(kernel,
                  fmt::format("the block {} exceeds {} threads or the limits ({}, {}, 64)", shape(block),
                              most, most, most),
                  "use smaller blocks and more of them");
}

void check_attributes(const ptx::Function& function, const exec::Dim3& block) {
  const std::uint32_t dims[3] = {block.x, block.y, block.z};
  std::uint64_t most = 1;
  for (int i = 0; i < 3; ++i) {
    if (function.req_ntid[0] != 0 && dims[i] != std::max(1u, function.req_ntid[i]))
      refuse_launch(function.name,
                    fmt::format("the block {} is not the one that .reqntid demands", shape(block)),
                    "launch with the block size the kernel was compiled for");
    most *= std::max(1u, function.max_ntid[i]);
  }
  if (function.max_ntid[0] != 0 && block.count() > most)
    refuse_launch(function.name,
                  fmt::format("the block {} has more threads than .maxntid allows ({})", shape(block), most),
                  "launch smaller blocks or raise __launch_bounds__");
}

}  // namespace

struct Gpu::Impl {
  Impl(const device::Device& d, const Options& o)
      : device(d),
        options(o),
        memory(d.dram.bytes, o.max_memory_bytes != 0 ? o.max_memory_bytes : default_memory_limit()) {
    if (options.mode == Mode::timing) {
      timing::Options t;
      t.max_cycles = options.max_cycles;
      t.interrupt = options.interrupt;
      t.registers_override = options.registers_override;
      timing = std::make_unique<timing::Gpu>(device, t);
    }
  }

  struct Slot {
    std::shared_ptr<const ptx::Module> module;
    std::unique_ptr<exec::LoadedModule> loaded;
    std::map<std::string_view, std::uint32_t> entries;
  };

  double copy_time(std::uint64_t bytes, CopyKind kind) const;
  double fill_time(std::uint64_t bytes) const;
  void charge(std::uint64_t bytes, CopyKind kind, StreamId stream, bool async);
  void charge_fill(std::uint64_t bytes, StreamId stream, bool async);
  void invalidate(std::uint64_t address, std::uint64_t bytes) {
    if (timing && bytes != 0) timing->invalidate(address, bytes);
  }
  Slot& slot(ModuleId id);
  std::uint32_t registers_of(const ptx::Function& f) const {
    return options.registers_override != 0 ? options.registers_override : f.registers;
  }
  result::KernelResult run_functional(const exec::Launch& launch, const ptx::Function& function);
  void keep(result::KernelResult&& result);

  device::Device device;
  Options options;
  exec::GlobalMemory memory;            // before modules: they hold places in it
  std::unique_ptr<timing::Gpu> timing;  // null in functional mode
  std::vector<Slot> modules;
  std::vector<exec::Texture> textures;  // handle = index + 1; address 0 = free
  Timeline timeline;
  std::vector<result::KernelResult> kernels;
  std::vector<result::KernelResult> merged;  // launches beyond launches_kept, one entry a kernel
  std::uint64_t copy_bytes[3] = {0, 0, 0};   // by CopyKind
  std::uint64_t fill_bytes = 0, copy_count = 0, peak_bytes = 0;
  double copy_time_ns = 0;
  std::uint64_t launches = 0;
  double launch_wall_seconds = 0;
  double wall_instructions = 0;
  Clock::time_point start = Clock::now();
};

Gpu::Gpu(const device::Device& device, const Options& options)
    : impl_(std::make_unique<Impl>(device, options)) {}
Gpu::~Gpu() = default;

const device::Device& Gpu::device() const {
  return impl_->device;
}
exec::GlobalMemory& Gpu::memory() {
  return impl_->memory;
}

std::optional<std::uint64_t> Gpu::allocate(std::uint64_t bytes, std::string what) {
  const std::optional<std::uint64_t> address = impl_->memory.allocate(bytes, std::move(what));
  impl_->peak_bytes = std::max(impl_->peak_bytes, impl_->memory.used());
  return address;
}

bool Gpu::release(std::uint64_t address) {
  return impl_->memory.release(address);
}

// ---- copies

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

// ---- modules and textures

Gpu::Impl::Slot& Gpu::Impl::slot(ModuleId id) {
  SIMTLAB_ASSERT(id < modules.size() && modules[id].loaded, "a module that is loaded");
  return modules[id];
}

ModuleId Gpu::load_module(std::string name, std::string ptx) {
  Impl::Slot slot;
  slot.module = ptx::load_module(std::move(name), std::move(ptx));
  slot.loaded = std::make_unique<exec::LoadedModule>(slot.module, impl_->memory);
  for (std::size_t i = 0; i < slot.module->functions.size(); ++i) {
    const ptx::Function& f = slot.module->functions[i];
    if (f.is_entry) slot.entries.emplace(f.name, static_cast<std::uint32_t>(i));
  }
  impl_->modules.push_back(std::move(slot));
  impl_->peak_bytes = std::max(impl_->peak_bytes, impl_->memory.used());
  return static_cast<ModuleId>(impl_->modules.size() - 1);
}

void Gpu::unload_module(ModuleId module) {
  Impl::Slot& slot = impl_->slot(module);
  slot.entries.clear();
  slot.loaded.reset();
  slot.module.reset();
}

const ptx::Module& Gpu::module(ModuleId module) const {
  return *impl_->slot(module).module;
}
exec::LoadedModule& Gpu::loaded(ModuleId module) {
  return *impl_->slot(module).loaded;
}

std::optional<Kernel> Gpu::find_kernel(ModuleId module, std::string_view name) const {
  const auto& entries = impl_->slot(module).entries;
  const auto it = entries.find(name);
  if (it == entries.end()) return std::nullopt;
  return Kernel{module, it->second};
}

std::optional<Symbol> Gpu::find_symbol(ModuleId module, std::string_view name) const {
  const Impl::Slot& slot = impl_->slot(module);
  const ptx::Variable* variable = slot.module->find_variable(name);
  if (variable == nullptr || variable->space == ptx::Space::shared) return std::nullopt;
  const auto index = static_cast<std::uint32_t>(variable - slot.module->variables.data());
  return Symbol{slot.loaded->variable_address(index), variable->bytes};
}

std::uint64_t Gpu::create_texture(const exec::Texture& texture) {
  auto& table = impl_->textures;
  const auto free =
      std::find_if(table.begin(), table.end(), [](const exec::Texture& t) { return t.address == 0; });
  if (free != table.end()) {
    *free = texture;
    return static_cast<std::uint64_t>(free - table.begin()) + 1;
  }
  table.push_back(texture);
  return table.size();
}

bool Gpu::destroy_texture(std::uint64_t handle) {
  if (texture(handle) == nullptr) return false;
  impl_->textures[handle - 1] = exec::Texture{};
  return true;
}

const exec::Texture* Gpu::texture(std::uint64_t handle) const {
  const auto& table = impl_->textures;
  if (handle == 0 || handle > table.size() || table[handle - 1].address == 0) return nullptr;
  return &table[handle - 1];
}

// ---- launches

result::KernelResult Gpu::Impl::run_functional(const exec::Launch& launch, const ptx::Function& function) {
  const device::Occupancy fit =
      device::occupancy(device, launch.threads_per_block(), registers_of(function), launch.shared_bytes());
  if (fit.blocks_per_sm == 0)
    throw Error(
        ExitCode::bad_input, "launch-resources",
        fmt::format(
            "kernel '{}': one block needs {} threads, {} registers a thread and {} bytes of shared memory, "
            "more than an SM of {} has ({})",
            function.name, launch.threads_per_block(), registers_of(function), launch.shared_bytes(),
            device.name, device::name_of(fit.limit)),
        "use smaller blocks, less shared memory, or another --gpu");
  exec::FunctionalOptions functional;
  functional.max_warp_instructions = options.max_warp_instructions;
  functional.interrupt = options.interrupt;
  const exec::FunctionalResult ran = exec::run_functional(launch, functional);
  result::KernelResult out;
  out.metrics.set("gpu.instructions.warp", ran.warp_instructions);
  out.metrics.set("gpu.instructions.thread", ran.thread_instructions);
  out.metrics.set("occupancy.theoretical", fit.ratio);
  out.limiter = device::name_of(fit.limit);
  return out;
}

// Bounds the memory of a program with millions of launches.
void Gpu::Impl::keep(result::KernelResult&& result) {
  if (kernels.size() < launches_kept) {
    kernels.push_back(std::move(result));
    return;
  }
  const auto same = std::find_if(merged.begin(), merged.end(),
                                 [&](const result::KernelResult& k) { return k.name == result.name; });
  if (same == merged.end()) {
    merged.push_back(std::move(result));
    return;
  }
  std::vector<result::KernelResult> both;
  both.push_back(std::move(*same));
  both.push_back(std::move(result));
  *same = std::move(result::merge_by_name(both).front());
}

void Gpu::launch(Kernel kernel, exec::Dim3 grid, exec::Dim3 block, std::uint32_t dynamic_shared_bytes,
                 std::span<const std::byte> params, StreamId stream) {
  Impl& m = *impl_;
  const Impl::Slot& slot = m.slot(kernel.module);
  const ptx::Function& function = slot.module->functions[kernel.function];
  check_shape(m.device, function.name, grid, block);
  check_attributes(function, block);

  exec::LaunchParams p;
  p.module = slot.loaded.get();
  p.function = kernel.function;
  p.grid = grid;
  p.block = block;
  p.dynamic_shared_bytes = dynamic_shared_bytes;
  p.params = params;
  p.sm_count = m.device.sm.count;
  p.max_warps_per_sm = m.device.sm.max_warps;
  p.grid_id = ++m.launches;
  p.clock_hz = m.device.sm_clock_hz;
  p.textures = m.textures;
  p.print = m.options.print;

  const Clock::time_point begin = Clock::now();
  const exec::Launch launch(p, m.memory);
  result::KernelResult result = m.timing ? m.timing->run(launch) : m.run_functional(launch, function);
  m.launch_wall_seconds += seconds_since(begin);
  m.wall_instructions += result.metrics.get("gpu.instructions.warp").value_or(0);

  result.name = function.name;
  result.demangled = demangle(function.name);
  result.grid[0] = grid.x, result.grid[1] = grid.y, result.grid[2] = grid.z;
  result.block[0] = block.x, result.block[1] = block.y, result.block[2] = block.z;
  result.shared_bytes = launch.shared_bytes();
  result.registers = m.registers_of(function);
  // gpu.time has the launch overhead in it; on the timeline that part is the host's, so that launches
  // pipeline.
  const double overhead =
      result.metrics.get("gpu.launch_overhead").value_or(m.device.host.launch_overhead_ns);
  const double duration = std::max(0.0, result.metrics.get("gpu.time").value_or(overhead) - overhead);
  m.timeline.submit(stream, Engine::compute, duration, overhead, false);
  m.keep(std::move(result));
}

// ---- streams and events

StreamId Gpu::create_stream(bool non_blocking) {
  return impl_->timeline.create_stream(non_blocking);
}
bool Gpu::destroy_stream(StreamId stream) {
  return impl_->timeline.destroy_stream(stream);
}
bool Gpu::has_stream(StreamId stream) const {
  return impl_->timeline.has_stream(stream);
}
bool Gpu::non_blocking(StreamId stream) const { return impl_->timeline.non_blocking(stream); }
bool Gpu::idle(StreamId stream) const {
  return impl_->timeline.idle(stream);
}
void Gpu::synchronize() {
  impl_->timeline.synchronize();
}
void Gpu::synchronize(StreamId stream) {
  impl_->timeline.synchronize(stream);
}
EventId Gpu::create_event() {
  return impl_->timeline.create_event();
}
bool Gpu::destroy_event(EventId event) {
  return impl_->timeline.destroy_event(event);
}
bool Gpu::has_event(EventId event) const {
  return impl_->timeline.has_event(event);
}
void Gpu::record_event(EventId event, StreamId stream) {
  impl_->timeline.record(event, stream);
}
void Gpu::wait_host(EventId event) {
  impl_->timeline.synchronize_event(event);
}
void Gpu::wait_event(StreamId stream, EventId event) {
  impl_->timeline.wait(stream, event);
}
std::optional<double> Gpu::event_time_ns(EventId event) const {
  return impl_->timeline.event_time(event);
}
double Gpu::now_ns() const {
  return impl_->timeline.now_ns();
}

// ---- results

result::Result Gpu::result() const {
  const Impl& m = *impl_;
  result::Result out;
  out.manifest.device = m.device.name;
  out.manifest.mode = m.timing ? "timing" : "functional";
  out.kernels = m.kernels;
  out.kernels.insert(out.kernels.end(), m.merged.begin(), m.merged.end());
  out.total = result::combine(out.kernels);
  if (m.timing) out.total.set("program.time", m.timeline.span_ns());
  out.total.set("program.kernels", m.launches);
  out.total.set("copy.time", m.copy_time_ns);
  out.total.set("copy.count", m.copy_count);
  out.total.set("copy.h2d.bytes", m.copy_bytes[0]);
  out.total.set("copy.d2h.bytes", m.copy_bytes[1]);
  out.total.set("copy.d2d.bytes", m.copy_bytes[2]);
  out.total.set("copy.fill.bytes", m.fill_bytes);
  out.total.set("memory.allocated.peak", m.peak_bytes);
  out.total.set("host.wall_time", seconds_since(m.start));
  if (m.launch_wall_seconds > 0 && m.wall_instructions > 0)
    out.total.set("host.rate.warp_instructions", m.wall_instructions / m.launch_wall_seconds);
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0)
    out.total.set("host.peak_memory", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024);
  return out;
}

}  // namespace simtlab::gpu

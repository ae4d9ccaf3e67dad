#include "gpu/gpu.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/error.h"
#include "gpu/impl.h"
#include "result/totals.h"

namespace simtlab::gpu {

using stream::trace::OpKind;

Gpu::Gpu(const device::Device& device, const Options& options)
    : impl_(std::make_unique<Impl>(device, options)) {}
Gpu::~Gpu() = default;

const device::Device& Gpu::device() const { return impl_->device; }
exec::GlobalMemory& Gpu::memory() { return impl_->memory; }

std::optional<std::uint64_t> Gpu::allocate(std::uint64_t bytes, std::string what) {
  const std::optional<std::uint64_t> address = impl_->memory.allocate(bytes, std::move(what));
  impl_->peak_bytes = std::max(impl_->peak_bytes, impl_->memory.used());
  return address;
}

// As on a device, nothing is under way when memory goes.
bool Gpu::release(std::uint64_t address) {
  if (!impl_->schedule.idle()) impl_->schedule.synchronize();
  return impl_->memory.release(address);
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
    slot.uses_heap |=
        std::ranges::any_of(f.code, [](const ptx::Inst& inst) { return inst.op == ptx::Op::heap_alloc; });
  }
  impl_->modules.push_back(std::move(slot));
  impl_->peak_bytes = std::max(impl_->peak_bytes, impl_->memory.used());
  return static_cast<ModuleId>(impl_->modules.size() - 1);
}

void Gpu::unload_module(ModuleId module) {
  impl_->schedule.run();
  Impl::Slot& slot = impl_->slot(module);
  slot.entries.clear();
  impl_->looked_at.clear();  // of others too: they are looked at once more
  slot.loaded.reset();
  slot.module.reset();
}

const ptx::Module& Gpu::module(ModuleId module) const { return *impl_->slot(module).module; }
exec::LoadedModule& Gpu::loaded(ModuleId module) {
  impl_->schedule.run();  // what changes now is for launches that follow
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
  impl_->textures_seen.reset();
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
  impl_->textures_seen.reset();
  return true;
}

const exec::Texture* Gpu::texture(std::uint64_t handle) const {
  const auto& table = impl_->textures;
  if (handle == 0 || handle > table.size() || table[handle - 1].address == 0) return nullptr;
  return &table[handle - 1];
}

// ---- streams and events

StreamId Gpu::create_stream(bool non_blocking, int priority) {
  impl_->note(OpKind::create_stream, {.flag = non_blocking, .a = static_cast<std::uint64_t>(priority)});
  return impl_->schedule.create_stream(non_blocking, priority);
}
int Gpu::priority(StreamId stream) const { return impl_->schedule.priority(stream); }
bool Gpu::destroy_stream(StreamId stream) {
  impl_->note(OpKind::destroy_stream, {.stream = stream});
  return impl_->schedule.destroy_stream(stream);
}
bool Gpu::has_stream(StreamId stream) const { return impl_->schedule.has_stream(stream); }
bool Gpu::non_blocking(StreamId stream) const { return impl_->schedule.non_blocking(stream); }
bool Gpu::idle(StreamId stream) { return impl_->schedule.idle(stream); }
void Gpu::synchronize() {
  impl_->note(OpKind::synchronize, {});
  impl_->schedule.synchronize();
}
void Gpu::synchronize(StreamId stream) {
  impl_->note(OpKind::synchronize, {.flag = true, .stream = stream});
  impl_->schedule.synchronize(stream);
}
EventId Gpu::create_event() {
  impl_->note(OpKind::create_event, {});
  return impl_->schedule.create_event();
}
bool Gpu::destroy_event(EventId event) {
  impl_->note(OpKind::destroy_event, {.a = event});
  return impl_->schedule.destroy_event(event);
}
bool Gpu::has_event(EventId event) const { return impl_->schedule.has_event(event); }
void Gpu::record_event(EventId event, StreamId stream) {
  impl_->catch_up();
  impl_->note(OpKind::record_event, {.stream = stream, .a = event});
  impl_->schedule.record(event, stream);
}
void Gpu::wait_host(EventId event) {
  impl_->note(OpKind::wait_host, {.a = event});
  impl_->schedule.synchronize_event(event);
}
void Gpu::wait_event(StreamId stream, EventId event) {
  impl_->note(OpKind::wait_event, {.stream = stream, .a = event});
  impl_->schedule.wait(stream, event);
}
std::optional<double> Gpu::event_time_ns(EventId event) { return impl_->schedule.event_time(event); }
std::optional<double> Gpu::next_begin_ns(EventId event) { return impl_->schedule.next_begin(event); }
double Gpu::now_ns() const { return impl_->schedule.now_ns(); }

void Gpu::reset() {
  impl_->note(OpKind::reset, {});
  impl_->schedule.reset();
  impl_->modules.clear();
  impl_->textures.clear();
  impl_->textures_seen.reset();
  impl_->heap.reset();
}

std::string_view name_of(Mode mode) {
  switch (mode) {
    case Mode::timing: return "timing";
    case Mode::functional: return "functional";
    case Mode::cache: return "cache";
    case Mode::predict: return "predict";
  }
  return "";
}

Mode mode_of(std::string_view name) {
  for (const Mode mode : {Mode::functional, Mode::cache, Mode::predict})
    if (name == name_of(mode)) return mode;
  return Mode::timing;
}

bool Gpu::set_heap_bytes(std::uint64_t bytes) { return impl_->heap.set_bytes(bytes); }

// ---- results

const result::Timeline& Gpu::timeline() const {
  if (impl_->timing) impl_->timing->move_timeline_to(impl_->recorded);
  return impl_->recorded;
}

Counters Gpu::counters() const {
  const Impl& m = *impl_;
  Counters out;
  out.launches = m.launches, out.skipped = m.skipped, out.ended = m.ended;
  out.copies = m.copy_count, out.filled_bytes = m.fill_bytes, out.peak_bytes = m.peak_bytes;
  std::ranges::copy(m.copy_bytes, out.copied_bytes);
  out.copy_ns = m.copy_time_ns, out.span_ns = m.schedule.span_ns();
  out.timed = m.timing ? 1 : 0;
  return out;
}

void set_totals(const Counters& c, result::Metrics& total) {
  if (c.timed != 0 && c.skipped == 0) total.set("program.time", c.span_ns);
  if (c.skipped != 0) total.set("program.kernels.skipped", c.skipped);
  total.set("program.kernels", c.launches);
  total.set("copy.time", c.copy_ns);
  total.set("copy.count", c.copies);
  total.set("copy.h2d.bytes", c.copied_bytes[0]);
  total.set("copy.d2h.bytes", c.copied_bytes[1]);
  total.set("copy.d2d.bytes", c.copied_bytes[2]);
  total.set("copy.fill.bytes", c.filled_bytes);
  total.set("memory.allocated.peak", c.peak_bytes);
}

void Gpu::add_study_totals(result::Metrics& total) const {
  if (impl_->options.mode == Mode::cache) impl_->study_totals(total);
}

result::Result Gpu::result() const {
  const Impl& m = *impl_;
  result::Result out;
  out.manifest.device = m.device.name;
  out.manifest.mode = name_of(m.options.mode);
  out.kernels = m.kernels;
  out.kernels.insert(out.kernels.end(), m.merged.begin(), m.merged.end());
  out.total = result::combine(out.kernels);
  add_study_totals(out.total);
  set_totals(counters(), out.total);
  out.total.set("host.wall_time", seconds_since(m.start));
  if (m.launch_wall_seconds > 0 && m.wall_instructions > 0)
    out.total.set("host.rate.warp_instructions", m.wall_instructions / m.launch_wall_seconds);
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0)
    out.total.set("host.peak_memory", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024);
  return out;
}

}  // namespace simtlab::gpu

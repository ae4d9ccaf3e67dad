#include "gpu/gpu.h"

#include <algorithm>

#include "base/error.h"
#include "gpu/cache_kernels.h"
#include "gpu/impl.h"
#include "result/totals.h"

namespace simtlab::gpu {

using stream::trace::OpKind;

Gpu::Gpu(const device::Device& device, const Options& options)
    : impl_(std::make_unique<Impl>(device, options)) {}
Gpu::~Gpu() = default;

const device::Device& Gpu::device() const { return impl_->device; }
const Options& Gpu::options() const { return impl_->options; }
exec::GlobalMemory& Gpu::memory() { return impl_->memory.global(); }
void Gpu::check() const {
  if (impl_->options.shared) impl_->options.shared->check();
}

std::optional<std::uint64_t> Gpu::allocate(std::uint64_t bytes, std::string what) {
  const std::optional<std::uint64_t> address = impl_->memory.allocate(bytes, std::move(what));
  if (impl_->checker && address) impl_->checker->allocated(*address, bytes);
  return address;
}

void Gpu::note_written(std::uint64_t address, std::uint64_t bytes) {
  if (impl_->checker) impl_->checker->written(address, bytes);
}
void Gpu::note_read(std::uint64_t address, std::uint64_t bytes, unsigned element) {
  if (impl_->checker) impl_->checker->fetched(address, bytes, element);
}
void Gpu::note_api_error(const std::string& call, const std::string& error) {
  if (impl_->checker) impl_->checker->api_error(call, error);
}

void Gpu::allocated_in_stream(std::uint64_t address, StreamId stream) {
  if (impl_->checker) impl_->checker->allocated_in_stream(address, stream);
}

// As on a device, nothing is under way when memory goes.
bool Gpu::release(std::uint64_t address, std::optional<StreamId> stream) {
  if (impl_->checker && stream) impl_->checker->freed_in_stream(address, *stream);
  if (!impl_->schedule.idle()) impl_->schedule.synchronize();
  if (impl_->checker) impl_->checker->released(address);
  return impl_->memory.release(address);
}

// ---- modules and textures

ModuleId Gpu::load_module(std::string name, std::string ptx) {
  check_machine_code(impl_->device, name, ptx);
  const ModuleId id =
      impl_->modules.load(std::move(name), std::move(ptx), impl_->memory.global(), impl_->code_of_ptx());
  impl_->memory.note_peak();
  return id;
}

void Gpu::unload_module(ModuleId module) {
  impl_->schedule.run();
  impl_->looked_at.clear();  // of others too: they are looked at once more
  impl_->modules.unload(module);
}

const ptx::Module& Gpu::module(ModuleId module) const { return *impl_->modules.at(module).module; }
exec::LoadedModule& Gpu::loaded(ModuleId module) {
  impl_->schedule.run();  // what changes now is for launches that follow
  return *impl_->modules.at(module).loaded;
}

std::optional<Kernel> Gpu::find_kernel(ModuleId module, std::string_view name) const {
  const std::optional<std::uint32_t> function = impl_->modules.find_kernel(module, name);
  return function ? std::optional(Kernel{module, *function}) : std::nullopt;
}

std::optional<Symbol> Gpu::find_symbol(ModuleId module, std::string_view name) const {
  const std::optional<ModuleTable::Place> place = impl_->modules.find_symbol(module, name);
  return place ? std::optional(Symbol{place->address, place->bytes}) : std::nullopt;
}

std::uint64_t Gpu::create_texture(const exec::Texture& texture) { return impl_->textures.create(texture); }
bool Gpu::destroy_texture(std::uint64_t handle) { return impl_->textures.destroy(handle); }
const exec::Texture* Gpu::texture(std::uint64_t handle) const { return impl_->textures.find(handle); }

// ---- streams and events

StreamId Gpu::create_stream(bool non_blocking, int priority) {
  impl_->recorder.note(OpKind::create_stream,
                       {.flag = non_blocking, .a = static_cast<std::uint64_t>(priority)});
  const StreamId stream = impl_->schedule.create_stream(non_blocking, priority);
  if (impl_->checker) impl_->checker->streams().create(stream, non_blocking);
  return stream;
}
int Gpu::priority(StreamId stream) const { return impl_->schedule.priority(stream); }
bool Gpu::destroy_stream(StreamId stream) {
  impl_->recorder.note(OpKind::destroy_stream, {.stream = stream});
  return impl_->schedule.destroy_stream(stream);
}
bool Gpu::has_stream(StreamId stream) const { return impl_->schedule.has_stream(stream); }
bool Gpu::non_blocking(StreamId stream) const { return impl_->schedule.non_blocking(stream); }
bool Gpu::idle(StreamId stream) {
  const bool idle = impl_->schedule.idle(stream);
  if (idle && impl_->checker) impl_->checker->streams().synchronize(stream);
  return idle;
}
void Gpu::synchronize() {
  impl_->recorder.note(OpKind::synchronize, {});
  impl_->schedule.synchronize();
  if (impl_->checker) impl_->checker->streams().synchronize();
}
void Gpu::synchronize(StreamId stream) {
  impl_->recorder.note(OpKind::synchronize, {.flag = true, .stream = stream});
  impl_->schedule.synchronize(stream);
  if (impl_->checker) impl_->checker->streams().synchronize(stream);
}
void Gpu::host_knows_end(StreamId stream) {
  if (impl_->checker) impl_->checker->streams().synchronize(stream);
}
EventId Gpu::create_event() {
  impl_->recorder.note(OpKind::create_event, {});
  return impl_->schedule.create_event();
}
bool Gpu::destroy_event(EventId event) {
  impl_->recorder.note(OpKind::destroy_event, {.a = event});
  return impl_->schedule.destroy_event(event);
}
bool Gpu::has_event(EventId event) const { return impl_->schedule.has_event(event); }
void Gpu::record_event(EventId event, StreamId stream) {
  impl_->catch_up();
  impl_->recorder.note(OpKind::record_event, {.stream = stream, .a = event});
  impl_->schedule.record(event, stream);
  if (impl_->checker) impl_->checker->streams().record(event, stream);
}
void Gpu::wait_host(EventId event) {
  impl_->recorder.note(OpKind::wait_host, {.a = event});
  impl_->schedule.synchronize_event(event);
  if (impl_->checker) impl_->checker->streams().synchronize_event(event);
}
void Gpu::wait_event(StreamId stream, EventId event) {
  impl_->recorder.note(OpKind::wait_event, {.stream = stream, .a = event});
  impl_->schedule.wait(stream, event);
  if (impl_->checker) impl_->checker->streams().wait(stream, event);
}
// cudaEventQuery and cudaEventElapsedTime: the host knows then that it has happened.
std::optional<double> Gpu::event_time_ns(EventId event) {
  const std::optional<double> at = impl_->schedule.event_time(event);
  if (at && impl_->checker) impl_->checker->streams().synchronize_event(event);
  return at;
}
std::optional<double> Gpu::next_begin_ns(EventId event) { return impl_->schedule.next_begin(event); }
double Gpu::now_ns() const { return impl_->schedule.now_ns(); }

void Gpu::reset() {
  impl_->recorder.note(OpKind::reset, {});
  impl_->schedule.reset();
  impl_->modules.clear();
  impl_->textures.clear();
  impl_->memory.heap().reset();
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

Ptx ptx_of(std::string_view name) {
  if (name == "optimised") return Ptx::optimised;
  if (name == "counts") return Ptx::counts;
  return name == "off" ? Ptx::off : Ptx::machine;
}

bool Gpu::set_heap_bytes(std::uint64_t bytes) { return impl_->memory.heap().set_bytes(bytes); }
bool Gpu::set_stack_bytes(std::uint64_t bytes) {
  if (bytes > exec::most_local_bytes) return false;
  impl_->options.stack_bytes = static_cast<std::uint32_t>(bytes);
  return true;
}
std::uint32_t Gpu::stack_bytes() const { return impl_->options.stack_bytes; }

// ---- results

const result::Timeline& Gpu::timeline() const {
  if (impl_->timing) impl_->timing->move_timeline_to(impl_->recorded);
  return impl_->recorded;
}

Counters Gpu::counters() const {
  const Impl& m = *impl_;
  Counters out;
  out.launches = m.launches.launches(), out.skipped = m.launches.skipped(), out.ended = m.results.ended();
  out.copies = m.copies.count(), out.filled_bytes = m.copies.filled_bytes(),
  out.peak_bytes = m.memory.peak_bytes();
  std::ranges::copy(m.copies.copied_bytes(), out.copied_bytes);
  out.copy_ns = m.copies.ns(), out.span_ns = m.schedule.span_ns();
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
  if (impl_->cache != nullptr) impl_->cache->add_totals(total);
}

result::Result Gpu::result(bool ended) const {
  const Impl& m = *impl_;
  result::Result out;
  out.manifest.device = m.device.name;
  out.manifest.mode = name_of(m.options.mode);
  out.kernels = m.results.all();
  out.total = result::combine(out.kernels);
  add_study_totals(out.total);
  set_totals(counters(), out.total);
  if (const auto places = m.memory.outside_places()) out.total.set("program.memory_errors", *places);
  m.speed.set_totals(out.total);
  if (m.checker) out.check = m.checker->result(ended);
  return out;
}

void Gpu::finish_recording() {
  impl_->recorder.note(OpKind::peak, {.a = impl_->memory.peak_bytes()});
  impl_->recorder.finish();
  if (impl_->cache != nullptr) impl_->cache->finish_schedule();
}

void Gpu::finish_checkpoint(bool ended) { impl_->checkpoint.finish(ended); }

}  // namespace simtlab::gpu

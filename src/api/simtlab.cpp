// The facade of include/simtlab: translates between public types and the library's own; no logic of its own.
#include "simtlab/simtlab.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/study.h"
#include "base/error.h"
#include "device/catalogue.h"
#include "gpu/gpu.h"
#include "options/rows.h"
#include "result/json.h"
#include "studies/common/outcome.h"

namespace simtlab::api {
namespace {

Failure failure_of(const Error& e, std::string partial_json = {}, std::string messages = {}) {
  std::vector<Place> places;
  for (const Diagnostic& d : e.diagnostics())
    places.push_back({d.pos.file, d.pos.line, d.pos.column, d.message, d.text, d.hint});
  return {static_cast<int>(e.code()),
          e.id(),
          e.format(),
          e.what(),
          {std::move(places), std::move(partial_json), std::move(messages)}};
}

std::string partial_json(const studies::Outcome& outcome) {
  return outcome.json || outcome.result ? studies::json_of(outcome) : std::string();
}

// Of a study that ended early, or with a code of its own: its program failed, or it found what it was to look
// for.
Failure failure_of(const studies::Outcome& outcome, std::string messages) {
  if (outcome.failure) return failure_of(*outcome.failure, partial_json(outcome), std::move(messages));
  const std::string id = outcome.result && !outcome.result->manifest.failure_id.empty()
                             ? outcome.result->manifest.failure_id
                             : "command-code";
  const std::string text = outcome.verdict.empty() ? messages : outcome.verdict;
  std::string line = text.substr(0, text.find('\n'));
  if (line.empty()) line = fmt::format("the study ended with code {}", outcome.code);
  return {outcome.code, id, text, line, {{}, partial_json(outcome), std::move(messages)}};
}

// Runs `work`; errors of the library leave as Failure.
template <typename Work>
auto guarded(Work&& work) {
  try {
    return work();
  } catch (const Error& e) { throw failure_of(e); }
}

[[noreturn]] void refuse(const char* id, std::string message, std::string hint) {
  throw Error(ExitCode::bad_input, id, std::move(message), std::move(hint));
}

}  // namespace

std::string_view version() { return SIMTLAB_VERSION; }

Failure::~Failure() = default;

std::string explain(const std::string& what) {
  const Answered done = answer({"explain", {}, {{"NAME|RESULT", what}}, {}}, {});
  if (done.error) throw failure_of(*done.error, {}, done.messages);
  return studies::text_of(done.outcome, {});
}

Execution study(const std::string& name, const Request& request, const StudyOptions& options) {
  Watch watch;
  if (options.progress)
    watch.look = [&](const std::string& activity, const std::string& detail, double seconds) {
      return options.progress({activity, seconds, detail});
    };
  watch.interval = std::chrono::milliseconds(
      static_cast<std::int64_t>(std::clamp(options.interval_seconds, 1e-3, 1e6) * 1e3));
  Asked asked{name, request.inputs, request.options, {}};
  if (request.has_program) asked.program = request.program;
  Answered done = answer(asked, watch);
  if (done.error) throw failure_of(*done.error, partial_json(done.outcome), std::move(done.messages));
  if (done.outcome.failure || done.outcome.code != 0)
    throw failure_of(done.outcome, std::move(done.messages));
  Execution out;
  out.json = partial_json(done.outcome);
  out.messages = std::move(done.messages);
  if (studies::has_text(done.outcome)) out.report = studies::text_of(done.outcome, {});
  return out;
}

std::string commands_json() { return commands_as_json(); }

struct Device::Impl {
  device::LoadedDevice loaded;
};

Device Device::load(const std::string& name_or_file, const Settings& settings) {
  return guarded([&] {
    std::vector<device::Setting> list;
    for (const auto& [key, value] : settings)
      list.push_back({key, value, {"program", key + "=" + value, "", false}});
    Device out;
    out.impl_ = std::make_shared<Impl>(Impl{device::load_device(name_or_file, list)});
    return out;
  });
}

std::vector<std::string> Device::names() {
  return guarded([] { return device::list_devices(); });
}

const std::string& Device::name() const { return impl_->loaded.device.name; }
const std::string& Device::product() const { return impl_->loaded.device.product; }

struct Gpu::Impl {
  Device device;
  GpuOptions options;
  gpu::Gpu gpu;

  Impl(const Device& d, const GpuOptions& o)
      : device(d), options(o), gpu(d.impl_->loaded.device, translated(o)) {}

  static gpu::Options translated(const GpuOptions& o) {
    gpu::Options out;
    out.mode = o.functional ? gpu::Mode::functional : gpu::Mode::timing;
    options::Options lowering = options::defaults();
    options::store(*options::find_row("lowering"), o.lowering, lowering);
    out.ptx = gpu::ptx_of(lowering.lowering);
    out.lowering = out.ptx != gpu::Ptx::off;
    out.max_cycles = o.max_cycles;
    out.max_memory_bytes = o.max_memory_bytes;
    out.registers_override = o.registers;
    out.threads = o.threads;
    out.interrupt = o.interrupt;
    out.print = o.print;
    return out;
  }

  void check_range(bool inside, std::uint64_t address, std::uint64_t bytes) const {
    if (!inside)
      refuse("device-range",
             fmt::format("{} bytes at device address {:#x} are not within one allocation", bytes, address),
             "addresses come from allocate() and end with release()");
  }
};

Gpu::Gpu(const Device& device, const GpuOptions& options)
    : impl_(guarded([&] { return std::make_unique<Impl>(device, options); })) {}
Gpu::~Gpu() = default;
Gpu::Gpu(Gpu&&) noexcept = default;
Gpu& Gpu::operator=(Gpu&&) noexcept = default;

std::uint64_t Gpu::allocate(std::uint64_t bytes) {
  return guarded([&] {
    const std::optional<std::uint64_t> address = impl_->gpu.allocate(bytes, "allocate");
    if (!address)
      refuse("device-memory", fmt::format("the device has no room for {} bytes", bytes),
             "release what is no longer needed, or take another device");
    return *address;
  });
}

void Gpu::release(std::uint64_t address) {
  guarded([&] {
    if (!impl_->gpu.release(address))
      refuse("device-range", fmt::format("device address {:#x} is no allocation", address),
             "release what allocate() returned, once");
  });
}

void Gpu::write(std::uint64_t address, const void* from, std::uint64_t bytes) {
  guarded([&] {
    void* target = reinterpret_cast<void*>(address);
    impl_->check_range(impl_->gpu.copy(target, from, bytes, gpu::Gpu::CopyKind::host_to_device, 0, false),
                       address, bytes);
  });
}

void Gpu::read(void* to, std::uint64_t address, std::uint64_t bytes) {
  guarded([&] {
    const void* source = reinterpret_cast<const void*>(address);
    impl_->check_range(impl_->gpu.copy(to, source, bytes, gpu::Gpu::CopyKind::device_to_host, 0, false),
                       address, bytes);
  });
}

void Gpu::fill(std::uint64_t address, std::byte value, std::uint64_t bytes) {
  guarded([&] { impl_->check_range(impl_->gpu.fill(address, value, bytes, 0, false), address, bytes); });
}

Module Gpu::load_ptx(const std::string& name, const std::string& text) {
  return guarded([&] { return Module{impl_->gpu.load_module(name, text)}; });
}

void Gpu::launch(Module module, const std::string& kernel, Dim3 grid, Dim3 block, const Arguments& arguments,
                 std::uint32_t dynamic_shared_bytes) {
  guarded([&] {
    const std::optional<gpu::Kernel> found = impl_->gpu.find_kernel(module.id, kernel);
    if (!found)
      refuse("launch-kernel", fmt::format("the module has no kernel '{}'", kernel),
             "names are those of the PTX: mangled for C++ kernels without extern \"C\"");
    impl_->gpu.launch(*found, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, dynamic_shared_bytes,
                      arguments.bytes(), 0);
    impl_->gpu.synchronize();
  });
}

double Gpu::now_ns() const { return impl_->gpu.now_ns(); }

std::string Gpu::result_json() const {
  return guarded([&] {
    result::Result result = impl_->gpu.result();
    result.manifest.tool_version = version();
    result.manifest.device = impl_->device.name();
    result.manifest.mode = impl_->options.functional ? "functional" : "timing";
    return result::to_json(result);
  });
}

}  // namespace simtlab::api

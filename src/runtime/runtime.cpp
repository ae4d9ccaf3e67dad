#include "runtime/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "exec/executor.h"
#include "runtime/configuration.h"
#include "runtime/process.h"

namespace simtlab::runtime {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

// The data files of this library, for programs that are started without `simtlab run`: beside the library, or
// in the source tree that built it.
void find_data() {
  Dl_info info{};
  if (!environment("SIMTLAB_DATA").empty() || dladdr(reinterpret_cast<const void*>(&find_data), &info) == 0)
    return;
  const std::filesystem::path lib = std::filesystem::path(info.dli_fname).parent_path();
  for (const char* relative : {"../share/simtlab/data", "../../../data"}) {
    std::error_code error;
    const std::filesystem::path candidate = std::filesystem::canonical(lib / relative, error);
    if (!error && std::filesystem::is_directory(candidate / "devices", error)) {
      setenv("SIMTLAB_DATA", candidate.c_str(), 0);
      return;
    }
  }
}

CudaError code_of(exec::Fault::Kind kind) {
  switch (kind) {
    case exec::Fault::Kind::illegal_address:
      return error_illegal_address;
    case exec::Fault::Kind::misaligned_address:
      return error_misaligned_address;
    case exec::Fault::Kind::illegal_instruction:
      return error_illegal_instruction;
    case exec::Fault::Kind::trap:
      return error_launch_failure;
    case exec::Fault::Kind::assertion:
      return error_assert;
    case exec::Fault::Kind::deadlock:
      return error_launch_timeout;
    case exec::Fault::Kind::stack_overflow:
      return error_hardware_stack;
  }
  return error_launch_failure;
}

// Errors that are not faults of a kernel.
CudaError code_of(const Error& error) {
  if (error.id() == "launch-resources") return error_launch_out_of_resources;
  if (error.id().starts_with("launch-")) return error_invalid_configuration;
  if (error.id().starts_with("fatbin")) return error_no_kernel_image_for_device;
  switch (error.code()) {
    case ExitCode::unsupported:
      return error_not_supported;
    case ExitCode::bad_input:
      return error_invalid_ptx;
    case ExitCode::program_failed:
      return error_launch_failure;
    default:
      return error_unknown;
  }
}

}  // namespace

Runtime& Runtime::get() {
  static Runtime* runtime = new Runtime;  // never destroyed: programs call us from their own exit handlers
  return *runtime;
}

ThreadState& thread_state() {
  static thread_local ThreadState state;
  return state;
}

std::string Runtime::program() const {
  return program_invocation_short_name;
}

void Runtime::read_configuration() {
  if (configured_) return;
  find_data();
  const std::string path = environment("SIMTLAB_RUN_CONFIG");
  if (!path.empty())
    config_ = result::run_config_from_json(read_file(path, 16u << 20, "run configuration"), path);
  else
    config_ = run_config(device::gather(device::current_process(), {}, {}));
  std::vector<device::Setting> settings;
  for (const result::RunSetting& s : config_.settings) {
    device::Origin origin;
    origin.layer = s.layer;
    origin.where = s.where;
    settings.push_back({s.key, s.value, origin});
  }
  loaded_ = device::load_device(config_.gpu, settings);
  configured_ = true;
}

const device::Device& Runtime::device() {
  gpu();  // a bad configuration is reported the same way whichever call comes first
  return loaded_->device;
}

gpu::Gpu& Runtime::gpu() {
  if (gpu_) return *gpu_;
  if (start_failure_) throw Error(*start_failure_);
  try {
    read_configuration();
    gpu::Options options;
    options.mode = config_.mode == "functional" ? gpu::Mode::functional : gpu::Mode::timing;
    options.max_cycles = config_.max_cycles;
    options.max_memory_bytes = config_.max_memory_bytes;
    options.registers_override = config_.registers;
    options.threads = config_.threads;
    options.sample_error = config_.sample;
    options.kernels = gpu::KernelChoice(config_.kernels);
    options.sharing = gpu::parse_sharing(config_.sharing);
    options.interrupt = interrupt_flag();
    options.record = claim_output(config_.record, ".trace");
    options.checkpoint = checkpoint_options(config_, *loaded_);
    options.checkpoint.write = claim_output(config_.checkpoint, ".checkpoint");
    if (!config_.resume.empty()) options.checkpoint.resume = claim_output(config_.resume, ".resume");
    options.what_if = device::parse_what_if(config_.what_if);
    options.lowering = config_.lowering;
    options.observe = {config_.lines, config_.series, {config_.timeline_from, config_.timeline_to, config_.timeline_sm}};
    // Through stdio, so that it keeps its place among the program's own output.
    options.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
    gpu_ = std::make_unique<gpu::Gpu>(loaded_->device, options);
  } catch (const Error& error) {
    start_failure_ = std::make_shared<Error>(error);
    watch_process(*this);
    throw;
  }
  watch_process(*this);
  return *gpu_;
}

void Runtime::reset_device() {
  images.forget_modules();
  graphs.clear();
  if (gpu_) {
    gpu_->reset();
    for (const auto& [address, kind] : allocations) gpu_->release(address);
  }
  allocations.clear();
  for (CudaArray* array : arrays) delete array;
  arrays.clear();
  for (void* pointer : plain_host) std::free(pointer);
  plain_host.clear();
  host_flags.clear();
  registered_host.clear();
  event_flags.clear();
  sticky_ = success;
}

void Runtime::warn(const std::string& text) {
  constexpr std::size_t most = 64;  // a program in a loop must not fill the terminal
  if (told_.size() >= most || !told_.insert(text).second) return;
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// The first one counts. `simtlab run` prints it when the program has ended, also if that happens by _exit or
// a signal.
void Runtime::keep_failure(const Error& error) {
  if (!failure_.empty()) return;
  failure_ = error.format();
  failure_id_ = error.id();
  failure_code_ = static_cast<int>(error.code());
  write_result(*this);
}

void Runtime::tell_and_keep(const Error& error) {
  const bool told_by_tool = failure_.empty() && !environment("SIMTLAB_RUN_CONFIG").empty() &&
                            !environment("SIMTLAB_RESULT").empty();
  if (told_by_tool)
    told_.insert("simtlab: " + error.format());
  else
    warn("simtlab: " + error.format());
  keep_failure(error);
}

CudaError Runtime::report(const Error& error) {
  const bool shape_only = error.id().starts_with("launch-") && error.code() == ExitCode::bad_input;
  CudaError code = code_of(error);
  if (const auto* fault = dynamic_cast<const exec::Fault*>(&error)) {
    code = code_of(fault->kind());
    sticky_ = code;
  } else if (start_failure_) {
    code = error_initialization;
  } else if (error.id().starts_with("checkpoint-")) {
    code = sticky_ = error_unknown;
  } else if (error.id().starts_with("limit-")) {
    code = error_launch_timeout;
    sticky_ = code;
  }
  // A program may try a launch that does not fit and go on; that alone is no failure of the run.
  if (shape_only)
    warn("simtlab: " + error.format());
  else
    tell_and_keep(error);
  return code;
}

CudaError Runtime::report_internal(const char* what) {
  tell_and_keep(Error(ExitCode::failure, "internal", what));
  sticky_ = error_unknown;
  return sticky_;
}

CudaError Runtime::unsupported(const char* function, const std::string& what) {
  tell_and_keep(
      Error(ExitCode::unsupported, "cuda-api",
            fmt::format("{}{} is not supported by simtlab's CUDA runtime; it returned cudaErrorNotSupported",
                        function, what.empty() ? "" : " with " + what)));
  return error_not_supported;
}

std::optional<gpu::StreamId> Runtime::stream(StreamHandle handle) {
  if (handle == 0 || handle == stream_legacy || handle == stream_per_thread) return gpu::StreamId{0};
  if (handle < 0x100 || handle - 0x100 > 0xffffffffu) return std::nullopt;
  const auto id = static_cast<gpu::StreamId>(handle - 0x100);
  if (id == 0 || !gpu().has_stream(id)) return std::nullopt;
  return id;
}

const MemoryKind* Runtime::kind_of(const void* pointer) {
  if (!started()) return nullptr;
  static constexpr MemoryKind variable = MemoryKind::device;  // of a module
  const exec::Allocation* found = gpu_->memory().find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == nullptr) return nullptr;
  const auto it = allocations.find(found->address);
  return it == allocations.end() ? &variable : &it->second;
}

// Not by way of keep_failure(): it is what calls this.
void Runtime::finish_checkpoint() {
  if (!gpu_) return;
  try {
    gpu_->finish_checkpoint(!interrupted_ && failure_.empty());
  } catch (const Error& error) {
    if (!failure_.empty()) return;
    failure_ = error.format();
    failure_id_ = error.id();
    failure_code_ = static_cast<int>(error.code());
  }
}

std::optional<result::Result> Runtime::result() {
  if (!gpu_ && failure_.empty()) return std::nullopt;
  result::Result out;
  if (gpu_) out = gpu_->result();
  out.manifest.device = loaded_ ? loaded_->device.name : config_.gpu;
  out.manifest.mode = config_.mode;
  out.manifest.seed = config_.seed;
  if (loaded_)
    for (const device::Entry& e : loaded_->entries)
      out.manifest.configuration.push_back({e.key, e.value, e.origin.layer, e.origin.source});
  out.manifest.failure = failure_;
  out.manifest.failure_id = failure_id_;
  out.manifest.failure_code = failure_code_;
  out.manifest.interrupted = interrupted_;
  out.manifest.stopped_at = stopped_at_;
  return out;
}

}  // namespace simtlab::runtime

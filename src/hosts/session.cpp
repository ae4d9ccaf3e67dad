#include "hosts/session.h"

#include <dlfcn.h>
#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "base/own_threads.h"
#include "base/program_identity.h"
#include "gpu/run_options.h"
#include "gpu/shared/device_client.h"
#include "gpu/shared/socket.h"
#include "hosts/process.h"

namespace simtlab::hosts {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

// `simtlab run` waits for the end of this process.
bool started_by_tool() {
  return !environment("SIMTLAB_RUN_CONFIG").empty() && !environment("SIMTLAB_RESULT").empty();
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

}  // namespace

std::string Session::program() const { return program_invocation_short_name; }

void Session::read_configuration() {
  if (configured_) return;
  find_data();
  const std::string path = environment("SIMTLAB_RUN_CONFIG");
  run_ = path.empty() ? options::run_file(options::gather(options::current_process(), {}))
                      : options::run_file_from_json(read_file(path, 16u << 20, "run configuration"), path);
  loaded_ = device::load_device(run_.options.gpu, run_.settings);
  configured_ = true;
}

const device::Device& Session::device() {
  gpu();  // a bad configuration is reported the same way whichever call comes first
  return loaded_->device;
}

// Of a program that starts several processes the first one tells how far it is.
Pulse* Session::pulse() {
  if (run_.options.pulse.empty()) return nullptr;
  pulse_ = std::make_unique<PulseFile>(run_.options.pulse, PulseFile::Mode::open);
  return pulse_->get()->claim(static_cast<std::uint64_t>(::getpid())) ? pulse_->get() : nullptr;
}

gpu::Gpu& Session::gpu() {
  if (gpu_) {
    gpu_->check();
    return *gpu_;
  }
  if (start_failure_) throw Error(*start_failure_);
  try {
    read_configuration();
    const options::Options& run = run_.options;
    gpu::Options options = gpu::options_of(run);
    options.interrupt = interrupt_flag();
    options.pulse = pulse();
    options.record = claim_output(run.record, ".trace");
    options.schedule = claim_output(run.schedule, ".schedule");
    options.checkpoint = gpu::checkpoint_of(run, *loaded_);
    options.checkpoint.write = claim_output(run.checkpoint, ".checkpoint");
    if (!run.resume.empty()) options.checkpoint.resume = claim_output(run.resume, ".resume");
    // Started by `simtlab corun exec` for a daemon that has the GPU.
    if (environment("SIMTLAB_CORUN_DEVICE") == "1" && options.mode == gpu::Mode::timing)
      options.shared = gpu::shared::connect_device(gpu::shared::default_directory(), loaded_->device.name);
    // Through stdio, so that it keeps its place among the program's own output.
    options.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
    if (run.memory_errors == "report")
      options.on_outside = [this](const std::string& message) {
        warn(fmt::format("simtlab: warning: {}\n", message));
      };
    options.on_note = [this](const std::string& note) { warn(fmt::format("simtlab: note: {}\n", note)); };
    begin_to_keep(options);
    gpu_ = std::make_unique<gpu::Gpu>(loaded_->device, options);
    gpu_->memory().set_host_runs(other_threads);
  } catch (const Error& error) {
    start_failure_ = std::make_shared<Error>(error);
    watch_process(*this);
    throw;
  }
  watch_process(*this);
  return *gpu_;
}

// Without `simtlab run` nobody would look.
void Session::begin_to_keep(gpu::Options& options) {
  if (!started_by_tool()) return;
  kept_ = std::make_unique<KeptWriter>(environment("SIMTLAB_RESULT") + ".kept");
  options.on_kept = [this](const gpu::EndedKernel& kernel) {
    result::Metrics study;
    gpu_->add_study_totals(study);
    kept_->add(kernel, study);
    kept_->count(gpu_->counters());
  };
}

void Session::result_is_written(const std::string& file, bool last) {
  if (!kept_) return;
  if (last)
    kept_->remove();
  else
    kept_->wrote(file);
}

void Session::warn(const std::string& text) {
  constexpr std::size_t most = 64;  // a program in a loop must not fill the terminal
  if (told_.size() >= most || !told_.insert(text).second) return;
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// The first one counts. `simtlab run` prints it when the program has ended, however that happens.
void Session::keep_failure(const Error& error) {
  if (!failure_.empty()) return;
  note_failure(error);
  write_result(*this, false);
}

void Session::note_failure(const Error& error) {
  if (!failure_.empty()) return warn("simtlab: " + error.format());
  failure_ = error.format();
  failure_id_ = error.id();
  failure_code_ = static_cast<int>(error.code());
  if (!kept_) return;
  result::Manifest manifest;
  manifest.failure = failure_;
  manifest.failure_id = failure_id_;
  manifest.failure_code = failure_code_;
  kept_->fail(manifest);
}

void Session::tell_and_keep(const Error& error) {
  if (failure_.empty() && started_by_tool())
    told_.insert("simtlab: " + error.format());
  else
    warn("simtlab: " + error.format());
  keep_failure(error);
}

// None of the three by way of keep_failure(): it is what calls them.
void Session::finish_recording() {
  if (!gpu_) return;
  try {
    gpu_->finish_recording();
  } catch (const Error& error) { note_failure(error); }
}

void Session::finish_checkpoint() {
  if (!gpu_) return;
  try {
    gpu_->finish_checkpoint(!interrupted_ && failure_.empty());
  } catch (const Error& error) { note_failure(error); }
}

void Session::finish_timeline() {
  if (!gpu_ || run_.options.timeline.empty()) return;
  try {
    result::write_timeline(run_.options.timeline, gpu_->timeline());
  } catch (const Error& error) { note_failure(error); }
}

std::optional<result::Result> Session::result(bool last) {
  if (!gpu_ && failure_.empty()) return std::nullopt;
  result::Result out;
  // A program that was stopped had no chance to free anything.
  if (gpu_) out = gpu_->result(last && !interrupted_ && failure_.empty());
  if (refused_launches_ != 0) out.total.set("program.launches.refused", refused_launches_);
  out.manifest.device = loaded_ ? loaded_->device.name : run_.options.gpu;
  out.manifest.mode = run_.options.mode;
  out.manifest.seed = run_.options.seed;
  // Which of the program's processes this is, for the tool that collects their results.
  if (!environment("SIMTLAB_RESULT").empty()) {
    const ProgramIdentity self = identity_of_process(::getpid());
    out.manifest.inputs.push_back({self.name, self.content});
  }
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

}  // namespace simtlab::hosts

#include "studies/common/manifest.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <map>
#include <thread>

#include "base/hash.h"
#include "base/shell.h"
#include "base/shown.h"
#include "studies/common/host.h"
#include "studies/common/output.h"

namespace simtlab::studies {
namespace {

std::string& command_line() {
  static std::string text;  // argv of this process: one value, written once by run()
  return text;
}

std::uint64_t peak_memory_bytes() {
  rusage own{}, children{};
  ::getrusage(RUSAGE_SELF, &own);
  ::getrusage(RUSAGE_CHILDREN, &children);
  return static_cast<std::uint64_t>(std::max(own.ru_maxrss, children.ru_maxrss)) * 1024;
}

}  // namespace

void remember_command_line(const std::vector<std::string>& words) {
  (host() != nullptr ? host()->command_line : command_line()) = shell_words(words);
}

std::string typed_command() { return host() != nullptr ? host()->command_line : command_line(); }

RunClock::RunClock()
    : begin_(std::chrono::steady_clock::now()),
      start_time_(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(
                                                           std::chrono::system_clock::now())))) {}

void RunClock::finish(result::Result& result) const {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  result::Manifest& m = result.manifest;
  m.tool_version = version();
  m.command_line = typed_command();
  std::error_code ignored;
  m.working_directory = std::filesystem::current_path(ignored);
  m.start_time = start_time_;
  m.wall_seconds = seconds;
  utsname host{};
  ::uname(&host);
  m.host = fmt::format("{} ({} {}, {} processors)", host.nodename, host.sysname, host.machine,
                       std::thread::hardware_concurrency());
  result.total.set("host.wall_time", seconds);
  // A program's own process measures the time of its launches alone.
  const auto instructions = result.total.get("gpu.instructions.warp");
  if (!result.total.get("host.rate.warp_instructions") && instructions && seconds > 0)
    result.total.set("host.rate.warp_instructions", *instructions / seconds);
  result.total.set("host.peak_memory", peak_memory_bytes());
}

std::vector<result::InputHash> hash_inputs(const std::vector<std::filesystem::path>& paths) {
  std::vector<result::InputHash> out;
  for (const std::filesystem::path& path : paths) out.push_back({path.string(), hash_file(path)});
  return out;
}

std::vector<result::ConfigValue> configuration_of(const options::Configuration& configuration,
                                                  const device::LoadedDevice& device) {
  std::vector<result::ConfigValue> out;
  for (const auto* entries : {&configuration.option_entries, &device.entries})
    for (const device::Entry& e : *entries) {
      const std::string origin =
          e.origin.where.empty() ? e.origin.layer : e.origin.layer + " (" + e.origin.where + ")";
      out.push_back(
          {e.key, e.value, origin, e.origin.estimated ? "estimated: " + e.origin.source : e.origin.source});
    }
  return out;
}

std::string_view version() { return SIMTLAB_VERSION; }

void note_stop(result::Manifest& manifest, const Error& error) {
  manifest.interrupted = error.code() == ExitCode::interrupted;
  manifest.failure = error.format();
  manifest.failure_id = error.id();
  manifest.failure_code = static_cast<int>(error.code());
}

namespace {

// A device file of a user that inherits from a device of another generation has facts of that one, which a
// reader of the report does not see.
void note_inherited(const options::Configuration& configuration, const device::LoadedDevice& device) {
  namespace fs = std::filesystem;
  const std::string& gpu = configuration.options.gpu;
  if (!device::names_file(gpu)) return;
  std::error_code ignored;
  std::map<std::string, std::size_t> inherited;
  for (const device::Entry& e : device.entries) {
    if (e.origin.layer != "device") continue;
    const std::string file = e.origin.where.substr(0, e.origin.where.rfind(':'));
    if (!file.empty() && !fs::equivalent(file, gpu, ignored)) ++inherited[file];
  }
  for (const auto& [file, count] : inherited) {
    const device::Device parent = device::load_device(file).device;
    if (parent.cc_major == device.device.cc_major && parent.cc_minor == device.device.cc_minor) continue;
    talk(
        fmt::format("note: {} has {} values of {}, which is of compute capability {}.{}, not {}.{}; "
                    "`simtlab config show --gpu {} --origin` lists them\n",
                    shown(device.device.name), count, shown(parent.name), parent.cc_major, parent.cc_minor,
                    device.device.cc_major, device.device.cc_minor, shown(gpu)));
  }
}

}  // namespace

void narrate_setup(const OutputOptions& output, const options::Configuration& configuration,
                   const device::LoadedDevice& device, const std::vector<result::InputHash>& inputs) {
  if (!output.quiet) note_inherited(configuration, device);
  for (const result::InputHash& input : inputs)
    narrate(output, 2, fmt::format("read {} (xxh64 {})", shown(input.path), input.xxh64));
  for (const std::filesystem::path& file : files_of(configuration, device))
    narrate(output, 2, "read " + shown(file.string()));
  narrate(output, 1,
          fmt::format("{} on simulated {}, seed {}", configuration.options.mode, shown(device.device.name),
                      configuration.options.seed));
}

}  // namespace simtlab::studies

#include "studies/corun/shared_device.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/shown.h"
#include "corun/cycle/profile.h"
#include "device/catalogue.h"
#include "studies/common/command.h"
#include "studies/common/output.h"

namespace simtlab::studies {
namespace {

constexpr std::size_t most_kept = 65536;  // profiles of launches that have ended and are not asked for yet

std::uint64_t nanoseconds(double ns) { return static_cast<std::uint64_t>(std::llround(ns)); }

}  // namespace

void add_shared_device(Command& command, SharedDeviceOptions& o, const std::string& device) {
  command.add_option("--device", o.device, device)->check(not_empty())->type_name("sim:NAME");
  command
      .add_flag(
          "--learn", o.learn,
          "What the simulated GPU counts of each launch is learnt (bandwidths, instructions, stalls), so "
          "that policies need no --profiles")
      ->needs("--device");
  command.add_option("--threads", o.threads, "Of the simulated GPU (default 1)")
      ->check(in_range(1, 1024))
      ->type_name("N")
      ->needs("--device");
  command
      .add_option("--patience", o.patience,
                  "Simulated time waits so long for a program that says nothing (default 0.2)")
      ->type_name("SECONDS")
      ->needs("--device");
}

void check_shared_device(const SharedDeviceOptions& o) {
  if (!(o.patience > 0) || o.patience > 3600)
    throw Error(ExitCode::usage, "corun-options",
                fmt::format("--patience {:g} is not above 0 and up to 3600", o.patience),
                "seconds of real time");
}

SharedDevice::SharedDevice(const SharedDeviceOptions& o, const std::filesystem::path& directory,
                           corun::live::Core& core) {
  constexpr std::string_view kind = "sim:";
  if (!o.device.starts_with(kind))
    throw Error(ExitCode::usage, "corun-options",
                fmt::format("--device {} is no simulated GPU", shown(o.device)),
                "for example --device sim:titanx; programs on a real GPU need no device here");
  name_ = o.device.substr(kind.size());
  if (name_.ends_with(".toml")) name_ = std::filesystem::absolute(name_).string();
  gpu::shared::DeviceOptions options;
  options.directory = directory;
  options.threads = o.threads;
  options.patience_ns = static_cast<std::uint64_t>(o.patience * 1e9);
  options.clients = o.clients;
  options.waits_at_gate = [this](pid_t pid) {
    const std::lock_guard lock(mutex_);
    return waiting_.contains(pid);
  };
  const device::Device device = device::load_device(name_, {}).device;
  if (o.learn) {
    options.on_ended = [this, device](pid_t pid, double begin_ns, double end_ns,
                                      const result::KernelResult& kernel) {
      const std::lock_guard lock(mutex_);
      if (ended_.size() == most_kept) ended_.clear();  // of launches that nobody asked about
      ended_[{pid, nanoseconds(begin_ns), nanoseconds(end_ns)}] = corun::cycle::profile_of(kernel, device);
    };
    core.gpu.profile = [this](std::int32_t pid, std::uint64_t begin_ns,
                              std::uint64_t end_ns) -> std::optional<corun::Profile> {
      const std::lock_guard lock(mutex_);
      const auto node = ended_.extract({pid, begin_ns, end_ns});
      return node ? std::optional(node.mapped()) : std::nullopt;
    };
  }
  server_.emplace(device, options);
  core.gpu.name = name_;
  core.gpu.clock = [this] { return static_cast<std::uint64_t>(server_->now_ns()); };
  core.on_waiting = [this](std::int32_t pid, int change) {
    {
      const std::lock_guard lock(mutex_);
      if ((waiting_[pid] += change) == 0) waiting_.erase(pid);
    }
    server_->nudge();
  };
  thread_ = std::thread([this] {
    try {
      server_->run();
    } catch (const std::exception& e) {
      talk(fmt::format("error: the shared GPU: {} [corun-device]\n", e.what()));
      failed_ = true;
    }
  });
}

void SharedDevice::stop() {
  if (!thread_.joinable()) return;
  server_->stop();
  thread_.join();
}

std::string SharedDevice::summary() {
  stop();
  const gpu::shared::DeviceServer::Counts& c = server_->counts();
  return fmt::format(
      "device {}: {} launches, {} ended, {} of them for nobody, {} failed, {} later than asked for; {:.3f} "
      "ms simulated; {} times simulated time did not wait longer for a program that said nothing "
      "(--patience)\n",
      name_, c.launches, c.ended, c.orphaned, c.failed, c.late, c.clock_ns * 1e-6, c.impatient);
}

}  // namespace simtlab::studies

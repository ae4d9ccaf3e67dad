// simtlab corun serve: the daemon that decides which launches go to the GPU.
#include <cxxabi.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "cli/command_corun_live.h"
#include "cli/corun_live_result.h"
#include "cli/manifest.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/output_option.h"
#include "cli/signals.h"
#include "corun/log.h"
#include "corun/profiles.h"
#include "device/catalogue.h"
#include "live/server.h"
#include "live/timeline.h"
#include "remote/device_server.h"
#include "result/json.h"

namespace simtlab::cli {
namespace {

struct ServeOptions {
  std::string policy = "mps", directory, log, timeline, profiles, json;
  corun::Settings settings;
  live::Caps caps;
  double rate = 200000, linger = 0, patience = 0.2;
  std::string device;
  unsigned threads = 1;
  std::size_t launches = 500;
};

// A simulated GPU in a thread of its own, which is told who waits at the gate.
class Device {
 public:
  Device(const ServeOptions& o, const std::filesystem::path& directory, live::Core& core) {
    constexpr std::string_view kind = "sim:";
    if (!o.device.starts_with(kind)) throw Error(ExitCode::usage, "corun-options", fmt::format("--device {} is no simulated GPU", shown(o.device)), "for example --device sim:titanx; programs on a real GPU need no device here");
    name_ = o.device.substr(kind.size());
    if (name_.ends_with(".toml")) name_ = std::filesystem::absolute(name_).string();
    remote::DeviceOptions options;
    options.directory = directory;
    options.threads = o.threads;
    options.patience_ns = static_cast<std::uint64_t>(o.patience * 1e9);
    options.clients = o.caps.clients;
    options.waits_at_gate = [this](pid_t pid) {
      const std::lock_guard lock(mutex_);
      return waiting_.contains(pid);
    };
    server_.emplace(device::load_device(name_, {}).device, options);
    core.set_device(name_);
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
  ~Device() { stop(); }
  void stop() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }
  bool failed() const { return failed_; }
  std::string summary() {
    stop();
    const remote::DeviceServer::Counts& c = server_->counts();
    return fmt::format("device {}: {} launches, {} ended, {} of them for nobody, {} failed, {} later than asked for; {:.3f} ms simulated; {} times without a program that said nothing\n", name_, c.launches, c.ended,
                       c.orphaned, c.failed, c.late, c.clock_ns * 1e-6, c.impatient);
  }

 private:
  std::string name_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::unordered_map<std::int32_t, int> waiting_;
  std::optional<remote::DeviceServer> server_;
  std::thread thread_;
};

// "_Z5scalePfi": itself, "scale(float*, int)" and "scale", in this order, are what a file of profiles may call it.
std::vector<std::string> names_of(const std::string& kernel) {
  std::vector<std::string> out = {kernel};
  int status = 0;
  char* const text = abi::__cxa_demangle(kernel.c_str(), nullptr, nullptr, &status);
  if (status != 0 || text == nullptr) return out;
  out.emplace_back(text);
  std::free(text);
  const std::string head = out.back().substr(0, out.back().find_first_of("(<"));
  out.push_back(head.substr(head.find_last_of(' ') + 1));   // a template's has its result before it
  return out;
}

// Of the program, else of any: `exec` is told a path, profiles may name the application otherwise.
std::optional<corun::Profile> find_profile(const corun::Profiles& profiles, const std::string& program, const std::string& kernel) {
  for (const std::string& name : names_of(kernel)) {
    if (const corun::KernelProfile* found = profiles.find(program, name)) return found->profile;
    for (const auto& [key, known] : profiles.kernels)
      if (key.second == name) return known.profile;
  }
  return std::nullopt;
}

std::string summary(const live::Totals& t) {
  return fmt::format("policy {}, limit {}: {} launches asked for, {} granted, {} ended, {} withdrawn, {} lost with their client; {} connections, {} refused; {:.1f} s\n", t.policy, t.limit,
                     t.requests, t.grants, t.done, t.cancelled, t.lost, t.connections, t.refused, static_cast<double>(t.now_ns) * 1e-9);
}

// The counts go to no other output's file.
void check_files(ServeOptions& o) {
  for (const auto& [option, file] : {std::pair{"--log", &o.log}, std::pair{"--timeline", &o.timeline}}) {
    if (o.json.empty() || file->empty()) continue;
    OutputOptions both;
    both.json = o.json;
    both.more.push_back({option, file});
    check_outputs(both);
  }
}

int serve(ServeOptions o) {
  const RunClock clock;
  check_files(o);
  if (!(o.rate >= 1)) throw Error(ExitCode::usage, "corun-options", fmt::format("--rate {:g} is less than one message a second", o.rate), "messages per second of a client");
  if (!(o.linger >= 0)) throw Error(ExitCode::usage, "corun-options", fmt::format("--linger {:g} is negative", o.linger), "seconds without a client after which the daemon ends; 0: never");
  const corun::Policy& policy = corun::policy(o.policy);
  live::ServerOptions options;
  options.directory = o.directory.empty() ? live::default_directory() : std::filesystem::path(o.directory);
  options.caps = o.caps;
  options.messages_per_second = o.rate;
  if (!(o.patience > 0) || o.patience > 3600) throw Error(ExitCode::usage, "corun-options", fmt::format("--patience {:g} is not above 0 and up to 3600", o.patience), "seconds of real time");
  if (!o.profiles.empty())
    options.find_profile = [profiles = corun::load_profiles(o.profiles)](const std::string& program, const std::string& kernel) { return find_profile(profiles, program, kernel); };
  live::Server server(policy, o.settings, options);
  std::optional<Device> device;
  if (!o.device.empty()) device.emplace(o, options.directory, server.core());
  // A full disk ends the file, not the daemon: programs depend on it.
  bool lost = false;
  const auto keep = [&lost](auto& file, auto&& write) {
    if (!file) return;
    try {
      write();
    } catch (const Error& e) {
      talk(e.format());
      file.reset();
      lost = true;
    }
  };
  std::optional<FileWriter> log;
  std::optional<live::Timeline> timeline;
  if (!o.log.empty()) {
    log.emplace(o.log);
    log->write(server.core().log(0).text);
    server.core().on_decision = [&](std::string_view line) { keep(log, [&] { log->write(line), log->write("\n"); }); };
  }
  if (!o.timeline.empty()) timeline.emplace(o.timeline);
  LiveLaunches launches(o.json.empty() ? 0 : o.launches);
  if (timeline || !o.json.empty())
    server.core().on_span = [&](const live::Core::Span& span) {
      keep(timeline, [&] { timeline->add(span); });
      launches.add(span);
    };
  const Signals signals(0);
  talk(fmt::format("simtlab corun serve: policy {}, limit {}{}{}, in {}\n", policy.name, o.settings.limit, o.device.empty() ? "" : ", device ", o.device, options.directory.string()));
  std::uint64_t busy_ns = 0;
  server.run([&] {
    if (*signals.flag() || (device && device->failed())) return true;
    if (o.linger == 0) return false;
    const std::uint64_t now = server.now_ns();
    if (server.core().clients() != 0) busy_ns = now;
    return static_cast<double>(now - busy_ns) * 1e-9 > o.linger;
  });
  keep(log, [&] { log->close(); });
  keep(timeline, [&] { timeline->close(); });
  const live::Stats stats = server.core().stats(0, server.now_ns());
  if (o.json != "-") print(summary(stats.totals));
  if (device && o.json != "-") print(device->summary());
  if (!o.json.empty()) {
    result::Result result = result_of(stats);
    launches.add_to(result);
    clock.finish(result);
    write_result(o.json, result);
  }
  return static_cast<int>(lost || (device && device->failed()) ? ExitCode::failure : ExitCode::ok);
}

}  // namespace

void add_corun_serve(CLI::App& corun, Action& chosen) {
  CLI::App* sub = corun.add_subcommand("serve", "Decide which launches of programs started by `simtlab corun exec` go to the GPU");
  const auto o = std::make_shared<ServeOptions>();
  const CLI::Validator not_empty(refuse_empty, "");
  sub->add_option("--policy", o->policy, "Who goes first (default mps)")->check(not_empty)->type_name("NAME");
  sub->add_option("--limit", o->settings.limit, "Launches at a time (default 8)")->check(CLI::Range(1, 65536))->type_name("N");
  sub->add_option("--profiles", o->profiles, "What is known of kernels: .toml, .csv or a database (docs/corun.md); policies decide by it")->check(not_empty)->type_name("FILE");
  sub->add_option("--directory", o->directory, "Where the socket is (default: $SIMTLAB_CORUN_DIR, or one of the user's own)")->check(not_empty)->type_name("DIR");
  sub->add_option("--log", o->log, "Write all decisions to this file, when the daemon ends")->check(output_file())->type_name("FILE");
  sub->add_option("--timeline", o->timeline, "Write launches and waits as a Chrome trace (ui.perfetto.dev), when the daemon ends")->check(output_file())->type_name("FILE");
  sub->add_option("--json", o->json, "Write the counts as JSON when the daemon ends: to stdout in place of the summary, or with --json=FILE to FILE")->check(output_file())->type_name("[=FILE]");
  sub->add_option("--launches", o->launches, "Launches that --json keeps for the page's picture, the first to end (default 500)")->check(CLI::Range(0, 100000))->type_name("N");
  sub->add_option("--clients", o->caps.clients, "Connections at a time (default 512)")->check(CLI::Range(1, 100000))->type_name("N");
  sub->add_option("--rate", o->rate, "Messages a second of one client; more of them wait (default 200000)")->type_name("N");
  sub->add_option("--device", o->device, "Programs share this simulated GPU: sim:NAME or sim:FILE.toml")->check(not_empty)->type_name("sim:NAME");
  sub->add_option("--threads", o->threads, "Of the simulated GPU (default 1)")->check(CLI::Range(1, 1024))->type_name("N");
  sub->add_option("--patience", o->patience, "Simulated time waits so long for a program that says nothing (default 0.2)")->type_name("SECONDS");
  sub->add_option("--linger", o->linger, "End after so many seconds without a client (default: never)")->type_name("SECONDS");
  sub->footer("Form: simtlab corun serve --policy shark --limit 4 [--log FILE] [--timeline FILE]; ends by SIGINT or SIGTERM");
  sub->callback([&chosen, o] { chosen = [o] { return serve(*o); }; });
}

}  // namespace simtlab::cli

// simtlab corun serve: the daemon that decides which launches go to the GPU.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/program_identity.h"
#include "base/shown.h"
#include "cli/commands/commands.h"
#include "cli/commands/corun_live_result.h"
#include "corun/live/server.h"
#include "corun/live/timeline.h"
#include "corun/log.h"
#include "result/json.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/common/options.h"
#include "studies/common/output.h"
#include "studies/common/signals.h"
#include "studies/corun/known.h"
#include "studies/corun/policy_options.h"
#include "studies/corun/shared_device.h"

namespace simtlab::cli {
namespace {

constexpr double least_grant_limit = 0.5;  // processor time is counted in ticks of 10 ms

struct ServeOptions {
  std::string policy = "mps", directory, log, timeline, profiles, json;
  PolicyOptions settings;
  std::uint32_t limit = 8;
  corun::live::Caps caps;
  double grant_limit = 10;
  double rate = 200000, linger = 0;
  SharedDeviceOptions device;
  std::size_t launches = 500;
};

std::string summary(const corun::live::Totals& t) {
  const corun::Policy& policy = corun::policy(t.policy);
  std::string out = fmt::format(
      "policy {}, limit {}: {} launches asked for, {} granted, {} ended, {} withdrawn, {} lost with their "
      "client; {} connections, {} refused; {:.1f} s\n",
      t.policy, t.limit, t.requests, t.grants, t.done, t.cancelled, t.lost, t.connections, t.refused,
      static_cast<double>(t.now_ns) * 1e-9);
  if (t.adjusted != 0)
    out += fmt::format("policy and limit are the last ones: they were changed {} times\n", t.adjusted);
  if (t.passes != 0)
    out += fmt::format("clients that held a grant and did nothing were passed over {} times\n", t.passes);
  if (t.unknown != 0)
    out += fmt::format("of {} of {} kernels the {} was not known to policy {}: {}\n", t.unknown, t.kernels,
                       corun::knowledge_text(policy.needs), t.policy, unknown_text(policy));
  return out;
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

// What is written while the daemon runs. A full disk ends the file, not the daemon: programs depend on it.
class KeptLaunches {
 public:
  KeptLaunches(const ServeOptions& o, corun::live::Core& core) : launches_(o.json.empty() ? 0 : o.launches) {
    if (!o.log.empty()) {
      log_.emplace(o.log);
      log_->write(core.log(0).text);
      core.on_decision = [this](std::string_view line) {
        keep(log_, [&] { log_->write(line), log_->write("\n"); });
      };
    }
    if (!o.timeline.empty()) timeline_.emplace(o.timeline);
    if (o.timeline.empty() && o.json.empty()) return;
    core.on_span = [this](const corun::live::Core::Span& span) {
      keep(timeline_, [&] { timeline_->add(span); });
      launches_.add(span);
    };
  }
  void close() {
    keep(log_, [&] { log_->close(); });
    keep(timeline_, [&] { timeline_->close(); });
  }
  bool lost() const { return lost_; }
  const LiveLaunches& launches() const { return launches_; }

 private:
  template <typename File, typename Write>
  void keep(File& file, Write&& write) {
    if (!file) return;
    try {
      write();
    } catch (const Error& e) {
      talk(e.format());
      file.reset();
      lost_ = true;
    }
  }

  bool lost_ = false;
  std::optional<FileWriter> log_;
  std::optional<corun::live::Timeline> timeline_;
  LiveLaunches launches_;
};

corun::live::ServerOptions server_options(const ServeOptions& o) {
  if (!(o.rate >= 1))
    throw Error(ExitCode::usage, "corun-options",
                fmt::format("--rate {:g} is less than one message a second", o.rate),
                "messages per second of a client");
  if (!(o.linger >= 0))
    throw Error(ExitCode::usage, "corun-options", fmt::format("--linger {:g} is negative", o.linger),
                "seconds without a client after which the daemon ends; 0: never");
  check_shared_device(o.device);
  if (!(o.grant_limit == 0 || (o.grant_limit >= least_grant_limit && o.grant_limit <= 1e6)))
    throw Error(ExitCode::usage, "corun-options",
                fmt::format("--grant-limit {:g} is neither 0 nor from {} to 1000000", o.grant_limit,
                            least_grant_limit),
                "seconds; 0: a client that does nothing is never passed over");
  corun::live::ServerOptions options;
  options.directory =
      o.directory.empty() ? corun::live::default_directory() : std::filesystem::path(o.directory);
  options.caps = o.caps;
  options.messages_per_second = o.rate;
  options.identify = [](std::int32_t pid, const std::string&) { return identity_of_process(pid); };
  options.grant_limit_ns = static_cast<std::uint64_t>(std::llround(o.grant_limit * 1e9));
  options.clients_sleep = !o.device.device.empty();
  return options;
}

void tell_passed(const corun::live::ClientRow& client, bool over) {
  const std::string who =
      fmt::format("client {} ({}, process {})", client.client, shown(client.program), client.pid);
  talk(over ? fmt::format(
                  "note: {} {}: it is passed over\n", who,
                  client.running != 0 ? "holds a grant and does nothing" : "waits for a grant and is stopped")
            : fmt::format("note: {} does something again: it is granted launches as before\n", who));
}

int serve(ServeOptions o) {
  const RunClock clock;
  check_files(o);
  const corun::Policy& policy = corun::policy(o.policy);
  check_policy_options(o.settings, {o.policy}, false);
  corun::Settings settings = settings_of(o.settings);
  settings.limit = o.limit;
  corun::live::ServerOptions options = server_options(o);
  KnownKernels known(policy, o.profiles);
  options.find_profile = known.find();
  corun::live::Server server(policy, settings, options);
  server.core().on_passed = [](const corun::live::ClientRow& client, bool over) {
    tell_passed(client, over);
  };
  std::optional<SharedDevice> device;
  o.device.clients = o.caps.clients;
  if (!o.device.device.empty()) device.emplace(o.device, options.directory, server.core());
  KeptLaunches kept(o, server.core());
  const Signals signals(0);
  talk(fmt::format("simtlab corun serve: policy {}, limit {}{}{}, in {}\n", policy.name, o.limit,
                   o.device.device.empty() ? "" : ", device ", o.device.device, options.directory.string()));
  known.watch(server.core(), o.device.learn);
  server.core().on_adjusted = [&](const corun::Policy& now, const corun::Settings& now_set) {
    talk(fmt::format("simtlab corun serve: {} from now on\n", corun::policy_line(now, now_set)));
    known.decides(now, server.core(), o.device.learn);
  };
  std::uint64_t busy_ns = 0;
  server.run([&] {
    if (*signals.flag() || (device && device->failed())) return true;
    if (o.linger == 0) return false;
    const std::uint64_t now = server.now_ns();
    if (server.core().clients() != 0) busy_ns = now;
    return static_cast<double>(now - busy_ns) * 1e-9 > o.linger;
  });
  kept.close();
  const corun::live::Stats stats = server.core().stats(0, server.now_ns());
  if (o.json != "-") print(summary(stats.totals));
  if (device && o.json != "-") print(device->summary());
  if (!o.json.empty()) {
    result::Result result = result_of(stats, all_applications(server.core()));
    kept.launches().add_to(result);
    clock.finish(result);
    write_result(o.json, result);
  }
  return static_cast<int>(kept.lost() || (device && device->failed()) ? ExitCode::failure : ExitCode::ok);
}

}  // namespace

void add_corun_serve(Command& corun) {
  Command* sub = corun.add_subcommand(
      "serve", "Decide which launches of programs started by `simtlab corun exec` go to the GPU");
  const auto o = std::make_shared<ServeOptions>();
  sub->add_option("--policy", o->policy, "Who goes first (default mps)")
      ->check(not_empty())
      ->type_name("NAME");
  sub->add_option("--limit", o->limit, "Launches at a time (default 8)")
      ->check(in_range(1, 65536))
      ->type_name("N");
  sub->add_option("--profiles", o->profiles,
                  "What is known of kernels: .toml, .csv or a database (docs/reference/corun-files.md); "
                  "policies decide by it")
      ->check(not_empty())
      ->type_name("FILE");
  sub->add_option("--directory", o->directory,
                  "Where the socket is (default: $SIMTLAB_CORUN_DIR, or one of the user's own)")
      ->check(not_empty())
      ->type_name("DIR");
  sub->add_option("--log", o->log, "Write all decisions to this file, when the daemon ends")
      ->check(output_file())
      ->type_name("FILE");
  sub->add_option("--timeline", o->timeline,
                  "Write launches and waits as a Chrome trace (ui.perfetto.dev), when the daemon ends")
      ->check(output_file())
      ->type_name("FILE");
  sub->add_option("--json", o->json,
                  "Write the counts as JSON when the daemon ends: to stdout in place of the summary, or with "
                  "--json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]");
  sub->add_option("--launches", o->launches,
                  "Launches that --json keeps for the page's picture, the first to end (default 500)")
      ->check(in_range(0, 100000))
      ->type_name("N");
  sub->add_option("--clients", o->caps.clients, "Connections at a time (default 512)")
      ->check(in_range(1, 100000))
      ->type_name("N");
  sub->add_option("--rate", o->rate, "Messages a second of one client; more of them wait (default 200000)")
      ->type_name("N");
  add_shared_device(*sub, o->device, "Programs share this simulated GPU: sim:NAME or sim:FILE.toml");
  sub->add_option("--grant-limit", o->grant_limit,
                  "A client that holds a grant, keeps others waiting and does nothing for so long is passed "
                  "over (default 10; 0: never)")
      ->type_name("SECONDS");
  sub->add_option("--linger", o->linger, "End after so many seconds without a client (default: never)")
      ->type_name("SECONDS");
  add_policy_options(*sub, o->settings);
  sub->footer(
      "Form: simtlab corun serve --policy shark --limit 4 [--log FILE] [--timeline FILE]; ends by SIGINT or "
      "SIGTERM");
  sub->action([o](const Call&) { return serve(*o); });
}

}  // namespace simtlab::cli

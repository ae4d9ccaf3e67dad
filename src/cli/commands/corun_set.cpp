// simtlab corun set: another policy, limit or parameter for a daemon that runs.
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/shown.h"
#include "cli/commands/commands.h"
#include "cli/commands/corun_daemon.h"
#include "studies/common/command.h"
#include "studies/common/options.h"
#include "studies/common/output.h"
#include "studies/corun/policy_options.h"

namespace simtlab::cli {
namespace {

struct SetOptions {
  std::string directory, policy;
  std::optional<std::uint32_t> limit;
  PolicyOptions settings;
};

// Only what is given; the rest of the daemon's settings stays.
corun::live::Adjust adjust_of(const SetOptions& o) {
  const corun::Settings values = settings_of(o.settings);
  corun::live::Adjust out;
  out.policy = o.policy;
  out.limit = o.limit;
  out.light = o.settings.light;
  out.best_effort = o.settings.best_effort;
  out.aging = o.settings.aging;
  out.memory_class = o.settings.memory_class;
  if (o.settings.quantum_ms) out.quantum_ns = values.quantum;
  if (o.settings.l2_cap) out.l2_cap = values.l2_cap;
  if (o.settings.dram_cap) out.dram_cap = values.dram_cap;
  return out;
}

int set(const SetOptions& o) {
  const corun::live::Adjust wanted = adjust_of(o);
  if (wanted == corun::live::Adjust{})
    throw Error(
        ExitCode::usage, "corun-options", "nothing is given that the daemon should change",
        "give --policy, --limit or a parameter of the policy; simtlab corun top shows what is in effect");
  const corun::live::Adjusted done = DaemonLink(o.directory).adjust(wanted);
  print(done.now == done.before
            ? fmt::format("as before: {}\n", shown(done.now))
            : fmt::format("before: {}\nnow:    {}\n", shown(done.before), shown(done.now)));
  return 0;
}

}  // namespace

void add_corun_set(Command& corun) {
  Command* sub = corun.add_subcommand(
      "set", "Change policy, limit or parameters of the daemon while it runs: for its next decision");
  const auto o = std::make_shared<SetOptions>();
  sub->add_option("--policy", o->policy, "Who goes first from now on (default: as it is)")
      ->check(not_empty())
      ->type_name("NAME");
  sub->add_option("--limit", o->limit, "Launches at a time from now on (default: as it is)")
      ->check(in_range(1, 65536))
      ->type_name("N");
  sub->add_option("--directory", o->directory, "Where the daemon's socket is")
      ->check(not_empty())
      ->type_name("DIR");
  add_policy_options(*sub, o->settings, true);
  sub->footer(
      "Form: simtlab corun set --policy shark --limit 4 [--light 2]; what is not given stays as it is");
  sub->action([o](const Call&) { return set(*o); });
}

}  // namespace simtlab::cli

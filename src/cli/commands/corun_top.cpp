// simtlab corun top: what the daemon does now.
#include <fmt/format.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "cli/commands/commands.h"
#include "cli/commands/corun_daemon.h"
#include "cli/commands/corun_live_result.h"
#include "result/json.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/common/options.h"
#include "studies/common/output.h"
#include "studies/common/signals.h"
#include "studies/common/status.h"
#include "studies/corun/policy_options.h"

namespace simtlab::cli {
namespace {

struct TopOptions {
  std::string directory;
  double interval = 1;
  std::uint32_t count = 0, decisions = 0;
  OutputOptions output;  // --json
};

std::string table(const corun::live::Stats& s) {
  const corun::live::Totals& t = s.totals;
  std::string out = fmt::format(
      "policy {}  limit {}  clients {}  waiting {}  running {}  granted {}  ended {}  lost {}  decisions {}  "
      "up {:.1f} s\n",
      t.policy, t.limit, t.clients, t.waiting, t.running, t.grants, t.done, t.lost, t.decisions,
      static_cast<double>(t.now_ns) * 1e-9);
  out += fmt::format("{:>6} {:>8} {:>7} {:>7} {:>9} {:>9} {:>11} {:>11}  {:<16} {}\n", "client", "process",
                     "waiting", "running", "granted", "ended", "waited/ms", "gpu/ms", "program", "kernel");
  for (const corun::live::ClientRow& r : s.rows)
    if (!r.kernel.empty())
      out += fmt::format("{:>6} {:>8} {:>7} {:>7} {:>9} {:>9} {:>11.3f} {:>11.3f}  {:<16} {}\n", r.client,
                         r.pid, r.waiting, r.running, r.grants, r.done,
                         static_cast<double>(r.waited_ns) * 1e-6, static_cast<double>(r.gpu_ns) * 1e-6,
                         r.program, r.kernel + (r.passed ? " (does nothing: passed over)" : ""));
  return out;
}

// All that ran, whether it is still there or not, and what the policy does not know.
std::string applications_table(const corun::live::Stats& stats,
                               const std::vector<corun::live::ApplicationRow>& rows) {
  if (rows.empty()) return {};
  std::string out =
      fmt::format("{:>9} {:>7} {:>9} {:>9} {:>7} {:>11} {:>11} {:>9} {:>8}  {}\n", "processes", "there",
                  "granted", "ended", "lost", "waited/ms", "gpu/ms", "slowdown", "unknown", "application");
  for (const corun::live::ApplicationRow& r : rows) {
    const std::string slowdown =
        r.judged == 0
            ? "-"
            : fmt::format("{:.3f}", static_cast<double>(r.judged_ns) / static_cast<double>(r.alone_ns));
    out += fmt::format("{:>9} {:>7} {:>9} {:>9} {:>7} {:>11.3f} {:>11.3f} {:>9} {:>8}  {}\n", r.clients,
                       r.connected, r.grants, r.done, r.lost, static_cast<double>(r.waited_ns) * 1e-6,
                       static_cast<double>(r.gpu_ns) * 1e-6, slowdown,
                       fmt::format("{}/{}", r.unknown, r.kernels), r.program);
  }
  if (const LiveFigures f = figures_of(rows); f.processes != 0)
    out += fmt::format(
        "of {} processes, time on the GPU: ANTT {:.3f}, STP {:.3f}, speed-up against alone {:.3f}\n",
        f.processes, f.antt, f.stp, f.speedup);
  const corun::Policy* policy = corun::find_policy(stats.totals.policy);
  if (policy == nullptr || stats.totals.unknown == 0) return out;
  const auto first =
      std::ranges::find_if(rows, [](const corun::live::ApplicationRow& r) { return r.unknown != 0; });
  return out + fmt::format("of {} of {} kernels the {} is not known{}: {}\n", stats.totals.unknown,
                           stats.totals.kernels, corun::knowledge_text(policy->needs),
                           first == rows.end() ? "" : fmt::format(" (first {})", first->unknown_kernel),
                           unknown_text(*policy));
}

int top(const TopOptions& o) {
  if (!(o.interval >= 0.05))
    throw Error(ExitCode::usage, "corun-options",
                fmt::format("--interval {:g} is shorter than 0.05 s", o.interval),
                "seconds between two tables");
  DaemonLink link(o.directory);
  if (!o.output.json.empty()) {
    const RunClock clock;
    const corun::live::Stats stats = link.stats();
    result::Result result = result_of(stats, link.applications());
    clock.finish(result);
    write_result(o.output.json, result);
    return 0;
  }
  const Signals signals(0);
  const bool terminal = ::isatty(STDOUT_FILENO) == 1, overwritable = terminal && can_move_cursor();
  std::uint64_t next_line = 0;
  for (std::uint32_t i = 0; !*signals.flag() && !reader_has_left(); ++i) {
    const corun::live::Stats stats = link.stats();
    std::string text = overwritable ? "\x1b[H\x1b[2J" : "";
    text += table(stats) + applications_table(stats, link.applications());
    if (o.decisions != 0) {
      next_line = stats.totals.decisions > o.decisions
                      ? std::max(next_line, stats.totals.decisions - o.decisions)
                      : 0;
      if (terminal)
        next_line = stats.totals.decisions - std::min<std::uint64_t>(stats.totals.decisions, o.decisions);
      text += link.decisions(next_line);
    }
    print(text);
    if (o.count != 0 && i + 1 >= o.count) break;
    ::poll(nullptr, 0, static_cast<int>(o.interval * 1000));
  }
  return 0;
}

}  // namespace

void add_corun_top(Command& corun) {
  Command* sub =
      corun.add_subcommand("top", "Show clients, launches and decisions of the daemon, again and again");
  const auto o = std::make_shared<TopOptions>();
  sub->add_option("--directory", o->directory, "Where the daemon's socket is")
      ->check(not_empty())
      ->type_name("DIR");
  sub->add_option("--interval", o->interval, "Between two tables (default 1)")->type_name("SECONDS");
  sub->add_option("--count", o->count, "Tables to show (default: until interrupted)")
      ->check(in_range(1, 1000000000))
      ->type_name("N");
  sub->add_option("--decisions", o->decisions, "Also the latest so many lines of the decision log")
      ->check(in_range(1, 1000))
      ->type_name("N");
  sub->add_option("--json", o->output.json,
                  "Write what is so now as JSON, once, to stdout, or with --json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]")
      ->excludes("--interval")
      ->excludes("--count")
      ->excludes("--decisions");
  sub->footer("Form: simtlab corun top [--decisions 20] [--count 1] | --json");
  sub->action([o](const Call&) { return top(*o); });
}

}  // namespace simtlab::cli

#include "cli/corun_live_result.h"

#include <fmt/format.h>

namespace simtlab::cli {

result::Result result_of(const live::Stats& stats) {
  const live::Totals& t = stats.totals;
  result::Result out;
  out.manifest.mode = "corun";
  out.manifest.device = t.device;
  out.manifest.configuration.push_back({"policy", t.policy, "daemon", "simtlab corun serve --policy"});
  result::Metrics& m = out.total;
  m.set("corun.live.uptime", static_cast<double>(t.now_ns) * 1e-9);
  const auto set = [](result::Metrics& to, const char* name, std::uint64_t value) { to.set(name, value); };
  set(m, "corun.limit", t.limit);
  set(m, "corun.live.clients", t.clients);
  set(m, "corun.live.waiting", t.waiting);
  set(m, "corun.live.running", t.running);
  set(m, "corun.live.requests", t.requests);
  set(m, "corun.live.granted", t.grants);
  set(m, "corun.live.ended", t.done);
  set(m, "corun.live.withdrawn", t.cancelled);
  set(m, "corun.live.lost", t.lost);
  set(m, "corun.live.connections", t.connections);
  set(m, "corun.live.refused", t.refused);
  set(m, "corun.live.decisions", t.decisions);
  for (const live::ClientRow& r : stats.rows) {
    if (r.kernel.empty()) continue;
    result::KernelResult& row = out.kernels.emplace_back();
    row.name = row.demangled = fmt::format("{} {}: {}", r.client, r.program, r.kernel);
    set(row.metrics, "corun.live.process", static_cast<std::uint64_t>(r.pid));
    set(row.metrics, "corun.live.waiting", r.waiting);
    set(row.metrics, "corun.live.running", r.running);
    set(row.metrics, "corun.live.granted", r.grants);
    set(row.metrics, "corun.live.ended", r.done);
    row.metrics.set("corun.live.waited", static_cast<double>(r.waited_ns));
    row.metrics.set("corun.live.gpu_time", static_cast<double>(r.gpu_ns));
  }
  return out;
}

}  // namespace simtlab::cli

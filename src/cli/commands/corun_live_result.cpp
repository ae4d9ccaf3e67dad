#include "cli/commands/corun_live_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace simtlab::cli {
namespace {

void set_live(result::Metrics& to, const char* name, std::uint64_t value) { to.set(name, value); }

void set_totals(const corun::live::Totals& t, result::Metrics& m) {
  m.set("corun.live.uptime", static_cast<double>(t.now_ns) * 1e-9);
  const std::pair<const char*, std::uint64_t> counts[] = {{"corun.limit", t.limit},
                                                          {"corun.live.clients", t.clients},
                                                          {"corun.live.waiting", t.waiting},
                                                          {"corun.live.running", t.running},
                                                          {"corun.live.requests", t.requests},
                                                          {"corun.live.granted", t.grants},
                                                          {"corun.live.ended", t.done},
                                                          {"corun.live.withdrawn", t.cancelled},
                                                          {"corun.live.lost", t.lost},
                                                          {"corun.live.passed", t.passes},
                                                          {"corun.live.connections", t.connections},
                                                          {"corun.live.refused", t.refused},
                                                          {"corun.live.decisions", t.decisions},
                                                          {"corun.live.adjusted", t.adjusted},
                                                          {"corun.live.kernels", t.kernels},
                                                          {"corun.live.kernels.unknown", t.unknown}};
  for (const auto& [name, value] : counts) set_live(m, name, value);
}

void add_application(const corun::live::ApplicationRow& a, result::Result& out) {
  result::KernelResult& row = out.kernels.emplace_back();
  row.name = row.demangled = fmt::format("application {}", a.program);
  const std::pair<const char*, std::uint64_t> counts[] = {{"corun.live.processes", a.clients},
                                                          {"corun.live.clients", a.connected},
                                                          {"corun.live.granted", a.grants},
                                                          {"corun.live.ended", a.done},
                                                          {"corun.live.lost", a.lost},
                                                          {"corun.live.kernels", a.kernels},
                                                          {"corun.live.kernels.unknown", a.unknown}};
  for (const auto& [name, value] : counts) set_live(row.metrics, name, value);
  row.metrics.set("corun.live.waited", static_cast<double>(a.waited_ns));
  row.metrics.set("corun.live.gpu_time", static_cast<double>(a.gpu_ns));
  if (a.judged == 0) return;
  set_live(row.metrics, "corun.live.judged", a.judged);
  row.metrics.set("corun.time.together", static_cast<double>(a.judged_ns));
  row.metrics.set("corun.time.alone", static_cast<double>(a.alone_ns));
  row.metrics.set("corun.slowdown.gpu_time",
                  static_cast<double>(a.judged_ns) / static_cast<double>(a.alone_ns));
}

void add_client(const corun::live::ClientRow& r, result::Result& out) {
  result::KernelResult& row = out.kernels.emplace_back();
  row.name = row.demangled = fmt::format("{} {}: {}", r.client, r.program, r.kernel);
  set_live(row.metrics, "corun.live.process", static_cast<std::uint64_t>(r.pid));
  set_live(row.metrics, "corun.live.waiting", r.waiting);
  set_live(row.metrics, "corun.live.running", r.running);
  set_live(row.metrics, "corun.live.granted", r.grants);
  set_live(row.metrics, "corun.live.ended", r.done);
  row.metrics.set("corun.live.waited", static_cast<double>(r.waited_ns));
  row.metrics.set("corun.live.gpu_time", static_cast<double>(r.gpu_ns));
}

}  // namespace

std::vector<corun::live::ApplicationRow> all_applications(const corun::live::Core& core) {
  std::vector<corun::live::ApplicationRow> all;
  for (std::uint32_t first = 0;; first += corun::live::most_applications) {
    corun::live::Applications page = core.applications(first);
    all.insert(all.end(), page.rows.begin(), page.rows.end());
    if (page.rows.size() < corun::live::most_applications) return all;
  }
}

LiveFigures figures_of(const std::vector<corun::live::ApplicationRow>& applications) {
  LiveFigures out;
  for (const corun::live::ApplicationRow& a : applications)
    out.processes += a.judged, out.antt += a.slowdowns, out.stp += a.progress, out.speedup += a.speedup_logs;
  if (out.processes != 0) out.antt /= out.processes, out.speedup = std::exp(out.speedup / out.processes);
  return out;
}

result::Result result_of(const corun::live::Stats& stats,
                         const std::vector<corun::live::ApplicationRow>& applications) {
  result::Result out;
  out.manifest.mode = "corun";
  out.manifest.device = stats.totals.device;
  out.manifest.configuration.push_back(
      {"policy", stats.totals.policy, "daemon", "simtlab corun serve --policy"});
  set_totals(stats.totals, out.total);
  if (const LiveFigures figures = figures_of(applications); figures.processes != 0) {
    set_live(out.total, "corun.live.judged", figures.processes);
    out.total.set("corun.antt.gpu_time", figures.antt);
    out.total.set("corun.stp.gpu_time", figures.stp);
    out.total.set("corun.speedup_solo.gpu_time", figures.speedup);
  }
  for (const corun::live::ApplicationRow& a : applications) add_application(a, out);
  for (const corun::live::ClientRow& r : stats.rows)
    if (!r.kernel.empty()) add_client(r, out);
  return out;
}

void LiveLaunches::add(const corun::live::Core::Span& span) {
  if (spans_.size() < most_)
    spans_.push_back(span);
  else
    ++left_out_;
}

void LiveLaunches::add_to(result::Result& result) const {
  if (spans_.empty()) return;
  std::vector<corun::live::Core::Span> spans = spans_;
  // On the daemon's simulated GPU by its clock.
  for (corun::live::Core::Span& s : spans)
    if (s.on_device)
      s.asked_ns = s.device_asked_ns, s.granted_ns = s.device_begin_ns, s.ended_ns = s.device_end_ns;
  std::ranges::stable_sort(spans, {}, &corun::live::Core::Span::asked_ns);
  // Streams are handles of 64 bits: people count them.
  std::map<corun::live::ClientId, std::map<std::uint64_t, std::uint64_t>> streams;
  result::Table table{"launches", {}};
  for (const corun::live::Core::Span& s : spans) {
    auto& known = streams[s.client];
    const std::uint64_t stream = known.try_emplace(s.stream, known.size() + 1).first->second;
    table.rows.push_back({std::uint64_t{1}, static_cast<std::uint64_t>(s.client), s.program, stream, s.kernel,
                          s.asked_ns, s.granted_ns, s.ended_ns});
  }
  result::KernelResult& k = result.kernels.emplace_back();
  k.name = k.demangled = "launches";
  set_live(k.metrics, "corun.launches", spans.size() + left_out_);
  set_live(k.metrics, "corun.launches.left_out", left_out_);
  k.tables.push_back(std::move(table));
}

}  // namespace simtlab::cli

#include "cli/corun_live_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace simtlab::cli {
namespace {

void set_live(result::Metrics& to, const char* name, std::uint64_t value) { to.set(name, value); }

}  // namespace

result::Result result_of(const live::Stats& stats) {
  const live::Totals& t = stats.totals;
  result::Result out;
  out.manifest.mode = "corun";
  out.manifest.device = t.device;
  out.manifest.configuration.push_back({"policy", t.policy, "daemon", "simtlab corun serve --policy"});
  result::Metrics& m = out.total;
  m.set("corun.live.uptime", static_cast<double>(t.now_ns) * 1e-9);
  set_live(m, "corun.limit", t.limit);
  set_live(m, "corun.live.clients", t.clients);
  set_live(m, "corun.live.waiting", t.waiting);
  set_live(m, "corun.live.running", t.running);
  set_live(m, "corun.live.requests", t.requests);
  set_live(m, "corun.live.granted", t.grants);
  set_live(m, "corun.live.ended", t.done);
  set_live(m, "corun.live.withdrawn", t.cancelled);
  set_live(m, "corun.live.lost", t.lost);
  set_live(m, "corun.live.connections", t.connections);
  set_live(m, "corun.live.refused", t.refused);
  set_live(m, "corun.live.decisions", t.decisions);
  for (const live::ClientRow& r : stats.rows) {
    if (r.kernel.empty()) continue;
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
  return out;
}

void LiveLaunches::add(const live::Core::Span& span) {
  if (spans_.size() < most_)
    spans_.push_back(span);
  else
    ++left_out_;
}

void LiveLaunches::add_to(result::Result& result) const {
  if (spans_.empty()) return;
  std::vector<live::Core::Span> spans = spans_;
  std::ranges::stable_sort(spans, {}, &live::Core::Span::asked_ns);
  // Streams are handles of 64 bits: people count them.
  std::map<live::ClientId, std::map<std::uint64_t, std::uint64_t>> streams;
  result::Table table{"launches", {}};
  for (const live::Core::Span& s : spans) {
    auto& known = streams[s.client];
    const std::uint64_t stream = known.try_emplace(s.stream, known.size() + 1).first->second;
    table.rows.push_back({std::uint64_t{1}, static_cast<std::uint64_t>(s.client), s.program, stream, s.kernel, s.asked_ns, s.granted_ns, s.ended_ns});
  }
  result::KernelResult& k = result.kernels.emplace_back();
  k.name = k.demangled = "launches";
  set_live(k.metrics, "corun.launches", spans.size() + left_out_);
  set_live(k.metrics, "corun.launches.left_out", left_out_);
  k.tables.push_back(std::move(table));
}

}  // namespace simtlab::cli

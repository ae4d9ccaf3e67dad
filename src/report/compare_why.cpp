#include "report/compare_why.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/format.h"
#include "report/glossary.h"
#include "report/hits.h"

namespace simtlab::report {
namespace {

using result::KernelResult;

// Below this a difference is not worth a sentence.
constexpr double least_change = 0.005;

class Steps {
 public:
  Steps(const KernelResult& before, const KernelResult& after) : a_(before), b_(after) {}

  bool differs(const std::string& name) const {
    const auto x = a_.metrics.get(name), y = b_.metrics.get(name);
    if (!x || !y) return false;
    return std::abs(*y - *x) > least_change * std::max(std::abs(*x), std::abs(*y));
  }
  std::string moved(const char* label, const std::string& name) const {
    const std::string_view unit = result::find_metric(name)->unit;
    return fmt::format("{} {} -> {}", label, value_text(*a_.metrics.get(name), name, unit),
                       value_text(*b_.metrics.get(name), name, unit));
  }
  // Those of the list that differ, in one sentence.
  std::string sentence(const char* head,
                       std::initializer_list<std::pair<const char*, const char*>> list) const {
    std::string out;
    for (const auto& [label, name] : list)
      if (differs(name)) out += (out.empty() ? "" : "; ") + moved(label, name);
    return out.empty() ? "" : fmt::format("{}: {}.", head, out);
  }

  std::string launch() const {
    std::string out;
    const auto shape = [](const std::uint32_t(&x)[3]) { return fmt::format("{}x{}x{}", x[0], x[1], x[2]); };
    const auto add = [&](const char* label, const std::string& x, const std::string& y) {
      if (x != y) out += fmt::format("{}{} {} -> {}", out.empty() ? "" : "; ", label, x, y);
    };
    add("grid", shape(a_.grid), shape(b_.grid));
    add("block", shape(a_.block), shape(b_.block));
    add("registers", fmt::format("{}", a_.registers), fmt::format("{}", b_.registers));
    add("shared memory", format_bytes(static_cast<double>(a_.shared_bytes)),
        format_bytes(static_cast<double>(b_.shared_bytes)));
    add("launches", fmt::format("{}", a_.launches), fmt::format("{}", b_.launches));
    return out.empty() ? "" : "Launch: " + out + ".";
  }

  std::string occupancy() const {
    std::string out = sentence("Occupancy", {{"theoretical", "occupancy.theoretical"},
                                             {"achieved", "occupancy.achieved"},
                                             {"waves", "gpu.waves"}});
    if (!out.empty() && a_.limiter != b_.limiter)
      out += fmt::format(" The limit was {} and is {}.", printable(a_.limiter.empty() ? "none" : a_.limiter),
                         printable(b_.limiter.empty() ? "none" : b_.limiter));
    return out;
  }

  std::string caches() const {
    std::string out;
    const auto add = [&](const std::string& part) {
      out += part.empty() || out.empty() ? part : "; " + part;
    };
    const auto hits = [&](const char* label, const std::string& level) {
      const bool moved = differs(level + ".read.hits") || differs(level + ".read.hits_pending") ||
                         differs(level + ".read.miss_rate");
      const std::string before = format_hits(a_.metrics, level), after = format_hits(b_.metrics, level);
      if (moved && before != after) add(fmt::format("{} {} -> {}", label, before, after));
    };
    const auto value = [&](const char* label, const char* name) {
      add(differs(name) ? moved(label, name) : "");
    };
    hits("L1", "l1");
    value("L2 reads", "l2.read.accesses");
    hits("L2", "l2");
    value("DRAM reads", "dram.read.bytes");
    value("DRAM writes", "dram.write.bytes");
    return out.empty() ? "" : fmt::format("Caches: {}.", out);
  }

  // The mean latency and the stage that changed most.
  std::string latency() const {
    if (!differs("load.latency")) return {};
    std::string stage;
    double most = 0;
    for (const result::Metrics::Value& v : b_.metrics.values()) {
      if (!v.name.starts_with("load.latency.")) continue;
      const double change = v.real - a_.metrics.get(v.name).value_or(0);
      if (std::abs(change) > std::abs(most)) {
        most = change;
        stage = v.name.substr(13);
      }
    }
    std::string out = fmt::format("A load takes {:.0f} -> {:.0f} cycles", *a_.metrics.get("load.latency"),
                                  *b_.metrics.get("load.latency"));
    if (!stage.empty()) out += fmt::format(", {:+.0f} of them in {}", most, printable(stage));
    return out + ".";
  }

 private:
  const KernelResult &a_, &b_;
};

// Which parts of the time changed, and what their share of the change is.
std::string slots(const ComparedKernel& k) {
  const double change = k.after - k.before;
  if (k.parts.empty() || change == 0) return {};
  std::string out;
  std::size_t shown = 0;
  for (const ComparedValue& p : k.parts) {
    const double moved = p.after.value_or(0) - p.before.value_or(0);
    if (shown == 3 || std::abs(moved) < 0.02 * std::abs(change)) break;
    out += fmt::format("{}{} {}{} ({:+.0f} % of the difference)", shown == 0 ? "" : ", ", p.name,
                       moved < 0 ? "-" : "+", format_time(std::abs(moved)), 100 * moved / change);
    ++shown;
  }
  if (shown == 0) return {};
  const Term* term = find_term(stall_reasons(), k.parts.front().name);
  return fmt::format("Schedulers: {}.{}", out,
                     term == nullptr ? "" : fmt::format(" {}: {}", k.parts.front().name, term->meaning));
}

}  // namespace

std::vector<std::string> why(const KernelResult& before, const KernelResult& after,
                             const ComparedKernel& compared) {
  const Steps steps(before, after);
  std::vector<std::string> out;
  const auto add = [&](std::string sentence) {
    if (!sentence.empty()) out.push_back(std::move(sentence));
  };
  add(steps.launch());
  add(steps.sentence("Work", {{"warp instructions", "gpu.instructions.warp"},
                              {"machine instructions", "gpu.instructions.machine"},
                              {"active lanes", "gpu.instructions.lanes"},
                              {"sectors of global loads", "global.load.sectors"},
                              {"bank conflicts", "shared.bank_conflicts"}}));
  add(steps.occupancy());
  add(steps.caches());
  add(steps.latency());
  add(steps.sentence("Use", {{"DRAM", "dram.utilisation"},
                             {"L2", "l2.utilisation"},
                             {"L1", "l1.utilisation"},
                             {"shared memory", "shared.utilisation"},
                             {"compute", "sol.compute"},
                             {"issue slots", "sol.issue"}}));
  add(slots(compared));
  const bool timed = compared.before > 0 && compared.after > 0;
  const auto cycles_before = before.metrics.get("gpu.cycles"), cycles_after = after.metrics.get("gpu.cycles");
  if (timed && cycles_before && cycles_after && *cycles_before != 0) {
    // The same cycles in another time: the clock changed.
    const double clock = (*cycles_after / compared.after) / (*cycles_before / compared.before);
    if (std::abs(clock - 1) > least_change)
      add(fmt::format("Clock: a cycle takes {} of the time that it took; cycles {} -> {}.",
                      format_share(1 / clock), format_exact(static_cast<std::uint64_t>(*cycles_before)),
                      format_exact(static_cast<std::uint64_t>(*cycles_after))));
  }
  return out;
}

std::string change_text(double before, double after) {
  if (before == after) return "the same";
  if (before == 0) return "from 0";
  const double percent = (after / before - 1) * 100;
  return std::abs(percent) >= 1000 ? fmt::format("{:.3g} times", after / before)
                                   : fmt::format("{:+.1f} %", percent);
}

bool is_share(double value, std::string_view name, std::string_view unit) {
  return unit == "1" && value >= 0 && value <= 1 &&
         (name.find("rate") != std::string_view::npos || name.find("utilisation") != std::string_view::npos ||
          name.starts_with("sol.") || name.starts_with("occupancy.theoretical") ||
          name.starts_with("occupancy.achieved") || name.starts_with("stall.") || name.starts_with("pipe.") ||
          name.ends_with(".share") || name.ends_with("efficiency") || name.starts_with("dram.loss.") ||
          name == "probe.noise" || name.starts_with("validate.error"));
}

std::string value_text(double value, std::string_view name, std::string_view unit) {
  if (unit == "ns") return format_time(value);
  if (unit == "bytes") return format_bytes(value);
  if (unit == "bytes/s") return format_rate(value);
  if (is_share(value, name, unit)) return format_share(value);
  if (unit == "1") return format_count(value);
  if (unit == "1/cycle") return fmt::format("{:.4g} per cycle", value);
  if (unit == "cycles" && value >= 0 && value < 1e15 && value == std::floor(value))
    return format_exact(static_cast<std::uint64_t>(value)) + " cycles";
  return fmt::format("{:.6g} {}", value, unit);
}

}  // namespace simtlab::report

// The text report. One screen for one kernel; nothing here computes what the registry does not define.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/cache_text.h"
#include "report/check.h"
#include "report/glossary.h"
#include "report/hits.h"
#include "report/memory_text.h"
#include "report/not_modelled.h"
#include "report/predict_text.h"
#include "report/probe_text.h"
#include "report/profile_text.h"
#include "report/report.h"
#include "report/text_writer.h"
#include "result/coalescing.h"
#include "result/totals.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Metrics;
using result::Result;

constexpr unsigned bar_width = 30;
constexpr std::size_t detailed_kernels = 2;  // of a program with many, unless everything is asked for

class ReportWriter : TextWriter {
 public:
  ReportWriter(const Result& result, const TextOptions& options) : TextWriter(result, options) {}

  std::string run() {
    state_line();
    warnings();
    const std::vector<KernelResult> merged = result::merge_by_name(result_.kernels);
    if (result_.kernels.size() > 1) program(merged);
    const std::vector<const KernelResult*> order = by_time(merged);
    const std::size_t most =
        options_.all || order.size() == 1 ? order.size() : std::min(order.size(), detailed_kernels);
    for (std::size_t i = 0; i < most; ++i) kernel(*order[i]);
    if (most < order.size())
      note(fmt::format("{} more in the table; --all prints them in detail", order.size() - most));
    const auto skipped = static_cast<std::uint64_t>(result_.total.get("program.kernels.skipped").value_or(0));
    if (result_.kernels.empty() && skipped == 0) {
      const bool stopped = result_.manifest.interrupted || !result_.manifest.failure.empty();
      line(stopped ? "no kernel completed" : "no kernel was launched" + why_none());
    }
    if (skipped != 0) note(not_timed(skipped));
    if (const auto places =
            static_cast<std::uint64_t>(result_.total.get("program.memory_errors").value_or(0));
        places != 0)
      note(fmt::format("{} {} accessed memory outside of every allocation and went on (--memory-errors)",
                       places, places == 1 ? "instruction" : "instructions"));
    if (result_.kernels.size() <= 1) copies();
    footer();
    return out_;
  }

 private:
  void note(std::string_view text) { line(painted(text, Paint::dim, style_)); }

  std::string why_none() const {
    const auto refused =
        static_cast<std::uint64_t>(result_.total.get("program.launches.refused").value_or(0));
    if (refused == 0) return {};
    return fmt::format(": {} {} refused, as the error on stderr says", refused,
                       refused == 1 ? "launch was" : "launches were");
  }

  // A pattern that fits nothing is most likely mistyped.
  std::string not_timed(std::uint64_t launches) const {
    const std::string count = fmt::format("{} launch{}", format_exact(launches), launches == 1 ? "" : "es");
    if (result_.kernels.empty())
      return fmt::format("no launch was timed: --kernels fits none of the {} that ran", count);
    return fmt::format("{} {} executed but not timed (--kernels)", count, launches == 1 ? "was" : "were");
  }

  // Of all kernels, each once: what they say of themselves may mean something else.
  void warnings() {
    std::set<std::string> said;
    for (const KernelResult& k : result_.kernels) {
      const result::Table* table = result::find(k.tables, "warnings");
      for (std::size_t i = 0; table != nullptr && i < table->rows.size(); ++i) {
        const std::string text = printable(words(*table, i, "text"));
        if (said.insert(text).second)
          line(painted("Warning:", Paint::warn, style_) + " " +
               wrapped(text, std::max(style_.width, 60u) - 2, 9));
      }
    }
    if (!said.empty()) line("");
  }

  static std::uint64_t launches(const std::vector<KernelResult>& kernels) {
    std::uint64_t count = 0;
    for (const KernelResult& k : kernels) count += k.launches;
    return count;
  }

  static double time_of(const KernelResult& k) { return k.metrics.get("gpu.time").value_or(0); }

  static std::vector<const KernelResult*> by_time(const std::vector<KernelResult>& kernels) {
    std::vector<const KernelResult*> order;
    for (const KernelResult& k : kernels) order.push_back(&k);
    // Equal times: in the order of the first launch, which is that of the addresses in one vector.
    std::ranges::sort(order, [](const KernelResult* a, const KernelResult* b) {
      return time_of(*a) != time_of(*b) ? time_of(*a) > time_of(*b) : a < b;
    });
    return order;
  }

  void program(const std::vector<KernelResult>& merged) {
    const Metrics& total = result_.total;
    line(painted(fmt::format("{} launches of {} on {}", launches(merged),
                             merged.size() == 1 ? "1 kernel" : fmt::format("{} kernels", merged.size()),
                             printable(result_.manifest.device)),
                 Paint::bold, style_));
    const double kernels = total.get("gpu.time").value_or(0);
    if (total.get("gpu.time")) {
      std::string text = fmt::format("  {} in kernels", format_time(kernels));
      if (const auto copy = total.get("copy.time")) text += fmt::format(", {} in copies", format_time(*copy));
      if (const auto all = total.get("program.time"))
        text += fmt::format("; {} from first to last activity", format_time(*all));
      line(text + kind_of_number());
    } else {
      line(functional_sentence());
    }
    copies();
    line("");
    table(merged, kernels);
    line("");
  }

  void table(const std::vector<KernelResult>& merged, double total_time) {
    constexpr std::size_t fixed = 60;
    const bool timed = total_time > 0;
    if (timed)
      line(painted(fmt::format("  {:>7}  {:>10}  {:>8}  {:>8}  {:>8}  {}", "time", "total", "launches",
                               "compute", "memory", "kernel"),
                   Paint::bold, style_));
    else
      line(painted(fmt::format("  {:>17}  {:>8}  {}", "warp instructions", "launches", "kernel"), Paint::bold,
                   style_));
    const std::vector<const KernelResult*> order = by_time(merged);
    const std::size_t rows = options_.all ? order.size() : std::min<std::size_t>(order.size(), 15);
    for (std::size_t i = 0; i < rows; ++i) {
      const KernelResult& k = *order[i];
      const std::string name = shortened(k.demangled.empty() ? k.name : k.demangled,
                                         std::max<std::size_t>(style_.width, fixed + 20) - fixed);
      const auto share = [&](const char* metric) {
        const auto v = k.metrics.get(metric);
        return v ? format_share(*v) : std::string("-");
      };
      if (timed)
        line(fmt::format("  {:>7}  {:>10}  {:>8}  {:>8}  {:>8}  {}", format_share(time_of(k) / total_time),
                         format_time(time_of(k)), k.launches, share("sol.compute"), share("sol.memory"),
                         name));
      else
        line(fmt::format("  {:>17}  {:>8}  {}",
                         format_count(k.metrics.get("gpu.instructions.warp").value_or(0)), k.launches, name));
    }
    if (rows < order.size()) note(fmt::format("  ... {} more; --all prints them", order.size() - rows));
  }

  std::string kind_of_number() const {
    return result_.manifest.mode == "timing" ? ", simulated at cycle level" : "";
  }
  static std::string functional_sentence() {
    return "  executed functionally: instructions are exact, there are no times (--mode timing gives them)";
  }

  void kernel(const KernelResult& k) {
    line(painted(shortened(k.demangled.empty() ? k.name : k.demangled,
                           options_.all ? 4000 : std::max(style_.width, 40u)),
                 Paint::bold, style_));
    if (k.partial) note("  stopped before its end: what was counted until then");
    launch(k);
    time(k);
    speed_of_light(k);
    if (!k.bottleneck.empty())
      line(fmt::format(
          "\n  {} {}",
          painted(k.launches > 1 ? "Bottleneck of the longest launch:" : "Bottleneck:", Paint::bold, style_),
          wrapped(printable(k.bottleneck), std::max(style_.width, 60u) - 2, 14)));
    stalls(k);
    line("");
    memory(k);
    occupancy(k);
    instructions(k);
    if (!k.not_modelled.empty())
      line("  Not modelled: " +
           wrapped(not_modelled_text(k.not_modelled), std::max(style_.width, 60u) - 2, 16));
    out_ += profile_text(k, options_);
    if (!k.series.empty())
      note(fmt::format("\n  Series: {} rows, one about every {} cycles, in the result", k.series.rows.size(),
                       k.series.interval));
    if (options_.all) every_metric(k.metrics);
    line("");
  }

  void launch(const KernelResult& k) {
    std::string text = fmt::format("  grid {}x{}x{}, block {}x{}x{}", k.grid[0], k.grid[1], k.grid[2],
                                   k.block[0], k.block[1], k.block[2]);
    if (k.registers != 0) text += fmt::format(", {} registers a thread", k.registers);
    if (k.shared_bytes != 0)
      text += fmt::format(", {} shared memory a block", format_bytes(static_cast<double>(k.shared_bytes)));
    if (const auto code = k.metrics.get("code.generation"))
      text += fmt::format(", machine code for sm_{}", static_cast<unsigned>(*code));
    if (k.launches > 1) text += fmt::format("; {} launches, shape of the longest", k.launches);
    line(text);
  }

  void time(const KernelResult& k) {
    const Metrics& m = k.metrics;
    if (!m.get("gpu.time")) {
      line(functional_sentence());
      return;
    }
    std::string text = fmt::format("  {} on {}{}", painted(format_time(time_of(k)), Paint::accent, style_),
                                   printable(result_.manifest.device), kind_of_number());
    if (const auto cycles = m.get("gpu.cycles"))
      text += fmt::format(": {} cycles", format_exact(static_cast<std::uint64_t>(*cycles)));
    if (const double error = m.get("gpu.cycles.error").value_or(0); error > 0)
      text += fmt::format(" (estimate, within {:.2g} %)", error * 100);
    if (const auto ipc = m.get("gpu.ipc"))
      text += fmt::format(", {:.4g} thread instructions per cycle", *ipc);
    line(text);
  }

  // The member of a metric family (or of a list) with the highest value, for "what sets this bar".
  static std::string busiest(const Metrics& m, std::string_view prefix) {
    std::string best;
    double most = 0;
    for (const Metrics::Value& v : m.values())
      if (v.name.starts_with(prefix) && v.real > most) {
        most = v.real;
        best = v.name.substr(prefix.size());
      }
    return printable(best);
  }
  static std::string busiest_memory(const Metrics& m) {
    std::string best;
    double most = 0;
    for (const char* part : {"l1", "shared", "interconnect", "l2", "dram"}) {
      const double v = m.get(fmt::format("{}.utilisation", part)).value_or(0);
      if (v > most) {
        most = v;
        best = part;
      }
    }
    return best;
  }

  void speed_of_light(const KernelResult& k) {
    const Metrics& m = k.metrics;
    if (!m.get("sol.compute") && !m.get("sol.memory")) return;
    line(fmt::format("\n  {}", painted("Speed of light", Paint::bold, style_)));
    const auto row = [&](const char* label, const char* metric, const std::string& by) {
      const auto v = m.get(metric);
      if (!v) return;
      const Paint paint = *v >= 0.6 ? Paint::good : *v >= 0.3 ? Paint::warn : Paint::dim;
      line(fmt::format("    {:<12} {:>7}  {}  {}", label, format_share(*v),
                       painted(bar(*v, bar_width, style_), paint, style_), by));
    };
    row("compute", "sol.compute", busiest(m, "pipe."));
    row("memory", "sol.memory", busiest_memory(m));
    row("issue slots", "sol.issue", "");
  }

  void stalls(const KernelResult& k) {
    std::vector<std::pair<double, std::string>> reasons;
    for (const Metrics::Value& v : k.metrics.values())
      if (v.name.starts_with("stall.") && (v.name != "stall.selected" || options_.all))
        reasons.emplace_back(v.real, v.name.substr(6));
    if (reasons.empty()) return;
    std::ranges::sort(reasons, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    if (!options_.all && reasons.size() > 3) reasons.resize(3);
    line(fmt::format("\n  {} (share of scheduler slots)",
                     painted("Why schedulers did not issue", Paint::bold, style_)));
    for (const auto& [share, name] : reasons) {
      if (share == 0 && !options_.all) continue;
      const Term* term = find_term(stall_reasons(), name);
      const std::string meaning = term == nullptr ? "" : std::string(term->meaning);
      line(fmt::format("    {:<18} {:>7}  {}", printable(name), format_share(share),
                       shortened(meaning, std::max(style_.width, 80u) - 33)));
    }
  }

  void memory(const KernelResult& k) {
    const Metrics& m = k.metrics;
    std::string text;
    const auto hit_rate = [&](const char* label, const std::string& level) {
      if (!m.get(level + ".read.accesses")) return;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", label, format_hits(m, level));
      if (const auto bytes = m.get(level + ".bytes")) text += fmt::format(" ({})", format_bytes(*bytes));
    };
    hit_rate("L1", "l1");
    hit_rate("L2", "l2");
    if (const auto read = m.get("dram.read.bytes")) {
      text += fmt::format("{}DRAM {} read, {} written", text.empty() ? "" : ", ", format_bytes(*read),
                          format_bytes(m.get("dram.write.bytes").value_or(0)));
      if (const auto rate = m.get("dram.bandwidth")) text += fmt::format(", {}", format_rate(*rate));
      if (const auto share = m.get("dram.utilisation"))
        text += fmt::format(" = {} of peak", format_share(*share));
    }
    if (!text.empty()) line("  Memory: " + wrapped(text, std::max(style_.width, 60u) - 2, 10));
    const double conflicts = m.get("shared.bank_conflicts").value_or(0);
    const double wavefronts = m.get("shared.wavefronts").value_or(0);
    if (conflicts > 0 && wavefronts > 0)
      line(fmt::format("  Shared memory: {} of {} passes are bank conflicts ({})", format_count(conflicts),
                       format_count(wavefronts), format_share(conflicts / wavefronts)));
    coalescing(k);
  }

  void coalescing(const KernelResult& k) {
    std::string parts;
    for (const result::AccessUse& a : result::badly_coalesced(k))
      parts += fmt::format("{}{} in {}s{}", parts.empty() ? "" : ", ", format_share(a.use), a.kind,
                           a.place.empty() ? "" : fmt::format(" ({})", printable(a.place)));
    if (parts.empty()) return;
    line("  Coalescing: " + wrapped("of the sectors that they touch, threads use " + parts,
                                    std::max(style_.width, 60u) - 2, 14));
  }

  void occupancy(const KernelResult& k) {
    const auto theoretical = k.metrics.get("occupancy.theoretical");
    if (!theoretical) return;
    std::string text = fmt::format("  Occupancy: {} theoretical", format_share(*theoretical));
    if (const auto achieved = k.metrics.get("occupancy.achieved"))
      text += fmt::format(", {} achieved", format_share(*achieved));
    if (!k.limiter.empty() && *theoretical < 1) text += fmt::format("; limited by {}", printable(k.limiter));
    line(text);
  }

  void instructions(const KernelResult& k) {
    const auto warp = k.metrics.get("gpu.instructions.warp");
    if (!warp) return;
    std::string text = fmt::format("  Instructions: {} by warps", format_count(*warp));
    if (const auto thread = k.metrics.get("gpu.instructions.thread"); thread && *warp > 0)
      text +=
          fmt::format(", {} by threads ({:.1f} of 32 lanes active)", format_count(*thread), *thread / *warp);
    line(text);
  }

  void copies() {
    const Metrics& total = result_.total;
    std::string text;
    for (const auto& [metric, label] : {std::pair{"copy.h2d.bytes", "host to device"},
                                        {"copy.d2h.bytes", "device to host"},
                                        {"copy.d2d.bytes", "within the device"}}) {
      const double bytes = total.get(metric).value_or(0);
      if (bytes > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", format_bytes(bytes), label);
    }
    if (text.empty()) return;
    if (result_.kernels.size() <= 1) {
      if (const auto time = total.get("copy.time"); time && result_.manifest.mode == "timing")
        text += fmt::format("; {} simulated", format_time(*time));
    }
    line("  Copies: " + text);
  }

  void footer() {
    if (const auto wall = result_.total.get("host.wall_time")) {
      std::string text = fmt::format("  Simulation: {:.3g} s of host time", *wall);
      if (const auto rate = result_.total.get("host.rate.warp_instructions"))
        text += fmt::format(", {} warp instructions/s", format_count(*rate));
      if (const auto memory = result_.total.get("host.peak_memory"))
        text += fmt::format(", {}", format_bytes(*memory));
      note(text);
    }
    if (!options_.next_command.empty()) note("  Next: " + options_.next_command);
  }
};

}  // namespace

std::string text(const Result& result, const TextOptions& options) {
  if (result.check) {
    CheckReport report = check_report(result);
    report.all = options.all;
    return check_text(report, options.style);
  }
  if (result.manifest.mode == "memory") return memory_text(result, options);
  if (result.manifest.mode == "cache") return cache_text(result, options);
  if (result.manifest.mode == "predict") return predict_text(result, options);
  if (result.manifest.mode == "probe" || result.manifest.mode == "corun") return probe_text(result, options);
  return ReportWriter(result, options).run();
}

}  // namespace simtlab::report

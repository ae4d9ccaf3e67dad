// Sample (docs/concepts/loops.md explains it):
//
//   loops to threads                 block     lines  DRAM       time
//     x <- x, y <- y                 32x8       16.5  8.00 MiB   31.2 us   best
//     x <- y, y <- x                 32x8       16.5  8.00 MiB   33.0 us
#include "report/nest_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/format.h"

namespace simtlab::report {
namespace {

using result::Cell;
using result::KernelResult;
using result::Table;

constexpr std::size_t mappings_shown = 4;

class Row {
 public:
  Row(const Table& table, const std::vector<Cell>& row) : table_(table), row_(row) {}
  std::string text(const char* name) const {
    const auto* t = std::get_if<std::string>(&cell(name));
    return t == nullptr ? std::string() : printable(*t);
  }
  double number(const char* name) const { return result::number(cell(name)); }
  bool has(const char* name) const { return !std::holds_alternative<std::monostate>(cell(name)); }
  bool is(const char* name) const { return number(name) != 0; }

 private:
  const Cell& cell(const char* name) const { return row_[result::column(table_.name, name)]; }
  const Table& table_;
  const std::vector<Cell>& row_;
};

class NestWriter {
 public:
  NestWriter(const KernelResult& k, const TextOptions& options) : k_(k), options_(options) {}

  std::string run() {
    if (result::find(k_.tables, "nest_mappings") == nullptr) return {};
    mappings();
    accesses();
    code();
    staging();
    simulation();
    worth();
    notes();
    return out_;
  }

 private:
  void line(std::string_view text) {
    out_ += text.substr(0, text.find_last_not_of(' ') + 1);
    out_ += '\n';
  }
  void head(std::string_view text) { line("\n  " + painted(text, Paint::bold, options_.style)); }
  double metric(const char* name) const { return k_.metrics.get(name).value_or(0); }
  template <typename F>
  void rows(const char* name, F&& each) const {
    if (const Table* t = result::find(k_.tables, name))
      for (const auto& r : t->rows) each(Row(*t, r));
  }

  void mappings() {
    head(fmt::format("{:<34} {:>9}  {:>6}  {:>10}  {:>10}", "loops to threads", "block", "lines", "DRAM",
                     "time"));
    std::size_t n = 0;
    const Table* all = result::find(k_.tables, "nest_mappings");
    rows("nest_mappings", [&](const Row& r) {
      if (n++ >= mappings_shown && !options_.all) return;
      std::string loops = fmt::format("x <- {}", r.text("x")),
                  block = fmt::format("{}x{}", r.number("block_x"), r.number("block_y"));
      if (r.has("y")) loops += fmt::format(", y <- {}", r.text("y"));
      if (r.has("z")) {
        loops += fmt::format(", z <- {}", r.text("z"));
        block += fmt::format("x{}", r.number("block_z"));
      }
      line(fmt::format("    {:<32} {:>9}  {:>6.1f}  {:>10}  {:>10}{}", loops, block, r.number("lines"),
                       format_bytes(r.number("dram")), r.has("time") ? format_time(r.number("time")) : "-",
                       n == 1 ? "  best" : ""));
    });
    if (all->rows.size() > mappings_shown && !options_.all)
      line(fmt::format("    ... {} more; --explain prints them", all->rows.size() - mappings_shown));
  }

  void accesses() {
    head(fmt::format("{:<6} {:<6} {:<16} {:>10}  {:>6} {:>8} {:>7} {:>7}  {}", "line", "", "array", "stride",
                     "lines", "sectors", "passes", "reuse", "waiting"));
    rows("nest_accesses", [&](const Row& r) {
      const std::string stride = r.has("stride")     ? fmt::format("{} B", r.number("stride"))
                                 : r.is("evaluated") ? "varies"
                                                     : "data";
      line(fmt::format("    {:<4} {:<6} {:<16} {:>10}  {:>6.1f} {:>8.1f} {:>7.1f} {:>7.1f}  {}{}",
                       r.number("line"), r.text("kind"), r.text("array"), stride, r.number("lines"),
                       r.number("sectors"), r.number("passes"), r.number("reuse"),
                       r.has("idle") ? format_share(r.number("idle")) : "-",
                       r.is("evaluated") ? "" : "  (worst case assumed)"));
    });
  }

  void code() {
    head("Code of a thread");
    line(fmt::format("    {:.0f} instructions, ILP {:.2f}, {:.0f} registers{}",
                     metric("predict.nest.instructions"), metric("predict.nest.ilp"),
                     metric("predict.nest.registers"),
                     metric("predict.nest.spills") > 0
                         ? fmt::format(", {:.0f} spills and reloads", metric("predict.nest.spills"))
                         : ""));
    const auto per_byte = [&](const char* name, const char* where) {
      const auto value = k_.metrics.get(name);
      return value ? fmt::format(", {:.3g} per byte {}", *value, where) : std::string();
    };
    line(fmt::format("    {} threads; {} flops{}{}", format_count(metric("predict.nest.threads")),
                     format_count(metric("predict.nest.flops")),
                     per_byte("predict.nest.intensity.on_chip", "of L1"),
                     per_byte("predict.nest.intensity.off_chip", "of DRAM")));
    if (const auto ai = k_.metrics.get("predict.nest.intensity.instructions"))
      line(fmt::format("    {:.3g} instructions on the chip for one that accesses an array or waits for it",
                       *ai));
    const double hides = metric("predict.nest.block.latency"), fills = metric("predict.nest.block.occupancy"),
                 even = metric("predict.nest.block.even"), taken = metric("predict.nest.block.chosen"),
                 least = std::min({hides, fills, even});
    line(fmt::format(
        "    block of {:.0f} threads{}, the least of {:.0f} that hide latencies, {:.0f} that fill the SMs "
        "with warps, {:.0f} that give all SMs as much work",
        taken, taken == least ? "" : fmt::format(" as asked; suggested {:.0f}", least), hides, fills, even));
    line(fmt::format("    latencies need {:.0f} warps on an SM for arithmetic, {:.0f} for memory",
                     metric("predict.nest.warps.compute"), metric("predict.nest.warps.memory")));
    if (k_.metrics.get("predict.nest.resios.block"))
      line(fmt::format(
          "    Resios' rule gives {:.0f} threads: the least of {:.3g} (even), {:.3g} (resident) and "
          "{:.3g} (latency) warps",
          metric("predict.nest.resios.block"), metric("predict.nest.resios.even"),
          metric("predict.nest.resios.resident"), metric("predict.nest.resios.latency")));
    if (!options_.all) return;
    line(fmt::format("    {:<6} {:>10} {:>12} {:>8} {:>8} {:>6} {:>9} {:>7}", "line", "executions",
                     "instructions", "longest", "cycles", "ILP", "registers", "spills"));
    rows("nest_blocks", [&](const Row& r) {
      line(fmt::format("    {:<6} {:>10.5g} {:>12.3g} {:>8.3g} {:>8.4g} {:>6.2f} {:>9} {:>7}{}",
                       r.number("line"), r.number("executions"), r.number("instructions"),
                       r.number("longest"), r.number("cycles"), r.number("ilp"), r.number("pressure"),
                       r.number("spills"), r.is("guessed") ? "  taken for executed" : ""));
    });
  }

  void staging() {
    const Table* all = result::find(k_.tables, "nest_staging");
    if (all == nullptr || all->rows.empty()) return;
    head("What shared memory could hold");
    line(fmt::format("    {:<6} {:<16} {:>10} {:>8} {:>7}  {:>10}  {}", "line", "array", "of a block",
                     "reads", "passes", "time then", ""));
    bool any = false;
    rows("nest_staging", [&](const Row& r) {
      any |= r.is("chosen");
      line(fmt::format("    {:<6} {:<16} {:>10} {:>8.4g} {:>7.1f}  {:>10}  {}", r.number("line"),
                       r.text("array"), format_bytes(r.number("bytes")), r.number("reuse"),
                       r.number("passes"), r.has("time") ? format_time(r.number("time")) : "-",
                       verdict_of(r)));
    });
    if (any)
      line(fmt::format("    Kernel with {} in shared memory: {} instead of {}", chosen_arrays(),
                       format_time(metric("predict.nest.staging.after")),
                       format_time(metric("predict.nest.staging.before"))));
    else
      line("    Nothing of it makes the kernel faster");
  }

  static std::string verdict_of(const Row& r) {
    if (!r.is("fits")) return "does not fit a block's shared memory";
    if (!r.has("time")) return "no room beside those above";
    if (!r.is("chosen")) return "not faster";
    return r.is("padded") ? "worth it, with rows a bank further apart" : "worth it";
  }

  std::string chosen_arrays() const {
    std::string out;
    rows("nest_staging", [&](const Row& r) {
      if (r.is("chosen")) out += fmt::format("{}{}", out.empty() ? "" : ", ", r.text("array"));
    });
    return out;
  }

  void simulation() {
    const auto time = k_.metrics.get("predict.nest.simulated.time");
    if (!time) return;
    head("Simulated at cycle level, on the program's own data");
    line(fmt::format("    {} ({} cycles), {:.0f} instructions a thread; results {}", format_time(*time),
                     format_exact(static_cast<std::uint64_t>(metric("predict.nest.simulated.cycles"))),
                     metric("predict.nest.simulated.instructions"),
                     metric("predict.nest.difference") > 0
                         ? fmt::format("differ by {:.2g} at most", metric("predict.nest.difference"))
                         : std::string("are equal")));
  }

  void worth() {
    const auto sequential = k_.metrics.get("predict.nest.sequential.time");
    head(sequential ? fmt::format("Worth: sequential {} on this host", format_time(*sequential))
                    : std::string("Worth (--run measures the sequential time)"));
    line(fmt::format("    {:<14} {:>10} {:>10} {:>10}  {:>9} {:>9} {:>9}  {:>11} {:>11} {:>10}", "model",
                     "kernel", "launch", "copies", "speed-up", "+ copies", "+ context", "asked for",
                     "from DRAM", "FLOPS"));
    rows("nest_worth", [&](const Row& r) {
      const auto factor = [&](const char* name) {
        return r.has(name) ? fmt::format("{:.3g}", r.number(name)) : std::string("-");
      };
      line(fmt::format("    {:<14} {:>10} {:>10} {:>10}  {:>9} {:>9} {:>9}  {:>11} {:>11} {:>10}",
                       r.text("model"), format_time(r.number("kernel")), format_time(r.number("launch")),
                       format_time(r.number("transfer")), factor("speedup"), factor("speedup_overhead"),
                       factor("speedup_context"), format_rate(r.number("bandwidth")),
                       r.has("dram_bandwidth") ? format_rate(r.number("dram_bandwidth")) : "-",
                       format_count(r.number("flops"))));
    });
    if (sequential) verdict();
  }

  void verdict() {
    bool said = false;
    rows("nest_worth", [&](const Row& r) {
      if (said || !r.has("speedup_overhead")) return;
      said = true;
      const std::string model = r.text("model");
      if (r.number("speedup_overhead") < 1)
        line(fmt::format("    Not worth porting by {}{}", model,
                         r.number("speedup") > 1
                             ? ": the copies eat the gain, unless the data stay on the GPU"
                             : ": the kernel alone is not faster"));
      else
        line(fmt::format("    Worth porting by {}: {:.3g} times as fast with launch and copies{}", model,
                         r.number("speedup_overhead"),
                         r.has("break_even")
                             ? fmt::format("; a first run, which also creates the GPU's context, pays "
                                           "from {} iterations of the nest on",
                                           format_count(r.number("break_even")))
                             : ""));
    });
  }

  void notes() {
    rows("nest_notes", [&](const Row& r) {
      const std::string text =
          r.text("hint").empty() ? r.text("text") : fmt::format("{} ({})", r.text("text"), r.text("hint"));
      line("  note: " + wrapped(text, std::max(options_.style.width, 60u) - 2, 8));
    });
  }

  const KernelResult& k_;
  const TextOptions& options_;
  std::string out_;
};

}  // namespace

std::string nest_text(const KernelResult& kernel, const TextOptions& options) {
  return NestWriter(kernel, options).run();
}

}  // namespace simtlab::report

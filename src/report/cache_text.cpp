#include "report/cache_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/hits.h"
#include "report/text_writer.h"
#include "result/source_place.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Metrics;
using result::Result;
using result::Table;

constexpr unsigned cache_bar_width = 24;
constexpr std::size_t cache_rows_printed = 8, kernels_shown = 5, buffers_shown = 12;

bool known(const Table& table, std::size_t row, const char* name) {
  return !std::holds_alternative<std::monostate>(cell(table, row, name));
}

class CacheWriter : TextWriter {
 public:
  CacheWriter(const Result& result, const TextOptions& options) : TextWriter(result, options) {}

  std::string run() {
    state_line();
    std::vector<const KernelResult*> order;
    for (const KernelResult& k : result_.kernels) order.push_back(&k);
    std::ranges::stable_sort(order, [](const KernelResult* a, const KernelResult* b) {
      return a->metrics.get("access.sectors").value_or(0) > b->metrics.get("access.sectors").value_or(0);
    });
    const std::size_t most = options_.all ? order.size() : std::min(order.size(), kernels_shown);
    for (std::size_t i = 0; i < most; ++i) one(*order[i]);
    if (most < order.size())
      note(fmt::format("{} more launches with less traffic: --all shows them", order.size() - most));
    footer();
    return out_;
  }

 private:
  void note(std::string_view text) { line("  " + painted(text, Paint::dim, style_)); }

  void one(const KernelResult& k) {
    line(painted(shortened(printable(k.demangled.empty() ? k.name : k.demangled), style_.width), Paint::bold,
                 style_) +
         (k.partial ? " (partial)" : ""));
    const auto code = k.metrics.get("code.generation");
    line(fmt::format("  grid {}x{}x{}, block {}x{}x{}{} on {}: L1 {}, {} ways, {}, {}", k.grid[0], k.grid[1],
                     k.grid[2], k.block[0], k.block[1], k.block[2],
                     code ? fmt::format(", machine code for sm_{}", static_cast<unsigned>(*code)) : "",
                     printable(result_.manifest.device), configured("l1.bytes"), configured("l1.ways"),
                     configured("l1.replacement"), "set index " + configured("l1.set_index")));
    order(k);
    const Metrics& m = k.metrics;
    const auto get = [&](const char* name) { return m.get(name).value_or(0); };
    line(fmt::format("  {} accesses of threads in {} requests: {} lines, {} sectors, {} of their bytes used",
                     format_count(get("access.threads")), format_count(get("access.requests")),
                     format_count(get("access.lines")), format_count(get("access.sectors")),
                     format_share(get("access.use"))));
    level(m, "l1", "L1 reads");
    over_sms(m);
    if (m.get("l2.read.accesses")) level(m, "l2", "L2 reads");
    stores(m, "l1", "L1 stores");
    stores(m, "l2", "L2 stores");
    reuse(m);
    advice(k);
    buffers(k);
    instructions(k);
    curve(k);
    if (options_.all) every_metric(m);
    line("");
  }

  // Results of before do not say it.
  void order(const KernelResult& k) {
    if (k.order.empty()) return;
    const std::string own = configured("sm.scheduler");
    line(fmt::format("  accesses in the order {}: {}", printable(k.order),
                     k.order == own ? "the device's warp scheduler"
                                    : fmt::format("--order; the device's warp scheduler is {}", own)));
  }

  void level(const Metrics& m, const std::string& level, const char* title) {
    const auto get = [&](const char* name) { return m.get(level + name).value_or(0); };
    const double all = get(".read.accesses");
    heading(title, all == 0 ? fmt::format("  {}", format_count(all))
                            : fmt::format("  {}: {}", format_count(all), format_hits(m, level)));
    if (all == 0) return;
    const auto row = [&](const char* label, double n, Paint paint) {
      if (n == 0) return;
      line(fmt::format("    {:<14} {:>9} {:>8}  {}", label, format_count(n), format_share(n / all),
                       painted(bar(n / all, cache_bar_width, style_), paint, style_)));
    };
    row("hit", get(".read.hits"), Paint::good);
    row("hit pending", get(".read.hits_pending"), Paint::good);
    row("miss", get(".read.misses"), Paint::bad);
    row("  cold", get(".read.misses.cold"), Paint::dim);
    row("  partial", get(".read.misses.partial"), Paint::dim);
    row("  capacity", get(".read.misses.capacity"), Paint::warn);
    row("  conflict", get(".read.misses.conflict"), Paint::bad);
    row("  invalidated", get(".read.misses.invalidated"), Paint::warn);
    row("waited", get(".read.stalled"), Paint::dim);
  }

  // What a store meets depends on the policies, so they stand beside it.
  void stores(const Metrics& m, const std::string& level, const char* title) {
    const auto get = [&](const char* name) { return m.get(level + name).value_or(0); };
    const double all = get(".write.accesses");
    if (all == 0) return;
    const std::string allocate = configured(level + ".write_allocate");
    std::string policy = configured(level + ".write_policy");
    if (!allocate.empty()) policy += allocate == "true" ? ", allocates" : ", no allocation";
    if (!policy.empty()) policy = fmt::format(" ({})", policy);
    const auto fetched = m.get(level + ".write.fetched.bytes");
    line(fmt::format(
        "  {}  {}: {} find their line, {} do not{}{}{}", title, format_count(all),
        format_share(get(".write.hits") / all), format_share(get(".write.misses") / all),
        get(".writebacks") == 0 ? std::string()
                                : fmt::format("; {} sectors written back", format_count(get(".writebacks"))),
        fetched ? fmt::format("; {} fetched to complete them", format_bytes(*fetched)) : "", policy));
  }

  void over_sms(const Metrics& m) {
    if (!m.get("l1.read.accesses.median")) return;
    const auto get = [&](const char* name) { return m.get(name).value_or(0); };
    std::string text =
        fmt::format("    median SM: {:.0f} reads ({:.0f} to {:.0f}), {:.0f} misses ({:.0f} to {:.0f})",
                    get("l1.read.accesses.median"), get("l1.read.accesses.min"), get("l1.read.accesses.max"),
                    get("l1.read.misses.median"), get("l1.read.misses.min"), get("l1.read.misses.max"));
    if (m.get("l1.read.miss_rate.median"))
      text +=
          fmt::format(", miss rate {} ({} to {})", format_share(get("l1.read.miss_rate.median")),
                      format_share(get("l1.read.miss_rate.min")), format_share(get("l1.read.miss_rate.max")));
    line(text);
  }

  void reuse(const Metrics& m) {
    const auto get = [&](const char* name) { return m.get(name).value_or(0); };
    const double hits = get("l1.read.reuse.warp") + get("l1.read.reuse.block") + get("l1.read.reuse.grid");
    if (hits > 0)
      line(fmt::format(
          "  L1 hits reuse what the same warp touched ({}), another warp of the block ({}), another block "
          "({})",
          format_share(get("l1.read.reuse.warp") / hits), format_share(get("l1.read.reuse.block") / hits),
          format_share(get("l1.read.reuse.grid") / hits)));
    if (get("l1.fetched.bytes") > 0)
      line(fmt::format("  L1 fetched {}, {} of them were read", format_bytes(get("l1.fetched.bytes")),
                       format_share(get("l1.fetched.use"))));
    if (m.get("dram.read.bytes"))
      line(fmt::format("  DRAM: {} read, {} written", format_bytes(get("dram.read.bytes")),
                       format_bytes(get("dram.write.bytes"))));
  }

  void advice(const KernelResult& k) {
    const Table* table = result::find(k.tables, "advice");
    if (table == nullptr || table->rows.empty()) return;
    heading("What stands out");
    for (std::size_t i = 0; i < table->rows.size(); ++i)
      line("    " + wrapped(printable(words(*table, i, "text")), std::max(style_.width, 60u) - 4, 6));
  }

  // Sorted by sectors, most first.
  static std::vector<std::size_t> by_traffic(const Table& table) {
    std::vector<std::size_t> order(table.rows.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return number(table, a, "sectors") > number(table, b, "sectors");
    });
    return order;
  }

  std::string counts(const Table& t, std::size_t i) const {
    const double reads = number(t, i, "l1.read.accesses"), misses = number(t, i, "l1.read.misses");
    std::string text = fmt::format("{:>9} {:>9} {:>8}", format_count(number(t, i, "requests")),
                                   format_count(number(t, i, "sectors")), format_share(number(t, i, "use")));
    if (reads == 0) return text;
    const auto share = [&](const char* name) {
      return misses == 0 ? std::string("-") : format_share(number(t, i, name) / misses);
    };
    return text + fmt::format(" {:>9} {:>8} {:>8} {:>8} {:>8}", format_count(reads),
                              format_share(misses / reads), share("l1.read.misses.cold"),
                              share("l1.read.misses.capacity"), share("l1.read.misses.conflict"));
  }
  static constexpr const char* columns =
      " requests   sectors     used  L1 reads     miss     cold capacity conflict";

  void buffers(const KernelResult& k) {
    const Table* table = result::find(k.tables, "buffers");
    if (table == nullptr || table->rows.empty()) return;
    heading("Buffers");
    line(fmt::format("    {:<22}{}", "", painted(columns, Paint::dim, style_)));
    std::size_t shown = 0;
    for (const std::size_t i : by_traffic(*table)) {
      if (!options_.all && shown++ == buffers_shown) break;
      line(
          fmt::format("    {:<22}{}", shortened(printable(words(*table, i, "name")), 22), counts(*table, i)));
    }
  }

  void instructions(const KernelResult& k) {
    const Table* table = result::find(k.tables, "instructions");
    if (table == nullptr || table->rows.empty()) return;
    heading("Instructions");
    line(fmt::format("    {:<22}{}", "", painted(columns, Paint::dim, style_)));
    std::size_t shown = 0;
    for (const std::size_t i : by_traffic(*table)) {
      if (!options_.all && shown++ == cache_rows_printed) break;
      std::string place =
          fmt::format("{} {}", words(*table, i, "kind"),
                      result::code_place(words(*table, i, "ptx"), number(*table, i, "ptx_line")));
      if (known(*table, i, "file"))
        place = fmt::format("{} {}", words(*table, i, "kind"),
                            result::source_place(words(*table, i, "file"), number(*table, i, "line")));
      line(fmt::format("    {:<22}{}", shortened(printable(place), 22), counts(*table, i)));
      line(painted(fmt::format("      {}", shortened(printable(words(*table, i, "ptx")),
                                                     std::max(style_.width, 60u) - 6)),
                   Paint::dim, style_));
    }
  }

  // The miss ratios of other sizes, at powers of two.
  void curve(const KernelResult& k) {
    const Table* table = result::find(k.tables, "miss_ratio");
    if (table == nullptr) return;
    std::string sizes, ratios;
    for (std::size_t i = 0; i < table->rows.size(); ++i) {
      const double bytes = number(*table, i, "bytes");
      if (words(*table, i, "cache") != "l1" || bytes < 1024 ||
          std::exp2(std::round(std::log2(bytes))) != bytes)
        continue;
      const std::string size = format_bytes(bytes);
      const std::string ratio = format_share(number(*table, i, "ratio"));
      if (sizes.size() + 12 > std::max(style_.width, 60u)) break;
      sizes += fmt::format("{:>11}", size);
      ratios += fmt::format("{:>11}", ratio);
    }
    if (sizes.empty()) return;
    heading("Misses of an L1 of another size", " (fully associative, LRU)");
    line("  " + sizes);
    line("  " + ratios);
  }

  void footer() {
    const auto wall = result_.total.get("host.wall_time");
    if (!wall) return;
    std::string text = fmt::format("Study: {:.3g} s of host time", *wall);
    if (const auto rate = result_.total.get("host.rate.thread_accesses"))
      text += fmt::format(", {} thread accesses/s", format_count(*rate));
    if (const auto memory = result_.total.get("host.peak_memory"))
      text += fmt::format(", {}", format_bytes(*memory));
    note(text);
  }
};

}  // namespace

std::string cache_text(const Result& result, const TextOptions& options) {
  return CacheWriter(result, options).run();
}

}  // namespace simtlab::report

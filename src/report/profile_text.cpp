#include "report/profile_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <vector>

#include "report/hits.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::LineProfile;
using result::Metrics;
using result::Profile;

constexpr unsigned profile_bar_width = 20;
constexpr std::size_t lines_printed = 10;

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

std::uint64_t sum(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

class ProfileWriter {
 public:
  ProfileWriter(const KernelResult& kernel, const TextOptions& options)
      : k_(kernel), m_(kernel.metrics), options_(options), style_(options.style) {}

  std::string run() {
    cpi_stack();
    memory_chart();
    roofline();
    load_waits();
    hottest_lines();
    return std::move(out_);
  }

 private:
  void title(std::string_view text, std::string_view rest = {}) {
    out_ += fmt::format("\n  {}{}\n", painted(text, Paint::bold, style_), rest);
  }
  double get(const std::string& name) const { return m_.get(name).value_or(0); }

  // Slots of a scheduler per instruction: the parts add up to it.
  void cpi_stack() {
    const Profile& p = k_.profile;
    const auto slots = static_cast<double>(sum(p.slots));
    const double instructions = get("gpu.instructions.warp");
    if (slots == 0 || instructions == 0) return;
    title("Cycles per instruction",
          fmt::format(" (scheduler slots per warp instruction): {:.2f}", slots / instructions));
    std::vector<std::size_t> order(p.slots.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return p.slots[a] != p.slots[b] ? p.slots[a] > p.slots[b] : a < b;
    });
    for (const std::size_t i : order) {
      const double share = static_cast<double>(p.slots[i]) / slots;
      if (p.slots[i] == 0 || (share < 0.005 && !options_.all)) continue;
      out_ += fmt::format("    {:<18} {:>8.2f}  {:>7}  {}\n", printable(p.reasons[i]),
                          static_cast<double>(p.slots[i]) / instructions, format_share(share),
                          bar(share, profile_bar_width, style_));
    }
  }

  std::string hits(const std::string& level) const {
    const result::HitRate rate = result::hit_rate(m_, level);
    return rate.accesses == 0
               ? format_hits(rate)
               : fmt::format("{} of {} sectors", format_hits(rate), format_count(rate.accesses));
  }

  void memory_chart() {
    title("Memory chart");
    const double requests = get("global.load.requests") + get("global.store.requests") +
                            get("texture.requests") + get("atomic.requests");
    const double sectors = get("global.load.sectors") + get("global.store.sectors");
    out_ += fmt::format("    SM    {} requests, {} sectors; shared memory {} passes, {} of them conflicts\n",
                        format_count(requests), format_count(sectors), format_count(get("shared.wavefronts")),
                        format_count(get("shared.bank_conflicts")));
    out_ +=
        fmt::format("    L1    {}; {} used of its peak\n", hits("l1"), format_share(get("l1.utilisation")));
    out_ += fmt::format(
        "    net   {} to the SMs, {} from them; {} used\n", format_bytes(get("interconnect.read.bytes")),
        format_bytes(get("interconnect.write.bytes")), format_share(get("interconnect.utilisation")));
    out_ += fmt::format("    L2    {}; {} used\n", hits("l2"), format_share(get("l2.utilisation")));
    out_ += fmt::format("    DRAM  {} read, {} written", format_bytes(get("dram.read.bytes")),
                        format_bytes(get("dram.write.bytes")));
    out_ +=
        m_.get("dram.utilisation") ? fmt::format("; {} used\n", format_share(get("dram.utilisation"))) : "\n";
  }

  void roofline() {
    const double seconds = get("gpu.time") * 1e-9;
    if (seconds <= 0) return;
    for (const char* type : {"fp32", "fp64"}) {
      const double flops = get(fmt::format("gpu.flops.{}", type));
      const double peak = get(fmt::format("peak.flops.{}", type));
      if (flops == 0 || peak == 0) continue;
      title("Roofline", fmt::format(" ({}): {:.4g} GFLOP/s = {} of the peak", type, flops / seconds * 1e-9,
                                    format_share(flops / seconds / peak)));
      level("L1", get("l1.bytes"), "peak.bandwidth.l1", flops, peak, seconds);
      level("L2", get("l2.bytes"), "peak.bandwidth.l2", flops, peak, seconds);
      level("DRAM", get("dram.read.bytes") + get("dram.write.bytes"), "peak.bandwidth.dram.sustained", flops,
            peak, seconds);
    }
  }
  void level(const char* name, double bytes, const char* bandwidth, double flops, double peak,
             double seconds) {
    if (bytes == 0 || get(bandwidth) == 0) return;
    const double roof = std::min(peak, flops / bytes * get(bandwidth));
    out_ += fmt::format("    {:<5} {:>9.3g} FLOP/byte: at most {:.4g} GFLOP/s, {} reached\n", name,
                        flops / bytes, roof * 1e-9, format_share(ratio(flops / seconds, roof)));
  }

  void load_waits() {
    if (!m_.get("load.latency")) return;
    const double latency = get("load.latency");
    title("Where loads wait",
          fmt::format(": {:.0f} cycles on average, {} loads", latency, format_count(get("load.count"))));
    for (const Metrics::Value& v : m_.values()) {
      if (!v.name.starts_with("load.latency.") || (v.real < latency * 0.005 && !options_.all)) continue;
      out_ += fmt::format("    {:<12} {:>8.1f}  {:>7}  {}\n", printable(v.name.substr(13)), v.real,
                          format_share(ratio(v.real, latency)),
                          bar(ratio(v.real, latency), profile_bar_width, style_));
    }
  }

  void hottest_lines() {
    const std::vector<LineProfile> lines = result::by_source(k_.profile);
    const auto all = static_cast<double>(sum(k_.profile.slots));
    if (lines.empty() || all == 0) return;
    title("Hottest lines", !lines.front().file.empty() ? ""
                           : lines.front().code.empty()
                               ? " (of PTX; compiled with -lineinfo it would be the source's)"
                               : " (of machine code; compiled with -lineinfo it would be the source's)");
    out_ += fmt::format("    {:>7}  {:>9}  {:<26}  {:>8}  {:>8}  {}\n", "slots", "executed", "mostly",
                        "sect/req", "latency", "line");
    const std::size_t most = options_.all ? lines.size() : std::min(lines.size(), lines_printed);
    for (std::size_t i = 0; i < most; ++i) {
      row(lines[i], all);
      instructions(lines[i], all);
      if (lines[i].file.empty() && !lines[i].code.empty()) ptx(lines[i], "  ");
    }
    if (most < lines.size()) out_ += fmt::format("    ... {} more; --all prints them\n", lines.size() - most);
  }
  // Of a source line the machine code that takes most of its slots, and the PTX that it was made of.
  void instructions(const LineProfile& line, double all) {
    constexpr std::size_t most = 3;
    if (line.file.empty()) return;
    std::vector<const LineProfile*> of_line;
    for (const LineProfile& l : k_.profile.lines)
      if (!l.code.empty() && l.file == line.file && l.line == line.line) of_line.push_back(&l);
    std::ranges::stable_sort(of_line, std::ranges::greater{},
                             [](const LineProfile* l) { return slots_of(*l); });
    for (std::size_t i = 0; i < of_line.size() && (i < most || options_.all); ++i) {
      if (static_cast<double>(slots_of(*of_line[i])) < 0.01 * static_cast<double>(slots_of(line))) break;
      LineProfile shown = *of_line[i];
      shown.file.clear();
      shown.text.clear();
      row(shown, all, "  ");
      ptx(shown, "    ");
    }
  }
  void ptx(const LineProfile& l, std::string_view indent) {
    if (l.ptx_line != 0) place("", fmt::format("{}PTX {}  {}", indent, l.ptx_line, shown_code(l.ptx)));
  }
  // The last column, behind others that are written or, here, empty.
  void place(std::string_view others, const std::string& what) {
    constexpr unsigned others_width = 68, width_left = 52;
    out_ += fmt::format("    {:<{}}{}\n", others, others_width,
                        shortened(what, std::max(style_.width, 100u) - width_left));
  }
  void row(const LineProfile& l, double all, const char* indent = "") {
    double share = 0;
    const std::string stall = top_stall(l, k_.profile, share);
    const std::string mostly = stall.empty() ? "issue" : fmt::format("{} {}", stall, format_share(share));
    std::string text = text_of(l);
    if (!l.code.empty() && text == l.code)  // its address is the place
      if (const std::size_t end = text.find("*/ "); end != std::string::npos) text.erase(0, end + 3);
    const std::string where = fmt::format("{}{}  {}", indent, place_of(l), shown_code(text));
    place(fmt::format("{:>7}  {:>9}  {:<26}  {:>8}  {:>8}",
                      format_share(static_cast<double>(slots_of(l)) / all),
                      format_count(static_cast<double>(l.instructions)), printable(mostly),
                      l.requests == 0 ? ""
                                      : fmt::format("{:.1f}", ratio(static_cast<double>(l.sectors),
                                                                    static_cast<double>(l.requests))),
                      l.loads == 0 ? ""
                                   : fmt::format("{:.0f}", ratio(static_cast<double>(l.load_cycles),
                                                                 static_cast<double>(l.loads)))),
          where);
  }

  const KernelResult& k_;
  const Metrics& m_;
  const TextOptions& options_;
  const Style& style_;
  std::string out_;
};

}  // namespace

std::string place_of(const LineProfile& line) {
  if (line.file.empty() && line.code.starts_with("/*"))
    return "0x" + printable(line.code.substr(2, line.code.find("*/") - 2));
  if (line.file.empty()) return fmt::format("PTX {}", line.ptx_line);
  return fmt::format("{}:{}", printable(std::filesystem::path(line.file).filename().string()), line.line);
}

const std::string& text_of(const LineProfile& line) {
  return !line.text.empty() ? line.text : line.code.empty() ? line.ptx : line.code;
}

std::string shown_code(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t';
    if (!blank || (!out.empty() && out.back() != ' ')) out += blank ? ' ' : c;
  }
  return printable(out);
}

std::string top_stall(const LineProfile& line, const Profile& profile, double& share) {
  std::size_t best = line.slots.size();
  for (std::size_t i = 0; i < line.slots.size(); ++i) {
    if (profile.reasons[i] == "selected" || line.slots[i] == 0) continue;
    if (best == line.slots.size() || line.slots[i] > line.slots[best]) best = i;
  }
  share = 0;
  if (best == line.slots.size()) return {};
  share = ratio(static_cast<double>(line.slots[best]), static_cast<double>(slots_of(line)));
  return profile.reasons[best];
}

std::string profile_text(const KernelResult& kernel, const TextOptions& options) {
  if (kernel.profile.empty()) return {};
  return ProfileWriter(kernel, options).run();
}

}  // namespace simtlab::report

// Markdown of a result: what GitHub, GitLab and pandoc agree upon.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/cells.h"
#include "report/export.h"
#include "report/format.h"
#include "report/glossary.h"
#include "result/totals.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Metrics;
using result::Result;

// Text of the input must not become markup or end a cell.
std::string cell_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("|\\`*_<>[]#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// The same between backticks, where nothing can be escaped.
std::string code_text(std::string_view text) {
  std::string out = printable(text);
  std::ranges::replace_if(
      out, [](char c) { return c == '|' || c == '`'; }, '?');
  return out;
}

std::string number_text(const Metrics::Value& v) {
  return v.is_integer ? fmt::format("{}", v.integer) : fmt::format("{:.6g}", v.real);
}

std::string title(const Result& r) {
  return fmt::format("# simtlab: {} on {}\n\n", cell_text(r.manifest.mode),
                     cell_text(r.manifest.device.empty() ? "no device" : r.manifest.device));
}

std::string state(const result::Manifest& m) {
  std::string out;
  if (m.interrupted) out += "**Stopped before its end: the numbers cover what ran until then.**\n\n";
  if (!m.failure.empty()) out += fmt::format("**The run failed:** {}\n\n", cell_text(m.failure));
  return out;
}

std::string run_table(const result::Manifest& m) {
  std::string out = "| | |\n|---|---|\n";
  const auto row = [&](const char* name, std::string_view value) {
    if (!value.empty()) out += fmt::format("| {} | {} |\n", name, cell_text(value));
  };
  row("command", m.command_line);
  row("version", m.tool_version);
  row("started", m.start_time);
  row("host", m.host);
  for (const result::InputHash& i : m.inputs) row("input", fmt::format("{} (xxh64 {})", i.path, i.xxh64));
  return out + "\n";
}

std::string metric_table(const Metrics& metrics) {
  if (metrics.values().empty()) return {};
  std::string out = "| metric | value | unit | meaning |\n|---|---:|---|---|\n";
  for (const Metrics::Value& v : metrics.values()) {
    const result::MetricDeclaration* d = result::find_metric(v.name);
    out += fmt::format("| `{}` | {} | {} | {} |\n", code_text(v.name), number_text(v), d->unit,
                       cell_text(d->doc));
  }
  return out + "\n";
}

std::string stall_table(const Metrics& m) {
  std::vector<std::pair<double, std::string>> reasons;
  for (const Metrics::Value& v : m.values())
    if (v.name.starts_with("stall.") && v.real > 0) reasons.emplace_back(v.real, v.name.substr(6));
  if (reasons.empty()) return {};
  std::ranges::sort(reasons, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::string out = "| where scheduler slots went | share | meaning |\n|---|---:|---|\n";
  for (const auto& [share, name] : reasons) {
    const Term* term = find_term(stall_reasons(), name);
    out += fmt::format("| `{}` | {} | {} |\n", code_text(name), format_share(share),
                       term == nullptr ? "" : cell_text(term->meaning));
  }
  return out + "\n";
}

std::string table(const result::Table& t) {
  const result::TableDeclaration* d = result::find_table(t.name);
  std::string out = fmt::format("### {}\n\n{}\n\n|", cell_text(t.name), cell_text(d->doc)), line = "|";
  for (const result::ColumnDeclaration& c : d->columns) {
    out += fmt::format(" {} |", cell_text(c.name));
    line += "---|";
  }
  out += "\n" + line + "\n";
  constexpr std::size_t most = 200;  // a page, no data set
  for (std::size_t i = 0; i < std::min(t.rows.size(), most); ++i) {
    out += "|";
    for (const result::Cell& c : t.rows[i]) {
      const auto* text = std::get_if<std::string>(&c);
      out += fmt::format(" {} |", text != nullptr ? cell_text(*text)
                                  : std::holds_alternative<std::monostate>(c)
                                      ? ""
                                      : fmt::format("{:.6g}", result::number(c)));
    }
    out += "\n";
  }
  if (t.rows.size() > most)
    out += fmt::format("\n{} more rows: `--json` and `--sqlite` have them.\n", t.rows.size() - most);
  return out + "\n";
}

std::string kernel(const KernelResult& k) {
  std::string out = fmt::format("## {}\n\n", cell_text(k.demangled.empty() ? k.name : k.demangled));
  if (k.partial) out += "Stopped before its end: what was counted until then.\n\n";
  if (const auto time = k.metrics.get("gpu.time")) out += fmt::format("**{}**", format_time(*time));
  if (const auto cycles = k.metrics.get("gpu.cycles"))
    out += fmt::format(", {} cycles", format_exact(static_cast<std::uint64_t>(*cycles)));
  if (const auto code = k.metrics.get("code.generation"))
    out += fmt::format("; machine code for sm_{}", static_cast<unsigned>(*code));
  if (k.metrics.get("gpu.blocks"))
    out += fmt::format("; grid {}x{}x{}, block {}x{}x{}, launches {}", k.grid[0], k.grid[1], k.grid[2],
                       k.block[0], k.block[1], k.block[2], k.launches);
  if (!out.ends_with("\n\n")) out += ".\n\n";
  if (!k.bottleneck.empty()) out += cell_text(k.bottleneck) + "\n\n";
  out += stall_table(k.metrics) + metric_table(k.metrics);
  for (const result::Table& t : k.tables) out += table(t);
  return out;
}

}  // namespace

std::string markdown(const Result& result) {
  std::string out = title(result) + state(result.manifest) + run_table(result.manifest);
  if (result.kernels.size() != 1) out += "## Total\n\n" + metric_table(result.total);
  for (const KernelResult& k : result::merge_by_name(result.kernels)) {
    // Of a single launch everything is known, of several only what has a mean.
    const auto single = std::ranges::find(result.kernels, k.name, &KernelResult::name);
    out += kernel(k.launches == single->launches ? *single : k);
  }
  return out;
}

}  // namespace simtlab::report

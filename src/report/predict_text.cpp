// Sample (docs/concepts/models.md explains it):
//
//   tiled-matmul: 80 blocks of 128 threads
//
//     model           cycles      time      limited by
//     mwp-cwp         50,728      50.7 us   departure
//
//     mwp-cwp (Hong and Kim 2009)
//       limited by: departure: MWP is what the gaps between transactions allow
//       case: 2: CWP >= MWP
//       floor: 3,072 cycles (bandwidth)
//       10 % more of ... changes the time: departure_del_uncoal +9.5 %, ...
#include "report/predict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "report/nest_text.h"
#include "report/not_modelled.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Result;
using result::Table;

constexpr std::size_t parameters_shown = 4;
constexpr std::size_t launches_in_full = 2;
constexpr double change_shown = 5e-5;  // less is 0.0 %

class PredictWriter {
 public:
  PredictWriter(const Result& result, const TextOptions& options)
      : result_(result), options_(options), style_(options.style) {}

  std::string run() {
    // Of many launches the table alone, but for those that take longest.
    std::vector<double> times;
    for (const KernelResult& k : result_.kernels) times.push_back(time_of(k));
    std::ranges::sort(times, std::greater{});
    const double full = options_.all || times.size() <= launches_in_full ? -1 : times[launches_in_full - 1];
    for (const KernelResult& k : result_.kernels) one(k, time_of(k) >= full);
    if (result_.kernels.size() > 1) total();
    if (options_.all && !has_counts()) configuration();
    if (!options_.all && !result_.kernels.empty())
      note("--explain shows every intermediate value and where each count is from");
    return out_;
  }

 private:
  static std::string words(const Table& table, const std::vector<result::Cell>& row, const char* name) {
    const auto* text = std::get_if<std::string>(&row[result::column(table.name, name)]);
    return text == nullptr ? std::string() : printable(*text);
  }
  static double value(const Table& table, const std::vector<result::Cell>& row, const char* name) {
    return result::number(row[result::column(table.name, name)]);
  }
  // What limits, without why.
  static std::string verdict(const std::string& limit) { return limit.substr(0, limit.find(": ")); }
  // Cycles are counted in wholes as long as they can be.
  static std::string cycles(double n) {
    return n < 1e15 ? format_exact(static_cast<std::uint64_t>(std::llround(std::max(n, 0.0))))
                    : fmt::format("{:.6g}", n);
  }

  void line(std::string_view text) {
    out_ += text.substr(0, text.find_last_not_of(' ') + 1);
    out_ += '\n';
  }
  void note(std::string_view text) { line("  " + painted(text, Paint::dim, style_)); }
  void paragraph(std::string_view label, const std::string& text) {
    line(fmt::format("    {}: {}", label, wrapped(text, std::max(style_.width, 60u) - 4, 6)));
  }

  // By the first model that answered.
  static double time_of(const KernelResult& k) {
    const Table* predictions = result::find(k.tables, "predictions");
    return predictions == nullptr || predictions->rows.empty()
               ? 0
               : value(*predictions, predictions->rows.front(), "time");
  }
  bool has_counts() const {
    return std::ranges::any_of(
        result_.kernels, [](const KernelResult& k) { return result::find(k.tables, "counts") != nullptr; });
  }

  // What was counted, where it is not PTX.
  static std::string code_of(const KernelResult& k) {
    const auto code = k.metrics.get("code.generation");
    return code ? fmt::format(", machine code for sm_{}", static_cast<unsigned>(*code)) : "";
  }
  void one(const KernelResult& k, bool full) {
    const std::string name = k.demangled.empty() ? k.name : k.demangled;
    line(painted(fmt::format("{}: {}{} on {}", printable(name), launch_of(k), code_of(k),
                             printable(result_.manifest.device)),
                 Paint::bold, style_));
    sample(k);
    const Table* predictions = result::find(k.tables, "predictions");
    if (predictions == nullptr) return line("");
    line(painted(fmt::format("  {:<14} {:>18}  {:>10}  {}", "model", "cycles", "time", "limited by"),
                 Paint::bold, style_));
    for (const auto& row : predictions->rows)
      line(fmt::format("  {:<14} {:>18}  {:>10}  {}", words(*predictions, row, "model"),
                       cycles(value(*predictions, row, "cycles")),
                       format_time(value(*predictions, row, "time")),
                       verdict(words(*predictions, row, "limit"))));
    // tests/unit/studies/validate/rows_test.cpp holds this against the kept rows.
    if (full && predictions->rows.size() > 1 &&
        words(*predictions, predictions->rows.front(), "model") == "throughput")
      note(
          "believe throughput first: on kernels it is the nearest to the cycle-level GPU, on loops as near "
          "as any");
    if (full) {
      for (const auto& row : predictions->rows) model(k, *predictions, row);
      others(k, *predictions);
      out_ += nest_text(k, options_);
      if (options_.all) counts(k);
      line("");
      not_modelled(k);
    }
    line("");
  }

  // Of all launches, one after the other.
  void total() {
    line(painted(fmt::format("{} launches, one after the other", result_.kernels.size()), Paint::bold,
                 style_));
    std::vector<std::string> models;
    for (const KernelResult& k : result_.kernels)
      if (const Table* t = result::find(k.tables, "predictions"))
        for (const auto& row : t->rows)
          if (const std::string name = words(*t, row, "model");
              std::ranges::find(models, name) == models.end())
            models.push_back(name);
    for (const std::string& m : models)
      if (const auto time = result_.total.get(fmt::format("predict.{}.time", m)))
        line(fmt::format("  {:<14} {:>10}", m, format_time(*time)));
    line("");
  }

  static std::string shape(const std::uint32_t (&d)[3]) {
    return d[2] > 1 ? fmt::format("{}x{}x{}", d[0], d[1], d[2]) : fmt::format("{}x{}", d[0], d[1]);
  }
  static std::string launch_of(const KernelResult& k) {
    const auto count = [](const std::uint32_t(&d)[3]) { return std::uint64_t{d[0]} * d[1] * d[2]; };
    const std::uint64_t blocks = count(k.grid), threads = count(k.block);
    if (blocks <= 1 && threads <= 1) return "a kernel of counts";
    const bool flat = blocks == k.grid[0] && threads == k.block[0];
    return fmt::format("{} blocks of {} threads{}", blocks, threads,
                       flat ? "" : fmt::format(" ({} of {})", shape(k.grid), shape(k.block)));
  }

  // How good the counts are, if not all of the kernel was counted.
  void sample(const KernelResult& k) {
    const auto blocks = k.metrics.get("counts.blocks"), error = k.metrics.get("counts.error");
    const std::uint64_t all = std::uint64_t{k.grid[0]} * k.grid[1] * k.grid[2];
    if (!blocks || *blocks >= static_cast<double>(all)) return;
    const std::string doubt =
        error ? fmt::format("; instructions of the whole grid known to {}, if the others are like them",
                            format_share(*error))
              : "; the others were executed uncounted";
    note(fmt::format("counted {} of {} blocks{} (--whole counts all)",
                     format_exact(static_cast<std::uint64_t>(*blocks)), format_exact(all), doubt));
  }

  void model(const KernelResult& k, const Table& predictions, const std::vector<result::Cell>& row) {
    const std::string name = words(predictions, row, "model");
    line(fmt::format("\n  {} ({})", painted(name, Paint::bold, style_), words(predictions, row, "authors")));
    paragraph("limited by", words(predictions, row, "limit"));
    paragraph("case", words(predictions, row, "case"));
    paragraph("floor", fmt::format("{} cycles ({})", cycles(value(predictions, row, "floor")),
                                   words(predictions, row, "floor_by")));
    overhead(k, name);
    sensitivity(k, name);
    benefits(k, name);
    hotspots(k, name);
    if (options_.all) terms(k, name);
    remarks(k, name);
  }

  // The time with what comes before and after the kernel, of which some may be unknown.
  void overhead(const KernelResult& k, const std::string& name) {
    const auto total = k.metrics.get(fmt::format("predict.{}.time.total", name));
    const Table* table = result::find(k.tables, "terms");
    if (!total || table == nullptr) return;
    std::string parts;
    for (const auto& [term, what] : {std::pair{"T_context", "context"},
                                     {"T_launch", "launch"},
                                     {"T_h2d", "copy to the GPU"},
                                     {"T_d2h", "copy back"}})
      for (const auto& row : table->rows)
        if (words(*table, row, "model") == name && words(*table, row, "name") == term &&
            value(*table, row, "value") > 0)
          parts += fmt::format(", {} {}", what, format_time(value(*table, row, "value")));
    if (!parts.empty()) paragraph("with overhead", fmt::format("{}: kernel{}", format_time(*total), parts));
  }

  void sensitivity(const KernelResult& k, const std::string& name) {
    const Table* table = result::find(k.tables, "sensitivity");
    if (table == nullptr) return;
    std::string text;
    std::size_t shown = 0;
    for (const auto& row : table->rows) {
      const double change = value(*table, row, "change");
      if (words(*table, row, "model") != name ||
          (!options_.all && (shown == parameters_shown || std::abs(change) < change_shown)))
        continue;
      text += fmt::format("{}{} {:+.1f} %{}", text.empty() ? "" : ", ", words(*table, row, "parameter"),
                          change * 100, value(*table, row, "other_case") != 0 ? " (another case)" : "");
      ++shown;
    }
    paragraph("time with 10 % more of", text.empty() ? "any parameter: unchanged" : text);
  }

  void benefits(const KernelResult& k, const std::string& name) {
    const std::string prefix = fmt::format("predict.{}.benefit.", name);
    std::string text;
    for (const result::Metrics::Value& v : k.metrics.values())
      if (v.name.starts_with(prefix))
        text +=
            fmt::format("{}B_{} {}", text.empty() ? "" : ", ", v.name.substr(prefix.size()), cycles(v.real));
    if (!text.empty()) paragraph("gain at most (cycles)", text);
  }

  // Below a hundredth of the time nobody gains anything.
  void hotspots(const KernelResult& k, const std::string& name) {
    const Table* table = result::find(k.tables, "hotspots");
    if (table == nullptr) return;
    constexpr double worth = 0.01;
    constexpr std::size_t most = 5;
    std::string text;
    std::size_t shown = 0;
    for (const auto& row : table->rows) {
      const double share = value(*table, row, "idle_share");
      if (words(*table, row, "model") != name || share < worth || (!options_.all && shown == most)) continue;
      text += fmt::format("{}{} ({} of the time)", text.empty() ? "" : ", ",
                          printable(words(*table, row, "place")), format_share(share));
      ++shown;
    }
    if (!text.empty()) paragraph("compute units idle during", text);
  }

  void terms(const KernelResult& k, const std::string& name) {
    const Table* table = result::find(k.tables, "terms");
    if (table == nullptr) return;
    line("    values, and how far their equation is known");
    for (const auto& row : table->rows) {
      if (words(*table, row, "model") != name) continue;
      const std::string unit = words(*table, row, "unit");
      line(fmt::format("      {:<20} {:>16.8g} {:<7} {}", words(*table, row, "name"),
                       value(*table, row, "value"), unit == "1" ? "" : unit, words(*table, row, "evidence")));
    }
  }

  void remarks(const KernelResult& k, const std::string& name) {
    const Table* table = result::find(k.tables, "remarks");
    if (table == nullptr) return;
    for (const auto& row : table->rows)
      if (words(*table, row, "model") == name) paragraph("note", words(*table, row, "text"));
  }

  // Models that had nothing to say.
  void others(const KernelResult& k, const Table& predictions) {
    const Table* table = result::find(k.tables, "remarks");
    if (table == nullptr) return;
    for (const auto& row : table->rows) {
      const std::string name = words(*table, row, "model");
      const bool predicted = std::ranges::any_of(
          predictions.rows, [&](const auto& p) { return words(predictions, p, "model") == name; });
      if (!predicted)
        line(fmt::format("\n  {}: {}", painted(name, Paint::bold, style_),
                         wrapped(words(*table, row, "text"), std::max(style_.width, 60u) - 2, 4)));
    }
  }

  void not_modelled(const KernelResult& k) {
    const std::string text = not_modelled_text(k.not_modelled);
    if (!text.empty()) line("  Not modelled: " + wrapped(text, std::max(style_.width, 60u) - 2, 16));
  }

  void counts(const KernelResult& k) {
    const Table* table = result::find(k.tables, "counts");
    if (table == nullptr) return;
    line(fmt::format("\n  {}", painted("Counts, and where each is from", Paint::bold, style_)));
    for (const auto& row : table->rows) {
      const std::string unit = words(*table, row, "unit");
      line(fmt::format("    {:<26} {:>14.8g} {:<12} {}", words(*table, row, "key"),
                       value(*table, row, "value"), unit == "1" ? "" : unit, words(*table, row, "origin")));
    }
  }

  void configuration() {
    line(fmt::format("\n  {}", painted("Counts, and where each is from", Paint::bold, style_)));
    for (const result::ConfigValue& c : result_.manifest.configuration)
      line(fmt::format("    {:<22} {:>18}  {}", printable(c.key), printable(c.value), printable(c.origin)));
  }

  const Result& result_;
  const TextOptions& options_;
  const Style& style_;
  std::string out_;
};

}  // namespace

std::string predict_text(const Result& result, const TextOptions& options) {
  return PredictWriter(result, options).run();
}

}  // namespace simtlab::report

// A result as a timeline of the Chrome trace format (ui.perfetto.dev): kernels on rows of their own time,
// series as counters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/error.h"
#include "report/export.h"
#include "report/format.h"
#include "result/json.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Result;

// The format counts microseconds; we write whole picoseconds, so that what follows each other does so
// exactly.
std::int64_t picoseconds(double ns) { return std::llround(std::min(ns, 1e15) * 1000); }
std::string microseconds(std::int64_t ps) { return fmt::format("{}.{:06}", ps / 1000000, ps % 1000000); }
std::string microseconds(double ns) { return microseconds(picoseconds(ns)); }

struct Slice {
  const KernelResult* kernel;
  double begin = 0, length = 0;
  bool recorded = true;  // else it was placed behind what comes before it
  std::size_t row = 0;
};

// Slices of one row must not overlap: kernels of several streams take the first row that is free.
std::vector<Slice> placed(const Result& result, std::size_t& rows) {
  std::vector<Slice> slices;
  double end = 0;
  for (const KernelResult& k : result.kernels) {
    const auto time = k.metrics.get("gpu.time");
    if (!time) continue;
    const auto begin = k.metrics.get("gpu.begin");
    if (*time < 0 || begin.value_or(0) < 0) continue;  // no file of ours
    slices.push_back({&k, begin.value_or(end), *time, begin.has_value()});
    end = std::max(end, slices.back().begin + *time);
  }
  std::ranges::stable_sort(slices, {}, &Slice::begin);
  std::vector<double> free_at;
  for (Slice& s : slices) {
    const auto row = std::ranges::find_if(free_at, [&](double at) { return at <= s.begin; });
    s.row = static_cast<std::size_t>(row - free_at.begin());
    if (row == free_at.end()) free_at.push_back(0);
    free_at[s.row] = s.begin + s.length;
  }
  rows = free_at.size();
  return slices;
}

std::string slice_text(const Slice& s) {
  const KernelResult& k = *s.kernel;
  std::string args =
      fmt::format(R"("grid": "{}x{}x{}", "block": "{}x{}x{}", "launches": {}, "begin": "{}")", k.grid[0],
                  k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2], k.launches,
                  s.recorded ? "recorded" : "not recorded: placed behind the kernel before it");
  for (const char* metric : {"gpu.cycles", "occupancy.achieved", "sol.compute", "sol.memory"})
    if (const auto v = k.metrics.get(metric)) args += fmt::format(", \"{}\": {:.6g}", metric, *v);
  return fmt::format(
      R"({{"ph": "X", "name": {}, "cat": "kernel", "pid": 1, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
      result::json_string(shortened(k.demangled.empty() ? k.name : k.demangled, 200)), s.row + 1,
      microseconds(s.begin), microseconds(picoseconds(s.begin + s.length) - picoseconds(s.begin)), args);
}

// A counter holds its value until the next one: each row is drawn from the end of the one before it.
void counters(const Slice& s, std::vector<std::string>& out) {
  // What a browser draws; the result has every row.
  constexpr std::size_t most_rows = 8192;
  const result::Series series = result::thinned(s.kernel->series, most_rows);
  const double cycles = s.kernel->metrics.get("gpu.cycles").value_or(0);
  const auto end = std::ranges::find(series.columns, "end");
  if (series.empty() || cycles <= 0 || end == series.columns.end()) return;
  const auto end_at = static_cast<std::size_t>(end - series.columns.begin());
  double from = 0;
  for (const std::vector<double>& row : series.rows) {
    const double at = s.begin + std::min(from / cycles, 1.0) * s.length;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (i != end_at)
        out.push_back(
            fmt::format(R"({{"ph": "C", "name": {}, "pid": 1, "ts": {}, "args": {{"value": {:.9g}}}}})",
                        result::json_string(series.columns[i]), microseconds(at), row[i]));
    from = row[end_at];
  }
}

}  // namespace

std::string timeline(const Result& result) {
  std::size_t rows = 0;
  const std::vector<Slice> slices = placed(result, rows);
  if (slices.empty())
    throw Error(ExitCode::bad_input, "report-timeline", "the result has no times: no timeline can be drawn",
                "run it with `simtlab run --json=FILE` (mode timing); `simtlab run --timeline FILE` and "
                "`simtlab dram --timeline FILE` draw single cycles");
  std::vector<std::string> events = {
      fmt::format(R"({{"ph": "M", "name": "process_name", "pid": 1, "args": {{"name": {}}}}})",
                  result::json_string(result.manifest.device))};
  for (std::size_t row = 1; row <= rows; ++row)
    events.push_back(fmt::format(
        R"({{"ph": "M", "name": "thread_name", "pid": 1, "tid": {}, "args": {{"name": "kernels {}"}}}})", row,
        row));
  for (const Slice& s : slices) {
    events.push_back(slice_text(s));
    counters(s, events);
  }
  std::string out = R"({"displayTimeUnit": "ns", "otherData": {"unit": "microseconds of simulated time"},)"
                    "\n\"traceEvents\": [";
  for (std::size_t i = 0; i < events.size(); ++i) out += (i == 0 ? "\n" : ",\n") + events[i];
  return out + "\n]}\n";
}

}  // namespace simtlab::report

#include "cli/cache_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "base/units.h"
#include "cli/axes.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/temporary.h"
#include "report/format.h"
#include "result/json.h"

namespace simtlab::cli {
namespace {

using Json = nlohmann::ordered_json;

// Short names of what people sweep most.
constexpr std::pair<std::string_view, std::string_view> short_names[] = {
    {"size", "l1.bytes"},      {"ways", "l1.ways"},       {"policy", "l1.replacement"},
    {"index", "l1.set_index"}, {"line", "l1.line_bytes"}, {"sector", "l1.sector_bytes"}};
// Options of the study that vary like keys of the device.
constexpr std::string_view study_keys[] = {"order",  "prefetch", "allocate",     "wait", "turn",
                                           "jitter", "skew",     "zero_latency", "l2"};

struct Change {
  std::string key, value;
};
using Variant = std::vector<Change>;

std::string full_name(std::string_view key) {
  for (const auto& [name, full] : short_names)
    if (name == key) return std::string(full);
  return std::string(key);
}

bool is_study_key(std::string_view key) { return std::ranges::find(study_keys, key) != std::end(study_keys); }

Run with(Run run, cache::Options study, const Variant& variant) {
  std::string text = cache::to_text(study);
  for (const Change& c : variant) {
    if (is_study_key(c.key))
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", c.key, c.value);
    else
      run.given.add("set", fmt::format("{}={}", c.key, with_unit(c.value)));
  }
  cache::parse_options(text);  // throws
  run.given.set("cache", text);
  return run;
}

// A study that a sweep can go on without: what made it impossible.
struct Point {
  result::Result result;
  std::string problem;
};

Point point_of(const Run& run, const cache::Options& study, const Target& target, const Variant& variant) {
  const auto hopeless = [](const Error& e) {
    return e.code() != ExitCode::bad_input ||
           (!e.id().starts_with("config-value") && !e.id().starts_with("device-value"));
  };
  try {
    return {study_result(with(run, study, variant), target), {}};
  } catch (const Error& e) {
    if (hopeless(e)) throw;
    return {{}, e.diagnostics().front().message};
  }
}

double of(const result::Result& r, std::string_view metric) { return r.total.get(metric).value_or(0); }

constexpr std::pair<const char*, const char*> compared[] = {{"access.threads", "accesses of threads"},
                                                            {"access.sectors", "sectors"},
                                                            {"access.use", "share of their bytes used"},
                                                            {"l1.read.accesses", "L1 reads"},
                                                            {"l1.read.hits", "L1 hits"},
                                                            {"l1.read.hits_pending", "L1 hits pending"},
                                                            {"l1.read.misses", "L1 misses"},
                                                            {"l1.read.misses.cold", "  cold"},
                                                            {"l1.read.misses.partial", "  partial"},
                                                            {"l1.read.misses.capacity", "  capacity"},
                                                            {"l1.read.misses.conflict", "  conflict"},
                                                            {"l1.read.misses.invalidated", "  invalidated"},
                                                            {"l1.read.miss_rate", "L1 miss rate"},
                                                            {"l1.read.miss_rate.median", "  median SM"},
                                                            {"l1.fetched.bytes", "bytes from L2"},
                                                            {"l1.fetched.use", "share of them read"},
                                                            {"l2.read.accesses", "L2 reads"},
                                                            {"l2.read.misses", "L2 misses"},
                                                            {"l2.read.miss_rate", "L2 miss rate"},
                                                            {"dram.read.bytes", "bytes from DRAM"},
                                                            {"dram.write.bytes", "bytes to DRAM"}};

std::string shown_value(const char* metric, std::optional<double> value) {
  if (!value) return "-";
  const std::string_view name(metric);
  if (name.find("rate") != std::string_view::npos || name.ends_with(".use"))
    return report::format_share(*value);
  return report::format_exact(static_cast<std::uint64_t>(*value));
}

void write_document(const OutputOptions& output, const Json& document, const std::string& csv,
                    const std::string& text) {
  Writing writing;
  if (!output.csv.empty()) writing([&] { write_to(output.csv, csv); });
  if (!output.json.empty())
    writing([&] {
      write_to(output.json,
               document.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    });
  write_text(writing, output, text);
  writing.end();
}

Json metrics_of(const result::Metrics& m) {
  Json out = Json::object();
  for (const result::Metrics::Value& v : m.values()) {
    if (v.name.starts_with("host.")) continue;
    out[v.name] = {{"value", v.is_integer ? Json(v.integer) : Json(v.real)},
                   {"unit", result::find_metric(v.name)->unit}};
  }
  return out;
}

std::vector<Axis> axes_of(const std::vector<std::string>& texts) {
  std::vector<Axis> out;
  for (const std::string& text : texts)
    out.push_back(parse_axis(text, "cache-sweep",
                             "size=16K:128K ways=1:16 policy=lru,fifo order=lrr,gto; FIRST:LAST doubles"));
  return out;
}

Variant variant_at(const std::vector<Axis>& axes, std::size_t point) {
  const std::vector<std::string> values = point_of(axes, point);
  Variant out;
  for (std::size_t i = 0; i < axes.size(); ++i) out.push_back({full_name(axes[i].name), values[i]});
  return out;
}

// The table of a sweep, row by row: for people, as CSV and as JSON.
class Sweep {
 public:
  Sweep(const std::vector<Axis>& axes, const report::Style& style) : axes_(axes), style_(style) {
    std::string header;
    for (const Axis& a : axes) header += fmt::format("{:<14}", a.name), csv_ += a.name + ",";
    for (const char* metric : columns) csv_ += fmt::format("{},", metric);
    csv_ += "problem\n";
    text_ = report::painted(
        fmt::format("{}{:>11} {:>9}  {:<24} {:>9} {:>9} {:>9} {:>11} {:>9}\n", header, "L1 reads", "miss", "",
                    "cold", "capacity", "conflict", "L2 reads", "miss"),
        report::Paint::bold, style);
  }

  void add(const Variant& variant, const Point& point) {
    Json entry = {{"point", Json::object()}};
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      text_ += fmt::format("{:<14}", variant[a].value);
      csv_ += variant[a].value + ",";
      entry["point"][axes_[a].name] = variant[a].value;
    }
    if (point.problem.empty()) {
      text_ += text_row(point.result);
      csv_ += csv_row(point.result);
      entry["total"] = metrics_of(point.result.total);
    } else {
      text_ += report::painted(report::shortened(point.problem, 90), report::Paint::dim, style_) + "\n";
      csv_ += fmt::format("{}\"{}\"\n", std::string(std::size(columns), ','), point.problem);
      entry["problem"] = point.problem;
    }
    document_["sweep"].push_back(std::move(entry));
  }

  // What is there, if the rest will not come.
  void stopped(std::size_t done, std::size_t all) {
    document_["interrupted"] = true;
    text_ = report::painted(fmt::format("INCOMPLETE: interrupted after {} of {} variants\n", done, all),
                            report::Paint::bad, style_) +
            text_;
  }

  void write(const OutputOptions& output) const { write_document(output, document_, csv_, text_); }

 private:
  static constexpr const char* columns[] = {
      "l1.read.accesses",        "l1.read.misses",          "l1.read.miss_rate", "l1.read.misses.cold",
      "l1.read.misses.capacity", "l1.read.misses.conflict", "l2.read.accesses",  "l2.read.misses"};

  static double rate_of(const result::Result& r) {
    const double reads = of(r, "l1.read.accesses");
    return reads == 0 ? 0 : of(r, "l1.read.misses") / reads;
  }
  std::string text_row(const result::Result& r) const {
    const double misses = of(r, "l1.read.misses"), rate = rate_of(r);
    const auto share = [&](const char* metric) {
      return misses == 0 ? std::string("-") : report::format_share(of(r, metric) / misses);
    };
    return fmt::format(
        "{:>11} {:>9}  {} {:>9} {:>9} {:>9} {:>11} {:>9}\n", report::format_count(of(r, "l1.read.accesses")),
        report::format_share(rate), report::bar(rate, 24, style_), share("l1.read.misses.cold"),
        share("l1.read.misses.capacity"), share("l1.read.misses.conflict"),
        report::format_count(of(r, "l2.read.accesses")), report::format_share(of(r, "l2.read.miss_rate")));
  }
  static std::string csv_row(const result::Result& r) {
    std::string out;
    for (const std::string_view metric : columns)
      out += fmt::format("{},", metric == "l1.read.miss_rate" ? rate_of(r) : of(r, metric));
    return out + "\n";
  }

  const std::vector<Axis>& axes_;
  report::Style style_;
  std::string text_, csv_;
  Json document_ = {{"schema", result::json_schema}, {"sweep", Json::array()}};
};

}  // namespace

result::Result study_result(Run run, const Target& target) {
  const TemporaryDirectory folder;
  run.output.json = (folder.path() / "study.json").string();
  run.output.output = (folder.path() / "study.txt").string();
  run.output.csv.clear();
  run.output.quiet = true;
  const int code = run_command(target.app, run, target.rest, target.after_dashes);
  if (code != 0)
    throw Error(static_cast<ExitCode>(code), "cache-variant",
                "a study of the table failed; what it said is above");
  return result::read_result_file(run.output.json);
}

int sweep_study(const Run& run, const cache::Options& study, const Target& target,
                const std::vector<std::string>& texts) {
  OutputOptions output = run.output;
  check_outputs(output);
  const std::vector<Axis> axes = axes_of(texts);
  Sweep sweep(axes, style_for(1, output.color));
  const std::size_t points = count_points(axes, "cache-sweep");
  std::size_t done = 0;
  Run now = run;
  const Signals signals(0);  // between two variants, too
  try {
    Progress progress("simulating", output);
    for (; done < points; ++done) {
      if (signals.interrupted())
        throw Error(ExitCode::interrupted, "interrupted",
                    fmt::format("interrupted after {} of {} variants", done, points),
                    "the table has those that were done");
      progress.at(fmt::format("{} of {} variants done", done, points));
      const Variant variant = variant_at(axes, done);
      Point point = point_of(now, study, target, variant);
      // The program prints what it prints once, not once for each point
      if (point.problem.empty()) now.mute = true;
      sweep.add(variant, std::move(point));
    }
  } catch (const Error& e) {
    if (e.code() != ExitCode::interrupted || done == 0) throw;
    sweep.stopped(done, points);
    sweep.write(output);
    throw;
  }
  sweep.write(output);
  return 0;
}

namespace {

// A result file, another kernel, or settings.
result::Result variant_of(const Run& run, const cache::Options& study, const Target& target,
                          const std::string& text) {
  if (text.ends_with(".json")) return result::read_result_file(text);
  if (text.find('=') == std::string::npos) {
    // Another version takes the place of the first argument.
    Target other{target.app, target.rest, target.after_dashes};
    if (other.rest.empty())
      other.rest.push_back(text);
    else
      other.rest.front() = text;
    return study_result(run, other);
  }
  Variant variant;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ExitCode::usage, "cache-compare",
                  fmt::format("--compare {}: '{}' is no setting", shown(text, 60), shown(part, 40)),
                  "KEY=VALUE,KEY=VALUE; a.json; b.ptx");
    variant.push_back({full_name(part.substr(0, equals)), part.substr(equals + 1)});
    at = comma + 1;
  }
  return study_result(with(run, study, variant), target);
}

}  // namespace

int compare_studies(const Run& run, const cache::Options& study, const Target& target, const std::string& a,
                    const std::string& b) {
  OutputOptions output = run.output;
  check_outputs(output);
  const auto both = [&] {
    Progress progress("simulating", output);
    progress.at("the first of two variants");
    result::Result one = variant_of(run, study, target, a);
    progress.at("the second of two variants");
    Run second = run;
    // Under two settings one program runs twice, and prints what it prints once.
    const bool settings = a.find('=') != std::string::npos && b.find('=') != std::string::npos;
    second.mute = second.mute || settings;
    return std::pair(std::move(one), variant_of(second, study, target, b));
  };
  const auto [first, second] = both();
  for (const auto& [r, name] : {std::pair{&first, &a}, {&second, &b}})
    if (r->manifest.mode != "cache")
      throw Error(ExitCode::bad_input, "cache-compare",
                  fmt::format("{} is no result of a cache study", shown(*name)),
                  "simtlab cache ... --json=FILE writes one");
  const report::Style style = style_for(1, output.color);
  std::string out = report::painted(fmt::format("{:<28} {:>22} {:>22} {:>10}\n", "", report::shortened(a, 22),
                                                report::shortened(b, 22), "change"),
                                    report::Paint::bold, style);
  std::string csv = "metric,a,b\n";
  Json document = {{"schema", result::json_schema}, {"a", a}, {"b", b}, {"metrics", Json::object()}};
  for (const auto& [metric, label] : compared) {
    const auto x = first.total.get(metric), y = second.total.get(metric);
    if (!x && !y) continue;
    const std::string change = x && y && *x != 0    ? fmt::format("{:+.1f} %", (*y / *x - 1) * 100)
                               : x && y && *x == *y ? "+0.0 %"
                                                    : "";
    out += fmt::format("{:<28} {:>22} {:>22} {:>10}\n", label, shown_value(metric, x), shown_value(metric, y),
                       change);
    csv += fmt::format("{},{},{}\n", metric, x ? fmt::format("{}", *x) : "", y ? fmt::format("{}", *y) : "");
    document["metrics"][metric] = {{"a", x ? Json(*x) : Json()}, {"b", y ? Json(*y) : Json()}};
  }
  write_document(output, document, csv, out);
  return 0;
}

}  // namespace simtlab::cli

#include "studies/cache/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "base/sizes.h"
#include "base/units.h"
#include "report/format.h"
#include "result/json.h"
#include "studies/common/axes.h"
#include "studies/common/output.h"
#include "studies/common/points.h"
#include "studies/common/progress.h"

namespace simtlab::studies {
namespace {

using Json = nlohmann::ordered_json;

// Short names of what people sweep most.
constexpr std::pair<std::string_view, std::string_view> short_names[] = {
    {"size", "l1.bytes"},      {"ways", "l1.ways"},       {"policy", "l1.replacement"},
    {"index", "l1.set_index"}, {"line", "l1.line_bytes"}, {"sector", "l1.sector_bytes"}};
// Options of the study that vary like keys of the device.
constexpr std::string_view study_keys[] = {
    "order",  "warp_size", "alternate_blocks", "fetch_group",    "prefetch", "allocate", "wait", "turn",
    "jitter", "skew",      "zero_latency",     "fetch_on_write", "l2"};

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

// A sweep can go on without that point.
bool is_row(const Error& e) {
  return e.code() == ExitCode::bad_input &&
         (e.id().starts_with("config-value") || e.id().starts_with("device-value"));
}

double of(const result::Metrics& total, std::string_view metric) { return total.get(metric).value_or(0); }

constexpr std::pair<const char*, const char*> compared[] = {
    {"access.threads", "accesses of threads"},
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
    {"l1.write.accesses", "L1 stores"},
    {"l1.write.hits", "  find their line"},
    {"l1.write.misses", "  do not"},
    {"l1.write.fetched.bytes", "  fetched by them, bytes"},
    {"l1.writebacks", "  written back, sectors"},
    {"l2.write.accesses", "L2 stores"},
    {"l2.write.misses", "  do not find their line"},
    {"l2.write.fetched.bytes", "  fetched by them, bytes"},
    {"l2.writebacks", "  written back, sectors"},
    {"dram.read.bytes", "bytes from DRAM"},
    {"dram.write.bytes", "bytes to DRAM"}};

std::string shown_value(const char* metric, std::optional<double> value) {
  if (!value) return "-";
  const std::string_view name(metric);
  if (name.find("rate") != std::string_view::npos || name.ends_with(".use"))
    return report::format_share(*value);
  return report::format_exact(static_cast<std::uint64_t>(*value));
}

std::string dumped(const Json& document) {
  return document.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::vector<Axis> axes_of(const std::vector<std::string>& texts) {
  std::vector<Axis> out;
  for (const std::string& text : texts)
    out.push_back(parse_axis(text, "cache-sweep",
                             "size=16K:128K ways=1:16 policy=lru,fifo order=lrr,gto; FIRST:LAST doubles"));
  return out;
}

Variant variant_of(const std::vector<Axis>& axes, const std::vector<std::string>& values) {
  Variant out;
  for (std::size_t i = 0; i < axes.size(); ++i) out.push_back({full_name(axes[i].name), values[i]});
  return out;
}

constexpr const char* columns[] = {
    "l1.read.accesses",        "l1.read.misses",          "l1.read.miss_rate", "l1.read.misses.cold",
    "l1.read.misses.capacity", "l1.read.misses.conflict", "l2.read.accesses",  "l2.read.misses"};

double rate_of(const result::Metrics& total) {
  const double reads = of(total, "l1.read.accesses");
  return reads == 0 ? 0 : of(total, "l1.read.misses") / reads;
}

std::string text_row(const result::Metrics& total, const report::Style& style) {
  const double misses = of(total, "l1.read.misses"), rate = rate_of(total);
  const auto share = [&](const char* metric) {
    return misses == 0 ? std::string("-") : report::format_share(of(total, metric) / misses);
  };
  return fmt::format("{:>11} {:>9}  {} {:>9} {:>9} {:>9} {:>11} {:>9}",
                     report::format_count(of(total, "l1.read.accesses")), report::format_share(rate),
                     report::bar(rate, 24, style), share("l1.read.misses.cold"),
                     share("l1.read.misses.capacity"), share("l1.read.misses.conflict"),
                     report::format_count(of(total, "l2.read.accesses")),
                     report::format_share(of(total, "l2.read.miss_rate")));
}

SweptColumns hits_and_misses() {
  SweptColumns out;
  out.head = fmt::format("{:>11} {:>9}  {:<24} {:>9} {:>9} {:>9} {:>11} {:>9}", "L1 reads", "miss", "",
                         "cold", "capacity", "conflict", "L2 reads", "miss");
  out.row = text_row;
  out.csv.assign(std::begin(columns), std::end(columns));
  out.value = [](const result::Metrics& total, const std::string& metric) -> std::optional<double> {
    return metric == "l1.read.miss_rate" ? rate_of(total) : of(total, metric);
  };
  out.all_in_json = true;
  return out;
}

}  // namespace

Outcome sweep_study(const Run& run, const cache::Options& study, const Call& call,
                    const std::vector<std::string>& texts) {
  const std::vector<Axis> axes = axes_of(texts);
  // The program prints what it prints once, not once for each point.
  Run now = run;
  const auto at = [&](const std::vector<std::string>& values) {
    result::Result result = study_result(with(now, study, variant_of(axes, values)), call);
    now.mute = true;
    return result;
  };
  return sweep_points({axes, "cache-sweep", "simulating", at, is_row,
                       [](const std::vector<SweptPoint>&) { return hits_and_misses(); }},
                      run.output);
}

namespace {

// A result file, another kernel, or settings.
result::Result variant_of(const Run& run, const cache::Options& study, const Call& call,
                          const std::string& text) {
  if (text.ends_with(".json")) return result::read_result_file(text);
  if (text.find('=') == std::string::npos) {
    // Another version takes the place of the first argument.
    Call other = call;
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
  return study_result(with(run, study, variant), call);
}

struct ComparedRow {
  const char *metric, *label;
  std::optional<double> a, b;

  std::string change() const {
    if (a && b && *a != 0) return fmt::format("{:+.1f} %", (*b / *a - 1) * 100);
    return a && b && *a == *b ? "+0.0 %" : "";
  }
};

// What tells two variants apart: "l1.write_policy=write_back" and "...=write_evict" differ at their ends, so
// the settings that both have go first, then what is before the last differing value.
std::pair<std::string, std::string> heads_of(std::string a, std::string b) {
  constexpr std::size_t width = 22;
  const auto setting = [](const std::string& text) { return text.find('=') != std::string::npos; };
  if (std::max(a.size(), b.size()) > width && setting(a) && setting(b)) {
    std::size_t same = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i)
      if (a[i] == '=' || a[i] == ',') same = i + 1;
    a.erase(0, same), b.erase(0, same);
  }
  return {report::shortened(a, width), report::shortened(b, width)};
}

Outcome compared_outcome(const result::Metrics& first, const result::Metrics& second, const std::string& a,
                         const std::string& b, OutputOptions output) {
  const auto rows = std::make_shared<std::vector<ComparedRow>>();
  for (const auto& [metric, label] : compared)
    if (const auto x = first.get(metric), y = second.get(metric); x || y)
      rows->push_back({metric, label, x, y});
  Outcome out;
  out.output = std::move(output);
  out.text = [rows, a, b](const report::Style& style) {
    const auto [first, second] = heads_of(a, b);
    std::string text =
        report::painted(fmt::format("{:<28} {:>22} {:>22} {:>10}\n", "", first, second, "change"),
                        report::Paint::bold, style);
    for (const ComparedRow& r : *rows)
      text += fmt::format("{:<28} {:>22} {:>22} {:>10}\n", r.label, shown_value(r.metric, r.a),
                          shown_value(r.metric, r.b), r.change());
    return text;
  };
  out.csv = [rows] {
    std::string csv = "metric,a,b\n";
    for (const ComparedRow& r : *rows)
      csv += fmt::format("{},{},{}\n", r.metric, r.a ? fmt::format("{}", *r.a) : "",
                         r.b ? fmt::format("{}", *r.b) : "");
    return csv;
  };
  out.json = [rows, a, b] {
    Json document = {{"schema", result::json_schema}, {"a", a}, {"b", b}, {"metrics", Json::object()}};
    for (const ComparedRow& r : *rows)
      document["metrics"][r.metric] = {{"a", r.a ? Json(*r.a) : Json()}, {"b", r.b ? Json(*r.b) : Json()}};
    return dumped(document);
  };
  return out;
}

}  // namespace

Outcome compare_studies(const Run& run, const cache::Options& study, const Call& call, const std::string& a,
                        const std::string& b) {
  OutputOptions output = run.output;
  check_outputs(output);
  const auto both = [&] {
    Progress progress("simulating", output);
    progress.at("the first of two variants");
    result::Result one = variant_of(run, study, call, a);
    progress.at("the second of two variants");
    Run second = run;
    // Under two settings one program runs twice, and prints what it prints once.
    const bool settings = a.find('=') != std::string::npos && b.find('=') != std::string::npos;
    second.mute = second.mute || settings;
    return std::pair(std::move(one), variant_of(second, study, call, b));
  };
  const auto [first, second] = both();
  for (const auto& [r, name] : {std::pair{&first, &a}, {&second, &b}})
    if (r->manifest.mode != "cache")
      throw Error(ExitCode::bad_input, "cache-compare",
                  fmt::format("{} is no result of a cache study", shown(*name)),
                  "simtlab cache ... --json=FILE writes one");
  return compared_outcome(first.total, second.total, a, b, std::move(output));
}

}  // namespace simtlab::studies

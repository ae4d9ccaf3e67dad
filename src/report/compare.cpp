#include "report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "report/compare_why.h"
#include "report/format.h"
#include "result/totals.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Metrics;
using result::Result;

std::string shown_name(const KernelResult& k) { return k.demangled.empty() ? k.name : k.demangled; }

// What is compared where nobody says: the first that both have.
std::string headline(const Result& a, const Result& b, const std::string& wanted) {
  if (!wanted.empty()) {
    if (a.total.get(wanted) && b.total.get(wanted)) return wanted;
    throw Error(ExitCode::bad_input, "compare-metric",
                fmt::format("not both results have '{}' in their totals", printable(wanted.substr(0, 100))),
                "`simtlab report RESULT --all` lists what a result has");
  }
  for (const char* metric :
       {"gpu.time", "dram.time", "predict.throughput.time", "predict.resios.time", "predict.mwp-cwp.time",
        "predict.roofline.time", "corun.stp.turnaround", "l1.read.misses", "validate.error.median",
        "gpu.instructions.warp", "probe.points"})
    if (result::find_metric(metric) != nullptr && a.total.get(metric) && b.total.get(metric)) return metric;
  // Anything is better than nothing: the first metric of both that is not the host's.
  for (const Metrics::Value& v : a.total.values())
    if (!v.name.starts_with("host.") && b.total.get(v.name)) return v.name;
  throw Error(ExitCode::bad_input, "compare-metric", "the results have no metric in common",
              "compare results of the same command");
}

std::vector<ComparedText> configuration_by_key(const result::Manifest& a, const result::Manifest& b) {
  std::vector<ComparedText> out;
  const auto text = [&](const char* key, const std::string& x, const std::string& y) {
    if (x != y) out.push_back({key, x, y, ""});
  };
  text("mode", a.mode, b.mode);
  text("device", a.device, b.device);
  text("version", a.tool_version, b.tool_version);
  std::map<std::string, const result::ConfigValue*> before;
  for (const result::ConfigValue& c : a.configuration) before[c.key] = &c;
  std::set<std::string> seen;
  for (const result::ConfigValue& c : b.configuration) {
    seen.insert(c.key);
    const auto found = before.find(c.key);
    if (found == before.end())
      out.push_back({c.key, "", c.value, c.origin});
    else if (found->second->value != c.value)
      out.push_back({c.key, found->second->value, c.value, c.origin});
  }
  for (const result::ConfigValue& c : a.configuration)
    if (!seen.contains(c.key)) out.push_back({c.key, c.value, "", c.origin});
  std::map<std::string, std::string> inputs;
  for (const result::InputHash& i : a.inputs) inputs[i.path] = i.xxh64;
  for (const result::InputHash& i : b.inputs) {
    const auto found = inputs.find(i.path);
    if (found == inputs.end() || found->second != i.xxh64)
      out.push_back({"input " + i.path, found == inputs.end() ? "" : found->second, i.xxh64, ""});
    inputs.erase(i.path);
  }
  for (const auto& [path, hash] : inputs) out.push_back({"input " + path, hash, "", ""});
  return out;
}

std::vector<ComparedValue> differences(const Metrics& a, const Metrics& b) {
  std::vector<ComparedValue> out;
  for (const Metrics::Value& v : a.values()) {
    const auto after = b.get(v.name);
    if (!v.name.starts_with("host.") && after != a.get(v.name))
      out.push_back({v.name, std::string(result::find_metric(v.name)->unit), a.get(v.name), after});
  }
  for (const Metrics::Value& v : b.values())
    if (!v.name.starts_with("host.") && !a.get(v.name))
      out.push_back({v.name, std::string(result::find_metric(v.name)->unit), std::nullopt, b.get(v.name)});
  return out;
}

// Time by what schedulers did; the parts add up to the time.
std::vector<ComparedValue> parts(const Metrics& a, const Metrics& b, double before, double after) {
  std::map<std::string, ComparedValue> all;
  for (const Metrics::Value& v : a.values())
    if (v.name.starts_with("stall.")) all[v.name].before = *a.get(v.name) * before;
  for (const Metrics::Value& v : b.values())
    if (v.name.starts_with("stall.")) all[v.name].after = *b.get(v.name) * after;
  std::vector<ComparedValue> out;
  for (auto& [name, value] : all) {
    value.name = name.substr(6);
    value.unit = "ns";
    if (value.before.value_or(0) != value.after.value_or(0)) out.push_back(value);
  }
  const auto size = [](const ComparedValue& v) {
    return std::abs(v.after.value_or(0) - v.before.value_or(0));
  };
  std::ranges::stable_sort(out,
                           [&](const ComparedValue& x, const ComparedValue& y) { return size(x) > size(y); });
  return out;
}

// Of a single launch everything is known, of several only what has a mean.
std::vector<KernelResult> by_name(const std::vector<KernelResult>& all) {
  std::vector<KernelResult> out = result::merge_by_name(all);
  for (KernelResult& k : out)
    if (std::ranges::count(all, k.name, &KernelResult::name) == 1)
      k = *std::ranges::find(all, k.name, &KernelResult::name);
  return out;
}

ComparedKernel compared(const KernelResult& a, const KernelResult& b) {
  ComparedKernel out;
  out.name = shown_name(b);
  out.before = a.metrics.get("gpu.time").value_or(0);
  out.after = b.metrics.get("gpu.time").value_or(0);
  out.parts = parts(a.metrics, b.metrics, out.before, out.after);
  out.metrics = differences(a.metrics, b.metrics);
  out.why = why(a, b, out);
  return out;
}

}  // namespace

Comparison compare(const Result& before, const Result& after, const std::string& metric) {
  Comparison out;
  out.metric = headline(before, after, metric);
  out.unit = result::find_metric(out.metric)->unit;
  out.before = *before.total.get(out.metric);
  out.after = *after.total.get(out.metric);
  out.configuration = configuration_by_key(before.manifest, after.manifest);
  out.total = differences(before.total, after.total);
  const std::vector<KernelResult> a = by_name(before.kernels), b = by_name(after.kernels);
  for (const KernelResult& k : b) {
    const auto found = std::ranges::find(a, k.name, &KernelResult::name);
    if (found == a.end())
      out.only_after.push_back(shown_name(k));
    else
      out.kernels.push_back(compared(*found, k));
  }
  for (const KernelResult& k : a)
    if (std::ranges::find(b, k.name, &KernelResult::name) == b.end())
      out.only_before.push_back(shown_name(k));
  std::ranges::stable_sort(out.kernels, [](const ComparedKernel& x, const ComparedKernel& y) {
    return std::max(x.before, x.after) > std::max(y.before, y.after);
  });
  return out;
}

}  // namespace simtlab::report

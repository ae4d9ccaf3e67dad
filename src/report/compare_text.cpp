// How a comparison is printed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/compare.h"
#include "report/compare_why.h"
#include "report/format.h"
#include "result/json.h"

namespace simtlab::report {
namespace {

constexpr std::size_t settings_shown = 12, changes_shown = 5, parts_shown = 6;

class ComparisonWriter {
 public:
  ComparisonWriter(const Comparison& comparison, const TextOptions& options)
      : c_(comparison), options_(options), width_(std::max(options.style.width, 60u)) {}

  std::string run() {
    head();
    configuration();
    std::size_t shown = 0;
    for (const ComparedKernel& k : c_.kernels) {
      if (shown++ == changes_shown && !options_.all) {
        line(fmt::format("\n{} more kernels; --all prints them", c_.kernels.size() - changes_shown));
        break;
      }
      kernel(k);
    }
    for (const std::string& name : c_.only_before)
      line("only in the first: " + shortened(printable(name), width_ - 20));
    for (const std::string& name : c_.only_after)
      line("only in the second: " + shortened(printable(name), width_ - 20));
    if (options_.all) values("Total", c_.total);
    return out_;
  }

 private:
  void line(std::string_view text) { out_ += fmt::format("{}\n", text); }
  std::string bold(std::string_view text) const { return painted(text, Paint::bold, options_.style); }

  std::string direction(double before, double after) const {
    const bool time = c_.unit == "ns";
    if (before == after || before <= 0 || after <= 0 || !time) return change_text(before, after);
    return after < before
               ? painted(fmt::format("{:.2f}x as fast", before / after), Paint::good, options_.style)
               : painted(fmt::format("{:.2f}x as long", after / before), Paint::bad, options_.style);
  }
  void head() {
    line(bold(fmt::format("{}: {} -> {}, {}", c_.metric, value_text(c_.before, c_.metric, c_.unit),
                          value_text(c_.after, c_.metric, c_.unit), change_text(c_.before, c_.after))) +
         (c_.unit == "ns" && c_.before != c_.after ? " (" + direction(c_.before, c_.after) + ")" : ""));
  }

  void configuration() {
    if (c_.configuration.empty()) {
      line("Configuration and inputs are the same.");
      return;
    }
    line("\n" + bold("What was changed"));
    std::size_t shown = 0;
    for (const ComparedText& t : c_.configuration) {
      if (shown++ == settings_shown && !options_.all) {
        line(fmt::format("  ... {} more; --all prints them", c_.configuration.size() - settings_shown));
        break;
      }
      const auto value = [](const std::string& text) {
        return text.empty() ? std::string("(none)") : shortened(printable(text), 60);
      };
      line(fmt::format("  {}: {} -> {}", shortened(printable(t.key), 60), value(t.before), value(t.after)));
    }
  }

  void kernel(const ComparedKernel& k) {
    line("\n" + bold(shortened(printable(k.name), width_)));
    if (k.before > 0 || k.after > 0)
      line(fmt::format("  {} -> {}, {}", format_time(k.before), format_time(k.after),
                       change_text(k.before, k.after)));
    if (k.metrics.empty()) {
      line("  every metric is the same");
      return;
    }
    for (const std::string& sentence : k.why) line("  - " + wrapped(printable(sentence), width_ - 4, 4));
    if (!k.parts.empty()) {
      line(fmt::format("    {:<20} {:>10} {:>10} {:>11}", "time by slots", "before", "after", "difference"));
      for (std::size_t i = 0; i < k.parts.size() && (options_.all || i < parts_shown); ++i) {
        const double before = k.parts[i].before.value_or(0), after = k.parts[i].after.value_or(0);
        line(fmt::format("    {:<20} {:>10} {:>10} {:>11}", printable(k.parts[i].name), format_time(before),
                         format_time(after),
                         (after < before ? "-" : "+") + format_time(std::abs(after - before))));
      }
    }
    if (options_.all || k.why.empty()) values("  Metrics", k.metrics);
  }

  void values(const char* title, const std::vector<ComparedValue>& list) {
    if (list.empty()) return;
    line(fmt::format("\n{} that differ", title));
    for (const ComparedValue& v : list) {
      const auto text = [&](const std::optional<double>& x) {
        return x ? value_text(*x, v.name, v.unit) : std::string("absent");
      };
      line(fmt::format("    {:<34} {:>14} {:>14}  {}", printable(v.name), text(v.before), text(v.after),
                       v.before && v.after ? change_text(*v.before, *v.after) : ""));
    }
  }

  const Comparison& c_;
  const TextOptions& options_;
  std::size_t width_;
  std::string out_;
};

using result::json_string;

std::string json_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "null";
}

std::string json_values(const std::vector<ComparedValue>& list, std::string_view indent) {
  std::string out = "[";
  for (std::size_t i = 0; i < list.size(); ++i)
    out += fmt::format("{}\n{}  {{\"name\": {}, \"unit\": {}, \"before\": {}, \"after\": {}}}",
                       i == 0 ? "" : ",", indent, json_string(list[i].name), json_string(list[i].unit),
                       json_number(list[i].before), json_number(list[i].after));
  return out + (list.empty() ? "]" : fmt::format("\n{}]", indent));
}

std::string json_names(const std::vector<std::string>& list) {
  std::string out = "[";
  for (std::size_t i = 0; i < list.size(); ++i) out += (i == 0 ? "" : ", ") + json_string(list[i]);
  return out + "]";
}

}  // namespace

std::string compare_text(const Comparison& comparison, const TextOptions& options) {
  return ComparisonWriter(comparison, options).run();
}

std::string compare_json(const Comparison& c) {
  std::string out = fmt::format(
      "{{\n  \"schema\": {},\n  \"metric\": {},\n  \"unit\": {},\n  \"before\": {},\n  \"after\": {},\n  "
      "\"change\": {},\n  \"configuration\": [",
      result::json_schema, json_string(c.metric), json_string(c.unit), c.before, c.after, c.change());
  for (std::size_t i = 0; i < c.configuration.size(); ++i) {
    const ComparedText& t = c.configuration[i];
    out += fmt::format("{}\n    {{\"key\": {}, \"before\": {}, \"after\": {}, \"origin\": {}}}",
                       i == 0 ? "" : ",", json_string(t.key), json_string(t.before), json_string(t.after),
                       json_string(t.origin));
  }
  out += fmt::format("{},\n  \"total\": {},\n  \"kernels\": [", c.configuration.empty() ? "]" : "\n  ]",
                     json_values(c.total, "  "));
  for (std::size_t i = 0; i < c.kernels.size(); ++i) {
    const ComparedKernel& k = c.kernels[i];
    out += fmt::format(
        "{}\n    {{\n      \"name\": {},\n      \"before_ns\": {},\n      \"after_ns\": {},\n      \"why\": "
        "{},\n      \"parts\": {},\n      \"metrics\": {}\n    }}",
        i == 0 ? "" : ",", json_string(k.name), k.before, k.after, json_names(k.why),
        json_values(k.parts, "      "), json_values(k.metrics, "      "));
  }
  return out + fmt::format("{},\n  \"only_before\": {},\n  \"only_after\": {}\n}}\n",
                           c.kernels.empty() ? "]" : "\n  ]", json_names(c.only_before),
                           json_names(c.only_after));
}

}  // namespace simtlab::report

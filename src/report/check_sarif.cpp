// SARIF 2.1.0 (OASIS): what code scanning of GitHub, GitLab and editors read.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/check.h"
#include "report/check_words.h"

namespace simtlab::report {
namespace {

using SarifJson = nlohmann::ordered_json;
using result::Access;
using result::CodePlace;
using result::Finding;

// A reference to a file as RFC 3986 spells it: relative to the run's folder where it is below it.
std::string uri_of(const std::string& file, const result::Result& result) {
  const std::string name = file_words(file, result);
  std::string out = name.starts_with('/') ? "file://" : "";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                       (byte >= 'A' && byte <= 'Z') || std::string_view("-._~/").find(c) != std::string::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

SarifJson message(std::string_view text) { return {{"text", shown_lines(text, text.size() + 1)}}; }

class SarifWriter {
 public:
  explicit SarifWriter(const CheckReport& report) : r_(report) {}

  std::string run() const {
    SarifJson run;
    run["tool"]["driver"] = driver();
    run["columnKind"] = "unicodeCodePoints";
    run["invocations"] = SarifJson::array({invocation()});
    run["results"] = SarifJson::array();
    for (std::size_t i = 0; i < r_.check().findings.size(); ++i) run["results"].push_back(result(i));
    SarifJson log;
    log["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
    log["version"] = "2.1.0";
    log["runs"] = SarifJson::array({run});
    return log.dump(1, ' ', false, SarifJson::error_handler_t::replace) + "\n";
  }

 private:
  SarifJson driver() const {
    SarifJson out;
    out["name"] = "simtlab check";
    if (!r_.result.manifest.tool_version.empty()) out["version"] = r_.result.manifest.tool_version;
    out["rules"] = SarifJson::array();
    for (const result::FindingRule& rule : result::finding_rules()) {
      SarifJson one;
      one["id"] = rule.id;
      one["shortDescription"] = message(rule.title);
      one["fullDescription"] = message(rule.help);
      one["help"] = message(rule.help);
      one["defaultConfiguration"]["level"] = level_name(rule.level);
      one["properties"]["tags"] = SarifJson::array({std::string(rule.check)});
      out["rules"].push_back(one);
    }
    return out;
  }

  SarifJson invocation() const {
    const result::Manifest& m = r_.result.manifest;
    SarifJson out;
    out["executionSuccessful"] = m.failure.empty() && !m.interrupted;
    if (!m.command_line.empty()) out["commandLine"] = shown_lines(m.command_line, m.command_line.size() + 1);
    if (!m.start_time.empty()) out["startTimeUtc"] = m.start_time;
    for (const std::string& gap : r_.check().gaps)
      out["toolExecutionNotifications"].push_back(
          {{"level", "note"}, {"message", message("Not checked: " + gap)}});
    for (const std::string& warning : r_.warnings)
      out["toolConfigurationNotifications"].push_back({{"level", "warning"}, {"message", message(warning)}});
    return out;
  }

  SarifJson location(const CodePlace& p) const {
    SarifJson out;
    if (!p.file.empty()) {
      out["physicalLocation"]["artifactLocation"]["uri"] = uri_of(p.file, r_.result);
      if (p.line != 0) {
        SarifJson& region = out["physicalLocation"]["region"];
        region["startLine"] = p.line;
        if (p.column != 0) region["startColumn"] = p.column;
        if (!p.text.empty()) region["snippet"] = message(p.text);
      }
    }
    const std::string function = p.function.empty() ? p.kernel : p.function;
    if (!function.empty()) {
      SarifJson logical{{"name", printable(function)}, {"kind", "function"}};
      if (!p.kernel.empty() && p.kernel != function)
        logical["fullyQualifiedName"] = printable(p.kernel + " > " + function);
      out["logicalLocations"] = SarifJson::array({logical});
    }
    return out;
  }

  // Code scanning refuses a result without a file: one that has no place is the program's.
  SarifJson first_location(const Finding& f) const {
    SarifJson out = f.accesses.empty() ? SarifJson() : location(f.accesses.front().place);
    const auto& inputs = r_.result.manifest.inputs;
    if (!out.contains("physicalLocation") && !inputs.empty())
      out["physicalLocation"]["artifactLocation"]["uri"] = uri_of(inputs.front().path, r_.result);
    return out;
  }

  SarifJson told_location(const Access& a) const {
    SarifJson out = location(a.place);
    out["message"] = message(access_words(a));
    return out;
  }

  // Both accesses, each in a flow of its own thread: what an editor steps through.
  SarifJson flow(const Finding& f) const {
    SarifJson out;
    out["threadFlows"] = SarifJson::array();
    for (const Access& a : f.accesses) {
      SarifJson thread;
      if (a.launch != 0)
        thread["id"] =
            fmt::format("launch {}, block {}, thread {}", a.launch, triple(a.block), triple(a.thread));
      thread["locations"] = SarifJson::array({SarifJson{{"location", told_location(a)}}});
      out["threadFlows"].push_back(thread);
    }
    return out;
  }

  SarifJson result(std::size_t i) const {
    const Finding& f = r_.check().findings[i];
    const Judgement& judgement = r_.judgements[i];
    const auto& rules = result::finding_rules();
    const auto rule = std::ranges::find(rules, f.rule, &result::FindingRule::id);
    SarifJson out;
    out["ruleId"] = f.rule;
    if (rule != rules.end()) out["ruleIndex"] = rule - rules.begin();
    out["level"] = level_name(f.level);
    out["message"] = message(finding_paragraph(f, r_.result));
    out["locations"] = SarifJson::array();
    if (SarifJson first = first_location(f); !first.empty()) out["locations"].push_back(std::move(first));
    for (std::size_t k = 1; k < f.accesses.size(); ++k) {
      SarifJson other = told_location(f.accesses[k]);
      other["id"] = k;
      out["relatedLocations"].push_back(other);
    }
    if (f.accesses.size() > 1) out["codeFlows"] = SarifJson::array({flow(f)});
    if (!judgement.fingerprint.empty())
      out["partialFingerprints"]["simtlabFinding/v1"] = judgement.fingerprint;
    if (r_.has_baseline) out["baselineState"] = judgement.standing == Standing::known ? "unchanged" : "new";
    out["suppressions"] = SarifJson::array();
    if (judgement.standing == Standing::suppressed)
      out["suppressions"].push_back({{"kind", "external"}, {"justification", printable(judgement.reason)}});
    out["occurrenceCount"] = std::clamp<std::uint64_t>(f.count, 1, 0x7fffffff);
    SarifJson properties;
    for (const auto& [name, text] : {std::pair{"memory", &f.memory}, std::pair{"missing", &f.missing},
                                     std::pair{"tried", &f.mend}, std::pair{"order", &f.order}})
      if (!text->empty()) properties[name] = printable(*text);
    if (!properties.empty()) out["properties"] = properties;
    return out;
  }

  const CheckReport& r_;
};

}  // namespace

std::string check_sarif(const CheckReport& report) { return SarifWriter(report).run(); }

}  // namespace simtlab::report

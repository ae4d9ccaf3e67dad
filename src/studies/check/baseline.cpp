#include "studies/check/baseline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/toml_reader.h"
#include "report/check_words.h"
#include "result/json.h"

namespace simtlab::studies {
namespace {

constexpr std::uint64_t most_baseline_bytes = std::uint64_t{64} << 20;
constexpr TomlText::Form baseline_form{"check-baseline", "toml-syntax",
                                       "a file that `simtlab check --write-baseline` wrote", 1 << 16};

bool is_fingerprint(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon == 16 && text.substr(0, colon).find_first_not_of("0123456789abcdef") == text.npos &&
         colon + 1 < text.size() && text.substr(colon + 1).find_first_not_of("0123456789") == text.npos;
}

}  // namespace

std::set<std::string> baseline_from(std::string_view text, const std::string& file) {
  const TomlText source(text, file, baseline_form);
  const toml::table root = parse(source);
  check_keys(source, root, {"finding"}, "baseline");
  std::set<std::string> out;
  const toml::node* list = root.get("finding");
  if (list == nullptr) return out;
  if (list->as_array() == nullptr) fail_at(source, *list, "no [[finding]]");
  for (const toml::node& node : *list->as_array()) {
    const toml::table* t = node.as_table();
    if (t == nullptr) fail_at(source, node, "a finding is no table");
    check_keys(source, *t, {"fingerprint", "rule", "kernel", "place", "message"}, "finding");
    const toml::node* print = t->get("fingerprint");
    const auto* words = print == nullptr ? nullptr : print->as_string();
    if (words == nullptr || !is_fingerprint(words->get()))
      fail_at(source, node, "a finding has no fingerprint", "for example \"0123456789abcdef:1\"");
    out.insert(words->get());
  }
  return out;
}

std::set<std::string> read_baseline(const std::string& file) {
  return baseline_from(read_file(file, most_baseline_bytes, "baseline"), file);
}

std::string baseline_of(const report::CheckReport& report) {
  std::vector<std::string> entries;
  const auto& findings = report.check().findings;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (report.judgements[i].standing == report::Standing::suppressed) continue;
    const result::Finding& f = findings[i];
    std::string entry = fmt::format("[[finding]]\nrule = {}\n", result::json_string(f.rule));
    if (!f.accesses.empty()) {
      const result::CodePlace& p = f.accesses.front().place;
      if (!p.kernel.empty()) entry += fmt::format("kernel = {}\n", result::json_string(p.kernel));
      // Without its line: it changes with every edit above it.
      if (!p.file.empty())
        entry += fmt::format("place = {}\n", result::json_string(report::file_words(p.file, report.result) +
                                                                 (p.text.empty() ? "" : ": " + p.text)));
    } else {
      entry += fmt::format("message = {}\n", result::json_string(f.message));
    }
    entries.push_back(entry + fmt::format("fingerprint = \"{}\"\n", report.judgements[i].fingerprint));
  }
  std::ranges::sort(entries);
  std::string out = "# Findings that are known: `simtlab check --baseline FILE` fails for new ones only.\n";
  for (const std::string& entry : entries) out += "\n" + entry;
  return out;
}

}  // namespace simtlab::studies

#include "studies/check/suppressions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/toml_reader.h"
#include "studies/check/glob.h"

namespace simtlab::studies {
namespace {

constexpr TomlText::Form suppression_form{"check-suppression", "toml-syntax",
                                          "docs/guide/check.md describes the file", 1 << 16};

bool any_rule_matches(const std::string& pattern) {
  return std::ranges::any_of(result::finding_rules(),
                             [&](const result::FindingRule& rule) { return glob_matches(pattern, rule.id); });
}

std::string nearest_rule(const std::string& pattern) {
  std::vector<std::string> ids;
  for (const result::FindingRule& rule : result::finding_rules()) ids.emplace_back(rule.id);
  const std::string near = nearest_name(pattern, ids);
  return near.empty() ? "`simtlab list checks` names the rules" : fmt::format("did you mean '{}'?", near);
}

class SuppressionReader {
 public:
  SuppressionReader(std::string_view text, const std::string& file) : source_(text, file, suppression_form) {}

  std::vector<Suppression> read() {
    const toml::table root = parse(source_);
    check_keys(source_, root, {"suppression"}, "suppression file");
    const toml::node* list = root.get("suppression");
    if (list == nullptr) return {};
    if (list->as_array() == nullptr) fail_at(source_, *list, "no [[suppression]]", "write [[suppression]]");
    std::vector<Suppression> out;
    for (const toml::node& one : *list->as_array()) out.push_back(suppression(one));
    return out;
  }

 private:
  Suppression suppression(const toml::node& node) {
    const toml::table* t = node.as_table();
    if (t == nullptr) fail_at(source_, node, "a suppression is no table", "write [[suppression]]");
    check_keys(source_, *t, {"rule", "kernel", "file", "line", "text", "reason"}, "suppression");
    Suppression out;
    out.from = fmt::format("{}:{}", source_.file(), node.source().begin.line);
    if (std::string rule = text(*t, "rule"); !rule.empty()) {
      if (!any_rule_matches(rule))
        fail_at(source_, *t->get("rule"), fmt::format("there is no rule '{}'", rule), nearest_rule(rule));
      out.rules.push_back(std::move(rule));
    }
    out.kernel = text(*t, "kernel"), out.file = text(*t, "file"), out.text = text(*t, "text");
    out.reason = text(*t, "reason");
    if (const toml::node* n = t->get("line")) {
      const auto* number = n->as_integer();
      if (number == nullptr || number->get() < 1 || number->get() > 0x7fffffff)
        fail_at(source_, *n, "'line' is no line number");
      out.line = static_cast<std::uint32_t>(number->get());
    }
    if (out.reason.empty())
      fail_at(source_, node, "a suppression has no 'reason'", "say why it may stay: reason = \"...\"");
    if (out.rules.empty() && out.kernel.empty() && out.file.empty() && out.text.empty())
      fail_at(source_, node, "a suppression names neither rule, kernel, file nor text",
              "it would silence everything");
    return out;
  }

  std::string text(const toml::table& t, const char* key) const {
    const toml::node* n = t.get(key);
    if (n == nullptr) return {};
    const auto* s = n->as_string();
    if (s == nullptr || s->get().empty())
      fail_at(source_, *n, fmt::format("'{}' is no text", key), "put it into quotation marks");
    return s->get();
  }

  TomlText source_;
};

bool access_fits(const Suppression& s, const result::CodePlace& p, const std::string& folder) {
  if (!s.kernel.empty() && !glob_matches(s.kernel, p.kernel) && !glob_matches(s.kernel, p.function) &&
      !glob_matches(s.kernel, p.kernel.substr(0, p.kernel.find('('))) &&
      !glob_matches(s.kernel, p.function.substr(0, p.function.find('('))))
    return false;
  if (!s.file.empty() && !glob_names_file(s.file, p.file, folder)) return false;
  if (s.line != 0 && s.line != p.line) return false;
  return s.text.empty() || p.text.find(s.text) != std::string::npos;
}

}  // namespace

std::vector<Suppression> suppressions_from(std::string_view text, const std::string& file) {
  return SuppressionReader(text, file).read();
}

bool suppresses(const Suppression& s, const result::Finding& f, const std::string& folder) {
  if (!s.rules.empty() &&
      std::ranges::none_of(s.rules, [&](const std::string& rule) { return glob_matches(rule, f.rule); }))
    return false;
  if (s.kernel.empty() && s.file.empty() && s.text.empty() && s.line == 0) return true;
  return std::ranges::any_of(f.accesses,
                             [&](const result::Access& a) { return access_fits(s, a.place, folder); });
}

}  // namespace simtlab::studies

// JUnit's XML: a test case a kernel and check, so that any CI system lists what was looked at.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/check.h"
#include "report/check_words.h"

namespace simtlab::report {
namespace {

constexpr const char* host_case = "(program)";  // findings of no kernel

struct TestCase {
  std::vector<std::size_t> failing, told, put_aside;
};

// By kernel, then check, as both are listed.
class Cases {
 public:
  explicit Cases(const CheckReport& report) : r_(report) {
    kernels_ = checked_kernels(report.result);
    kernels_.emplace_back(host_case);
    checks_ = report.check().checks;
    std::erase(checks_, "coverage");  // is no test
    for (std::size_t i = 0; i < report.check().findings.size(); ++i) put(i);
  }

  std::string run() const {
    std::string body;
    std::size_t tests = 0, failures = 0, skipped = 0;
    for (const std::string& kernel : kernels_)
      for (const std::string& check : checks_) {
        const auto found = cases_.find({kernel, check});
        const bool of_program = check == "leaks" || check == "api";
        if (found == cases_.end() && (kernel == host_case) != of_program) continue;
        const TestCase none, &one = found == cases_.end() ? none : found->second;
        ++tests;
        failures += !one.failing.empty();
        skipped += one.failing.empty() && !one.put_aside.empty();
        body += test_case(kernel, check, one);
      }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"simtlab check\" tests=\"{0}\" failures=\"{1}\" errors=\"0\" skipped=\"{2}\">\n"
        "  <testsuite name=\"simtlab check\" tests=\"{0}\" failures=\"{1}\" errors=\"0\" skipped=\"{2}\" "
        "time=\"{3:.3f}\"{4}>\n{5}{6}  </testsuite>\n</testsuites>\n",
        tests, failures, skipped, r_.result.manifest.wall_seconds,
        r_.result.manifest.start_time.empty()
            ? std::string()
            : fmt::format(" timestamp=\"{}\"", xml_escaped(r_.result.manifest.start_time)),
        body, gaps());
  }

 private:
  void put(std::size_t i) {
    const result::Finding& f = r_.check().findings[i];
    const std::string check = check_of(f).empty() ? "other" : check_of(f);
    if (std::ranges::find(checks_, check) == checks_.end()) checks_.push_back(check);
    const bool host = f.accesses.empty() || f.accesses.front().place.kernel.empty();
    TestCase& one = cases_[{host ? host_case : f.accesses.front().place.kernel, check}];
    if (fails(r_, i))
      one.failing.push_back(i);
    else if (r_.judgements[i].standing == Standing::open)
      one.told.push_back(i);
    else
      one.put_aside.push_back(i);
  }

  std::string words(std::size_t i) const { return finding_paragraph(r_.check().findings[i], r_.result); }

  std::string test_case(const std::string& kernel, const std::string& check, const TestCase& one) const {
    std::string out = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\"",
                                  xml_escaped(kernel), xml_escaped(check));
    if (one.failing.empty() && one.told.empty() && one.put_aside.empty()) return out + "/>\n";
    out += ">\n";
    for (const std::size_t i : one.failing) {
      const result::Finding& f = r_.check().findings[i];
      out += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n", xml_escaped(f.rule),
                         xml_escaped(f.message), xml_escaped(words(i)));
    }
    if (one.failing.empty() && !one.put_aside.empty()) {
      const Judgement& j = r_.judgements[one.put_aside.front()];
      out += fmt::format(
          "      <skipped message=\"{}\"/>\n",
          xml_escaped(j.standing == Standing::known ? "known by the baseline" : "suppressed: " + j.reason));
    }
    std::string told;
    for (const std::size_t i : one.told)
      told += fmt::format("{}: {}: {}\n", level_name(r_.check().findings[i].level),
                          r_.check().findings[i].rule, words(i));
    if (!told.empty()) out += fmt::format("      <system-out>{}</system-out>\n", xml_escaped(told));
    return out + "    </testcase>\n";
  }

  std::string gaps() const {
    std::string text;
    for (const std::string& gap : r_.check().gaps) text += fmt::format("not checked: {}\n", gap);
    return text.empty() ? text : fmt::format("    <system-out>{}</system-out>\n", xml_escaped(text));
  }

  const CheckReport& r_;
  std::vector<std::string> kernels_, checks_;
  std::map<std::pair<std::string, std::string>, TestCase> cases_;
};

}  // namespace

std::string check_junit(const CheckReport& report) { return Cases(report).run(); }

}  // namespace simtlab::report

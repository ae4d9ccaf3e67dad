// Whatever stands in a result, no printer hands a terminal a character that it would obey.
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "report/compare.h"
#include "report/evidence.h"
#include "report/export.h"
#include "report/report.h"
#include "report/study.h"
#include "result/json.h"

namespace simtlab::report {
namespace {

using result::Cell;
using result::KernelResult;
using result::Result;

// C0, a sequence that sets a terminal's title, DEL, C1 as a character and as a byte, a change of direction, a
// line separator.
const std::string evil =
    "k\x1b]0;x\x07\x7f\r\b\xc2\x9b"
    "31m\x9b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xff,|\"";

std::string where(const std::string& text, std::size_t at) {
  const std::size_t from = at < 60 ? 0 : at - 60;
  return "'" + printable(text.substr(from, 120)) + "' at " + std::to_string(at);
}

// Line ends (and tabs) are the printer's own: those of the foreign text are counted by its other characters.
void expect_harmless(const std::string& text, const std::string& what) {
  for (std::size_t i = 0; i < text.size();) {
    const Utf8 c = utf8_at(text, i);
    ASSERT_NE(c.length, 0u) << what << ": no UTF-8: " << where(text, i);
    const bool end =
        text[i] == '\n' || text[i] == '\t' || (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n');
    ASSERT_TRUE(end || !is_command(c.code)) << what << ": character " << c.code << ": " << where(text, i);
    i += c.length;
  }
}

result::Table hostile_table(const result::TableDeclaration& declaration) {
  result::Table out{std::string(declaration.name), {}};
  for (int row = 0; row < 3; ++row) {
    out.rows.emplace_back();
    for (const result::ColumnDeclaration& c : declaration.columns)
      out.rows.back().push_back(c.unit.empty() ? Cell(evil) : Cell(1.5 + row));
  }
  return out;
}

KernelResult hostile_kernel(bool with_tables) {
  KernelResult k;
  k.name = k.demangled = k.limiter = k.bottleneck = evil;
  k.not_modelled = {evil};
  for (const result::MetricDeclaration& m : result::registry()) {
    std::string name(m.name);
    if (name.ends_with('*')) name.replace(name.size() - 1, 1, evil);
    k.metrics.set(name, 0.5);
  }
  k.metrics.set("stall.long_scoreboard", 0.4);
  k.profile.reasons = {evil, "selected"};
  k.profile.slots = {10, 5};
  k.profile.lines = {{evil, 3, evil, evil, evil, 4, evil, 5, 6, {10, 5}, 1, 2, 3, 4, 5, 600}};
  k.series = {100, {"end", evil}, {{100, 1}, {200, 2}}};
  if (with_tables)
    for (const result::TableDeclaration& t : result::table_registry()) k.tables.push_back(hostile_table(t));
  return k;
}

Result hostile_result(const std::string& mode, bool with_tables) {
  Result r;
  result::Manifest& m = r.manifest;
  m.tool_version = m.command_line = m.working_directory = m.start_time = m.host = m.device = evil;
  m.stopped_at = m.failure = m.failure_id = evil;
  m.mode = mode;
  m.configuration = {
      {evil, evil, evil, evil}, {"l1.replacement", evil, evil, evil}, {"gpu", evil, evil, evil}};
  m.inputs = {{evil, evil}};
  r.kernels = {hostile_kernel(with_tables), hostile_kernel(with_tables)};
  r.kernels[1].name += "2";
  r.kernels[1].demangled += "2";
  r.total = r.kernels[0].metrics;
  return r;
}

const std::vector<std::string> modes = {"timing", "functional", "cache", "memory", "predict",
                                        "probe",  "validation", "corun", "nest",   evil};

TEST(ForeignText, NoPrinterOfAResultLetsItThrough) {
  for (const std::string& mode : modes)
    for (const bool tables : {false, true}) {
      const Result r = hostile_result(mode, tables);
      const std::string of = printable(mode) + (tables ? " with tables" : "");
      TextOptions options;
      options.all = true;
      options.style.unicode = true;
      expect_harmless(text(r, options), "text of " + of);
      options.all = false;
      expect_harmless(text(r, options), "short text of " + of);
      expect_harmless(csv(r), "csv of " + of);
      expect_harmless(markdown(r), "markdown of " + of);
      expect_harmless(result::to_json(r), "json of " + of);
      for (const std::string& sentence : evidence(r.kernels[0], r.manifest.device))
        expect_harmless(sentence, "evidence of " + of);
      for (const Suspect& s : suspects(r.kernels[0])) expect_harmless(s.because, "suspects of " + of);
    }
}

TEST(ForeignText, NoPrinterOfAComparisonLetsItThrough) {
  const Result before = hostile_result("timing", false);
  Result after = before;
  for (result::ConfigValue& c : after.manifest.configuration) c.value += "x";
  after.manifest.inputs[0].xxh64 = "other" + evil;
  after.manifest.device += "x";
  after.kernels[0].metrics.set("gpu.time", 7.0);
  after.kernels[0].limiter += "x";
  after.kernels[1].name = after.kernels[1].demangled = "other" + evil;
  TextOptions options;
  options.all = true;
  const Comparison c = compare(before, after, "gpu.time");
  expect_harmless(compare_text(c, options), "text of a comparison");
  expect_harmless(compare_json(c), "json of a comparison");
}

TEST(ForeignText, NoPrinterOfAStudyLetsItThrough) {
  result::Study s;
  s.name = s.created = s.database = evil;
  s.axes = {evil, evil};
  s.notes = {evil};
  s.metrics = {{evil, evil, result::StudyMetric::Goal::minimise, false},
               {evil, evil, result::StudyMetric::Goal::maximise, true}};
  s.points = {{1, 1, 0, 0, 1, {evil, evil}, "done", 0, "", "", 1, 2, evil, evil, {1, 2}},
              {2, 2, 0, 0, 1, {evil, evil}, "failed", 3, evil, evil, 1, 2, evil, evil, {1, 2}}};
  const auto figures = [](double a, double b) {
    return std::vector{result::figure_of({a, a + 1}), result::figure_of({b})};
  };
  s.combinations = {{1, 2, {evil, evil}, figures(1, 2), true}, {2, 1, {evil, "b"}, figures(3, 4), false}};
  result::StudyComparison beside;
  beside.columns = {evil, "b" + evil}, beside.axes = {1};
  beside.choices = {{{evil}}, {{"b" + evil}}};
  beside.rows = {{evil, 2, {1, 2}, {2, 4}}, {"b" + evil, 2, {1, 2}, {2, 4}}};
  beside.mean = {1, 2}, beside.in_mean = 2;
  s.comparisons = {beside};
  s.effects = {{0, 0, {{evil, 1, 1, 1, 1}, {evil, 1, 2, 2, 2}}, 0.5, 0.5, 0.5}};
  s.done = 1, s.failed = 1;
  StudyTextOptions options;
  options.all = true;
  expect_harmless(study_text(s, options), "text of a study");
  expect_harmless(study_csv(s), "csv of a study");
  expect_harmless(study_markdown(s), "markdown of a study");
  expect_harmless(study_json(s), "json of a study");
  const std::string page = study_html(s);
  expect_harmless(page.substr(page.find("<main")), "page of a study");
}

}  // namespace
}  // namespace simtlab::report

// The report of `simtlab check` for people: each finding with both places, what is missing and what to do.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/check.h"
#include "report/check_words.h"

namespace simtlab::report {
namespace {

using result::Access;
using result::CodePlace;
using result::Finding;

// Lines of files that ran least are named; all of them stand in the forms for machines.
constexpr std::size_t covered_files_shown = 10;

class CheckText {
 public:
  CheckText(const CheckReport& report, const Style& style) : r_(report), style_(style) {}

  std::string run() {
    state();
    for (std::size_t i = 0; i < r_.check().findings.size(); ++i)
      if (r_.judgements[i].standing == Standing::open || r_.all) finding(i);
    coverage();
    for (const std::string& gap : r_.check().gaps)
      line(fmt::format("{}{}", painted("not checked: ", Paint::warn, style_), printable(gap)));
    const CheckCounts counts = counts_of(r_);
    const std::string nothing = nothing_found_words(r_);
    if (!nothing.empty()) line(nothing);
    const bool bad = counts.failing != 0 || too_little_coverage(r_);
    line(painted(summary_words(r_), bad ? Paint::bad : Paint::bold, style_));
    for (const std::string& warning : r_.warnings)
      line(fmt::format("{}{}", painted("warning: ", Paint::warn, style_), printable(warning)));
    return out_;
  }

 private:
  void line(std::string_view text) {
    out_ += text.substr(0, text.find_last_not_of(' ') + 1);
    out_ += '\n';
  }

  // What a run that ended early did not come to was not looked at.
  void state() {
    const result::Manifest& m = r_.result.manifest;
    const char* why = m.interrupted ? "was interrupted" : !m.failure.empty() ? "failed" : nullptr;
    if (why == nullptr) return;
    const std::string id = m.failure_id.empty() ? "" : fmt::format(" ({})", printable(m.failure_id));
    line(painted(fmt::format("INCOMPLETE: the run {}{}; what follows covers what ran until then", why, id),
                 Paint::bad, style_));
  }

  // A long text below its heading.
  void remark(std::string_view heading, const std::string& text) {
    const std::string head = fmt::format("  {:<8} ", fmt::format("{}:", heading));
    line(painted(head, Paint::accent, style_) +
         wrapped(printable(text), std::max<std::size_t>(style_.width, 40) - head.size(), head.size()));
  }

  void finding(std::size_t i) {
    const Finding& f = r_.check().findings[i];
    const Judgement& judgement = r_.judgements[i];
    line(fmt::format("{}: {}",
                     painted(fmt::format("{}: {}", level_name(f.level), printable(f.rule)),
                             f.level == result::Level::error ? Paint::bad : Paint::warn, style_),
                     painted(printable(f.message), Paint::bold, style_)));
    for (std::size_t k = 0; k < f.accesses.size(); ++k) access(f.accesses[k], k == 0 ? "at" : "and");
    for (const auto& [name, text] : remarks(f)) remark(name, text);
    if (judgement.standing == Standing::known) remark("known", "the baseline has it");
    if (judgement.standing == Standing::suppressed)
      remark("suppressed", judgement.reason.empty() ? "no reason was given" : judgement.reason);
    line("");
  }

  void access(const Access& a, const char* word) {
    const CodePlace& p = a.place;
    const std::string place = printable(place_words(p, r_.result));
    if (!place.empty()) line(fmt::format("  {} {}", word, painted(place, Paint::bold, style_)));
    const std::string number = p.line == 0 ? "" : fmt::format("{}", p.line);
    if (!p.text.empty())
      line(fmt::format("  {:>5} | {}", number, shortened(p.text, style_.width - 10)));
    else if (!p.instruction.empty())
      line(fmt::format("        | {}", shortened(p.instruction, style_.width - 10)));
    line(fmt::format("        {}", printable(access_words(a))));
    if (const std::string in = inside(a); !in.empty()) line(fmt::format("        in {}", in));
  }

  // The function and the kernel that it serves.
  static std::string inside(const Access& a) {
    const CodePlace& p = a.place;
    std::string out = printable(p.function.empty() ? p.kernel : p.function);
    if (!p.kernel.empty() && !p.function.empty() && p.kernel != p.function)
      out += ", of kernel " + printable(p.kernel);
    if (!out.empty() && a.launch != 0) out += fmt::format(", launch {}", a.launch);
    return out;
  }

  void coverage() {
    const auto& files = r_.check().coverage;
    if (files.empty()) {
      if (r_.coverage_min > 0) line("coverage: no line of device code is known");
      return;
    }
    const CoverageSum sum = sum_of(files);
    line(fmt::format("coverage: {} of {} lines ran ({} of {}){}", share(sum),
                     files.size() == 1 ? "the" : "all", format_exact(sum.lines_run), format_exact(sum.lines),
                     sum.branches == 0
                         ? std::string()
                         : fmt::format(", {} of {} outcomes of branches", format_exact(sum.branches_run),
                                       format_exact(sum.branches))));
    if (too_little_coverage(r_))
      line(painted(fmt::format("  less than the {:g} % that --coverage-min asks for", r_.coverage_min * 100),
                   Paint::bad, style_));
    std::vector<const result::CoveredFile*> order;
    for (const result::CoveredFile& f : files)
      if (sum_of(f).lines_run < sum_of(f).lines) order.push_back(&f);
    std::ranges::stable_sort(order, {}, [](const result::CoveredFile* f) { return sum_of(*f).share(); });
    for (std::size_t i = 0; i < std::min(order.size(), covered_files_shown); ++i)
      line(fmt::format("  {:>7}  {}  never: line {}", share(sum_of(*order[i])),
                       printable(file_words(order[i]->file, r_.result)), never(*order[i])));
    line("");
  }

  static std::string share(const CoverageSum& sum) { return fmt::format("{:.1f} %", 100 * sum.share()); }

  // "7, 12-14": lines that never ran, those that follow each other as one.
  static std::string never(const result::CoveredFile& file) {
    constexpr std::size_t most = 8;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (file.lines[i].warps != 0) continue;
      const std::uint32_t first = file.lines[i].line;
      while (i + 1 < file.lines.size() && file.lines[i + 1].warps == 0) ++i;
      const std::uint32_t last = file.lines[i].line;
      if (parts.size() == most) return fmt::format("{} ...", fmt::join(parts, ", "));
      parts.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  const CheckReport& r_;
  const Style& style_;
  std::string out_;
};

}  // namespace

std::string check_text(const CheckReport& report, const Style& style) {
  return CheckText(report, style).run();
}

}  // namespace simtlab::report

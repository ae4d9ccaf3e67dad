#include "studies/explain/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/shell.h"
#include "base/shown.h"
#include "device/what_if.h"
#include "report/evidence.h"
#include "report/format.h"
#include "result/json.h"
#include "result/totals.h"
#include "studies/common/progress.h"
#include "studies/explain/rerun.h"
#include "studies/explain/rerun_guard.h"

namespace simtlab::studies {
namespace {

constexpr std::size_t remedies_tried = 3;
constexpr double least_change = 0.005;  // of the time; less is nothing

// One limit lifted: what the model then says.
struct Remedy {
  std::string name, because;
  const device::WhatIfName* what = nullptr;
  const char* metric = "gpu.time";  // that is compared
  double before = 0, after = 0;     // ns
  std::string why_it_loses;         // empty: it does not

  bool measured() const { return before > 0 && after > 0; }
  double saved() const { return measured() ? 1 - after / before : 0; }
  bool gains() const { return saved() >= least_change; }
  bool loses() const { return saved() <= -least_change; }
};

const device::WhatIfName& find_limit(const std::string& name) {
  device::parse_what_if(name);  // says what is wrong with it
  const auto found = std::ranges::find(device::what_ifs(), name, &device::WhatIfName::name);
  if (found == device::what_ifs().end())
    throw Error(ExitCode::bad_input, "what-if", fmt::format("'{}' is no single limit", shown(name, 60)));
  return *found;
}

result::KernelResult pick(const std::vector<result::KernelResult>& all, const std::string& wanted) {
  std::vector<result::KernelResult> kernels = result::merge_by_name(all);
  // Of a single launch everything is known, of several only what has a mean.
  for (result::KernelResult& k : kernels)
    if (std::ranges::count(all, k.name, &result::KernelResult::name) == 1)
      k = *std::ranges::find(all, k.name, &result::KernelResult::name);
  if (kernels.empty())
    throw Error(ExitCode::bad_input, "explain-result", "the result has no kernel to explain");
  if (wanted.empty())
    return *std::ranges::max_element(kernels, {},
                                     [](const auto& k) { return k.metrics.get("gpu.time").value_or(0); });
  std::vector<std::string> names;
  for (const result::KernelResult& k : kernels) {
    if (k.name == wanted || k.demangled == wanted || k.demangled.substr(0, k.demangled.find('(')) == wanted)
      return k;
    names.push_back(k.demangled.substr(0, k.demangled.find('(')));
  }
  const std::string near = nearest_name(wanted.substr(0, 200), names);
  throw Error(ExitCode::usage, "explain-kernel",
              fmt::format("the result has no kernel '{}'", shown(wanted, 100)),
              near.empty() ? "`simtlab report` lists the kernels of a result"
                           : fmt::format("did you mean '{}'?", near));
}

void check_explainable(const result::Result& result) {
  if (result.manifest.mode != "timing")
    throw Error(ExitCode::bad_input, "explain-result",
                fmt::format("a result of mode '{}' has no times to explain", shown(result.manifest.mode, 40)),
                "run it with `simtlab run --json=FILE`");
}

double time_of(const result::Result& r, const result::KernelResult& k, const char* metric) {
  return std::string_view(metric) == "program.time" ? r.total.get(metric).value_or(0)
                                                    : k.metrics.get(metric).value_or(0);
}

std::vector<report::Suspect> chosen(const result::KernelResult& kernel, const ExplainOptions& options) {
  std::vector<report::Suspect> out;
  for (const std::string& name : options.limits)
    out.push_back({std::string(find_limit(name).name), 0, "asked for"});
  if (!out.empty()) return out;
  out = report::suspects(kernel);
  if (out.size() > remedies_tried) out.resize(remedies_tried);
  return out;
}

std::vector<Remedy> try_remedies(const Rerun& rerun, const result::Result& base,
                                 const result::KernelResult& kernel, const ExplainOptions& options) {
  std::vector<Remedy> out;
  for (const report::Suspect& s : chosen(kernel, options)) {
    Remedy r;
    r.name = s.what_if, r.because = s.because, r.what = &find_limit(s.what_if);
    if (r.what->member == &device::WhatIf::zero_launch_cost) r.metric = "program.time";
    const Progress progress("simulating with " + s.what_if, OutputOptions{}, Progress::Stopped::loses);
    const result::Result with = rerun.run(s.what_if, false);
    r.before = time_of(base, kernel, r.metric);
    const result::KernelResult lifted = pick(with.kernels, kernel.name);
    r.after = time_of(with, lifted, r.metric);
    if (r.loses()) r.why_it_loses = report::loss_reason(kernel, lifted);
    out.push_back(std::move(r));
  }
  std::ranges::sort(out, [](const Remedy& a, const Remedy& b) {
    const double more = a.before * b.after, less = b.before * a.after;
    return more != less ? more > less : a.name < b.name;
  });
  return out;
}

std::string gain(const Remedy& r) {
  const std::string after = report::format_time(r.after), before = report::format_time(r.before);
  const char* of = std::string_view(r.metric) == "program.time" ? " for the whole program" : "";
  if (!r.measured()) return "not measured";
  if (r.gains()) return fmt::format("{:.2f}x, {} instead of {}{}", r.before / r.after, after, before, of);
  return r.loses() ? fmt::format("{} instead of {}{}", after, before, of)
                   : fmt::format("nothing: {} as before{}", after, of);
}

// What gains is advice. What does not is no advice: of what loses it is said why.
std::string remedies_text(const std::vector<Remedy>& remedies, std::size_t width,
                          const report::Style& style) {
  std::string gains, losses;
  for (const Remedy& r : remedies) {
    std::string& out = r.loses() ? losses : gains;
    out += fmt::format("  {:<24} {}\n", r.name, gain(r));
    std::string about = fmt::format("{}; tried because {}.", r.what->meaning, r.because);
    if (r.gains()) about += fmt::format(" To come near it: {}.", r.what->remedy);
    if (r.loses()) about += fmt::format(" Why it loses: {}.", r.why_it_loses);
    out += fmt::format("    {}\n", report::wrapped(about, width - 4, 4));
  }
  const auto headed = [&](const char* title, const std::string& text) {
    return text.empty() ? ""
                        : fmt::format("\n{}\n{}", report::painted(title, report::Paint::bold, style), text);
  };
  return headed("What lifting a limit would gain (the model run again without it)", gains) +
         headed("Limits whose lifting makes it slower: no advice", losses);
}

struct Explanation {
  std::string file, kernel;
  std::vector<std::string> evidence;
  std::vector<Remedy> remedies;
  std::string note;
};

std::string text(const Explanation& of, const report::Style& style) {
  std::string out;
  const std::size_t width = std::max(style.width, 60u) - 2;
  for (std::size_t i = 0; i < of.evidence.size(); ++i)
    out += fmt::format("{:>3}. {}\n", i + 1, report::wrapped(of.evidence[i], width - 5, 5));
  out += remedies_text(of.remedies, width, style);
  if (!of.note.empty()) out += "\n" + report::wrapped(of.note, width, 0) + "\n";
  return out;
}

std::string json(const Explanation& of) {
  using result::json_string;
  std::string out =
      fmt::format("{{\n  \"schema\": {},\n  \"result\": {},\n  \"kernel\": {},\n  \"evidence\": [",
                  result::json_schema, json_string(of.file), json_string(of.kernel));
  for (std::size_t i = 0; i < of.evidence.size(); ++i)
    out += fmt::format("{}\n    {}", i == 0 ? "" : ",", json_string(of.evidence[i]));
  out += "\n  ],\n  \"remedies\": [";
  for (std::size_t i = 0; i < of.remedies.size(); ++i) {
    const Remedy& r = of.remedies[i];
    out += fmt::format(
        "{}\n    {{\"what_if\": {}, \"because\": {}, \"remedy\": {}, \"metric\": {}, \"before_ns\": {}, "
        "\"after_ns\": {}{}}}",
        i == 0 ? "" : ",", json_string(r.name), json_string(r.because), json_string(r.what->remedy),
        json_string(r.metric), r.before, r.after,
        r.loses() ? fmt::format(", \"why_it_loses\": {}", json_string(r.why_it_loses)) : "");
  }
  out += of.remedies.empty() ? "]" : "\n  ]";
  if (!of.note.empty()) out += fmt::format(",\n  \"note\": {}", json_string(of.note));
  return out + "\n}\n";
}

// The run again with what the file lacks: lines and waits. Tells if the times are not those of the file.
result::Result observed_again(const Rerun& rerun, const result::Result& result, std::string& note) {
  const Progress progress("simulating again", OutputOptions{}, Progress::Stopped::loses);
  result::Result again = rerun.run({}, true);
  const double before = result.total.get("gpu.cycles").value_or(0),
               now = again.total.get("gpu.cycles").value_or(0);
  if (before != now)
    note += fmt::format(
        "Note: repeated, the run takes {:.0f} cycles, not the {:.0f} of the file (made by version {}); what "
        "is said here is of the repeated run. ",
        now, before, shown(result.manifest.tool_version, 40));
  return again;
}

// What the file alone does not say, and how to learn it.
std::string what_rerun_adds(const Command& tool, const result::Manifest& manifest,
                            const result::KernelResult& kernel, const ExplainOptions& options) {
  std::string out;
  if (kernel.profile.empty())
    out = "Lines and the waits of loads are not in the file: --lines of `simtlab run` records them. ";
  if (repeatable_arguments(tool, unquoted(manifest.command_line)).empty()) return out;
  std::string names;
  const std::vector<report::Suspect> limits = chosen(kernel, options);
  for (const report::Suspect& s : limits) names += (names.empty() ? "" : ", ") + s.what_if;
  if (names.empty()) return out;
  const std::string lasts = time_of_a_run(manifest, true);
  return out + fmt::format(
                   "What lifting a limit would gain ({}) was not tried: --rerun runs the command of the file "
                   "again for each{}. ",
                   names, lasts.empty() ? "" : ", " + lasts);
}

// How often explain will run it: a time for each limit, and one for lines and waits, behind which the
// evidence is complete.
std::string times_of(const result::KernelResult& kernel, const ExplainOptions& options) {
  const bool observe = kernel.profile.empty();
  const std::size_t limits =
      observe && options.limits.empty() ? remedies_tried : chosen(kernel, options).size();
  const std::size_t times = limits + (observe ? 1 : 0);
  if (times == 1) return "once";
  return fmt::format("{}{} times", observe && options.limits.empty() ? "up to " : "", times);
}

Explanation explanation_of(const Command& tool, const std::string& file, const ExplainOptions& options) {
  for (const std::string& name : options.limits) find_limit(name);
  result::Result result = result::read_result_file(file);
  check_explainable(result);
  result::KernelResult kernel = pick(result.kernels, options.kernel);
  std::string note;
  std::vector<Remedy> remedies;
  const bool incomplete = result.manifest.interrupted || !result.manifest.failure.empty();
  const bool run_again = options.rerun || !options.limits.empty();
  if (incomplete)
    note += "The run did not end: the figures cover what ran until then, and lifting limits was not tried. ";
  if (!run_again && !incomplete) note += what_rerun_adds(tool, result.manifest, kernel, options);
  if (run_again && !incomplete) {
    const result::Manifest manifest = result.manifest;
    const Rerun rerun(tool, manifest);
    check_may_run_again(file, manifest, rerun.arguments());
    check_inputs_unchanged(manifest);
    const std::string times = times_of(kernel, options);
    if (times != "0 times") announce_run_again(manifest, rerun.arguments(), times);
    if (kernel.profile.empty()) {
      result = observed_again(rerun, result, note);
      kernel = pick(result.kernels, kernel.name);
    }
    remedies = try_remedies(rerun, result, kernel, options);
    if (remedies.empty())
      note += "The evidence points at no limit that could be lifted; --try NAME tries one. ";
  }
  return {file, kernel.name, report::evidence(kernel, result.manifest.device), std::move(remedies),
          std::move(note)};
}

}  // namespace

Outcome explain_result(const Command& tool, const std::string& file, const ExplainOptions& options) {
  const auto explanation = std::make_shared<const Explanation>(explanation_of(tool, file, options));
  Outcome out;
  out.text = [explanation](const report::Style& style) { return text(*explanation, style); };
  out.json = [explanation] { return json(*explanation); };
  out.text_on_stdout = options.json.empty();
  out.output.json = options.json;
  return out;
}

}  // namespace simtlab::studies

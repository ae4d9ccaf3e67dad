#include "studies/sweep/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/shown.h"
#include "studies/sweep/axis.h"

namespace simtlab::studies::sweep {
namespace {

// Values of all axes but the kernels'.
using Choice = std::vector<std::string>;

class Comparison {
 public:
  Comparison(result::Study& study, const std::vector<std::string>& baseline)
      : s_(study), kernels_(kernel_axis(study)) {
    for (const result::StudyCombination& c : s_.combinations) {
      const Choice choice = choice_of(c);
      if (std::ranges::find(choices_, choice) == choices_.end()) choices_.push_back(choice);
      const std::string kernel = kernel_of(c);
      if (std::ranges::find(names_, kernel) == names_.end()) names_.push_back(kernel);
      found_[{kernel, choice}] = &c;
    }
    base_ = place_of(baseline);
  }

  void fill() {
    if (choices_.size() < 2) return;
    for (std::size_t m = 0; m < s_.metrics.size(); ++m)
      if (!s_.metrics[m].is_axis) s_.comparisons.push_back(of(m));
  }

 private:
  Choice choice_of(const result::StudyCombination& c) const {
    Choice out;
    for (std::size_t a = 0; a < s_.axes.size(); ++a)
      if (a != kernels_) out.push_back(c.values[a]);
    return out;
  }
  std::string kernel_of(const result::StudyCombination& c) const {
    return kernels_ < s_.axes.size() ? c.values[kernels_] : std::string();
  }

  std::size_t place_of(const std::vector<std::string>& baseline) const {
    if (choices_.empty()) return 0;
    Choice wanted = choices_.front();
    for (const std::string& text : baseline) {
      const std::size_t equals = std::min(text.find('='), text.size());
      const std::string axis = text.substr(0, equals);
      std::size_t at = 0, found = s_.axes.size();
      for (std::size_t a = 0; a < s_.axes.size(); ++a) {
        if (a == kernels_) continue;
        if (s_.axes[a] == axis) found = at;
        ++at;
      }
      if (equals == text.size() || found == s_.axes.size())
        throw Error(ExitCode::bad_input, "sweep-baseline",
                    fmt::format("--baseline {}: that is no AXIS=VALUE of this study", shown(text, 60)),
                    fmt::format("its axes: {}", fmt::join(s_.axes, ", ")));
      wanted[found] = text.substr(equals + 1);
    }
    const auto at = std::ranges::find(choices_, wanted);
    if (at == choices_.end())
      throw Error(ExitCode::bad_input, "sweep-baseline",
                  fmt::format("--baseline {}: no point that has ended is that",
                              shown(fmt::format("{}", fmt::join(baseline, " ")), 80)),
                  "choose values that the axes have");
    return static_cast<std::size_t>(at - choices_.begin());
  }

  bool varies(std::size_t i) const {
    return std::ranges::any_of(choices_, [&](const Choice& c) { return c[i] != choices_.front()[i]; });
  }
  // Values of the axes that vary.
  std::string label(const Choice& choice) const {
    std::string out;
    for (std::size_t i = 0; i < choice.size(); ++i)
      if (varies(i)) out += (out.empty() ? "" : " ") + choice[i];
    return out;
  }
  void name_choices(result::StudyComparison& out) const {
    out.choices.resize(choices_.size());
    for (std::size_t a = 0, i = 0; a < s_.axes.size(); ++a) {
      if (a == kernels_) continue;
      if (varies(i)) {
        out.axes.push_back(a);
        for (std::size_t c = 0; c < choices_.size(); ++c)
          out.choices[c].push_back({choices_[c][i], number_of(choices_[c][i]).value_or(result::no_value)});
      }
      ++i;
    }
  }

  double value(const std::string& kernel, const Choice& choice, std::size_t m) const {
    const auto at = found_.find({kernel, choice});
    return at == found_.end() ? result::no_value : at->second->value(m);
  }

  result::StudyComparison of(std::size_t m) const {
    result::StudyComparison out;
    out.metric = m, out.baseline = base_;
    const std::string& name = s_.metrics[m].name;
    out.speed_up = s_.metrics[m].goal == result::StudyMetric::Goal::minimise || name.ends_with(".time") ||
                   name == "gpu.cycles";
    for (const Choice& choice : choices_) out.columns.push_back(label(choice));
    name_choices(out);
    std::vector<double> logs(choices_.size(), 0);
    for (const std::string& kernel : names_) {
      result::StudyComparison::Row row{kernel, value(kernel, choices_[base_], m), {}, {}};
      for (const Choice& choice : choices_) {
        const double here = value(kernel, choice, m);
        const double ratio = out.speed_up ? row.base / here : here / row.base;
        row.values.push_back(here);
        row.ratios.push_back(std::isfinite(ratio) ? ratio : result::no_value);
      }
      const bool whole = std::ranges::all_of(row.ratios, [](double r) { return std::isfinite(r) && r > 0; });
      if (whole) {
        ++out.in_mean;
        for (std::size_t i = 0; i < row.ratios.size(); ++i) logs[i] += std::log(row.ratios[i]);
      }
      out.rows.push_back(std::move(row));
    }
    for (const double sum : logs)
      out.mean.push_back(out.in_mean == 0 ? result::no_value
                                          : std::exp(sum / static_cast<double>(out.in_mean)));
    return out;
  }

  result::Study& s_;
  std::size_t kernels_, base_ = 0;
  std::vector<Choice> choices_;
  std::vector<std::string> names_;  // of the kernels
  std::map<std::pair<std::string, Choice>, const result::StudyCombination*> found_;
};

}  // namespace

std::size_t kernel_axis(const result::Study& study) {
  return static_cast<std::size_t>(std::ranges::find(study.axes, "kernel") - study.axes.begin());
}

void compare_kernels(result::Study& study, const std::vector<std::string>& baseline) {
  study.comparisons.clear();
  if (baseline.empty() && kernel_axis(study) == study.axes.size()) return;
  Comparison(study, baseline).fill();
}

}  // namespace simtlab::studies::sweep

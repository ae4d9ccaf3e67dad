#include "studies/sweep/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/shown.h"
#include "studies/sweep/axis.h"
#include "studies/sweep/comparison.h"

namespace simtlab::studies::sweep {
namespace {

using result::StudyCombination;
using result::StudyEffect;
using result::StudyMetric;
using Goal = StudyMetric::Goal;

// What one looks at first where nothing was said, by command.
constexpr const char* headlines[] = {"gpu.time",          "dram.bandwidth",
                                     "l1.read.miss_rate", "predict.throughput.time",
                                     "corun.stp",         "gpu.instructions.warp"};

std::vector<std::string> list_in(const std::string& text) {
  std::vector<std::string> out;
  const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  if (list.is_array())
    for (const nlohmann::json& one : list)
      if (one.is_string()) out.push_back(one.get<std::string>());
  return out;
}

class Reader {
 public:
  Reader(const Store& store, const Interest& interest) : store_(store), known_(store.metric_names()) {
    out_.name = store.value("name"), out_.created = store.value("created");
    out_.axes = store.axis_names();
    const auto wanted = [&](const std::vector<std::string>& asked, const char* key) {
      return asked.empty() ? list_in(store.value(key)) : asked;
    };
    for (const std::string& name : wanted(interest.minimise, "minimise")) add(name, Goal::minimise);
    for (const std::string& name : wanted(interest.maximise, "maximise")) add(name, Goal::maximise);
    for (const std::string& name : wanted(interest.metrics, "metrics")) add(name, Goal::none);
    if (out_.metrics.empty())
      for (const char* name : headlines)
        if (std::ranges::find(known_, name) != known_.end() && out_.metrics.empty())
          out_.metrics.push_back({name, store.unit_of(name),
                                  std::string_view(name).ends_with("time") ? Goal::minimise : Goal::none,
                                  false});
  }

  result::Study read() {
    const Counts counts = store_.counts();
    out_.pending = counts.pending, out_.running = counts.running, out_.done = counts.done,
    out_.failed = counts.failed;
    store_.each_point([&](const Point& p) {
      out_.points.push_back({p.id, p.combination, p.repeat, p.seed, p.attempts, p.values,
                             std::string(name_of(p.state)), p.exit_code, p.error_id, p.error, p.begun,
                             p.ended, p.host, p.worker,
                             std::vector<double>(out_.metrics.size(), result::no_value)});
      if (p.values.size() != out_.axes.size())
        throw Error(
            ExitCode::bad_input, "sweep-database",
            fmt::format("point {} has {} values for {} axes", p.id, p.values.size(), out_.axes.size()));
    });
    for (std::size_t m = 0; m < out_.metrics.size(); ++m) values_of(m);
    combine();
    for (const std::string& path : store_.changed_inputs())
      out_.notes.push_back(fmt::format(
          "{} changed while the study ran: its points are not all of the same input", shown(path, 100)));
    out_.cluster = !store_.batches(false).empty();
    return std::move(out_);
  }

 private:
  void add(const std::string& name, Goal goal) {
    for (const StudyMetric& m : out_.metrics)
      if (m.name == name) return;
    const bool axis = std::ranges::find(out_.axes, name) != out_.axes.end();
    if (!axis && !known_.empty() && std::ranges::find(known_, name) == known_.end()) {
      std::vector<std::string> names = known_;
      names.insert(names.end(), out_.axes.begin(), out_.axes.end());
      const std::string near = nearest_name(name.substr(0, 200), names);
      throw Error(
          ExitCode::bad_input, "sweep-metric", fmt::format("no point has a metric '{}'", shown(name, 60)),
          near.empty() ? "`simtlab list stats` has the names" : fmt::format("did you mean '{}'?", near));
    }
    out_.metrics.push_back({name, axis ? "" : store_.unit_of(name), goal, axis});
  }

  void values_of(std::size_t m) {
    const StudyMetric& metric = out_.metrics[m];
    if (metric.is_axis) {
      const auto axis =
          static_cast<std::size_t>(std::ranges::find(out_.axes, metric.name) - out_.axes.begin());
      for (result::StudyPoint& p : out_.points)
        if (p.state == "done") p.metrics[m] = number_of(p.values[axis]).value_or(result::no_value);
      return;
    }
    std::size_t at = 0;  // both are in the order of the ids
    store_.each_metric(metric.name, [&](std::uint64_t id, double value) {
      while (at < out_.points.size() && out_.points[at].id < id) ++at;
      if (at < out_.points.size() && out_.points[at].id == id && out_.points[at].state == "done")
        out_.points[at].metrics[m] = value;
    });
  }

  void combine() {
    std::map<std::uint64_t, std::vector<const result::StudyPoint*>> groups;
    for (const result::StudyPoint& p : out_.points)
      if (p.state == "done") groups[p.combination].push_back(&p);
    for (const auto& [number, group] : groups) {
      StudyCombination c{group.front()->id, group.size(), group.front()->values, {}, false};
      for (std::size_t m = 0; m < out_.metrics.size(); ++m) {
        std::vector<double> repeats;
        for (const result::StudyPoint* p : group) repeats.push_back(p->metrics[m]);
        c.figures.push_back(result::figure_of(std::move(repeats)));
      }
      out_.combinations.push_back(std::move(c));
    }
  }

  const Store& store_;
  std::vector<std::string> known_;
  result::Study out_;
};

// The goals of one combination, each the smaller the better; empty: one is missing.
std::vector<double> goals_of(const result::Study& s, const StudyCombination& c) {
  std::vector<double> out;
  for (std::size_t m = 0; m < s.metrics.size(); ++m) {
    if (s.metrics[m].goal == Goal::none) continue;
    if (!std::isfinite(c.value(m))) return {};
    out.push_back(s.metrics[m].goal == Goal::minimise ? c.value(m) : -c.value(m));
  }
  return out;
}

bool at_least_as_good(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b, [](double x, double y) { return x <= y; });
}

constexpr std::size_t most_levels = 8;  // of a range, in parts

struct Sample {
  double x = 0;  // of axes that are numbers
  std::string label;
  double y = 0;
};

// Ranks with ties at their mean.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> out(values.size());
  for (std::size_t i = 0, end = 0; i < order.size(); i = end) {
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) out[order[k]] = static_cast<double>(i + end - 1) / 2;
  }
  return out;
}

double mean_of(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

struct Moments {
  double xx = 0, yy = 0, xy = 0;
};
Moments moments(const std::vector<double>& x, const std::vector<double>& y) {
  const double mx = mean_of(x), my = mean_of(y);
  Moments out;
  for (std::size_t i = 0; i < x.size(); ++i)
    out.xx += (x[i] - mx) * (x[i] - mx), out.yy += (y[i] - my) * (y[i] - my),
        out.xy += (x[i] - mx) * (y[i] - my);
  return out;
}

class EffectOf {
 public:
  EffectOf(std::vector<Sample> samples, bool numeric) : samples_(std::move(samples)), numeric_(numeric) {}

  void fill(StudyEffect& out) {
    if (numeric_) std::ranges::stable_sort(samples_, {}, &Sample::x);
    const std::vector<std::size_t> level = levels();
    std::vector<double> sum, count, low, high;
    double all = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (level[i] >= sum.size()) {
        sum.push_back(0), count.push_back(0), low.push_back(samples_[i].y), high.push_back(samples_[i].y);
        out.levels.push_back({samples_[i].label, 0, 0, 0, 0});
      }
      const std::size_t l = level[i];
      sum[l] += samples_[i].y, ++count[l], all += samples_[i].y;
      low[l] = std::min(low[l], samples_[i].y), high[l] = std::max(high[l], samples_[i].y);
      if (in_parts_ && out.levels[l].count > 0)
        out.levels[l].label = first_label(out.levels[l].label) + " to " + samples_[i].label;
      ++out.levels[l].count;
    }
    const double mean = all / static_cast<double>(samples_.size());
    double between = 0, total = 0;
    for (const Sample& s : samples_) total += (s.y - mean) * (s.y - mean);
    for (std::size_t l = 0; l < sum.size(); ++l) {
      const double m = sum[l] / count[l];
      between += count[l] * (m - mean) * (m - mean);
      out.levels[l].mean = m, out.levels[l].low = low[l], out.levels[l].high = high[l];
    }
    // Of values that are equal but for their last digits nothing is to be explained.
    const bool varies = total > 1e-18 * mean * mean * static_cast<double>(samples_.size()) && total > 0;
    out.share = varies ? std::min(1.0, between / total) : 0;
    if (numeric_ && varies) slopes(out);
  }

 private:
  static std::string first_label(const std::string& text) { return text.substr(0, text.find(" to ")); }

  // Of each sample, counted in the order in which they first occur.
  std::vector<std::size_t> levels() {
    std::map<std::string, std::size_t> of;
    for (const Sample& s : samples_) of.emplace(s.label, of.size());
    std::vector<std::size_t> out;
    in_parts_ = numeric_ && of.size() > 2 * most_levels;
    for (std::size_t i = 0; i < samples_.size(); ++i)
      out.push_back(in_parts_ ? i * most_levels / samples_.size() : of.at(samples_[i].label));
    return out;
  }

  void slopes(StudyEffect& out) const {
    std::vector<double> x, y, log_x, log_y;
    for (const Sample& s : samples_) {
      x.push_back(s.x), y.push_back(s.y);
      if (s.x > 0 && s.y > 0) log_x.push_back(std::log(s.x)), log_y.push_back(std::log(s.y));
    }
    const Moments r = moments(ranks(x), ranks(y));
    if (r.xx > 0 && r.yy > 0) out.rank_correlation = r.xy / std::sqrt(r.xx * r.yy);
    if (log_x.size() != x.size()) return;
    const Moments l = moments(log_x, log_y);
    if (l.xx > 0) out.elasticity = l.xy / l.xx;
  }

  std::vector<Sample> samples_;
  bool numeric_, in_parts_ = false;
};

}  // namespace

result::Study summary(const Store& store, const Interest& interest) {
  result::Study out = Reader(store, interest).read();
  mark_front(out);
  find_effects(out);
  const auto kept = interest.baseline.empty() ? list_in(store.value("baseline")) : interest.baseline;
  compare_kernels(out, kept);
  return out;
}

// Sorted by the first goal a combination can only be beaten by one before it; the front is short, so that is
// fast.
void mark_front(result::Study& study) {
  std::vector<std::pair<std::vector<double>, StudyCombination*>> all;
  for (StudyCombination& c : study.combinations) {
    c.on_front = false;
    std::vector<double> goals = goals_of(study, c);
    if (!goals.empty()) all.emplace_back(std::move(goals), &c);
  }
  std::ranges::stable_sort(all, {},
                           [](const auto& entry) -> const std::vector<double>& { return entry.first; });
  std::vector<const std::vector<double>*> front;
  for (auto& [goals, c] : all) {
    const bool beaten = std::ranges::any_of(
        front, [&](const std::vector<double>* f) { return at_least_as_good(*f, goals) && *f != goals; });
    if (beaten) continue;
    c->on_front = true;
    front.push_back(&goals);
  }
}

namespace {

// The mean of each kernel over all else. Empty: there are no two kernels, nothing else varies, or a kernel
// has nothing to be a multiple of.
std::map<std::string, double> kernel_means(const result::Study& study, std::size_t m) {
  const std::size_t axis = kernel_axis(study);
  if (axis == study.axes.size() || study.axes.size() < 2) return {};
  std::map<std::string, std::vector<double>> values;
  for (const StudyCombination& c : study.combinations)
    if (std::isfinite(c.value(m))) values[c.values[axis]].push_back(c.value(m));
  if (values.size() < 2) return {};
  std::map<std::string, double> out;
  for (const auto& [kernel, list] : values)
    if (!((out[kernel] = mean_of(list)) > 0)) return {};
  return out;
}

}  // namespace

void find_effects(result::Study& study) {
  study.effects.clear();
  for (std::size_t m = 0; m < study.metrics.size(); ++m) {
    if (study.metrics[m].is_axis) continue;
    std::vector<StudyEffect> of_metric;
    const std::map<std::string, double> kernels = kernel_means(study, m);
    for (std::size_t a = 0; a < study.axes.size(); ++a) {
      if (!kernels.empty() && a == kernel_axis(study)) continue;
      std::vector<Sample> samples;
      bool numeric = true;
      for (const StudyCombination& c : study.combinations) {
        if (!std::isfinite(c.value(m))) continue;
        const auto x = number_of(c.values[a]);
        numeric = numeric && x.has_value();
        const double unit = kernels.empty() ? 1 : kernels.at(c.values[kernel_axis(study)]);
        samples.push_back({x.value_or(0), c.values[a], c.value(m) / unit});
      }
      const bool varies =
          std::ranges::any_of(samples, [&](const Sample& s) { return s.label != samples.front().label; });
      if (!varies) continue;
      StudyEffect effect;
      effect.axis = a, effect.metric = m, effect.of_kernel_mean = !kernels.empty();
      EffectOf(std::move(samples), numeric).fill(effect);
      of_metric.push_back(std::move(effect));
    }
    std::ranges::stable_sort(of_metric, std::ranges::greater{}, &StudyEffect::share);
    std::ranges::move(of_metric, std::back_inserter(study.effects));
  }
}

}  // namespace simtlab::studies::sweep

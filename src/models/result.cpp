#include "models/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace simtlab::models {
namespace {

using result::Table;

void set_metrics(result::Metrics& m, const Prediction& p) {
  const auto name = [&](std::string_view rest) {
    return fmt::format("predict.{}.{}", p.model->name(), rest);
  };
  m.set(name("cycles"), p.cycles);
  m.set(name("time"), p.time_ns);
  m.set(name("formula.cycles"), p.evaluation.cycles);
  m.set(name("floor.cycles"), p.floor);
  if (p.evaluation.total_ns > 0) m.set(name("time.total"), p.evaluation.total_ns);
  for (const Benefit& b : p.evaluation.benefits) m.set(name("benefit." + b.name), b.cycles);
}

struct Tables {
  Table predictions{"predictions", {}}, terms{"terms", {}}, sensitivity{"sensitivity", {}},
      hotspots{"hotspots", {}}, remarks{"remarks", {}};

  void add(const Prediction& p) {
    const std::string model(p.model->name());
    const Evaluation& e = p.evaluation;
    predictions.rows.push_back({model, std::string(p.model->title()), p.cycles, p.time_ns, e.which_case,
                                e.limit, e.cycles, p.floor, p.floor_by});
    for (const Term& t : e.terms)
      terms.rows.push_back({model, t.name, t.value, t.unit, std::string(name_of(t.evidence))});
    for (const Sensitivity& s : p.sensitivity)
      sensitivity.rows.push_back(
          {model, s.parameter, s.change, s.other_case ? std::uint64_t{1} : std::uint64_t{0}});
    constexpr std::size_t hotspots_kept = 20;
    for (const Hotspot& h : std::span(e.hotspots).first(std::min(e.hotspots.size(), hotspots_kept)))
      hotspots.rows.push_back(
          {model, h.place, h.op_class, h.insts, h.idle_cycles, h.idle_share, h.own_share});
    for (const std::string& note : e.notes) remarks.rows.push_back({model, note});
  }
};

std::uint32_t as_extent(double value) {
  constexpr double most = std::numeric_limits<std::uint32_t>::max();
  return value >= 1 && value <= most ? static_cast<std::uint32_t>(value) : 1;  // unknown compares false
}

}  // namespace

result::KernelResult to_result(const std::string& name, const Counts& counts,
                               std::span<const Prediction> predictions, std::span<const Skipped> skipped) {
  result::KernelResult k;
  k.name = k.demangled = name;
  k.grid[0] = as_extent(counts.blocks);
  k.block[0] = as_extent(counts.threads_per_block);
  Tables tables;
  for (const Prediction& p : predictions) {
    set_metrics(k.metrics, p);
    tables.add(p);
    for (const std::string_view id : p.model->deviations())
      if (std::ranges::find(k.not_modelled, id) == k.not_modelled.end()) k.not_modelled.emplace_back(id);
  }
  // D-PREDICT-2 before D-PREDICT-10.
  std::ranges::sort(k.not_modelled, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  for (const Skipped& s : skipped) tables.remarks.rows.push_back({s.model, s.reason});
  if (!predictions.empty())
    k.bottleneck =
        fmt::format("{} ({})", predictions.front().evaluation.limit, predictions.front().model->name());
  for (Table* t :
       {&tables.predictions, &tables.terms, &tables.sensitivity, &tables.hotspots, &tables.remarks})
    k.tables.push_back(std::move(*t));
  return k;
}

std::vector<result::ConfigValue> to_configuration(const Inputs& inputs) {
  std::vector<result::ConfigValue> out;
  for (const Symbol& s : symbols()) {
    if (!inputs.has(s.member)) continue;
    const std::string unit = s.unit == "1" ? "" : fmt::format(" {}", s.unit);
    out.push_back({std::string(s.key), fmt::format("{}{}", inputs.counts.*s.member, unit),
                   inputs.source(s.member).text, ""});
  }
  for (std::size_t c = 0; c < device::op_class_names.size(); ++c) {
    if (!(inputs.counts.mix.insts[c] > 0)) continue;
    for (const MixSymbol& s : mix_symbols()) {
      const double value = (inputs.counts.mix.*s.column)[c];
      if (std::isnan(value)) continue;
      const std::string unit = s.unit == "1" ? "" : fmt::format(" {}", s.unit);
      out.push_back({fmt::format("class.{}.{}", device::op_class_names[c], s.key),
                     fmt::format("{}{}", value, unit), inputs.mix_source(s, c).text, ""});
    }
  }
  return out;
}

}  // namespace simtlab::models

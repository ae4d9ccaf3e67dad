#include "predict/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace simtlab::predict {
namespace {

// Rounding apart: where a model meets its own roofline exactly.
constexpr double tolerance = 1e-9;
constexpr double step = 0.10;

double floor_of(const Evaluation& e) { return std::max(e.compute_floor, e.bandwidth_floor); }

bool is_below(const Evaluation& e) { return e.cycles < floor_of(e) * (1 - tolerance); }

double answer(const Evaluation& e) { return is_below(e) && !e.literal ? floor_of(e) : e.cycles; }

std::vector<Sensitivity> sensitivity_of(const Model& model, const Counts& counts, Rule rule, const Prediction& base) {
  std::vector<Sensitivity> out;
  for (const auto member : model.needs()) {
    const Symbol& s = symbol(member);
    if (!s.machine) continue;
    Counts more = counts;
    more.*member *= 1 + step;
    const Evaluation e = model.evaluate(more, rule);
    const double time_ns = answer(e) / more.freq;
    out.push_back({std::string(s.key), time_ns / base.time_ns - 1, e.which_case != base.evaluation.which_case});
  }
  std::ranges::stable_sort(out, [](const Sensitivity& a, const Sensitivity& b) { return std::abs(a.change) > std::abs(b.change); });
  return out;
}

}  // namespace

std::string_view name_of(Evidence evidence) {
  switch (evidence) {
    case Evidence::verified: return "verified";
    case Evidence::secondary: return "secondary";
    case Evidence::recalled: return "recalled";
    case Evidence::ours: return "ours";
  }
  return "";
}

std::span<const Model* const> models() {
  static const Model* const all[] = {&mwp_cwp(), &mwp_cwp_2012()};
  return all;
}

Prediction predict(const Model& model, const Counts& counts, Rule rule) {
  Prediction p;
  p.model = &model;
  p.evaluation = model.evaluate(counts, rule);
  Evaluation& e = p.evaluation;
  p.floor = floor_of(e);
  p.floor_by = e.compute_floor >= e.bandwidth_floor ? "compute" : "bandwidth";
  p.below_floor = is_below(e);
  p.cycles = answer(e);
  p.time_ns = p.cycles / counts.freq;
  if (p.below_floor)
    e.notes.insert(e.notes.begin(),
                   fmt::format("The equations give {:.6g} cycles, which is impossible: the {} of these counts alone takes {:.6g}. {}", e.cycles,
                               p.floor_by == "compute" ? "issue of the instructions" : "transfer of the bytes", p.floor,
                               e.literal ? "Rule paper reports it all the same." : "The floor is reported instead."));
  p.sensitivity = sensitivity_of(model, counts, rule, p);
  return p;
}

}  // namespace simtlab::predict

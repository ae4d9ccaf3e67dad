#include "models/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/units.h"

namespace simtlab::models {
namespace {

// Rounding apart: where a model meets its own roofline exactly.
constexpr double tolerance = 1e-9;
constexpr double step = 0.10;

struct Floor {
  double compute = 0, bandwidth = 0;
  std::string compute_by = "the issue of the instructions",
              bandwidth_by = "the transfer of the bytes";  // what sets them
  bool by_compute() const { return compute >= bandwidth; }
  double cycles() const { return std::max(compute, bandwidth); }
};

// The roofline of the counts, where they suffice; else what the model can say of its own. A model's own is
// rougher: 2009's takes every access for one to DRAM, and knows no second unit beside the floating-point
// lanes.
Floor floor_of(const Evaluation& e, const Counts& counts) {
  Floor out;
  out.compute = e.compute_floor, out.bandwidth = e.bandwidth_floor;
  const auto units = units_of(counts, counts.mem_peak_bandwidth, counts.issue_per_cycle);
  const Unit *compute = longest(units, true), *memory = longest(units, false);
  if (compute != nullptr && knows_mix(counts))
    out.compute = compute->grid_cycles, out.compute_by = compute->doc;
  if (!std::isnan(counts.dram_bytes)) out.bandwidth = memory != nullptr ? memory->grid_cycles : 0;
  if (!std::isnan(counts.dram_bytes) && memory != nullptr) out.bandwidth_by = memory->doc;
  return out;
}

bool is_below(const Evaluation& e, const Floor& floor) { return e.cycles < floor.cycles() * (1 - tolerance); }

// Of the launch, which no model knows: a profiler counts it to the kernel.
double launch_of(const Counts& counts) { return std::isnan(counts.launch_floor) ? 0 : counts.launch_floor; }

double answer(const Evaluation& e, const Floor& floor, const Counts& counts) {
  return (is_below(e, floor) && !e.literal ? floor.cycles() : e.cycles) + launch_of(counts);
}

class Sensitivities {
 public:
  Sensitivities(const Model& model, const Counts& counts, const Options& options, const Prediction& base)
      : model_(model), counts_(counts), options_(options), base_(base) {}

  std::vector<Sensitivity> run() {
    for (const auto& members : {model_.needs(), model_.uses()})
      for (const auto member : members) {
        const Symbol& s = symbol(member);
        if (s.machine && !std::isnan(counts_.*member))
          with(std::string(s.key), [&](Counts& c) {
            c.*member *= 1 + step;
            if (double Counts::*const other = other_name(member); other != nullptr) c.*other = c.*member;
          });
      }
    if (model_.needs_mix()) classes();
    std::ranges::stable_sort(out_, [](const Sensitivity& a, const Sensitivity& b) {
      return std::abs(a.change) > std::abs(b.change);
    });
    return std::move(out_);
  }

 private:
  template <class Change>
  void with(std::string name, const Change& change) {
    Counts more = counts_;
    change(more);
    const Evaluation e = model_.evaluate(more, options_);
    out_.push_back({std::move(name), answer(e, floor_of(e, more), more) / more.freq / base_.time_ns - 1,
                    e.which_case != base_.evaluation.which_case});
  }

  void classes() {
    for (const MixSymbol& s : mix_symbols())
      for (std::size_t c = 0; s.machine && c < counts_.mix.insts.size(); ++c)
        if (counts_.mix.insts[c] > 0 && !std::isnan((counts_.mix.*s.column)[c]))
          with(fmt::format("class.{}.{}", device::op_class_names[c], s.key),
               [&](Counts& more) { (more.mix.*s.column)[c] *= 1 + step; });
  }

  const Model& model_;
  const Counts& counts_;
  const Options& options_;
  const Prediction& base_;
  std::vector<Sensitivity> out_;
};

// A class that is executed, and whose latency or throughput nobody gave. Loads and stores have no latency of
// their own: it is the memory's.
bool latency_is_elsewhere(device::OpClass c) {
  return device::accesses(c, device::Memory::global) && !device::traits(c).latency_at.empty();
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
  static const Model* const all[] = {&throughput(), &mwp_cwp(), &mwp_cwp_2012(), &resios_model(),
                                     &roofline()};
  return all;
}

std::vector<std::string> model_names() {
  std::vector<std::string> out;
  for (const Model* model : models()) out.emplace_back(model->name());
  return out;
}

namespace {

struct Lacking {
  std::string key;
  std::string_view unit, doc;
  bool machine;  // --gpu may have it
};

std::vector<Lacking> lacking(const Inputs& in, const Model& model) {
  std::vector<Lacking> out;
  for (const auto member : model.needs()) {
    const Symbol& s = symbol(member);
    // From the mix
    const bool follows =
        model.needs_mix() && !in.has_mix() && (member == &Counts::insts || member == &Counts::mem_insts);
    if (!in.has(member) && !follows) out.push_back({std::string(s.key), s.unit, s.doc, s.machine});
  }
  if (!model.needs_mix()) return out;
  if (!in.has_mix()) {
    const MixSymbol& s = mix_symbols()[0];
    out.push_back({"class.fp32.insts", s.unit,
                   "Warp instructions of a warp, of this and every other class that it executes", false});
    return out;
  }
  for (const MixSymbol& s : mix_symbols())
    for (std::size_t c = 0; c < in.counts.mix.insts.size(); ++c)
      if (in.counts.mix.insts[c] > 0 && std::isnan((in.counts.mix.*s.column)[c]) &&
          !(s.column == &Mix::latency && latency_is_elsewhere(static_cast<device::OpClass>(c))))
        out.push_back({fmt::format("class.{}.{}", device::op_class_names[c], s.key), s.unit, s.doc, true});
  return out;
}

}  // namespace

std::vector<std::string> missing(const Inputs& inputs, const Model& model) {
  std::vector<std::string> out;
  for (Lacking& l : lacking(inputs, model)) out.push_back(std::move(l.key));
  return out;
}

void require(const Inputs& inputs, const Model& model) {
  std::vector<Diagnostic> diagnostics;
  for (const Lacking& l : lacking(inputs, model)) {
    Diagnostic d;
    d.message = fmt::format("{} is missing, which model {} needs: {}", l.key, model.name(), l.doc);
    d.pos = {inputs.file, static_cast<std::uint32_t>(std::max<std::size_t>(inputs.lines, 1)), 1};
    d.hint =
        fmt::format("add a line {} = NUMBER{}{}", l.key, l.unit == "1" ? "" : fmt::format(" (in {})", l.unit),
                    l.machine ? ", or give --gpu NAME" : "");
    diagnostics.push_back(std::move(d));
  }
  if (!diagnostics.empty()) throw Error(ExitCode::bad_input, "counts-missing", std::move(diagnostics));
}

Prediction predict(const Model& model, const Counts& counts, const Options& options) {
  Prediction p;
  p.model = &model;
  p.evaluation = model.evaluate(counts, options);
  Evaluation& e = p.evaluation;
  const Floor floor = floor_of(e, counts);
  p.floor = floor.cycles();
  p.floor_by = floor.by_compute() ? "compute" : "bandwidth";
  p.below_floor = is_below(e, floor);
  p.cycles = answer(e, floor, counts);
  if (launch_of(counts) > 0) e.terms.push_back({"T_floor", "cycles", launch_of(counts), Evidence::ours});
  if (e.total_ns > 0) e.total_ns += (p.cycles - e.cycles) / counts.freq;
  p.time_ns = p.cycles / counts.freq;
  if (p.below_floor)
    e.notes.insert(
        e.notes.begin(),
        fmt::format("The equations give {:.6g} cycles, which is impossible: the {} of these counts alone "
                    "takes {:.6g}. {}",
                    e.cycles, p.floor_by == "compute" ? "issue of the instructions" : "transfer of the bytes",
                    p.floor,
                    e.literal ? "Rule paper reports it all the same." : "The floor is reported instead."));
  p.sensitivity = Sensitivities(model, counts, options, p).run();
  // The verdict is about the number that is reported.
  if (p.below_floor && !e.literal) {
    e.which_case += "; less than the floor";
    e.limit = fmt::format("{}, the floor: the equations give less",
                          floor.by_compute() ? floor.compute_by : floor.bandwidth_by);
  }
  return p;
}

}  // namespace simtlab::models

// Analytical models: from counts to a time, in closed form. A model is one file; models() lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "predict/counts.h"

namespace simtlab::predict {

// How far an equation can be relied upon (docs/models.md).
enum class Evidence : unsigned char {
  verified,   // reproduces a worked example of the paper, or several public implementations agree
  secondary,  // quoted by a survey
  recalled,   // from memory of the paper: right in structure, constants unchecked
  ours,       // not of the paper
};
std::string_view name_of(Evidence evidence);

// Which case test the 2009 model uses. `paper`: the one that is printed, which sends kernels that are strongly bound by computation to the
// equation for those bound by memory. `order`: bound by computation whenever MWP > CWP.
enum class Rule : unsigned char { order, paper };

struct Term {
  std::string name, unit;
  double value = 0;
  Evidence evidence = Evidence::ours;
};

struct Benefit {
  std::string name;   // "memlp"
  double cycles = 0;
};

// What the equations of a model say.
struct Evaluation {
  double cycles = 0;
  std::string which_case;    // "2: bound by memory"
  std::string limit;         // the term that sets the time, in words
  std::vector<Term> terms;   // intermediate values, in the order of the equations
  std::vector<Benefit> benefits;   // upper bounds of what an optimisation could gain
  std::vector<std::string> notes;
  double compute_floor = 0, bandwidth_floor = 0;   // cycles; the roofline of the same counts
  bool literal = false;      // the caller asked for the paper's number, even below the floor
};

class Model {
 public:
  virtual ~Model() = default;
  virtual std::string_view name() const = 0;       // "mwp-cwp"
  virtual std::string_view title() const = 0;      // authors and year
  virtual std::span<double Counts::* const> needs() const = 0;
  virtual std::span<const std::string_view> deviations() const = 0;   // identifiers of docs/deviations.d
  // All of needs() are known.
  virtual Evaluation evaluate(const Counts& counts, Rule rule) const = 0;
};

const Model& mwp_cwp();
const Model& mwp_cwp_2012();
std::span<const Model* const> models();

// What 10 % more of one parameter of the machine do to the time, everything else unchanged (latencies in cycles as well).
struct Sensitivity {
  std::string parameter;
  double change = 0;         // relative: -0.05 is 5 % less time
  bool other_case = false;   // the model answers with another case there: do not extrapolate
};

struct Prediction {
  const Model* model = nullptr;
  Evaluation evaluation;
  double cycles = 0, time_ns = 0;
  double floor = 0;            // cycles: no kernel with these counts is faster
  std::string floor_by;        // "compute" or "bandwidth"
  bool below_floor = false;    // the equations gave less; cycles is the floor, unless evaluation.literal
  std::vector<Sensitivity> sensitivity;   // largest first
};

// Needs what model.needs() names: require() before.
Prediction predict(const Model& model, const Counts& counts, Rule rule);

}  // namespace simtlab::predict

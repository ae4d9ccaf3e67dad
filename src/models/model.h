// Analytical models: from counts to a time, in closed form. A model is one file; models() lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/counts.h"

namespace simtlab::models {

// How far an equation can be relied upon (docs/concepts/models.md).
enum class Evidence : unsigned char {
  verified,   // reproduces a worked example of the paper, or several public implementations agree
  secondary,  // quoted by a survey
  recalled,   // from memory of the paper: right in structure, constants unchecked
  ours,       // not of the paper
};
std::string_view name_of(Evidence evidence);

// Which case test the 2009 model uses. `paper`: the one that is printed, which sends kernels that are
// strongly bound by computation to the equation for those bound by memory. `order`: bound by computation
// whenever MWP > CWP.
enum class Rule : unsigned char { order, paper };

// Parameters of Resios' model, of which its thesis says what they are and for some how large. Those of its
// simulation: algorithm 5.1 (resios_simulation.h).
struct ResiosOptions {
  double compute_units = 1, memory_units = 1;  // of an SM: warps that compute, that are at memory, at once
  double resident_warps = 0, resident_blocks = 0;  // no more than so many on an SM; 0: what the launch allows
  double warps = 256;                              // to simulate, of an SM; the rest takes as long
  std::size_t order = 0;                           // of resios::order_names
  double max_p = 8;                                // accesses at once at which memory reaches its bandwidth
  double max_i = 0;  // operations at once at which a compute unit does; 0: latency * throughput / warp size
  double bank_bandwidth = 4;  // bytes per cycle of a bank of shared memory
  // As its front end: a fused multiply-add is a multiplication and an addition
  bool split_fma = false;
  // Copies by the thesis's fit of PCIe 2.0 (equation 4.2); false: by bandwidth and latency of the device
  bool fitted_copies = true;
};

// What a caller may choose.
struct Options {
  Rule rule = Rule::order;
  ResiosOptions resios;

  Options() = default;
  Options(Rule r) : rule(r) {}  // NOLINT: a rule is the only option of most models
};
// rule: "order" or "paper"; resios: "NAME=VALUE,..." of resios_parameters(). Throws Error(usage,
// "predict-option").
Options parse_options(std::string_view rule, std::string_view resios);

// A parameter of Resios' model, as a command line names it.
struct ResiosParameter {
  std::string_view name, values, doc;  // "memory-units", "1 to 1024", one sentence without the full stop
};
std::vector<ResiosParameter> resios_parameters();

struct Term {
  std::string name, unit;
  double value = 0;
  Evidence evidence = Evidence::ours;
};

struct Benefit {
  std::string name;  // "memlp"
  double cycles = 0;
};

// An instruction that the compute units wait for.
struct Hotspot {
  std::string place, op_class;
  int access = -1;         // as the trace has it
  double insts = 0;        // of a warp
  double idle_cycles = 0;  // of an SM: only memory is at work, on this
  double idle_share = 0;   // of the time of the kernel
  double own_share = 0;    // of the time of the instruction
};

// What the equations of a model say.
struct Evaluation {
  double cycles = 0;
  // Which equation the model took, "2: CWP >= MWP". What bounds the kernel is said by `limit` alone: of two
  // verdicts one could be wrong.
  std::string which_case;
  // The term that sets the time, in words; what it is called comes first, up to a colon: "barriers: warps
  // wait"
  std::string limit;
  std::vector<Term> terms;        // intermediate values, in the order of the equations
  std::vector<Benefit> benefits;  // upper bounds of what an optimisation could gain
  std::vector<Hotspot> hotspots;  // longest idle first; of models that know instructions
  std::vector<std::string> notes;
  // Cycles; the model's own roofline, for counts that do not suffice for that of roofline()
  double compute_floor = 0, bandwidth_floor = 0;
  // With context, launch and copies, as far as they are known; 0: the model does not say
  double total_ns = 0;
  bool literal = false;  // the caller asked for the paper's number, even below the floor
};

class Model {
 public:
  virtual ~Model() = default;
  virtual std::string_view name() const = 0;   // "mwp-cwp"
  virtual std::string_view title() const = 0;  // authors and year
  virtual std::span<double Counts::*const> needs() const = 0;
  // What may be unknown; the model then does without
  virtual std::span<double Counts::*const> uses() const { return {}; }
  // Instructions, latency and throughput of every executed class
  virtual bool needs_mix() const { return false; }
  // Identifiers of docs/reference/deviations
  virtual std::span<const std::string_view> deviations() const = 0;
  // Nothing is missing().
  virtual Evaluation evaluate(const Counts& counts, const Options& options) const = 0;
};

// Keys of what the model needs and nobody gave.
std::vector<std::string> missing(const Inputs& inputs, const Model& model);
// Throws Error(bad_input, "counts-missing") for them.
void require(const Inputs& inputs, const Model& model);

const Model& mwp_cwp();
const Model& mwp_cwp_2012();
const Model& throughput();
const Model& roofline();
const Model& resios_model();
std::span<const Model* const> models();
std::vector<std::string> model_names();

// What 10 % more of one parameter of the machine do to the time, everything else unchanged (latencies in
// cycles as well).
struct Sensitivity {
  std::string parameter;
  double change = 0;        // relative: -0.05 is 5 % less time
  bool other_case = false;  // the model answers with another case there: do not extrapolate
};

struct Prediction {
  const Model* model = nullptr;
  Evaluation evaluation;
  double cycles = 0, time_ns = 0;
  double floor = 0;          // cycles: no kernel with these counts is faster
  std::string floor_by;      // "compute" or "bandwidth"
  bool below_floor = false;  // the equations gave less; cycles is the floor, unless evaluation.literal
  std::vector<Sensitivity> sensitivity;  // largest first
};

// Needs what the model does: require() before.
Prediction predict(const Model& model, const Counts& counts, const Options& options);

}  // namespace simtlab::models

// A study: a command of simtlab, what varies in it, and which of all combinations are run.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "studies/sweep/axis.h"
#include "studies/sweep/constraint.h"

namespace simtlab::studies::sweep {

enum class Design : std::uint8_t {
  cartesian,  // all combinations, the last axis fastest
  zip,        // the first values of all axes, the second values, ...
  random,     // `points` combinations, drawn
  // `points` combinations; each axis is cut into as many parts, of which each is drawn from once
  latin_hypercube,
};
std::string_view name_of(Design design);
const std::vector<std::string>& design_names();
// Throws Error(code, "sweep-design").
Design parse_design(const std::string& text);

// How a value of an axis reaches the command.
enum class Binding : std::uint8_t {
  placeholder,  // it replaces {NAME} in the command's words
  words,        // the same, and blanks part it into several words
  option,       // --NAME=VALUE
  flag,         // --NAME, if the value is true
  setting,      // --set NAME=VALUE
};

struct Study {
  std::string name = "sweep";
  std::vector<std::string> command;  // without "simtlab"
  std::string folder;                // that points run in, absolute
  std::vector<Axis> axes;
  std::vector<Binding> bindings;  // one an axis
  // Whether the command of a point with these values reads --seed; empty: none does. Called by one thread at
  // a time.
  std::function<bool(const std::vector<std::string>& values, const std::vector<std::string>& command)>
      takes_seed;
  Design design = Design::cartesian;
  std::uint64_t points = 0;  // of random and latin_hypercube
  std::vector<Constraint> constraints;
  std::uint64_t repeats = 1, seed = 0;
  double timeout_s = 0;  // of a point; 0: none
  // What the report looks at first; no part of what the study is.
  std::vector<std::string> metrics, minimise, maximise;
};

inline constexpr std::uint64_t most_points = 2'000'000;

// What decides which points there are and what each runs, as JSON: two studies with the same text are the
// same.
std::string definition(const Study& study);

struct Combination {
  std::uint64_t index = 0;          // from 0
  std::vector<std::string> values;  // one an axis
};
struct Expansion {
  std::uint64_t combinations = 0;
  std::uint64_t candidates = 0;         // looked at
  std::vector<std::uint64_t> rejected;  // by each constraint
  std::uint64_t repeated = 0;           // drawn a second time
};
// Calls `take` for each combination, in an order that depends on the study alone. Memory does not grow with
// the Cartesian product. `stop` may be null. Throws Error(bad_input): "sweep-design" if the axes do not fit
// the design, "sweep-empty" if no combination is left, "sweep-large".
Expansion expand(const Study& study, const std::function<void(const Combination&)>& take,
                 const volatile bool* stop = nullptr);

// A value of an axis that is bound as words, parted at blanks.
std::vector<std::string> value_words(const std::string& value);
// The words before the first `--`: those that simtlab reads, not the program.
std::span<const std::string> own_words(const std::vector<std::string>& words);
// The words behind "simtlab" of one point: simtlab's own, then `--` and the program's arguments if there are
// any, both in the order of the study's command. What a value of an axis has behind a `--` is the program's,
// and all options that axes and seed give are simtlab's.
std::vector<std::string> point_command(const Study& study, const std::vector<std::string>& values,
                                       std::uint64_t seed);

}  // namespace simtlab::studies::sweep

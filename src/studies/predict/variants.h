// Predictions of one kernel or program on several GPUs, with several launches or settings.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "studies/common/axes.h"
#include "studies/common/command.h"
#include "studies/common/output.h"
#include "studies/run/run.h"

namespace simtlab::studies {

// Axes of --sweep, before them that of --gpu if it names several.
std::vector<Axis> predicted_axes(const RunOptions& given, const std::vector<std::string>& texts);
// A table with the time of every model at all points, JSON and CSV. at: the prediction of the values of a
// point, in the order of the axes.
Outcome predict_points(const std::vector<Axis>& axes, OutputOptions output,
                       const std::function<result::Result(const std::vector<std::string>&)>& at);

// GPUs are those of --gpu, with commas between; axes: "block=32:1024", "regs=32,64", a device key. Writes a
// table with the time of every model, JSON and CSV. Throws Error.
Outcome predict_variants(const Run& run, const Call& call, const std::vector<std::string>& axes);

}  // namespace simtlab::studies

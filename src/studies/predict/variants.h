// Predictions of one kernel or program on several GPUs, with several launches or settings.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu/prediction.h"
#include "studies/common/axes.h"
#include "studies/common/command.h"
#include "studies/common/output.h"
#include "studies/run/run.h"

namespace simtlab::studies {

// Axes of --sweep, before them that of --gpu if it names several.
std::vector<Axis> predicted_axes(const RunOptions& given, const std::vector<std::string>& texts);
// An axis "resios.NAME": sets that parameter of the model; false: the axis is another.
bool vary_model(gpu::PredictOptions& options, const std::string& key, const std::string& value);
// A table with the time of every model at all points, JSON and CSV. at: the prediction of the values of a
// point, in the order of the axes.
Outcome predict_points(const std::vector<Axis>& axes, OutputOptions output,
                       const std::function<result::Result(const std::vector<std::string>&)>& at);

// GPUs are those of --gpu, with commas between; axes: "block=32:1024", "regs=32,64", a device key. Writes a
// table with the time of every model, JSON and CSV. Throws Error.
Outcome predict_variants(const Run& run, const Call& call, const std::vector<std::string>& axes);

}  // namespace simtlab::studies

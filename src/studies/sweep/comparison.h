// What the other axes do to each kernel: a row a kernel, a column a choice of the other axes, beside a
// baseline.
#pragma once

#include <string>
#include <vector>

#include "result/study.h"

namespace simtlab::studies::sweep {

// The axis of --kernels; as many as there are axes: none.
std::size_t kernel_axis(const result::Study& study);

// Fills study.comparisons of a study with an axis of kernels, or one that names its baseline: "AXIS=VALUE"
// each, the axes that are not named take their first value. Throws Error(bad_input, "sweep-baseline").
void compare_kernels(result::Study& study, const std::vector<std::string>& baseline);

}  // namespace simtlab::studies::sweep

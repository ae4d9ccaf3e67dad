// Counts of a loop nest as what the analytical models take.
#pragma once

#include <optional>

#include "loops/tables.h"
#include "predict/counts.h"
#include "predict/model.h"

namespace simtlab::cli {

// given: counts by hand, which stay (predict::parse_counts; of an empty text: none).
predict::Inputs inputs_of(const loops::Description& nest, const loops::Shape& shape,
                          const loops::NestCounts& counts, const device::Device& device,
                          const predict::Inputs& given);
// The time by `wanted`, or of the first model that has an answer: throughput, resios, mwp-cwp-2012, mwp-cwp,
// roofline.
loops::Candidate rated(const loops::Description& nest, const loops::Shape& shape, loops::NestCounts counts,
                       const device::Device& device, const std::string& wanted,
                       const predict::Options& options, const predict::Inputs& given);
// What the port is worth by every model of the result. evaluated: what the models were given, of which the
// bytes of L2 and DRAM are.
std::vector<loops::Worth> worth_of(const result::KernelResult& result, const loops::NestCounts& counts,
                                   const device::Device& device, const std::string& first,
                                   const predict::Inputs& given, const predict::Counts& evaluated);
// Bytes a second; nothing where that is more than the peak, which no board does: the time is too short then.
std::optional<double> possible_rate(double bytes, double ns, double peak);
double l2_peak(const predict::Counts& counts);  // bytes a second
double dram_peak(const predict::Counts& counts);

}  // namespace simtlab::cli

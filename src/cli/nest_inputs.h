// Counts of a loop nest as what the analytical models take.
#pragma once

#include "loops/tables.h"
#include "predict/counts.h"
#include "predict/model.h"

namespace simtlab::cli {

// given: counts by hand, which stay (predict::parse_counts; of an empty text: none).
predict::Inputs inputs_of(const loops::Description& nest, const loops::Shape& shape, const loops::NestCounts& counts, const device::Device& device, const predict::Inputs& given);
// The time by `wanted`, or of the first model that has an answer: throughput, resios, mwp-cwp-2012, mwp-cwp, roofline.
loops::Candidate rated(const loops::Description& nest, const loops::Shape& shape, loops::NestCounts counts, const device::Device& device, const std::string& wanted,
                       const predict::Options& options, const predict::Inputs& given);
// What the port is worth by every model of the result.
std::vector<loops::Worth> worth_of(const result::KernelResult& result, const loops::NestCounts& counts, const device::Device& device, const std::string& first, const predict::Inputs& given);

}  // namespace simtlab::cli

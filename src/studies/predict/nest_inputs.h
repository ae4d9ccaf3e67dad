// Counts of a loop nest as what the analytical models take.
#pragma once

#include <optional>

#include "models/counts.h"
#include "models/loops/tables.h"
#include "models/model.h"

namespace simtlab::studies {

// given: counts by hand, which stay (models::parse_counts; of an empty text: none).
models::Inputs inputs_of(const models::loops::Description& nest, const models::loops::Shape& shape,
                         const models::loops::NestCounts& counts, const device::Device& device,
                         const models::Inputs& given);
// The time by `wanted`, or of the first model that has an answer: throughput, resios, mwp-cwp-2012, mwp-cwp,
// roofline.
models::loops::Candidate rated(const models::loops::Description& nest, const models::loops::Shape& shape,
                               models::loops::NestCounts counts, const device::Device& device,
                               const std::string& wanted, const models::Options& options,
                               const models::Inputs& given);
// What the port is worth by every model of the result. evaluated: what the models were given, of which the
// bytes of L2 and DRAM are.
std::vector<models::loops::Worth> worth_of(const result::KernelResult& result,
                                           const models::loops::NestCounts& counts,
                                           const device::Device& device, const std::string& first,
                                           const models::Inputs& given, const models::Counts& evaluated);
// Of each access of the nest, the share of the time in which only memory works, on it, by resios; empty: it
// has no answer.
std::vector<double> idle_of(const models::loops::Description& nest, const models::Inputs& inputs,
                            const models::Options& options);
// Bytes a second; nothing where that is more than the peak, which no board does: the time is too short then.
std::optional<double> possible_rate(double bytes, double ns, double peak);
double l2_peak(const models::Counts& counts);  // bytes a second
double dram_peak(const models::Counts& counts);

}  // namespace simtlab::studies

// Whether two series put things into the same order.
#pragma once

#include <vector>

namespace simtlab::studies {

// Spearman's: 1 the same order, -1 the opposite one; 0 where one of them has no order. As many values of
// each; equal ones share their rank.
double rank_correlation(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace simtlab::studies

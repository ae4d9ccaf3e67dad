// What a published model of GPU performance says of itself: its formulas at the points that it gives, and the
// five kernels on which it was tried.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/executor.h"
#include "models/model.h"
#include "studies/validate/reference.h"

namespace simtlab::studies::validate {

struct ResiosPoint {
  std::string id, place, what;  // "R067", "4.3.1", "delay_madd, TLP=12"
  double published = 0, ours = 0;
  bool agrees() const;  // to the digits that are published
};
// Every row of data/measured/resios.csv that a formula answers.
std::vector<ResiosPoint> resios_points(const Table& table);

// A kernel of table 7.1; entry points of data/probes/resios.ptx.
struct ResiosKernel {
  std::string_view name, entry, what;
  exec::Dim3 grid, block;
  // Arguments; buffer(bytes) allocates.
  std::vector<std::byte> (*arguments)(const std::function<std::uint64_t(std::uint64_t)>& buffer);
  bool slow = false;           // left out of --quick
  std::string_view size = {};  // of a second one with this name
};
std::span<const ResiosKernel> resios_kernels();
double published_precision(const Table& table, std::string_view kernel);  // predicted over measured time

// Warps of one block on which figure 4.3 is drawn here; the kernel is that of madd.
inline constexpr std::uint32_t figure_4_3_warps[] = {1, 2, 4, 8, 11, 16, 24, 32};

// The model on the instructions that the front end of the thesis sees, as in table 7.1, and on those of the
// GPU.
struct ResiosVariant {
  std::string_view name;
  std::string parameters;  // as models::parse_options has them
};
std::vector<ResiosVariant> resios_variants();

}  // namespace simtlab::studies::validate

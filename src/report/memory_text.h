// The text report of memory driven on its own (`simtlab dram`): a result whose mode is "memory".
//
//   random: 100,000 requests on ddr4-3200, 1 channel, controller default
//     431 us: 689,034 clocks of 0.625 ns
//
//     Bandwidth  14.8 GB/s  58.0 % of the peak of 25.6 GB/s
//
//     Where the time of the data bus went
//       data         58.0 %  #################.............
//       row_miss     21.3 %  ######........................
//
//     Latency in clocks       mean      min   median     95 %     99 %      max
//       reads                412.3       49      398      801     1022     1544
#pragma once

#include <string>

#include "report/report.h"

namespace simtlab::report {

std::string memory_text(const result::Result& result, const TextOptions& options);

}  // namespace simtlab::report

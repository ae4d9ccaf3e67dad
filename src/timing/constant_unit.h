// The constant cache of an SM. It serves one address at a time: a warp whose lanes read n different addresses
// takes n passes. Parameters of the kernel always hit, for the launch puts them there. Constants that miss
// come from L2.
#pragma once

#include "memory/cache.h"
#include "memory/mshr.h"
#include "stream/coalescer.h"
#include "timing/load_table.h"
#include "timing/request_port.h"
#include "timing/scoreboard.h"

namespace simtlab::timing {

class ConstantUnit {
 public:
  ConstantUnit(SmContext& sm, std::vector<Warp>& warps, Scoreboard& scoreboard, LoadTable& loads,
               RequestPort& requests);

  void begin() { misses_.clear(); }
  void make_cold() { cache_.clear(); }
  void access(std::uint32_t warp, const InstInfo& info, const stream::Step& step, Cycle now);
  void fill(const Reply& reply);  // sectors have come from L2
  std::uint32_t misses_under_way() const { return misses_.used(); }

 private:
  void fetch(std::uint32_t load, std::uint64_t line, std::uint8_t missing, Cycle now);

  SmContext& sm_;
  std::vector<Warp>& warps_;
  Scoreboard& scoreboard_;
  LoadTable& loads_;
  RequestPort& requests_;
  memory::Cache cache_;
  memory::Mshr misses_;
};

}  // namespace simtlab::timing

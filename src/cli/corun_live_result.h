// What the daemon of live co-runs counts, as a result.
#pragma once

#include <vector>

#include "live/core.h"
#include "live/protocol.h"
#include "result/metrics.h"

namespace simtlab::cli {

// The first launches that end, for a picture.
class LiveLaunches {
 public:
  explicit LiveLaunches(std::size_t most) : most_(most) {}
  void add(const live::Core::Span& span);
  // As an entry of their own: a client that has gone has none. Nothing if there was no launch.
  void add_to(result::Result& result) const;

 private:
  std::size_t most_;
  std::uint64_t left_out_ = 0;
  std::vector<live::Core::Span> spans_;
};

// Totals, and a row for each client that has asked for a launch. Policy and device are in the manifest's configuration.
result::Result result_of(const live::Stats& stats);

}  // namespace simtlab::cli

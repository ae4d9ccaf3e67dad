// What the daemon of live co-runs counts, as a result.
#pragma once

#include <vector>

#include "corun/live/core.h"
#include "corun/live/protocol.h"
#include "result/metrics.h"

namespace simtlab::cli {

// The first launches that end, for a picture.
class LiveLaunches {
 public:
  explicit LiveLaunches(std::size_t most) : most_(most) {}
  void add(const corun::live::Core::Span& span);
  // As an entry of their own: a client that has gone has none. Nothing if there was no launch.
  void add_to(result::Result& result) const;

 private:
  std::size_t most_;
  std::uint64_t left_out_ = 0;
  std::vector<corun::live::Core::Span> spans_;
};

// Totals; a row for each program, "application NAME", with what its processes did that have left, too; and
// one for each client that is connected and has asked for a launch. Policy and device are in the manifest's
// configuration.
result::Result result_of(const corun::live::Stats& stats,
                         const std::vector<corun::live::ApplicationRow>& applications);
std::vector<corun::live::ApplicationRow> all_applications(const corun::live::Core& core);
// Over the processes of which it is known what their kernels take alone; none: of no process.
struct LiveFigures {
  std::uint32_t processes = 0;
  double antt = 0, stp = 0, speedup = 0;  // speedup: against alone, geometric mean
};
LiveFigures figures_of(const std::vector<corun::live::ApplicationRow>& applications);

}  // namespace simtlab::cli

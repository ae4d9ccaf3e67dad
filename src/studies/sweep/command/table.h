// What a sweep says while it runs: on a terminal a table that is redrawn, with --progress plain its headline
// now and then, with --verbose a line a point.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "studies/common/output.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"
#include "studies/sweep/engine.h"

namespace simtlab::studies {

class SweepTable : public studies::sweep::Listener {
 public:
  SweepTable(std::vector<std::string> axes, const OutputOptions& output);
  ~SweepTable() override { clear(); }
  void finished(const studies::sweep::Point& point, const studies::sweep::Outcome& outcome) override;
  void given_back(const studies::sweep::Point& point, const std::string& why) override;
  void tick(const studies::sweep::Counts& counts,
            const std::vector<studies::sweep::RunningPoint>& running) override;
  void say(const std::string& text) override;
  void suspend() override;
  void clear();  // removes the table

 private:
  std::string label(const std::vector<std::string>& values) const;
  std::string headline(const studies::sweep::Counts& counts) const;

  std::vector<std::string> axes_;
  bool quiet_, verbose_;
  Shown shown_;
  Suspension suspension_;
  std::uint64_t ended_ = 0;
  std::vector<std::string> last_;  // points that ended last
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now(), next_;

 public:
  const volatile bool* suspension_wanted() const { return suspension_.wanted(); }
};

}  // namespace simtlab::studies

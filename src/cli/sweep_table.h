// What a sweep says while it runs: on a terminal a table that is redrawn, with --verbose a line a point.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "sweep/engine.h"

namespace simtlab::cli {

class SweepTable : public sweep::Listener {
 public:
  SweepTable(std::vector<std::string> axes, bool quiet, bool verbose);
  ~SweepTable() override { clear(); }
  void finished(const sweep::Point& point, const sweep::Outcome& outcome) override;
  void given_back(const sweep::Point& point, const std::string& why) override;
  void tick(const sweep::Counts& counts, const std::vector<sweep::RunningPoint>& running) override;
  void say(const std::string& text) override;
  void clear();   // removes the table

 private:
  std::string label(const std::vector<std::string>& values) const;
  std::string headline(const sweep::Counts& counts) const;

  std::vector<std::string> axes_;
  bool quiet_, verbose_, terminal_;
  unsigned width_ = 80;
  std::size_t lines_ = 0;   // on the screen
  std::uint64_t ended_ = 0;
  double busy_s_ = 0;
  std::vector<std::string> last_;   // points that ended last
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now(), drawn_{};
};

}  // namespace simtlab::cli

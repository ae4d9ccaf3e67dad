// Which points a study leaves out: "sm.count * 2 <= 200 and (dram != 'hbm2' or l1.bytes < 128 KiB)".
//
// Names are axes; a name with other letters than a-z, 0-9, _ and . stands in backquotes. Values are compared
// as numbers where both are (quantities by their size: 1 KiB = 1024), else as text.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace simtlab::studies::sweep {

class Constraint {
 public:
  // pos: where the text begins, for messages. Throws Error(bad_input, "sweep-constraint").
  Constraint(std::string text, const std::vector<std::string>& axes, const SourcePos& pos = {});
  ~Constraint();
  Constraint(Constraint&&) noexcept;
  Constraint& operator=(Constraint&&) noexcept;

  const std::string& text() const { return text_; }
  // values: one an axis. Throws Error(bad_input, "sweep-constraint") if it computes with words or divides by
  // 0.
  bool holds(std::span<const std::string> values) const;

  struct Node;

 private:
  std::string text_;
  std::unique_ptr<Node> root_;
};

}  // namespace simtlab::studies::sweep

// Which registers and predicates decide how a loop goes on: branches, addresses and stores depend on them,
// directly or through other registers. A counter that is used only behind the loop decides nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "exec/state.h"

namespace simtlab::exec {

// The instructions of a way through one function, in no order.
class WayRound {
 public:
  // temporary: first row of values that end with their instruction; none: there are no such rows.
  void begin(const Warp& w, std::uint32_t temporary);
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  void add(const XInst& x, const Warp& w);
  // Instructions that same_decisions() has to go through before it can compare; 0: none was added since its
  // last call.
  std::size_t cost() const { return closed_ ? 0 : instructions_.size(); }
  // Rows and predicates that decide are as they were; rows, preds: of the running frame then. False also if
  // it was more than one function, or something that is not understood.
  bool same_decisions(const Warp& w, const std::byte* rows, const std::uint32_t* preds);

 private:
  using Marks = std::vector<bool>;
  static bool mark(Marks& marks, std::uint32_t index);  // true: it was not
  bool mark_operand(const ptx::Operand& operand);
  bool mark_sources(const ptx::Inst& inst);
  bool mark_all(const XInst& x);
  bool touches(const ptx::Operand& operand) const;
  bool touches(const XInst& x) const;
  void close();

  const XInst* code_ = nullptr;
  std::uint32_t frame_ = 0, temporary_ = none;
  bool understood_ = true, closed_ = false;
  Marks met_;  // by pc
  std::vector<const XInst*> instructions_;
  Marks rows_, preds_;  // that decide
};

}  // namespace simtlab::exec

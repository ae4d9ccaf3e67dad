// Which registers and predicates decide how a loop goes on: those that branches, addresses and stores depend
// on, directly or through others. What is only counted along, and used behind the loop if at all, is none of
// them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exec/state.h"

namespace simtlab::exec {

// The instructions of a way through one function, in no order.
class WayRound {
 public:
  void begin(const Warp& w);
  void add(const XInst& x, const Warp& w);
  // What same_decisions() has to do before it can compare; 0: nothing has come since it was last asked.
  std::size_t cost() const { return closed_ ? 0 : instructions_.size(); }
  // Rows and predicates that decide are as they were; rows, preds: of the running frame then. False also if
  // it was more than one function, or something that is not understood.
  bool same_decisions(const Warp& w, const std::byte* rows, const std::uint32_t* preds);

 private:
  using Marks = std::vector<bool>;
  static bool mark(Marks& marks, std::uint32_t index);  // true: it was not
  bool mark_operand(const ptx::Operand& operand);
  bool touches(const ptx::Operand& operand) const;
  void close();

  const XInst* code_ = nullptr;
  std::uint32_t frame_ = 0;
  bool understood_ = true, closed_ = false;
  Marks met_;  // by pc
  std::vector<const XInst*> instructions_;
  Marks rows_, preds_;  // that decide
};

}  // namespace simtlab::exec

// The command bus of a channel: one command at a time, or (HBM) one for rows and one for columns.
#pragma once

#include "device/technology.h"
#include "memory/time.h"

namespace simtlab::memory::dram {

class CommandBus {
 public:
  explicit CommandBus(const device::Technology& technology)
      : dual_(technology.dual_issue),
        activation_clocks_(technology.act_clocks),
        column_clocks_(technology.column_clocks) {}

  // Free for such a command from this cycle on.
  Cycle row_free() const { return row_free_; }
  Cycle column_free() const { return column_free_; }

  void send_column(Cycle at) {
    column_free_ = at + column_clocks_;
    if (!dual_) row_free_ = column_free_;
  }
  void send_activation(Cycle at) { send_row(at, activation_clocks_); }
  void send_row(Cycle at, std::uint32_t clocks = 1) {  // precharges, refreshes, power-down
    row_free_ = at + clocks;
    if (!dual_) column_free_ = row_free_;
  }
  template <class Visitor>
  void show(Visitor& to) {
    to.time(row_free_);
    to.time(column_free_);
  }
  void restart() { row_free_ = column_free_ = 0; }

 private:
  const bool dual_;
  const std::uint32_t activation_clocks_, column_clocks_;
  Cycle row_free_ = 0, column_free_ = 0;  // equal unless dual
};

}  // namespace simtlab::memory::dram

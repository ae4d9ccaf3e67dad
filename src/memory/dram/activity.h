// What ranks and banks did, as counts: what statistics and the energy model work with.
#pragma once

#include <cstdint>

#include "memory/time.h"

namespace simtlab::memory::dram {

// Of a rank, or of all ranks together. Every clock is in one of the five states.
struct RankActivity {
  std::uint64_t activations = 0, reads = 0, writes = 0, refreshes = 0, bank_refreshes = 0;  // commands
  Cycle active_standby = 0, precharge_standby = 0;                                          // clocks
  Cycle active_power_down = 0, precharge_power_down = 0, self_refresh = 0;                  // clocks

  Cycle clocks() const {
    return active_standby + precharge_standby + active_power_down + precharge_power_down + self_refresh;
  }
  RankActivity& operator+=(const RankActivity& other) {
    activations += other.activations;
    reads += other.reads;
    writes += other.writes;
    refreshes += other.refreshes;
    bank_refreshes += other.bank_refreshes;
    active_standby += other.active_standby;
    precharge_standby += other.precharge_standby;
    active_power_down += other.active_power_down;
    precharge_power_down += other.precharge_power_down;
    self_refresh += other.self_refresh;
    return *this;
  }
};

}  // namespace simtlab::memory::dram

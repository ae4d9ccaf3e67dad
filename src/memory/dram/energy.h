// Energy of a rank from the supply currents of its devices.
//
// The method is that of Micron's technical notes on the power of DDR memories (TN-41-01 and its successors),
// in the form in which DRAMsim3 and DRAMSim2 use it. With V = VDD, n devices in a rank and clocks of tCK:
//
//   activate    V n (IDD0 tRC - IDD3N tRAS - IDD2N (tRC - tRAS))   one activation and its precharge, less the
//   standby read        V n (IDD4R - IDD3N) burst write       V n (IDD4W - IDD3N) burst refresh     V n (IDD5
//   - IDD3N) tRFC                            all banks; of one bank: this / banks background  V n times IDD3N
//   in a clock with a row open, IDD2N with none, IDD3P and IDD2P in power-down, IDD6 in
//               self-refresh
//
// Left out: the pins and their termination, which depend on the board; the temperature, on which the standby
// currents and the rate of refreshes depend. The refresh of one bank takes its share of the rows, hence its
// share of the energy: no source states a current for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/technology.h"
#include "memory/dram/activity.h"

namespace simtlab::memory::dram {

// Joules. Absent: a current that it needs is unknown.
struct Energy {
  std::optional<double> activate, read, write, refresh, background;

  std::optional<double> total() const;  // absent unless all are there
  Energy& operator+=(const Energy& other);
};

class EnergyModel {
 public:
  explicit EnergyModel(const device::Technology& technology);

  // Joules of one command to one rank, without the background: for energy by bank.
  const std::optional<double>& activation() const { return activation_; }
  const std::optional<double>& read() const { return read_; }
  const std::optional<double>& write() const { return write_; }
  const std::optional<double>& refresh() const { return refresh_; }
  const std::optional<double>& bank_refresh() const { return bank_refresh_; }

  // What was done no times costs nothing, even where its current is unknown; nothing is known without VDD.
  Energy of(const RankActivity& activity) const;
  // Watts over the clocks of the activity; absent if some energy is, or if no time passed.
  std::optional<double> average_power(const RankActivity& activity) const;
  // The currents that `of` lacks for this activity: "current.IDD3P". Empty: everything is known.
  std::vector<std::string> missing(const RankActivity& activity) const;

 private:
  struct State {                   // a kind of standby
    std::optional<double> joules;  // of a clock
    Cycle RankActivity::*clocks = nullptr;
  };

  device::Technology::Current current_;
  double clock_seconds_ = 0;
  std::optional<double> activation_, read_, write_, refresh_, bank_refresh_;
  std::vector<State> states_;
};

}  // namespace simtlab::memory::dram

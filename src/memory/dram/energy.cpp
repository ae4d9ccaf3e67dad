#include "memory/dram/energy.h"

namespace simtlab::memory::dram {
namespace {

using Amount = std::optional<double>;

Amount plus(const Amount& a, const Amount& b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

// Of `count` commands.
Amount times(std::uint64_t count, const Amount& each) {
  if (count == 0) return 0;
  if (!each) return std::nullopt;
  return *each * static_cast<double>(count);
}

}  // namespace

Amount Energy::total() const { return plus(plus(plus(activate, read), plus(write, refresh)), background); }

Energy& Energy::operator+=(const Energy& other) {
  activate = plus(activate, other.activate);
  read = plus(read, other.read);
  write = plus(write, other.write);
  refresh = plus(refresh, other.refresh);
  background = plus(background, other.background);
  return *this;
}

EnergyModel::EnergyModel(const device::Technology& technology)
    : current_(technology.current), clock_seconds_(technology.tck.count * 1e-12) {
  const device::Technology::Timing& t = technology.timing;
  const device::Technology::Current& c = technology.current;
  const double devices = technology.organisation.channel_width / technology.organisation.device_width;
  // Milliamperes of one device over so many clocks as joules of the rank.
  const auto joules = [&](double milliamperes_clocks) {
    return *c.vdd * milliamperes_clocks * 1e-3 * clock_seconds_ * devices;
  };
  const auto above_standby = [&](const Amount& current, double clocks) -> Amount {
    if (!c.vdd || !current || !c.idd3n) return std::nullopt;
    return joules((*current - *c.idd3n) * clocks);
  };
  const auto standby = [&](const Amount& current) -> Amount {
    if (!c.vdd || !current) return std::nullopt;
    return joules(*current);
  };
  if (c.vdd && c.idd0 && c.idd2n && c.idd3n)
    activation_ = joules(*c.idd0 * t.trc - (*c.idd3n * t.tras + *c.idd2n * (t.trc - t.tras)));
  read_ = above_standby(c.idd4r, t.burst);
  write_ = above_standby(c.idd4w, t.burst);
  refresh_ = above_standby(c.idd5, t.trfc);
  if (refresh_) bank_refresh_ = *refresh_ / technology.banks();
  states_ = {{standby(c.idd3n), &RankActivity::active_standby},
             {standby(c.idd2n), &RankActivity::precharge_standby},
             {standby(c.idd3p), &RankActivity::active_power_down},
             {standby(c.idd2p), &RankActivity::precharge_power_down},
             {standby(c.idd6), &RankActivity::self_refresh}};
}

Energy EnergyModel::of(const RankActivity& a) const {
  if (!current_.vdd) return {};
  Energy energy;
  energy.activate = times(a.activations, activation_);
  energy.read = times(a.reads, read_);
  energy.write = times(a.writes, write_);
  energy.refresh = plus(times(a.refreshes, refresh_), times(a.bank_refreshes, bank_refresh_));
  energy.background = 0;
  for (const State& state : states_)
    energy.background = plus(energy.background, times(a.*state.clocks, state.joules));
  return energy;
}

Amount EnergyModel::average_power(const RankActivity& a) const {
  const Amount total = of(a).total();
  if (!total || a.clocks() == 0) return std::nullopt;
  return *total / (static_cast<double>(a.clocks()) * clock_seconds_);
}

std::vector<std::string> EnergyModel::missing(const RankActivity& a) const {
  const device::Technology::Current& c = current_;
  const bool refreshed = a.refreshes != 0 || a.bank_refreshes != 0, moved = a.reads != 0 || a.writes != 0;
  const bool activated = a.activations != 0;
  const struct {
    const char* key;
    const Amount& value;
    bool needed;
  } all[] = {{"current.VDD", c.vdd, true},
             {"current.IDD0", c.idd0, activated},
             {"current.IDD2P", c.idd2p, a.precharge_power_down != 0},
             {"current.IDD2N", c.idd2n, activated || a.precharge_standby != 0},
             {"current.IDD3P", c.idd3p, a.active_power_down != 0},
             {"current.IDD3N", c.idd3n, activated || moved || refreshed || a.active_standby != 0},
             {"current.IDD4R", c.idd4r, a.reads != 0},
             {"current.IDD4W", c.idd4w, a.writes != 0},
             {"current.IDD5", c.idd5, refreshed},
             {"current.IDD6", c.idd6, a.self_refresh != 0}};
  std::vector<std::string> keys;
  for (const auto& current : all)
    if (current.needed && !current.value) keys.emplace_back(current.key);
  return keys;
}

}  // namespace simtlab::memory::dram

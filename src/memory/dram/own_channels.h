// Main memory of one technology: channels that know nothing of each other, behind one controller design.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "device/memory_controller.h"
#include "device/technology.h"
#include "memory/dram/channel.h"
#include "memory/dram/channels.h"
#include "memory/dram/earliest.h"

namespace simtlab::memory::dram {

// What the memory did until `end`. Sums over its channels.
struct Report {
  Cycle end = 0;                          // clocks of every channel
  std::uint32_t channels = 0, buses = 0;  // buses: pseudo-channels of all channels
  ChannelStatistics requests;
  BusTime bus;                      // sum over the buses: total() is the clocks of all
  std::vector<RankActivity> ranks;  // of every channel, in order
  std::vector<BankActivity> banks;
  double peak_bandwidth = 0;  // bytes/s
  double bandwidth = 0;       // bytes/s carried by the buses
};

class OwnChannels final : public Channels {
 public:
  // Throws Error(bad_input) for a technology with too many banks, or a mapping that does not fit it.
  OwnChannels(const device::Technology& technology, const device::MemoryController& controller,
              std::uint32_t channels);

  std::uint32_t count() const override { return static_cast<std::uint32_t>(channels_.size()); }
  double clock_period() const override { return technology_.tck.count; }
  std::uint32_t access_bytes() const override { return mapping_.access_bytes(); }
  std::uint64_t channel_bytes() const override { return mapping_.channel_bytes(); }
  bool accepts(std::uint32_t channel, const Access& access) const override {
    return channels_[channel]->accepts(access);
  }
  bool accepts_by(std::uint32_t channel, const Access& access, Cycle at) override;
  void await_room(std::uint32_t channel, bool waits) override;
  void add(std::uint32_t channel, const Access& access, Cycle at) override;
  Cycle next_event() const override { return next_.smallest(); }
  void advance(Cycle end, std::vector<Completion>& done) override;
  void restart() override;

  const AddressMapping& mapping() const { return mapping_; }
  const device::Technology& technology() const { return technology_; }
  const device::MemoryController& controller() const { return controller_; }
  // Commands of all channels, each channel's in order; nullptr: none.
  void record(CommandSink* sink);
  // Brings every channel to `end` (not before the end of the last advance()) and sums up.
  Report report(Cycle end);
  Report report(std::uint32_t channel, Cycle end);

 private:
  void add_to(Report& report, std::uint32_t channel, Cycle end);

  const device::Technology technology_;
  const device::MemoryController controller_;
  const AddressMapping mapping_;
  std::vector<std::unique_ptr<Channel>> channels_;
  Earliest next_;
};

}  // namespace simtlab::memory::dram

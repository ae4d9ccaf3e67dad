#include "memory/dram/own_channels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace simtlab::memory::dram {
namespace {

const device::Technology& checked(const device::Technology& technology) {
  const std::uint32_t banks = Shape(technology).all_banks();
  if (banks > most_banks)
    throw Error(ExitCode::bad_input, "dram-banks",
                fmt::format("memory technology '{}' has {} banks in a channel; at most {} can be simulated",
                            technology.name, banks, most_banks),
                "fewer pseudo_channels, ranks, bank_groups or banks_per_group");
  return technology;
}

void add(ChannelStatistics& to, const ChannelStatistics& from) {
  to.reads += from.reads;
  to.writes += from.writes;
  to.forwarded += from.forwarded;
  to.merged_reads += from.merged_reads;
  to.merged_writes += from.merged_writes;
  to.read_bursts += from.read_bursts;
  to.write_bursts += from.write_bursts;
  to.row_hits += from.row_hits;
  to.row_misses += from.row_misses;
  to.row_conflicts += from.row_conflicts;
  to.latency_queue += from.latency_queue;
  to.latency_row += from.latency_row;
  to.latency_bus += from.latency_bus;
  to.latency_transfer += from.latency_transfer;
}

}  // namespace

OwnChannels::OwnChannels(const device::Technology& technology, const device::MemoryController& controller,
                         std::uint32_t channels)
    : technology_(checked(technology)),
      controller_(controller),
      mapping_(technology_, channels, controller.mapping.pattern, controller.mapping.hash),
      next_(channels) {
  SIMTLAB_ASSERT(channels > 0, "a memory has channels");
  channels_.reserve(channels);
  const auto rules = std::make_shared<const TimingRules>(technology_);
  for (std::uint32_t i = 0; i < channels; ++i)
    channels_.push_back(std::make_unique<Channel>(i, technology_, controller_, rules, mapping_));
}

void OwnChannels::add(std::uint32_t channel, const Access& access, Cycle at) {
  channels_[channel]->add(access, at);
  next_.set(channel, channels_[channel]->next_event());
}

bool OwnChannels::accepts_by(std::uint32_t channel, const Access& access, Cycle at) {
  channels_[channel]->catch_up(at);
  next_.set(channel, channels_[channel]->next_event());
  return channels_[channel]->accepts(access);
}

void OwnChannels::await_room(std::uint32_t channel, bool waits) {
  channels_[channel]->await_room(waits);
  next_.set(channel, channels_[channel]->next_event());
}

void OwnChannels::advance(Cycle end, std::vector<Completion>& done) {
  if (channels_.size() == 1) {
    if (next_.smallest() >= end) return;
    channels_[0]->advance(end, done);
    next_.set(0, channels_[0]->next_event());
    return;
  }
  const std::size_t first = done.size();
  std::uint32_t visited = 0;
  next_.each_before(end, [&](std::uint32_t channel) {
    channels_[channel]->advance(end, done);
    next_.set(channel, channels_[channel]->next_event());
    ++visited;
  });
  if (visited < 2 || done.size() - first < 2) return;
  std::sort(
      done.begin() + static_cast<std::ptrdiff_t>(first), done.end(),
      [](const Completion& a, const Completion& b) {
        return a.at != b.at ? a.at < b.at : a.channel != b.channel ? a.channel < b.channel : a.tag < b.tag;
      });
}

void OwnChannels::restart() {
  for (auto& channel : channels_) channel->restart();
  next_.clear();
}

void OwnChannels::record(CommandSink* sink) {
  for (auto& channel : channels_) channel->record(sink);
}

Report OwnChannels::report(Cycle end) {
  Report report;
  for (std::uint32_t i = 0; i < count(); ++i) add_to(report, i, end);
  return report;
}

Report OwnChannels::report(std::uint32_t channel, Cycle end) {
  Report report;
  add_to(report, channel, end);
  return report;
}

void OwnChannels::add_to(Report& report, std::uint32_t number, Cycle end) {
  Channel& channel = *channels_[number];
  channel.run(end);
  next_.set(number, channel.next_event());
  const Shape& shape = channel.shape();
  report.end = end;
  ++report.channels;
  report.buses += shape.pseudo;
  dram::add(report.requests, channel.statistics());
  for (std::uint32_t p = 0; p < shape.pseudo; ++p) {
    const BusTime time = channel.bus_time(p, end);
    report.bus.data += time.data;
    for (unsigned i = 0; i < loss_count; ++i) report.bus.lost[i] += time.lost[i];
  }
  for (std::uint32_t r = 0; r < shape.all_ranks(); ++r) report.ranks.push_back(channel.rank_activity(r, end));
  report.banks.insert(report.banks.end(), channel.banks().begin(), channel.banks().end());
  report.peak_bandwidth += technology_.bytes_per_second() * shape.pseudo;
  const double bursts =
      static_cast<double>(channel.statistics().read_bursts + channel.statistics().write_bursts);
  const double seconds = static_cast<double>(end) * technology_.tck.count * 1e-12;
  if (end > 0) report.bandwidth += bursts * mapping_.access_bytes() / seconds;
}

}  // namespace simtlab::memory::dram

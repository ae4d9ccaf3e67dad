// A request of a line becomes accesses of the channel's size. Requests wait in the queue of their channel
// until the channel accepts every access; a read also needs a place in its partition's return queue, and a
// request is done when its last access is back. Channels have clocks of their own: times are converted where
// they cross.
#include "memory/channel_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"

namespace simtlab::memory {
namespace {

constexpr std::uint32_t line_bytes = 128, sector_bytes = 32;
constexpr std::uint64_t lines_per_chunk = 2;  // as AddressMap spreads lines among partitions

}  // namespace

ChannelMemory::ChannelMemory(const ChannelMemoryConfig& config, std::unique_ptr<dram::Channels> channels)
    : config_(config),
      channels_(std::move(channels)),
      clocks_(config.clock_period, channels_->clock_period()),
      access_bytes_(channels_->access_bytes()),
      partitions_(config.partitions),
      queues_(channels_->count()) {
  SIMTLAB_ASSERT(
      config.partitions > 0 && channels_->count() > 0 && channels_->count() % config.partitions == 0,
      "channels are divided among partitions");
  SIMTLAB_ASSERT(config.request_queue > 0 && config.return_queue > 0 && config.return_bytes_per_cycle > 0,
                 "queues have places");
  if (!std::has_single_bit(access_bytes_) || access_bytes_ < 4 || access_bytes_ > 4096)
    throw Error(
        ExitCode::unsupported, "dram-access",
        fmt::format("the memory moves {} bytes in one access; a GPU needs a power of two from 4 to 4096",
                    access_bytes_),
        "change burst length or channel width, or take another technology");
  per_partition_ = channels_->count() / config.partitions;
  access_cost_ = to_fixed(access_bytes_ / config.return_bytes_per_cycle);
  waiting_.reserve(queues_.size());
  flights_.reserve(4096);
  restart();
}

void ChannelMemory::restart() {
  channels_->restart();
  for (Partition& partition : partitions_) partition = {0, config_.return_queue, {}, 0};
  for (Channel& channel : queues_) {
    channel.queue.clear();
    channel.listed = false;
    channel.awaits_room = true;
  }
  for (std::uint32_t i = 0; i < queues_.size(); ++i) await_room(i, false);
  waiting_.clear();
  flights_.clear();
  free_flights_.clear();
  events_.restart();
  end_ = now_ = read_bytes_ = write_bytes_ = 0;
  place_given_ = false;
}

ChannelMemory::Index ChannelMemory::new_flight(const MemoryRequest& request) {
  Index index;
  if (free_flights_.empty()) {
    index = static_cast<Index>(flights_.size());
    flights_.emplace_back();
  } else {
    index = free_flights_.back();
    free_flights_.pop_back();
  }
  flights_[index] = {request, 0, accesses_of(request.sectors), 0};
  return index;
}

// Several channels share a partition as partitions share the memory: chunk by chunk, each row of chunks begun
// elsewhere.
std::uint32_t ChannelMemory::channel_of(const MemoryRequest& request, std::uint64_t& channel_line) const {
  channel_line = request.line;
  if (per_partition_ == 1) return request.partition;
  const std::uint64_t chunk = request.line / lines_per_chunk;
  const std::uint64_t row = chunk / per_partition_;
  const std::uint64_t turn = (row * 0x9e3779b97f4a7c15ull) >> 40;
  channel_line = row * lines_per_chunk + request.line % lines_per_chunk;
  return request.partition * per_partition_ + static_cast<std::uint32_t>((chunk + turn) % per_partition_);
}

std::uint32_t ChannelMemory::accesses_of(std::uint8_t sectors) const {
  if (access_bytes_ >= line_bytes) return 1;
  std::uint32_t accesses = 0;
  if (access_bytes_ >= sector_bytes) {
    const unsigned wide = access_bytes_ / sector_bytes;
    for (unsigned sector = 0; sector < line_bytes / sector_bytes; ++sector)
      if (sectors >> sector & 1) accesses |= 1u << (sector / wide);
  } else {
    const unsigned parts = sector_bytes / access_bytes_;
    for (unsigned sector = 0; sector < line_bytes / sector_bytes; ++sector)
      if (sectors >> sector & 1) accesses |= ((1u << parts) - 1) << (sector * parts);
  }
  return accesses;
}

void ChannelMemory::push(const MemoryRequest& request, Cycle now) {
  SIMTLAB_ASSERT(request.sectors != 0, "a request moves something");
  now_ = now;
  std::uint64_t line = 0;
  const std::uint32_t number = channel_of(request, line);
  const Index index = new_flight(request);
  const std::uint64_t capacity = channels_->channel_bytes();
  flights_[index].base =
      capacity == 0 || line < capacity / line_bytes ? line * line_bytes : line * line_bytes % capacity;
  ++partitions_[request.partition].waiting;
  if (backlog_ != nullptr) backlog_->waits(request.slice, now);
  Channel& channel = queues_[number];
  channel.queue.push(index);
  if (channel.listed || admit(number, now)) return;
  channel.listed = true;
  waiting_.push_back(number);
}

// Hands the accesses over that the channel takes now; false: accesses are left.
bool ChannelMemory::admit(std::uint32_t number, Cycle now) {
  Channel& channel = queues_[number];
  const Cycle at = entry(now);
  while (!channel.queue.empty()) {
    const Index index = channel.queue.front();
    Flight& flight = flights_[index];
    Partition& partition = partitions_[flight.request.partition];
    while (flight.unsent != 0) {
      const auto number_in_line = static_cast<unsigned>(std::countr_zero(flight.unsent));
      const dram::Access access{flight.base + std::uint64_t{number_in_line} * access_bytes_,
                                flight.request.write, flight.request.source, index};
      if (!access.write && partition.places == 0) return false;
      if (!channels_->accepts(number, access) &&
          (channel.awaits_room || !channels_->accepts_by(number, access, at))) {
        await_room(number, true);
        return false;
      }
      channels_->add(number, access, at);
      if (!access.write) --partition.places;
      flight.unsent &= flight.unsent - 1;
      ++flight.outstanding;
      (access.write ? write_bytes_ : read_bytes_) += access_bytes_;
      partition.bytes += access_bytes_;
    }
    channel.queue.pop();
    leave_queue(flight.request.partition, flight, now);
  }
  await_room(number, false);
  return true;
}

void ChannelMemory::await_room(std::uint32_t number, bool waits) {
  if (std::exchange(queues_[number].awaits_room, waits) != waits) channels_->await_room(number, waits);
}

void ChannelMemory::leave_queue(std::uint32_t number, const Flight& flight, Cycle now) {
  Partition& partition = partitions_[number];
  const bool was_full = partition.waiting >= config_.request_queue;
  --partition.waiting;
  if (flight.request.write && backlog_ != nullptr) backlog_->served(flight.request.slice, now);
  if (flight.request.write)
    events_.push(now + 1, {{flight.request.tag, number, true, flight.request.sectors}, What::done});
  else if (was_full)
    events_.push(now + 1, {{no_tag, number, true, 0}, What::done});
}

void ChannelMemory::complete(const dram::Completion& completion, Cycle now) {
  const auto index = static_cast<Index>(completion.tag);
  SIMTLAB_ASSERT(index < flights_.size() && flights_[index].outstanding > 0,
                 "a channel completes what it was given, once");
  Flight& flight = flights_[index];
  --flight.outstanding;
  const MemoryRequest& request = flight.request;
  const bool last = flight.outstanding == 0 && flight.unsent == 0;
  if (!request.write) {
    if (last && backlog_ != nullptr) backlog_->served(request.slice, now);
    const Cycle begin =
        partitions_[request.partition].port.take(clocks_.to_outer(completion.at), access_cost_);
    if (begin <= now)
      give_place(request.partition);
    else
      events_.push(begin, {{0, request.partition, false, 0}, What::place});
    if (last)
      events_.push(begin + config_.path,
                   {{request.tag, request.partition, false, request.sectors}, What::done});
  }
  if (last) free_flights_.push_back(index);
}

void ChannelMemory::give_place(std::uint32_t partition) {
  if (partitions_[partition].places++ == 0) place_given_ = true;
}

void ChannelMemory::admit_waiting(Cycle now) {
  for (const std::uint32_t number : waiting_) expect(queues_[number].queue.front());
  std::size_t kept = 0;
  for (const std::uint32_t number : waiting_) {
    if (admit(number, now))
      queues_[number].listed = false;
    else
      waiting_[kept++] = number;
  }
  waiting_.resize(kept);
}

Cycle ChannelMemory::next_event() const {
  const Cycle next = std::min(events_.next_time(), clocks_.to_outer(channels_->next_event()));
  // A request was refused and nothing is under way that could make room: advance() throws the error.
  return next == never && !waiting_.empty() ? now_ : std::max(next, now_);
}

void ChannelMemory::advance(Cycle now, std::vector<MemoryDone>& done) {
  now_ = now;
  const Cycle end = clocks_.to_inner(now) + 1;
  const bool changed = channels_->next_event() < end;
  if (changed) {
    completions_.clear();
    channels_->advance(end, completions_);
    end_ = end;
    for (const dram::Completion& completion : completions_) expect(static_cast<Index>(completion.tag));
    for (const dram::Completion& completion : completions_) complete(completion, now);
  }
  const auto take = [&] {
    for (Event event; events_.pop(now, event);) {
      if (event.what == What::place)
        give_place(event.done.partition);
      else
        done.push_back(event.done);
    }
  };
  take();
  if (waiting_.empty()) return;
  const bool stuck = events_.empty() && channels_->next_event() == never;
  if (changed || place_given_ || stuck) admit_waiting(now);
  place_given_ = false;
  if (stuck && !waiting_.empty() && channels_->next_event() == never)
    throw Error(
        ExitCode::failure, "dram-stalled",
        fmt::format(
            "the memory refuses a request of channel {} and has nothing under way: it would wait for ever",
            waiting_.front()),
        "an empty channel must take a request; a plug-in that does not is at fault (docs/guide/plugins.md)");
}

void ChannelMemory::coming(Cycle end, std::vector<std::uint64_t>& tags) const {
  events_.each_before(end, [&](const Event& event) {
    if (event.what == What::done && !event.done.write && event.done.tag != no_tag)
      tags.push_back(event.done.tag);
  });
}

MemoryStatistics ChannelMemory::statistics() const {
  MemoryStatistics out;
  out.read_bytes = read_bytes_;
  out.write_bytes = write_bytes_;
  out.least_partition_bytes = partitions_.front().bytes;
  for (const Partition& partition : partitions_) {
    out.least_partition_bytes = std::min(out.least_partition_bytes, partition.bytes);
    out.most_partition_bytes = std::max(out.most_partition_bytes, partition.bytes);
  }
  return out;
}

Cycle ChannelMemory::settle(Cycle end) {
  const Cycle inner = clocks_.to_inner(end);
  if (inner > end_) {
    completions_.clear();  // there are some only if the launch was stopped
    channels_->advance(inner, completions_);
    end_ = inner;
  }
  return end_;
}

}  // namespace simtlab::memory

// The memory partitions of a GPU in front of detailed channels (memory/dram/channels.h).
//
//   L2 slices -> L2-to-DRAM queue -> channel (its own clock) -> DRAM-to-L2 queue -> the rest of the way -> L2
//   slices
//
// A partition has one channel or several, among which its lines are spread like lines among partitions. A
// request of some sectors of a 128-byte line becomes as many accesses of the channel as it needs: several
// where an access is shorter than a line, one that fetches more than was asked where it is longer. It is done
// when the last of them is back.
//
// The L2-to-DRAM queue holds requests until their last access is in the channel's own queue; write-backs
// enter it even when it is full (D-DRAM-2). The DRAM-to-L2 queue holds read accesses, is drained at the
// partition's share of L2's bandwidth, and its places are taken when a read enters the channel: a queue that
// is not drained holds the channel back, nothing is lost.
//
// Clocks: an access enters at the first memory clock after the cycle of the request, and its data is seen in
// the first cycle that begins with or after the memory clock of its completion. Event-driven; looks only at
// channels whose queue waits. Addresses beyond the capacity of a channel begin again at 0: the device's
// memory may be larger than the one put in its place.
#pragma once

#include <memory>

#include "memory/calendar.h"
#include "memory/clock_ratio.h"
#include "memory/dram/channels.h"
#include "memory/main_memory.h"
#include "memory/ring.h"

namespace simtlab::memory {

struct ChannelMemoryConfig {
  std::uint32_t partitions = 1;
  double clock_period = 1000;  // ps, of the cycles of this interface
  // From the DRAM-to-L2 queue on, and whatever the request took on its way
  Cycle path = 0;
  std::uint32_t request_queue = 64;    // requests of a partition
  std::uint32_t return_queue = 192;    // read accesses of a partition
  double return_bytes_per_cycle = 32;  // at which a partition's return queue is drained
};

class ChannelMemory final : public MainMemory {
 public:
  // The channels are divided among the partitions: count() is a multiple of config.partitions.
  // Throws Error(unsupported "dram-access") if an access is no power of two between 4 and 4096 bytes.
  ChannelMemory(const ChannelMemoryConfig& config, std::unique_ptr<dram::Channels> channels);

  bool ready(std::uint32_t partition, Cycle) const override {
    return partitions_[partition].waiting < config_.request_queue;
  }
  void push(const MemoryRequest& request, Cycle now) override;
  Cycle next_event() const override;
  // Throws Error(failure "dram-stalled") if requests wait and nothing will ever happen.
  void advance(Cycle now, std::vector<MemoryDone>& done) override;
  void coming(Cycle end, std::vector<std::uint64_t>& tags) const override;
  MemoryStatistics statistics() const override;
  dram::Channels* channels() override { return channels_.get(); }
  Cycle settle(Cycle end) override;
  void restart() override;

 private:
  using Index = std::uint32_t;
  // A request until its last access is back.
  struct alignas(64) Flight {
    MemoryRequest request;
    std::uint64_t base = 0;         // address of its line in the channel
    std::uint32_t unsent = 0;       // accesses of the line, one bit each
    std::uint32_t outstanding = 0;  // accesses in the channel
  };
  struct Channel {
    memory::Ring<Index> queue;  // flights with accesses that have not entered
    bool listed = false;        // in waiting_
    bool awaits_room = true;    // as the channel has been told
  };
  struct Partition {
    std::uint32_t waiting = 0;  // requests in the L2-to-DRAM queue
    std::uint32_t places = 0;   // free ones in the DRAM-to-L2 queue
    Port port;                  // drains it
    std::uint64_t bytes = 0;
  };
  enum class What : std::uint8_t { done, place };  // place: an access left the DRAM-to-L2 queue
  struct Event {
    MemoryDone done;
    What what;
  };

  Index new_flight(const MemoryRequest& request);
  std::uint32_t channel_of(const MemoryRequest& request, std::uint64_t& channel_line) const;
  std::uint32_t accesses_of(std::uint8_t sectors) const;
  // A hint that the flight is looked at soon. Always inline: g++ takes functions that only prefetch for ones
  // without effect.
  [[gnu::always_inline]] void expect(Index flight) const { __builtin_prefetch(&flights_[flight], 1); }
  bool admit(std::uint32_t channel, Cycle now);
  void await_room(std::uint32_t channel, bool waits);
  void leave_queue(std::uint32_t partition, const Flight& flight, Cycle now);
  void complete(const dram::Completion& completion, Cycle now);
  void give_place(std::uint32_t partition);
  void admit_waiting(Cycle now);
  Cycle entry(Cycle now) const { return std::max(end_, clocks_.to_inner(now) + 1); }

  ChannelMemoryConfig config_;
  std::unique_ptr<dram::Channels> channels_;
  ClockRatio clocks_;
  std::uint32_t per_partition_ = 1, access_bytes_ = 32;
  FixedCycles access_cost_ = 0;
  std::vector<Partition> partitions_;
  std::vector<Channel> queues_;
  // Channels with accesses that were refused or found no place, in order of listing
  std::vector<std::uint32_t> waiting_;
  std::vector<Flight> flights_;
  std::vector<Index> free_flights_;
  std::vector<dram::Completion> completions_;
  Calendar<Event> events_;
  Cycle end_ = 0;             // of the last advance of the channels, in their clocks
  Cycle now_ = 0;             // of the last advance or push
  bool place_given_ = false;  // a DRAM-to-L2 queue that was full has a place
  std::uint64_t read_bytes_ = 0, write_bytes_ = 0;
};

}  // namespace simtlab::memory

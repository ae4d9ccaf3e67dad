// One SM of a study: its resident blocks, its L1, and what its warps or threads access in which order.
#pragma once

#include <bit>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cache/access_log.h"
#include "cache/bits.h"
#include "cache/buffers.h"
#include "cache/code.h"
#include "cache/l1.h"
#include "cache/picture.h"
#include "exec/spin.h"
#include "stream/local_memory.h"
#include "stream/warp_source.h"

namespace simtlab::cache {

// Hands out the blocks of a launch: to whoever asks, in the order of their index; with --sms, each SM has its
// own in turn.
class BlockQueue {
 public:
  BlockQueue(std::uint64_t first, std::uint64_t end, std::uint32_t sms, bool dealt)
      : first_(first), next_(first), end_(end), dealt_(dealt) {
    if (!dealt_) return;
    for (std::uint32_t sm = 0; sm < sms; ++sm) own_.push_back(first + sm);
  }
  std::uint64_t taken() const { return taken_; }
  bool dealt() const { return dealt_; }
  bool closed() const { return closed_; }
  std::uint64_t next() const { return next_; }  // that nobody has taken, unless they are dealt
  std::uint64_t end() const { return end_; }
  void close() { closed_ = !needed_; }                // no further ones
  void reopen() { closed_ = false, needed_ = true; }  // after all: others wait for them
  // Where they are dealt: how many an SM has had, of first + sm, first + sm + SMs, ...
  std::uint64_t taken_by(std::uint32_t sm) const {
    return dealt_ ? (own_[sm] - first_ - sm) / own_.size() : 0;
  }
  std::optional<std::uint64_t> take(std::uint32_t sm) {
    std::uint64_t& next = dealt_ ? own_[sm] : next_;
    if (next >= end_ || closed_) return std::nullopt;
    ++taken_;
    const std::uint64_t block = next;
    next += dealt_ ? own_.size() : 1;
    return block;
  }

 private:
  std::uint64_t first_, next_, end_, taken_ = 0;
  bool dealt_, closed_ = false, needed_ = false;
  std::vector<std::uint64_t> own_;
};

class Sm;

// What all SMs of a launch share.
struct LaunchState {
  void check_interrupt() const;  // throws Error(interrupted)
  // Now and then: can anybody ever go on? Throws Fault(deadlock), unless what they wait for may still come.
  void look_ahead();

  const stream::WarpSource& source;
  const device::Device& device;
  const Options& options;
  Codes& codes;
  Buffers& buffers;
  BlockQueue& blocks;
  std::uint32_t blocks_per_sm = 1;
  std::uint32_t l1_ways = 1;
  std::uint64_t local_bytes = 0;  // of a warp
  const volatile bool* interrupt = nullptr;
  std::uint64_t warp_instructions = 0, thread_instructions = 0, thread_accesses = 0;
  std::vector<Sm*> sms{};                    // those that are simulated
  bool part = false;                         // blocks of the grid are left out
  std::function<void()> waits_for_others{};  // as Study::Launch's
  exec::Lookout lookout{std::uint64_t{1} << 18, 256};
  std::uint64_t seen_blocks = 0;             // taken, at the last look
  AccessLog* log = nullptr;                  // null: nobody wants it
  std::vector<Picture>* pictures = nullptr;  // of each SM, fewer points than the one picture of the first
};

class Sm {
 public:
  Sm(std::uint32_t id, LaunchState& launch, L1& l1, Picture* picture);
  virtual ~Sm() = default;

  std::uint32_t id() const { return id_; }
  bool accept_block();  // takes the next block if it has room; false: no room or no block
  bool finished() const { return resident_ == 0; }
  bool stuck(std::uint32_t steps, std::vector<exec::Stuck>& who);  // all that are resident are (exec/spin.h)
  virtual void run(Time until) = 0;                                // works up to then
  virtual Time next_time() const = 0;                              // when it can go on; ~0: nothing resident
  std::uint64_t blocks_run() const { return blocks_run_; }
  // Of the host, for accesses that wait for their turn
  virtual std::uint64_t bytes_kept() const { return 0; }

 protected:
  struct Resident {
    std::unique_ptr<stream::ResidentBlock> block;
    std::uint64_t index = 0;
    std::uint32_t live = 0;  // warps that have not ended; 0: free
  };
  // A warp of the block in this place, of all of the SM.
  std::uint32_t place_of(std::uint32_t resident, unsigned warp) const {
    return resident * warps_per_block_ + warp;
  }
  Resident& resident_of(std::uint32_t place) { return residents_[place / warps_per_block_]; }
  unsigned warp_of(std::uint32_t place) const { return place % warps_per_block_; }
  Accessor accessor(std::uint32_t place) const;
  std::uint64_t local_address(std::uint32_t place) const {
    return stream::local_address(0, std::uint64_t{id_} * launch_.device.sm.max_warps + place,
                                 launch_.local_bytes);
  }
  std::uint32_t places() const { return static_cast<std::uint32_t>(residents_.size()) * warps_per_block_; }

  virtual void warp_began(std::uint32_t place) = 0;
  void warp_ended(std::uint32_t place);  // the block may end, and the next one begin
  void check_progress() const;           // throws if nobody can go on
  // Adds an access of lanes to the counters of its instruction, before it is split in lines.
  void count_request(Code& code, std::uint32_t pc, const stream::Step& step);
  static std::uint64_t first_byte(const stream::Segment& segment) {
    return static_cast<unsigned>(std::countr_zero(segment.sectors)) * stream::sector_bytes;
  }
  // Adds the segments of an access up, as long as they are of one buffer.
  class SegmentCounts {
   public:
    SegmentCounts() = default;
    SegmentCounts(const SegmentCounts&) = delete;
    SegmentCounts& operator=(const SegmentCounts&) = delete;
    ~SegmentCounts() { flush(); }
    void add(const stream::Segment& segment, const Tally& tally) {
      if (tally.buffer != tally_.buffer) {
        flush();
        tally_ = tally;
      }
      ++lines_;
      sectors_ += stream::count_sectors(segment.sectors);
      bytes_ += count_bits(segment.bytes[0] | std::uint64_t{segment.bytes[1]} << 32) +
                count_bits(segment.bytes[2] | std::uint64_t{segment.bytes[3]} << 32);
    }

   private:
    void flush() {
      if (lines_ == 0) return;
      for (AccessCounts* counts : {tally_.instruction, tally_.buffer})
        counts->lines += lines_, counts->sectors += sectors_, counts->bytes += bytes_;
      lines_ = sectors_ = bytes_ = 0;
    }
    Tally tally_;
    std::uint64_t lines_ = 0, sectors_ = 0, bytes_ = 0;
  };
  Tally tally(Code& code, std::uint32_t pc, std::uint64_t address);
  bool draws() const { return picture_ != nullptr || own_picture_ != nullptr; }
  void draw(const stream::Step& step, std::uint32_t place, bool store);
  void draw(std::uint64_t address, std::uint32_t thread, bool store);  // one access
  // Of thread `thread` of the SM's places, in turns of `width`.
  void log(std::uint64_t address, bool store, std::uint32_t thread, std::uint32_t width, const Code& code,
           std::uint32_t pc) const {
    const std::uint32_t place = thread / stream::lanes;
    const std::uint32_t in_block = warp_of(place) * stream::lanes + thread % stream::lanes;
    launch_.log->access(address, store, residents_[place / warps_per_block_].index, in_block / width,
                        code.function().code[pc].line);
  }

  std::uint32_t id_;
  LaunchState& launch_;
  L1& l1_;
  Picture *picture_, *own_picture_;  // null: not wanted
  unsigned warps_per_block_;
  std::unique_ptr<stream::SmShare> share_;
  std::vector<Resident> residents_;
  std::uint32_t resident_ = 0;
  std::uint64_t blocks_run_ = 0;
  std::uint32_t buffer_hint_ = 0;
  stream::Segments segments_;
};

// The warps of an SM in the order of a schedule; with latencies and limits of outstanding misses, or without.
std::unique_ptr<Sm> make_warp_sm(std::uint32_t id, LaunchState& launch, L1& l1, Picture* picture);
// The threads of an SM one by one.
std::unique_ptr<Sm> make_thread_sm(std::uint32_t id, LaunchState& launch, L1& l1, Picture* picture);

}  // namespace simtlab::cache

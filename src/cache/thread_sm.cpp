// Threads one by one: what the caches of a machine without warps would see, and the order of studies that
// came before ours (sequential, random, round-robin; Crawford 2014). Accesses are not coalesced. There is no
// time: what misses is filled at once.
//
// Warps still execute as warps; their lanes' accesses are kept and handed out in the order of the policy.
// Neither barriers nor fences are passed: a warp goes on behind one when all that its threads did before has
// been handed out. A warp keeps at most `most_kept` accesses: with more to come, a thread whose own are
// handed out waits until the warp's others are served.
#include <algorithm>
#include <bit>
#include <deque>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "cache/order.h"
#include "cache/sm.h"

namespace simtlab::cache {
namespace {

constexpr std::size_t most_kept = 1u << 16;  // accesses of a warp
constexpr std::uint64_t steps_between_looks = 4096;
// Without an access, before others go on: it may wait for them
constexpr std::uint64_t steps_alone = std::uint64_t{1} << 22;
constexpr std::uint32_t plain_at_once = 1024;  // instructions
constexpr std::uint64_t accesses_of_a_run = 4096;

struct Kept {
  std::uint64_t address;
  Code* code;
  std::uint32_t pc;
  std::uint16_t bytes;
  bool local;
};

class ThreadSm final : public Sm {
 public:
  ThreadSm(std::uint32_t id, LaunchState& launch, L1& l1, Picture* picture)
      : Sm(id, launch, l1, picture),
        order_(order_policy(launch.options.order).threads(launch.options.seed + id)),
        warps_(places()),
        lanes_(std::size_t{places()} * stream::lanes),
        candidates_(places() * stream::lanes) {}

  void run(Time until) override {
    for (std::uint64_t done = 0; done < accesses_of_a_run && !finished();) {
      const std::uint32_t thread = order_->pick(static_cast<std::uint32_t>(lanes_.size()), candidates_,
                                                [this](std::uint32_t t) { return offer(t); });
      if (thread == ThreadOrder::none) {
        if (!yielded_.empty()) {
          for (const std::uint32_t place : std::exchange(yielded_, {})) nominate(place);
          break;  // other SMs, too
        }
        if (!finished() && !progress_) check_progress();
        progress_ = false;
        continue;
      }
      progress_ = true;
      access(thread);
      ++done;
    }
    now_ = std::max(now_ + 1, until);
  }

  Time next_time() const override { return finished() ? ~Time{0} : now_; }
  std::uint64_t bytes_kept() const override { return kept_ * sizeof(Kept); }

 private:
  struct Warp {
    bool resident = false, at_barrier = false;
    std::size_t kept = 0;  // accesses of all its lanes
  };

  void warp_began(std::uint32_t place) override {
    warps_[place] = {.resident = true};
    nominate(place);
  }

  std::deque<Kept>& lane(std::uint32_t thread) { return lanes_[thread]; }

  void nominate(std::uint32_t place) {
    progress_ = true;
    for (unsigned l = 0; l < stream::lanes; ++l) candidates_.add(place * stream::lanes + l);
  }

  // Whether the thread has an access to hand out; its warp goes on until it has, or cannot.
  bool offer(std::uint32_t thread) {
    const std::uint32_t place = thread / stream::lanes;
    if (warps_[place].resident && lane(thread).empty()) advance(place, thread);
    if (!lane(thread).empty()) return true;
    candidates_.remove(thread);
    return false;
  }

  void advance(std::uint32_t place, std::uint32_t thread) {
    Warp& warp = warps_[place];
    stream::ResidentBlock& block = *resident_of(place).block;
    const unsigned w = warp_of(place);
    for (std::uint64_t alone = 1;
         lane(thread).empty() && warp.resident && !warp.at_barrier && warp.kept < most_kept; ++alone) {
      if (++steps_ % steps_between_looks == 0) {  // a loop without accesses may have no end
        launch_.check_interrupt();
        launch_.look_ahead();
      }
      if (alone % steps_alone == 0) return yielded_.push_back(place);
      const exec::Run run = block.run_plain(w, plain_at_once);
      launch_.warp_instructions += run.instructions;
      launch_.thread_instructions += run.threads;
      const stream::Next next = block.next(w);
      Code& code = launch_.codes.of(*next.function);
      const StaticInst& inst = code[next.pc];
      if (inst.orders && warp.kept != 0) return;
      const stream::Step& step = block.step(w, 0);
      progress_ = true;
      ++launch_.warp_instructions;
      launch_.thread_instructions += static_cast<unsigned>(std::popcount(step.mask));
      if (inst.access != Access::none) keep(place, code, next.pc, step);
      if (inst.changes_status) settle(place, block, w);
    }
  }

  void keep(std::uint32_t place, Code& code, std::uint32_t pc, const stream::Step& step) {
    if (step.mask == 0 || step.addresses == nullptr || step.space == ptx::Space::shared ||
        step.space == ptx::Space::param || step.space == ptx::Space::constant)
      return;
    count_request(code, pc, step);
    for (std::uint32_t rest = step.mask; rest != 0; rest &= rest - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(rest));
      lane(place * stream::lanes + l)
          .push_back({step.addresses[l], &code, pc, step.bytes, step.space == ptx::Space::local});
      ++warps_[place].kept;
      ++kept_;
    }
  }

  // The warp may stand at a barrier, or have released one; it may have ended.
  void settle(std::uint32_t place, const stream::ResidentBlock& block, unsigned w) {
    const std::uint32_t first = place - w;
    for (unsigned other = 0; other < warps_per_block_; ++other)
      if (warps_[first + other].at_barrier && block.status(other) == stream::WarpStatus::ready) {
        warps_[first + other].at_barrier = false;
        nominate(first + other);
      }
    const stream::WarpStatus status = block.status(w);
    warps_[place].at_barrier = status == stream::WarpStatus::barrier;
    if (status == stream::WarpStatus::exited) {
      ended_.push_back(place);
      retire();
    }
  }

  // Warps that have ended and whose accesses are all handed out.
  void retire() {
    for (std::size_t i = 0; i < ended_.size();) {
      const std::uint32_t place = ended_[i];
      if (warps_[place].kept != 0) {
        warps_[place].at_barrier = true;  // nothing more to execute
        ++i;
        continue;
      }
      ended_.erase(ended_.begin() + static_cast<std::ptrdiff_t>(i));
      warps_[place].resident = false;
      warp_ended(place);
      i = 0;
    }
  }

  void access(std::uint32_t thread) {
    const std::uint32_t place = thread / stream::lanes;
    const Kept kept = lane(thread).front();
    lane(thread).pop_front();
    --warps_[place].kept;
    --kept_;
    const StaticInst& inst = (*kept.code)[kept.pc];
    std::uint64_t addresses[stream::lanes] = {kept.address};
    if (kept.local) {
      addresses[thread % stream::lanes] = kept.address;
      stream::coalesce_local(addresses, 1u << (thread % stream::lanes), kept.bytes, local_address(place),
                             segments_);
    } else if (inst.access == Access::atomic) {
      stream::coalesce_atomic(addresses, 1, kept.bytes, segments_);
    } else {
      stream::coalesce(addresses, 1, kept.bytes, segments_);
    }
    const Accessor who = accessor(place);
    if (picture_ != nullptr && !kept.local)
      draw(kept.address, who.warp * stream::lanes + thread % stream::lanes, inst.access == Access::store);
    SegmentCounts counted;
    for (unsigned i = 0; i < segments_.count; ++i) {
      const stream::Segment& segment = segments_.items[i];
      const Tally counters =
          tally(*kept.code, kept.pc, segment.line * stream::line_bytes + first_byte(segment));
      counted.add(segment, counters);
      Time now = 0;  // always: the study has no latencies then (on_device of options.h)
      if (inst.access == Access::load) {
        if (inst.cached || kept.local)
          l1_.read(segment, who, now, counters);
        else
          l1_.read_past(segment, who, now, counters);
      } else if (inst.access == Access::store) {
        l1_.write(segment, kept.local);
      } else {
        l1_.atomic(segment, who, now);
      }
    }
    // What held the warp's threads up may be over: a barrier, or too much that is kept.
    if (warps_[place].resident && (warps_[place].kept == 0 || warps_[place].kept == most_kept / 2))
      nominate(place);
    if (warps_[place].kept == 0) retire();
  }

  std::unique_ptr<ThreadOrder> order_;
  std::vector<Warp> warps_;
  std::vector<std::deque<Kept>> lanes_;  // by thread
  WarpSet candidates_;                   // threads that may have an access
  std::vector<std::uint32_t> ended_;     // warps whose accesses are not all handed out
  std::uint64_t kept_ = 0;               // accesses of all warps
  bool progress_ = false;
  std::uint64_t steps_ = 0;
  std::vector<std::uint32_t> yielded_;  // warps that have looped for long, alone
  Time now_ = 0;
};

}  // namespace

std::unique_ptr<Sm> make_thread_sm(std::uint32_t id, LaunchState& launch, L1& l1, Picture* picture) {
  return std::make_unique<ThreadSm>(id, launch, l1, picture);
}

}  // namespace simtlab::cache

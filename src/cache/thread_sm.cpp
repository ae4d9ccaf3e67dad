// Threads one by one: what the caches of a machine without warps would see, and the order of studies that
// came before ours (sequential, random, round-robin; Crawford 2014). Accesses are not coalesced. There is no
// time: what misses is filled at once.
//
// With Options::warp_size, so many neighbours of a block take turns together: of the accesses that they have
// next, those that one instruction made are coalesced; the first of the program goes first. With
// Options::alternate_blocks, blocks take turns, too (turn_numbers.h).
//
// Warps still execute as warps; their lanes' accesses are kept and handed out in the order of the policy.
// Neither barriers nor fences are passed: a warp goes on behind one when all that its threads did before has
// been handed out. A warp keeps at most `most_kept` accesses: with more to come, a thread whose own are
// handed out waits until the warp's others are served.
#include <algorithm>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "cache/kept_accesses.h"
#include "cache/order.h"
#include "cache/sm.h"
#include "cache/turn_numbers.h"

namespace simtlab::cache {
namespace {

constexpr std::size_t most_kept = 1u << 16;  // accesses of a warp
constexpr std::uint64_t steps_between_looks = 4096;
// Without an access, before others go on: it may wait for them
constexpr std::uint64_t steps_alone = std::uint64_t{1} << 22;
constexpr std::uint32_t plain_at_once = 1024;  // instructions
constexpr std::uint64_t accesses_of_a_run = 4096;

class ThreadSm final : public Sm {
 public:
  ThreadSm(std::uint32_t id, LaunchState& launch, L1& l1, Picture* picture)
      : Sm(id, launch, l1, picture),
        order_(order_policy(launch.options.order).threads(launch.options.seed + id)),
        warps_(places()),
        lanes_(std::size_t{places()} * stream::lanes),
        width_(std::max(1u, launch.options.warp_size)),
        block_threads_(warps_per_block_ * stream::lanes),
        units_per_block_((block_threads_ + width_ - 1) / width_),
        units_(places() / warps_per_block_ * units_per_block_),
        numbers_(places() / warps_per_block_, units_per_block_, launch.options.alternate_blocks),
        candidates_(units_) {
    if (launch.options.alternate_blocks && width_ == 1) in_grid_.resize(residents_.size());
  }

  void run(Time until) override {
    for (std::uint64_t done = 0; done < accesses_of_a_run && !finished();) {
      if (new_blocks_) number_by_grid();
      const std::uint32_t number = order_->pick(units_, candidates_, ask_);
      if (number == ThreadOrder::none) {
        if (!yielded_.empty()) {
          for (const std::uint32_t place : std::exchange(yielded_, {})) nominate(place);
          break;  // other SMs, too
        }
        launch_.check_interrupt();
        if (kept_ != 0) {
          nominate_kept();
          continue;
        }
        if (!finished() && !progress_) check_progress();
        progress_ = false;
        continue;
      }
      progress_ = true;
      if (width_ == 1)
        access_alone(numbers_.unit_of(number));
      else
        access(numbers_.unit_of(number));
      ++done;
    }
    now_ = std::max(now_ + 1, until);
  }

  Time next_time() const override { return finished() ? ~Time{0} : now_; }
  std::uint64_t bytes_kept() const override { return kept_ * sizeof(Kept); }

 private:
  struct Warp {
    bool resident = false, at_barrier = false;
    std::uint32_t steps = 0;  // that accessed memory
    std::size_t kept = 0;     // accesses of all its lanes
  };

  void warp_began(std::uint32_t place) override {
    warps_[place] = {.resident = true};
    new_blocks_ = !in_grid_.empty();
    nominate(place);
  }

  // Single threads of blocks that alternate go by their numbers in the grid.
  void number_by_grid() {
    new_blocks_ = false;
    for (std::size_t i = 0; i < residents_.size(); ++i)
      in_grid_[i] = residents_[i].live == 0 ? TurnNumbers::vacant : residents_[i].index;
    const std::span<const std::uint32_t> renumbered =
        numbers_.by_grid(in_grid_, launch_.source.grid(), launch_.source.block());
    const WarpSet before = candidates_;
    candidates_ = WarpSet(units_);
    for (std::uint32_t old = before.next(0); old != WarpSet::none; old = before.next(old + 1)) {
      candidates_.add(renumbered[old]);
      if (old + 1 == units_) break;
    }
    order_->renumbered(renumbered);
  }

  void nominate(std::uint32_t place) {
    progress_ = true;
    const std::uint32_t block = place / warps_per_block_;
    const std::uint32_t first = place % warps_per_block_ * stream::lanes / width_;
    const std::uint32_t count = std::max(1u, stream::lanes / width_);
    for (std::uint32_t u = first; u < first + count; ++u)
      candidates_.add(numbers_.number_of(block * units_per_block_ + u));
  }

  // Threads that had nothing when their warp had kept too much have got something since.
  void nominate_kept() {
    for (std::uint32_t place = 0; place < warps_.size(); ++place)
      if (warps_[place].kept != 0) nominate(place);
  }

  // The threads of a unit: from first to end, of the same block.
  struct Threads {
    std::uint32_t first, end;
  };
  Threads threads_of(std::uint32_t unit) const {
    const std::uint32_t block = unit / units_per_block_, begin = block * block_threads_;
    const std::uint32_t first = begin + unit % units_per_block_ * width_;
    return {first, std::min(first + width_, begin + block_threads_)};
  }
  // Those of them that are of one warp, and where that is.
  template <class Body>
  static void each_warp(Threads threads, const Body& body) {
    for (std::uint32_t t = threads.first; t < threads.end;) {
      const std::uint32_t place = t / stream::lanes;
      const std::uint32_t end = std::min((place + 1) * stream::lanes, threads.end);
      body(place, Threads{t, end});
      t = end;
    }
  }
  bool none_kept(Threads threads) const {
    for (std::uint32_t t = threads.first; t < threads.end; ++t)
      if (!lanes_[t].empty()) return false;
    return true;
  }

  // Whether its threads have an access to hand out; their warps go on until they have, or cannot.
  bool offer(std::uint32_t number) {
    const std::uint32_t unit = numbers_.unit_of(number);
    if (width_ == 1 && !lanes_[unit].empty()) return true;
    const Threads threads = threads_of(unit);
    each_warp(threads, [&](std::uint32_t place, Threads of_warp) {
      if (warps_[place].resident && none_kept(of_warp)) advance(place, of_warp);
    });
    if (!none_kept(threads)) return true;
    candidates_.remove(number);
    return false;
  }

  void advance(std::uint32_t place, Threads threads) {
    Warp& warp = warps_[place];
    stream::ResidentBlock& block = *resident_of(place).block;
    const unsigned w = warp_of(place);
    for (std::uint64_t alone = 1;
         none_kept(threads) && warp.resident && !warp.at_barrier && warp.kept < most_kept; ++alone) {
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
    const std::uint32_t number = ++warps_[place].steps;
    for (std::uint32_t rest = step.mask; rest != 0; rest &= rest - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(rest));
      lanes_[place * stream::lanes + l].push_back(
          {step.addresses[l], &code, pc, number, step.bytes, step.space == ptx::Space::local});
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

  // The first step of a warp that one of these threads has kept; null: none.
  const Kept* first_kept(Threads threads) const {
    const Kept* first = nullptr;
    for (std::uint32_t t = threads.first; t < threads.end; ++t)
      if (!lanes_[t].empty() && (first == nullptr || lanes_[t].front().step < first->step))
        first = &lanes_[t].front();
    return first;
  }
  // Warps of the device that stand for one larger one: the instruction that comes first in the text.
  static bool earlier(const Kept& a, const Kept& b) {
    return a.code == b.code ? a.pc < b.pc : a.code->function().line < b.code->function().line;
  }

  // The access of a single thread.
  void access_alone(std::uint32_t thread) {
    const Kept kept = lanes_[thread].front();
    const std::uint32_t place = thread / stream::lanes;
    hand_out(thread, accessor(place).warp * stream::lanes, kept);
    std::uint64_t addresses[stream::lanes];
    const unsigned l = kept.local ? thread % stream::lanes : 0;
    addresses[l] = kept.address;
    coalesce(kept, place, addresses, 1u << l);
    send(kept, place, {segments_.items.data(), segments_.count});
    go_on(place);
    if (warps_[place].kept == 0) retire();
  }

  void access(std::uint32_t unit) {
    const Threads threads = threads_of(unit);
    Kept chosen{};
    each_warp(threads, [&](std::uint32_t, Threads of_warp) {
      const Kept* const first = first_kept(of_warp);
      if (first != nullptr && (chosen.code == nullptr || earlier(*first, chosen))) chosen = *first;
    });
    merged_.clear();
    std::uint32_t asker = 0;
    each_warp(threads, [&](std::uint32_t place, Threads of_warp) {
      const Kept* const first = first_kept(of_warp);
      if (first == nullptr || first->code != chosen.code || first->pc != chosen.pc) return;
      if (merged_.empty()) asker = place;
      take(place, of_warp, first->step, chosen);
    });
    send(chosen, asker, merged_);
    each_warp(threads, [&](std::uint32_t place, Threads) { go_on(place); });
    bool done = false;
    each_warp(threads, [&](std::uint32_t place, Threads) { done = done || warps_[place].kept == 0; });
    if (done) retire();
  }

  // What held the warp's threads up may be over: a barrier, or too much that is kept.
  void go_on(std::uint32_t place) {
    const Warp& warp = warps_[place];
    if (warp.resident && (warp.kept == 0 || warp.kept == most_kept / 2)) nominate(place);
  }

  // A thread's next access is no longer kept. first_thread: of its warp, in the launch.
  void hand_out(std::uint32_t thread, std::uint32_t first_thread, const Kept& kept) {
    const std::uint64_t address = lanes_[thread].front().address;
    lanes_[thread].pop_front();
    --warps_[thread / stream::lanes].kept;
    --kept_;
    if (kept.local || (!draws() && launch_.log == nullptr)) return;
    const bool store = (*kept.code)[kept.pc].access == Access::store;
    if (draws()) draw(address, first_thread + thread % stream::lanes, store);
    if (launch_.log != nullptr) log(address, store, thread, width_, *kept.code, kept.pc);
  }

  void coalesce(const Kept& kept, std::uint32_t place, const std::uint64_t* addresses, std::uint32_t mask) {
    if (kept.local)
      stream::coalesce_local(addresses, mask, kept.bytes, local_address(place), segments_);
    else if ((*kept.code)[kept.pc].access == Access::atomic)
      stream::coalesce_atomic(addresses, mask, kept.bytes, segments_);
    else
      stream::coalesce(addresses, mask, kept.bytes, segments_);
  }

  // Takes a step's accesses of these threads out, coalesced with what is taken already.
  void take(std::uint32_t place, Threads threads, std::uint32_t step, const Kept& chosen) {
    std::uint64_t addresses[stream::lanes] = {};
    std::uint32_t mask = 0;
    const std::uint32_t first_thread = accessor(place).warp * stream::lanes;
    for (std::uint32_t t = threads.first; t < threads.end; ++t) {
      if (lanes_[t].empty() || lanes_[t].front().step != step) continue;
      const unsigned l = t % stream::lanes;
      addresses[l] = lanes_[t].front().address;
      mask |= 1u << l;
      hand_out(t, first_thread, chosen);
    }
    coalesce(chosen, place, addresses, mask);
    for (unsigned i = 0; i < segments_.count; ++i) {
      const stream::Segment& segment = segments_.items[i];
      const auto same = std::ranges::find(merged_, segment.line, &stream::Segment::line);
      if (same == merged_.end()) {
        merged_.push_back(segment);
        continue;
      }
      same->sectors |= segment.sectors;
      for (unsigned s = 0; s < stream::sectors_per_line; ++s) same->bytes[s] |= segment.bytes[s];
    }
  }

  void send(const Kept& chosen, std::uint32_t place, std::span<const stream::Segment> segments) {
    const StaticInst& inst = (*chosen.code)[chosen.pc];
    const Accessor who = accessor(place);
    SegmentCounts counted;
    for (const stream::Segment& segment : segments) {
      const Tally counters =
          tally(*chosen.code, chosen.pc, segment.line * stream::line_bytes + first_byte(segment));
      counted.add(segment, counters);
      Time now = 0;  // always: the study has no latencies then (on_device of options.h)
      if (inst.access == Access::load) {
        if (inst.cached || chosen.local)
          l1_.read(segment, who, now, counters);
        else
          l1_.read_past(segment, who, now, counters);
      } else if (inst.access == Access::store) {
        l1_.write(segment, chosen.local, who, now, counters);
      } else {
        l1_.atomic(segment, who, now);
      }
    }
  }

  std::unique_ptr<ThreadOrder> order_;
  std::vector<Warp> warps_;
  std::vector<KeptAccesses> lanes_;  // by thread
  std::uint32_t width_;              // threads that take turns together: a unit
  std::uint32_t block_threads_, units_per_block_, units_;
  TurnNumbers numbers_;
  std::vector<std::uint64_t> in_grid_;  // numbers of the resident blocks; empty: units keep their numbers
  bool new_blocks_ = false;
  WarpSet candidates_;  // numbers of the units that may have an access
  const ThreadOrder::Ask ask_ = [this](std::uint32_t number) { return offer(number); };
  std::vector<stream::Segment> merged_;  // of the access that is handed out
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

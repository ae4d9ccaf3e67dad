// Warps in the order of a schedule. A turn of a warp goes up to its next access to memory, or to where it
// needs data that has not come.
#include <algorithm>
#include <bit>
#include <functional>

#include "cache/order.h"
#include "cache/sm.h"

namespace simtlab::cache {
namespace {

constexpr Time one_cycle = Time{1} << time_bits;
constexpr unsigned longest_turn = 1024;        // instructions
constexpr Time port_backlog = 64 * one_cycle;  // that L1 may be behind before warps wait

class WarpSm final : public Sm {
 public:
  WarpSm(std::uint32_t id, LaunchState& launch, L1& l1, Picture* picture)
      : Sm(id, launch, l1, picture),
        schedule_(order_policy(launch.options.order).warps(places())),
        ready_(places()),
        warps_(places()),
        rows_(std::max(1u, launch.source.function().total_reg_rows)),
        board_(std::size_t{places()} * rows_, 0) {
    if (launch.options.fetch_group != 0) schedule_->fetch_group(launch.options.fetch_group);
    const device::Device& device = launch.device;
    const double rate =
        std::min<double>(device.sm.issuing_schedulers() * device.sm.issue_width,
                         device.throughput[static_cast<std::size_t>(ptx::OpClass::fp32)] / stream::lanes);
    issue_ = std::max<Time>(1, to_time(1 / rate));
    now_ = to_time(launch.options.zero_latency ? 0 : launch.options.skew * id);
    sector_ = to_time(stream::sector_bytes / device.l1.bytes_per_cycle);
  }

  void run(Time until) override {
    while (now_ < until && !finished()) {
      wake();
      if (ready_.empty()) {
        if (waiting_.empty()) check_progress();
        if (waiting_.empty() || waiting_.front().at >= until) {
          now_ = until;
          return;
        }
        now_ = waiting_.front().at;
        continue;
      }
      turn(schedule_->pick(ready_));
    }
  }

  Time next_time() const override {
    if (finished()) return ~Time{0};
    if (!ready_.empty() || waiting_.empty()) return now_;
    return std::max(now_, waiting_.front().at);
  }

 private:
  struct Warp {
    Time data_until = 0;   // the latest load that is under way
    Time block_until = 0;  // the latest one that the basic block has used
    bool at_barrier = false;
  };
  struct Waiting {
    Time at;
    std::uint32_t place;
    bool operator>(const Waiting& o) const { return at != o.at ? at > o.at : place > o.place; }
  };

  void warp_began(std::uint32_t place) override {
    warps_[place] = {};
    std::fill_n(board_.begin() + static_cast<std::ptrdiff_t>(std::size_t{place} * rows_), rows_, Time{0});
    schedule_->began(place);
    ready_.add(place);
  }

  void wake() {
    while (!waiting_.empty() && waiting_.front().at <= now_) {
      ready_.add(waiting_.front().place);
      std::ranges::pop_heap(waiting_, std::greater{});
      waiting_.pop_back();
    }
  }

  void wait(std::uint32_t place, Time at) {
    ready_.remove(place);
    schedule_->waits(place);
    waiting_.push_back({at, place});
    std::ranges::push_heap(waiting_, std::greater{});
  }

  // When the instruction can go on. Arithmetic on data that has not come does not hold a warp up before the
  // end of its basic block; what it yields comes when its data does.
  Time needed_at(std::uint32_t place, Warp& warp, const Code& code, const StaticInst& inst) {
    Time* const board = &board_[std::size_t{place} * rows_];
    const auto rows = code.rows(inst);
    Time at = 0;
    for (const std::uint16_t row : rows.subspan(inst.dst_count)) at = std::max(at, board[row]);
    if (launch_.options.wait == Wait::use) {
      for (const std::uint16_t row : rows.first(inst.dst_count)) at = std::max(at, board[row]);
      return at;
    }
    // Rows are shared by values that do not live at once; a compiler that puts the loads first gives each a
    // register of its own.
    if (inst.access == Access::none && !inst.ends_block && inst.dst_count != 0) {
      for (const std::uint16_t row : rows.first(inst.dst_count)) board[row] = at;
      if (at > now_) warp.block_until = std::max(warp.block_until, at);
      return 0;
    }
    return inst.ends_block ? std::max(at, warp.block_until) : at;
  }

  void turn(std::uint32_t place) {
    Warp& warp = warps_[place];
    stream::ResidentBlock& block = *resident_of(place).block;
    const unsigned w = warp_of(place);
    for (unsigned i = 0; i < longest_turn; ++i, now_ += issue_) {
      // Nothing is under way that arithmetic could wait for.
      if (warp.data_until <= now_) {
        const exec::Run run = block.run_plain(w, longest_turn - i);
        launch_.warp_instructions += run.instructions;
        launch_.thread_instructions += run.threads;
        i += run.instructions;
        now_ += run.instructions * issue_;
      }
      const stream::Next next = block.next(w);
      Code& code = launch_.codes.of(*next.function);
      const StaticInst& inst = code[next.pc];
      if (warp.data_until > now_) {
        const Time at = needed_at(place, warp, code, inst);
        if (at > now_) return wait(place, at);
      }
      const stream::Step& step = block.step(w, now_ >> time_bits);
      ++launch_.warp_instructions;
      launch_.thread_instructions += count_bits(step.mask);
      // Another warp goes on meanwhile, whatever the order prefers.
      if (inst.asks && step.space == ptx::Space::shared)
        return wait(place, now_ + issue_ + to_time(launch_.device.l1.latency));
      if (inst.access != Access::none) {
        if (step.mask == 0 || step.addresses == nullptr || step.space == ptx::Space::shared ||
            step.space == ptx::Space::param || step.space == ptx::Space::constant)
          continue;
        access(place, code, next.pc, inst, step);
        if (launch_.options.turn == Turn::batch) continue;
        now_ += issue_;
        return;
      }
      if (inst.changes_status && !goes_on(place, inst, block, w)) {
        now_ += issue_;
        return;
      }
    }
  }

  // Whether the warp is still ready; those that it released are, too.
  bool goes_on(std::uint32_t place, const StaticInst& inst, const stream::ResidentBlock& block, unsigned w) {
    const stream::WarpStatus status = block.status(w);
    if (status == stream::WarpStatus::ready && !inst.orders) return true;
    const std::uint32_t first = place - w;
    for (unsigned other = 0; other < warps_per_block_; ++other) {
      if (!warps_[first + other].at_barrier || block.status(other) != stream::WarpStatus::ready) continue;
      warps_[first + other].at_barrier = false;
      ready_.add(first + other);
    }
    if (status == stream::WarpStatus::ready) return true;
    ready_.remove(place);
    if (status == stream::WarpStatus::barrier) {
      warps_[place].at_barrier = true;
      schedule_->waits(place);
    } else {
      warp_ended(place);
    }
    return false;
  }

  void split(std::uint32_t place, const StaticInst& inst, const stream::Step& step) {
    if (step.space == ptx::Space::local) {
      stream::coalesce_local(step.addresses, step.mask, step.bytes, local_address(place), segments_);
    } else if (inst.access == Access::atomic) {
      stream::coalesce_atomic(step.addresses, step.mask, step.bytes, segments_);
    } else {
      stream::coalesce(step.addresses, step.mask, step.bytes, segments_);
    }
  }

  void access(std::uint32_t place, Code& code, std::uint32_t pc, const StaticInst& inst,
              const stream::Step& step) {
    const bool local = step.space == ptx::Space::local;
    if (inst.access == Access::load && !local)
      l1_.expect_reads(step.addresses[std::countr_zero(step.mask)] / stream::line_bytes,
                       step.addresses[31 - std::countl_zero(step.mask)] / stream::line_bytes);
    count_request(code, pc, step);
    if (draws() && !local) draw(step, place, inst.access == Access::store);
    if (launch_.log != nullptr && !local)
      for (std::uint32_t rest = step.mask; rest != 0; rest &= rest - 1) {
        const auto l = static_cast<unsigned>(std::countr_zero(rest));
        log(step.addresses[l], inst.access == Access::store, place * stream::lanes + l, stream::lanes, code,
            pc);
      }
    split(place, inst, step);
    const Accessor who = accessor(place);
    if (segments_.count > 1) {
      if (inst.access == Access::store)
        l1_.expect_writes(segments_);
      else if (segments_.count > 2)  // else two are known
        l1_.expect_reads(segments_);
    }
    SegmentCounts counted;
    Time ready = 0;
    port_ = std::max(port_, now_);
    for (unsigned i = 0; i < segments_.count; ++i) {
      const stream::Segment& segment = segments_.items[i];
      const Tally counters = tally(code, pc, segment.line * stream::line_bytes + first_byte(segment));
      counted.add(segment, counters);
      switch (inst.access) {
        case Access::load:
          ready = std::max(ready, inst.cached || local ? l1_.read(segment, who, port_, counters)
                                                       : l1_.read_past(segment, who, port_, counters));
          break;
        case Access::store: l1_.write(segment, local, who, port_, counters); break;
        default:
          l1_.atomic(segment, who, port_);
          ready = std::max(ready, l1_.far_latency() + port_);
          break;
      }
      port_ += std::max(one_cycle, stream::count_sectors(segment.sectors) * sector_);
    }
    if (launch_.options.zero_latency) {
      port_ = now_;
      return;
    }
    if (ready > now_) code.counts[pc].waited += (ready - now_) >> time_bits;
    Time* const board = &board_[std::size_t{place} * rows_];
    for (const std::uint16_t row : code.rows(inst).first(inst.dst_count)) board[row] = ready;
    warps_[place].data_until = std::max(warps_[place].data_until, ready);
    if (port_ > now_ + port_backlog) now_ = port_ - port_backlog;
  }

  std::unique_ptr<Schedule> schedule_;
  WarpSet ready_;
  std::vector<Warp> warps_;
  std::vector<Waiting> waiting_;  // a heap, soonest first
  std::uint32_t rows_;
  std::vector<Time> board_;  // when a register row of a warp has its load
  Time now_ = 0, port_ = 0, issue_ = 1, sector_ = 0;
};

}  // namespace

std::unique_ptr<Sm> make_warp_sm(std::uint32_t id, LaunchState& launch, L1& l1, Picture* picture) {
  return std::make_unique<WarpSm>(id, launch, l1, picture);
}

}  // namespace simtlab::cache

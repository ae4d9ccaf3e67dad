#include "stream/trace/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_set>

#include "exec/barrier_count.h"
#include "exec/store_buffer.h"

namespace simtlab::stream::trace {
namespace {

constexpr std::size_t tables_kept = 4;
constexpr unsigned barrier_count = 16;

// Lines of global memory that atomics of the SM will change at the next commit; as exec::StoreBuffer. None if
// they act at once.
class ReplayedShare final : public SmShare {
 public:
  ReplayedShare(const ReplayedLaunch& launch, Effects effects) : launch_(launch), effects_(effects) {}
  std::unique_ptr<ResidentBlock> make_block() override;
  void commit() override { atomics_.clear(); }

  bool holds_atomics() const { return !atomics_.empty(); }
  // Of a step that happens.
  void note(const Step& step) {
    if (effects_ == Effects::at_once) return;
    for_global(step, [&](std::uint64_t line) {
      atomics_.insert(line);
      return false;
    });
  }
  // Whether it has to wait for an atomic: the executor's rule (exec/buffered.cpp) on what was recorded.
  bool awaits_atomic(const Step& step) const {
    return for_global(step, [&](std::uint64_t line) { return atomics_.contains(line); });
  }

 private:
  static bool in_window(std::uint64_t address) {
    const std::uint64_t window = address / ptx::window_bytes;
    return window >= 1 && window <= 3;
  }
  template <class F>
  static bool for_global(const Step& step, F&& each) {
    if (step.addresses == nullptr || (step.space != ptx::Space::global && step.space != ptx::Space::generic))
      return false;
    for (std::uint32_t rest = step.mask; rest != 0; rest &= rest - 1) {
      const std::uint64_t address = step.addresses[std::countr_zero(rest)];
      if (!in_window(address) && each(address / exec::StoreBuffer::line_bytes)) return true;
    }
    return false;
  }

  const ReplayedLaunch& launch_;
  const Effects effects_;
  std::unordered_set<std::uint64_t> atomics_;
};

class ReplayedBlock final : public ResidentBlock {
 public:
  ReplayedBlock(const ReplayedLaunch& launch, ReplayedShare& share)
      : launch_(launch), share_(share), warps_(launch.warps_per_block()) {}

  void reset(std::uint64_t block, unsigned, unsigned) override {
    entry_ = launch_.entry(block);
    exited_ = 0;
    barriers_.fill({});
    for (Warp& warp : warps_) warp.segment.reset();
    for (Warp& warp : warps_) {
      warp.decoder.begin();
      warp.part = 0;
      warp.status = WarpStatus::ready;
      guarded(warp, [&] {
        feed(warp);
        advance(warp);
        if (warp.decoder.exited()) throw Malformed("a warp has no instructions");
      });
    }
  }

  WarpStatus status(unsigned warp) const override { return warps_[warp].status; }
  Next next(unsigned warp) const override { return warps_[warp].decoder.next(); }

  const Step& step(unsigned number, std::uint64_t) override {
    Warp& warp = warps_[number];
    guarded(warp, [&] {
      const CodeView::Traits traits = warp.decoder.traits();
      if (traits.addresses && share_.holds_atomics() && may_wait(warp.decoder.inst())) {
        warp.decoder.mark(mark_);
        warp.decoder.step(step_, addresses_.data(), addresses2_.data());
        if (share_.awaits_atomic(step_)) {
          warp.decoder.undo(mark_);
          step_.blocked = true;
          step_.mask = 0;
          step_.arrives = false;
          step_.addresses = step_.addresses2 = nullptr;
          return;
        }
      } else {
        warp.decoder.step(step_, addresses_.data(), addresses2_.data());
        if (traits.atomic) share_.note(step_);
      }
      if (step_.arrives) arrive(number);
      advance(warp);
    });
    if (warp.decoder.exited()) leave(number);
    return step_;
  }

  exec::Run run_plain(unsigned number, std::uint32_t most) override {
    Warp& warp = warps_[number];
    const std::uint32_t active = warp.decoder.active();
    exec::Run run{.instructions = warp.decoder.skip_plain(most)};
    if (run.instructions == 0) return run;
    run.threads = std::uint64_t{run.instructions} *
                  (active == ~0u ? 32u : static_cast<unsigned>(std::popcount(active)));
    guarded(warp, [&] { advance(warp); });
    return run;
  }

  std::string whereabouts() const override { return fmt::format("{}, block {}", name(), entry_.number); }

  void check_progress() const override {
    if (exited_ == everybody() ||
        std::ranges::any_of(warps_, [](const Warp& w) { return w.status == WarpStatus::ready; }))
      return;
    launch_.reader().damaged(entry_.segments.front(),
                             whereabouts() + ": warps wait at a barrier that the others don't reach");
  }

 private:
  struct Warp {
    WarpDecoder decoder;
    std::shared_ptr<const Segment> segment;
    std::size_t part = 0;  // of the block: the segment it reads
    WarpStatus status = WarpStatus::ready;
  };

  static bool may_wait(const ptx::Inst& inst) {
    using enum ptx::Space;
    const ptx::Space space = inst.mods.space;
    return inst.op != ptx::Op::atom && inst.op != ptx::Op::red && inst.op != ptx::Op::tex &&
           space != shared && space != local && space != param && space != constant;
  }

  std::string name() const {
    return fmt::format("kernel '{}' of {}", launch_.function().name, launch_.reader().name());
  }
  std::uint32_t everybody() const { return warps_.size() == 32 ? ~0u : (1u << warps_.size()) - 1; }

  template <class F>
  void guarded(const Warp& warp, F&& f) {
    try {
      f();
    } catch (const Malformed& e) {
      const std::size_t part = std::min(warp.part, entry_.segments.size() - 1);
      launch_.reader().damaged(entry_.segments[part], fmt::format("{}, warp {}: {}", whereabouts(),
                                                                  &warp - warps_.data(), e.what()));
    }
  }

  // Warps at about the same place share a segment.
  void feed(Warp& warp) {
    if (warp.part >= entry_.segments.size()) throw Malformed("a warp does not end");
    warp.segment.reset();
    const auto shared = std::ranges::find_if(
        warps_, [&](const Warp& other) { return other.segment != nullptr && other.part == warp.part; });
    if (shared != warps_.end()) warp.segment = shared->segment;
    if (warp.segment == nullptr) warp.segment = launch_.segment(entry_, warp.part);
    const Segment::Streams& streams = warp.segment->warps[static_cast<std::size_t>(&warp - warps_.data())];
    warp.decoder.feed(streams.control, streams.data);
  }

  void advance(Warp& warp) {
    while (warp.decoder.hungry()) {
      ++warp.part;
      feed(warp);
    }
    warp.decoder.advance(launch_);
  }

  void arrive(unsigned number) {
    exec::BarrierCount& barrier = barriers_[step_.barrier];
    barrier.arrive(number, step_.barrier_threads);
    if (step_.inst->mods.bar != ptx::BarMode::arrive) {
      barrier.waiting |= 1u << number;
      warps_[number].status = WarpStatus::barrier;
    }
    release(barrier);
  }

  void leave(unsigned number) {
    if (warps_[number].status == WarpStatus::exited) return;
    warps_[number].status = WarpStatus::exited;
    warps_[number].segment.reset();
    exited_ |= 1u << number;
    for (exec::BarrierCount& barrier : barriers_) release(barrier);
  }

  void release(exec::BarrierCount& barrier) {
    if (!barrier.complete(everybody(), exited_)) return;
    for (unsigned i = 0; i < warps_.size(); ++i)
      if ((barrier.waiting >> i & 1) != 0) warps_[i].status = WarpStatus::ready;
    barrier = {};
  }

  const ReplayedLaunch& launch_;
  ReplayedShare& share_;
  WarpDecoder::Mark mark_;
  BlockEntry entry_;
  std::vector<Warp> warps_;
  std::array<exec::BarrierCount, barrier_count> barriers_{};
  std::uint32_t exited_ = 0;
  Step step_;
  alignas(64) std::array<std::uint64_t, 32> addresses_{}, addresses2_{};
};

std::unique_ptr<ResidentBlock> ReplayedShare::make_block() {
  return std::make_unique<ReplayedBlock>(launch_, *this);
}

}  // namespace

ReplayedLaunch::ReplayedLaunch(const Reader& reader, Kernel kernel)
    : reader_(reader), kernel_(std::move(kernel)) {
  dictionary_ = reader_.dictionary(kernel_);
  std::uint64_t blocks = 0;
  for (std::size_t part = 0; part < kernel_.tables.size(); ++part) {
    first_.push_back(blocks);
    blocks += reader_.table(kernel_, part).size();
  }
  if (blocks != kernel_.blocks)
    reader_.damaged(kernel_.dictionary, fmt::format("kernel '{}' has {} blocks in its tables, not {}",
                                                    function().name, blocks, kernel_.blocks));
}

ReplayedLaunch::~ReplayedLaunch() = default;

BlockEntry ReplayedLaunch::entry(std::uint64_t index) const {
  const auto part = static_cast<std::size_t>(std::ranges::upper_bound(first_, index) - first_.begin()) - 1;
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find_if(tables_, [&](const auto& t) { return t.first == part; });
  if (known != tables_.end()) {
    tables_.splice(tables_.begin(), tables_, known);
  } else {
    tables_.emplace_front(part,
                          std::make_shared<const std::vector<BlockEntry>>(reader_.table(kernel_, part)));
    if (tables_.size() > tables_kept) tables_.pop_back();
  }
  return tables_.front().second->at(index - first_[part]);
}

std::shared_ptr<const Segment> ReplayedLaunch::segment(const BlockEntry& block, std::size_t part) const {
  const std::uint64_t offset = block.segments[part];
  return reader_.segment(offset, offset == kernel_.dictionary ? nullptr : dictionary_.get(),
                         warps_per_block());
}

const CodeView& ReplayedLaunch::code(std::uint32_t number) const {
  if (number >= reader_.codes().size())
    throw Malformed(fmt::format("function {} is not in the trace", number));
  const std::lock_guard lock(mutex_);
  auto& known = codes_[number];
  if (known == nullptr) known = std::make_unique<CodeView>(reader_.codes()[number].function(), number);
  return *known;
}

std::optional<std::uint64_t> ReplayedLaunch::recorded_instructions(std::uint64_t first,
                                                                   std::uint64_t count) const {
  std::uint64_t sum = 0;
  for (std::uint64_t i = first; i < first + count; ++i) sum += entry(i).warp_instructions;
  return sum;
}

const Code* ReplayedLaunch::code_of(const ptx::Function& function) const {
  const auto found =
      std::ranges::find_if(reader_.codes(), [&](const Code& code) { return &code.function() == &function; });
  return found == reader_.codes().end() ? nullptr : &*found;
}

std::unique_ptr<SmShare> ReplayedLaunch::make_share(Effects effects) const {
  return std::make_unique<ReplayedShare>(*this, effects);
}

}  // namespace simtlab::stream::trace

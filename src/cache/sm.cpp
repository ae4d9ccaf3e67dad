#include "cache/sm.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"

namespace simtlab::cache {
namespace {

constexpr std::uint64_t stride_looks = 64;  // every so many requests of an instruction, and the first ones

void look_at_stride(Stride& stride, const stream::Step& step) {
  const std::uint32_t pairs = step.mask & (step.mask >> 1);
  if (pairs == 0) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(pairs));
  const auto bytes = static_cast<std::int64_t>(step.addresses[lane + 1] - step.addresses[lane]);
  // Rows of a block may end within a warp: most pairs are enough.
  unsigned same = 0, all = 0;
  for (std::uint32_t rest = pairs; rest != 0; rest &= rest - 1, ++all) {
    const auto at = static_cast<unsigned>(std::countr_zero(rest));
    if (static_cast<std::int64_t>(step.addresses[at + 1] - step.addresses[at]) == bytes) ++same;
  }
  if (stride.looks++ == 0) stride.bytes = bytes;
  if (4 * same < 3 * all || bytes != stride.bytes) ++stride.others;
}

}  // namespace

void LaunchState::check_interrupt() const {
  if (interrupt != nullptr && *interrupt)
    throw Error(ExitCode::interrupted, "interrupted", fmt::format("in kernel '{}'", source.function().name));
}

void LaunchState::look_ahead() {
  // An access through the caches takes longer
  const std::uint64_t work = warp_instructions + 16 * thread_accesses;
  if (std::exchange(seen_blocks, blocks.taken()) != blocks.taken()) return lookout.restart(work);
  if (!lookout.due(work)) return;
  const std::uint32_t steps = lookout.steps();
  lookout.looked(work);
  std::vector<exec::Stuck> who;
  if (!std::ranges::all_of(sms, [&](Sm* sm) { return sm->stuck(steps, who); }) || who.empty()) return;
  if (blocks.closed()) {  // a sample that has enough: they wait for blocks beyond it
    blocks.reopen();
    for (bool any = true; any;) {
      any = false;
      for (Sm* const sm : sms) any = sm->accept_block() || any;
    }
    return;
  }
  if (part)
    throw Error(ExitCode::unsupported, "cache-part",
                fmt::format("blocks of kernel '{}' wait for what others do, and the study leaves blocks out",
                            source.function().name),
                "study the whole grid: without --sms and --groups");
  if (waits_for_others) waits_for_others();
  exec::report_stuck(
      who, exec::not_started(source.function().name, source.grid(), source.block_number(blocks.next()),
                             blocks.end() - blocks.next()));
}

Sm::Sm(std::uint32_t id, LaunchState& launch, L1& l1, Picture* picture)
    : id_(id),
      launch_(launch),
      l1_(l1),
      picture_(picture != nullptr && picture->wanted() ? picture : nullptr),
      own_picture_(launch.pictures != nullptr ? &(*launch.pictures)[id] : nullptr),
      warps_per_block_(launch.source.warps_per_block()),
      share_(launch.source.make_share(stream::Effects::at_once)),
      residents_(launch.blocks_per_sm) {}

bool Sm::accept_block() {
  if (resident_ == residents_.size()) return false;
  const std::optional<std::uint64_t> block = launch_.blocks.take(id_);
  if (!block) return false;
  std::uint32_t r = 0;
  while (residents_[r].live != 0) ++r;
  Resident& resident = residents_[r];
  if (resident.block == nullptr) resident.block = share_->make_block();
  resident.index = launch_.source.block_number(*block);
  resident.block->reset(*block, id_, place_of(r, 0));
  resident.live = warps_per_block_;
  ++resident_;
  ++blocks_run_;
  for (unsigned warp = 0; warp < warps_per_block_; ++warp) warp_began(place_of(r, warp));
  return true;
}

void Sm::warp_ended(std::uint32_t place) {
  Resident& resident = resident_of(place);
  if (--resident.live != 0) return;
  --resident_;
  share_->commit();
  accept_block();
}

Accessor Sm::accessor(std::uint32_t place) const {
  const Resident& resident = residents_[place / warps_per_block_];
  return {static_cast<std::uint32_t>(resident.index * warps_per_block_ + place % warps_per_block_),
          static_cast<std::uint32_t>(resident.index)};
}

void Sm::check_progress() const {
  for (const Resident& resident : residents_)
    if (resident.live != 0) resident.block->check_progress();
}

bool Sm::stuck(std::uint32_t steps, std::vector<exec::Stuck>& who) {
  share_->commit();
  return std::ranges::all_of(residents_, [&](const Resident& resident) {
    return resident.live == 0 || resident.block->stuck(steps, who);
  });
}

void Sm::count_request(Code& code, std::uint32_t pc, const stream::Step& step) {
  const unsigned threads = count_bits(step.mask);
  AccessCounts& counts = code.counts[pc];
  if (counts.requests < stride_looks || counts.requests % stride_looks == 0)
    look_at_stride(code.strides[pc], step);
  ++counts.requests;
  counts.threads += threads;
  launch_.thread_accesses += threads;
  if (step.space != ptx::Space::local) {
    buffer_hint_ = launch_.buffers.find(step.addresses[std::countr_zero(step.mask)], buffer_hint_);
    if (code.buffers[pc] == Code::none_yet) code.buffers[pc] = buffer_hint_;
    AccessCounts& buffer = launch_.buffers.counts(buffer_hint_);
    ++buffer.requests;
    buffer.threads += threads;
  }
}

Tally Sm::tally(Code& code, std::uint32_t pc, std::uint64_t address) {
  buffer_hint_ = launch_.buffers.find(address, buffer_hint_);
  return {&code.counts[pc], &launch_.buffers.counts(buffer_hint_)};
}

void Sm::draw(const stream::Step& step, std::uint32_t place, bool store) {
  const std::uint32_t first = accessor(place).warp * stream::lanes;
  for (std::uint32_t rest = step.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    draw(step.addresses[lane], first + lane, store);
  }
}

void Sm::draw(std::uint64_t address, std::uint32_t thread, bool store) {
  const std::uint32_t buffer = launch_.buffers.find(address, buffer_hint_);
  if (buffer == Buffers::unknown) return;
  for (Picture* const picture : {picture_, own_picture_})
    if (picture != nullptr)
      picture->add(address - launch_.buffers.list()[buffer].begin, buffer, thread, store);
}

}  // namespace simtlab::cache

#include "cache/study.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/pulse.h"
#include "cache/study_impl.h"
#include "device/carve_out.h"

namespace simtlab::cache {
namespace {

// SMs take turns of so many cycles: the order in which they meet at L2 and take blocks is right to that.
constexpr Time quantum = Time{64} << time_bits;
constexpr std::size_t most_marks = 64;  // then every other one is dropped

}  // namespace

Study::Study(const device::Device& device, const Options& options)
    : impl_(std::make_unique<StudyState>(device, options)) {
  if (!options.sms.all() && options.sms.last >= device.sm.count)
    throw Error(ExitCode::usage, "cache-option",
                fmt::format("--sms {}-{}: {} has SMs 0 to {}", options.sms.first, options.sms.last,
                            device.name, device.sm.count - 1));
}
Study::~Study() = default;

void StudyState::prepare(std::uint32_t l1_ways) {
  if (l1.empty()) l1.resize(device.sm.count);
  for (std::uint32_t sm = 0; sm < device.sm.count; ++sm) {
    if (!simulated(sm)) continue;
    if (l1[sm] == nullptr || l1[sm]->ways() != l1_ways)
      l1[sm] = std::make_unique<L1>(device, l1_ways, options, sm, l2 ? &*l2 : nullptr);
    l1[sm]->begin_launch();
  }
  if (l2) l2->begin_launch();
  sms.assign(device.sm.count, {});
  picture = Picture(options.pictures);
  sm_pictures.assign(options.pictures == 0 ? 0 : device.sm.count,
                     Picture(std::max(1u, options.pictures / device.sm.count)));
}

void StudyState::mark(const LaunchState& state) {
  Study::Mark m{.blocks = state.blocks.taken(), .warp_instructions = state.warp_instructions};
  if (l2) {
    const CacheCounts& c = l2->counts();
    m.l2 = (c.read.accesses + c.write.accesses) * stream::sector_bytes;
    m.dram_read = c.bytes_fetched + c.bytes_fetched_by_writes;
    m.dram_write = c.writebacks * stream::sector_bytes;
  }
  marks.push_back(m);
  if (marks.size() < most_marks) return;
  for (std::size_t i = 0; i < most_marks / 2; ++i) marks[i] = marks[2 * i + 1];
  marks.resize(most_marks / 2);
}

// Grows with the lines that a kernel touches, on every SM anew, until the host has no more.
void StudyState::check_memory(std::uint64_t most, const std::vector<std::unique_ptr<Sm>>& active) const {
  if (most == 0) return;
  std::uint64_t bytes = l2 ? l2->bytes() : 0;
  for (const auto& sm : active) bytes += l1[sm->id()]->bytes() + sm->bytes_kept();
  if (bytes <= most) return;
  throw Error(
      ExitCode::failure, "limit-memory",
      fmt::format("kernel '{}': what the study keeps of the lines takes {} MiB of the host, and {} MiB are "
                  "left of the limit",
                  source->function().name, bytes >> 20, most >> 20),
      "raise --max-memory; --sms, --groups and --no-l2 keep fewer lines, --reuse-sample 0.01 less of each");
}

void StudyState::work(const Study::Launch& launch, LaunchState& state) {
  std::vector<std::unique_ptr<Sm>> active;
  for (std::uint32_t sm = 0; sm < device.sm.count; ++sm) {
    if (!simulated(sm)) continue;
    Picture* const drawn = active.empty() ? &picture : nullptr;
    active.push_back(orders_threads(options.order) ? make_thread_sm(sm, state, *l1[sm], drawn)
                                                   : make_warp_sm(sm, state, *l1[sm], drawn));
  }
  for (const auto& sm : active) state.sms.push_back(sm.get());
  // One block to each SM in turn, as long as there is room; then each takes the next when one of its own
  // ends.
  for (bool any = true; any;) {
    any = false;
    for (const auto& sm : active) any = sm->accept_block() || any;
  }
  const auto keep = [&] {
    for (const auto& sm : active) sms[sm->id()].blocks = sm->blocks_run();
    warp_instructions = state.warp_instructions;
    thread_instructions = state.thread_instructions;
    launch_accesses = state.thread_accesses;
  };
  const std::uint64_t wave = state.blocks.taken();
  std::uint64_t next_mark = wave + 1;
  marks.clear();
  // Single threads take turns without a time: theirs only keeps the SMs together.
  const Time limit =
      launch.max_cycles == 0 || orders_threads(options.order) ? ~Time{0} : launch.max_cycles << time_bits;
  try {
    for (;;) {
      Time next = ~Time{0};
      for (const auto& sm : active) next = std::min(next, sm->next_time());
      if (next == ~Time{0}) break;
      state.check_interrupt();
      state.look_ahead();
      if (launch.pulse != nullptr)
        launch.pulse->at(state.blocks.taken(), source->block_count(), 0, state.warp_instructions);
      check_memory(launch.max_bytes, active);
      if (next > limit)
        throw Error(ExitCode::failure, "limit-cycles",
                    fmt::format("kernel '{}' ran longer than {} cycles, the limit given",
                                source->function().name, launch.max_cycles),
                    "raise --max-cycles if the kernel is expected to run longer");
      for (const auto& sm : active)
        if (!sm->finished()) sm->run((next / quantum + 1) * quantum);
      if (state.blocks.taken() >= next_mark) {
        mark(state);
        next_mark = state.blocks.taken() +
                    std::max<std::uint64_t>(wave, marks.size() < 2 ? 0 : marks[1].blocks - marks[0].blocks);
      }
      if (launch.enough_instructions != 0 && state.warp_instructions >= launch.enough_instructions &&
          state.blocks.taken() >= launch.least_blocks)
        state.blocks.close();
    }
    mark(state);
    dealt.clear();
    for (std::uint32_t sm = 0; sm < device.sm.count && !options.sms.all(); ++sm)
      dealt.push_back(state.blocks.taken_by(sm));
  } catch (...) {
    keep();
    throw;
  }
  keep();
}

void StudyState::close() {
  for (std::uint32_t sm = 0; sm < device.sm.count; ++sm) {
    if (l1[sm] == nullptr) continue;
    l1[sm]->finish();
    sms[sm].l1 = l1[sm]->counts();
    totals[sm].blocks += sms[sm].blocks;
    totals[sm].l1.add(sms[sm].l1);
  }
  thread_accesses += launch_accesses;
}

result::KernelResult Study::run(const Launch& launch) {
  StudyState& m = *impl_;
  m.source = launch.source;
  m.occupancy = launch.occupancy;
  m.codes = std::make_unique<Codes>(m.device);
  m.buffers = std::make_unique<Buffers>(launch.buffers);
  const std::uint64_t shared =
      std::uint64_t{launch.occupancy.blocks_per_sm} * launch.occupancy.shared_per_block;
  m.prepare(device::l1_ways_beside(m.device, shared));

  const std::uint64_t count = launch.source->block_count();
  const std::uint64_t first = std::min(std::max(m.options.groups.first, launch.first_block), count);
  const std::uint64_t end = m.options.groups.last >= count ? count : m.options.groups.last + 1;
  m.given = {std::min(launch.first_block, count), count};
  m.chosen = {first, std::max(first, end)};
  BlockQueue blocks(m.chosen.first, m.chosen.end, m.device.sm.count, !m.options.sms.all());
  LaunchState state{.source = *launch.source,
                    .device = m.device,
                    .options = m.options,
                    .codes = *m.codes,
                    .buffers = *m.buffers,
                    .blocks = blocks,
                    .blocks_per_sm = launch.occupancy.blocks_per_sm,
                    .local_bytes = stream::local_bytes_of_warp(*launch.source),
                    .interrupt = launch.interrupt,
                    .part = !m.options.sms.all() || m.options.groups.first != 0 || end != count,
                    .waits_for_others = launch.waits_for_others,
                    .log = launch.log,
                    .pictures = m.sm_pictures.empty() ? nullptr : &m.sm_pictures};
  if (launch.log != nullptr)
    launch.log->begin(orders_threads(m.options.order) ? std::max(1u, m.options.warp_size) : stream::lanes,
                      launch.source->grid().count());
  try {
    m.work(launch, state);
  } catch (...) {
    m.close();
    throw;
  }
  m.close();
  return describe(m);
}

result::KernelResult Study::partial() const { return describe(*impl_); }

std::vector<Study::Blocks> Study::left_out() const {
  const StudyState& m = *impl_;
  std::vector<Blocks> out;
  const auto add = [&](std::uint64_t first, std::uint64_t end) {
    if (first >= end) return;
    if (!out.empty() && out.back().first + out.back().count == first)
      out.back().count += end - first;
    else
      out.push_back({first, end - first});
  };
  add(m.given.first, m.chosen.first);
  if (m.dealt.empty()) {
    add(m.chosen.first + (m.marks.empty() ? 0 : m.marks.back().blocks), m.given.end);
    return out;
  }
  const std::uint64_t looked_at =
      std::min(m.chosen.end - m.chosen.first, *std::ranges::max_element(m.dealt) * m.dealt.size());
  for (std::uint64_t place = 0; place < looked_at; ++place)
    if (place / m.dealt.size() >= m.dealt[place % m.dealt.size()])
      add(m.chosen.first + place, m.chosen.first + place + 1);
  add(m.chosen.first + looked_at, m.given.end);
  return out;
}

const std::vector<Study::Mark>& Study::marks() const { return impl_->marks; }

const AccessCounts* Study::counts(const ptx::Function& function, std::uint32_t pc) const {
  if (impl_->codes == nullptr) return nullptr;
  const Code* code = impl_->codes->find(function);
  return code == nullptr ? nullptr : &code->counts[pc];
}

void Study::add_totals(result::Metrics& total) const { set_over_sms(total, impl_->totals); }

std::uint64_t Study::thread_accesses() const { return impl_->thread_accesses; }

}  // namespace simtlab::cache

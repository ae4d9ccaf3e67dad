#include "timing/sm.h"

#include <fmt/format.h>

#include <algorithm>

namespace simtlab::timing {

namespace {

std::unique_ptr<AsWritten> as_written(const SmConfig& config, std::uint32_t id) {
  if (!config.what_if.perfect_coalescing) return nullptr;
  const device::Device& device = config.device;
  return std::make_unique<AsWritten>(memory::cache_config(device.l1, device.l1.bytes, id), device);
}

}  // namespace

Sm::Sm(std::uint32_t id, const SmConfig& config, Interconnect& network)
    : context_(id, config),
      network_(network),
      blocks_(config.device),
      schedulers_(config.device.sm.schedulers),
      front_end_(config.device),
      ports_(config.device),
      as_written_(as_written(config, id)),
      policies_(config.policy, config.device, schedulers_),
      sequencer_(context_, {warps_, schedulers_, scoreboard_, blocks_, front_end_, policies_}),
      loads_(context_, warps_, sequencer_, as_written_.get()),
      requests_(context_, network),
      shared_(context_, warps_, scoreboard_, ports_),
      constants_(context_, warps_, scoreboard_, loads_, requests_),
      load_store_(context_,
                  {warps_, scoreboard_, ports_, loads_, requests_, policies_, sequencer_, as_written_.get()}),
      instructions_(context_, {warps_, schedulers_, scoreboard_, ports_, sequencer_, shared_, constants_,
                               front_end_, load_store_}),
      issue_(context_, {warps_, schedulers_, ports_, accounts_, policies_, instructions_}) {}

void Sm::begin(std::uint64_t epoch) {
  context_.epoch = epoch;
  context_.unused = true;
  outbox().clear();
  blocks_.begin();
  accounts_.begin();
  context_.counters = &accounts_.past();
  front_end_.restart();
  if (context_.observer != nullptr) context_.observer->begin(epoch);
}

void Sm::prepare() {
  context_.unused = false;
  const std::uint32_t warps = context_.config.device.sm.max_warps;
  warps_.resize(warps);
  blocks_.set_warps(warps);
  scoreboard_.begin(warps);
  issue_.begin();
  sequencer_.begin();
  front_end_.begin();
  ports_.begin();
  loads_.begin();
  requests_.begin();
  shared_.begin();
  constants_.begin();
  load_store_.begin();
}

bool Sm::has_room(const LaunchContext& launch) const {
  return blocks_.has_room(launch, accounts_.find(launch.slot));
}

// Where L1 and shared memory share their storage, the launch that finds the SM empty decides on the parts, as
// drivers do; later launches have to do with them until the SM is empty again.
void Sm::make_cold(const LaunchContext& launch) {
  load_store_.make_cold(launch.l1_ways);
  if (as_written_ != nullptr) as_written_->make_cold(launch.l1_ways);
  constants_.make_cold();
  blocks_.divide_storage(launch);
}

void Sm::assign(LaunchContext& launch, std::uint64_t block, Cycle at) {
  if (context_.unused) prepare();
  Tenant* tenant = accounts_.find(launch.slot);
  if (tenant == nullptr) {
    if (blocks_.empty()) make_cold(launch);
    scoreboard_.widen(launch.programs.scoreboard_slots());
    tenant = &accounts_.admit(launch);
    if (context_.observer != nullptr) context_.observer->begin_launch(launch.slot);
  }
  blocks_.reserve(*tenant, block, at);
}

bool Sm::stores_under_way(const LaunchContext& launch) const {
  const Tenant* const tenant = accounts_.find(launch.slot);
  return tenant != nullptr && tenant->stores != 0;
}

void Sm::leave(unsigned slot) {
  Tenant* const tenant = accounts_.find(slot);
  if (tenant == nullptr) return;
  issue_.disown(*tenant);
  if (context_.counters == &tenant->counters) context_.counters = &accounts_.past();
  blocks_.forget(*tenant);
  if (context_.observer != nullptr) context_.observer->leave(slot);
  accounts_.remove(*tenant);
}

Cycle Sm::next_event() const {
  if (context_.unused) return never;
  Cycle next = std::min(load_store_.next_retry(), issue_.next_try());
  if (const auto& inbox = network_.inbox(context_.id); !inbox.empty())
    next = std::min(next, inbox.front().at);
  return std::min({next, blocks_.next_start(), sequencer_.next_drained()});
}

void Sm::run(Cycle end) {
  context_.quantum_end = end;
  blocks_.begin_quantum();
  expect_warps(end);
  const auto& inbox = network_.inbox(context_.id);
  for (Cycle now = next_event(); now < end; now = next_event()) {
    context_.now = now;
    if (context_.observer != nullptr || (!inbox.empty() && inbox.front().at <= now)) deliver(now);
    if (sequencer_.next_drained() <= now) sequencer_.end_drained(now);
    while (blocks_.next_start() <= now) sequencer_.start_block(blocks_.pop_start(), now);
    if (load_store_.next_retry() <= now && load_store_.retry(now)) issue_.try_all(now);
    issue_.run(now);
  }
}

// The other SMs have pushed this one's state out of the host's cache. What the quantum needs of it is fetched
// side by side, stage by stage, instead of one after the other when an event comes to it.
void Sm::expect_replies(Cycle end) {
  const auto& inbox = network_.inbox(context_.id);
  std::size_t count = 0;
  while (count < inbox.size() && inbox[count].at < end) ++count;
  const auto each_line = [&](const auto& f) {
    for (std::size_t i = 0; i < count; ++i)
      if (inbox[i].route == Route::l1) f(inbox[i].line);
  };
  const memory::Mshr& misses = load_store_.misses();
  each_line([&](std::uint64_t line) __attribute__((always_inline)) { load_store_.expect(line); });
  each_line([&](std::uint64_t line) __attribute__((always_inline)) { misses.expect_entry(line); });
  each_line([&](std::uint64_t line) __attribute__((always_inline)) { misses.expect_waiter(line); });
  const auto answered = [&](std::uint64_t load) {
    if (load >= loads_.most()) return;  // it waits for nothing
    expected_.loads.push_back(static_cast<std::uint32_t>(load));
    loads_.expect(expected_.loads.back());
  };
  each_line([&](std::uint64_t line) { misses.each_waiter(line, answered); });
  for (std::size_t i = 0; i < count; ++i)
    if (inbox[i].route == Route::direct) answered(inbox[i].tag);
  for (const std::uint32_t load : expected_.loads) expected_.warps.push_back(loads_[load].warp);
  expected_.loads.clear();
}

void Sm::expect_warps(Cycle end) {
  const auto stride = static_cast<std::uint32_t>(schedulers_.size());
  for (const WarpScheduler& scheduler : schedulers_) scheduler.wake_ups.expect();
  expect_replies(end);
  for (const WarpScheduler& scheduler : schedulers_)
    for (WarpMask rest = scheduler.ready | scheduler.wake_ups.soon(); rest != 0; rest &= rest - 1)
      expected_.warps.push_back(static_cast<std::uint32_t>(std::countr_zero(rest)) * stride +
                                scheduler.index);
  for (const std::uint32_t number : expected_.warps) {
    const auto* const warp = reinterpret_cast<const std::byte*>(&warps_[number]);
    for (std::size_t at = 0; at < sizeof(Warp); at += 64) __builtin_prefetch(warp + at, 1);
    scoreboard_.expect(number);
  }
  for (const std::uint32_t number : expected_.warps)
    if (const auto* const place = static_cast<const std::byte*>(warps_[number].place); place != nullptr)
      for (std::size_t at = 0; at < exec::Block::place_bytes; at += 64) __builtin_prefetch(place + at, 1);
  for (const std::uint32_t number : expected_.warps)
    if (warps_[number].place != nullptr) exec::Block::expect_registers(warps_[number].place);
  expected_.warps.clear();
}

void Sm::deliver(Cycle now) {
  auto& inbox = network_.inbox(context_.id);
  for (; !inbox.empty() && inbox.front().at <= now; inbox.pop()) {
    const Reply reply = inbox.front();
    if (context_.observer != nullptr) context_.observer->reply(reply.at);
    load_store_.reply_arrived(now);
    switch (reply.route) {
      case Route::l1: load_store_.fill(reply); break;
      case Route::direct: load_store_.answer_direct(reply); break;
      case Route::constant: constants_.fill(reply); break;
      case Route::store:
        load_store_.acknowledge_store(reply.tag, accounts_.find(reply.launch), reply.at);
        break;
    }
  }
  if (context_.observer != nullptr) context_.observer->replies_end();
}

void Sm::settle(Cycle now) {
  if (context_.unused) return;
  for (const auto& tenant : accounts_.all()) tenant->count_residency(now);
  issue_.charge(now);
}

void Sm::add_slots(Cycle now, SlotCounts& out) const {
  if (context_.unused) {
    out[static_cast<std::size_t>(Stall::no_warp)] += now * schedulers_.size();
    return;
  }
  accounts_.add_slots(out);
  issue_.add_uncharged(now, out);
}

std::string Sm::unfinished() const {
  if (context_.unused) return {};
  const auto say = [&](const char* what, std::size_t count) {
    return fmt::format("SM {}: {} {}", context_.id, count, what);
  };
  const std::size_t replies = network_.inbox(context_.id).size();
  if (replies != 0) return say("replies that have not been delivered", replies);
  if (load_store_.waiting() != 0) return say("memory instructions that wait", load_store_.waiting());
  if (loads_.under_way() != 0) return say("loads without an answer", loads_.under_way());
  if (requests_.stores() != 0) return say("stores without an acknowledgement", requests_.stores());
  if (requests_.direct_sectors() != 0) return say("sectors without an answer", requests_.direct_sectors());
  const std::uint32_t misses = load_store_.misses_under_way() + constants_.misses_under_way();
  return misses != 0 ? say("miss registers in use", misses) : std::string{};
}

}  // namespace simtlab::timing

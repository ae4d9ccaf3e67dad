#include "memory/traffic/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace simtlab::memory::traffic {

using memory::Cycle;
using memory::never;

namespace {

constexpr Cycle longest_step = Cycle{1} << 24;  // so that a stop is seen soon
constexpr Cycle patience = 20'000'000;          // clocks without an answer: slower than any memory is
constexpr std::uint32_t steps_between_looks = 1U << 12;

}  // namespace

Driver::Driver(memory::dram::Channels& memory, const Router& router, const DriverOptions& options)
    : memory_(memory), router_(router), options_(options) {
  if (!std::has_single_bit(options.line))
    throw Error(ExitCode::usage, "dram-line", fmt::format("a line of {} bytes", options.line),
                "--line is a power of two: 32, 64, 128, ...");
  if (router.mapping() != nullptr) places_.emplace_back(*router.mapping());
  piece_bytes_ = std::max<std::uint64_t>(memory.access_bytes(), 1);
  pieces_ = static_cast<std::uint32_t>((options.line + piece_bytes_ - 1) / piece_bytes_);
  if (options_.per_clock == 0) options_.per_clock = 1;
}

Measured Driver::run(Source& source) {
  source_ = &source;
  core_ = nullptr;
  now_ = last_answer_ = active_ = 0;
  flights_.clear();
  free_.clear();
  outstanding_ = fetched_ = 0;
  measured_ = Measured{};
  head_.here = fetch();
  if (source.pace() == Pace::instructions)
    run_core();
  else
    run_queue(source.pace());
  measured_.under_way = outstanding_;
  const std::uint64_t answered = measured_.read_latency.count() + measured_.write_latency.count();
  if (measured_.reads + measured_.writes != answered + outstanding_)
    throw Error(ExitCode::failure, "dram-conservation",
                fmt::format("{} requests went in, {} came back, {} are under way",
                            measured_.reads + measured_.writes, answered, outstanding_));
  measured_.end = now_;
  measured_.cycles = measured_.outcome == Outcome::finished ? last_answer_ : now_;
  return std::move(measured_);
}

// The next access becomes the head.
bool Driver::fetch() {
  if (options_.max_requests != 0 && fetched_ == options_.max_requests) return false;
  if (!source_->next(head_.request)) return false;
  ++fetched_;
  head_.opened = false;
  head_.left = pieces_;
  head_.at = head_.request.address & ~(options_.line - 1);
  if (head_.request.levels != 0) {
    if (places_.empty())
      throw Error(ExitCode::unsupported, "trace-place-plugin",
                  "the trace gives places instead of addresses, which a plug-in does not take",
                  "use a trace of addresses, or a memory technology");
    head_.at = places_.front().address(head_.request, *source_);
    head_.left = 1;
  } else if (router_.capacity() != 0 && head_.request.address >= router_.capacity()) {
    if (!options_.wrap) beyond(head_.request.address);
    head_.at %= router_.capacity();
  }
  head_.piece.write = head_.request.write;
  head_.piece.source = head_.request.source;
  route_head();
  return true;
}

void Driver::route_head() {
  const memory::dram::ChannelAddress where = router_(head_.at);
  head_.channel = where.channel;
  head_.piece.address = where.local;
}

void Driver::beyond(std::uint64_t address) const {
  Diagnostic d = source_->place();
  d.message = fmt::format("address {:#x} is beyond the memory of {:#x} bytes", address, router_.capacity());
  d.hint = "--wrap takes addresses modulo the size; more --channels make the memory larger";
  throw Error(ExitCode::bad_input, "dram-address", std::move(d));
}

void Driver::open_flight() {
  if (free_.empty()) {
    head_.flight = static_cast<std::uint32_t>(flights_.size());
    flights_.emplace_back();
  } else {
    head_.flight = free_.back();
    free_.pop_back();
  }
  flights_[head_.flight] = {now_, head_.left, 0, head_.request.write};
  head_.piece.tag = head_.flight;
  ++outstanding_;
  ++(head_.request.write ? measured_.writes : measured_.reads);
  head_.opened = true;
}

// As many pieces of the head as the memory takes; true if that was the rest.
bool Driver::offer() {
  while (memory_.accepts(head_.channel, head_.piece)) {
    if (!head_.opened) open_flight();
    memory_.add(head_.channel, head_.piece, now_);
    active_ = now_;
    ++(head_.request.write ? measured_.write_accesses : measured_.read_accesses);
    if (--head_.left == 0) return true;
    head_.at += piece_bytes_;
    route_head();
  }
  return false;
}

void Driver::run_queue(Pace pace) {
  for (;;) {
    bool waits = false;  // for the memory
    for (std::uint32_t given = 0; head_.here && given < options_.per_clock; ++given) {
      if (pace == Pace::timed && head_.request.cycle > now_) break;
      waits = (pace == Pace::chased && outstanding_ > 0 && !head_.opened) || !offer();
      if (waits) break;
      if (pace == Pace::timed) measured_.late += now_ - head_.request.cycle;
      head_.here = fetch();
    }
    if (!head_.here && outstanding_ == 0) return;
    Cycle next = now_ + 1;
    if (!head_.here || waits)
      next = next_change();
    else if (pace == Pace::timed)
      next = std::max(next, head_.request.cycle);
    if (!step(next)) return;
  }
}

// The first clock at which the memory may have changed.
Cycle Driver::next_change() {
  const Cycle event = memory_.next_event();
  if (event == never || (outstanding_ > 0 && now_ - active_ > patience))
    throw Error(
        ExitCode::failure, "dram-stalled",
        outstanding_ > 0
            ? fmt::format("the memory stopped answering at clock {}: {} requests are under way", now_,
                          outstanding_)
            : fmt::format("the memory takes no request at clock {} though it has nothing to do", now_),
        "a plug-in that never answers, or a controller whose queues cannot hold one request");
  return std::max(now_ + 1, event + 1);
}

// Everything before clock `to`. False: the run ends here.
bool Driver::step(Cycle to) {
  while (now_ < to) {
    Cycle end = std::min(to, now_ + longest_step);
    if (options_.max_cycles != 0) end = std::min(end, options_.max_cycles);
    const bool long_way = end - now_ > steps_between_looks;
    memory_.advance(end, done_);
    now_ = end;
    if (!done_.empty()) collect();
    if (options_.max_cycles != 0 && now_ >= options_.max_cycles) {
      measured_.outcome = Outcome::cycle_limit;
      return false;
    }
    if (!long_way && ++steps_ % steps_between_looks != 0) continue;
    if (options_.told) options_.told(fetched_, now_);
    if (options_.stop != nullptr && *options_.stop) {
      measured_.outcome = Outcome::stopped;
      return false;
    }
  }
  return true;
}

void Driver::collect() {
  for (const memory::dram::Completion& c : done_) {
    if (c.tag >= flights_.size() || flights_[c.tag].pending == 0 || flights_[c.tag].write != c.write)
      throw Error(
          ExitCode::failure, "dram-conservation",
          fmt::format("the memory answered at clock {} what was not asked, or was answered before", c.at));
    Flight& flight = flights_[c.tag];
    active_ = last_answer_ = std::max(last_answer_, c.at);
    if (--flight.pending != 0) continue;
    (c.write ? measured_.write_latency : measured_.read_latency).add(c.at - flight.since);
    if (core_ != nullptr && !c.write) core_->answered(flight.place);
    free_.push_back(static_cast<std::uint32_t>(c.tag));
    --outstanding_;
  }
  done_.clear();
}

// One clock of the core. False: nothing moved, and nothing will before the memory does.
bool Driver::core_clock(Core& core, std::uint64_t& bubbles) {
  std::uint32_t moved = core.retire();
  const std::uint32_t inserted = core.insert(bubbles);
  bubbles -= inserted;
  moved += inserted;
  if (bubbles > 0 || !head_.here) return moved > 0;
  if (!head_.request.write && (inserted == core.width() || core.full())) return moved > 0;
  const bool sent = offer();
  if (sent) {
    if (!head_.request.write) flights_[head_.flight].place = core.insert_load();
    head_.here = fetch();
    bubbles = head_.here ? head_.request.bubbles : 0;
  }
  return sent || moved > 0;
}

void Driver::run_core() {
  Core core(options_.core);
  core_ = &core;
  const double memory_hz = 1e12 / memory_.clock_period();
  const double ratio = std::max(options_.core.clock_hz / memory_hz, 1e-6);  // core clocks a memory clock
  const auto first_clock = [&](Cycle at) {  // of the core within or after a memory clock
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(at) * ratio));
  };
  std::uint64_t clock = 0, bubbles = head_.here ? head_.request.bubbles : 0;
  for (bool running = true; running;) {
    bool moves = true;
    const std::uint64_t end = first_clock(now_ + 1);
    while (clock < end && moves && (head_.here || !core.empty())) {
      const std::uint64_t passed = core.pass(bubbles);
      clock += passed;
      if (passed == 0) {
        moves = core_clock(core, bubbles);
        ++clock;
      }
    }
    if (!head_.here && core.empty() && outstanding_ == 0) break;
    Cycle next = now_ + 1;
    if (!moves || (!head_.here && core.empty())) {
      next = next_change();
      clock = std::max(clock, first_clock(next));
    } else if (clock > end) {
      next = std::max(next, static_cast<Cycle>(static_cast<double>(clock) / ratio));
    }
    running = step(next);
  }
  core_ = nullptr;
  measured_.core_cycles = clock;
  measured_.core_instructions = core.retired();
}

}  // namespace simtlab::memory::traffic

#include "timing/front_end.h"

#include <algorithm>
#include <cmath>

namespace simtlab::timing {

using memory::Cycle;

namespace {

// Of a line on a way that is so wide; 0: as wide as needed.
memory::FixedCycles line_cost(const device::Device::Instruction& p, double bytes_per_cycle) {
  return bytes_per_cycle > 0 ? memory::to_fixed(p.line_bytes / bytes_per_cycle) : 0;
}

}  // namespace

void InstructionCache::set_size(std::uint64_t lines, std::uint32_t ways) {
  ways_ = std::max(1u, ways);
  sets_ = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, lines / ways_));
  tags_.assign(std::size_t{sets_} * ways_, Tag{});
  places_ = {};
  clock_ = 0;
  restart();
}

void InstructionCache::restart() {
  coming_.clear();
  settled_ = 0;
}

// Only lines that are there: programs are small beside the caches.
void InstructionCache::save(stream::trace::Buffer& out) const {
  stream::trace::put_number(out, tags_.size());
  stream::trace::put_number(out, clock_);
  stream::trace::put_number(out, static_cast<std::uint64_t>(std::ranges::count_if(
                                     tags_, [](const Tag& tag) { return tag.line != 0; })));
  for (std::size_t i = 0; i < tags_.size(); ++i) {
    if (tags_[i].line == 0) continue;
    stream::trace::put_number(out, i);
    stream::trace::put_number(out, tags_[i].line);
    stream::trace::put_number(out, tags_[i].used);
  }
}

void InstructionCache::restore(stream::trace::Bytes& in) {
  if (in.number() != tags_.size()) throw stream::trace::Malformed("an instruction cache of another size");
  const auto narrow = [&] {
    const std::uint64_t value = in.number();
    if (value > 0xffffffff)
      throw stream::trace::Malformed("a line of an instruction cache that it can't have");
    return static_cast<std::uint32_t>(value);
  };
  std::ranges::fill(tags_, Tag{});
  restart();
  clock_ = narrow() & ~1u;
  for (std::uint64_t left = in.number(); left > 0; --left) {
    const std::uint32_t at = narrow();
    if (at >= tags_.size())
      throw stream::trace::Malformed("a line of an instruction cache that it can't have");
    tags_[at].line = narrow();
    tags_[at].used = narrow();
  }
}

// Its numbers are used up: the order of uses is forgotten once.
std::uint32_t InstructionCache::begin_clock() {
  for (Tag& tag : tags_) tag.used &= 1;
  return clock_ = 2;
}

memory::Cycle InstructionCache::comes(Line line, Cycle now) {
  Cycle at = now;
  for (const Coming& coming : coming_)
    if (coming.line == line) at = std::max(at, coming.at);
  return at;
}

void InstructionCache::put(Line line, Cycle at, Cycle now, bool demanded) {
  Tag* const set = &tags_[std::size_t{line % sets_} * ways_];
  Tag* oldest = set;
  for (std::uint32_t way = 1; way < ways_; ++way)
    if (set[way].used < oldest->used) oldest = &set[way];
  *oldest = {line, stamp() | (demanded ? 0u : 1u)};
  places_[line % places_.size()] = static_cast<std::uint32_t>(oldest - tags_.data());
  std::erase_if(coming_, [&](const Coming& coming) { return coming.at <= now || coming.line == line; });
  coming_.push_back({line, at});
  settled_ = std::max(settled_, at);
}

FrontEnd::FrontEnd(const device::Device& device)
    : p_(device.instruction),
      sharing_(device.sm.schedulers / std::max(1u, device.instruction.l0_caches)),
      l1_latency_(static_cast<Cycle>(std::llround(device.instruction.l1_latency))),
      l2_latency_(static_cast<Cycle>(std::llround(device.l2.latency))),
      l1_cost_(line_cost(device.instruction, device.instruction.l1_bytes_per_cycle)),
      l2_cost_(line_cost(device.instruction, device.instruction.l2_bytes_per_cycle)),
      schedulers_(device.sm.schedulers) {}

void FrontEnd::begin() {
  if (p_.caches && p_.constant_bytes != 0) {
    operands_.resize(schedulers_);
    const std::uint64_t lines = std::max<std::uint64_t>(1, p_.constant_bytes / constant_line_bytes);
    for (InstructionCache& cache : operands_) cache.set_size(lines, static_cast<std::uint32_t>(lines));
  }
  if (!p_.caches || !l0_.empty()) return;  // now only: SMs that are never used cost no memory
  l0_.resize(p_.l0_caches);
  for (InstructionCache& cache : l0_) cache.set_size(p_.l0_bytes / p_.line_bytes, p_.l0_ways);
  l1_.set_size(p_.l1_bytes / p_.line_bytes, p_.l1_ways);
}

void FrontEnd::restart() {
  for (InstructionCache& cache : l0_) cache.restart();
  l1_.restart();
  l1_port_.reset();
  l2_port_.reset();
}

void FrontEnd::save(stream::trace::Buffer& out) const {
  out.push_back(l0_.empty() ? 0 : 1);
  if (l0_.empty()) return;
  for (const InstructionCache& cache : l0_) cache.save(out);
  l1_.save(out);
}

void FrontEnd::restore(stream::trace::Bytes& in) {
  l0_.clear();
  if (in.byte() == 0) return;
  if (!p_.caches) throw stream::trace::Malformed("instruction caches that the device does not have");
  begin();
  for (InstructionCache& cache : l0_) cache.restore(in);
  l1_.restore(in);
}

Cycle FrontEnd::fetch(unsigned scheduler, std::uint32_t line, Cycle now, FetchCounters& counters) {
  InstructionCache& l0 = l0_[scheduler / sharing_];
  ++counters.l0_accesses;
  const InstructionCache::Place place = l0.look(line, now);
  Cycle at = place.at;
  if (!place.hit) {
    ++counters.l0_misses;
    at = from_l1(line, now, counters);
    l0.put(line, at, now, true);
  } else if (!place.first) {
    return at;
  }
  for (std::uint32_t next = line + 1; next <= line + p_.l0_prefetch; ++next) {
    if (l0.holds(next)) continue;
    ++counters.prefetches;
    l0.put(next, from_l1(next, now, counters), now, false);
  }
  return at;
}

Cycle FrontEnd::fetch_operand(unsigned scheduler, std::uint32_t line, Cycle now, FetchCounters& counters) {
  ++counters.operand_misses;
  const Cycle at =
      (line & parameters) != 0 ? l1_port_.take(now, l1_cost_) + l1_latency_ : from_l1(line, now, counters);
  operands_[scheduler].put(line, at, now, true);
  return at;
}

Cycle FrontEnd::from_l1(std::uint32_t line, Cycle now, FetchCounters& counters) {
  ++counters.l1_accesses;
  const InstructionCache::Place place = l1_.look(line, now);
  Cycle at = std::max(place.at, l1_port_.take(now, l1_cost_) + l1_latency_);
  if (!place.hit) {
    ++counters.l1_misses;
    at = std::max(at, l2_port_.take(now, l2_cost_) + l2_latency_);
    l1_.put(line, at, now, true);
  }
  return at;
}

}  // namespace simtlab::timing

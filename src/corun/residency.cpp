#include "corun/residency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/shown.h"

namespace simtlab::corun {
namespace {

constexpr std::uint64_t groups_of_a_launch = 6;  // of a grid of many waves
constexpr double nothing_left = 1e-9;            // of a block
constexpr double nearly = 0.125;                 // of a round
// Data between two uses of a byte, over the size of L2: up to the first it is still there, from the second on
// it has gone. Sets fill unevenly.
constexpr double kept_to = 0.95, gone_from = 1.1;

}  // namespace

std::string missing_shape(const Profile& p) {
  std::string out;
  if (!p.grid) out = "grid";
  if (!p.block) out += out.empty() ? "block" : ", block";
  return out;
}

ResidencyMachine::ResidencyMachine(std::span<const Workload> mix, const device::Device& device,
                                   const SmSharing& sharing)
    : device_(device), sharing_(sharing.policy), servers_(servers_of(device)) {
  for (const Workload& w : mix) {
    std::vector<Step>& steps = steps_.emplace_back();
    Footprint& footprint = footprints_.emplace_back();
    footprint.seen.resize(mix.size());
    for (const Workload::Step& step : w.sequence) {
      if (const std::string missing = missing_shape(step.profile); !missing.empty())
        throw Error(ExitCode::bad_input, "corun-profiles",
                    fmt::format("of kernel {} of {} the SMs want to know {}", shown(step.kernel),
                                shown(w.name), missing),
                    "simtlab corun profile fills a database with them; without --gpu the interference model "
                    "does without SMs");
      Step& s = steps.emplace_back();
      if (sharing.part) s.part = sharing.part(w.name, step.kernel);
      s.warm = s.cold = grid_work(step.profile, device_, servers_);
      if (!step.profile.cold_time_ns || !step.profile.footprint) continue;
      s.cold = grid_work(cold_profile(step.profile), device_, servers_);
      s.footprint = *step.profile.footprint;
      footprint.largest = std::max(footprint.largest, s.footprint);
    }
  }
}

void ResidencyMachine::begin(std::size_t process, std::uint64_t launch, Time) {
  const std::vector<Step>& steps = steps_[process];
  const Step& step = steps[launch % steps.size()];
  Running r;
  r.process = process;
  r.grid = between(step.warm, step.cold, missing(process, step));
  r.footprint = step.footprint;
  r.part = step.part;
  r.pending = r.grid.blocks;
  running_.push_back(std::move(r));
  hand_out();
}

// Bytes that a process has brought to L2, or used again there.
double ResidencyMachine::touched(std::size_t process) const {
  double out = footprints_[process].touched;
  for (const Running& r : running_) {
    if (r.process != process) continue;
    double left = static_cast<double>(r.pending);
    for (const Group& g : r.groups) left += static_cast<double>(g.places) * std::max(0.0, g.ends - r.done);
    out += r.footprint * (1 - left / static_cast<double>(r.grid.blocks));
  }
  return out;
}

// The part of a launch's data that has gone from L2 since the process's launch before, by least recent use:
// what lies between two uses of a byte is the process's own data and what the others have touched in the
// meantime, of each at most all that it has. Of the first launch the profile knows.
double ResidencyMachine::missing(std::size_t process, const Step& step) {
  Footprint& own = footprints_[process];
  double between_uses = own.largest;
  for (std::size_t p = 0; p < footprints_.size(); ++p) {
    const double now = p == process ? 0 : touched(p);
    between_uses += std::min(footprints_[p].largest, now - own.seen[p]);
    own.seen[p] = now;
  }
  if (!std::exchange(own.began, true) || step.footprint <= 0) return 0;
  const double size = static_cast<double>(device_.l2.bytes);
  return std::clamp((between_uses / size - kept_to) / (gone_from - kept_to), 0.0, 1.0);
}

// SMs that a launch may go to now (timing/sharing.cpp): with spatial its neighbours' change as launches come
// and go, what lies there stays.
SmRange ResidencyMachine::range_of(const Running& r) const {
  const std::uint32_t sms = device_.sm.count;
  if (r.part.count() != 0) return r.part;
  if (sharing_ != timing::SharePolicy::spatial) return {0, sms};
  const auto i = static_cast<std::uint64_t>(&r - running_.data()), launches = std::uint64_t{running_.size()};
  const auto first = static_cast<std::uint32_t>(i * sms / launches);
  return {first, std::max(first + 1, static_cast<std::uint32_t>((i + 1) * sms / launches))};
}

// Blocks that a launch may have there.
std::uint64_t ResidencyMachine::most(const Running& r, const SmRange& range) const {
  const std::uint64_t of_sm = r.grid.occupancy.blocks_per_sm;
  if (sharing_ == timing::SharePolicy::smk)
    return std::max<std::uint64_t>(1, of_sm / running_.size()) * range.count();
  if (sharing_ == timing::SharePolicy::serial && &r != &running_.front()) return 0;
  return of_sm * range.count();
}

std::uint64_t ResidencyMachine::blocks_on(const Running& r, const SmRange& range) {
  std::uint64_t out = 0;
  for (const Group& g : r.groups) {
    const std::uint32_t first = std::max(g.sms.first, range.first), end = std::min(g.sms.end, range.end);
    if (first < end) out += (g.places * (end - first) + g.sms.count() - 1) / g.sms.count();
  }
  return out;
}

ResidencyMachine::Held ResidencyMachine::held_on(const SmRange& range) const {
  Held out;
  for (const Running& r : running_) hold(out, r.grid, blocks_on(r, range), true);
  return out;
}

// Places for more blocks, summed over the SMs: blocks are handed out evenly, so what is left lies evenly,
// too.
std::uint64_t ResidencyMachine::room(const Running& r) const {
  const device::Device::Sm& sm = device_.sm;
  const device::Occupancy& o = r.grid.occupancy;
  const SmRange range = range_of(r);
  const std::uint64_t own = shares_all(range) ? r.resident : blocks_on(r, range), may_have = most(r, range);
  const Held held = shares_all(range) ? held_ : held_on(range);
  const auto left = [&](std::uint64_t of_sm, std::uint64_t of_held, std::uint64_t block) {
    const std::uint64_t all = of_sm * range.count();
    return block == 0 ? std::numeric_limits<std::uint64_t>::max() : (all - std::min(all, of_held)) / block;
  };
  return std::min({may_have - std::min(may_have, own), left(sm.max_blocks, held.blocks, 1),
                   left(device::warp_slots(device_), held.warps, r.grid.block_warps),
                   left(sm.registers, held.registers, o.registers_per_block),
                   left(sm.shared_bytes, held.shared_bytes, o.shared_per_block)});
}

void ResidencyMachine::hold(Held& all, const GridWork& g, std::uint64_t blocks, bool take) {
  const auto move = [&](std::uint64_t& held, std::uint64_t each) {
    held = take ? held + each * blocks : held - each * blocks;
  };
  move(all.blocks, 1);
  move(all.warps, g.block_warps);
  move(all.registers, g.occupancy.registers_per_block);
  move(all.shared_bytes, g.occupancy.shared_per_block);
}

// A group that would end at nearly the same time as one that is there joins it, which keeps the number of
// groups small however places were left over.
void ResidencyMachine::place(Running& r, std::uint64_t places, double rounds, SmRange sms) {
  const double ends = r.done + rounds;
  for (Group& g : r.groups) {
    if (g.sms.first != sms.first || g.sms.end != sms.end || std::abs(g.ends - ends) > nearly * rounds)
      continue;
    const auto there = static_cast<double>(g.places), more = static_cast<double>(places);
    g.ends = (g.ends * there + ends * more) / (there + more);
    g.places += places;
    return;
  }
  r.groups.push_back({places, ends, sms});
}

void ResidencyMachine::hand_out() {
  std::size_t seen = 0;
  for (Running& r : running_) {
    if (seen++ == device_.host.max_grids) break;
    if (r.pending == 0) continue;
    const std::uint64_t places = std::min(room(r), r.pending);
    if (places == 0) continue;
    // A grid of many waves keeps its places for several of them: as many as if it had the GPU for itself, or
    // few places would be kept for long.
    const std::uint64_t rounds = std::max<std::uint64_t>(1, r.pending / r.grid.most / groups_of_a_launch);
    place(r, places, static_cast<double>(rounds), range_of(r));
    r.pending -= places * rounds;
    r.resident += places;
    hold(held_, r.grid, places, true);
  }
  changed_ = true;
}

// The part of the SMs that a launch has for itself; blocks of a time when it had more are still there.
double ResidencyMachine::own_part(const Running& r) const {
  const SmRange range = range_of(r);
  return shares_all(range)
             ? 0
             : std::min(1.0, std::max<double>(range.count(), static_cast<double>(r.resident) /
                                                                 r.grid.occupancy.blocks_per_sm) /
                                 device_.sm.count);
}

void ResidencyMachine::set_rates() {
  const bool same = settled_ == running_.size() &&
                    std::ranges::all_of(running_, [](const Running& r) { return r.settled == r.resident; });
  if (same && crowds_.size() == static_cast<std::size_t>(std::ranges::count_if(
                                    running_, [](const Running& r) { return r.resident > 0; })))
    return;
  settled_ = running_.size();
  crowds_.clear();
  crowd_of_.clear();
  for (const bool own : {false, true})
    for (Running& r : running_) {
      const double part = r.resident > 0 ? own_part(r) : 0;
      if (r.resident == 0 || (part > 0) != own) continue;
      crowds_.push_back({&r.grid, static_cast<double>(r.resident), part});
      crowd_of_.push_back(&r);
    }
  settle(servers_, crowds_, delays_);
  for (Running& r : running_) r.settled = r.resident;
  for (std::size_t i = 0; i < crowds_.size(); ++i) crowd_of_[i]->stretch = crowds_[i].stretch;
}

double ResidencyMachine::next_end() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Running& r : running_) {
    if (r.groups.empty()) continue;
    least = std::min(
        least, (std::ranges::min(r.groups, {}, &Group::ends).ends - r.done) * r.grid.block_ns * r.stretch);
  }
  return std::max(least, 0.0);
}

void ResidencyMachine::go_on(double span) {
  for (Running& r : running_)
    if (r.resident > 0) r.done += span / (r.grid.block_ns * r.stretch);
}

// Groups that are through leave their places, which go to what waits for them. True: a launch has ended.
bool ResidencyMachine::retire(std::vector<std::size_t>& ended) {
  bool places = false, any = false;
  for (Running& r : running_)
    std::erase_if(r.groups, [&](const Group& g) {
      if (g.ends - r.done > nothing_left) return false;
      r.resident -= g.places;
      hold(held_, r.grid, g.places, false);
      return places = true;
    });
  std::erase_if(running_, [&](const Running& r) {
    if (r.pending > 0 || !r.groups.empty()) return false;
    footprints_[r.process].touched += r.footprint;
    places = true;
    ended.push_back(r.process);
    return any = true;
  });
  if (places) hand_out();
  return any;
}

Time ResidencyMachine::advance(Time now, Time until, std::vector<std::size_t>& ended) {
  const double stop =
      until == never ? std::numeric_limits<double>::infinity() : static_cast<double>(until - now);
  for (double at = 0;;) {
    if (std::exchange(changed_, false)) set_rates();
    const double span = next_end();
    if (at + span > stop) {
      go_on(stop - at);
      return until;
    }
    go_on(span);
    at += span;
    if (!retire(ended)) continue;
    // A launch ends on the first whole nanosecond by which all its work is done; the others go on until then.
    const double whole = std::max(1.0, std::ceil(at - 1e-6));
    if (changed_) set_rates();
    changed_ = false;
    go_on(whole - at);
    return now + static_cast<Time>(whole);
  }
}

}  // namespace simtlab::corun

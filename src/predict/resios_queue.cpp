#include "predict/resios_queue.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>

namespace simtlab::predict::resios {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct Warp {
  std::uint32_t block = 0;   // its place on the SM
  double round = 0;
  std::size_t station = 0;
};

// All warps need the same of a unit and it serves them equally, so they leave in the order in which they came. `done` is the share of its work
// that a warp which was there from the beginning would have got.
struct Queue {
  const Station* of = nullptr;
  std::deque<std::pair<double, std::uint32_t>> inside;   // done at which the warp leaves; its number
  double done = 0, busy = 0;

  // Cycles that a warp takes with n of them inside (equation 4.5 times n; batches of the memory units).
  double service() const {
    const auto n = static_cast<double>(inside.size());
    if (of->at_a_time > 0) return of->alone * std::max(n / of->at_a_time, 1.0);
    return n * of->busy <= of->alone ? of->alone : (n + 1) * of->busy;
  }
  void pass(double cycles) {
    if (inside.empty()) return;
    done += cycles / service();
    busy += cycles;
  }
  double next() const { return inside.empty() ? never : std::max(inside.front().first - done, 0.0) * service(); }
};

struct Place {
  double warps_left = 0, at_barrier = 0, starts = never, released = never;
  std::vector<std::uint32_t> waiting;
};

class Simulation {
 public:
  Simulation(const Work& work, double blocks) : work_(work), blocks_(blocks) {
    for (const Station& s : work.stations)
      if (s.alone > 0 || s.busy > 0) queues_.push_back({&s, {}, 0, 0});
    const auto places = static_cast<std::size_t>(std::min(work.resident, blocks));
    places_.resize(places);
    warps_.resize(places * static_cast<std::size_t>(work.warps_per_block));
    for (std::size_t i = 0; i < places; ++i) places_[i].starts = static_cast<double>(++begun_) * work.block_launch;
    last_launch_ = static_cast<double>(begun_) * work.block_launch;
  }

  double run() {
    while (ended_ < blocks_) {
      double step = never;
      for (const Queue& q : queues_) step = std::min(step, q.next());
      for (const Place& p : places_) step = std::min({step, p.starts - now_, p.released - now_});
      step = std::max(step, 0.0);
      now_ += step;
      for (Queue& q : queues_) q.pass(step);
      for (std::size_t i = 0; i < places_.size(); ++i) place(i);
      for (Queue& q : queues_) leave(q);
    }
    return now_;
  }

  double busy(const Station& s) const {
    for (const Queue& q : queues_)
      if (q.of == &s) return q.busy;
    return 0;
  }

 private:
  void place(std::size_t i) {
    Place& p = places_[i];
    if (p.starts <= now_) {
      p.starts = never;
      p.warps_left = work_.warps_per_block;
      const auto count = static_cast<std::uint32_t>(work_.warps_per_block);
      for (std::uint32_t w = 0; w < count; ++w) {
        const auto number = static_cast<std::uint32_t>(i) * count + w;
        warps_[number] = {static_cast<std::uint32_t>(i), 0, 0};
        enter(number);
      }
    }
    if (p.released <= now_) {
      p.released = never;
      p.at_barrier = 0;
      for (const std::uint32_t number : std::exchange(p.waiting, {})) next_round(number);
    }
  }

  void leave(Queue& q) {
    constexpr double rounding = 1e-12;
    while (!q.inside.empty() && q.inside.front().first <= q.done * (1 + rounding) + rounding) {
      const std::uint32_t number = q.inside.front().second;
      q.inside.pop_front();
      if (q.inside.empty()) q.done = 0;   // keeps the sums small
      ++warps_[number].station;
      enter(number);
    }
  }

  void enter(std::uint32_t number) {
    Warp& w = warps_[number];
    if (w.station < queues_.size()) {
      Queue& q = queues_[w.station];
      q.inside.emplace_back(q.done + 1, number);
      return;
    }
    const double before = std::floor(w.round * work_.barriers / work_.rounds), after = std::floor((w.round + 1) * work_.barriers / work_.rounds);
    if (after <= before) return next_round(number);
    Place& p = places_[w.block];
    p.waiting.push_back(number);
    // More barriers than rounds: all of them at its end.
    if (++p.at_barrier == p.warps_left) p.released = now_ + (after - before) * work_.barrier_cycles;
  }

  void next_round(std::uint32_t number) {
    Warp& w = warps_[number];
    w.station = 0;
    w.round += 1;
    if (w.round < work_.rounds && !queues_.empty()) return enter(number);
    Place& p = places_[w.block];
    if (--p.warps_left > 0) return;
    ended_ += 1;
    if (static_cast<double>(begun_) >= blocks_) return;
    ++begun_;
    last_launch_ = std::max(now_, last_launch_ + work_.block_launch);
    p.starts = last_launch_;
  }

  const Work& work_;
  double blocks_;
  std::vector<Queue> queues_;
  std::vector<Place> places_;
  std::vector<Warp> warps_;
  double now_ = 0, last_launch_ = 0, ended_ = 0;
  std::uint64_t begun_ = 0;
};

}  // namespace

namespace {

// More warps than any GPU holds come only from odd counts: pairs of them then count as one with twice the work.
Work bounded(Work work) {
  constexpr double most_warps = 128;
  while (work.resident * work.warps_per_block > most_warps) {
    if (work.warps_per_block > 1) {
      work.warps_per_block = std::ceil(work.warps_per_block / 2);
    } else {
      work.resident = std::ceil(work.resident / 2);
      work.blocks = std::ceil(work.blocks / 2);
      work.block_launch *= 2;
    }
    for (Station& s : work.stations) {
      s.busy *= 2;
      s.at_a_time /= 2;
    }
  }
  return work;
}

}  // namespace

Outcome simulate(const Work& asked) {
  const Work work = bounded(asked);
  Outcome out;
  const auto keep = [&](const Simulation& s, double scale) {
    out.busy.clear();
    for (const Station& station : work.stations) out.busy.push_back(s.busy(station) * scale);
  };
  // Beyond some waves every further one takes as long as the last: two lengths give its time.
  const double rest = std::fmod(work.blocks, work.resident), few = work.resident + rest, more = 3 * work.resident + rest;
  if (work.blocks <= more + work.resident) {
    Simulation all(work, work.blocks);
    out.cycles = all.run();
    keep(all, 1);
    return out;
  }
  Simulation shorter(work, few), longer(work, more);
  const double a = shorter.run(), b = longer.run();
  out.cycles = b + (b - a) * (work.blocks - more) / (more - few);
  out.extrapolated = true;
  keep(longer, out.cycles / b);
  return out;
}

}  // namespace simtlab::predict::resios

#include "models/resios_queue.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <utility>

namespace simtlab::models::resios {
namespace {

struct Warp {
  std::uint32_t block = 0;  // its place on the SM
  double round = 0;
  std::size_t station = 0;
  bool waited = false;  // at the barrier of this round
};

// A unit begins with one warp after the other, in the order in which they come.
struct Queue {
  const Station* of = nullptr;
  double free = 0;          // when the unit can begin with the next warp
  std::deque<double> ends;  // of the last at_a_time warps
  double busy_until = 0, busy = 0;

  // A warp comes at `now`; when it leaves.
  double serve(double now, double times) {
    double start = std::max(now, free);
    if (of->at_a_time > 0 && static_cast<double>(ends.size()) >= of->at_a_time) {
      start = std::max(start, ends.front());
      ends.pop_front();
    }
    free = start + times * of->busy;
    const double end = start + times * std::max(of->alone, of->busy);
    if (of->at_a_time > 0) ends.push_back(end);
    busy += end - std::max(std::min(start, end), std::min(busy_until, end));
    busy_until = std::max(busy_until, end);
    return end;
  }
};

struct Event {
  double at = 0;
  std::uint64_t order = 0;  // of those at one time the first that was made
  std::uint32_t warp = 0;
  bool operator>(const Event& o) const { return at != o.at ? at > o.at : order > o.order; }
};

struct Place {
  double warps_left = 0;
  std::vector<std::uint32_t> waiting;  // at a barrier
};

class Simulation {
 public:
  Simulation(const Work& work, double blocks) : work_(work), blocks_(blocks) {
    for (const Station& s : work.stations)
      if (s.alone > 0 || s.busy > 0) queues_.push_back({&s, 0, {}, 0, 0});
    const auto places = static_cast<std::uint32_t>(std::min(work.resident, blocks));
    places_.resize(places);
    warps_.resize(std::size_t{places} * static_cast<std::size_t>(work.warps_per_block));
    for (std::uint32_t i = 0; i < places; ++i) launch(i, 0);
  }

  double run() {
    while (!events_.empty()) {
      const Event e = events_.top();
      events_.pop();
      now_ = e.at;
      step(e.warp);
    }
    return end_;
  }

  double busy(const Station& s) const {
    for (const Queue& q : queues_)
      if (q.of == &s) return q.busy;
    return 0;
  }

 private:
  void launch(std::uint32_t place, double now) {
    if (begun_ >= blocks_) return;
    begun_ += 1;
    last_launch_ = std::max(now, last_launch_ + work_.block_launch);
    places_[place].warps_left = work_.warps_per_block;
    const auto count = static_cast<std::uint32_t>(work_.warps_per_block);
    for (std::uint32_t w = place * count; w < (place + 1) * count; ++w) {
      warps_[w] = {place, 0, 0, false};
      wake(w, last_launch_);
    }
  }

  void wake(std::uint32_t warp, double at) { events_.push({at, made_++, warp}); }

  // A round: what is staged, the barriers, the other units. Barriers divide the rounds; only the first behind
  // one stages and waits.
  void step(std::uint32_t number) {
    Warp& w = warps_[number];
    const double barriers = std::floor((w.round + 1) * work_.barriers / work_.rounds) -
                            std::floor(w.round * work_.barriers / work_.rounds);
    const bool first = work_.barriers == 0 || barriers > 0;
    while (w.station < queues_.size() && queues_[w.station].of->staging && !first) ++w.station;
    if (!w.waited && barriers > 0 && (w.station >= queues_.size() || !queues_[w.station].of->staging)) {
      w.waited = true;
      return arrive(places_[w.block], number, barriers * work_.barrier_cycles);
    }
    if (w.station < queues_.size()) {
      Queue& q = queues_[w.station++];
      const double rounds =
          work_.barriers == 0 || !q.of->staging ? 1 : std::max(work_.rounds / work_.barriers, 1.0);
      return wake(number, q.serve(now_, rounds));
    }
    w.round += 1;
    w.station = 0;
    w.waited = false;
    // Without a unit to wait for, rounds take no time.
    if (queues_.empty() && work_.barriers == 0) w.round = work_.rounds;
    go_on(number, now_);
  }

  // The last of the block lets all go; more barriers than rounds are all of them at its end.
  void arrive(Place& p, std::uint32_t number, double cycles) {
    p.waiting.push_back(number);
    if (static_cast<double>(p.waiting.size()) < p.warps_left) return;
    for (const std::uint32_t one : std::exchange(p.waiting, {})) wake(one, now_ + cycles);
  }

  void go_on(std::uint32_t number, double at) {
    Warp& w = warps_[number];
    if (w.round < work_.rounds) return wake(number, at);
    end_ = std::max(end_, at);
    if (--places_[w.block].warps_left == 0) launch(w.block, at);
  }

  const Work& work_;
  double blocks_;
  std::vector<Queue> queues_;
  std::vector<Place> places_;
  std::vector<Warp> warps_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  double now_ = 0, end_ = 0, last_launch_ = 0, begun_ = 0;
  std::uint64_t made_ = 0;
};

}  // namespace

namespace {

// More warps than any GPU holds come only from odd counts: pairs of them then count as one with twice the
// work.
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
  const double rest = std::fmod(work.blocks, work.resident), few = work.resident + rest,
               more = 2 * work.resident + rest;
  if (work.blocks <= more) {
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

}  // namespace simtlab::models::resios

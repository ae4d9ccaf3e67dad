#include "models/resios_simulation.h"

#include <algorithm>
#include <limits>

namespace simtlab::models::resios {
namespace {

constexpr double ended = 1e-9;  // cycles that are left of an instruction by rounding alone

struct Warp {
  std::size_t block = 0;  // its place on the SM
  std::size_t step = 0;
  double left = 0;         // of the delay of its instruction
  std::uint64_t born = 0;  // the block's number first, then its own
};

class Simulation {
 public:
  explicit Simulation(const Work& work) : work_(work) {
    const std::size_t places = std::min(work.resident_blocks, work.blocks);
    warps_.resize(places * work.warps_per_block);
    left_in_block_.resize(places);
    for (auto* queue : {&ready_[0], &ready_[1], &unit_[0], &unit_[1], &arrived_})
      queue->reserve(warps_.size());
    free_.reserve(places);
    for (std::size_t i = places; i-- > 0;) free_.push_back(i);
    out_.idle.resize(work.steps.size());
    out_.in_unit.resize(work.steps.size());
  }

  Outcome run() {
    if (work_.steps.empty()) return std::move(out_);
    for (;;) {
      while (!free_.empty() && begun_ < work_.blocks) launch();
      const std::size_t tlp = ready_[0].size() + ready_[1].size() + unit_[0].size();
      for (const std::uint32_t w : arrived_) warps_[w].left = delay_of(warps_[w].step, tlp);
      arrived_.clear();
      for (const std::size_t kind : {compute, memory}) distribute(kind);
      if (unit_[compute].empty() && unit_[memory].empty()) return finish();
      advance(static_cast<double>(tlp));
    }
  }

 private:
  static constexpr std::size_t compute = 0, memory = 1;

  std::size_t kind_of(std::uint32_t warp) const {
    return work_.steps[warps_[warp].step].memory ? memory : compute;
  }
  double delay_of(std::size_t step, std::size_t tlp) const {
    const std::vector<double>& delay = work_.steps[step].delay;
    return delay[std::clamp<std::size_t>(tlp, 1, delay.size()) - 1];
  }

  void launch() {
    const std::size_t place = free_.back();
    free_.pop_back();
    left_in_block_[place] = work_.warps_per_block;
    for (std::size_t i = 0; i < work_.warps_per_block; ++i) {
      const std::size_t w = place * work_.warps_per_block + i;
      warps_[w] = {place, 0, 0, begun_ * work_.warps_per_block + i};
      become_ready(static_cast<std::uint32_t>(w));
    }
    ++begun_;
  }

  void become_ready(std::uint32_t warp) {
    ready_[kind_of(warp)].push_back(warp);
    arrived_.push_back(warp);
  }

  void distribute(std::size_t kind) {
    const std::size_t units = kind == compute ? work_.compute_units : work_.memory_units;
    std::vector<std::uint32_t>& queue = ready_[kind];
    while (unit_[kind].size() < units && !queue.empty()) {
      const std::size_t next = next_of(queue);
      unit_[kind].push_back(queue[next]);
      queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(next));
    }
  }

  std::size_t next_of(const std::vector<std::uint32_t>& queue) const {
    const auto best = [&](const auto& key) {
      return static_cast<std::size_t>(std::ranges::min_element(queue, {}, key) - queue.begin());
    };
    switch (work_.order) {
      case Order::fifo: return 0;
      case Order::lifo: return queue.size() - 1;
      case Order::oldest: return best([&](std::uint32_t w) { return warps_[w].born; });
      case Order::shortest: return best([&](std::uint32_t w) { return warps_[w].left; });
      case Order::longest: return best([&](std::uint32_t w) { return -warps_[w].left; });
    }
    return 0;
  }

  // To the end of the instruction that ends first.
  void advance(double tlp) {
    double delay = std::numeric_limits<double>::infinity();
    for (const auto& unit : unit_)
      for (const std::uint32_t w : unit) delay = std::min(delay, warps_[w].left);
    const bool idle = unit_[compute].empty();
    for (auto& unit : unit_) {
      std::size_t kept = 0;
      for (const std::uint32_t w : unit) {
        Warp& warp = warps_[w];
        if (idle) out_.idle[warp.step] += delay;
        out_.in_unit[warp.step] += delay;
        warp.left -= delay;
        if (warp.left > ended)
          unit[kept++] = w;
        else
          end_of_instruction(w);
      }
      unit.resize(kept);
    }
    out_.cycles += delay;
    if (!idle) out_.computing += delay;
    tlp_time_ += tlp * delay;
  }

  void end_of_instruction(std::uint32_t w) {
    Warp& warp = warps_[w];
    if (++warp.step < work_.steps.size()) return become_ready(w);
    if (--left_in_block_[warp.block] == 0) free_.push_back(warp.block);
  }

  Outcome finish() {
    if (out_.cycles > 0) out_.mean_tlp = tlp_time_ / out_.cycles;
    return std::move(out_);
  }

  const Work& work_;
  std::vector<Warp> warps_;
  std::vector<std::size_t> left_in_block_, free_;
  std::vector<std::uint32_t> ready_[2], unit_[2];
  std::vector<std::uint32_t> arrived_;  // without a delay yet
  std::uint64_t begun_ = 0;
  double tlp_time_ = 0;
  Outcome out_;
};

}  // namespace

Outcome simulate(const Work& work) { return Simulation(work).run(); }

}  // namespace simtlab::models::resios

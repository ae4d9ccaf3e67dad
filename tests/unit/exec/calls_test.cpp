// Calls of lanes that run apart, beside stacks of each lane.
#include "exec/calls.h"

#include <gtest/gtest.h>

#include <random>

namespace simtlab::exec {
namespace {

constexpr unsigned view_count = 4, last_view = view_count - 1, lane_count = 32;

struct KeptCall {
  std::vector<std::uint32_t> views;  // those in use, then the last one
  std::uint32_t back = 0;
};

class Model {
 public:
  std::array<LaneSets, view_count> views{};
  std::array<std::vector<KeptCall>, lane_count> stacks;

  void enter(std::uint32_t lanes, unsigned used, std::uint32_t back) {
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      if ((lanes >> lane & 1u) == 0) continue;
      KeptCall call{.views = {}, .back = back};
      for (unsigned v = 0; v < used; ++v) call.views.push_back(views[v][lane]);
      call.views.push_back(views[last_view][lane]);
      views[last_view][lane] = lanes;
      stacks[lane].push_back(std::move(call));
    }
  }
  void leave(std::uint32_t lanes) {
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      if ((lanes >> lane & 1u) == 0) continue;
      const std::vector<std::uint32_t>& kept = stacks[lane].back().views;
      for (std::size_t v = 0; v + 1 < kept.size(); ++v) views[v][lane] = kept[v];
      views[last_view][lane] = kept.back();
      stacks[lane].pop_back();
    }
  }
  void forget(unsigned view, std::size_t level, std::uint32_t lanes) {
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      if (stacks[lane].size() == level) views[view][lane] &= ~lanes;
      if (stacks[lane].size() <= level) continue;
      std::vector<std::uint32_t>& kept = stacks[lane][level].views;
      if (view == last_view)
        kept.back() &= ~lanes;
      else if (view + 1 < kept.size())
        kept[view] &= ~lanes;
    }
  }
};

TEST(Calls, AreStacksOfLanes) {
  std::mt19937 random(5);
  const auto any = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  Model model;
  Calls calls;
  std::array<LaneSets, view_count> views{};
  for (unsigned step = 0; step < 20'000; ++step) {
    const std::uint32_t lanes = any(4) == 0 ? ~0u : static_cast<std::uint32_t>(random() & random());
    std::uint32_t inside = 0;
    for (unsigned lane = 0; lane < lane_count; ++lane)
      if (!model.stacks[lane].empty()) inside |= 1u << lane;
    const unsigned view = any(view_count), used = any(view_count);
    switch (any(5)) {
      case 0:
        for (std::uint32_t& set : views[view]) set = static_cast<std::uint32_t>(random());
        model.views[view] = views[view];
        break;
      case 1:
        if (lanes == 0) break;
        calls.enter(views, lanes, used, step);
        model.enter(lanes, used, step);
        break;
      case 2: {
        const std::size_t level = any(4);
        calls.forget(views, view, static_cast<std::uint32_t>(level), lanes);
        model.forget(view, level, lanes);
        break;
      }
      default: calls.leave(views, lanes & inside); model.leave(lanes & inside);
    }
    ASSERT_EQ(views, model.views) << "step " << step;
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      ASSERT_EQ(calls.level(lane), model.stacks[lane].size()) << "step " << step;
      if (model.stacks[lane].empty()) continue;
      ASSERT_EQ(calls.back(lane), model.stacks[lane].back().back);
    }
  }
}

}  // namespace
}  // namespace simtlab::exec

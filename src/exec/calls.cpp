#include "exec/calls.h"

#include <algorithm>
#include <bit>

namespace simtlab::exec {
namespace {

constexpr std::uint32_t all_lanes = ~0u;

template <class F>
void for_each_lane(std::uint32_t lanes, F&& each) {
  for (; lanes != 0; lanes &= lanes - 1) each(static_cast<unsigned>(std::countr_zero(lanes)));
}

}  // namespace

void Calls::clear() {
  calls_.clear();
  kept_.clear();
  levels_.fill(0);
  ended_ = 0;
}

std::uint32_t Calls::back(unsigned lane) const {
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call)
    if ((call->lanes >> lane & 1u) != 0) return call->back;
  return 0;
}

// What lane `lane` saw in view `view`, counted from 0 with the last one behind those in use.
std::uint32_t* Calls::kept(const Call& call, unsigned view, unsigned lane) {
  const auto before = static_cast<unsigned>(std::popcount(call.made & ((1u << lane) - 1)));
  return &kept_[call.first + view * static_cast<unsigned>(std::popcount(call.made)) + before];
}

void Calls::enter(std::span<LaneSets> views, std::uint32_t lanes, unsigned used, std::uint32_t back) {
  calls_.push_back({.lanes = lanes, .made = lanes, .back = back, .used = used, .first = kept_.size()});
  const auto keep = [&](const LaneSets& view) {
    if (lanes == all_lanes)
      kept_.insert(kept_.end(), view.begin(), view.end());
    else
      for_each_lane(lanes, [&](unsigned lane) { kept_.push_back(view[lane]); });
  };
  for (unsigned barrier = 0; barrier < used; ++barrier) keep(views[barrier]);
  keep(views.back());
  if (lanes == all_lanes) {
    views.back().fill(lanes);
    for (std::uint32_t& level : levels_) ++level;
  } else {
    for_each_lane(lanes, [&](unsigned lane) {
      views.back()[lane] = lanes;
      ++levels_[lane];
    });
  }
}

void Calls::restore(std::span<LaneSets> views, const Call& call, std::uint32_t lanes) {
  const auto view_of = [&](unsigned k) -> LaneSets& { return k < call.used ? views[k] : views.back(); };
  const std::uint32_t* next = &kept_[call.first];
  for (unsigned k = 0; k <= call.used; ++k) {
    LaneSets& view = view_of(k);
    if (lanes == all_lanes)
      for (std::uint32_t& set : view) set = *next++;
    else if (lanes == call.made)
      for_each_lane(lanes, [&](unsigned lane) { view[lane] = *next++; });
    else
      for_each_lane(lanes, [&](unsigned lane) { view[lane] = *kept(call, k, lane); });
  }
  if (lanes == all_lanes)
    for (std::uint32_t& level : levels_) --level;
  else
    for_each_lane(lanes, [&](unsigned lane) { --levels_[lane]; });
}

void Calls::leave(std::span<LaneSets> views, std::uint32_t lanes) {
  // The last call that a lane is in is its own.
  for (auto call = calls_.rbegin(); call != calls_.rend() && lanes != 0; ++call) {
    const std::uint32_t part = call->lanes & lanes;
    if (part == 0) continue;
    restore(views, *call, part);
    call->lanes &= ~part;
    lanes &= ~part;
    if (call->lanes == 0) ++ended_;
  }
  for (; !calls_.empty() && calls_.back().lanes == 0; --ended_) {
    kept_.resize(calls_.back().first);
    calls_.pop_back();
  }
  if (ended_ > calls_.size() / 2) drop_ended();
}

// Lanes that run apart leave calls in another order than they made them.
void Calls::drop_ended() {
  std::erase_if(calls_, [](const Call& call) { return call.lanes == 0; });
  std::size_t end = 0;
  for (Call& call : calls_) {
    const std::size_t size = (call.used + 1) * static_cast<std::size_t>(std::popcount(call.made));
    const auto from = kept_.begin() + static_cast<std::ptrdiff_t>(call.first);
    std::copy_n(from, size, kept_.begin() + static_cast<std::ptrdiff_t>(end));
    call.first = end;
    end += size;
  }
  kept_.resize(end);
  ended_ = 0;
}

void Calls::forget(std::span<LaneSets> views, unsigned barrier, std::uint32_t level, std::uint32_t lanes) {
  for (unsigned lane = 0; lane < levels_.size(); ++lane)
    if (levels_[lane] == level) views[barrier][lane] &= ~lanes;
  // Who has gone deeper will see it when he is back.
  LaneSets levels = levels_;
  const bool is_last = barrier + 1 == views.size();
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call)
    for_each_lane(call->lanes, [&](unsigned lane) {
      if (--levels[lane] == level && (is_last || barrier < call->used))
        *kept(*call, is_last ? call->used : barrier, lane) &= ~lanes;
    });
}

}  // namespace simtlab::exec

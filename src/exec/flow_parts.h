// What control flow of machine code and calls in it share: lanes of a warp that run, that are set aside, and
// that go on.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "exec/splits.h"
#include "exec/state.h"

namespace simtlab::exec::flow_parts {

// Calls each(lane) for the lanes of a mask.
template <class F>
void for_lanes(std::uint32_t mask, F&& each) {
  for (; mask != 0; mask &= mask - 1) each(static_cast<unsigned>(std::countr_zero(mask)));
}

inline std::uint32_t lowest_of(std::uint32_t mask) { return mask & (0 - mask); }
inline unsigned lowest_lane(std::uint32_t mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

inline void run(Warp& w, std::uint32_t pc, std::uint32_t lanes) {
  w.pc = pc;
  w.active = lanes;
  w.active_count = static_cast<unsigned>(std::popcount(lanes));
  if (w.ctx.mask != lanes) set_mask(w.ctx, lanes);
}

inline void set_aside(Warp& w, const Split& split) { w.splits->add(split); }

// Lanes that go on, by where, and by how many calls they are in.
class LaneGroups {
 public:
  void add(std::uint32_t pc, std::uint32_t mask, std::uint32_t level = 0) {
    Group* const found = std::find_if(groups_, groups_ + size_,
                                      [&](const Group& g) { return g.pc == pc && g.level == level; });
    if (found == groups_ + size_) groups_[size_++] = {pc, 0, level};
    found->mask |= mask;
  }
  template <class F>
  void for_each(F&& each) const {
    for (unsigned i = 0; i < size_; ++i) each(groups_[i].pc, groups_[i].mask);
  }
  void set_all_aside(Warp& w) const {
    for (unsigned i = 0; i < size_; ++i) set_aside(w, {.pc = groups_[i].pc, .mask = groups_[i].mask});
  }
  // The first one runs.
  void go(Warp& w) const {
    for (unsigned i = 1; i < size_; ++i) set_aside(w, {.pc = groups_[i].pc, .mask = groups_[i].mask});
    run(w, groups_[0].pc, groups_[0].mask);
  }

 private:
  struct Group {
    std::uint32_t pc, mask, level;
  };
  Group groups_[warp_size + 1];
  unsigned size_ = 0;
};

// Of lanes that run together: in how many calls they are.
inline std::uint32_t level_of(const Splits& s, std::uint32_t lanes) {
  return s.calls().level(lowest_lane(lanes));
}

// Whether all lanes that wait for each other arrive at once, which is mostly so.
inline bool all_meet(const Warp& w, unsigned barrier, std::uint32_t lanes) {
  const Splits& s = *w.splits;
  if (lanes != w.active) return false;
  const Splits::View& view = s.barrier(barrier);
  std::uint32_t differs = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane)
    differs |= ((view[lane] & s.alive) ^ lanes) & w.ctx.lanes[lane];
  return differs == 0;
}

// ---- flow.cpp

// The running split has gone.
void take_next(Block::Impl& b, Warp& w);
// Lanes that wait at a convergence barrier and have all whom they wait for go on.
void check_meeting(Warp& w, unsigned barrier);
// The lanes are no longer waited for.
void drop(Warp& w, unsigned barrier, std::uint32_t lanes);

// ---- flow_calls.cpp

// The instruction at an address.
std::uint32_t index_of(const Block::Impl& b, const Warp& w, const XInst& x, std::uint64_t address,
                       unsigned lane);
void branch_register(Block::Impl& b, Warp& w, const XInst& x, const machine::Action& a, std::uint32_t lanes);
// The instruction before, which all its lanes execute, has said where the call returns to.
void call_register(Block::Impl& b, Warp& w, const XInst& x, const machine::Action& a, std::uint32_t lanes);
// `used`: how many convergence barriers the caller uses; back: where the lanes return to.
void enter_call(Block::Impl& b, Warp& w, const XInst& x, unsigned used, std::uint32_t lanes,
                std::uint32_t back);
void go_back(Block::Impl& b, Warp& w, const XInst& x, const machine::Action& a, std::uint32_t lanes);

}  // namespace simtlab::exec::flow_parts

#include "exec/late_arrivals.h"

#include <algorithm>
#include <cstring>

namespace simtlab::exec {

void LateArrivals::happen(unsigned warp) {
  if (warp >= warps_.size()) return;
  auto& waiting = warps_[warp];
  if (waiting.empty()) return;
  for (const Arrival& arrival : waiting.front()) {
    auto* const at = reinterpret_cast<std::byte*>(arrival.host);  // NOLINT: an address of the host
    std::uint64_t state = 0;
    std::memcpy(&state, at, sizeof state);
    state = arrival.apply(state, arrival.b);
    std::memcpy(at, &state, sizeof state);
  }
  waiting.pop_front();
}

bool LateArrivals::empty() const {
  return std::ranges::all_of(warps_, [](const auto& waiting) { return waiting.empty(); });
}

void LateArrivals::clear() {
  if (!used_) return;  // as nearly always when a block starts
  used_ = false;
  for (auto& waiting : warps_) waiting.clear();
}

void next_late_arrivals(WarpCtx& ctx) { ctx.memory->late->next(ctx.warp); }

void keep_late_arrival(WarpCtx& ctx, std::uint64_t host, ApplyArrival apply, std::uint64_t b) {
  ctx.memory->late->add(ctx.warp, host, apply, b);
}

}  // namespace simtlab::exec

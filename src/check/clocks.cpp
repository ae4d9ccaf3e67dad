#include "check/clocks.h"

#include <algorithm>
#include <tuple>

namespace simtlab::check {
namespace {

// Entries of one warp stand together, the latest first.
auto place(const Known& k) { return std::tuple(k.launch, k.block, k.warp); }
bool of_one_block(const Known& a, const Known& b) { return a.launch == b.launch && a.block == b.block; }

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

std::uint64_t hash_of(std::span<const Known> list) {
  std::uint64_t hash = list.size();
  for (const Known& k : list) {
    hash = mix(hash, k.block);
    hash = mix(hash, std::uint64_t{k.launch} << 32 | k.warp);
    hash = mix(hash, k.lanes);
    hash = mix(hash, std::uint64_t{k.before.epoch} << 32 | k.before.step);
  }
  return hash;
}

// The next entries of one warp.
std::span<const Known> next_warp(std::span<const Known> list) {
  std::size_t n = 1;
  while (n < list.size() && place(list[n]) == place(list[0])) ++n;
  return list.first(n);
}

// Appends what both say of one warp: each lane once, by the later of them.
void add_warp(std::vector<Known>& out, std::span<const Known> a, std::span<const Known> b) {
  std::uint32_t taken = 0;
  const std::size_t first = out.size();
  while (!a.empty() || !b.empty()) {
    std::span<const Known>& later =
        b.empty() || (!a.empty() && !(a.front().before < b.front().before)) ? a : b;
    Known k = later.front();
    later = later.subspan(1);
    k.lanes &= ~taken;
    if (k.lanes == 0) continue;
    taken |= k.lanes;
    if (out.size() > first && out.back().before == k.before)
      out.back().lanes |= k.lanes;
    else
      out.push_back(k);
  }
}

// The entry of the whole block comes last; what it covers goes.
void drop_covered(std::vector<Known>& out, std::size_t first) {
  if (out.size() - first < 2 || out.back().warp != Known::all_warps) return;
  const Known whole = out.back();
  const auto covered = std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end() - 1,
                                      [&](const Known& k) { return k.before <= whole.before; });
  *covered = whole;
  out.erase(covered + 1, out.end());
}

}  // namespace

void Clocks::join(std::span<const Known> a, std::span<const Known> b) {
  joined_.clear();
  std::size_t first = 0;  // entry of the block at hand
  while (!a.empty() || !b.empty()) {
    std::span<const Known> of_a, of_b;
    if (b.empty() || (!a.empty() && place(a[0]) <= place(b[0]))) of_a = next_warp(a);
    if (a.empty() || (!b.empty() && place(b[0]) <= place(a[0]))) of_b = next_warp(b);
    const Known& next = of_a.empty() ? of_b[0] : of_a[0];
    if (first < joined_.size() && !of_one_block(joined_.back(), next)) {
      drop_covered(joined_, first);
      first = joined_.size();
    }
    add_warp(joined_, of_a, of_b);
    a = a.subspan(of_a.size());
    b = b.subspan(of_b.size());
  }
  drop_covered(joined_, first);
}

Clocks::Id Clocks::keep(const List& list) {
  const std::uint64_t hash = hash_of(list);
  const auto [first, last] = by_contents_.equal_range(hash);
  for (auto i = first; i != last; ++i)
    if (lists_[i->second] == list) return i->second;
  const auto id = static_cast<Id>(lists_.size());
  lists_.push_back(list);
  held_ += cost(lists_.back());
  by_contents_.emplace(hash, id);
  return id;
}

Clocks::Id Clocks::merge(Id a, Id b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  if (a > b) std::swap(a, b);
  constexpr std::size_t most_merged = 1u << 20;
  if (merged_.size() >= most_merged) merged_.clear();
  Id& known = merged_[std::uint64_t{a} << 32 | b];
  if (known != 0) return known;
  join(at(a), at(b));
  return known = keep(joined_);
}

Clocks::Id Clocks::with(Id clock, const Known& known) {
  join(at(clock), {&known, 1});
  return keep(joined_);
}

bool Clocks::knows(Id clock, std::uint32_t launch, std::uint64_t block, std::uint32_t warp,
                   std::uint32_t lanes, Time time) const {
  const std::span<const Known> list = at(clock);
  const std::tuple block_first(launch, block, 0u);
  std::uint32_t left = lanes;
  for (auto k = std::ranges::lower_bound(list, block_first, {}, place);
       k != list.end() && k->launch == launch && k->block == block; ++k) {
    if (time >= k->before) continue;
    if (k->warp == Known::all_warps) return true;
    if (k->warp == warp) left &= ~k->lanes;
    if (left == 0) return true;
  }
  return false;
}

bool Clocks::knows_of(Id clock, std::uint32_t launch, std::uint64_t block) const {
  const std::span<const Known> list = at(clock);
  const std::tuple block_first(launch, block, 0u);
  const auto k = std::ranges::lower_bound(list, block_first, {}, place);
  return k != list.end() && k->launch == launch && k->block == block;
}

void Clocks::clear() {
  lists_.resize(1);
  number_anew();
}

void Clocks::number_anew() {
  merged_.clear();
  by_contents_.clear();
  held_ = 0;
  for (Id id = 1; id < lists_.size(); ++id) {
    held_ += cost(lists_[id]);
    by_contents_.emplace(hash_of(lists_[id]), id);
  }
}

}  // namespace simtlab::check

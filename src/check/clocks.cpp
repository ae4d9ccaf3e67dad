#include "check/clocks.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace simtlab::check {
namespace {

auto key(const Known& k) { return std::tuple(k.launch, k.block, k.warp, k.lanes); }
bool comes_before(const Known& a, const Known& b) { return key(a) < key(b); }

void add(std::vector<Known>& list, const Known& known) {
  const auto at = std::ranges::lower_bound(list, known, comes_before);
  if (at != list.end() && key(*at) == key(known))
    at->before = std::max(at->before, known.before);
  else
    list.insert(at, known);
}

// Whether an entry says all that another one does.
bool covers(const Known& x, const Known& y) {
  return x.launch == y.launch && x.block == y.block && x.before >= y.before &&
         (x.warp == Known::all_warps || (x.warp == y.warp && (y.lanes & ~x.lanes) == 0));
}

// Whether x says all that y does: entry by entry, or by one behind it for the whole warp or block.
bool covers(std::span<const Known> x, std::span<const Known> y) {
  auto i = x.begin();
  for (const Known& k : y) {
    while (i != x.end() && comes_before(*i, k)) ++i;
    auto wider = i;
    while (wider != x.end() && wider->launch == k.launch && wider->block == k.block && !covers(*wider, k))
      ++wider;
    if (wider == x.end() || !covers(*wider, k)) return false;
  }
  return true;
}

// What lanes of a warp did before the same time becomes one entry.
void join_lanes(std::vector<Known>& list) {
  auto to = list.begin();
  for (auto k = list.begin(); k != list.end();) {
    const auto first = to;
    const Known warp = *k;
    for (; k != list.end() && k->launch == warp.launch && k->block == warp.block && k->warp == warp.warp;
         ++k) {
      const auto same = std::find_if(first, to, [&](const Known& o) { return o.before == k->before; });
      if (same == to)
        *to++ = *k;
      else
        same->lanes |= k->lanes;
    }
    if (to - first < 2) continue;
    std::sort(first, to, comes_before);
    // Of two entries for the same lanes the later one, and none that another one covers.
    auto last = first;
    for (auto e = first; e != to; ++e)
      if (std::none_of(first, to,
                       [&](const Known& o) { return o.before > e->before && (e->lanes & ~o.lanes) == 0; }))
        *last++ = *e;
    to = last;
  }
  list.erase(to, list.end());
}

// Drops what an entry for the whole block, or for the whole warp, covers. They come behind those they cover.
void tidy(std::vector<Known>& list) {
  const Known *block = nullptr, *warp = nullptr;
  auto to = list.end();
  for (auto k = list.end(); k != list.begin();) {
    --k;
    if (block != nullptr && (block->launch != k->launch || block->block != k->block)) block = nullptr;
    if (warp != nullptr && (warp->launch != k->launch || warp->block != k->block || warp->warp != k->warp))
      warp = nullptr;
    if ((block != nullptr && k->before <= block->before) || (warp != nullptr && k->before <= warp->before))
      continue;
    if (--to != k) *to = *k;
    if (to->warp == Known::all_warps)
      block = &*to;
    else if (to->lanes == ~0u)
      warp = &*to;
  }
  list.erase(list.begin(), to);
}

}  // namespace

Clocks::Id Clocks::keep(List&& list) {
  list.shrink_to_fit();
  held_ += cost(list);
  lists_.push_back(std::move(list));
  return static_cast<Id>(lists_.size() - 1);
}

Clocks::Id Clocks::merge(Id a, Id b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  if (a > b) std::swap(a, b);
  Id& known = merged_[std::uint64_t{a} << 32 | b];
  if (known != 0) return known;
  const std::span<const Known> x = at(a), y = at(b);
  if (covers(x, y)) return known = a;
  if (covers(y, x)) return known = b;
  List out;
  out.reserve(x.size() + y.size());
  std::ranges::merge(x, y, std::back_inserter(out), comes_before);
  const auto same = [](Known& k, const Known& next) {
    if (key(k) != key(next)) return false;
    k.before = std::max(k.before, next.before);
    return true;
  };
  auto last = out.begin();
  for (auto k = last + 1; k != out.end(); ++k)
    if (!same(*last, *k)) *++last = *k;
  out.erase(last + 1, out.end());
  join_lanes(out);
  tidy(out);
  return known = keep(std::move(out));
}

Clocks::Id Clocks::with(Id clock, const Known& known) {
  const std::span<const Known> old = at(clock);
  const auto here = std::ranges::lower_bound(old, known, comes_before);
  if (here != old.end() && key(*here) == key(known) && here->before >= known.before) return clock;
  List out(old.begin(), old.end());
  // What one lane knows of its own warp is renewed at each release: what the new fact covers goes.
  std::erase_if(out, [&](const Known& k) {
    return k.launch == known.launch && k.block == known.block && k.before <= known.before &&
           (known.warp == Known::all_warps || known.warp == k.warp) && (k.lanes & ~known.lanes) == 0;
  });
  add(out, known);
  return keep(std::move(out));
}

bool Clocks::knows(Id clock, std::uint32_t launch, std::uint64_t block, std::uint32_t warp,
                   std::uint32_t lanes, Time time) const {
  const std::span<const Known> list = at(clock);
  const Known first{launch, block, 0, 0, {}};
  std::uint32_t left = lanes;
  for (auto k = std::ranges::lower_bound(list, first, comes_before);
       k != list.end() && k->launch == launch && k->block == block; ++k) {
    if (time >= k->before) continue;
    if (k->warp == Known::all_warps) return true;
    if (k->warp == warp) left &= ~k->lanes;
    if (left == 0) return true;
  }
  return false;
}

void Clocks::clear() {
  lists_.resize(1);
  merged_.clear();
  held_ = 0;
}

}  // namespace simtlab::check

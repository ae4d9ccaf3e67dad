#include "models/loops/tile.h"

#include <algorithm>
#include <cmath>

#include "models/loops/description.h"
#include "stream/bank_conflicts.h"
#include "stream/coalescer.h"

namespace simtlab::models::loops {
namespace {

constexpr std::size_t most_pieces = 65536;
constexpr std::uint64_t tiles_across = 12;  // of those that run at once, as for the other patterns

Intervals merged(Intervals all) {
  std::ranges::sort(all, {}, &Interval::low);
  Intervals out;
  for (const Interval& i : all)
    if (out.empty() || i.low > out.back().high)
      out.push_back(i);
    else
      out.back().high = std::max(out.back().high, i.high);
  return out;
}

Intervals shifted(Intervals all, std::int64_t by) {
  for (Interval& i : all) i.low += by, i.high += by;
  return all;
}

std::uint64_t sectors_of(const Intervals& all) {
  std::uint64_t n = 0;
  std::int64_t next = INT64_MIN;  // first sector that is not counted yet
  for (const Interval& i : all) {
    const std::int64_t size = stream::sector_bytes;
    const auto down = [&](std::int64_t x) { return x >= 0 ? x / size : -((-x + size - 1) / size); };
    const std::int64_t first = std::max(next, down(i.low)), last = down(i.high - 1);
    if (last >= first) n += static_cast<std::uint64_t>(last - first + 1);
    next = std::max(next, last + 1);
  }
  return n;
}

class Tiler {
 public:
  Tiler(const Description& nest, const Shape& shape, const Mapping& mapping,
        const std::vector<Pattern>& patterns, const device::Device& device)
      : nest_(nest), shape_(shape), mapping_(mapping), patterns_(patterns), device_(device) {}

  std::vector<Tile> run() {
    for (const Pattern& p : patterns_) {
      const Access& a = nest_.accesses[at(p.access)];
      if (a.store || !p.evaluable || p.requests <= 0 || written(a.input)) continue;
      if (const auto l = linear(nest_, shape_, a)) add(p, *l);
    }
    std::vector<Tile> out;
    for (std::size_t i = 0; i < tiles_.size(); ++i)
      if (finish(tiles_[i], constants_[i])) out.push_back(std::move(tiles_[i]));
    return out;
  }

 private:
  bool written(int input) const {
    return std::ranges::any_of(nest_.accesses, [&](const Access& a) { return a.store && a.input == input; });
  }

  void add(const Pattern& p, const Linear& l) {
    const Access& a = nest_.accesses[at(p.access)];
    std::size_t i = 0;
    while (i < tiles_.size() && (tiles_[i].input != a.input || tiles_[i].factors != l.factors)) ++i;
    if (i == tiles_.size()) {
      tiles_.emplace_back();
      constants_.emplace_back();
      tiles_[i].input = a.input;
      tiles_[i].factors = l.factors;
    }
    Tile& t = tiles_[i];
    const double blocks = static_cast<double>(mapping_.blocks());
    t.accesses.push_back(p.access);
    t.pieces.push_back({l.constant, l.constant + static_cast<std::int64_t>(a.bytes)});
    constants_[i].push_back(l.constant);
    t.requests += p.requests / blocks;
    t.asked_sectors += p.requests * p.sectors / blocks;
    // Every thread reads, whatever its warp makes of it.
    const double lanes = mapping_.threads() / std::ceil(mapping_.threads() / 32.0);
    t.reads += p.requests / blocks * lanes * a.bytes;
  }

  // Iterations of a loop that a block goes through.
  std::uint64_t copies(int loop) const {
    const auto d = std::ranges::find(mapping_.loops, loop);
    const std::uint64_t all = std::max<std::uint64_t>(shape_.extents[at(loop)], 1);
    return d == mapping_.loops.end()
               ? all
               : std::min<std::uint64_t>(
                     all, mapping_.block[static_cast<std::size_t>(d - mapping_.loops.begin())]);
  }

  bool finish(Tile& t, const std::vector<std::int64_t>& constants) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> steps;  // stride, copies
    for (const auto& [l, f] : t.factors)
      steps.emplace_back(static_cast<std::uint64_t>(std::abs(f)), copies(l));
    std::ranges::sort(steps);
    t.pieces = merged(std::move(t.pieces));
    for (const auto& [stride, n] : steps) {
      auto more = repeated(t.pieces, stride, n);
      if (!more) return false;
      t.pieces = std::move(*more);
    }
    // A loop that counts down begins at the other end.
    std::int64_t back = 0;
    for (const auto& [l, f] : t.factors)
      if (f < 0) back += f * static_cast<std::int64_t>(copies(l) - 1);
    t.pieces = shifted(std::move(t.pieces), back);
    t.bytes = bytes_of(t.pieces);
    t.sectors = sectors_of(t.pieces);
    t.reads /= static_cast<double>(t.bytes);
    t.shared_bytes = t.bytes;
    t.wave_reuse = wave_reuse(t);
    if (t.bytes > device_.sm.shared_bytes_per_block) return true;  // how it would lie there does not matter
    t.passes = passes(t, constants, 0);
    if (t.passes > 1) pad(t, constants);
    return true;
  }

  // Rows a bank further apart, or an element where that is more. What lies in one piece has the rows in which
  // the lanes walk through it.
  void pad(Tile& t, const std::vector<std::int64_t>& constants) const {
    const std::int64_t element = nest_.accesses[at(t.accesses.front())].bytes;
    const unsigned pad = std::max(device_.shared.bank_bytes, static_cast<unsigned>(element));
    Tile with = t;
    if (t.pieces.size() == 1) {
      const auto f = t.factors.find(mapping_.loops.front());
      const std::int64_t row = f == t.factors.end() ? 0 : std::abs(f->second);
      if (row <= element || row % element != 0 || t.bytes % static_cast<std::uint64_t>(row) != 0) return;
      const Interval all = t.pieces.front();
      with.pieces.clear();
      for (std::int64_t low = all.low; low < all.high; low += row) with.pieces.push_back({low, low + row});
    }
    with.shared_bytes += (with.pieces.size() - 1) * pad;
    with.passes = passes(with, constants, pad);
    with.padded = true;
    if (with.pieces.size() > 1 && with.passes < t.passes &&
        with.shared_bytes <= device_.sm.shared_bytes_per_block)
      t = std::move(with);
  }

  // Of the warps of a block, mean over the accesses.
  double passes(const Tile& t, const std::vector<std::int64_t>& constants, unsigned pad) const {
    const stream::Banks banks{device_.shared.banks, device_.shared.bank_bytes};
    double sum = 0, n = 0;
    for (std::size_t k = 0; k < t.accesses.size(); ++k)
      for (std::uint32_t warp = 0; warp * 32 < mapping_.threads(); ++warp) {
        std::array<std::uint64_t, 32> address{};
        std::uint32_t mask = 0;
        for (std::uint32_t lane = 0; lane < 32 && warp * 32 + lane < mapping_.threads(); ++lane) {
          const std::uint32_t thread = warp * 32 + lane, row = thread / mapping_.block[0];
          const std::array<std::uint32_t, 3> where = {thread % mapping_.block[0], row % mapping_.block[1],
                                                      row / mapping_.block[1]};
          std::int64_t offset = constants[k];
          bool inside = true;
          for (std::size_t d = 0; d < mapping_.loops.size(); ++d) {
            const auto f = t.factors.find(mapping_.loops[d]);
            inside &= where[d] < copies(mapping_.loops[d]);
            if (f != t.factors.end()) offset += f->second * static_cast<std::int64_t>(where[d]);
          }
          if (!inside) continue;
          address[lane] = t.place(offset, pad);
          mask |= 1u << lane;
        }
        if (mask == 0) continue;
        sum += stream::shared_passes(address.data(), mask, nest_.accesses[at(t.accesses[k])].bytes, banks);
        ++n;
      }
    return n > 0 ? sum / n : 1;
  }

  // Tiles of the blocks that run at once, over their union.
  double wave_reuse(const Tile& t) const {
    const std::uint64_t warps = std::max(1u, (mapping_.threads() + 31) / 32);
    const std::uint64_t resident = std::max<std::uint64_t>(
        1, std::min<std::uint64_t>(device_.sm.max_warps / warps, device_.sm.max_blocks));
    const std::uint64_t wave = std::max<std::uint64_t>(1, std::max(device_.sm.count, 1u) * resident);
    const std::array<std::uint64_t, 2> n = {
        std::min({mapping_.grid[0], tiles_across, wave}),
        std::clamp<std::uint64_t>(wave / mapping_.grid[0], 1, std::min(mapping_.grid[1], tiles_across))};
    Intervals all = t.pieces;
    for (std::size_t d = 0; d < mapping_.loops.size() && d < 2; ++d) {
      const auto f = t.factors.find(mapping_.loops[d]);
      if (f == t.factors.end()) continue;
      auto more = repeated(all, static_cast<std::uint64_t>(std::abs(f->second)) * mapping_.block[d], n[d]);
      if (!more) return 1;
      all = std::move(*more);
    }
    const double dealt =
        static_cast<double>(n[0]) * static_cast<double>(mapping_.loops.size() > 1 ? n[1] : 1);
    return std::max(1.0, dealt * static_cast<double>(t.bytes) / static_cast<double>(bytes_of(all)));
  }

  const Description& nest_;
  const Shape& shape_;
  const Mapping& mapping_;
  const std::vector<Pattern>& patterns_;
  const device::Device& device_;
  std::vector<Tile> tiles_;
  std::vector<std::vector<std::int64_t>> constants_;  // of the accesses of each tile
};

}  // namespace

std::uint64_t bytes_of(const Intervals& all) {
  std::uint64_t n = 0;
  for (const Interval& i : all) n += static_cast<std::uint64_t>(i.high - i.low);
  return n;
}

std::optional<Intervals> repeated(const Intervals& all, std::uint64_t stride, std::uint64_t copies) {
  constexpr std::uint64_t farthest = std::uint64_t{1} << 62;
  if (copies > 1 && stride > farthest / copies) return std::nullopt;
  Intervals out = all;
  if (stride == 0) return out;
  // Twice as many with each step.
  for (std::uint64_t have = 1; have < copies;) {
    const std::uint64_t step = std::min(have, copies - have);
    Intervals both = shifted(out, static_cast<std::int64_t>(step * stride));
    both.insert(both.end(), out.begin(), out.end());
    out = merged(std::move(both));
    if (out.size() > most_pieces) return std::nullopt;
    have += step;
  }
  return out;
}

std::uint64_t Tile::place(std::int64_t offset, unsigned pad) const {
  std::uint64_t before = 0;
  for (const Interval& i : pieces) {
    if (offset < i.high)
      return before + static_cast<std::uint64_t>(std::max<std::int64_t>(offset - i.low, 0));
    before += static_cast<std::uint64_t>(i.high - i.low) + pad;
  }
  return before;
}

TileCopy copy_of(const Tile& tile, unsigned element, std::uint32_t threads) {
  constexpr std::uint64_t most_at_once = 4;  // registers
  TileCopy c;
  c.elements = tile.bytes / std::max(1u, element);
  c.steps = std::max<std::uint64_t>(1, (c.elements + threads - 1) / threads);
  // As few steps too many as can be, then as many at once.
  for (std::uint64_t n = std::min(most_at_once, c.steps); n >= std::min<std::uint64_t>(2, c.steps); --n) {
    const std::uint64_t rounds = (c.steps + n - 1) / n;
    if (c.rounds == 0 || rounds * n < c.rounds * c.at_once) c.at_once = n, c.rounds = rounds;
  }
  c.ragged = c.rounds * c.at_once * threads != c.elements;
  return c;
}

std::vector<Tile> tiles_of(const Description& nest, const Shape& shape, const Mapping& mapping,
                           const std::vector<Pattern>& patterns, const device::Device& device) {
  return Tiler(nest, shape, mapping, patterns, device).run();
}

}  // namespace simtlab::models::loops

#include "models/loops/pattern.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "models/loops/description.h"
#include "stream/bank_conflicts.h"
#include "stream/coalescer.h"

namespace simtlab::models::loops {
namespace {

// Inputs begin at a line's start, as allocations of a GPU do
constexpr std::uint64_t base = std::uint64_t{1} << 40;
constexpr unsigned places = 12;         // of the grid at which warps are looked at
constexpr unsigned steps = 8;           // consecutive iterations
constexpr unsigned blocks_across = 12;  // of those that run at once, in each direction
constexpr std::uint32_t warp_size = stream::lanes;

struct Lanes {
  std::array<std::uint64_t, warp_size> address{};
  std::uint32_t mask = 0;
  bool evaluable = true;
};

class Looker {
 public:
  Looker(const Description& nest, const Shape& shape, const Mapping& mapping, const device::Device& device)
      : nest_(nest),
        shape_(shape),
        mapping_(mapping),
        banks_{device.shared.banks, device.shared.bank_bytes},
        sms_(std::max(device.sm.count, 1u)),
        resident_(std::max(
            1u, std::min(device.sm.max_warps / std::max(1u, warps_per_block()), device.sm.max_blocks))),
        l1_bytes_(device.l1.bytes) {}

  Pattern look(int index) {
    const Access& a = nest_.accesses[at(index)];
    Pattern p;
    p.access = index;
    p.requests = shape_.executions[a.block] / shape_.iterations * warps();
    unsigned seen = 0;
    bool first = true;
    for (unsigned k = 0; k < places; ++k) {
      const Lanes l = lanes(a, place(k), 0);
      if (!l.evaluable) return pessimistic(p, a);
      if (l.mask == 0) continue;
      stream::Segments segments;
      stream::coalesce(l.address.data(), l.mask, a.bytes, segments);
      p.lines += segments.count;
      p.sectors += segments.sector_count();
      p.passes += stream::shared_passes(l.address.data(), l.mask, a.bytes, banks_);
      const auto s = stride(l);
      if (first)
        p.stride = s;
      else if (p.stride != s && (l.mask & (l.mask + 1)) == 0 && l.mask > 1)
        p.stride.reset();
      first = false;
      ++seen;
    }
    if (seen == 0) return pessimistic(p, a);
    for (double* v : {&p.lines, &p.sectors, &p.passes}) *v /= seen;
    p.evaluable = true;
    p.block_reuse = block_reuse(a);
    if (stays(stepping(a))) p.step_reuse = step_reuse(a);
    std::set<std::uint64_t> near;
    if (stays(stepping(a))) p.near_reuse = ratio(of_block_in_steps(a, near), near);
    p.wave_reuse = wave_reuse(a);
    p.footprint = footprint(a, p.end);
    return p;
  }

  // Accesses to one array that walk through it together find what the others brought (a stencil's
  // neighbours).
  void share(std::vector<Pattern>& patterns, int input) {
    std::set<std::uint64_t> block, wave;
    double of_blocks = 0, of_waves = 0;
    unsigned n = 0;
    const auto is_one = [&](const Pattern& p) {
      return p.evaluable && nest_.accesses[at(p.access)].input == input &&
             !nest_.accesses[at(p.access)].store;
    };
    for (const Pattern& p : patterns) {
      if (!is_one(p)) continue;
      of_blocks += of_block(nest_.accesses[at(p.access)], block);
      of_waves += of_wave(nest_.accesses[at(p.access)], wave);
      ++n;
    }
    if (n < 2) return;
    for (Pattern& p : patterns) {
      if (!is_one(p)) continue;
      p.block_reuse = std::max(p.block_reuse, ratio(of_blocks, block));
      p.wave_reuse = std::max(p.wave_reuse, ratio(of_waves, wave));
    }
    for (const Pattern& p : patterns)
      if (is_one(p)) share_steps(patterns, p);
  }

 private:
  // With those that are in the same loop as one of them.
  void share_steps(std::vector<Pattern>& patterns, const Pattern& one) {
    const Access& first = nest_.accesses[at(one.access)];
    if (!stays(stepping(first))) return;
    const auto along = [&](const Pattern& p) {
      const Access& a = nest_.accesses[at(p.access)];
      return p.evaluable && !a.store && a.input == first.input && stepping(a) == stepping(first);
    };
    if (&*std::ranges::find_if(patterns, along) != &one) return;  // done with the first of them
    std::set<std::uint64_t> near;
    double asked = 0;
    for (const Pattern& p : patterns)
      if (along(p)) asked += of_block_in_steps(nest_.accesses[at(p.access)], near);
    for (Pattern& p : patterns)
      if (along(p)) p.near_reuse = std::max(p.near_reuse, ratio(asked, near));
  }

  double warps() const {
    const double per_block = (mapping_.threads() + warp_size - 1) / warp_size;
    double unmapped = 1;  // loops of the prefix that stay loops run in each thread
    for (const int l : nest_.prefix())
      if (std::ranges::find(mapping_.loops, l) == mapping_.loops.end()) unmapped *= shape_.trips[at(l)];
    return per_block * static_cast<double>(mapping_.blocks()) * unmapped;
  }

  Pattern pessimistic(Pattern p, const Access& a) const {
    p.lines = p.sectors = warp_size;
    p.passes = banks_.count;
    p.footprint = nest_.inputs[at(a.input)].object_bytes;
    return p;
  }

  // Iterations of a sample, moved to the first thread of a warp.
  Point place(unsigned k) const {
    Point p = shape_.samples[k % shape_.samples.size()];
    for (std::size_t d = 0; d < mapping_.loops.size(); ++d) {
      auto& n = p.iterations[at(mapping_.loops[d])];
      n -= n % mapping_.block[d];
      // Mostly warps from within; one that is cut off at the end is as rare here as in the grid.
      if (k != 1 && n + mapping_.block[d] > static_cast<std::int64_t>(shape_.extents[at(mapping_.loops[d])]))
        n = std::max<std::int64_t>(0, n - mapping_.block[d]);
    }
    return p;
  }

  // Addresses of a warp of the block whose first thread is at `origin`.
  Lanes lanes(const Access& a, const Point& origin, std::uint32_t warp) const {
    Lanes out;
    Point p = origin;
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      const std::uint32_t thread = warp * warp_size + lane;
      if (thread >= mapping_.threads()) break;
      const std::uint32_t row = thread / mapping_.block[0];
      const std::array<std::uint32_t, 3> place = {thread % mapping_.block[0], row % mapping_.block[1],
                                                  row / mapping_.block[1]};
      bool inside = true;
      for (std::size_t d = 0; d < mapping_.loops.size(); ++d) {
        const std::size_t l = at(mapping_.loops[d]);
        p.iterations[l] = origin.iterations[l] + place[d];
        inside &= p.iterations[l] < static_cast<std::int64_t>(shape_.extents[l]);
      }
      if (!inside) continue;
      const auto offset = evaluate(a.offset, p);
      if (!offset) {
        out.evaluable = false;
        return out;
      }
      out.address[lane] = base + static_cast<std::uint64_t>(*offset);
      out.mask |= 1u << lane;
    }
    return out;
  }

  static std::optional<std::int64_t> stride(const Lanes& l) {
    std::optional<std::int64_t> out;
    for (unsigned i = 1; i < warp_size; ++i) {
      if (((l.mask >> (i - 1)) & 3u) != 3u) continue;
      const auto s = static_cast<std::int64_t>(l.address[i] - l.address[i - 1]);
      if (out && *out != s) return std::nullopt;
      out = s;
    }
    return out;
  }

  // Sectors of a warp, added to a set; returns how many it asks for.
  double collect(const Access& a, const Point& p, std::uint32_t warp, std::set<std::uint64_t>& all) const {
    const Lanes l = lanes(a, p, warp);
    stream::Segments segments;
    stream::coalesce(l.address.data(), l.mask, a.bytes, segments);
    for (unsigned i = 0; i < segments.count; ++i)
      for (unsigned s = 0; s < stream::sectors_per_line; ++s)
        if (segments.items[i].sectors >> s & 1u)
          all.insert(segments.items[i].line * stream::sectors_per_line + s);
    return segments.sector_count();
  }
  static double ratio(double asked, const std::set<std::uint64_t>& different) {
    return different.empty() ? 1 : std::max(1.0, asked / static_cast<double>(different.size()));
  }

  std::uint32_t warps_per_block() const { return (mapping_.threads() + warp_size - 1) / warp_size; }

  double block_reuse(const Access& a) const {
    std::set<std::uint64_t> all;
    return ratio(of_block(a, all), all);
  }
  double of_block(const Access& a, std::set<std::uint64_t>& all) const {
    double asked = 0;
    for (std::uint32_t w = 0; w < warps_per_block(); ++w) asked += collect(a, place(2), w, all);
    return asked;
  }

  // The innermost loop around the access that is no thread dimension; -1: there is none.
  int stepping(const Access& a) const {
    int l = a.loop;
    while (l >= 0 && std::ranges::find(mapping_.loops, l) != mapping_.loops.end())
      l = nest_.loops[at(l)].parent;
    return l;
  }

  // What the blocks of an SM load in one iteration is still in its L1 in the next one.
  bool stays(int loop) {
    if (loop < 0) return true;
    const auto [known, is_new] = stays_.try_emplace(loop, true);
    if (!is_new) return known->second;
    double lines = 0;
    for (std::size_t input = 0; input < nest_.inputs.size(); ++input) {
      std::set<std::uint64_t> sectors, of_input;
      for (const Access& a : nest_.accesses)
        if (!a.store && a.input == static_cast<int>(input) && stepping(a) == loop) of_block(a, sectors);
      for (const std::uint64_t s : sectors) of_input.insert(s / stream::sectors_per_line);
      lines += static_cast<double>(of_input.size());
    }
    const double blocks =
        std::min<double>(static_cast<double>(resident_),
                         std::ceil(static_cast<double>(mapping_.blocks()) / static_cast<double>(sms_)));
    return known->second = lines * blocks * stream::line_bytes <= static_cast<double>(l1_bytes_);
  }

  // Steps of that loop, of all warps of a block.
  double of_block_in_steps(const Access& a, std::set<std::uint64_t>& all) const {
    const int l = stepping(a);
    Point p = place(3);
    std::uint64_t n = 1;
    if (l >= 0) n = std::min<std::uint64_t>(steps, shape_.extents[at(l)]), p.iterations[at(l)] = 0;
    double asked = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      for (std::uint32_t w = 0; w < warps_per_block(); ++w) asked += collect(a, p, w, all);
      if (l >= 0) ++p.iterations[at(l)];
    }
    return asked;
  }

  double step_reuse(const Access& a) const {
    const int l = stepping(a);
    if (l < 0) return 1;
    std::set<std::uint64_t> all;
    double asked = 0;
    Point p = place(3);
    p.iterations[at(l)] = 0;
    const std::uint64_t n = std::min<std::uint64_t>(steps, shape_.extents[at(l)]);
    for (std::uint64_t i = 0; i < n; ++i, ++p.iterations[at(l)]) asked += collect(a, p, 0, all);
    return ratio(asked, all);
  }

  // Blocks that are neighbours in the grid, a warp of each.
  double wave_reuse(const Access& a) const {
    std::set<std::uint64_t> all;
    return ratio(of_wave(a, all), all);
  }
  double of_wave(const Access& a, std::set<std::uint64_t>& all) const {
    double asked = 0;
    // Of the blocks that run at once, which go through the grid row by row, a rectangle.
    const std::uint64_t wave = std::max<std::uint64_t>(1, std::uint64_t{sms_} * resident_);
    const std::uint64_t across = std::min<std::uint64_t>(mapping_.grid[0], blocks_across),
                        down = std::clamp<std::uint64_t>(
                            wave / mapping_.grid[0], 1,
                            std::min<std::uint64_t>(mapping_.grid[1], blocks_across));
    Point p = place(0);
    for (std::uint64_t y = 0; y < down; ++y)
      for (std::uint64_t x = 0; x < across; ++x) {
        const std::array<std::uint64_t, 3> place = {x, y, 0};
        for (std::size_t d = 0; d < mapping_.loops.size(); ++d)
          p.iterations[at(mapping_.loops[d])] = static_cast<std::int64_t>(place[d] * mapping_.block[d]);
        for (std::uint32_t w = 0; w < warps_per_block(); w += std::max(1u, warps_per_block() / 2))
          asked += collect(a, p, w, all);
      }
    return asked;
  }

  std::uint64_t footprint(const Access& a, std::uint64_t& end) const {
    std::int64_t low = INT64_MAX, high = INT64_MIN;
    const auto take = [&](const Point& p) {
      if (const auto o = evaluate(a.offset, p)) {
        low = std::min(low, *o);
        high = std::max(high, *o + static_cast<std::int64_t>(a.bytes));
      }
    };
    for (const Point& p : shape_.samples) take(p);
    // Corners: each loop at its first and its last iteration.
    std::vector<int> around;
    for (int l = a.loop; l >= 0; l = nest_.loops[at(l)].parent) around.push_back(l);
    for (unsigned corner = 0; corner < (1u << std::min<std::size_t>(around.size(), 8)); ++corner) {
      Point p = shape_.point;
      for (std::size_t i = 0; i < around.size() && i < 8; ++i)
        p.iterations[at(around[i])] =
            corner >> i & 1u
                ? static_cast<std::int64_t>(std::max<std::uint64_t>(shape_.extents[at(around[i])], 1)) - 1
                : 0;
      take(p);
    }
    end = static_cast<std::uint64_t>(std::max<std::int64_t>(high, 0));
    return high > low ? static_cast<std::uint64_t>(high - low) : 0;
  }

  const Description& nest_;
  const Shape& shape_;
  const Mapping& mapping_;
  const stream::Banks banks_;
  const std::uint64_t sms_, resident_, l1_bytes_;
  std::map<int, bool> stays_;  // loops
};

}  // namespace

Mapping with_block(const Description&, const Shape& shape, std::vector<int> loops,
                   std::array<std::uint32_t, 3> block) {
  Mapping m;
  m.loops = std::move(loops);
  m.block = block;
  for (std::size_t d = 0; d < m.loops.size(); ++d)
    m.grid[d] = (shape.extents[at(m.loops[d])] + block[d] - 1) / block[d];
  return m;
}

std::vector<Pattern> patterns(const Description& nest, const Shape& shape, const Mapping& mapping,
                              const device::Device& device) {
  std::vector<Pattern> out;
  Looker looker(nest, shape, mapping, device);
  for (std::size_t i = 0; i < nest.accesses.size(); ++i)
    if (nest.accesses[i].input >= 0) out.push_back(looker.look(static_cast<int>(i)));
  for (std::size_t i = 0; i < nest.inputs.size(); ++i) looker.share(out, static_cast<int>(i));
  return out;
}

}  // namespace simtlab::models::loops

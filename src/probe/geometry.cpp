#include "probe/geometry.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "memory/cache.h"

namespace simtlab::probe {
namespace {

constexpr std::uint64_t line_step = 128;  // no line of a known cache is longer

// Hits of a set's lines visited in this order, from empty: what such a cache would do, bit 0 the last of the
// sequence.
std::uint64_t predicted(const std::vector<unsigned>& order, std::uint32_t ways,
                        device::Replacement replacement) {
  memory::CacheConfig config;
  config.bytes = std::uint64_t{ways} * line_step, config.line_bytes = config.sector_bytes = line_step,
  config.ways = ways, config.replacement = replacement;
  memory::Cache cache(config);
  memory::Evictions ignored;
  std::uint64_t hits = 0;
  for (const unsigned line : order) {
    const bool hit = cache.read(line, 1).hit != 0;
    if (!hit) cache.fill(line, 0xf, false, ignored);
    hits = hits << 1 | (hit ? 1 : 0);
  }
  return hits;
}

// A random walk over the lines, none of them twice in a row, each at most `most` times; begins with all of
// them in turn.
std::vector<unsigned> walk(std::size_t lines, std::size_t length, unsigned most, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<unsigned> out, visits(lines, 1);
  for (unsigned i = 0; i < lines; ++i) out.push_back(i);
  while (out.size() < length) {
    const auto next = static_cast<unsigned>(rng.below(lines));
    if (next == out.back() || visits[next] >= most) {
      if (std::ranges::count_if(visits, [&](unsigned v) { return v < most; }) < 2) break;
      continue;
    }
    ++visits[next];
    out.push_back(next);
  }
  return out;
}

}  // namespace

// Contents of a cache that is not empty at first have to leave before lines that fit find all their places:
// with the policies that count, after one pass; otherwise they settle pass by pass.
bool Geometry::conflict(const std::vector<std::uint64_t>& lines) {
  if (lines.size() < 2) return false;
  std::uint64_t last = 0;
  unsigned same = 0;
  for (const std::uint64_t passes : {1u, 3u, 8u, 24u, 64u}) {
    const std::uint64_t missed = lines.size() - visit(lines, passes * lines.size(), lines.size(), 8).fast;
    if (missed == 0) return false;
    if (cold_ || missed == lines.size()) return true;
    same = missed == last ? same + 1 : 0;
    if (same == 2) return true;
    last = missed;
  }
  return true;
}

std::optional<std::uint32_t> Geometry::sector_bytes() {
  std::uint64_t place = 0;
  for (const std::uint32_t next : {32u, 64u, 128u, 256u}) {
    // A place of its own each time; both bytes are new to the cache.
    place += 4096;
    if (visit({place, place + next}, 0, 2, 8).last_fast == 0)
      return next >= 32 && next <= 128 ? std::optional(next) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Geometry::clean_bytes(std::uint64_t step, std::uint64_t least,
                                                   std::uint64_t most) {
  std::uint64_t low = 0, high = std::max(least, 2 * step) / step;  // clean; to be tried
  const std::uint64_t end = most / step;
  while (!conflict(steps(high * step, step))) {
    low = high;
    if (high >= end) return std::nullopt;
    high = std::min(high * 2, end);
  }
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    (conflict(steps(middle * step, step)) ? high : low) = middle;
  }
  return low * step;
}

// The last line conflicts with some of those before it. Of these the nearest beginning that still conflicts
// ends with one of them; then those before that one are searched with it at hand, until the members alone
// conflict.
std::vector<std::uint64_t> Geometry::conflicting(std::uint64_t step, std::uint64_t last) {
  std::vector<std::uint64_t> members = {last};
  std::uint64_t before = last / step;  // lines 0 to before - 1 are left
  constexpr std::size_t most_ways = 2048;
  while (!conflict(members)) {
    if (before == 0 || members.size() > most_ways) return {};
    const auto with = [&](std::uint64_t count) {
      std::vector<std::uint64_t> lines = steps(count * step, step);
      lines.insert(lines.end(), members.rbegin(), members.rend());
      return lines;
    };
    std::uint64_t low = 0, high = before;  // `high` of them conflict, `low` do not
    if (!conflict(with(high))) return {};
    while (high - low > 1) {
      const std::uint64_t middle = (low + high) / 2;
      (conflict(with(middle)) ? high : low) = middle;
    }
    members.push_back((high - 1) * step);
    before = high - 1;
  }
  std::ranges::sort(members);
  return members;
}

std::uint32_t Geometry::line_bytes(const std::vector<std::uint64_t>& members, std::uint32_t sector) {
  for (const std::uint32_t next : {32u, 64u}) {
    if (next < sector) continue;
    // In the same line: takes its place (still one too many), and beside it needs none of its own.
    unsigned same = 0, tried = 0;
    for (std::size_t i = 0; i < members.size() && tried < 3;
         i += std::max<std::size_t>(1, members.size() / 3), ++tried) {
      std::vector<std::uint64_t> instead = members, beside = members;
      instead[i] += next;
      beside[(i + 1) % members.size()] = members[i] + next;
      same += conflict(instead) && !conflict(beside) ? 1 : 0;
    }
    if (same * 2 < tried) return next;
  }
  return 128;
}

// Every set is given far more lines than it has ways, each read once. Backwards, each set's youngest lines
// hit; the first that misses pushes out only what has been counted.
std::uint64_t Geometry::resident(std::uint32_t line, std::uint64_t lines) {
  std::vector<std::uint64_t> sequence = steps(lines * line, line);
  std::vector<std::uint64_t> back(sequence.rbegin(), sequence.rend());
  sequence.insert(sequence.end(), back.begin(), back.end());
  return visit(sequence, lines, lines, line).fast;
}

std::string Geometry::replacement(const std::vector<std::uint64_t>& members, std::uint32_t sector) {
  using device::Replacement;
  struct Candidate {
    Replacement kind;
    std::string_view name;
    bool fits;
  };
  const auto ways = static_cast<std::uint32_t>(members.size() - 1);
  std::array candidates = {
      Candidate{Replacement::lru, "lru", true}, Candidate{Replacement::fifo, "fifo", true},
      Candidate{Replacement::plru, "plru", std::has_single_bit(ways)},
      Candidate{Replacement::lfu, "lfu", true}, Candidate{Replacement::mfu, "mfu", true}};
  const unsigned most = sector / Ring::slot_bytes;
  bool varies = false;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const std::vector<unsigned> order = walk(members.size(), most * members.size(), most, seed);
    const std::uint64_t seen_bits = std::min<std::uint64_t>(order.size() - members.size(), 64);
    const std::uint64_t mask = seen_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << seen_bits) - 1;
    std::vector<std::uint64_t> seen;
    // Other lines in the same roles, after conflicts elsewhere
    for (const std::size_t turn : {std::size_t{0}, members.size() / 2}) {
      std::vector<std::uint64_t> sequence;
      for (std::size_t i = 0; turn != 0 && i < 2 * members.size(); ++i) {
        const std::uint64_t neighbour = members[i % members.size()] + line_step;
        if (std::ranges::find(members, neighbour) == members.end()) sequence.push_back(neighbour);
      }
      const std::size_t before = sequence.size();
      for (const unsigned i : order) sequence.push_back(members[(i + turn) % members.size()]);
      seen.push_back(visit(sequence, before, order.size(), sector).last_fast & mask);
    }
    varies |= seen.front() != seen.back();
    for (Candidate& c : candidates)
      c.fits =
          c.fits && (predicted(order, ways, c.kind) & mask) == seen.front() && seen.front() == seen.back();
  }
  const auto fitting = std::ranges::count_if(candidates, &Candidate::fits);
  if (fitting == 1) return std::string(std::ranges::find_if(candidates, &Candidate::fits)->name);
  return fitting == 0 && varies ? "random" : "";
}

std::vector<std::string> fitting_indexes(const std::vector<std::vector<std::uint64_t>>& groups,
                                         std::uint32_t sets, std::uint32_t line, std::uint32_t ways) {
  using device::SetIndex;
  std::vector<std::string> out;
  if (sets < 2) return out;
  for (const auto& [kind, name] :
       {std::pair{SetIndex::modulo, "modulo"}, std::pair{SetIndex::hash, "hash"},
        std::pair{SetIndex::xor_fold, "xor"}, std::pair{SetIndex::fermi, "fermi"}}) {
    if ((kind == SetIndex::xor_fold && !std::has_single_bit(sets)) ||
        (kind == SetIndex::fermi && sets != 32 && sets != 64))
      continue;
    const auto index = memory::make_set_index(kind, {.sets = sets, .line_bytes = line});
    bool fits = true;
    for (const std::vector<std::uint64_t>& group : groups) {
      std::set<std::uint32_t> of;
      for (const std::uint64_t address : group) of.insert(index->set_of(address / line));
      fits = fits && group.size() == ways + 1 && of.size() == 1;
    }
    if (fits) out.emplace_back(name);
  }
  return out;
}

}  // namespace simtlab::probe

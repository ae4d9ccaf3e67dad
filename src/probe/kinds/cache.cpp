// L1 and L2: latencies by chases, geometry by conflicts, and the curve of latency by footprint.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "probe/analysis/levels.h"
#include "probe/analysis/sampling.h"
#include "probe/geometry.h"
#include "probe/kinds.h"

namespace simtlab::probe {
namespace {

constexpr std::uint32_t chase_loads = 512;

void measured_latency(Bench& bench, const char* key, Path path, std::uint64_t bytes) {
  const Bench::Buffer buffer(bench, bytes);
  const Ring ring(bench, buffer, shuffled(steps(bytes, 128), bench.options.seed), 128);
  const Estimate e =
      estimate(sample([&] { return chase(bench, path, ring, 2 * ring.visits(), chase_loads); }));
  report_latency(bench,
                 {{key},
                  e,
                  fmt::format("slope of a pointer chase over {} KiB, {} and {} loads", bytes >> 10,
                              chase_loads, 2 * chase_loads),
                  fmt::format("a load of a pointer chase over {} KiB", bytes >> 10)},
                 [&] { return singles(bench, path, ring, 2 * ring.visits(), chase_loads); });
}

// Typical times of single loads. Those of hits: a few lines again and again; those of misses: lines read for
// the first time.
std::uint64_t typical_hit(Bench& bench, Path path, const Bench::Buffer& room) {
  const Ring ring(bench, room, steps(8 * 128, 128), 128);
  const Census c = census(bench, path, ring, 64, 256, 0, 0);
  return (c.cycles + c.loads / 2) / c.loads;
}

std::uint64_t typical_miss(Bench& bench, Path path, const Bench::Buffer& room, std::uint64_t from) {
  std::vector<std::uint64_t> lines = steps(64 * 1024, 1024);
  for (std::uint64_t& line : lines) line += from;
  const Ring ring(bench, room, lines, 128);
  const Census c = census(bench, path, ring, 0, lines.size(), 0, 0);
  return (c.cycles + c.loads / 2) / c.loads;
}

struct Level {
  const char* name;  // "l1"
  Path path;
  bool cold;
  std::uint64_t least, most;  // bytes: where its size is looked for
};

std::string key(const Level& level, const char* what) { return fmt::format("{}.{}", level.name, what); }

// Where groups of lines stand, as addresses.
std::vector<std::vector<std::uint64_t>> addresses(const std::vector<std::uint64_t>& members,
                                                  std::uint64_t base) {
  std::vector<std::uint64_t> out;
  for (const std::uint64_t offset : members) out.push_back(base + offset);
  return {out};
}

// Lines of one set that stay together beside blocks with so much shared memory.
std::uint64_t ways_beside(Bench& bench, const Bench::Buffer& room, const std::vector<std::uint64_t>& members,
                          Threshold threshold, std::uint32_t shared_bytes) {
  Geometry g(
      [&](const std::vector<std::uint64_t>& sequence, std::uint64_t skip, std::uint64_t loads,
          std::uint32_t unit) {
        return census(bench, Path::through, Ring(bench, room, sequence, unit), skip, loads,
                      threshold.between(), ~std::uint64_t{0}, shared_bytes);
      },
      true);
  std::uint64_t low = 1, high = members.size();  // `high` conflict
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    (g.conflict({members.begin(), members.begin() + static_cast<std::ptrdiff_t>(middle)}) ? high : low) =
        middle;
  }
  return low;
}

// L1 and shared memory on one storage: beside blocks with much shared memory fewer ways are left, and the
// storage is what both have together, up to a way. Then also the shared memory that blocks without any
// reserve has cost ways: L1 alone is as large as the storage.
struct Storage {
  std::uint64_t bytes, ways;
  bool shared;
};
Storage storage_of(Bench& bench, const Bench::Buffer& room, const std::vector<std::uint64_t>& members,
                   Threshold threshold, std::uint64_t bytes) {
  const std::uint64_t ways = members.size() - 1, way = bytes / ways;
  const gpu::BoardFacts& facts = bench.board.facts();
  const auto much = static_cast<std::uint32_t>(facts.shared_bytes_per_block);
  const std::uint64_t left = ways_beside(bench, room, members, threshold, much);
  if (left >= ways) return {bytes, ways, false};
  const std::uint64_t taken = (much + facts.shared_reserved_per_block) * census_blocks(bench, much),
                      reserved = facts.shared_reserved_per_block * census_blocks(bench, 0);
  const std::uint64_t storage = left * way + taken;  // at least, and less than a way more
  if (reserved == 0 || (storage - std::min(storage, reserved)) / way > ways) return {bytes, ways, true};
  const std::uint64_t all = (bytes + reserved + way - 1) / way;
  return {all * way, all, true};
}

// All but the size is known: how many lines, and what numbers the sets.
void size_and_sets(Bench& bench, Geometry& g, const Level& level, const Bench::Buffer& room,
                   const std::vector<std::uint64_t>& members, std::uint32_t line,
                   const std::string& replacement, Threshold threshold) {
  const auto ways = static_cast<std::uint32_t>(members.size() - 1);
  const auto clean = g.clean_bytes(line, level.least, level.most);
  if (!clean && !level.cold) return;
  if (!clean) return bench.found.unknown(key(level, "bytes"), "everything that was tried stayed in it");
  const std::uint64_t clean_lines = *clean / line;
  bool regular = true;  // members at equal distances: sets are numbered by the address
  for (std::size_t i = 2; i < members.size(); ++i)
    regular &= members[i] - members[i - 1] == members[1] - members[0];
  std::uint64_t lines = 0;
  std::string method;
  if (replacement == "random" || replacement.empty()) {
    if (regular && clean_lines % ways == 0)
      lines = clean_lines, method = "largest range of which nothing is forgotten";
  } else {
    // Sets that are numbered by a hash fill unevenly: every one has to be full.
    const std::uint64_t asked = std::min(room.bytes() / line, std::max<std::uint64_t>(8 * clean_lines, 64));
    lines = g.resident(line, asked);
    if (lines < clean_lines || lines % ways != 0 || lines * 2 > asked) lines = 0;
    method = fmt::format(
        "lines still there after {} were read, counted backwards; the largest range of which nothing is "
        "forgotten has {}",
        asked, clean_lines);
  }
  if (lines == 0 && !level.cold) return;  // the driver's word stands
  if (lines == 0)
    return bench.found.unknown(
        key(level, "bytes"),
        fmt::format("lines that stay ({} in a row) are no whole number of sets of {}", clean_lines, ways));
  Storage storage{lines * line, ways, false};
  if (level.cold) {
    storage = storage_of(bench, room, members, threshold, lines * line);
    if (storage.ways != ways) {
      method += fmt::format("; {} bytes, and the ways of what resident blocks reserve of shared memory",
                            lines * line);
      bench.found.exact(
          key(level, "ways"), static_cast<double>(storage.ways), "",
          fmt::format(
              "{} lines of one set stay together; the rest is what resident blocks reserve of shared memory",
              ways),
          g.accesses());
    }
    bench.found.word("l1.shares_storage", storage.shared ? "true" : "false",
                     storage.shared ? "it shrinks beside blocks with much shared memory"
                                    : "it is as large beside blocks with much shared memory");
  }
  bench.found.exact(key(level, "bytes"), static_cast<double>(storage.bytes), "B", method, g.accesses());
  const auto fitting = fitting_indexes(addresses(members, room.address()),
                                       static_cast<std::uint32_t>(lines / ways), line, ways);
  if (level.path == Path::past) return;  // which slice a line lives in comes first, and is not looked for
  if (fitting.size() == 1)
    bench.found.word(key(level, "set_index"), fitting.front(),
                     "the only known rule that puts the lines of a full set into one", members.size());
  else
    bench.found.unknown(key(level, "set_index"),
                        fitting.empty() ? "no known rule puts the conflicting lines into one set"
                                        : "several rules put the conflicting lines into one set");
}

void geometry(Bench& bench, const Level& level, const Bench::Buffer& room, Threshold threshold) {
  Geometry g(
      [&](const std::vector<std::uint64_t>& sequence, std::uint64_t skip, std::uint64_t loads,
          std::uint32_t unit) {
        return census(bench, level.path, Ring(bench, room, sequence, unit), skip, loads, threshold.between(),
                      ~std::uint64_t{0});
      },
      level.cold);
  const auto give_up = [&](std::initializer_list<const char*> what, const std::string& why) {
    for (const char* w : what) bench.found.unknown(key(level, w), why);
    for (const char* w : {"replacement", "bytes"})
      if (level.cold) bench.found.unknown(key(level, w), why);
  };
  const auto sector = g.sector_bytes();
  if (!sector)
    return give_up({"sector_bytes", "line_bytes", "ways"},
                   "neighbouring bytes do not come in units of 32, 64 or 128");
  // Behind the last cache memory may bring more at once than a sector.
  if (level.cold || *sector == 32)
    bench.found.exact(key(level, "sector_bytes"), *sector, "B",
                      "the nearest byte that does not come with its neighbour", 4);
  else
    bench.found.exact(
        key(level, "fetch_bytes"), *sector, "B",
        "the nearest byte that does not come with its neighbour: a sector, or what memory brings at once", 4);
  const auto clean = g.clean_bytes(128, level.least, level.most);
  if (!clean) return give_up({"line_bytes", "ways"}, fmt::format("{} KiB stay in it", level.most >> 10));
  const std::vector<std::uint64_t> members = g.conflicting(128, *clean);
  if (members.size() < 2) return give_up({"line_bytes", "ways"}, "its lines do not conflict set by set");
  const std::uint32_t line = g.line_bytes(members, *sector);
  const std::string replacement =
      level.path == Path::past && !level.cold ? "" : g.replacement(members, *sector);
  bench.found.exact(key(level, "ways"), static_cast<double>(members.size() - 1), "",
                    "lines of one set that stay together, found by group testing", g.accesses());
  bench.found.exact(key(level, "line_bytes"), line, "B", "bytes that share a place in the set", g.accesses());
  if (!replacement.empty())
    bench.found.word(key(level, "replacement"), replacement,
                     replacement == "random"
                         ? "equal sequences over a full set hit differently"
                         : "the only policy that gives the hits of 8 random sequences over a full set",
                     16);
  else if (level.cold)
    bench.found.unknown(key(level, "replacement"), "no one known policy gives the hits that were seen");
  size_and_sets(bench, g, level, room, members, line, level.cold ? replacement : "lru", threshold);
}

// Latency by footprint, in equal ratios.
void curve(Bench& bench, const Level& level, std::uint64_t from, std::uint64_t to, double ratio) {
  const Bench::Buffer room(bench, to + 4096);
  Series series;
  series.name = key(level, "curve"), series.x = "bytes", series.y = "cycles";
  for (double size = static_cast<double>(from); size <= static_cast<double>(to); size *= ratio) {
    const std::uint64_t lines = std::max<std::uint64_t>(static_cast<std::uint64_t>(size) / 128, 2);
    if (!series.points.empty() && series.points.back().x >= static_cast<double>(lines * 128)) continue;
    const Ring ring(bench, room, shuffled(steps(lines * 128, 128), bench.options.seed), 128);
    const std::uint64_t loads = std::clamp<std::uint64_t>(lines / chase_round, 4, 16) * chase_round;
    const double cycles = chase(bench, level.path, ring, lines, static_cast<std::uint32_t>(loads));
    series.points.push_back({static_cast<double>(lines * 128), cycles});
  }
  mark_levels(series);
  bench.found.series(std::move(series));
}

void probe_cache(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  measured_latency(bench, "l1.latency", Path::through, 1024);
  measured_latency(bench, "l2.latency", Path::past, 8192);
  const Bench::Buffer room(bench, 8 << 20);
  const std::uint64_t l1_hit = typical_hit(bench, Path::through, room),
                      l2_hit = typical_hit(bench, Path::past, room),
                      dram = typical_miss(bench, Path::past, room, 4 << 20);
  if (const double l1 = bench.found.by_slope("l1.latency").value_or(0),
      l2 = bench.found.by_slope("l2.latency").value_or(0);
      l1 > 0.9 * l2) {
    for (const char* what : {"l1.latency", "l1.bytes", "l1.line_bytes", "l1.sector_bytes", "l1.ways",
                             "l1.replacement", "l1.set_index"})
      bench.found.unknown(what,
                          "loads of global memory take as long as from L2: no L1 in front of it can be seen");
  } else {
    geometry(bench, {"l1", Path::through, true, 1024, 1 << 20}, room, {l1_hit, l2_hit});
    const auto bytes = static_cast<std::uint64_t>(bench.found.value_or("l1.bytes", 256 << 10));
    curve(bench, {"l1", Path::through, true, 0, 0}, 1024, 4 * bytes, bench.options.quick ? 1.12 : 1.04);
  }
  // L2: from a large one only latencies.
  const std::uint64_t l2_bytes = facts.l2_bytes.value_or(0);
  if (l2_bytes == 0) return;
  bench.found.exact("l2.bytes", static_cast<double>(l2_bytes), "B", "the driver's word");
  if (!bench.options.quick && l2_bytes <= (2 << 20)) {
    const Bench::Buffer large(bench, 8 * l2_bytes);
    const Level level{"l2", Path::past, false, l2_bytes / 4, 4 * l2_bytes};
    geometry(bench, level, large, {l2_hit, dram});
    curve(bench, level, l2_bytes / 8, 3 * l2_bytes, 1.06);
  }
}

}  // namespace

extern constinit const Kind kind_cache{
    "cache", "L1 and L2: latency, size, line, sector, ways, replacement", probe_cache, "device", 60, true};

}  // namespace simtlab::probe

// Translations: a chase with one line a page. Beyond what the table holds every load waits for a walk; the
// smallest distance of lines beyond which the reach in lines does not shrink is the page.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "probe/kinds.h"
#include "probe/ring.h"

namespace simtlab::probe {
namespace {

constexpr std::uint64_t least_page = 64 << 10, most_page = 4 << 20;

class Reach {
 public:
  Reach(Bench& bench, const Bench::Buffer& room) : bench_(bench), room_(room) {}

  // Cycles a load with so many lines `distance` apart. Each line lies elsewhere in its page, so that they
  // spread over the sets of caches.
  double cycles(std::uint64_t count, std::uint64_t distance) {
    const auto [at, missing] = known_.try_emplace({count, distance}, 0.0);
    if (!missing) return at->second;
    std::vector<std::uint64_t> lines;
    for (std::uint64_t i = 0; i < count; ++i) lines.push_back(i * distance + i * 128 % distance);
    const Ring ring(bench_, room_, lines, 128);
    // Twice around, so that copies in the near part of an L2 of several and the table have settled.
    return at->second = chase(bench_, Path::past, ring, 4 * count,
                              static_cast<std::uint32_t>((count + 4 * chase_round - 1) / (4 * chase_round) *
                                                         (4 * chase_round)));
  }

  // Most lines that are all translated; nullopt: all that fit.
  std::optional<std::uint64_t> lines(std::uint64_t distance, double step) {
    // All lines have to stay in L2, or its misses would be taken for the table's.
    const std::uint64_t most =
        std::min({room_.bytes() / distance, std::uint64_t{4096},
                  std::max<std::uint64_t>(8, bench_.board.facts().l2_bytes.value_or(1 << 20) / 128 / 16)});
    const double base = cycles(4, distance);
    std::uint64_t low = 4, high = 8;
    while (high <= most && cycles(high, distance) < base + step) low = high, high *= 2;
    if (high > most) {
      high = most;
      if (cycles(high, distance) < base + step) return std::nullopt;
    }
    while (high - low > 1) {
      const std::uint64_t middle = (low + high) / 2;
      (cycles(middle, distance) < base + step ? low : high) = middle;
    }
    return low;
  }

 private:
  Bench& bench_;
  const Bench::Buffer& room_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, double> known_;
};

void probe_tlb(Bench& bench) {
  const std::uint64_t bytes =
      std::min<std::uint64_t>(1 << 30, bench.board.facts().free_bytes / 2) / most_page * most_page;
  if (bytes < 64 * most_page)
    return bench.found.unknown("tlb.entries", "not enough memory of the device is free");
  const Bench::Buffer room(bench, bytes, most_page);
  Reach reach(bench, room);
  const double l2 = bench.found.by_slope("l2.latency").value_or(300), step = 0.04 * l2;
  Series curve{"tlb.curve", "pages of 2 MiB", "cycles", {}, {}};
  for (std::uint64_t pages = 4; pages <= bytes / (2 << 20); pages *= 2)
    curve.points.push_back({static_cast<double>(pages), reach.cycles(pages, 2 << 20)});
  const auto widest = reach.lines(most_page, step);
  // No step within the reach of what was allocated: nothing is said of a table that may be larger.
  if (!widest) return bench.found.series(std::move(curve));
  std::uint64_t page = most_page;
  while (page / 2 >= least_page && reach.lines(page / 2, step) == *widest) page /= 2;
  const double near = reach.cycles(*widest, page),
               beyond = reach.cycles(
                   std::min(*widest + std::max<std::uint64_t>(2, *widest / 4), bytes / page), page);
  bench.found.word("tlb.enabled", "true", "a step in the chase with one line a page", curve.points.size());
  bench.found.exact("tlb.entries", static_cast<double>(*widest), "",
                    "most pages whose lines are read without a walk", curve.points.size());
  bench.found.exact("tlb.page_bytes", static_cast<double>(page), "B",
                    "smallest distance of lines beyond which the reach does not shrink", curve.points.size());
  bench.found.once("tlb.miss_latency", beyond - near, "cycles",
                   "a quarter more pages than are translated against just as many", 2, curve.name);
  bench.found.correct("tlb.miss_latency", "slope");
  curve.knees.push_back({static_cast<double>(*widest * page) / (2 << 20), 0, 0, "end of the table"});
  bench.found.series(std::move(curve));
}

}  // namespace

extern constinit const Kind kind_tlb{"tlb", "Translation of addresses: reach, page, cost of a miss",
                                     probe_tlb, "memory", 90};

}  // namespace simtlab::probe

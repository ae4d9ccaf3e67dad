// Misses of L1 that may be under way. Loads of more and more lines at once, none of them in L1: the last
// takes longer by a load port's turn each, until all miss registers are in use. The next one then waits for
// the first answer, which shows as a jump of the time. In the same manner loads of one line, which wait for
// one answer together, until a register has no place for another.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "probe/analysis/histogram.h"
#include "probe/kinds.h"

namespace simtlab::probe {
namespace {

constexpr std::uint32_t most_lines = 1024, most_waiters = 32;
constexpr std::uint64_t line_distance = 128;

// Two passes over lines of their own, the first for the instructions.
std::string misses_entry(const std::string& name, const std::string& declared, const std::string& begin,
                         const std::string& timed) {
  return fmt::format(R"(
.visible .entry {}(.param .u64 data, .param .u64 part, .param .u32 count, .param .u64 out)
{{
  .reg .pred %q, %p; .reg .b32 %t, %lane, %warp, %count, %pass, %r, %s; .reg .b64 %a, %o, %v, %t0, %t1, %part; {}
  ld.param.u64 %a, [data]; ld.param.u64 %part, [part]; ld.param.u32 %count, [count]; ld.param.u64 %o, [out];
  mov.u32 %t, %tid.x; and.b32 %lane, %t, 31; shr.u32 %warp, %t, 5;
  {}
  mov.u32 %r, 0; mov.u32 %s, 0;
  mov.u32 %pass, 2;
PASS:
  bar.sync 0;
  mov.u64 %t0, %clock64;
  {}
  setp.eq.u32 %q, %s, 1;
  @%q bra END;
  mov.u64 %t1, %clock64;
  add.u64 %a, %a, %part;
  sub.u32 %pass, %pass, 1;
  setp.ne.u32 %q, %pass, 0;
  @%q bra PASS;
  setp.ne.u32 %q, %lane, 0;
  @%q bra END;
  mul.wide.u32 %v, %warp, 16; add.u64 %o, %o, %v;
  st.global.u64 [%o], %t0; st.global.u64 [%o+8], %t1;
END:
  ret;
}}
)",
                     name, declared, begin, timed);
}

// lines: thread t reads line t if it is one of the first `count`.
std::string lines_text(const char* load) {
  return misses_entry(
      "lines", "",
      fmt::format("setp.lt.u32 %p, %t, %count; mul.wide.u32 %v, %t, {}; add.u64 %a, %a, %v;", line_distance),
      fmt::format("@%p {} %r, [%a];\nor.b32 %s, %s, %r;", load));
}

// waiters_N: one thread reads N words of one line, one after the other without waiting.
std::string waiters_text(const char* load) {
  std::string out;
  // Whatever their number, as many words are joined in as many steps; the last ones first, or what was there
  // before would hide how late they are.
  std::string zeros, joined;
  for (unsigned j = 0; j < most_waiters; ++j) zeros += fmt::format("mov.u32 %w{}, 0;\n", j);
  for (unsigned j = most_waiters / 2; j-- > 0;)
    joined += fmt::format("or.b32 %v{0}, %w{1}, %w{2};\n", j, 2 * j, 2 * j + 1);
  for (unsigned half = most_waiters / 4; half != 0; half /= 2)
    for (unsigned j = 0; j < half; ++j)
      joined +=
          fmt::format("or.b32 {0}, %v{1}, %v{2};\n", half == 1 ? "%s" : fmt::format("%v{}", j), j, j + half);
  for (unsigned n = 1; n <= most_waiters; ++n) {
    std::string loads;
    for (unsigned j = 0; j < n; ++j) loads += fmt::format("{} %w{}, [%a+{}];\n", load, j, j % 8 * 4);
    out += misses_entry(fmt::format("waiters_{}", n),
                        fmt::format(".reg .b32 %w<{0}>, %v<{0}>;", most_waiters), zeros, loads + joined);
  }
  return out;
}

class Misses {
 public:
  Misses(Bench& bench, const char* load)
      : bench_(bench),
        lines_text_(lines_text(load)),
        waiters_text_(waiters_text(load)),
        data_(bench, 2 * part_, 4096),
        out_(bench, 16 * 32) {
    bench.board.fill(data_.address(), std::byte{0}, data_.bytes());
    // An eighth of L2 holds the lines of a pass once they have been read.
    most_ = static_cast<std::uint32_t>(
        std::min<std::uint64_t>({bench.board.facts().max_threads_per_block, most_lines,
                                 bench.board.facts().l2_bytes.value_or(1 << 20) / 8 / line_distance}));
    for (int i = 0; i < 2; ++i) lines(most_), waiters(1);
  }
  std::uint32_t most() const { return most_; }
  // Cycles from the first begin to the last end.
  double lines(std::uint32_t count) {
    return span(bench_.kernel(lines_text_, "lines"), (count + 31) / 32, count);
  }
  double waiters(std::uint32_t count) {
    return span(bench_.kernel(waiters_text_, fmt::format("waiters_{}", count)), 1, count);
  }

 private:
  double span(gpu::Board::Function function, std::uint32_t warps, std::uint32_t count) {
    const auto w =
        bench_.run(function, 1, 32 * warps, gpu::Arguments(data_.address(), part_, count, out_.address()),
                   out_.address(), 2 * std::size_t{warps});
    std::uint64_t begin = ~std::uint64_t{0}, end = 0;
    for (std::uint32_t i = 0; i < warps; ++i)
      begin = std::min(begin, w[2 * i]), end = std::max(end, w[2 * i + 1]);
    return static_cast<double>(end - begin);
  }

  static constexpr std::uint64_t part_ = most_lines * line_distance;
  Bench& bench_;
  const std::string lines_text_, waiters_text_;
  const Bench::Buffer data_, out_;
  std::uint32_t most_ = 1;
};

// Where a time that rises evenly jumps for the first time: the last count before that, if all that comes
// before is far less. larger: one soon after it is much larger, so that it may be of something else.
struct Jump {
  std::uint32_t before = 0;
  double height = 0, rise = 0;
  bool larger = false;
};
Jump jump_of(const std::vector<Series::Point>& points) {
  std::vector<double> rises;
  for (std::size_t i = 1; i < points.size(); ++i)
    rises.push_back((points[i].y - points[i - 1].y) / (points[i].x - points[i - 1].x));
  Jump out;
  if (rises.empty()) return out;
  out.rise = median_of(rises);
  const double most = *std::ranges::max_element(rises) - out.rise;
  for (std::size_t i = 0; i < rises.size() && out.before == 0; ++i)
    if (rises[i] - out.rise > 0.15 * most)
      out.before = static_cast<std::uint32_t>(points[i].x), out.height = rises[i] - out.rise;
  for (std::size_t i = 0; i < rises.size(); ++i)
    out.larger = out.larger || (points[i].x > out.before && points[i].x <= 2 * out.before &&
                                rises[i] - out.rise > 1.5 * out.height);
  return out;
}

// What it found, and reports. least: a jump that counts, in cycles. What comes before it is less than a
// seventh of the largest.
Jump find_jump(Bench& bench, const std::function<double(std::uint32_t)>& cycles, const char* key,
               std::uint32_t most, double least, const char* what) {
  Series curve{fmt::format("{}.curve", key), what, "cycles", {}, {}};
  std::uint32_t step = 1;
  for (std::uint32_t count = 1; count <= most; count += step) {
    if (bench.options.quick && count >= 128) step = 16;
    curve.points.push_back({static_cast<double>(count), cycles(count)});
  }
  Jump jump = jump_of(curve.points);
  // Coarse steps: once more, one by one.
  if (step > 1 && jump.height * step > least && jump.before >= 128) {
    std::vector<Series::Point> fine;
    for (std::uint32_t count = jump.before; count <= jump.before + step; ++count)
      fine.push_back({static_cast<double>(count), cycles(count)});
    const bool larger = jump.larger;
    jump = jump_of(fine);
    jump.larger = larger;
  }
  const bool again = jump.before >= 1 && jump.before + 1 <= most &&
                     cycles(jump.before + 1) - cycles(jump.before) > 0.7 * jump.height;
  if (jump.height < std::max(least, 8 * jump.rise) || jump.before < 2 || !again) {
    bench.found.unknown(
        key,
        fmt::format(
            "up to {} {} at once take {:.3g} cycles more each: answers come before all registers are in use",
            most, what, jump.rise));
  } else if (jump.larger) {
    bench.found.unknown(key,
                        fmt::format("one more than {} {} at once takes {:.3g} cycles longer, and one more of "
                                    "some later ones much longer than that: not both wait for an answer",
                                    jump.before, what, jump.height));
  } else {
    bench.found.exact(key, jump.before, "",
                      fmt::format("{} at once; one more takes {:.3g} cycles longer", what, jump.height),
                      curve.points.size());
    curve.knees.push_back({static_cast<double>(jump.before), static_cast<double>(jump.before),
                           static_cast<double>(jump.before) + 1, "one more waits for an answer"});
  }
  bench.found.series(std::move(curve));
  return jump;
}

void probe_misses(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const auto l1 = bench.found.by_slope("l1.latency"), l2 = bench.found.by_slope("l2.latency");
  if (!l1 || !l2) {
    for (const char* what : {"l1.mshr_entries", "l1.loads_of_a_line"})
      bench.found.unknown(what, "no L1 in front of L2 was seen");
    return;
  }
  const bool read_only = facts.l1_caches_global == false && facts.cc_major * 10 + facts.cc_minor >= 35;
  Misses misses(bench, read_only ? "ld.global.nc.u32" : "ld.global.ca.u32");
  const Jump lines = find_jump(
      bench, [&](std::uint32_t n) { return misses.lines(n); }, "l1.mshr_entries",
      std::min(misses.most(), bench.options.quick ? 512u : most_lines), 0.1 * *l2, "lines");
  bench.found.once("l1.miss_interval", lines.rise, "cycles", "what one more line takes that is read at once",
                   1, "l1.mshr_entries.curve");
  find_jump(
      bench, [&](std::uint32_t n) { return misses.waiters(n); }, "l1.loads_of_a_line", most_waiters,
      0.4 * *l1, "loads of one line");
}

}  // namespace

extern constinit const Kind kind_misses{"misses",
                                        "Misses of L1 that may be under way, and loads that may wait for one",
                                        probe_misses, "cache", 65};

}  // namespace simtlab::probe

// The read-only path, through which textures are read: ld.global.nc, from compute capability 3.5. Its latency
// and how much of it stays, and whether its lines are those of L1.
#include <fmt/format.h>

#include <algorithm>

#include "probe/analysis/levels.h"
#include "probe/analysis/sampling.h"
#include "probe/kinds.h"
#include "probe/ring.h"

namespace simtlab::probe {
namespace {

// A line after the other, from %p on.
std::string lines_read(const char* label, const char* load) {
  return fmt::format(R"({0}:
  {1} %r, [%p];
  setp.eq.u32 %q, %r, 1;
  @%q bra END;
  add.u64 %p, %p, 128; sub.u32 %n, %n, 1;
  setp.ne.u32 %q, %n, 0;
  @%q bra {0};)",
                     label, load);
}

// One thread reads `lines` lines by one path and then, timed, the same by the other.
std::string shared_path_text(const char* first, const char* second) {
  return fmt::format(R"(
.visible .entry both(.param .u64 data, .param .u64 zero, .param .u32 lines, .param .u64 out)
{{
  .reg .pred %q; .reg .b32 %n, %m, %r; .reg .b64 %a, %p, %z, %o, %v, %t0, %t1;
  ld.param.u64 %a, [data]; ld.param.u64 %z, [zero]; ld.param.u32 %m, [lines]; ld.param.u64 %o, [out];
  mov.u64 %p, %a; mov.u32 %n, %m;
{}
  mov.u64 %t0, %clock64;
  and.b64 %v, %t0, %z; xor.b64 %p, %a, %v; mov.u32 %n, %m;
{}
  mov.u64 %t1, %clock64;
  sub.u64 %t1, %t1, %t0;
  st.global.u64 [%o], %t1;
END:
  ret;
}}
)",
                     lines_read("BRING", first), lines_read("AGAIN", second));
}

double again(Bench& bench, const char* first, const char* second, std::uint64_t data, std::uint32_t lines) {
  const Bench::Buffer out(bench, 256);
  const std::string text = shared_path_text(first, second);
  double cycles = 0;
  for (int i = 0; i < 2; ++i)
    cycles = static_cast<double>(bench.run(bench.kernel(text, "both"), 1, 1,
                                           gpu::Arguments(data, std::uint64_t{0}, lines, out.address()),
                                           out.address(), 1)[0]);
  return cycles / lines;
}

void probe_texture(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const auto give_up = [&](std::initializer_list<const char*> what, const std::string& why) {
    for (const char* w : what) bench.found.unknown(w, why);
  };
  if (facts.cc_major * 10 + facts.cc_minor < 35)
    return give_up({"texture.latency", "texture.bytes", "texture.shares_l1"},
                   "before compute capability 3.5 only texture instructions read through the texture cache, "
                   "and they need texture objects");
  const std::string text = ring_kernels("ld.global.nc.u64 %p, [%p];", "");
  const auto chased = [&](const Bench::Buffer& room, std::uint64_t bytes, std::uint32_t loads) {
    const Ring ring(bench, room, shuffled(steps(bytes, 128), bench.options.seed), 128);
    return chase(bench, bench.kernel(text, "chase"), ring.start(), 2 * ring.visits(), loads);
  };
  const auto l1 = static_cast<std::uint64_t>(bench.found.value_or("l1.bytes", 64 << 10));
  const std::uint64_t most = std::clamp<std::uint64_t>(4 * l1, 64 << 10, 1 << 20);
  const Bench::Buffer room(bench, most + 4096);
  const Estimate e = estimate(sample([&] { return chased(room, 1024, 512); }));
  report_latency(bench,
                 {{"texture.latency"},
                  e,
                  "slope of a pointer chase over 1 KiB by the read-only path (ld.global.nc)",
                  "a load of a pointer chase over 1 KiB by the read-only path (ld.global.nc)"},
                 [&] {
                   const Ring ring(bench, room, shuffled(steps(1024, 128), bench.options.seed), 128);
                   return singles(bench, "ld.global.nc.u64 %p, [%p];", "", "", ring.start(),
                                  2 * ring.visits(), 512);
                 });
  Series curve{"texture.curve", "bytes", "cycles", {}, {}};
  for (double size = 1024; size <= static_cast<double>(most); size *= bench.options.quick ? 1.12 : 1.04) {
    const auto bytes = static_cast<std::uint64_t>(size) / 128 * 128;
    if (!curve.points.empty() && curve.points.back().x >= static_cast<double>(bytes)) continue;
    curve.points.push_back({static_cast<double>(bytes), chased(room, bytes, 4 * chase_round)});
  }
  mark_levels(curve);
  // The end of its first level, where the curve has one; a latency of L2 from the beginning is no cache.
  const double l2 = bench.found.by_slope("l2.latency").value_or(0);
  if (l2 != 0 && e.value > 0.9 * l2)
    give_up({"texture.bytes", "texture.shares_l1"},
            "the read-only path takes as long as L2: no cache in front of it can be seen");
  else {
    if (curve.knees.empty())
      give_up({"texture.bytes"}, fmt::format("the curve has no edge up to {} KiB", most >> 10));
    else {
      const Series::Knee& k = curve.knees.front();
      Finding f;
      f.key = "texture.bytes", f.unit = "B", f.value = k.x, f.interval = {k.low, k.high}, f.confidence = 0.95,
      f.samples = curve.points.size(), f.method = "edge of the curve of latency by footprint, read-only path",
      f.curve = curve.name;
      bench.found.add(std::move(f));
    }
    if (facts.l1_caches_global == false) {
      give_up({"texture.shares_l1"}, "ordinary loads pass by L1 here");
    } else {
      const char *nc = "ld.global.nc.u32", *ca = "ld.global.ca.u32", *cg = "ld.global.cg.u32";
      const double same = again(bench, nc, nc, room.address(), 8),
                   across = again(bench, nc, ca, room.address(), 8),
                   none = again(bench, cg, ca, room.address(), 8);
      if (none < 1.3 * same)
        give_up({"texture.shares_l1"},
                "lines that only L2 holds are read as fast as those of the read-only path");
      else
        bench.found.word("texture.shares_l1", across - same < 0.5 * (none - same) ? "true" : "false",
                         "ordinary loads of lines that the read-only path has brought", 3);
    }
  }
  bench.found.series(std::move(curve));
}

}  // namespace

extern constinit const Kind kind_texture{
    "texture",
    "The read-only path that textures are read through: latency, size, whether it is L1",
    probe_texture,
    "cache",
    75,
    true};

}  // namespace simtlab::probe

// Bytes a second. Of one SM: loads in two lengths of time by its own clock. Of the whole GPU: the difference
// of a long and a short launch by the events of the stream.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "probe/analysis/sampling.h"
#include "probe/kinds.h"
#include "probe/ring.h"
#include "probe/streams.h"
#include "probe/timed.h"

namespace simtlab::probe {
namespace {

// Between the loads of a warp that are under way at once: odd numbers of lines, as those a power of two apart
// are often of one slice of L2.
constexpr std::uint32_t line_distance = 13 * 128, other_distance = 37 * 128;

// Loads of warps a cycle: 16 bytes a thread from a range that stays in the cache, or one word for all.
struct Loads {
  const char* text;
  std::uint32_t range;  // a power of two; 0: one word
  unsigned repetitions;
  bool around = false;  // to other lines after every fourth
  std::uint32_t distance = line_distance;
  Where where = Where::one_sm;
  std::uint64_t cycles = 65'536;
};
double load_rate(Bench& bench, const Loads& loads, std::uint64_t data, std::uint32_t threads,
                 std::uint32_t blocks) {
  // Four loads under way at once: each has registers of its own.
  Timed t;
  t.setup = fmt::format(
      ".reg .b32 %m<16>; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; {} shl.b32 %r0, %r0, 4; and.b32 %r0, "
      "%r0, {}; cvt.u64.u32 %l0, %r0; add.u64 %l0, %l0, %a; mov.u32 %r12, 0;",
      loads.where == Where::everywhere ? "mad.lo.u32 %r0, %r0, %r1, %thread;" : "mov.u32 %r0, %thread;",
      loads.range == 0 ? 0 : loads.range - 1);
  t.body = [text = std::string(loads.text), distance = loads.distance,
            advance = loads.around ? loads.range - 1 : 0](unsigned n) {
    std::string out = text;
    const unsigned first = n % 4 * 4;
    const auto put = [&](const char* what, const std::string& by) {
      for (std::size_t at = 0; (at = out.find(what, at)) != std::string::npos;) out.replace(at, 1, by);
    };
    put("V", fmt::format("{{%m{0}, %m{1}, %m{2}, %m{3}}}", first, first + 1, first + 2, first + 3));
    // Other lines each time, or a warp that is preferred would read from few slices
    put("O", fmt::format("{}", n % 4 * distance));
    put("W", fmt::format("%m{}", first));
    if (n % 4 == 3)
      out +=
          " xor.b32 %r12, %r12, %m0; xor.b32 %r12, %r12, %m4; xor.b32 %r12, %r12, %m8; xor.b32 %r12, %r12, "
          "%m12;";
    // Elsewhere each time: warps that are preferred would otherwise read from few slices all the time.
    if (n % 4 == 0 && advance != 0)
      out = fmt::format(
                "add.u32 %r0, %r0, {}; and.b32 %r0, %r0, {}; cvt.u64.u32 %l0, %r0; add.u64 %l0, %l0, %a; ",
                53 * 128, advance) +
            out;
    return out;
  };
  t.finish = "cvt.u64.u32 %l15, %r12;";
  TimedRun run;
  run.a = data, run.threads = threads, run.blocks = blocks, run.where = loads.where;
  t.repetitions = loads.repetitions;
  return rate_of_timed(bench, t, run, loads.cycles);
}

// Whether so many bytes a cycle of one SM may be as many as its miss registers let be under way: then no port
// was seen.
bool registers_limit(const Bench& bench, double bytes_per_cycle) {
  const auto latency = bench.found.by_slope("l2.latency");
  if (!latency) return false;
  const double under_way = bytes_per_cycle * *latency / 128;
  if (const auto lines = bench.found.value("l1.mshr_entries")) return under_way > 0.85 * *lines;
  // Their number is not known where answers came before they were all in use: then there are as many as were
  // under way at least, and what limits the misses of single lines as it does these loads is the port.
  const auto interval = bench.found.value("l1.miss_interval");
  if (!interval || *interval <= 0) return false;
  const double by_misses = bench.found.value_or("l1.sector_bytes", 32) / *interval;
  return under_way > 0.85 * *latency / *interval && std::abs(bytes_per_cycle / by_misses - 1) > 0.015;
}

void of_one_sm(Bench& bench, std::uint32_t threads, bool l1) {
  const Bench::Buffer data(bench, 256 << 10);
  bench.board.fill(data.address(), std::byte{0}, data.bytes());
  const std::uint32_t blocks = std::max(1u, bench.board.facts().max_threads_per_sm / threads);
  const auto report = [&](const char* key, const char* unit, double units, const char* load,
                          std::uint32_t range, unsigned repetitions, const char* what) {
    const bool around = range > 8192;  // more than L1 is read from
    const auto rate = [&](std::uint32_t warps) {
      return units * load_rate(bench, {load, range, repetitions, around}, data.address(), 32 * warps, blocks);
    };
    const Estimate e = estimate(sample([&] { return rate(threads / 32); }, bench.options.quick ? 1 : 5));
    // What half of the warps reach is no limit of theirs.
    const double half = rate(std::max(1u, threads / 64));
    // A load and what uses it are two instructions (one and a half where logic takes three operands).
    const double issue =
        bench.found.value_or("sm.schedulers", 4) / bench.found.value_or("sm.issue_turns", 1) *
        bench.found.value_or("sm.issue_width", 1) * units / (bench.board.facts().cc_major >= 5 ? 1.5 : 2);
    if (unit == std::string_view("B/cycle") && key == std::string_view("interconnect.sm_bytes_per_cycle")) {
      bench.found.measured(
          "bandwidth.sm.l2", e, unit,
          fmt::format("{} in two lengths of time, {} threads on one SM", what, blocks * threads));
      if (registers_limit(bench, e.value))
        return bench.found.unknown(
            key,
            fmt::format("one SM reads {:.4g} B/cycle from L2, as many as its miss registers let be under way",
                        e.value));
      // A port does not know lines. Where others give another rate, slices of L2 wait for each other.
      if (const double others = units * load_rate(bench, {load, range, repetitions, around, other_distance},
                                                  data.address(), threads, blocks);
          std::abs(others / e.value - 1) > 0.015)
        return bench.found.unknown(key, fmt::format("one SM reads {:.4g} B/cycle from L2, and {:.4g} of "
                                                    "other lines: its slices limit, and not the port",
                                                    e.value, others));
    }
    if (e.value > 0.88 * issue && units == 32)
      return bench.found.unknown(key, "issuing the instructions that use what is loaded takes as long");
    if (half < 0.985 * e.value)
      return bench.found.unknown(
          key, fmt::format("{} threads on one SM do not saturate it: {:.4g} {}, half of them {:.4g}",
                           blocks * threads, e.value, unit, half));
    bench.found.measured(
        key, e, unit, fmt::format("{} in two lengths of time, {} threads on one SM", what, blocks * threads));
  };
  if (l1) {
    // Half of L1 at most.
    const std::uint64_t range = std::bit_floor(std::min<std::uint64_t>(
        static_cast<std::uint64_t>(bench.found.value_or("l1.bytes", 4096)) / 2, 8192));
    if (range < 512)
      bench.found.unknown("l1.bytes_per_cycle", "L1 does not hold what two warps read at once");
    else
      report("l1.bytes_per_cycle", "B/cycle", 16.0 * 32, "ld.global.ca.v4.u32 V, [%l0];",
             static_cast<std::uint32_t>(range), 32,
             fmt::format("loads of 16 bytes a thread from {} bytes", range).c_str());
    report("throughput.load", "/cycle", 32, "ld.global.ca.u32 W, [%l0];", 0, 64,
           "loads of one word by all threads");
  }
  report("interconnect.sm_bytes_per_cycle", "B/cycle", 16.0 * 32, "ld.global.cg.v4.u32 V, [%l0+O];", 16384, 8,
         "loads of 16 bytes a thread past L1");
}

struct Traffic {
  const char* kernel;
  const char* key;
  unsigned streams;
  bool reads;
};
constexpr Traffic l2_traffic[] = {{"write", "bandwidth.l2.write", 1, false},
                                  {"copy", "bandwidth.l2.copy", 2, false},
                                  {"triad", "bandwidth.l2.triad", 3, false}};

// What stays in L2, by all SMs: `bytes` in all.
double l2_bandwidth(Bench& bench, const Traffic& what, std::uint32_t threads, std::uint32_t blocks_per_sm,
                    std::uint64_t data, std::uint64_t bytes) {
  Streams s(bench, threads, blocks_per_sm * bench.board.facts().sms);
  const auto count = static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes / what.streams / s.step(), 1));
  const auto at = [&](std::uint64_t stream) {
    return data + (stream < what.streams ? stream : 0) * count * s.step();
  };
  const auto launch = [&](std::uint32_t rounds) {
    return s.time(what.kernel, at(0), at(1), at(2), count, rounds);
  };
  launch(1);
  const std::uint32_t rounds =
      std::max<std::uint32_t>(1, static_cast<std::uint32_t>((4 << 20) / (what.streams * count * s.step())));
  const double once = launch(rounds), thrice = launch(3 * rounds);
  return static_cast<double>(2 * rounds) * count * what.streams * static_cast<double>(s.step()) /
         (thrice - once) * 1e9;
}

// What one SM sends: a store costs its port a header and its bytes. Stores that touch two, three and four
// sectors of a line: the slope is the port's, if it is a line and does not go through nothing, as it would if
// L1's own width decided.
void sent_by_one_sm(Bench& bench, std::uint32_t threads) {
  const Bench::Buffer data(bench, 32 << 10);
  const auto cycles_of_line = [&](unsigned sectors) {
    Timed t;
    // Two lanes a sector of 32 bytes; lanes that have none left do what the last one does.
    const unsigned lines = 16 / sectors;
    t.setup = fmt::format(
        "shr.u32 %r0, %lane, 1; min.u32 %r0, %r0, {}; div.u32 %r1, %r0, {}; rem.u32 %r2, %r0, {}; shl.b32 "
        "%r1, %r1, 7; shl.b32 %r2, %r2, 5; add.u32 %r0, %r1, %r2; and.b32 %r1, %lane, 1; shl.b32 %r1, %r1, "
        "4; "
        "add.u32 %r0, %r0, %r1; and.b32 %r1, %warp, 15; mul.lo.u32 %r1, %r1, {}; add.u32 %r0, %r0, %r1; "
        "cvt.u64.u32 %l0, %r0; add.u64 %l0, %l0, %a; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 "
        "%r7, 0;",
        lines * sectors - 1, sectors, sectors, lines * 128);
    // Other lines each time, or a warp that is preferred would store to one slice.
    t.body = [lines](unsigned n) {
      return fmt::format("st.global.v4.u32 [%l0+{}], {{%r4, %r5, %r6, %r7}};", n * lines * 128);
    };
    t.finish = "mov.u64 %l15, %l0;";
    t.repetitions = 8;
    TimedRun run;
    run.a = data.address(), run.threads = threads;
    return 1 / (lines * rate_of_timed(bench, t, run, 65'536));
  };
  const double two = cycles_of_line(2), three = cycles_of_line(3), four = cycles_of_line(4),
               port = 64 / (four - two), header = two * port - 64;
  const char* key = "interconnect.sm_write_bytes_per_cycle";
  Series curve{
      "interconnect.sm_write", "bytes of a line", "cycles", {{64, two}, {96, three}, {128, four}}, {}};
  bench.found.series(std::move(curve));
  if (four <= two || std::abs((two + four) / 2 - three) > 0.01 * three || header < 1)
    return bench.found.unknown(
        key,
        fmt::format("stores of 64, 96 and 128 bytes of a line take {:.4g}, {:.4g} and {:.4g} cycles, which "
                    "is not a header and their bytes: something else than the port limits stores of one SM",
                    two, three, four));
  if (const auto l2 = bench.found.value("l2.bytes_per_cycle"); l2 && port > 0.88 * *l2)
    return bench.found.unknown(key, "L2 itself takes no more than one SM sent");
  // An L2 that passes stores on makes one SM wait for memory, whose interface takes so many bytes.
  const auto clock = bench.found.value("sm.clock"), memory = bench.found.value("dram.bandwidth");
  if (const double sent = 128 / four; clock && memory && sent < 1.15 * *memory / *clock)
    return bench.found.unknown(
        key,
        fmt::format("one SM stores {:.4g} B/cycle, and memory takes no more than {:.4g} of what L2 passes on",
                    sent, *memory / *clock));
  bench.found.once(key, port, "B/cycle",
                   fmt::format("slope of stores of 64 to 128 bytes of a line, {} threads on one SM; a store "
                               "costs {:.2g} bytes more",
                               threads, header),
                   3, "interconnect.sm_write");
}

// All SMs together take no more than their ports do.
bool ports_limit(const Bench& bench, double bytes_per_second) {
  const auto one = bench.found.value("bandwidth.sm.l2"), clock = bench.found.value("sm.clock");
  // Of SMs that wait for their miss registers some wait more than others: all are never full together.
  return one && clock &&
         bytes_per_second >
             (registers_limit(bench, *one) ? 0.45 : 0.88) * *one * bench.board.facts().sms * *clock;
}

constexpr Traffic traffic[] = {{"read", "dram.read_bandwidth_measured", 1, true},
                               {"write", "bandwidth.write", 1, false},
                               {"copy", "dram.bandwidth_measured", 2, false},
                               {"triad", "bandwidth.triad", 3, false}};

// From memory: nothing that is read has been read before; what is written has to leave L2 again, so a launch
// before fills it with what was written.
double memory_bandwidth(Bench& bench, const Traffic& what, std::uint32_t threads, std::uint32_t blocks_per_sm,
                        std::uint64_t part) {
  Streams s(bench, threads, blocks_per_sm * bench.board.facts().sms);
  const auto count = static_cast<std::uint32_t>(std::max<std::uint64_t>(part / s.step(), 1));
  const std::uint64_t bytes = count * s.step();
  const Bench::Buffer room(bench, 4 * bytes * what.streams);
  bench.board.fill(room.address(), std::byte{0}, room.bytes());
  if (what.reads) flush(bench);
  const auto at = [&](std::uint64_t number, unsigned stream) {
    return room.address() + (stream * 4 + number) * bytes;
  };
  const auto launch = [&](std::uint64_t number, std::uint32_t parts) {
    return s.time(what.kernel, at(number, 0), at(number, what.streams > 1 ? 1 : 0),
                  at(number, what.streams > 2 ? 2 : 0), count * parts, 1);
  };
  launch(what.reads ? 3 : 0, 1);
  const double once = launch(what.reads ? 0 : 1, 1), twice = launch(what.reads ? 1 : 2, 2);
  return static_cast<double>(bytes * what.streams) / (twice - once) * 1e9;
}

void of_memory(Bench& bench, std::uint32_t threads, std::uint32_t most_blocks) {
  const std::uint64_t l2 = bench.board.facts().l2_bytes.value_or(8 << 20);
  for (const Traffic& t : traffic) {
    const bool large = l2 > (8 << 20);
    if (!t.reads && bench.options.quick && large) continue;
    // Some accesses of every thread at the least.
    const std::uint64_t whole = 12 << 20,
                        step = std::uint64_t{16} * threads * most_blocks * bench.board.facts().sms;
    const std::uint64_t least = bench.options.quick
                                    ? std::min(whole, std::max(whole / 2 / t.streams, 8 * step))
                                    : whole,
                        part = t.reads ? least : std::max<std::uint64_t>(least, l2 * 5 / 4);
    Series curve{fmt::format("{}.occupancy", t.key), "blocks/SM", "B/s", {}, {}};
    double best = 0;
    std::uint32_t best_blocks = 0;
    for (std::uint32_t blocks = most_blocks; blocks >= 1; blocks /= 2) {
      const double rate = memory_bandwidth(bench, t, threads, blocks, part);
      curve.points.insert(curve.points.begin(), {static_cast<double>(blocks), rate});
      if (rate > best * 1.005) best = rate, best_blocks = blocks;
      if ((!t.reads && large) || bench.options.quick) break;
    }
    bench.found.series(curve);  // also where no value can be read from it
    if (ports_limit(bench, best)) {
      bench.found.unknown(t.key, "the ports of the SMs limit what goes to memory");
      continue;
    }
    // What fewer threads reach as well is the memory's limit; else latency is.
    const double fewer = memory_bandwidth(bench, t, threads / 2, std::max(1u, best_blocks), part);
    if (fewer < 0.85 * best) {
      bench.found.unknown(
          t.key,
          fmt::format(
              "{} blocks of {} threads on each SM do not saturate it: {:.4g} GB/s, half of them {:.4g}",
              best_blocks, threads, best / 1e9, fewer / 1e9));
      continue;
    }
    bench.found.once(
        t.key, best, "B/s",
        fmt::format("difference of two launches over {} and {} KiB a stream, {} blocks of {} threads an SM",
                    part >> 10, part >> 9, best_blocks, threads),
        2 * curve.points.size(), curve.name);
  }
}

// Loads of all SMs from little of L2, while all of them go on. What half of the threads, or other lines, do
// not give as well is not what L2 gives.
void of_l2(Bench& bench, std::uint32_t threads, std::uint32_t blocks, std::uint64_t data,
           std::uint64_t bytes) {
  const std::uint32_t sms = bench.board.facts().sms;
  Loads loads{"ld.global.cg.v4.u32 V, [%l0+O];",
              static_cast<std::uint32_t>(std::bit_floor(bytes)),
              4,
              true,
              line_distance,
              Where::everywhere};
  // Long beside what the blocks come apart, and a round of all warps; on large devices it need not be longer.
  loads.cycles = std::max<std::uint64_t>(8192, 65536 / std::max(1u, sms / 4));
  const auto rate = [&](std::uint32_t of) { return 16.0 * 32 * load_rate(bench, loads, data, of, blocks); };
  const double all = rate(threads), half = rate(threads / 2);
  const auto clock = bench.found.value("sm.clock");
  const std::string method =
      fmt::format("loads of all SMs from {} KiB in two lengths of time, {} blocks of {} threads an SM",
                  loads.range >> 10, blocks, threads);
  if (clock) bench.found.once("bandwidth.l2", all * *clock, "B/s", method, 1);
  const char* key = "l2.bytes_per_cycle";
  if (std::abs(half / all - 1) > 0.015)
    return bench.found.unknown(
        key,
        fmt::format("{} threads on each SM read {:.4g} B/cycle, half of them {:.4g}: no level is reached",
                    blocks * threads, all, half));
  if (clock && ports_limit(bench, all * *clock))
    return bench.found.unknown(key, "the ports of the SMs limit what is read from L2");
  loads.distance = other_distance;
  const double others = rate(threads);
  if (std::abs(others / all - 1) > 0.015)
    return bench.found.unknown(
        key,
        fmt::format("all SMs read {:.4g} B/cycle, and {:.4g} of other lines: some slices wait for others",
                    all, others));
  // None of them can be more than L2 gives.
  bench.found.once(key, std::max({all, half, others}), "B/cycle",
                   method + "; the most of these, of half of the threads, and of other lines", 3);
  // One SM gets no more through its port than L2 gives to all.
  if (const auto port = bench.found.value("interconnect.sm_bytes_per_cycle"); port && *port > 0.88 * all)
    bench.found.unknown("interconnect.sm_bytes_per_cycle", "L2 itself gives no more than one SM took");
}

// Stores to little of memory, again and again: faster than memory takes them, they stay in L2; as fast as to
// much of it, although L2 could do more, they do not.
void written_back(Bench& bench) {
  const auto peak = bench.found.value("dram.bandwidth"), near = bench.found.value("bandwidth.l2.write"),
             reads = bench.found.value("bandwidth.l2"), far = bench.found.value("bandwidth.write");
  if (peak && near && *near > 1.15 * *peak)
    bench.found.word(
        "l2.write_policy", "write_back",
        fmt::format("stores to what L2 holds reach {:.4g} GB/s, more than memory's interface takes",
                    *near / 1e9),
        2);
  else if (peak && near && reads && far && *reads > 1.3 * *peak && std::abs(*near / *far - 1) < 0.1)
    bench.found.word(
        "l2.write_policy", "write_through",
        fmt::format("stores to what L2 holds reach {:.4g} GB/s, as many as to memory, and reads more",
                    *near / 1e9),
        2);
  else
    bench.found.unknown(
        "l2.write_policy",
        "stores to what L2 holds are neither faster than memory's interface nor as fast as to memory");
}

void probe_bandwidth(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const std::uint32_t block = std::min(facts.max_threads_per_block, 1024u),
                      threads = std::min(facts.max_threads_per_block, 512u);
  const Finding* l1 = bench.found.find("l1.latency");
  of_one_sm(bench, block, l1 != nullptr && l1->known() && facts.l1_caches_global != false);
  const std::uint32_t blocks = std::max(1u, facts.max_threads_per_sm / threads);
  // From L2 alone only what is small beside it.
  if (const std::uint64_t l2 = facts.l2_bytes.value_or(0),
      least = std::uint64_t{16} * threads * blocks * facts.sms;
      l2 != 0 && least > l2 / 2) {
    bench.found.unknown("l2.bytes_per_cycle", "a load of all threads takes up more than half of L2");
  } else if (l2 != 0) {
    const std::uint64_t bytes = std::min<std::uint64_t>(l2 / 4, 4 << 20);
    const Bench::Buffer data(bench, std::max<std::uint64_t>(bytes + 4 * other_distance, 3 * least));
    of_l2(bench, threads, blocks, data.address(), bytes);
    for (const Traffic& t : l2_traffic)
      if (t.streams * least <= l2 / 2)
        bench.found.once(
            t.key, l2_bandwidth(bench, t, threads, blocks, data.address(), bytes), "B/s",
            fmt::format(
                "difference of two launches over {} KiB again and again, {} blocks of {} threads an SM",
                bytes >> 10, blocks, threads),
            2);
  }
  sent_by_one_sm(bench, block);
  of_memory(bench, threads, blocks);
  written_back(bench);
}

}  // namespace

extern constinit const Kind kind_bandwidth{
    "bandwidth", "Bytes per second of L1, L2 and memory, of one SM and of all; read, write, copy, triad",
    probe_bandwidth, "issue cache misses", 100};

}  // namespace simtlab::probe

// Bytes a second. Of one SM: loads in two lengths of time by its own clock. Of the whole GPU: the difference of a long and a short launch by the events of the stream.
#include <fmt/format.h>

#include <algorithm>

#include "probe/kinds.h"
#include "probe/ring.h"
#include "probe/sampling.h"
#include "probe/timed.h"

namespace simtlab::probe {
namespace {

// Loads of warps a cycle: 16 bytes a thread from a range that stays in the cache, or one word for all.
double load_rate(Bench& bench, const char* load, std::uint64_t data, std::uint32_t threads, std::uint32_t blocks, std::uint32_t range, unsigned repetitions) {
  Timed t;
  t.setup = fmt::format("shl.b32 %r0, %thread, 4; and.b32 %r0, %r0, {}; cvt.u64.u32 %l0, %r0; add.u64 %l0, %l0, %a; mov.u32 %r12, 0;", range == 0 ? 0 : range - 1);
  const std::string text = load;
  t.body = [text](unsigned n) {
    std::string out = text;
    const unsigned first = n % 4 * 3;
    const auto put = [&](const char* what, const std::string& by) {
      for (std::size_t at = 0; (at = out.find(what, at)) != std::string::npos;) out.replace(at, 1, by);
    };
    put("V", fmt::format("{{%r{0}, %r{1}, %r13, %r14}}", first, first + 1));
    put("W", fmt::format("%r{}", first));
    if (n % 4 == 3) out += " xor.b32 %r12, %r12, %r0; xor.b32 %r12, %r12, %r3; xor.b32 %r12, %r12, %r6; xor.b32 %r12, %r12, %r9;";
    return out;
  };
  t.finish = "cvt.u64.u32 %l15, %r12;";
  TimedRun run;
  run.a = data, run.threads = threads, run.blocks = blocks;
  t.repetitions = repetitions;
  return rate_of_timed(bench, t, run, 150'000);
}

void of_one_sm(Bench& bench, std::uint32_t threads, bool l1) {
  const Bench::Buffer data(bench, 256 << 10);
  bench.board.fill(data.address(), std::byte{0}, data.bytes());
  const std::uint32_t blocks = std::max(1u, bench.board.facts().max_threads_per_sm / threads);
  const auto report = [&](const char* key, const char* unit, double units, const char* load, std::uint32_t range, unsigned repetitions, const char* what) {
    const auto rate = [&](std::uint32_t warps) { return units * load_rate(bench, load, data.address(), 32 * warps, blocks, range, repetitions); };
    const Estimate e = estimate(sample([&] { return rate(threads / 32); }, bench.options.quick ? 1 : 5));
    // What half of the warps reach is no limit of theirs.
    const double half = rate(std::max(1u, threads / 64));
    // A load and what uses it are two instructions (one and a half where logic takes three operands).
    const double issue = bench.found.value_or("sm.schedulers", 4) * bench.found.value_or("sm.issue_width", 1) * units / (bench.board.facts().cc_major >= 5 ? 1.5 : 2);
    if (e.value > 0.88 * issue && units == 32) return bench.found.unknown(key, "issuing the instructions that use what is loaded takes as long");
    if (half < 0.985 * e.value) return bench.found.unknown(key, fmt::format("{} threads on one SM do not saturate it: {:.4g} {}, half of them {:.4g}", blocks * threads, e.value, unit, half));
    bench.found.measured(key, e.value, unit, e.interval, fmt::format("{} in two lengths of time, {} threads on one SM", what, blocks * threads), e.samples);
  };
  if (l1) {
    report("l1.bytes_per_cycle", "B/cycle", 16.0 * 32, "ld.global.ca.v4.u32 V, [%l0];", 8192, 32, "loads of 16 bytes a thread from 8 KiB");
    report("throughput.load", "/cycle", 32, "ld.global.ca.u32 W, [%l0];", 0, 256, "loads of one word by all threads");
  }
  report("interconnect.sm_bytes_per_cycle", "B/cycle", 16.0 * 32, "ld.global.cg.v4.u32 V, [%l0];", 16384, 8, "loads of 16 bytes a thread past L1");
}

// A thread reads (writes, copies, adds up) 16 bytes at its own place, then as many threads further, `count` times; the whole `rounds` times.
// The kernels differ in what they do at one place.
std::string stream_text(const char* name, const char* access) {
  return fmt::format(R"(
.visible .entry {}(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 count, .param .u32 rounds, .param .u64 out)
{{
  .reg .pred %q; .reg .b32 %i, %n, %t, %m, %k, %r<12>, %s; .reg .b64 %x, %y, %z, %o, %at, %px, %py, %pz, %step;
  ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; ld.param.u64 %z, [z]; ld.param.u32 %m, [rounds]; ld.param.u64 %o, [out];
  mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %n, %t;
  mul.wide.u32 %at, %i, 16;
  mov.u32 %t, %nctaid.x; mul.lo.u32 %t, %t, %n; mul.wide.u32 %step, %t, 16;
  mov.u32 %s, 0; mov.b32 %r8, 0; mov.b32 %r9, 0; mov.b32 %r10, 0; mov.b32 %r11, 0;
ROUND:
  add.u64 %px, %x, %at; add.u64 %py, %y, %at; add.u64 %pz, %z, %at;
  ld.param.u32 %k, [count];
PLACE:
  {}
  add.u64 %px, %px, %step; add.u64 %py, %py, %step; add.u64 %pz, %pz, %step;
  sub.u32 %k, %k, 1;
  setp.ne.u32 %q, %k, 0;
  @%q bra PLACE;
  sub.u32 %m, %m, 1;
  setp.ne.u32 %q, %m, 0;
  @%q bra ROUND;
  setp.ne.u32 %q, %s, 0x12345;
  @%q bra END;
  st.global.u32 [%o], %s;
END:
  ret;
}}
)", name, access);
}

std::string stream_texts() {
  return stream_text("read", "ld.global.cg.v4.u32 {%r0, %r1, %r2, %r3}, [%px]; xor.b32 %r0, %r0, %r1; xor.b32 %r2, %r2, %r3; add.u32 %s, %s, %r0; add.u32 %s, %s, %r2;") +
         stream_text("write", "st.global.v4.u32 [%px], {%r8, %r9, %r10, %r11};") +
         stream_text("copy", "ld.global.cg.v4.u32 {%r0, %r1, %r2, %r3}, [%px]; st.global.v4.u32 [%py], {%r0, %r1, %r2, %r3};") +
         stream_text("triad",
                     "ld.global.cg.v4.f32 {%r0, %r1, %r2, %r3}, [%px]; ld.global.cg.v4.f32 {%r4, %r5, %r6, %r7}, [%py]; fma.rn.f32 %r0, %r4, 0f40400000, %r0; fma.rn.f32 %r1, %r5, 0f40400000, %r1; "
                     "fma.rn.f32 %r2, %r6, 0f40400000, %r2; fma.rn.f32 %r3, %r7, 0f40400000, %r3; st.global.v4.f32 [%pz], {%r0, %r1, %r2, %r3};");
}

class Streams {
 public:
  Streams(Bench& bench, std::uint32_t threads, std::uint32_t blocks_per_sm) : bench_(bench), out_(bench, 256), threads_(threads), blocks_(bench.board.facts().sms * blocks_per_sm) {}

  std::uint64_t step() const { return std::uint64_t{16} * threads_ * blocks_; }   // bytes of one access of all threads

  // Nanoseconds of a launch.
  double time(const char* kernel, std::uint64_t x, std::uint64_t y, std::uint64_t z, std::uint32_t count, std::uint32_t rounds) {
    bench_.check_interrupt();
    ++bench_.launches;
    gpu::Board::Launch launch;
    launch.function = bench_.kernel(text_, kernel);
    launch.grid = {blocks_, 1, 1}, launch.block = {threads_, 1, 1};
    launch.arguments = gpu::Arguments(x, y, z, count, rounds, out_.address());
    const auto begin = bench_.board.record(0);
    bench_.board.launch(launch);
    return bench_.board.elapsed_ns(begin, bench_.board.record(0));
  }

 private:
  Bench& bench_;
  const Bench::Buffer out_;
  const std::string text_ = stream_texts();
  std::uint32_t threads_, blocks_;
};

// What stays in L2, read by all SMs.
double l2_bandwidth(Bench& bench, std::uint32_t threads, std::uint32_t blocks_per_sm, std::uint64_t data, std::uint64_t bytes) {
  Streams s(bench, threads, blocks_per_sm);
  const auto count = static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes / s.step(), 1));
  s.time("read", data, data, data, count, 1);
  const std::uint32_t rounds = std::max<std::uint32_t>(1, static_cast<std::uint32_t>((4 << 20) / (count * s.step())));
  const double once = s.time("read", data, data, data, count, rounds), thrice = s.time("read", data, data, data, count, 3 * rounds);
  return static_cast<double>(2 * rounds) * count * static_cast<double>(s.step()) / (thrice - once) * 1e9;
}

// All SMs together take no more than their ports do.
bool ports_limit(const Bench& bench, double bytes_per_second) {
  const auto port = bench.found.value("interconnect.sm_bytes_per_cycle"), clock = bench.found.value("sm.clock");
  return port && clock && bytes_per_second > 0.88 * *port * bench.board.facts().sms * *clock;
}

struct Traffic { const char* kernel; const char* key; unsigned streams; bool reads; };
constexpr Traffic traffic[] = {{"read", "dram.read_bandwidth_measured", 1, true}, {"write", "bandwidth.write", 1, false}, {"copy", "dram.bandwidth_measured", 2, false}, {"triad", "bandwidth.triad", 3, false}};

// From memory: nothing that is read has been read before; what is written has to leave L2 again, so a launch before fills it with what was written.
double memory_bandwidth(Bench& bench, const Traffic& what, std::uint32_t threads, std::uint32_t blocks_per_sm, std::uint64_t part) {
  Streams s(bench, threads, blocks_per_sm);
  const auto count = static_cast<std::uint32_t>(std::max<std::uint64_t>(part / s.step(), 1));
  const std::uint64_t bytes = count * s.step();
  const Bench::Buffer room(bench, 4 * bytes * what.streams);
  bench.board.fill(room.address(), std::byte{0}, room.bytes());
  if (what.reads) flush(bench);
  const auto at = [&](std::uint64_t number, unsigned stream) { return room.address() + (stream * 4 + number) * bytes; };
  const auto launch = [&](std::uint64_t number, std::uint32_t parts) { return s.time(what.kernel, at(number, 0), at(number, what.streams > 1 ? 1 : 0), at(number, what.streams > 2 ? 2 : 0), count * parts, 1); };
  launch(what.reads ? 3 : 0, 1);
  const double once = launch(what.reads ? 0 : 1, 1), twice = launch(what.reads ? 1 : 2, 2);
  return static_cast<double>(bytes * what.streams) / (twice - once) * 1e9;
}

void of_memory(Bench& bench, std::uint32_t threads, std::uint32_t most_blocks) {
  const std::uint64_t l2 = bench.board.facts().l2_bytes.value_or(8 << 20);
  for (const Traffic& t : traffic) {
    if (!t.reads && bench.options.quick && l2 > (8 << 20)) continue;
    const std::uint64_t part = t.reads ? 12 << 20 : std::max<std::uint64_t>(12 << 20, l2 * 5 / 4);
    Series curve{fmt::format("{}.occupancy", t.key), "blocks/SM", "B/s", {}, {}};
    double best = 0;
    std::uint32_t best_blocks = 0;
    for (std::uint32_t blocks = most_blocks; blocks >= 1; blocks /= 2) {
      const double rate = memory_bandwidth(bench, t, threads, blocks, part);
      curve.points.insert(curve.points.begin(), {static_cast<double>(blocks), rate});
      if (rate > best * 1.005) best = rate, best_blocks = blocks;
      if (!t.reads || bench.options.quick) break;
    }
    bench.found.series(curve);   // also where no value can be read from it
    if (ports_limit(bench, best)) {
      bench.found.unknown(t.key, "the ports of the SMs limit what goes to memory");
      continue;
    }
    // What fewer threads reach as well is the memory's limit; else latency is.
    const double fewer = memory_bandwidth(bench, t, threads / 2, std::max(1u, best_blocks), part);
    if (fewer < 0.85 * best) {
      bench.found.unknown(t.key, fmt::format("{} blocks of {} threads on each SM do not saturate it: {:.4g} GB/s, half of them {:.4g}", best_blocks, threads, best / 1e9, fewer / 1e9));
      continue;
    }
    bench.found.once(t.key, best, "B/s", fmt::format("difference of two launches over {} and {} MiB a stream, {} blocks of {} threads an SM", part >> 20, part >> 19, best_blocks, threads),
                     2 * curve.points.size(), curve.name);
  }
}

void of_l2(Bench& bench, const Estimate& e, double clock) {
  const double rate = e.value / clock;
  bench.found.measured("l2.bytes_per_cycle", rate, "B/cycle", {e.interval.low / clock, e.interval.high / clock}, "the bandwidth of L2 over the clock of the SMs", e.samples);
  // One SM gets no more through its port than L2 gives to all.
  if (const auto port = bench.found.value("interconnect.sm_bytes_per_cycle"); port && *port > 0.88 * rate)
    bench.found.unknown("interconnect.sm_bytes_per_cycle", "L2 itself gives no more than one SM took");
}

void probe_bandwidth(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  const std::uint32_t block = std::min(facts.max_threads_per_block, 1024u), threads = std::min(facts.max_threads_per_block, 512u);
  const Finding* l1 = bench.found.find("l1.latency");
  of_one_sm(bench, block, l1 != nullptr && l1->known() && facts.l1_caches_global != false);
  const std::uint32_t blocks = std::max(1u, facts.max_threads_per_sm / threads);
  // From L2 alone only what is small beside it.
  if (const std::uint64_t l2 = facts.l2_bytes.value_or(0), least = std::uint64_t{16} * threads * blocks * facts.sms; l2 != 0 && least > l2 / 2) {
    bench.found.unknown("l2.bytes_per_cycle", "a load of all threads takes up more than half of L2");
  } else if (l2 != 0) {
    const std::uint64_t bytes = std::min<std::uint64_t>(l2 / 4, 4 << 20);
    const Bench::Buffer data(bench, std::max<std::uint64_t>(bytes, std::uint64_t{16} * threads * blocks * facts.sms));
    const Estimate e = estimate(sample([&] { return l2_bandwidth(bench, threads, blocks, data.address(), bytes); }, 3));
    bench.found.measured("bandwidth.l2", e.value, "B/s", e.interval, fmt::format("difference of two launches that read {} KiB again and again, {} blocks of {} threads an SM", bytes >> 10, blocks, threads), e.samples);
    const auto clock = bench.found.value("sm.clock");
    const double half = l2_bandwidth(bench, threads / 2, blocks, data.address(), bytes);
    if (half < 0.96 * e.value || half > 1.04 * e.value)
      bench.found.unknown("l2.bytes_per_cycle", fmt::format("{} threads on each SM read {:.4g} GB/s, half of them {:.4g}: no level is reached", blocks * threads, e.value / 1e9, half / 1e9));
    else if (ports_limit(bench, e.value))
      bench.found.unknown("l2.bytes_per_cycle", "the ports of the SMs limit what is read from L2");
    else if (clock)
      of_l2(bench, e, *clock);
  }
  of_memory(bench, threads, blocks);
}

}  // namespace

extern constinit const Kind kind_bandwidth{"bandwidth", "Bytes per second of L1, L2 and memory, of one SM and of all; read, write, copy, triad", probe_bandwidth, "issue cache", 100};

}  // namespace simtlab::probe

#include "studies/validate/probe.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "base/team.h"
#include "exec/arguments.h"
#include "exec/executor.h"
#include "timing/timing.h"

namespace simtlab::studies::validate {
namespace {

constexpr std::uint64_t line = 128;
constexpr std::uint32_t loads_a_round = 8;  // of the kernel `chase`
constexpr std::uint64_t measured_loads = 2048;
constexpr std::uint32_t block_threads = 1024;
// What a block reads in one round of the kernel `read`
constexpr std::uint64_t round_bytes = 4 * 16 * block_threads;
constexpr std::uint64_t chunk = 64 << 10;  // of the kernel `turns`
// Chosen after looking: docs/lab/validation.md, "What is off, and doubtful"
constexpr std::uint32_t short_turns = 3, long_turns = 12;
// A difference of so much is a steady state even of the largest GPU
constexpr std::uint64_t streamed = 12 << 20;

// The text with its loads going past L1.
std::string past_l1(std::string text) {
  for (std::size_t at = 0; (at = text.find("ld.global.ca", at)) != std::string::npos;)
    text.replace(at, 12, "ld.global.cg");
  return text;
}

}  // namespace

struct Probe::Impl {
  Impl(const device::Device& d, const std::string& ptx, const volatile bool* interrupt)
      : device(d),
        options{.interrupt = interrupt, .threads = usable_threads(0)},
        memory(std::uint64_t{8} << 30, 0),
        through(ptx::load_module("validate.ptx", ptx), memory),
        past(ptx::load_module("validate.ptx", past_l1(ptx)), memory),
        out(allocate(64)) {}

  std::uint64_t allocate(std::uint64_t bytes) {
    const auto address = memory.allocate(bytes, "probe", 2 << 20);
    SIMTLAB_ASSERT(address, "probes are smaller than the simulated memory");
    return *address;
  }

  // Bytes of a buffer for a while.
  struct Buffer {
    Buffer(Impl& i, std::uint64_t bytes) : impl(i), address(i.allocate(bytes)) {}
    ~Buffer() { impl.memory.release(address); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Impl& impl;
    std::uint64_t address;
  };

  template <class... T>
  double run(timing::CycleGpu& gpu, const exec::LoadedModule& module, const char* kernel,
             std::uint32_t blocks, std::uint32_t threads, T... arguments) {
    exec::LaunchParams p;
    p.module = &module;
    p.function =
        static_cast<std::uint32_t>(module.module().find_function(kernel) - module.module().functions.data());
    p.grid = {blocks, 1, 1};
    p.block = {threads, 1, 1};
    p.sm_count = device.sm.count;
    p.max_warps_per_sm = device.sm.max_warps;
    p.clock_hz = device.sm_clock_hz;
    const std::vector<std::byte> packed = exec::pack_arguments(arguments...);
    p.params = packed;
    const exec::Launch launch(p, memory);
    return gpu.run(launch).metrics.get("gpu.cycles").value_or(0);
  }

  // What is measured on a board has run before: its instructions are in the caches. Data elsewhere, so that
  // none of that measured is.
  void warm_up_chase(timing::CycleGpu& gpu) {
    const Buffer self(*this, line);
    memory.write(self.address, std::as_bytes(std::span(&self.address, 1)));
    run(gpu, through, "chase", 1, 1, self.address, 1u, 1u, out);
  }
  void warm_up_read(timing::CycleGpu& gpu) {
    const Buffer small(*this, round_bytes);
    run(gpu, past, "read", wave(), block_threads, small.address, static_cast<std::uint32_t>(round_bytes / 4),
        1u, 1u, 0u, out);
  }

  // Blocks that the GPU holds at once.
  std::uint32_t wave() const { return device.sm.count * std::max(device.sm.max_threads / block_threads, 1u); }

  double per_second(double bytes, double cycles) const {
    return cycles > 0 ? bytes / cycles * device.sm_clock_hz : 0;
  }

  const device::Device device;
  const timing::Options options;
  exec::GlobalMemory memory;
  exec::LoadedModule through, past;
  std::uint64_t out;
};

Probe::Probe(const device::Device& device, const std::string& ptx, const volatile bool* interrupt)
    : impl_(std::make_unique<Impl>(device, ptx, interrupt)) {}
Probe::~Probe() = default;

double Probe::chase(std::uint64_t bytes) {
  Impl& m = *impl_;
  const std::uint64_t lines = std::max<std::uint64_t>(bytes / line, loads_a_round);
  // Far beyond L2 nothing of an earlier pass is left, so no earlier pass is made, and only what is walked
  // over is written.
  const bool steady = static_cast<double>(bytes) < 1.6 * static_cast<double>(m.device.l2.bytes);
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0u);
  const std::uint64_t walked = steady ? lines : std::min(lines - 1, measured_loads + loads_a_round);
  Rng random(1);
  for (std::size_t i = 0; i < std::min(walked + 1, lines); ++i)
    std::swap(order[i], order[i + random.below(lines - i)]);
  const Impl::Buffer ring(m, lines * line);
  for (std::uint64_t i = 0; i < walked; ++i) {
    const std::uint64_t next = ring.address + order[(i + 1) % lines] * line;
    m.memory.write(ring.address + order[i] * line, std::as_bytes(std::span(&next, 1)));
  }
  timing::CycleGpu gpu(m.device, m.options);
  m.warm_up_chase(gpu);
  // A ring in L1 is walked several times, as L1 is empty at the start; a long one once, plus what the rounds
  // of eight leave over.
  const std::uint64_t warm = !steady ? 0 : std::max<std::uint64_t>(lines, 64) + loads_a_round;
  const auto rounds =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(lines, 256, measured_loads) / loads_a_round);
  m.run(gpu, m.through, "chase", 1, 1, ring.address + order[0] * line,
        static_cast<std::uint32_t>(warm / loads_a_round), rounds, m.out);
  std::uint64_t cycles = 0;
  m.memory.read(m.out, std::as_writable_bytes(std::span(&cycles, 1)));
  return static_cast<double>(cycles) / (rounds * loads_a_round);
}

double Probe::cache_bandwidth(std::uint64_t bytes) {
  Impl& m = *impl_;
  const auto quarter = static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes / 64, 1) * 16);
  const std::uint64_t size = 4 * std::uint64_t{quarter};
  const Impl::Buffer data(m, size);
  timing::CycleGpu gpu(m.device, m.options);
  // SMs share nothing up to L1: a few stand for all. L1 starts empty: the shorter run fills it, the longer
  // one does the same and more, so much more that what the two overlap at their ends does not count.
  const bool in_l1 = m.device.l1_caches_global && size <= m.device.l1.bytes;
  const std::uint32_t blocks = in_l1 ? std::min(m.device.sm.count, 4u) : m.device.sm.count;
  const auto cycles_of = [&](std::uint64_t rounds) {
    return m.run(gpu, m.through, "read", blocks, block_threads, data.address, quarter,
                 static_cast<std::uint32_t>(rounds), 1u, 0u, m.out);
  };
  const std::uint64_t pass = (size + round_bytes - 1) / round_bytes, more = in_l1 ? 4 * pass + 32 : pass + 1;
  cycles_of(pass);  // fills L2
  const double once = cycles_of(pass);
  return m.per_second(static_cast<double>(more * round_bytes) * m.device.sm.count,
                      cycles_of(pass + more) - once);
}

// Reads chunk after chunk, `chunks` of them in turn: the difference of a long and a short run.
double Probe::turns(std::uint32_t chunks, std::uint32_t warm) {
  Impl& m = *impl_;
  const Impl::Buffer data(m, chunks * chunk);
  timing::CycleGpu gpu(m.device, m.options);
  const std::uint32_t wave = m.wave();
  std::uint32_t shift = 0, spread = 5;
  while (std::gcd(spread, wave) != 1) ++spread;
  const auto cycles_of = [&](std::uint32_t turns) {
    const double cycles =
        m.run(gpu, m.past, "turns", wave, block_threads, data.address, chunks, turns, shift, spread, m.out);
    shift = static_cast<std::uint32_t>((shift + std::uint64_t{turns} * wave) % chunks);
    return cycles;
  };
  m.warm_up_read(gpu);
  // Each part of L2 has to see all chunks, and the SMs meet them in an order that changes from turn to turn.
  if (warm > 0) cycles_of((warm + wave - 1) / wave * (warm == chunks ? 1 + m.device.l2_partitions : 1));
  const double once = cycles_of(short_turns);
  return m.per_second(static_cast<double>(long_turns - short_turns) * wave * chunk,
                      cycles_of(long_turns) - once);
}

double Probe::shared_bandwidth(std::uint64_t bytes) {
  const auto chunks = static_cast<std::uint32_t>(std::max<std::uint64_t>(bytes / chunk, 1));
  // Nothing of what was read more than L2's size ago is left.
  const auto most = static_cast<std::uint32_t>(1.5 * static_cast<double>(impl_->device.l2.bytes) /
                                               static_cast<double>(chunk));
  // Where nothing is read twice, nothing need be read before
  return turns(chunks, chunks > (short_turns + long_turns) * impl_->wave() ? 0 : std::min(chunks, most));
}

// Blocks of two rounds one after the other, as benchmarks of memory have them; nothing is read twice. Whole
// waves: a part of one would leave SMs without work in one run and not in the other.
double Probe::memory_read() {
  Impl& m = *impl_;
  constexpr std::uint64_t bytes = 2 * round_bytes;
  const std::uint32_t wave = m.wave(), chunks = 3 * wave;
  const Impl::Buffer data(m, chunks * bytes);
  timing::CycleGpu gpu(m.device, m.options);
  const auto cycles_of = [&](std::uint32_t blocks, std::uint32_t shift) {
    return m.run(gpu, m.past, "read", blocks, block_threads, data.address,
                 static_cast<std::uint32_t>(bytes / 4), 2u, chunks, shift, m.out);
  };
  m.warm_up_read(gpu);
  const double once = cycles_of(wave, 0);
  return m.per_second(static_cast<double>(wave) * bytes, cycles_of(2 * wave, wave) - once);
}

double Probe::memory_scale() {
  Impl& m = *impl_;
  // The first kernel fills L2 with dirty lines, so that those after it write back as much as they write. What
  // a launch costs falls out of the difference of two: boards were measured by arrays that hide it.
  const std::uint64_t bytes =
      std::max<std::uint64_t>(streamed, static_cast<std::uint64_t>(m.device.l2.bytes) * 5 / 4);
  const std::uint64_t part = bytes / 4 / 512 * 512;
  const Impl::Buffer from(m, 2 * bytes + part), to(m, 2 * bytes + part);
  timing::CycleGpu gpu(m.device, m.options);
  const auto cycles_of = [&](std::uint64_t offset, std::uint64_t size) {
    const auto count = static_cast<std::uint32_t>(size / 16);
    return m.run(gpu, m.through, "scale", (count + 511) / 512, 512, from.address + offset,
                 to.address + offset, count);
  };
  cycles_of(0, bytes);
  const double few = cycles_of(bytes, part);
  return m.per_second(2 * static_cast<double>(bytes - part), cycles_of(bytes + part, bytes) - few);
}

}  // namespace simtlab::studies::validate

// Speed of the DRAM model on one core: requests a second of each technology and pattern, and clocks a second
// when idle. One channel, a driver that offers one request a clock and keeps it until it is accepted. The
// rate counts CPU time.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "memory/dram/own_channels.h"

namespace {

using namespace simtlab;
using memory::Cycle;
namespace dram = memory::dram;

enum class Pattern { stream, random, mixed, conflict };

// Addresses are made beforehand: their making is not what is measured.
std::vector<dram::Access> requests(const dram::OwnChannels& memory, Pattern pattern, std::size_t count) {
  const dram::AddressMapping& map = memory.mapping();
  const std::uint64_t accesses = map.capacity() / map.access_bytes();
  std::mt19937_64 random(1);
  std::vector<dram::Access> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    dram::Access& a = made[i];
    a.tag = i;
    a.address = (pattern == Pattern::stream ? i % accesses : random() % accesses) * map.access_bytes();
    if (pattern == Pattern::mixed) a.write = random() % 3 == 0;
    if (pattern == Pattern::conflict) {
      dram::Place place;
      place.row = static_cast<std::uint32_t>(i % 1024);
      a.address = map.encode_local(place);
    }
  }
  return made;
}

Cycle drive(dram::OwnChannels& memory, const std::vector<dram::Access>& accesses, Cycle interval) {
  std::vector<dram::Completion> done;
  done.reserve(256);
  Cycle now = 0;
  std::size_t finished = 0;
  for (const dram::Access& access : accesses) {
    while (!memory.accepts(0, access)) {
      now = std::max(now, memory.next_event() + 1);
      memory.advance(now, done);
      finished += done.size();
      done.clear();
    }
    memory.add(0, access, now);
    now += interval;
    if (interval > 1) {
      memory.advance(now, done);
      finished += done.size();
      done.clear();
    }
  }
  while (finished < accesses.size()) {
    now = memory.next_event() + 1;
    memory.advance(now, done);
    finished += done.size();
    done.clear();
  }
  return now;
}

void run(benchmark::State& state, const char* technology, Pattern pattern, Cycle interval) {
  dram::OwnChannels memory(device::load_technology(technology).technology,
                           device::load_memory_controller("default").controller, 1);
  const std::vector<dram::Access> accesses = requests(memory, pattern, interval > 1 ? 2000 : 200000);
  Cycle cycles = 0;
  double share = 0;
  for (auto _ : state) {
    memory.restart();
    cycles += drive(memory, accesses, interval);
    state.PauseTiming();
    const dram::Report report = memory.report(cycles);
    share = report.bandwidth / report.peak_bandwidth;
    state.ResumeTiming();
  }
  const auto total = static_cast<double>(accesses.size()) * static_cast<double>(state.iterations());
  state.counters["requests/s"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["clocks/s"] = benchmark::Counter(static_cast<double>(cycles), benchmark::Counter::kIsRate);
  state.counters["share"] = share * static_cast<double>(state.iterations());
}

const int registered = [] {
  for (const char* technology : {"ddr4-2400", "ddr5-4800", "gddr6-14000", "hbm2-2000", "hbm3-h100"}) {
    const std::string prefix = std::string("dram/") + technology + "/";
    const auto add = [&](const char* name, Pattern pattern, Cycle interval) {
      benchmark::RegisterBenchmark((prefix + name).c_str(), run, technology, pattern, interval)
          ->Unit(benchmark::kMillisecond);
    };
    add("stream", Pattern::stream, 1);
    add("random", Pattern::random, 1);
    add("mixed", Pattern::mixed, 1);
    add("conflict", Pattern::conflict, 1);
    add("idle", Pattern::random, 100000);
  }
  return 0;
}();

}  // namespace

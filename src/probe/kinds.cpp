#include "probe/kinds.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace simtlab::probe {
namespace {

constexpr Kind table[] = {
    {"device", "What the driver tells", probe_device, ""},
    {"clock", "What reading the clock costs, and the clock's rate under load", probe_clock, "device"},
    {"arithmetic", "Latency and throughput of each operation, and the warps that the peak needs", probe_arithmetic, "device"},
    {"issue", "Schedulers of an SM and instructions that one issues in a cycle", probe_issue, "arithmetic"},
    {"shared", "Shared memory: latency, banks, their width, throughput, atomics", probe_shared, "device"},
    {"cache", "L1 and L2: latency, size, line, sector, ways, replacement", probe_cache, "device"},
    {"constant", "Constant cache: latency, size, line", probe_constant, "cache"},
    {"memory", "Latency of main memory, alone and under load", probe_memory, "cache"},
    {"tlb", "Translation of addresses: reach, page, cost of a miss", probe_tlb, "memory"},
    {"bandwidth", "Bytes per second of L1, L2 and memory, of one SM and of all; read, write, copy, triad", probe_bandwidth, "issue cache"},
    {"coalescing", "Cost of a warp's load by the stride of its lanes", probe_coalescing, "cache"},
    {"departure", "Departure delays: between loads of a warp, and between those of several", probe_departure, "cache memory"},
    {"atomic", "Atomics on global memory: latency, throughput on one address and on many", probe_atomic, "cache"},
    {"control", "Branches, divergence, barriers, fences", probe_control, "arithmetic issue"},
    {"launch", "Launching kernels: first, blocking, queued, as a graph; between blocks", probe_launch, "device"},
    {"copy", "Copies between host and device, pinned and pageable", probe_copy, "device"},
    {"occupancy", "Blocks and warps that an SM really holds", probe_occupancy, "device"},
};

// The chosen ones and what they need.
std::set<std::string_view> wanted(std::span<const std::string> chosen) {
  std::set<std::string_view> out;
  for (const Kind& kind : table)
    if (chosen.empty() || std::ranges::find(chosen, kind.name) != chosen.end()) out.insert(kind.name);
  for (auto kind = std::rbegin(table); kind != std::rend(table); ++kind) {
    if (!out.contains(kind->name)) continue;
    std::string_view needs = kind->needs;
    while (!needs.empty()) {
      const std::size_t end = std::min(needs.find(' '), needs.size());
      out.insert(needs.substr(0, end));
      needs.remove_prefix(std::min(end + 1, needs.size()));
    }
  }
  return out;
}

}  // namespace

std::span<const Kind> kinds() { return table; }

Outcome run_probes(Bench& bench, std::span<const std::string> chosen, const std::function<void(std::string_view)>& begun) {
  Outcome outcome;
  const std::set<std::string_view> names = wanted(chosen);
  for (const Kind& kind : table) {
    if (!names.contains(kind.name)) continue;
    if (begun) begun(kind.name);
    try {
      bench.check_interrupt();
      kind.run(bench);
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) {
        outcome.interrupted = true;
        return outcome;
      }
      outcome.failed.push_back(std::string(kind.name) + ": " + error.what());
      // A device that is gone answers nothing any more.
      if (error.code() == ExitCode::unavailable) {
        outcome.lost = true;
        return outcome;
      }
    }
  }
  return outcome;
}

}  // namespace simtlab::probe

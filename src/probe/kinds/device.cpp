// What the driver tells: facts, not measurements.
#include <fmt/format.h>

#include "probe/kinds.h"

namespace simtlab::probe {
namespace {

// Compute capability to generation (CUDA C++ Programming Guide; names as in the device files).
const char* architecture_of(int major, int minor) {
  switch (major) {
    case 1: return "tesla";
    case 2: return "fermi";
    case 3: return "kepler";
    case 5: return "maxwell";
    case 6: return "pascal";
    case 7: return minor >= 5 ? "turing" : "volta";
    case 8: return minor == 9 ? "ada" : "ampere";
    case 9: return "hopper";
    default: return major >= 10 ? "blackwell" : "";
  }
}

void probe_device(Bench& bench) {
  const gpu::BoardFacts& f = bench.board.facts();
  Findings& found = bench.found;
  const std::string told = f.simulated ? "device file of the simulated board" : "driver";
  found.word("product", f.name, told);
  found.word("compute_capability", fmt::format("{}.{}", f.cc_major, f.cc_minor), told);
  if (const std::string architecture = architecture_of(f.cc_major, f.cc_minor); !architecture.empty())
    found.word("architecture", architecture, "compute capability");
  const auto count = [&](const char* key, std::uint64_t value, const char* unit = "") {
    if (value != 0) found.exact(key, static_cast<double>(value), unit, told);
  };
  count("sm.count", f.sms);
  count("sm.max_threads", f.max_threads_per_sm);
  count("sm.max_warps", f.max_threads_per_sm / f.warp_size);
  count("sm.max_blocks", f.max_blocks_per_sm);
  count("sm.max_threads_per_block", f.max_threads_per_block);
  count("sm.registers", f.registers_per_sm);
  count("sm.shared_bytes", f.shared_bytes_per_sm, "B");
  count("sm.shared_bytes_per_block", f.shared_bytes_per_block, "B");
  count("sm.shared_bytes_per_block_optin", f.shared_bytes_per_block_optin, "B");
  found.exact("sm.shared_reserved_per_block", static_cast<double>(f.shared_reserved_per_block), "B", told);
  if (f.sm_clock_hz) found.exact("sm.clock", *f.sm_clock_hz, "Hz", told + ": the highest");
  if (f.memory_clock_hz) found.exact("memory_clock", *f.memory_clock_hz, "Hz", told);
  count("dram.bytes", f.memory_bytes, "B");
  count("l2.bytes", f.l2_bytes.value_or(0), "B");
  if (f.memory_clock_hz && f.bus_bits)
    found.exact("dram.bandwidth", 2 * *f.memory_clock_hz * *f.bus_bits / 8, "B/s",
                told + ": two transfers a clock on the whole bus");
  if (f.l1_caches_global) found.word("l1.caches_global", *f.l1_caches_global ? "true" : "false", told);
}

}  // namespace

extern constinit const Kind kind_device{"device", "What the driver tells", probe_device, "", 10};

}  // namespace simtlab::probe

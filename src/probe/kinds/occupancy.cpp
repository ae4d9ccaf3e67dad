// Blocks that an SM holds at once, beside the driver's word.
#include <fmt/format.h>

#include <algorithm>

#include "probe/kinds.h"
#include "probe/residency.h"

namespace simtlab::probe {
namespace {

void compare_blocks(Bench& bench, const std::string& key, std::uint32_t threads, std::uint32_t shared_bytes) {
  const auto function = resident_kernel(bench);
  const std::uint32_t told = bench.board.blocks_per_sm(function, threads, shared_bytes),
                      seen = blocks_seen(bench, function, threads, shared_bytes);
  if (seen == told)
    bench.found.exact(
        key, seen, "",
        fmt::format("blocks of {} threads seen on one SM at once; the driver says the same", threads));
  else
    bench.found.unknown(
        key, fmt::format("{} blocks of {} threads were seen on one SM at once, the driver says {}", seen,
                         threads, told));
}

void probe_occupancy(Bench& bench) {
  const gpu::BoardFacts& facts = bench.board.facts();
  compare_blocks(bench, "occupancy.blocks.32", 32, 0);
  compare_blocks(bench, "occupancy.blocks.256", std::min(256u, facts.max_threads_per_block), 0);
  compare_blocks(bench, "occupancy.blocks.shared", 64,
                 static_cast<std::uint32_t>(facts.shared_bytes_per_block / 2));
}

}  // namespace

extern constinit const Kind kind_occupancy{"occupancy", "Blocks and warps that an SM really holds",
                                           probe_occupancy, "device", 170};

}  // namespace simtlab::probe

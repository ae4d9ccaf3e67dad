// What a cache study does; the geometry of the caches is the device's (l1.*, l2.*).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "device/device.h"

namespace simtlab::cache {

// When a warp waits for data: `block`: at the end of a basic block, since compilers put its loads before
// their first use; `use`: at the first use in the order of the PTX.
enum class Wait : std::uint8_t { block, use };
// How long a turn of a warp lasts: to where it has to wait, or to its next access.
enum class Turn : std::uint8_t { batch, access };
enum class Allocate : std::uint8_t { on_miss, on_fill };  // when a line gets its place in L1

// Numbers from first to last, both included.
struct Range {
  std::uint64_t first = 0, last = ~std::uint64_t{0};
  bool has(std::uint64_t n) const { return n >= first && n <= last; }
  bool all() const { return first == 0 && last == ~std::uint64_t{0}; }
  bool operator==(const Range&) const = default;
};

struct Options {
  // Who accesses next: an OrderPolicy (order.h), of warps, as on a GPU, or of single threads, whose accesses
  // are not coalesced. Empty: the one that is named like the device's warp scheduler.
  std::string order;
  std::uint32_t warp_size = 0;    // of an order of threads: so many take turns together; 0: one
  bool alternate_blocks = false;  // of an order of threads: blocks take turns, too (turn_numbers.h)
  std::uint32_t fetch_group = 0;  // of the order two_level: warps that are active at once; 0: eight
  bool zero_latency = false;      // misses are filled at once and nobody waits
  // A store that takes a place and does not fill its sectors fetches the rest of them, as caches do that do
  // not keep which bytes of a line they have
  bool fetch_on_write = false;
  bool l2 = true;                 // L2 behind the L1 caches, shared by all SMs
  std::string prefetch = "none";  // what L1 fetches ahead: a PrefetchPolicy (prefetcher.h)
  Allocate allocate = Allocate::on_miss;
  Wait wait = Wait::block;
  Turn turn = Turn::batch;
  // Of miss latencies, SM cycles: the deviation of a half-normal distribution that is added; it stands for
  // the queues of a loaded GPU, which are not modelled. Below 0: 0.8 times dram.latency, calibrated on the
  // stencil of data/measured/crawford.csv (docs/lab/cache.md).
  double jitter = -1;
  // SM cycles between the first blocks of an SM and of the next one; calibrated on the transposition there
  double skew = 50;
  // Simulated; blocks are dealt to all in turn then, those of other SMs are left out
  Range sms;
  Range groups;         // studied; the other blocks of a launch are left out
  bool effects = true;  // what is left out is executed, for somebody looks at what the kernel leaves (the GPU
                        // does it, not the study)
  double sample = 1;    // share of the lines whose reuse distances are followed
  std::uint32_t pictures = 0;  // points of the access pictures; 0: none
  std::uint64_t seed = 0;      // of the random order and random replacement
  // What one SM has asked DRAM for comes to another one no sooner. Off in cache studies, whose free numbers
  // (jitter, skew) were calibrated without; on where the latencies that loads meet are wanted.
  bool l2_in_flight = false;
  bool operator==(const Options&) const = default;
};

std::string_view name_of(Allocate allocate);
std::string_view name_of(Wait wait);
std::string_view name_of(Turn turn);
bool orders_threads(std::string_view order);  // not the empty one: the device's is of warps

// With the order that these options mean on the device; single threads have no time, so what misses is there
// at once. Throws Error(unsupported, "cache-order") if no order of warps has the name of the device's
// scheduler.
Options on_device(Options options, const device::Device& device);

// As text: "order=gto,zero_latency=1,sms=0-3"; what is default is left out. parse_options() throws
// Error(usage, "cache-option"); seed: unless the text has one.
std::string to_text(const Options& options);
Options parse_options(std::string_view text, std::uint64_t seed = 0);

}  // namespace simtlab::cache

// Metrics of cache studies: pure data. What L1 and L2 count in both kinds of run stands in registry.cpp.
#include "result/registry_cache.h"

namespace simtlab::result {
namespace {

using enum Combine;

constexpr MetricDeclaration rows[] = {
    {"access.requests", "1",
     "Warp instructions that access global, local or texture memory; with an order of threads as well.",
     "kernel", "", "", sum, ""},
    {"access.threads", "1", "Accesses of threads in them.", "kernel", "", "", sum, ""},
    {"access.lines", "1", "Lines of 128 bytes that they touch after coalescing.", "kernel", "", "", sum, ""},
    {"access.sectors", "1", "Sectors of 32 bytes that they touch after coalescing.", "kernel", "", "", sum,
     ""},
    {"access.bytes", "bytes",
     "Different bytes that the threads of a request ask for, summed over the requests.", "kernel", "", "",
     sum, ""},
    {"access.use", "1", "Share of the bytes of the touched sectors that threads ask for.", "kernel",
     "access.bytes / (32 * access.sectors)", "", weighted, "access.sectors"},

    {"l1.read.misses.cold", "1", "Misses of L1 on what its SM never read before in this launch.", "kernel",
     "", "", sum, ""},
    {"l1.read.misses.partial", "1",
     "Misses of L1 on what stores had only begun: it had some bytes of the sector, the rest is fetched.",
     "kernel", "", "", sum, ""},
    {"l1.read.misses.capacity", "1",
     "Misses of L1 that a fully associative LRU cache of equal size has as well.", "kernel", "", "", sum, ""},
    {"l1.read.misses.conflict", "1",
     "Misses of L1 that a fully associative LRU cache of equal size would not have.", "kernel", "", "", sum,
     ""},
    {"l1.read.misses.invalidated", "1", "Misses of L1 on what a store or an atomic threw out.", "kernel", "",
     "", sum, ""},
    {"l1.read.hits.beyond_lru", "1",
     "Hits of L1 that a fully associative LRU cache of equal size would not have; prefetched lines count "
     "here.",
     "kernel", "", "", sum, ""},
    {"l1.read.reuse.warp", "1", "Hits (pending ones too) of L1 on a line that the same warp touched last.",
     "kernel", "", "", sum, ""},
    {"l1.read.reuse.block", "1", "Hits of L1 on a line that another warp of the block touched last.",
     "kernel", "", "", sum, ""},
    {"l1.read.reuse.grid", "1", "Hits of L1 on a line that a warp of another block touched last.", "kernel",
     "", "", sum, ""},
    {"l1.read.stalled", "1",
     "Reads of L1 that waited for an MSHR or for a place in their set; they count as hits or misses besides.",
     "kernel", "", "", sum, ""},
    {"l1.read.accesses.median", "1", "Reads of the median SM, of those that ran blocks.", "kernel", "", "",
     none, ""},
    {"l1.read.accesses.min", "1", "Reads of the SM with the fewest.", "kernel", "", "", none, ""},
    {"l1.read.accesses.max", "1", "Reads of the SM with the most.", "kernel", "", "", none, ""},
    {"l1.read.misses.median", "1", "L1 misses of the median SM.", "kernel", "", "", none, ""},
    {"l1.read.misses.min", "1", "L1 misses of the SM with the fewest.", "kernel", "", "", none, ""},
    {"l1.read.misses.max", "1", "L1 misses of the SM with the most.", "kernel", "", "", none, ""},
    {"l1.read.miss_rate.median", "1", "L1 miss rate of the median SM.", "kernel", "", "", none, ""},
    {"l1.read.miss_rate.min", "1", "L1 miss rate of the SM with the lowest.", "kernel", "", "", none, ""},
    {"l1.read.miss_rate.max", "1", "L1 miss rate of the SM with the highest.", "kernel", "", "", none, ""},
    {"l1.fetched.bytes", "bytes", "Bytes that L1 fetched from L2.", "kernel", "", "", sum, ""},
    {"l1.fetched.used", "bytes",
     "Of them, bytes that threads read before the line was fetched again or the kernel ended.", "kernel", "",
     "", sum, ""},
    {"l1.fetched.use", "1", "Share of the fetched bytes that threads read.", "kernel",
     "l1.fetched.used / l1.fetched.bytes", "", weighted, "l1.fetched.bytes"},
    {"l1.prefetches", "1", "Lines that were fetched before anybody asked for them.", "kernel", "", "", sum,
     ""},
    {"l1.writebacks", "1", "Sectors that L1 wrote back to L2.", "kernel", "", "", sum, ""},

    {"l2.read.misses.cold", "1", "Misses of L2 on what was never read or written before.", "kernel", "", "",
     sum, ""},
    {"l2.read.misses.partial", "1",
     "Misses of L2 on what stores had only begun: it had some bytes of the sector, the rest is fetched.",
     "kernel", "", "", sum, ""},
    {"l2.read.misses.capacity", "1",
     "Misses of L2 that a fully associative LRU cache of equal size has as well.", "kernel", "", "", sum, ""},
    {"l2.read.misses.conflict", "1",
     "Misses of L2 that a fully associative LRU cache of equal size would not have.", "kernel", "", "", sum,
     ""},
    {"l2.read.misses.invalidated", "1", "Misses of L2 on what was thrown out.", "kernel", "", "", sum, ""},
    {"l2.read.hits.beyond_lru", "1",
     "Hits of L2 that a fully associative LRU cache of equal size would not have.", "kernel", "", "", sum,
     ""},
    {"l2.read.reuse.warp", "1", "Hits of L2 on a line that the same warp touched last.", "kernel", "", "",
     sum, ""},
    {"l2.read.reuse.block", "1", "Hits of L2 on a line that another warp of the block touched last.",
     "kernel", "", "", sum, ""},
    {"l2.read.reuse.grid", "1", "Hits of L2 on a line that a warp of another block touched last.", "kernel",
     "", "", sum, ""},
    {"host.rate.thread_accesses", "1/s", "Accesses of threads studied per second of processor time.", "host",
     "access.threads / processor time", "", none, ""},
};

}  // namespace

std::span<const MetricDeclaration> cache_metrics() { return rows; }

}  // namespace simtlab::result

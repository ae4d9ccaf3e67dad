// What a study counts: for a cache, an instruction, a buffer.
#pragma once

#include <cstdint>

namespace simtlab::cache {

// Reads of one cache. Unit: sectors, or lines where the cache has none.
struct ReadCounts {
  std::uint64_t accesses = 0, hits = 0, pending = 0, misses = 0;
  std::uint64_t cold = 0, partial = 0, capacity = 0, conflict = 0, invalidated = 0;  // misses by their cause
  // Hits that a fully associative LRU cache of equal size would not have
  std::uint64_t lucky = 0;
  std::uint64_t same_warp = 0, same_block = 0, other_block = 0;  // hits, by who touched the line before
  void add(const ReadCounts& o) {
    accesses += o.accesses, hits += o.hits, pending += o.pending, misses += o.misses;
    cold += o.cold, partial += o.partial, capacity += o.capacity, conflict += o.conflict,
        invalidated += o.invalidated;
    lucky += o.lucky, same_warp += o.same_warp, same_block += o.same_block, other_block += o.other_block;
  }
};

struct WriteCounts {
  std::uint64_t accesses = 0, hits = 0, misses = 0;
  void add(const WriteCounts& o) { accesses += o.accesses, hits += o.hits, misses += o.misses; }
};

struct CacheCounts {
  ReadCounts read;
  WriteCounts write;
  // By misses; of them, read by threads before the line was fetched again
  std::uint64_t bytes_fetched = 0, bytes_used = 0;
  std::uint64_t bytes_fetched_by_writes = 0;  // Options::fetch_on_write
  // Reads that waited for an MSHR or for a place in their set
  std::uint64_t stalled = 0;
  std::uint64_t prefetches = 0, writebacks = 0;
  void add(const CacheCounts& o) {
    read.add(o.read), write.add(o.write);
    bytes_fetched += o.bytes_fetched, bytes_used += o.bytes_used;
    bytes_fetched_by_writes += o.bytes_fetched_by_writes;
    stalled += o.stalled, prefetches += o.prefetches, writebacks += o.writebacks;
  }
};

// Accesses of one instruction or to one buffer.
struct AccessCounts {
  std::uint64_t requests = 0;  // warp instructions
  std::uint64_t threads = 0;   // threads of them
  std::uint64_t sectors = 0;   // of 32 bytes, after coalescing
  std::uint64_t lines = 0;     // of 128 bytes, after coalescing
  std::uint64_t bytes = 0;     // different ones that threads ask for
  ReadCounts l1;
  std::uint64_t l2_accesses = 0, l2_misses = 0;  // reads
  // Of loads: from the access to the last of its data, SM cycles in the study's own time
  std::uint64_t waited = 0;
  void add(const AccessCounts& o) {
    requests += o.requests, threads += o.threads, sectors += o.sectors, lines += o.lines, bytes += o.bytes;
    l1.add(o.l1);
    l2_accesses += o.l2_accesses, l2_misses += o.l2_misses, waited += o.waited;
  }
};

struct SetCounts {
  std::uint64_t accesses = 0, misses = 0, conflicts = 0;
};

}  // namespace simtlab::cache

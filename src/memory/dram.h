// What lies below the L2 slices. Event-driven: nothing is done between next_event() and the call of advance().
// DramSimple (latency and bandwidth) implements it now; a command-level controller comes behind the same interface.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/time.h"

namespace simtlab::memory {

struct DramRequest {
  std::uint32_t partition = 0;
  std::uint64_t line = 0;        // partition-local 128-byte line
  std::uint8_t sectors = 0;      // 32-byte sectors of the line, already widened to whole accesses
  bool write = false;
  std::uint64_t tag = 0;         // given back when done
};

struct DramDone {
  std::uint64_t tag = 0;
  std::uint32_t partition = 0;
  bool write = false;
  std::uint8_t sectors = 0;
};

struct DramStatistics {
  std::uint64_t read_bytes = 0, write_bytes = 0;
  std::uint64_t row_hits = 0, row_misses = 0;
};

class Dram {
 public:
  virtual ~Dram() = default;
  // Room for another request in the partition's queue.
  virtual bool ready(std::uint32_t partition, Cycle now) const = 0;
  // Only when ready. now never goes back.
  virtual void push(const DramRequest& request, Cycle now) = 0;
  // Earliest cycle at which advance() will have something to report; never if idle.
  virtual Cycle next_event() const = 0;
  // Appends what finished at or before now, in a fixed order. Writes are reported when they leave the queue.
  virtual void advance(Cycle now, std::vector<DramDone>& done) = 0;
  virtual DramStatistics statistics() const = 0;
  // Statistics and clock start again; what was under way is dropped.
  virtual void restart() = 0;
};

}  // namespace simtlab::memory

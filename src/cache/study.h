// The cache study of a GPU: every launch through the L1 of each SM and the L2 that they share.
//
// Executes (or replays) a launch in an order of the user's choice, and counts. No cycles: with latencies
// there is a time of its own that decides which access comes first, but what it says about time is no
// prediction (simtlab run makes one).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cache/access_log.h"
#include "cache/buffers.h"
#include "cache/counts.h"
#include "cache/options.h"
#include "device/device.h"
#include "device/occupancy.h"
#include "result/metrics.h"
#include "stream/warp_source.h"

namespace simtlab {
struct Pulse;
}

namespace simtlab::cache {

struct StudyState;

class Study {
 public:
  Study(const device::Device& device, const Options& options);
  ~Study();

  struct Launch {
    const stream::WarpSource* source = nullptr;
    device::Occupancy occupancy;
    std::vector<Buffer> buffers;  // by name
    const volatile bool* interrupt = nullptr;
    Pulse* pulse = nullptr;        // where it tells how far it is; null: nobody looks
    std::uint64_t max_cycles = 0;  // of the study's own time; 0: no limit
    // A sample: once so many warp instructions were executed and so many blocks begun, no further blocks
    // begin. 0: the whole launch.
    std::uint64_t enough_instructions = 0, least_blocks = 0;
    std::uint64_t first_block = 0;  // those before it were executed by somebody else
    std::uint64_t max_bytes = 0;    // of the host, for what is known of each line; 0: no limit
    // Where somebody besides the launch may still write what its blocks wait for, though not before it has
    // ended: throws, in the place of Fault(deadlock). Null: nobody may.
    std::function<void()> waits_for_others{};
    AccessLog* log = nullptr;  // null: nobody wants it
  };
  // Metrics and tables of the launch. Throws Error; partial() has what was counted then.
  result::KernelResult run(const Launch& launch);
  result::KernelResult partial() const;
  // What the launch had moved when it had begun so many blocks. Bytes.
  struct Mark {
    std::uint64_t blocks = 0, warp_instructions = 0;
    std::uint64_t l2 = 0, dram_read = 0, dram_write = 0;
  };
  // Of the last launch: one for each wave of blocks at least, the last one when it ended.
  const std::vector<Mark>& marks() const;
  // Blocks of the last launch that it left to others, in the order of their numbers: not chosen
  // (Options::sms, Options::groups) or beyond its sample. Those before Launch::first_block are not among
  // them.
  struct Blocks {
    std::uint64_t first = 0, count = 0;
  };
  std::vector<Blocks> left_out() const;
  // What an instruction of the last launch accessed; null if the study has not met its function.
  const AccessCounts* counts(const ptx::Function& function, std::uint32_t pc) const;
  // Median and range over SMs, of all launches together.
  void add_totals(result::Metrics& total) const;
  std::uint64_t thread_accesses() const;  // of all launches

 private:
  std::unique_ptr<StudyState> impl_;
};

}  // namespace simtlab::cache

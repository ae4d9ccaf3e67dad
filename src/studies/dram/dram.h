// simtlab dram: what its options say, and the run that they ask for (dram_run.cpp, dram_check.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "studies/common/options.h"
#include "studies/common/outcome.h"
#include "studies/common/output.h"
#include "studies/dram/memory.h"

namespace simtlab::studies {

struct DramOptions {
  MemoryOptions memory;
  RunOptions given;
  OutputOptions output;
  std::string trace, format, generate;
  std::string line = "64", stride, footprint, core_clock;
  std::optional<std::uint64_t> requests, interval;
  std::optional<std::uint32_t> per_clock, core_window;
  double read_share = 1;
  bool wrap = false, sweep = false;
  std::string commands, command_format = "simtlab", timeline;
  std::uint64_t from = 0, to = 0;
  bool check = false;
  std::string check_commands;  // a command trace to check, instead of a run
};

// Drives the memory. The options must live as long as what it returns. Throws Error.
Outcome run_dram(DramOptions& options);

// Replays the command trace by the rules of the technology. Throws Error(check_failed, "dram-rule") for the
// first that is broken.
Outcome check_command_trace(const DramOptions& options);

}  // namespace simtlab::studies

// The commands of a DRAM channel, as the controller issues them and as traces and the checker know them.
#pragma once

#include <cstdint>
#include <string_view>

#include "memory/time.h"

namespace simtlab::memory::dram {

// Row: act, pre (one bank), prea (all banks of a rank). Column: rd, wr and, with automatic precharge, rda,
// wra. Upkeep: ref (all banks of a rank), refpb (one bank), pde and pdx (enter and leave power-down of a
// rank), sre and srx (enter and leave self-refresh of a rank).
enum class Command : std::uint8_t { act, pre, prea, rd, rda, wr, wra, ref, refpb, pde, pdx, sre, srx };
inline constexpr unsigned command_count = 13;

constexpr std::string_view name(Command command) {
  constexpr std::string_view names[command_count] = {"ACT", "PRE",   "PREA", "RD",  "RDA", "WR", "WRA",
                                                     "REF", "REFPB", "PDE",  "PDX", "SRE", "SRX"};
  return names[static_cast<unsigned>(command)];
}

constexpr bool is_read(Command c) { return c == Command::rd || c == Command::rda; }
constexpr bool is_write(Command c) { return c == Command::wr || c == Command::wra; }
constexpr bool is_column(Command c) { return is_read(c) || is_write(c); }
constexpr bool closes(Command c) { return c == Command::rda || c == Command::wra; }

// A command on the bus. Fields below the command's scope are 0: a ref names a rank, a pre a bank, only act
// and column commands a row, only column commands a column (in accesses of one burst).
struct CommandRecord {
  Cycle at = 0;  // clock of the technology
  Command command = Command::act;
  std::uint8_t pseudo = 0;  // pseudo-channel
  std::uint8_t rank = 0;
  std::uint8_t group = 0;  // bank group within the rank
  std::uint8_t bank = 0;   // bank within the group
  std::uint32_t channel = 0;
  std::uint32_t row = 0;
  std::uint32_t column = 0;
};

// Receives the commands of a channel in the order of their cycles.
class CommandSink {
 public:
  virtual ~CommandSink() = default;
  virtual void command(const CommandRecord& record) = 0;
};

}  // namespace simtlab::memory::dram

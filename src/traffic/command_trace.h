// The commands of a run as a text file, one a line, in the order of their cycles within a channel.
//
// simtlab, after a line "# simtlab commands":
//   cycle command channel pseudo-channel rank bank-group bank row column     (row and column hexadecimal)
//   0 ACT 0 0 0 1 2 0x1a 0x0
// dramsim3, as DRAMsim3 writes and Verilog benches read it:
//   0                  activate               0   0   1   2     0x1a      0x0
// DRAMsim3 has no pseudo-channels (each becomes a channel), no precharge of all banks (each bank's own is
// written) and no power-down (left out).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"
#include "device/technology.h"
#include "memory/dram/command.h"

namespace simtlab::traffic {

enum class CommandFormat : std::uint8_t { simtlab, dramsim3 };

// Throws Error(usage, "command-format").
CommandFormat command_format_named(std::string_view name);

class CommandTrace : public memory::dram::CommandSink {
 public:
  // Throws Error(failure, "file-write"), as do the others.
  CommandTrace(const std::filesystem::path& path, CommandFormat format, const device::Technology& technology);

  void command(const memory::dram::CommandRecord& record) override;
  void close() { file_.close(); }

 private:
  void as_dramsim3(const memory::dram::CommandRecord& record);

  FileWriter file_;
  CommandFormat format_;
  device::Technology::Organisation organisation_;
  std::string line_;
};

}  // namespace simtlab::traffic

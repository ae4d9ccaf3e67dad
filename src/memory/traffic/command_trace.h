// The commands of a run as a text file, in our own format or in that of DRAMsim3
// (memory/dram/command_trace.h), which Verilog benches read. DRAMsim3 has no pseudo-channels (each becomes a
// channel), no precharge of all banks (each bank's own is written, in one clock; upkeep.precharge_all=false
// avoids it) and no power-down (left out).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"
#include "device/technology.h"
#include "memory/dram/command.h"

namespace simtlab::memory::traffic {

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

}  // namespace simtlab::memory::traffic

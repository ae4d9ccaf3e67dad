#include "memory/traffic/command_trace.h"

#include <fmt/format.h>

#include <iterator>

#include "base/error.h"
#include "base/shown.h"
#include "memory/dram/command_trace.h"

namespace simtlab::memory::traffic {

using memory::dram::Command;
using memory::dram::CommandRecord;

namespace {

// Empty: DRAMsim3 has no such command.
std::string_view dramsim3_name(Command command) {
  switch (command) {
    case Command::act: return "activate";
    case Command::pre:
    case Command::prea: return "precharge";
    case Command::rd: return "read";
    case Command::rda: return "read_p";
    case Command::wr: return "write";
    case Command::wra: return "write_p";
    case Command::ref: return "refresh";
    case Command::refpb: return "refresh_bank";
    case Command::sre: return "self_refresh_enter";
    case Command::srx: return "self_refresh_exit";
    case Command::pde:
    case Command::pdx: return {};
  }
  return {};
}

}  // namespace

CommandFormat command_format_named(std::string_view name) {
  if (name == "simtlab") return CommandFormat::simtlab;
  if (name == "dramsim3") return CommandFormat::dramsim3;
  throw Error(ExitCode::usage, "command-format", fmt::format("no format of command traces '{}'", shown(name)),
              "simtlab or dramsim3");
}

CommandTrace::CommandTrace(const std::filesystem::path& path, CommandFormat format,
                           const device::Technology& technology)
    : file_(path), format_(format), organisation_(technology.organisation) {
  if (format_ == CommandFormat::simtlab) file_.write(memory::dram::command_trace_header(technology.name));
}

void CommandTrace::command(const CommandRecord& r) {
  if (format_ == CommandFormat::dramsim3) return as_dramsim3(r);
  line_.clear();
  append_command(line_, r);
  file_.write(line_);
}

void CommandTrace::as_dramsim3(const CommandRecord& r) {
  const std::string_view word = dramsim3_name(r.command);
  if (word.empty()) return;
  const std::uint32_t channel = r.channel * organisation_.pseudo_channels + r.pseudo;
  line_.clear();
  const auto add = [&](unsigned group, unsigned bank) {
    fmt::format_to(std::back_inserter(line_), "{:<18} {:<20} {:>3} {:>3} {:>3} {:>3} {:>#8x} {:>#8x}\n", r.at,
                   word, channel, r.rank, group, bank, r.row, r.column);
  };
  if (r.command == Command::prea) {
    for (unsigned group = 0; group < organisation_.bank_groups; ++group)
      for (unsigned bank = 0; bank < organisation_.banks_per_group; ++bank) add(group, bank);
  } else {
    add(r.group, r.bank);
  }
  file_.write(line_);
}

}  // namespace simtlab::memory::traffic

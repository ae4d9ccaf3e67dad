#include "studies/dram/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "memory/dram/command_trace.h"
#include "memory/traffic/lines.h"
#include "report/format.h"
#include "studies/dram/dram.h"

namespace simtlab::studies {

using memory::dram::CommandChecker;
using memory::dram::CommandRecord;

void CheckedCommands::require(const CommandChecker& checker) {
  if (!checker.violation()) return;
  const memory::dram::Violation& v = *checker.violation();
  throw Error(ExitCode::check_failed, "dram-rule",
              fmt::format("channel {}: {}", v.command.channel, v.message),
              "docs/reference/memory-files.md says what the rules are; `simtlab config show --dram NAME "
              "--origin` where the values "
              "come from");
}

void CheckedCommands::command(const CommandRecord& record) {
  auto found = channels_.find(record.channel);
  if (found == channels_.end()) found = channels_.emplace(record.channel, CommandChecker(technology_)).first;
  found->second.command(record);
  require(found->second);
}

void CheckedCommands::finish(memory::Cycle end) {
  for (auto& [number, checker] : channels_) {
    checker.finish(end);
    require(checker);
  }
}

std::uint64_t CheckedCommands::commands() const {
  std::uint64_t sum = 0;
  for (const auto& [number, checker] : channels_) sum += checker.commands();
  return sum;
}

Outcome check_command_trace(const DramOptions& o) {
  const DrivenMemory memory = make_memory(o.memory);
  if (memory.system == nullptr)
    throw Error(ExitCode::unsupported, "plugin-commands", "nothing is known of the rules of a plug-in",
                "name a memory technology with --dram");
  const bool standard_input = o.check_commands == "-";
  memory::traffic::Lines lines(memory::traffic::decompressed(memory::traffic::file_bytes(
                                   standard_input ? "/dev/stdin" : o.check_commands)),
                               standard_input ? "<stdin>" : o.check_commands);
  memory::dram::CommandTraceReader reader(lines.name());
  CheckedCommands checked(memory.system->technology());
  CommandRecord record;
  memory::Cycle end = 0;
  std::string_view line;
  while (lines.next(line)) {
    if (!reader.read(line, record)) continue;
    end = std::max(end, record.at);
    try {
      checked.command(record);
    } catch (const Error& e) {
      Diagnostic d = e.diagnostics().front();
      d.pos = {lines.name(), static_cast<std::uint32_t>(lines.number()), 1};
      d.text = std::string(line);
      throw Error(e.code(), e.id(), std::move(d));
    }
  }
  if (checked.commands() == 0)
    throw Error(ExitCode::bad_input, "trace-empty", fmt::format("{}: the trace has no command", lines.name()),
                "is it the right file, and was it written to its end?");
  if (!reader.technology().empty() && reader.technology() != memory.name && !o.output.quiet)
    talk(fmt::format("note: the trace says that it is of {}\n", report::printable(reader.technology())));
  checked.finish(end);
  Outcome out;
  out.text = [commands = checked.commands(), name = memory.name](const report::Style&) {
    return fmt::format("{} commands keep the rules of {}\n", report::format_exact(commands), name);
  };
  return out;
}

}  // namespace simtlab::studies

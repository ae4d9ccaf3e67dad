// Command traces as text: our own format and the one of DRAMsim3.
//
//   # simtlab-commands 1 ddr4-2400
//   # cycle command channel pseudo-channel rank group bank row column
//   95 ACT 0 0 0 1 2 4660 0
//   112 RD 0 0 0 1 2 4660 17
//
// One command a line, all numbers decimal, fields below the command's scope 0; lines that begin with # are
// comments. The first line names the version of the format and the memory technology.
//
// DRAMsim3 (compiled with CMD_TRACE) writes a file for each channel: `clock command channel rank group bank
// row column`, row and column hexadecimal, -1 where a field has no meaning.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "memory/dram/command.h"

namespace simtlab::memory::dram {

// The comment lines at the beginning of a trace, with their line ends.
std::string command_trace_header(std::string_view technology);
// Appends one line.
void append_command(std::string& text, const CommandRecord& record);

// Reads a trace line by line; the first line decides the format.
class CommandTraceReader {
 public:
  explicit CommandTraceReader(std::string file) : file_(std::move(file)) {}

  // line: without its end. False: there is no command in it. Throws Error(bad_input, "dram-command-trace")
  // with the place.
  bool read(std::string_view line, CommandRecord& record);

  // What the header says; empty: nothing, as in traces of DRAMsim3.
  const std::string& technology() const { return technology_; }
  std::uint64_t lines() const { return line_; }

 private:
  struct Words;

  [[noreturn]] void refuse(std::string_view line, std::string_view word, std::string message,
                           std::string hint) const;
  void read_header(std::string_view line);
  std::uint64_t number(std::string_view line, std::string_view word, int base, std::uint64_t most) const;
  std::uint64_t field(Words& words, const char* name, bool meant, int base, std::uint64_t most) const;
  Command command_of(std::string_view line, std::string_view word) const;

  std::string file_, technology_;
  std::uint32_t line_ = 0;
  bool of_dramsim3_ = true;
  std::uint32_t channel_ = 0;  // of the line before: DRAMsim3 leaves it out here and there
};

}  // namespace simtlab::memory::dram

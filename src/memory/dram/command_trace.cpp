#include "memory/dram/command_trace.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/shown.h"

namespace simtlab::memory::dram {
namespace {

constexpr std::string_view header_start = "# simtlab-commands";
constexpr std::string_view version = "1";

constexpr std::array<std::pair<std::string_view, Command>, 10> dramsim3_names = {
    {{"read", Command::rd},
     {"read_p", Command::rda},
     {"write", Command::wr},
     {"write_p", Command::wra},
     {"activate", Command::act},
     {"precharge", Command::pre},
     {"refresh_bank", Command::refpb},
     {"refresh", Command::ref},
     {"self_refresh_enter", Command::sre},
     {"self_refresh_exit", Command::srx}}};

constexpr std::uint64_t max_channel = 65535;  // as of an address mapping; bounds what a checker keeps

constexpr bool names_a_bank(Command c) {
  return is_column(c) || c == Command::act || c == Command::pre || c == Command::refpb;
}

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

// The words of a line, one after the other.
struct CommandTraceReader::Words {
  std::string_view line, rest;

  std::string_view next() {
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    std::size_t length = 0;
    while (length < rest.size() && !is_blank(rest[length])) ++length;
    const std::string_view word = rest.substr(0, length);
    rest.remove_prefix(length);
    return word;
  }
};

std::string command_trace_header(std::string_view technology) {
  return fmt::format("{} {} {}\n# cycle command channel pseudo-channel rank group bank row column\n",
                     header_start, version, technology);
}

void append_command(std::string& text, const CommandRecord& r) {
  fmt::format_to(std::back_inserter(text), "{} {} {} {} {} {} {} {} {}\n", r.at, name(r.command), r.channel,
                 r.pseudo, r.rank, r.group, r.bank, r.row, r.column);
}

void CommandTraceReader::refuse(std::string_view line, std::string_view word, std::string message,
                                std::string hint) const {
  const std::string_view shown_line = line.substr(0, 500);
  const auto column = static_cast<std::uint32_t>(
      word.empty() ? line.size() : static_cast<std::size_t>(word.data() - line.data()));
  throw Error(
      ExitCode::bad_input, "dram-command-trace",
      Diagnostic{std::move(message), {file_, line_, column + 1}, std::string(shown_line), std::move(hint)});
}

std::uint64_t CommandTraceReader::number(std::string_view line, std::string_view word, int base,
                                         std::uint64_t most) const {
  std::string_view digits = word;
  if (base == 16 && digits.starts_with("0x")) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, code] = std::from_chars(digits.data(), end, value, base);
  if (code == std::errc{} && at == end && !digits.empty() && value <= most) return value;
  const bool large =
      code == std::errc::result_out_of_range || (code == std::errc{} && at == end && !digits.empty());
  refuse(line, word, fmt::format("'{}' is {}", shown(word, 30), large ? "too large" : "not a number"),
         base == 16 ? "a hexadecimal number belongs here" : "a decimal number belongs here");
}

std::uint64_t CommandTraceReader::field(Words& words, const char* name, bool meant, int base,
                                        std::uint64_t most) const {
  const std::string_view word = words.next();
  if (word.empty())
    refuse(words.line, {}, fmt::format("the line ends before the {}", name),
           of_dramsim3_ ? "DRAMsim3 writes: clock command channel rank group bank row column"
                        : "the format is: cycle command channel pseudo-channel rank group bank row column");
  if (!meant) return 0;
  return number(words.line, word, base, most);
}

Command CommandTraceReader::command_of(std::string_view line, std::string_view word) const {
  if (of_dramsim3_) {
    for (const auto& [known, command] : dramsim3_names)
      if (known == word) return command;
  } else {
    for (unsigned c = 0; c < command_count; ++c)
      if (name(static_cast<Command>(c)) == word) return static_cast<Command>(c);
  }
  refuse(line, word,
         word.empty() ? "the line has no command" : fmt::format("unknown command '{}'", shown(word, 30)),
         of_dramsim3_ ? "DRAMsim3 writes activate, read, read_p, write, write_p, precharge, refresh and so "
                        "on; a trace of "
                        "ours begins with \"# simtlab-commands 1 TECHNOLOGY\""
                      : "ACT, PRE, PREA, RD, RDA, WR, WRA, REF, REFPB, PDE, PDX, SRE or SRX");
}

void CommandTraceReader::read_header(std::string_view line) {
  Words words{line, line.substr(header_start.size())};
  const std::string_view found = words.next();
  if (found != version)
    refuse(line, found, fmt::format("version '{}' of the command trace", shown(found, 20)),
           fmt::format("this simtlab reads version {}", version));
  technology_ = std::string(words.next());
  of_dramsim3_ = false;
}

bool CommandTraceReader::read(std::string_view line, CommandRecord& record) {
  ++line_;
  if (line_ == 1 && line.starts_with(header_start)) read_header(line);
  Words words{line, line};
  const std::string_view clock = words.next();
  if (clock.empty() || clock.front() == '#') return false;
  CommandRecord r;
  r.at = number(line, clock, 10, never - 1);
  r.command = command_of(line, words.next());
  const bool bank = names_a_bank(r.command), column = is_column(r.command),
             row = column || r.command == Command::act;
  const int wide = of_dramsim3_ ? 16 : 10;
  constexpr std::uint64_t byte = 0xff, word = 0xffffffff;
  const std::string_view rest = words.rest;
  const bool no_channel = of_dramsim3_ && Words{line, rest}.next() == "-1";
  r.channel = static_cast<std::uint32_t>(field(words, "channel", !no_channel, 10, max_channel));
  channel_ = r.channel = no_channel ? channel_ : r.channel;
  if (!of_dramsim3_) r.pseudo = static_cast<std::uint8_t>(field(words, "pseudo-channel", true, 10, byte));
  r.rank = static_cast<std::uint8_t>(field(words, "rank", true, 10, byte));
  r.group = static_cast<std::uint8_t>(field(words, "bank group", bank, 10, byte));
  r.bank = static_cast<std::uint8_t>(field(words, "bank", bank, 10, byte));
  r.row = static_cast<std::uint32_t>(field(words, "row", row, wide, word));
  r.column = static_cast<std::uint32_t>(field(words, "column", column, wide, word));
  if (const std::string_view more = words.next(); !more.empty())
    refuse(line, more, fmt::format("'{}' is more than the format has on a line", shown(more, 30)),
           "remove it");
  record = r;
  return true;
}

}  // namespace simtlab::memory::dram

// Checks that a sequence of commands is one that the memory allows, knowing nothing of the controller that
// made it: from our own controller, from a trace file, from another simulator. The first rule that is broken
// is named:
//
//   tRCD_R: RD at 105 comes 10 clocks after ACT at 95 of bank 0.0.1.2; at least 17
//
// Banks are written pseudo-channel.rank.group.bank. Rules besides the distances of rules.h:
//
//   address       a field that the memory does not have
//   order         a command before the one that was given before it
//   command bus   more than one command in a clock; with dual issue: more than one for rows or for columns
//   power-down, self-refresh
//                 a command to a rank that is in one of them, an end of what was not begun
//   row state     ACT of an open bank, a read or write of a closed one or of another row, REF, REFPB or SRE
//   with a row open tFAW          more than four ACT of a rank in the window data bus      two transfers at
//   the same time on one pseudo-channel tREFI         a rank (or bank, where banks are refreshed one by one)
//   not refreshed for more than 9 tREFI: at most 8
//                 refreshes may be postponed
//   REF, REFPB    of a memory that has none
//
// A precharge of a closed bank is allowed, and tRP counts from it. Not checked, as no value says it: the
// distance of refreshes of different banks (tRREFD), turning the termination from write to write of two
// ranks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/technology.h"
#include "memory/dram/command.h"
#include "memory/dram/rules.h"

namespace simtlab::memory::dram {

struct Violation {
  std::string rule;     // "tRCD_R", "row state"
  std::string message;  // the whole sentence
  CommandRecord command;
  std::optional<CommandRecord> earlier;  // that it is too near to
  std::int64_t distance = 0,
               limit = 0;  // clocks between the two, and at least that; 0: the rule is no distance
};

// One channel; all banks are closed and freshly refreshed at cycle 0. Not a part of any simulation: it takes
// its time.
class CommandChecker final : public CommandSink {
 public:
  explicit CommandChecker(const device::Technology& technology);
  ~CommandChecker() override;
  CommandChecker(CommandChecker&&) noexcept;

  // Nothing more is looked at after the first violation.
  void command(const CommandRecord& record) override;
  // The channel ran until `end`: says whether a refresh is missing by then.
  void finish(Cycle end);

  const std::optional<Violation>& violation() const { return violation_; }
  std::uint64_t commands() const { return commands_; }  // that kept all rules

 private:
  struct Past;
  struct Node;
  struct Bank;
  struct Rank;

  Rank& rank_of(const CommandRecord& record);
  bool refuse(std::string rule, const CommandRecord& record, std::string what);
  bool refuse_near(std::string_view rule, const CommandRecord& record, const Past& past, std::int64_t limit);
  bool check_address(const CommandRecord& record);
  bool check_command_bus(const CommandRecord& record);
  bool check_power(const CommandRecord& record, const Rank& rank);
  bool check_row(const CommandRecord& record, Rank& rank);
  bool check_rules(const CommandRecord& record, Rank& rank);
  bool check_window(const CommandRecord& record, const Rank& rank);
  bool check_data_bus(const CommandRecord& record);
  bool check_refresh(const CommandRecord& record, Rank& rank);
  void note(const CommandRecord& record, Rank& rank);
  void note_automatic_precharge(const CommandRecord& record, Rank& rank);
  void note_power(const CommandRecord& record, Rank& rank);

  const device::Technology technology_;
  const std::vector<Rule> rules_;
  std::vector<std::unique_ptr<Rank>> ranks_;  // of all pseudo-channels
  struct Transfer {
    CommandRecord command;
    Cycle begin = 0, end = 0;
  };
  std::vector<std::array<Transfer, 2>> transfers_;  // of each pseudo-channel: the last read, the last write
  std::optional<CommandRecord> last_, last_row_, last_column_;
  std::optional<Violation> violation_;
  std::uint64_t commands_ = 0;
};

// The same for the commands of several channels; the first violation of any of them in the order in which
// they come.
class ChannelsChecker final : public CommandSink {
 public:
  explicit ChannelsChecker(const device::Technology& technology) : technology_(technology) {}
  void command(const CommandRecord& record) override;
  void finish(Cycle end);
  const std::optional<Violation>& violation() const { return violation_; }
  std::uint64_t commands() const;
  std::size_t channels() const { return channels_.size(); }  // that had a command

 private:
  const device::Technology technology_;
  std::map<std::uint32_t, CommandChecker> channels_;
  std::optional<Violation> violation_;
};

}  // namespace simtlab::memory::dram

#include "memory/dram/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace simtlab::memory::dram {
namespace {

constexpr Cycle max_postponed = 9;  // tREFI between two refreshes: 8 of them may be postponed

constexpr bool to_rank(Command c) {
  return c == Command::prea || c == Command::ref || c == Command::pde || c == Command::pdx ||
         c == Command::sre || c == Command::srx;
}

std::string place_of(const CommandRecord& r) {
  if (to_rank(r.command)) return fmt::format("rank {}.{}", r.pseudo, r.rank);
  return fmt::format("bank {}.{}.{}.{}", r.pseudo, r.rank, r.group, r.bank);
}

std::string text_of(const CommandRecord& r) { return fmt::format("{} at {}", name(r.command), r.at); }

std::int64_t distance(Cycle later, Cycle earlier) { return static_cast<std::int64_t>(later - earlier); }

}  // namespace

// A command that was. An automatic precharge lies in the future when it is noted.
struct CommandChecker::Past {
  CommandRecord record;
  bool automatic = false;
};

// The last of each command at one bank, bank group or rank. Of commands of one kind the last is the nearest.
struct CommandChecker::Node {
  std::array<std::optional<Past>, command_count> last;

  const std::optional<Past>& of(Command c) const { return last[static_cast<std::size_t>(c)]; }
  void note(const Past& past) {
    std::optional<Past>& slot = last[static_cast<std::size_t>(past.record.command)];
    if (!slot || slot->record.at <= past.record.at) slot = past;
  }
};

struct CommandChecker::Bank : Node {
  std::optional<std::uint32_t> open;  // row
  Cycle refreshed = 0;
};

struct CommandChecker::Rank : Node {
  explicit Rank(const device::Technology& t) : groups(t.organisation.bank_groups), banks(t.banks()) {}

  enum class Power : std::uint8_t { up, down, self_refresh };
  Power power = Power::up;
  Cycle refreshed = 0;                                      // whole rank: by REF, or on leaving self-refresh
  unsigned open = 0;                                        // banks
  std::array<std::optional<CommandRecord>, 4> activations;  // the last four, in a ring
  unsigned next_activation = 0;
  std::vector<Node> groups;
  std::vector<Bank> banks;
};

CommandChecker::CommandChecker(const device::Technology& technology)
    : technology_(technology),
      rules_(rules_of(technology)),
      ranks_(std::size_t{technology.organisation.pseudo_channels} * technology.organisation.ranks),
      transfers_(technology.organisation.pseudo_channels) {}

CommandChecker::~CommandChecker() = default;
CommandChecker::CommandChecker(CommandChecker&&) noexcept = default;

CommandChecker::Rank& CommandChecker::rank_of(const CommandRecord& r) {
  std::unique_ptr<Rank>& rank = ranks_[std::size_t{r.pseudo} * technology_.organisation.ranks + r.rank];
  if (!rank) rank = std::make_unique<Rank>(technology_);
  return *rank;
}

void CommandChecker::command(const CommandRecord& r) {
  if (violation_) return;
  if (!check_address(r) || !check_command_bus(r)) return;
  Rank& rank = rank_of(r);
  const bool kept = check_power(r, rank) && check_row(r, rank) && check_rules(r, rank) &&
                    check_window(r, rank) && check_data_bus(r) && check_refresh(r, rank);
  if (!kept) return;
  note(r, rank);
  ++commands_;
}

bool CommandChecker::refuse(std::string rule, const CommandRecord& r, std::string what) {
  Violation v;
  v.message = fmt::format("{}: {} of {} {}", rule, text_of(r), place_of(r), what);
  v.rule = std::move(rule);
  v.command = r;
  violation_ = std::move(v);
  return false;
}

bool CommandChecker::refuse_near(std::string_view rule, const CommandRecord& r, const Past& past,
                                 std::int64_t limit) {
  const std::int64_t clocks = distance(r.at, past.record.at);
  const std::string earlier =
      past.automatic ? fmt::format("the automatic precharge at {}", past.record.at) : text_of(past.record);
  const std::string here = place_of(r), there = place_of(past.record);
  Violation v;
  v.message = fmt::format("{}: {}{} comes {} clocks after {} of {}; at least {}", rule, text_of(r),
                          here == there ? "" : " of " + here, clocks, earlier, there, limit);
  v.rule = rule;
  v.command = r;
  v.earlier = past.record;
  v.distance = clocks;
  v.limit = limit;
  violation_ = std::move(v);
  return false;
}

bool CommandChecker::check_address(const CommandRecord& r) {
  const device::Technology::Organisation& o = technology_.organisation;
  const std::uint32_t columns = o.row_bytes / technology_.burst_bytes();
  const auto within = [&](const char* field, std::uint32_t value, std::uint32_t count) {
    return value < count ||
           refuse("address", r, fmt::format("names {} {}; there are {}", field, value, count));
  };
  return within("pseudo-channel", r.pseudo, o.pseudo_channels) && within("rank", r.rank, o.ranks) &&
         within("bank group", r.group, o.bank_groups) && within("bank", r.bank, o.banks_per_group) &&
         within("row", r.row, o.rows) && within("column", r.column, columns);
}

bool CommandChecker::check_command_bus(const CommandRecord& r) {
  if (last_ && r.at < last_->at)
    return refuse("order", r, fmt::format("is given after {} of {}", text_of(*last_), place_of(*last_)));
  // With dual issue there are two buses.
  std::optional<CommandRecord>& bus = is_column(r.command) ? last_column_ : last_row_;
  const std::optional<CommandRecord>& before = technology_.dual_issue ? bus : last_;
  if (before && before->at == r.at)
    return refuse("command bus", r,
                  fmt::format("comes in the same clock as {} of {}", text_of(*before), place_of(*before)));
  const std::uint32_t held = !before                           ? 0
                             : is_column(before->command)      ? technology_.column_clocks
                             : before->command == Command::act ? technology_.act_clocks
                                                               : 1;
  if (before && r.at < before->at + held)
    return refuse("command bus", r,
                  fmt::format("comes {} clocks after {} of {}, which takes {}", r.at - before->at,
                              text_of(*before), place_of(*before), held));
  bus = last_ = r;
  return true;
}

bool CommandChecker::check_power(const CommandRecord& r, const Rank& rank) {
  using Power = Rank::Power;
  const bool leaves_down = r.command == Command::pdx, leaves_self = r.command == Command::srx;
  if (leaves_down && rank.power != Power::down) return refuse("power-down", r, "ends what was not begun");
  if (leaves_self && rank.power != Power::self_refresh)
    return refuse("self-refresh", r, "ends what was not begun");
  if (rank.power == Power::down && !leaves_down)
    return refuse("power-down", r, "comes to a rank in power-down");
  if (rank.power == Power::self_refresh && !leaves_self)
    return refuse("self-refresh", r, "comes to a rank in self-refresh");
  return true;
}

bool CommandChecker::check_row(const CommandRecord& r, Rank& rank) {
  const Bank& bank = rank.banks[r.group * technology_.organisation.banks_per_group + r.bank];
  switch (r.command) {
    case Command::act:
      if (!bank.open) return true;
      return refuse("row state", r, fmt::format("finds row {:#x} open", *bank.open));
    case Command::rd:
    case Command::rda:
    case Command::wr:
    case Command::wra:
      if (!bank.open) return refuse("row state", r, "finds the bank closed");
      if (*bank.open == r.row) return true;
      return refuse("row state", r,
                    fmt::format("is for row {:#x}, but row {:#x} is open", r.row, *bank.open));
    case Command::ref:
    case Command::sre:
      if (rank.open == 0) return true;
      return refuse("row state", r,
                    fmt::format("finds {} bank{} open", rank.open, rank.open == 1 ? "" : "s"));
    case Command::refpb:
      if (!bank.open) return true;
      return refuse("row state", r, fmt::format("finds row {:#x} open", *bank.open));
    default: return true;
  }
}

bool CommandChecker::check_rules(const CommandRecord& r, Rank& rank) {
  const device::Technology::Organisation& o = technology_.organisation;
  const auto too_near = [&](const Rule& rule, const Node& node) {
    const Past* nearest = nullptr;
    rule.earlier.each([&](Command c) {
      const std::optional<Past>& past = node.of(c);
      if (past && (nearest == nullptr || past->record.at > nearest->record.at)) nearest = &*past;
    });
    if (nearest == nullptr || distance(r.at, nearest->record.at) >= rule.clocks) return false;
    refuse_near(rule.name, r, *nearest, rule.clocks);
    return true;
  };
  for (const Rule& rule : rules_) {
    if (!rule.later.has(r.command)) continue;
    bool broken = false;
    switch (rule.scope) {
      case Scope::bank: broken = too_near(rule, rank.banks[r.group * o.banks_per_group + r.bank]); break;
      case Scope::group: broken = too_near(rule, rank.groups[r.group]); break;
      case Scope::rank: broken = too_near(rule, rank); break;
      case Scope::other_rank:
        for (std::uint32_t other = 0; other < o.ranks && !broken; ++other) {
          const std::unique_ptr<Rank>& node = ranks_[std::size_t{r.pseudo} * o.ranks + other];
          broken = other != r.rank && node && too_near(rule, *node);
        }
    }
    if (broken) return false;
  }
  return true;
}

bool CommandChecker::check_window(const CommandRecord& r, const Rank& rank) {
  if (r.command != Command::act) return true;
  const std::optional<CommandRecord>& fourth = rank.activations[rank.next_activation];
  const std::int64_t limit = technology_.timing.tfaw;
  if (!fourth || distance(r.at, fourth->at) >= limit) return true;
  refuse_near("tFAW", r, {*fourth, false}, limit);
  violation_->message += ", as the fifth in a row";
  return false;
}

bool CommandChecker::check_data_bus(const CommandRecord& r) {
  if (!is_column(r.command)) return true;
  const device::Technology::Timing& t = technology_.timing;
  const Cycle begin = r.at + (is_read(r.command) ? t.cl : t.cwl), end = begin + t.burst;
  for (const Transfer& other : transfers_[r.pseudo]) {
    if (begin >= other.end || end <= other.begin) continue;
    return refuse("data bus", r,
                  fmt::format("moves data from {} to {}, {} of {} from {} to {}", begin, end,
                              text_of(other.command), place_of(other.command), other.begin, other.end));
  }
  transfers_[r.pseudo][is_write(r.command) ? 1 : 0] = {r, begin, end};
  return true;
}

// Leaving self-refresh, in which the memory refreshes itself, and the refresh itself may come late no more
// than others.
bool CommandChecker::check_refresh(const CommandRecord& r, Rank& rank) {
  const device::Refresh kind = technology_.refresh;
  const device::Technology::Timing& t = technology_.timing;
  if (r.command == Command::ref && (kind == device::Refresh::none || t.trfc == 0))
    return refuse("REF", r, "refreshes a memory that has no such command");
  if (r.command == Command::refpb && (kind == device::Refresh::none || t.trfc_pb == 0))
    return refuse("REFPB", r, "refreshes one bank of a memory that has no such command");
  if (kind == device::Refresh::none || r.command == Command::srx) return true;
  Cycle since = rank.refreshed;
  if (kind == device::Refresh::per_bank) {
    if (to_rank(r.command)) return true;
    since =
        std::max(since, rank.banks[r.group * technology_.organisation.banks_per_group + r.bank].refreshed);
  }
  const Cycle most = max_postponed * t.trefi;
  if (r.at - since <= most) return true;
  return refuse(
      "tREFI", r,
      fmt::format("comes {} clocks after the last refresh, which was due by {}", r.at - since, since + most));
}

void CommandChecker::note(const CommandRecord& r, Rank& rank) {
  const device::Technology::Organisation& o = technology_.organisation;
  Bank& bank = rank.banks[r.group * o.banks_per_group + r.bank];
  const Past past{r, false};
  rank.note(past);
  if (!to_rank(r.command)) {
    bank.note(past);
    rank.groups[r.group].note(past);
  }
  switch (r.command) {
    case Command::act:
      bank.open = r.row;
      ++rank.open;
      rank.activations[rank.next_activation] = r;
      rank.next_activation = (rank.next_activation + 1) % 4;
      break;
    case Command::pre:
      if (bank.open) --rank.open;
      bank.open.reset();
      break;
    case Command::prea:
      for (Bank& each : rank.banks) each.open.reset();
      rank.open = 0;
      break;
    case Command::rda:
    case Command::wra: note_automatic_precharge(r, rank); break;
    case Command::ref: rank.refreshed = r.at; break;
    case Command::refpb: bank.refreshed = r.at; break;
    default: note_power(r, rank);
  }
}

// It begins as soon as a precharge could be sent: after tRTP, the recovery of a write and tRAS.
void CommandChecker::note_automatic_precharge(const CommandRecord& r, Rank& rank) {
  const device::Technology::Timing& t = technology_.timing;
  Bank& bank = rank.banks[r.group * technology_.organisation.banks_per_group + r.bank];
  Past precharge{r, true};
  precharge.record.command = Command::pre;
  Cycle& at = precharge.record.at;
  const Cycle recovery = Cycle{t.cwl} + t.burst + t.twr;
  at += is_read(r.command) ? t.trtp : recovery;
  at = std::max(at, bank.of(Command::act)->record.at + t.tras);
  if (const std::optional<Past>& write = bank.of(Command::wr)) at = std::max(at, write->record.at + recovery);
  bank.note(precharge);
  rank.note(precharge);
  bank.open.reset();
  --rank.open;
}

void CommandChecker::note_power(const CommandRecord& r, Rank& rank) {
  using Power = Rank::Power;
  if (r.command == Command::pde) rank.power = Power::down;
  if (r.command == Command::sre) rank.power = Power::self_refresh;
  if (r.command == Command::pdx) rank.power = Power::up;
  if (r.command == Command::srx) {
    rank.power = Power::up;
    rank.refreshed = r.at;
  }
}

void CommandChecker::finish(Cycle end) {
  const Cycle most = max_postponed * technology_.timing.trefi;
  if (violation_ || technology_.refresh == device::Refresh::none || end <= most) return;
  const device::Technology::Organisation& o = technology_.organisation;
  CommandRecord r;
  r.at = end;
  const auto refuse_end = [&](const std::string& place, Cycle since) {
    violation_ = Violation{"tREFI",
                           fmt::format("tREFI: {} was not refreshed from {} to the end at {}; due by {}",
                                       place, since, end, since + most),
                           r,
                           {},
                           0,
                           0};
  };
  for (std::size_t i = 0; i < ranks_.size() && !violation_; ++i) {
    r.pseudo = static_cast<std::uint8_t>(i / o.ranks);
    r.rank = static_cast<std::uint8_t>(i % o.ranks);
    const Rank& rank = rank_of(r);
    if (rank.power == Rank::Power::self_refresh) continue;
    for (std::size_t b = 0; b < rank.banks.size() && !violation_; ++b) {
      const bool single = technology_.refresh == device::Refresh::per_bank;
      const Cycle since = single ? std::max(rank.refreshed, rank.banks[b].refreshed) : rank.refreshed;
      if (end - since <= most) continue;
      refuse_end(single ? fmt::format("bank {}.{}.{}.{}", r.pseudo, r.rank, b / o.banks_per_group,
                                      b % o.banks_per_group)
                        : fmt::format("rank {}.{}", r.pseudo, r.rank),
                 since);
    }
  }
}

void ChannelsChecker::command(const CommandRecord& record) {
  if (violation_) return;
  CommandChecker& checker = channels_.try_emplace(record.channel, technology_).first->second;
  checker.command(record);
  violation_ = checker.violation();
}

void ChannelsChecker::finish(Cycle end) {
  for (auto& [channel, checker] : channels_) {
    if (violation_) return;
    checker.finish(end);
    violation_ = checker.violation();
  }
}

std::uint64_t ChannelsChecker::commands() const {
  std::uint64_t sum = 0;
  for (const auto& [channel, checker] : channels_) sum += checker.commands();
  return sum;
}

}  // namespace simtlab::memory::dram

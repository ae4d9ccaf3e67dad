#include "memory/traffic/timeline.h"

#include <fmt/format.h>

#include <algorithm>

namespace simtlab::memory::traffic {

using memory::Cycle;
using memory::dram::Command;
using memory::dram::CommandRecord;

CommandTimeline::CommandTimeline(const std::filesystem::path& path, const device::Technology& technology,
                                 Cycle from, Cycle to)
    : file_(path), technology_(technology), from_(from), to_(to), last_(from) {
  file_.write("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
}

CommandTimeline::Track CommandTimeline::track(Kind kind, const CommandRecord& r) {
  Track t{kind, r.channel, r.pseudo, 0, 0, 0};
  if (kind == Kind::bus) return t;
  t.rank = r.rank;
  if (kind == Kind::rank) return t;
  t.group = r.group;
  t.bank = r.bank;
  return t;
}

std::string CommandTimeline::name(const Track& t) const {
  const device::Technology::Organisation& o = technology_.organisation;
  const std::string pseudo = o.pseudo_channels > 1 ? fmt::format("pseudo-channel {} ", t.pseudo) : "";
  if (t.kind == Kind::bus) return pseudo + "data bus";
  const std::string rank = o.ranks > 1 || t.kind == Kind::rank ? fmt::format("rank {} ", t.rank) : "";
  if (t.kind == Kind::rank) return pseudo + rank + "upkeep";
  const std::string group = o.bank_groups > 1 ? fmt::format("group {} ", t.group) : "";
  return pseudo + rank + group + fmt::format("bank {}", t.bank);
}

void CommandTimeline::event(std::string_view text) {
  file_.write(first_ ? "\n" : ",\n");
  first_ = false;
  file_.write(text);
}

// A new line gets its name; threads are sorted by their numbers: buses first, then ranks, then banks.
CommandTimeline::Line& CommandTimeline::line(const Track& t) {
  const auto [found, is_new] = lines_.try_emplace(t);
  if (is_new) {
    const device::Technology::Organisation& o = technology_.organisation;
    const unsigned banks = technology_.banks() * o.ranks;
    const unsigned number = t.kind == Kind::bus    ? 0
                            : t.kind == Kind::rank ? 1 + t.rank
                                                   : 1 + o.ranks + t.rank * technology_.banks() +
                                                         t.group * o.banks_per_group + t.bank;
    found->second.number = 1 + t.pseudo * (1 + o.ranks + banks) + number;
    // A channel is named with the first of its lines.
    const bool first_of_channel = std::ranges::none_of(lines_, [&](const auto& other) {
      return other.first.channel == t.channel && other.second.number != found->second.number;
    });
    if (first_of_channel)
      event(fmt::format(
          R"({{"ph": "M", "name": "process_name", "pid": {0}, "args": {{"name": "channel {0}"}}}})",
          t.channel));
    event(
        fmt::format(R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": "{}"}}}})",
                    t.channel, found->second.number, name(t)));
  }
  return found->second;
}

void CommandTimeline::slice(const Track& t, std::string_view name, Cycle from, Cycle clocks,
                            const std::string& arguments) {
  const double us = technology_.tck.count * 1e-6;
  event(fmt::format(R"({{"ph": "X", "name": "{}", "pid": {}, "tid": {}, "ts": {:.6f}, "dur": {:.6f}, )"
                    R"("args": {{"cycle": {}{}{}}}}})",
                    name, t.channel, line(t).number, static_cast<double>(from) * us,
                    static_cast<double>(clocks) * us, from, arguments.empty() ? "" : ", ", arguments));
}

void CommandTimeline::end_row(const Track& t, Cycle at) {
  Open& open = line(t).open;
  if (!open.is) return;
  open.is = false;
  slice(t, open.what.empty() ? fmt::format("row {:#x}", open.row) : std::string(open.what), open.since,
        at - open.since);
}

void CommandTimeline::column(const CommandRecord& r) {
  const device::Technology::Timing& timing = technology_.timing;
  const Track bank = track(Kind::bank, r);
  const bool read = is_read(r.command);
  const std::string where = fmt::format(R"("row": "{:#x}", "column": "{:#x}")", r.row, r.column);
  slice(bank, memory::dram::name(r.command), r.at, 1, where);
  slice(track(Kind::bus, r), read ? "read" : "write", r.at + (read ? timing.cl : timing.cwl), timing.burst,
        fmt::format(R"("bank": "{}", {})", name(bank), where));
  if (closes(r.command)) end_row(bank, r.at + 1);
}

void CommandTimeline::end_rows_of_rank(const CommandRecord& r) {
  for (auto& [t, its] : lines_)
    if (its.open.is && t.kind == Kind::bank && t.channel == r.channel && t.pseudo == r.pseudo &&
        t.rank == r.rank)
      end_row(t, r.at);
}

void CommandTimeline::command(const CommandRecord& r) {
  if (r.at < from_ || r.at >= to_) return;
  last_ = std::max(last_, r.at);
  const device::Technology::Timing& timing = technology_.timing;
  const std::string_view word = memory::dram::name(r.command);
  const Track rank = track(Kind::rank, r), bank = track(Kind::bank, r);
  switch (r.command) {
    case Command::act:
      slice(bank, word, r.at, timing.trcd_read, fmt::format(R"("row": "{:#x}")", r.row));
      line(bank).open = {r.at, r.row, true, {}};
      return;
    case Command::pre: end_row(bank, r.at); return slice(bank, word, r.at, timing.trp);
    case Command::prea: end_rows_of_rank(r); return slice(rank, word, r.at, timing.trp);
    case Command::ref: return slice(rank, word, r.at, timing.trfc);
    case Command::refpb: return slice(bank, word, r.at, timing.trfc_pb);
    case Command::pde:
    case Command::sre:
      line(rank).open = {r.at, 0, true, r.command == Command::pde ? "power-down" : "self-refresh"};
      return;
    case Command::pdx:
    case Command::srx: return end_row(rank, r.at);
    default: return column(r);
  }
}

void CommandTimeline::close() {
  std::vector<Track> open;
  for (const auto& [t, its] : lines_)
    if (its.open.is) open.push_back(t);
  for (const Track& t : open) end_row(t, last_ + 1);
  file_.write("\n]}\n");
  file_.close();
}

}  // namespace simtlab::memory::traffic

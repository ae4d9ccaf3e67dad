#include "result/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/files.h"
#include "result/metrics.h"

namespace simtlab::result {
namespace {

// Threads of a process, in their order: blocks, warps, loads.
constexpr std::uint32_t first_warp = 1000, first_load = 10000;

std::uint32_t thread_of(const TimelineEvent& e) {
  switch (e.kind) {
    case TimelineEvent::Kind::block: return e.slot;
    case TimelineEvent::Kind::instruction: return first_warp + e.slot;
    case TimelineEvent::Kind::load:
    case TimelineEvent::Kind::state: break;
  }
  return first_load + e.slot;
}

std::string thread_name(const TimelineEvent& e) {
  switch (e.kind) {
    case TimelineEvent::Kind::block: return fmt::format("block slot {}", e.slot);
    case TimelineEvent::Kind::instruction: return fmt::format("warp {}", e.slot);
    case TimelineEvent::Kind::load:
    case TimelineEvent::Kind::state: break;
  }
  return fmt::format("warp {} loads", e.slot);
}

std::string place(const TimelineEvent& e) {
  const std::string code = e.machine ? fmt::format(R"("address": "0x{:04x}")", e.ptx_line)
                                     : fmt::format(R"("ptx_line": {})", e.ptx_line);
  return e.source_line == 0 ? code : fmt::format(R"({}, "line": {})", code, e.source_line);
}

std::string text(const TimelineEvent& e, std::uint64_t number) {
  switch (e.kind) {
    case TimelineEvent::Kind::block:
      return fmt::format(
          R"({{"ph": "X", "name": "block {}", "cat": "block", "pid": {}, "tid": {}, "ts": {}, "dur": {}}})",
          e.what, e.sm, thread_of(e), e.at, e.length);
    case TimelineEvent::Kind::instruction:
      return fmt::format(
          R"({{"ph": "X", "name": "{}", "cat": "issue", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}, "lanes": {}}}}})",
          e.name, e.sm, thread_of(e), e.at, e.length, place(e), e.what);
    case TimelineEvent::Kind::load:
    case TimelineEvent::Kind::state: break;
  }
  // Loads of a warp overlap: asynchronous slices, which are stacked.
  const std::string common = fmt::format(R"("name": "{}", "cat": "load", "pid": {}, "tid": {}, "id": {})",
                                         e.name, e.sm, thread_of(e), number);
  return fmt::format(
      R"({{"ph": "b", {}, "ts": {}, "args": {{{}, "cycles": {}}}}},{}{{"ph": "e", {}, "ts": {}}})", common,
      e.at, place(e), e.length, "\n", common, e.at + e.length);
}

}  // namespace

void write_timeline(const std::filesystem::path& path, const Timeline& timeline) {
  FileWriter file(path);
  file.write(fmt::format(
      R"({{"displayTimeUnit": "ns", "otherData": {{"unit": "a microsecond is a cycle", "from": {}, "to": {}, "left_out": {}}},)"
      "\n\"traceEvents\": [",
      timeline.from, timeline.to, timeline.left_out));
  bool first = true;
  const auto write = [&](std::string_view event) {
    file.write(first ? "\n" : ",\n");
    first = false;
    file.write(event);
  };
  std::set<std::uint32_t> processes;
  std::set<std::pair<std::uint32_t, std::uint32_t>> threads;
  std::uint64_t number = 0;
  for (const TimelineEvent& e : timeline.events) {
    if (e.kind == TimelineEvent::Kind::state) continue;  // instructions and loads say more
    const std::uint32_t thread = thread_of(e);
    if (processes.insert(e.sm).second)
      write(fmt::format(R"({{"ph": "M", "name": "process_name", "pid": {0}, "args": {{"name": "SM {0}"}}}})",
                        e.sm));
    if (threads.emplace(e.sm, thread).second)
      write(fmt::format(
          R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": "{}"}}}})", e.sm,
          thread, thread_name(e)));
    write(text(e, number++));
  }
  file.write("\n]}\n");
  file.close();
}

TableDeclaration sm_timeline_table() {
  return {"sm_timeline",
          "What an SM did in a window of time: states of its warps and blocks in its slots.",
          {{"sm", "1", "Number of the SM"},
           {"kind", "", "warp or block"},
           {"slot", "1", "Number of the warp or of the block's slot in the SM"},
           {"from", "cycles",
            "Begin of the state or of the block, counted from the begin of the program's first kernel"},
           {"to", "cycles",
            "End of the state or of the block, counted from the begin of the program's first kernel; states "
            "follow each other"},
           {"what", "",
            "State of the warp: selected (issues), not_selected (another warp issues), or why it stalls; "
            "number of the block"}}};
}

void add_sm_timeline(Result& result, const Timeline& timeline) {
  if (result.kernels.empty()) return;
  std::vector<const TimelineEvent*> shown;
  for (const TimelineEvent& e : timeline.events)
    if (e.kind == TimelineEvent::Kind::block || e.kind == TimelineEvent::Kind::state) shown.push_back(&e);
  const auto begins = [&](const TimelineEvent& e) { return std::max(e.at, timeline.from); };
  std::ranges::stable_sort(shown, {}, [&](const TimelineEvent* e) {
    return std::tuple(begins(*e), e->sm, e->kind != TimelineEvent::Kind::block, e->slot);
  });
  std::uint64_t until = timeline.from;  // nothing happened behind that
  for (const TimelineEvent* e : shown) until = std::max(until, std::min(e->at + e->length, timeline.to));
  const std::size_t kept = std::min(shown.size(), most_timeline_rows);
  if (kept < shown.size()) until = begins(*shown[kept]);
  Table table{"sm_timeline", {}};
  for (std::size_t i = 0; i < kept; ++i) {
    const TimelineEvent& e = *shown[i];
    const std::uint64_t from = begins(e), to = std::min(e.at + e.length, until);
    if (to <= from) continue;
    const bool block = e.kind == TimelineEvent::Kind::block;
    table.rows.push_back({std::uint64_t{e.sm}, block ? "block" : "warp", std::uint64_t{e.slot}, from, to,
                          block ? fmt::format("block {}", e.what) : std::string(e.name)});
  }
  result.total.set("timeline.from", timeline.from);
  result.total.set("timeline.to", until);
  result.total.set("timeline.left_out", static_cast<std::uint64_t>(shown.size() - kept) + timeline.left_out);
  if (!table.rows.empty()) result.kernels.front().tables.push_back(std::move(table));
}

}  // namespace simtlab::result

#include "result/timeline.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

#include "base/files.h"

namespace simtlab::result {
namespace {

// Threads of a process, in their order: blocks, warps, loads.
constexpr std::uint32_t first_warp = 1000, first_load = 10000;

std::uint32_t thread_of(const TimelineEvent& e) {
  switch (e.kind) {
    case TimelineEvent::Kind::block:
      return e.slot;
    case TimelineEvent::Kind::instruction:
      return first_warp + e.slot;
    case TimelineEvent::Kind::load:
      break;
  }
  return first_load + e.slot;
}

std::string thread_name(const TimelineEvent& e) {
  switch (e.kind) {
    case TimelineEvent::Kind::block:
      return fmt::format("block slot {}", e.slot);
    case TimelineEvent::Kind::instruction:
      return fmt::format("warp {}", e.slot);
    case TimelineEvent::Kind::load:
      break;
  }
  return fmt::format("warp {} loads", e.slot);
}

std::string place(const TimelineEvent& e) {
  return e.source_line == 0 ? fmt::format(R"("ptx_line": {})", e.ptx_line)
                            : fmt::format(R"("ptx_line": {}, "line": {})", e.ptx_line, e.source_line);
}

std::string text(const TimelineEvent& e, std::uint64_t number) {
  switch (e.kind) {
    case TimelineEvent::Kind::block:
      return fmt::format(R"({{"ph": "X", "name": "block {}", "cat": "block", "pid": {}, "tid": {}, "ts": {}, "dur": {}}})", e.what, e.sm,
                         thread_of(e), e.at, e.length);
    case TimelineEvent::Kind::instruction:
      return fmt::format(R"({{"ph": "X", "name": "{}", "cat": "issue", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}, "lanes": {}}}}})",
                         e.name, e.sm, thread_of(e), e.at, e.length, place(e), e.what);
    case TimelineEvent::Kind::load:
      break;
  }
  // Loads of a warp overlap: asynchronous slices, which are stacked.
  const std::string common =
      fmt::format(R"("name": "{}", "cat": "load", "pid": {}, "tid": {}, "id": {})", e.name, e.sm, thread_of(e), number);
  return fmt::format(R"({{"ph": "b", {}, "ts": {}, "args": {{{}, "cycles": {}}}}},{}{{"ph": "e", {}, "ts": {}}})", common, e.at, place(e),
                     e.length, "\n", common, e.at + e.length);
}

}  // namespace

void write_timeline(const std::filesystem::path& path, const Timeline& timeline) {
  FileWriter file(path);
  file.write(fmt::format(R"({{"displayTimeUnit": "ns", "otherData": {{"unit": "a microsecond is a cycle", "from": {}, "to": {}, "left_out": {}}},)"
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
    const std::uint32_t thread = thread_of(e);
    if (processes.insert(e.sm).second)
      write(fmt::format(R"({{"ph": "M", "name": "process_name", "pid": {0}, "args": {{"name": "SM {0}"}}}})", e.sm));
    if (threads.emplace(e.sm, thread).second)
      write(fmt::format(R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": "{}"}}}})", e.sm, thread, thread_name(e)));
    write(text(e, number++));
  }
  file.write("\n]}\n");
  file.close();
}

}  // namespace simtlab::result

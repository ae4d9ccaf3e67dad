// A file that a run writes as it goes on (`simtlab run --live FILE`; docs/guide/view.md): JSON Lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace simtlab::report::viewer {

struct LiveRow {
  double seconds = 0;  // since it began
  std::string kernel;  // under way; empty: none
  std::uint64_t launches = 0, blocks = 0, of_blocks = 0, cycles = 0, instructions = 0;
};

struct LiveRun {
  std::string command, device, mode;
  std::uint64_t process = 0;
  std::vector<LiveRow> rows;
  bool ended = false;
  std::string end;     // "done", or why not
  double seconds = 0;  // of the last line
  // No end, and its process is there no more: it was killed. Only on the machine that it runs on.
  bool abandoned() const;
};

inline constexpr std::uint64_t max_live_bytes = 64u << 20;

// A last line that is not whole yet is left out. Throws Error(bad_input, "live-file") with the line.
LiveRun read_live(const std::filesystem::path& path);
LiveRun parse_live(std::string_view text, const std::string& file);

}  // namespace simtlab::report::viewer

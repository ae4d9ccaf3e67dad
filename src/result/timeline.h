// The work of SMs in a window of time, as a picture: JSON of the Chrome trace format, which ui.perfetto.dev
// opens.
//
// An SM is a process. Its warp slots are threads with a slice a cycle for each instruction issued; block
// slots and the loads under way have threads of their own. A cycle is shown as a microsecond: cycles are what
// the simulator counts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace simtlab::result {

struct TimelineEvent {
  enum class Kind : std::uint8_t { instruction, load, block, state };
  Kind kind = Kind::instruction;
  std::string_view name;  // of the operation, or of the warp's state; static
  std::uint32_t sm = 0;
  std::uint32_t slot = 0;            // of the warp, or of the block
  std::uint64_t at = 0, length = 0;  // cycles since the program's first kernel began
  std::uint32_t ptx_line = 0, source_line = 0;
  std::uint64_t what = 0;  // lanes, or the number of the block
  bool machine = false;    // ptx_line is the address of an instruction of machine code
};

struct Timeline {
  std::uint64_t from = 0, to = 0;     // the window; equal: nobody asked
  std::vector<TimelineEvent> events;  // by SM
  std::uint64_t left_out = 0;         // events beyond the limit
};

// Throws Error(failure, "file-write").
void write_timeline(const std::filesystem::path& path, const Timeline& timeline);

// The same as a table of the result, for its page: blocks, and states of warps. Goes to the first kernel's
// entry; of very many rows the earliest are kept, and timeline.to says until when they are all there.
struct Result;
struct TableDeclaration;
inline constexpr std::size_t most_timeline_rows = 6000;
void add_sm_timeline(Result& result, const Timeline& timeline);
TableDeclaration sm_timeline_table();

}  // namespace simtlab::result

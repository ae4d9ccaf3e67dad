// Observations of a run besides metrics: the scheduler slots of a kernel line by line, and a kernel over
// time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simtlab::result {

// One line of PTX, or one instruction of machine code, over all SMs and launches.
struct LineProfile {
  std::string function;        // PTX name of the function that the line belongs to
  std::uint32_t ptx_line = 0;  // 0: machine code whose PTX is not known
  std::string ptx;             // text of the line, without blanks around it
  std::string code{};          // "/*0280*/ FFMA R1, R2, R3, R4": address and instruction; empty: PTX
  std::string file{};          // source of the line (.loc); empty: compiled without line information
  std::uint32_t line = 0;
  std::string text{};                           // of the source line; empty: not known
  std::uint64_t instructions = 0, threads = 0;  // executed, by warps and by threads
  std::vector<std::uint64_t> slots{};           // scheduler slots by Profile::reasons
  std::uint64_t requests = 0, sectors = 0;      // of global, local and texture memory
  std::uint64_t shared_passes = 0, shared_conflicts = 0;
  // Loads that came back, and the sum of their latencies
  std::uint64_t loads = 0, load_cycles = 0;
  bool operator==(const LineProfile&) const = default;
};

struct Profile {
  std::vector<std::string> reasons;  // "selected", "long_scoreboard" ...
  std::vector<std::uint64_t> slots;  // of the kernel, by reason; their sum is scheduler.slots
  std::uint32_t launches = 1;
  std::vector<LineProfile> lines;  // by function, then line
  bool empty() const { return reasons.empty(); }
  bool operator==(const Profile&) const = default;
};

// A kernel over time: each row counts the events since the row before.
struct Series {
  std::uint64_t interval = 0;        // asked for, cycles; 0: no series
  std::vector<std::string> columns;  // "end" first: the cycle at which a row ends
  std::vector<std::vector<double>> rows;
  bool empty() const { return interval == 0; }
  bool operator==(const Series&) const = default;
};

// A series with at most `most_rows` rows (at least 1): neighbouring rows are joined. Counts are added; a hit
// rate is weighted by its accesses, every other column by cycles.
Series thinned(const Series& series, std::size_t most_rows);

// Adds another launch of the kernel.
void merge(Profile& into, const Profile& from);

// Lines of equal source (or of equal PTX or machine code where there is none) as one; sorted by slots, most
// first. What belongs to one line of PTX (function, text) is kept only where the sum has one.
std::vector<LineProfile> by_source(const Profile& profile);
std::uint64_t slots_of(const LineProfile& line);

}  // namespace simtlab::result

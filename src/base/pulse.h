// What a simulation is doing right now, for those who look on from another thread or process. The simulation
// writes at its own pace (plain stores, no lock); whoever reads may see values of two moments beside each
// other, but never half of a value, and a kernel's name as a whole.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace simtlab {

struct Pulse {
  static constexpr std::size_t name_bytes = 120;
  using Number = std::atomic<std::uint64_t>;
  static_assert(Number::is_always_lock_free, "it may lie in memory that two processes share");

  Number launches = 0;               // of kernels that have ended
  Number blocks = 0, of_blocks = 0;  // of the kernel under way: ended, all; of_blocks is 0 where none is
  Number cycles = 0;                 // simulated since the GPU was idle; 0 where there is no time
  Number instructions = 0;           // of warps, likewise
  Number ended_cycles = 0, ended_instructions = 0;  // before that
  Number owner = 0;                                 // the process that writes; 0: none yet
  Number name_version = 0;                          // odd while the name changes
  std::array<std::atomic<char>, name_bytes> name{};

  // Of the one who writes.
  void begin_kernel(std::string_view kernel, std::uint64_t all_blocks);
  void begin_period();  // what was counted so far is of the past
  void end_kernel();
  void at(std::uint64_t ended_blocks, std::uint64_t all_blocks, std::uint64_t cycle,
          std::uint64_t warp_instructions) {
    blocks.store(ended_blocks, std::memory_order_relaxed);
    of_blocks.store(all_blocks, std::memory_order_relaxed);
    cycles.store(cycle, std::memory_order_relaxed);
    instructions.store(warp_instructions, std::memory_order_relaxed);
  }
  // A process that may write: the first that asks.
  bool claim(std::uint64_t process);
};

// A reader's copy.
struct PulseReading {
  std::string kernel;  // empty: none under way, or its name is just changing
  std::uint64_t launches = 0, blocks = 0, of_blocks = 0;
  std::uint64_t cycles = 0, instructions = 0;  // of all launches together
};
PulseReading reading_of(const Pulse& pulse);
// "kernel scan: 120 of 4096 blocks, 1.2 M cycles"; empty before anything has happened.
std::string text_of(const PulseReading& reading);

// A pulse in a file that several processes map.
class PulseFile {
 public:
  enum class Mode : std::uint8_t { create, open };
  // Throws Error(failure, "pulse") if it cannot be made, or is no such file.
  PulseFile(const std::filesystem::path& path, Mode mode);
  ~PulseFile();
  PulseFile(const PulseFile&) = delete;
  PulseFile& operator=(const PulseFile&) = delete;
  Pulse* get() const { return pulse_; }

 private:
  Pulse* pulse_ = nullptr;
};

}  // namespace simtlab

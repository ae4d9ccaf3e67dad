// What became of the launches of a program that `simtlab corun exec` became, and of all the processes that it
// started: gated, or not and why.
//
// exec makes a file in the daemon's directory and names it in the environment; every process that has the
// gate maps it and counts in a record of its own, so the counts of a process that is killed or that executes
// something else are kept. The process that exec became says them all at its end. What is called at the end
// of a process takes no lock and no memory: that may be in a signal handler, by _exit.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace simtlab::corun::live {

// Why a launch was not gated.
enum class Ungated : std::uint8_t {
  off,
  no_daemon,
  overdue,
  no_capture_state,
  several_devices,
  opencl,
  nowhere
};
inline constexpr std::size_t ungated_reasons = 7;

class Tally {
 public:
  static constexpr const char* variable = "SIMTLAB_CORUN_TALLY";
  static constexpr std::uint32_t most_records = 512;  // the last one is of all processes beyond

  // What is seen of a process that makes launches invisible.
  enum Sight : std::uint32_t {
    static_runtime = 1,  // its executable, or a library of it, has the CUDA runtime linked in
    second_library = 2,  // functions of two libraries of the same names were asked for by dlsym
    own_scope = 4,       // a library was opened so that it finds the functions of CUDA before the gate's
    bare_child = 8,      // it started a program without the gate
  };

  // exec's: a file for the process that it is about to become; others that nobody counts in any more are
  // removed. simulated: on a simulated GPU; quiet: nothing is said if every launch was gated. Throws
  // Error(unavailable, "corun-directory").
  static std::filesystem::path make(const std::filesystem::path& directory, bool simulated,
                                    bool quiet = false);

  explicit Tally(const char* path);  // null or not there: counts of this process alone
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  void gated() { record().gated.fetch_add(1, std::memory_order_relaxed); }
  void not_gated(Ungated why, std::uint64_t launches = 1) {
    record().ungated[static_cast<std::size_t>(why)].fetch_add(launches, std::memory_order_relaxed);
  }
  void seen(Sight sight) { record().sights.fetch_or(sight, std::memory_order_relaxed); }
  // It starts a program without the gate, perhaps in its own place: then nobody would say the counts later.
  void starts_bare();
  void after_fork_in_child();
  // Once; later calls, and those of a child made by vfork, do nothing.
  void at_end();

 private:
  struct Record {
    std::atomic<std::int32_t> process;
    std::atomic<std::uint32_t> sights;
    std::atomic<std::uint64_t> gated;
    std::array<std::atomic<std::uint64_t>, ungated_reasons> ungated;
    char program[48];
    std::uint64_t not_gated() const;
    bool worth_a_line(bool simulated) const;
  };
  struct Page {
    std::uint32_t magic, simulated, quiet;
    std::atomic<std::int32_t> root;   // the process that exec became; 0: it has said the counts
    std::atomic<std::uint32_t> used;  // records
    Record records[most_records];
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  static constexpr std::uint32_t magic = 0x32594c54;  // "TLY2"

  Record& record() {
    Record* mine = record_.load(std::memory_order_acquire);
    return mine != nullptr ? *mine : claim();
  }
  Record& claim();
  void say_all();
  void say_as_root();
  static void say(const Record& record, bool simulated);
  void keep_standard_error();
  bool has_standard_error()
      const;  // the program may have closed that, too, and opened something else in its place

  bool named_ = false;    // there is, or was, a file
  Page* page_ = nullptr;  // shared, or null
  Record alone_{};        // used without a page
  std::atomic<Record*> record_{nullptr};
  std::atomic<pid_t> process_;
  std::atomic<bool> ended_{false}, bare_{false};
  char path_[256] = {};
  // Of the process that exec became: programs may close theirs before the end (coreutils do).
  int error_ = -1;
  std::uint64_t error_device_ = 0, error_file_ = 0;
};

}  // namespace simtlab::corun::live

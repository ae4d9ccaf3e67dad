// What outlives a process that ends without a word: by _exit, SIGKILL, the host's memory running out, another
// program in its place.
//
// Beside the result that it will write at its end (SIMTLAB_RESULT), a process of `simtlab run` keeps a file
// RESULT.kept, which grows by the result of each kernel as that ends, and whose head has the counts so far.
// An orderly end removes it. `simtlab run` reads what is left. A child that was forked keeps a file of its
// own, with what it did itself.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "result/metrics.h"

namespace simtlab::hosts {

// Writing never throws and never ends the program: what can't be kept is missing, and the reader can tell.
class KeptWriter {
 public:
  // name: RESULT.kept, or the first free of RESULT.kept.1, ...
  explicit KeptWriter(std::string name);
  ~KeptWriter();
  KeptWriter(const KeptWriter&) = delete;
  KeptWriter& operator=(const KeptWriter&) = delete;

  // Cheap where nothing has changed.
  void count(const gpu::Counters& counters);
  // study: totals of a cache study so far.
  void add(const gpu::EndedKernel& kernel, const result::Metrics& study);
  void fail(const result::Manifest& manifest);
  // A result was written before the process ends: what comes later is here.
  void wrote(const std::string& result_file);
  void remove();

 private:
  using Clock = std::chrono::steady_clock;

  void open();
  bool ours();
  void append(char kind, std::uint64_t number, const std::string& content);

  std::string base_, path_;
  int file_ = -1;
  pid_t process_ = 0;
  gpu::Counters before_, last_;  // of a forked child: when it was forked; what the head says
  std::uint64_t end_ = 0;        // of what is written
  // Merged kernels are not kept more often: each costs as much as a kernel of its own
  Clock::time_point free_at_{};
};

struct Kept {
  gpu::Counters counters;
  result::Result result;      // kernels, and totals without those of kernels; of the manifest the failure
  std::string written;        // the result that this process wrote earlier; may be empty
  std::uint64_t missing = 0;  // kernels that ended and are not in `result`
};
// The files that processes left beside `result`, in the order of their names. What is half written is not
// read.
std::vector<Kept> read_kept(const std::filesystem::path& result);

// Writing beyond the limit of a file's size (ulimit -f) is an error of the write and no signal while it
// lives.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal();
  ~NoFileSizeSignal();
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  bool blocked_before_ = false;
};

}  // namespace simtlab::hosts

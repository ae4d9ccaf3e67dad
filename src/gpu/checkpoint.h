// Checkpoints: what each launch did, so that a later run of the same command need not do it again
// (docs/reference/checkpoints.md).
//
// The program runs again from its beginning, and everything it does itself (allocations, copies, its own
// writes to managed memory) happens again. Only its kernels do not: a launch that the file holds changes
// memory to what it was behind that launch and has the result of then. Behind the last of them L2 gets its
// contents, and simulation goes on. Each launch is compared first: kernel, shape, arguments, and the contents
// of device memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exec/heap.h"
#include "result/metrics.h"
#include "stream/checkpoint/file.h"
#include "stream/checkpoint/pages.h"
#include "timing/timing.h"

namespace simtlab::gpu {

struct CheckpointOptions {
  std::filesystem::path write, resume;  // empty: none
  // Launches between two moments from which can be resumed; 0: about a minute, and the end
  std::uint64_t every = 0;
  // What results depend on, by name: device, configuration, version. A run that differs in one of them does
  // not continue another.
  std::vector<std::pair<std::string, std::string>> run;
  bool wanted() const { return !write.empty() || !resume.empty(); }
};

class Checkpoint {
 public:
  // Throws Error(bad_input): no checkpoint, a damaged one ("checkpoint-..."), one of another run
  // ("checkpoint-mismatch").
  explicit Checkpoint(const CheckpointOptions& options);

  // What is compared, in words; the first difference is named.
  struct Launch {
    std::string kernel;
    std::vector<std::pair<std::string_view, std::string>> traits;
    std::uint64_t memory = 0;  // digest of device memory; replay() sets it
  };
  struct Machine {
    exec::GlobalMemory& memory;
    exec::DeviceHeap& heap;
    timing::CycleGpu* timing;  // null: functional
  };
  struct Replayed {
    std::optional<result::KernelResult> result;  // none: the launch was not simulated
    std::string printed;
  };
  // Launches come one at a time: before() when one begins, then apply() or after() when it ends.
  // What the file knows of the launch that begins; none: it is to be run. Throws Error(bad_input
  // "checkpoint-mismatch").
  std::optional<Replayed> before(Launch& launch, const Machine& machine);
  // What that launch did to the device.
  void apply(const Machine& machine);
  // A launch that was run has ended.
  void after(const Launch& launch, const result::KernelResult* result, std::string_view printed,
             const Machine& machine);
  // The run has ended, or is stopped. ended: as it should; then launches that the file holds beyond are an
  // error.
  void finish(bool ended);

 private:
  using Clock = std::chrono::steady_clock;

  void check_run(const CheckpointOptions& options) const;
  void check(const Launch& launch, stream::trace::Bytes& in) const;
  [[noreturn]] void mismatch(std::string text) const;
  void restore_timing(timing::CycleGpu& timing);
  void copy(const stream::checkpoint::Reader::Place& place, const stream::trace::Buffer& content);
  void complete();

  std::uint64_t every_;
  std::unique_ptr<stream::checkpoint::Reader> reader_;
  std::unique_ptr<stream::checkpoint::Writer> writer_;
  std::size_t replayed_ = 0;
  std::map<std::uint64_t, std::uint64_t> heap_;      // behind the launch that before() found
  std::uint64_t launches_ = 0;                       // in the file that is written
  std::uint64_t incomplete_ = 0;                     // of them behind the last complete()
  std::vector<stream::checkpoint::PageHash> pages_;  // before the launch
  stream::trace::Buffer state_;                      // of the cycle-level GPU behind the last launch
  Clock::time_point written_ = Clock::now();
};

}  // namespace simtlab::gpu

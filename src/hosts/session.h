// The simulated GPU inside somebody else's process: configuration, failures, and the result that the process
// leaves.
//
// What the drop-in libraries (libcudart, the OpenCL library) share. Such a library is process state by its
// nature, so each has one session that is never destroyed. Everything below (gpu/, timing/, exec/) keeps no
// such state. All of it is under one lock, which the libraries take in every call.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/error.h"
#include "base/pulse.h"
#include "device/catalogue.h"
#include "gpu/gpu.h"
#include "hosts/kept.h"
#include "options/run_file.h"

namespace simtlab::hosts {

class Session {
 public:
  std::mutex mutex;

  // The GPU, made at the first call that needs it. Throws Error if the configuration is bad; again at each
  // later call. Throws, too, at every call after a GPU that several programs share has gone.
  gpu::Gpu& gpu();
  bool started() const { return gpu_ != nullptr; }
  const device::Device& device();
  // The process ends: what was submitted and not waited for is simulated to its end. Never throws.
  virtual void settle() = 0;

  // One stderr line, once per text.
  void warn(const std::string& text);
  // Of a launch that the GPU cannot take: a line, and a place in the result.
  void refuse_launch(const std::string& text) {
    ++refused_launches_;
    warn(text);
  }
  // Tells the user once, and keeps the first failure for the result.
  void tell_and_keep(const Error& error);

  std::string program() const;  // the executable's name
  const options::Options& run() const { return run_.options; }
  bool interrupted() const { return interrupted_; }
  // where: in a kernel, in words; empty outside of kernels.
  void mark_interrupted(const std::string& where = {}) {
    interrupted_ = true;
    stopped_at_ = where;
  }
  // Complete the files that a run writes besides its result. What can't be written is the run's failure; the
  // result is not lost for it.
  void finish_recording();
  void finish_checkpoint();
  void finish_timeline();
  // At the end of a call of the program: what it changed outlives this process (session/kept.h).
  void keep_counts() {
    if (kept_ && gpu_) kept_->count(gpu_->counters());
  }
  // The result is written. last: the process ends, and it says everything.
  void result_is_written(const std::string& file, bool last);
  // Result so far; nullopt if the program made no call that counts.
  // last: the process ends.
  std::optional<result::Result> result(bool last = false);

 protected:
  Session() = default;
  virtual ~Session() = default;
  bool failed_to_start() const { return start_failure_ != nullptr; }

 private:
  void read_configuration();
  void keep_failure(const Error& error);
  void note_failure(const Error& error);  // for the result that is about to be written
  Pulse* pulse();
  void begin_to_keep(gpu::Options& options);

  bool configured_ = false;
  options::RunFile run_;
  std::optional<device::LoadedDevice> loaded_;
  std::shared_ptr<const Error> start_failure_;
  std::unique_ptr<PulseFile> pulse_;  // before the GPU, which writes there
  std::unique_ptr<KeptWriter> kept_;  // likewise; null: nobody would read it
  std::unique_ptr<gpu::Gpu> gpu_;
  std::set<std::string> told_;
  std::string failure_, failure_id_, stopped_at_;
  int failure_code_ = 0;
  std::uint64_t refused_launches_ = 0;
  bool interrupted_ = false;
};

}  // namespace simtlab::hosts

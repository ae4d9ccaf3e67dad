// Launches of a run that writes a checkpoint or goes on from one. A launch that the file knows is not
// simulated again: its effects come at its end, as they did, so that copies beside it find what they found.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gpu/kernel_job.h"

namespace simtlab::gpu {

class LaunchCheckpoint {
 public:
  using Print = std::function<void(std::string_view)>;
  // print: where the output of kernels goes; may be empty. sink: where results from the file go.
  LaunchCheckpoint(const CheckpointOptions& options, Checkpoint::Machine machine, const Print& print,
                   KernelSink& sink);

  bool active() const { return file_ != nullptr; }
  bool idle() const { return under_way_ == nullptr; }  // no launch from the file is under way
  // A kernel begins, and no other one runs. nullopt: it is to be run. Else the file says what it did; true:
  // it has ended at once.
  std::optional<bool> begin(Work& work, double at_ns);
  Work* advance(double until_ns);
  void give_up() { under_way_ = nullptr; }
  // A launch that was run has ended; result: null for one that was not simulated.
  void after(const KernelJob& job, const result::KernelResult* result);
  void print(std::string_view text);  // by the kernel that runs
  void finish(bool ended);            // completes the file, as Checkpoint::finish

 private:
  void end(double end_ns);

  std::unique_ptr<Checkpoint> file_;
  Checkpoint::Machine machine_;
  const Print& print_;
  KernelSink& sink_;
  std::string printed_;        // by the launch that runs
  Work* under_way_ = nullptr;  // what it did is from the file
};

}  // namespace simtlab::gpu

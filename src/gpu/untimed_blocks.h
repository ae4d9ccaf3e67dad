// Executes blocks of a launch without a clock: all of them, or those that a sample or a study leaves out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "gpu/kernel_job.h"

namespace simtlab {
struct Pulse;
}

namespace simtlab::check {
class Checker;
}

namespace simtlab::gpu {

class UntimedBlocks {
 public:
  // nobody_else_writes: whether nothing but the kernel that runs can still change memory, so that one that
  // waits waits for ever.
  UntimedBlocks(const device::Device& device, const Options& options,
                std::function<bool()> nobody_else_writes)
      : device_(device), options_(options), nobody_else_writes_(std::move(nobody_else_writes)) {}

  // Kernels are watched; null: they are not.
  void check_with(check::Checker* checker) { checker_ = checker; }
  // pulse: where it tells how far it is; may be null.
  std::unique_ptr<UntimedRun> make(const KernelJob& job, std::uint64_t first, std::uint64_t count,
                                   Pulse* pulse) const;
  // To their ends; returns their warp instructions.
  std::uint64_t run(const KernelJob& job, std::uint64_t first, std::uint64_t count,
                    Pulse* pulse = nullptr) const {
    return run(*make(job, first, count, pulse));
  }
  std::uint64_t run(UntimedRun& blocks) const;
  std::uint64_t resident_blocks(const stream::WarpSource& source) const;  // that the GPU holds at once
  std::function<void()> waiting() const;                                  // Study::Launch::waits_for_others

 private:
  const device::Device& device_;
  const Options& options_;
  std::function<bool()> nobody_else_writes_;
  check::Checker* checker_ = nullptr;
};

}  // namespace simtlab::gpu

// Kernels without a clock: blocks run to their ends, one after another as far as they can
// (exec/block_turns.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/block_turns.h"
#include "stream/warp_source.h"

namespace simtlab::check {
class Checker;
}

namespace simtlab::gpu {

// A launch that may have to wait for what others write: other kernels, copies, the host.
class UntimedRun {
 public:
  virtual ~UntimedRun() = default;
  // To its end (true), or until none of its blocks can go on while memory stays as it is.
  virtual bool go_on() = 0;
  [[noreturn]] virtual void report() const = 0;  // go_on() said false: throws exec::Fault(deadlock)
  virtual const exec::FunctionalResult& result() const = 0;
};

// At full speed.
std::unique_ptr<UntimedRun> make_fast_run(const exec::Launch& launch, const exec::FunctionalOptions& options);
// Step by step: recorded launches, and those that are being recorded. The source must outlive it.
std::unique_ptr<UntimedRun> make_stepped_run(const stream::WarpSource& launch,
                                             const exec::FunctionalOptions& options);

// At about a third of the speed: watched. number: of the launch.
std::unique_ptr<UntimedRun> make_checked_run(const exec::Launch& launch,
                                             const exec::FunctionalOptions& options, check::Checker& checker,
                                             std::uint64_t number, const std::string& kernel);

}  // namespace simtlab::gpu

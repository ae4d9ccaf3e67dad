// What programs did, kept when their processes have left: a row for each program, whatever number of
// processes it had.
#pragma once

#include <cstdint>
#include <map>

#include "corun/live/kernels.h"
#include "corun/live/protocol.h"

namespace simtlab::corun::live {

// What one process did so far. Launches of a kernel are kept together, so that a time alone that is learnt
// later counts for all of them.
struct Work {
  struct Ran {
    std::uint64_t launches = 0, gpu_ns = 0;  // that ended with a time
  };
  std::uint64_t grants = 0, done = 0, lost = 0, waited_ns = 0, gpu_ns = 0;
  std::map<corun::KernelId, Ran> kernels;
};

class Results {
 public:
  explicit Results(const Kernels& kernels) : kernels_(kernels) {}
  // A process that launched something has left.
  void left(ProgramNumber program, const Work& work) { add(left_[program], work); }
  // Rows from there on, as many as a message takes. Connected processes are added by the caller, by add().
  using Rows = std::map<ProgramNumber, ApplicationRow>;
  Rows rows() const { return left_; }
  void add(ApplicationRow& row, const Work& work) const;
  // Names, and what is unknown to the policy.
  void complete(Rows& rows) const;

 private:
  const Kernels& kernels_;
  Rows left_;  // at most as many as there are programs
};

}  // namespace simtlab::corun::live

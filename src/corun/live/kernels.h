// The kernels of a daemon's programs: one for each program, kernel and shape of a launch. Another program's
// kernel of the same name is another kernel, and so is a launch of another shape.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/program_identity.h"
#include "corun/launch_shape.h"
#include "corun/scheduler.h"

namespace simtlab::corun::live {

// What is known of a launch of a program's kernel; nothing: unknown, and its time is learnt from launches
// that ran alone.
using FindProfile = std::function<std::optional<corun::Profile>(
    const ProgramIdentity& program, const std::string& kernel, const corun::LaunchShape& shape)>;
using ProgramNumber = std::uint32_t;

class Kernels {
 public:
  // Names of kernels and of programs that are kept; further ones share one.
  Kernels(corun::Scheduler& scheduler, FindProfile find_profile, std::uint32_t most_names);

  // A program that was seen before has its number. Programs of one name with different contents are told
  // apart by their labels.
  ProgramNumber program(const ProgramIdentity& identity);
  const std::string& label(ProgramNumber program) const { return programs_[program].label; }
  const ProgramIdentity& identity(ProgramNumber program) const { return programs_[program].identity; }
  std::size_t programs() const { return programs_.size(); }

  // Named to the scheduler when it comes first. No shape: a graph, which has none.
  corun::KernelId of(ProgramNumber program, const std::string& kernel,
                     const std::optional<corun::LaunchShape>& shape, std::uint64_t now_ns);
  // What a kernel takes alone is what policies want to know. Written anew only when it has changed by more
  // than a fifth.
  // seen: of one launch. Its time counts only if it ran alone; its other values, which a simulated GPU has,
  // count as they are until a launch alone is seen, and never against a file of profiles.
  void learn(corun::KernelId kernel, const corun::Profile& seen, bool alone, std::uint64_t now_ns);
  // Of a launch of just this shape; none: not known.
  std::optional<double> alone_ns(corun::KernelId kernel) const;

  // Kernels that came, and of them those of which the policy does not know what it decides by.
  struct Lack {
    std::uint32_t kernels = 0, unknown = 0;
    std::string first;  // of the unknown ones
  };
  Lack lack() const;
  Lack lack(ProgramNumber program) const;
  // Called with each kernel that comes and lacks something.
  std::function<void(const std::string& kernel)> on_unknown;

 private:
  struct Program {
    ProgramIdentity identity;
    std::string label;
    std::vector<corun::KernelId> kernels;
  };
  struct Kernel {
    std::string key;
    bool own_time = false;  // its time is of this shape
    corun::Profile given;   // by the file of profiles, of this very kernel
  };
  bool lacks(corun::KernelId kernel) const;
  void add_to(Lack& out, const Program& program) const;

  corun::Scheduler& scheduler_;
  FindProfile find_profile_;
  std::uint32_t most_names_;
  std::vector<Program> programs_;
  std::map<std::string, std::vector<ProgramNumber>> by_name_;
  std::unordered_map<std::string, corun::KernelId> by_key_;
  std::vector<Kernel> kernels_;  // by id - 1
};

}  // namespace simtlab::corun::live

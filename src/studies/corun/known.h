// What the daemon of live co-runs knows of kernels, and what it says of those that it knows nothing of.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "corun/live/core.h"
#include "corun/policy.h"
#include "corun/profiles.h"

namespace simtlab::studies {

class KnownKernels {
 public:
  // file: empty for none. Throws as load_profiles().
  KnownKernels(const corun::Policy& policy, const std::string& file);
  corun::live::FindProfile find();
  // Tells the core how many there are, and has it tell of kernels that are unknown. On stderr: once what is
  // missing from the beginning, then the first unknown kernels, each once. This must live as long as the
  // core. learns: they are unknown until they have run once, and nothing is said.
  void watch(corun::live::Core& core, bool learns = false);
  // Another policy decides from now on: what it lacks is said anew.
  void decides(const corun::Policy& policy, corun::live::Core& core, bool learns);

 private:
  std::optional<corun::Profile> find(const ProgramIdentity& program, const std::string& kernel,
                                     const corun::LaunchShape& shape);
  void unknown(const std::string& kernel);

  const corun::Policy* policy_;
  std::string file_;
  corun::Profiles profiles_;
  std::set<std::string> other_builds_;  // programs of which that was said
  unsigned told_ = 0;
};

// "policy shark decides by the L2 bandwidth of kernels, and the daemon has no profiles: ..."; empty if it
// needs to know nothing.
std::string without_profiles(const corun::Policy& policy);

}  // namespace simtlab::studies

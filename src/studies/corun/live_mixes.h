// Mixes of real programs under a daemon: what the thesis' scripts do. The results are those of every other
// host of mixes.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "corun/cycle/applications.h"
#include "corun/host.h"
#include "corun/policy.h"
#include "studies/corun/shared_device.h"
#include "studies/corun/study.h"

namespace simtlab::studies {

struct LiveMixOptions {
  std::optional<SharedDeviceOptions> device;  // none: the machine's CUDA
  std::string profiles;                       // what policies decide by; may be empty
  bool quiet = false;                         // programs' output is dropped
  const volatile bool* stop = nullptr;
};

class LiveMixes {
 public:
  // Throws Error(bad_input, "corun-applications") for one that is no program.
  LiveMixes(const std::filesystem::path& applications, LiveMixOptions options);
  std::vector<std::string> names() const;
  // Throws Error(bad_input, "corun-applications") for a name that is not there.
  void check_names(const std::vector<std::vector<std::string>>& mixes) const;
  // Each of those in the mixes alone; gives the study their times and this host, which must outlive it.
  // Throws Error(program_failed) if one ends with another status than 0, Error(interrupted).
  void run_alone(const std::vector<std::vector<std::string>>& mixes, CorunStudy& study);

 private:
  // What one program did in a mix.
  struct Ran {
    double gpu_ns = 0, waited_ns = 0, longest_wait_ns = 0, began_ns = 0, ended_ns = 0;
    std::uint64_t launches = 0;
    struct Kernel {
      std::uint64_t launches = 0;
      double gpu_ns = 0, waited_ns = 0;
    };
    std::map<std::string, Kernel> kernels;
  };
  struct Together {
    std::vector<Ran> programs;  // in the order of the mix
    struct Launch {
      std::size_t program = 0;
      std::string kernel;
      corun::Time asked = 0, granted = 0, ended = 0;
    };
    std::vector<Launch> launches;  // the first ones to end
    std::string log;
  };
  const corun::cycle::Described& find(const std::string& name) const;
  Together run(const std::vector<std::string>& mix, const std::vector<std::int32_t>& priorities,
               const corun::Policy& policy, const corun::HostOptions& options) const;
  corun::MixResult run_mix(std::span<const corun::Workload> mix, const corun::Policy& policy,
                           const corun::HostOptions& options) const;

  const std::filesystem::path file_;
  const std::vector<corun::cycle::Described> applications_;
  const LiveMixOptions options_;
  std::map<std::string, Ran> alone_;
};

}  // namespace simtlab::studies

// Applications for the cycle-level host of mixes: recorded by running them once, then run alone.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "corun/cycle/applications.h"
#include "corun/cycle/cycle_host.h"
#include "device/catalogue.h"
#include "studies/common/command.h"
#include "studies/common/options.h"
#include "studies/common/output.h"
#include "studies/common/temporary.h"
#include "studies/corun/study.h"

namespace simtlab::studies {

// --sharing, for the fast host: parts are for kernels, or for applications. Throws Error.
corun::SmSharing sm_sharing(const options::Configuration& configuration, const device::Device& device);

class CycleApplications {
 public:
  // file: empty for that of the examples. Throws Error.
  CycleApplications(const Command& app, const std::string& file, const RunOptions& given,
                    bool copies = false);

  std::vector<std::string> names() const;
  const std::filesystem::path& file() const { return file_; }
  const options::Configuration& configuration() const { return configuration_; }
  const device::LoadedDevice& device() const { return device_; }

  // Runs the applications of these mixes for what they launch, without times. Throws Error, also for a name
  // that is not there.
  void record(const std::vector<std::vector<std::string>>& mixes, const OutputOptions& output);
  // Runs those that were recorded alone, cycle by cycle; gives the study their profiles and this host, which
  // must outlive it.
  void run_alone(const volatile bool* stop, CorunStudy& study);

 private:
  struct Recorded {
    const corun::cycle::Described* application = nullptr;
    std::filesystem::path trace;
  };
  const corun::cycle::Described& find(const std::string& name) const;
  std::filesystem::path record(const corun::cycle::Described& application, const OutputOptions& output) const;

  const Command& app_;
  const std::filesystem::path file_;
  const RunOptions given_;
  const bool copies_;
  const std::vector<corun::cycle::Described> applications_;
  const options::Configuration configuration_;
  const device::LoadedDevice device_;
  const TemporaryDirectory folder_;
  std::vector<Recorded> recorded_;
  std::unique_ptr<corun::cycle::CycleHost> host_;
};

}  // namespace simtlab::studies

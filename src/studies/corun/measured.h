// Profiles of kernels from launches that the daemon of live co-runs has seen: what events tell. Instructions,
// bandwidths and stalls are not among it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "corun/cycle/profile.h"
#include "corun/live/core.h"
#include "corun/profiles.h"

namespace simtlab::studies {

class MeasuredKernels {
 public:
  // Launches that are lost, graphs and cooperative groups of them included, count in the sequence as what
  // they are: only those that ran alone have a time.
  void add(const corun::live::Core::Span& span);
  struct Row {
    std::string application, kernel;
    std::uint64_t launches = 0;
    corun::Profile profile;
  };
  // Of each process an application: `application`, `application.2`, ..., in the order of the names of what
  // they launch. rows: what a table shows, if wanted.
  corun::Profiles profiles(const std::string& application, const std::string& source,
                           std::vector<Row>* rows = nullptr) const;

 private:
  struct Kernel {
    std::uint64_t launches = 0;
    std::uint32_t registers = 0;
    std::vector<double> alone_ns;  // the first ones
  };
  struct Launch {
    std::size_t shape = 0;  // of the process's list
    std::uint64_t asked_ns = 0, ended_ns = 0;
  };
  struct Process {
    ProgramIdentity program;
    std::vector<corun::cycle::ShapedKernel> shapes;
    std::vector<Kernel> kernels;  // of each shape
    std::map<std::string, std::vector<std::size_t>> by_name;
    std::vector<Launch> launches;  // the first ones
    std::uint64_t all = 0;
  };
  void add_process(const Process& process, const std::vector<std::string>& steps,
                   const std::string& application, const std::string& source, corun::Profiles& out,
                   std::vector<Row>* rows) const;

  std::map<std::int32_t, Process> processes_;  // by pid
};

}  // namespace simtlab::studies

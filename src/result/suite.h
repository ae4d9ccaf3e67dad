// What became of the programs of a folder (simtlab suite), as plain data: filled by the study, printed by the
// reports.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace simtlab::result {

enum class SuiteStep : std::uint8_t {
  waiting,  // not reached: stopped before, or not asked for
  none,     // there is nothing to do
  yes,
  no,
};

struct SuiteProgram {
  std::string name;  // "apps/reduce", "matmul.cu"
  std::string kind;  // "cuda", "opencl", "make", "cmake", "listed"
  SuiteStep built = SuiteStep::waiting, ran = SuiteStep::waiting, passed = SuiteStep::waiting;
  std::string check;  // what its own check said: "exit 0", "PASSED"
  double simulated_ns = std::numeric_limits<double>::quiet_NaN();  // NaN: not known
  double build_s = 0, host_s = 0;
  std::uint64_t kernels = 0;  // launches that are in the result
  int exit_code = 0;          // of the step that failed
  std::string reason;         // why not, one line
  std::string log;            // file with what the last step said

  bool fine() const { return built != SuiteStep::no && ran != SuiteStep::no && passed != SuiteStep::no; }
};

struct Suite {
  struct Skipped {
    std::string file, why;
  };
  std::string folder, work;  // as the user named it; where logs and results lie
  std::vector<SuiteProgram> programs;
  std::vector<Skipped> skipped;  // sources that are no programs
  std::vector<std::string> notes;
  bool build_only = false;

  std::size_t count(SuiteStep SuiteProgram::*step, SuiteStep value) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(programs, [&](const SuiteProgram& p) { return p.*step == value; }));
  }
  std::size_t unfinished() const { return count(&SuiteProgram::built, SuiteStep::waiting); }
  std::size_t failed() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(programs, [](const SuiteProgram& p) { return !p.fine(); }));
  }
};

}  // namespace simtlab::result

// What a suite remembers between calls: which projects are through, from which sources, with what outcome.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "result/suite.h"

namespace simtlab::studies {

struct Remembered {
  std::string signature;  // of sources, options and tool
  std::vector<result::SuiteProgram> programs;
};

class SuiteState {
 public:
  // Reads the file if it is there; one that is not of this version counts as absent.
  explicit SuiteState(std::filesystem::path file);
  // Null: it is not through, or was with other sources or options.
  const Remembered* find(const std::string& project, const std::string& signature) const;
  // Replaces the file at once. Throws Error(failure, "file-write").
  void keep(const std::string& project, Remembered outcome);

 private:
  std::filesystem::path file_;
  std::map<std::string, Remembered> projects_;
};

}  // namespace simtlab::studies

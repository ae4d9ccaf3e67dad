// Reads study.toml (docs/guide/sweep.md).
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "studies/sweep/study.h"

namespace simtlab::studies::sweep {

inline constexpr std::size_t max_study_bytes = std::size_t{4} << 20;

struct StudyFile {
  Study study;  // without bindings
  std::vector<std::string> kernels;
  std::vector<SourcePos> axis_positions;
  bool has_points = false;
};
// file: for messages. Throws Error(bad_input): "toml-syntax", "sweep-file" and those of axes, constraints and
// designs, with positions.
StudyFile read_study(std::string_view text, const std::filesystem::path& file);

}  // namespace simtlab::studies::sweep

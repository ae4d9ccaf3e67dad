// Findings that somebody has looked at and does not want to see again (docs/guide/check.md):
//
//   [[suppression]]
//   rule = "race.same-value"         # a rule of `simtlab list checks`, or a pattern ("race.*")
//   kernel = "mark*"                 # pattern of the kernel's name
//   file = "src/mark.cu"             # pattern of the source file
//   line = 31                        # of the source; better:
//   text = "seen[v] = 1"             # what the source line contains
//   reason = "all write the same"    # always
//
// or the XML that compute-sanitizer writes (--save with --xml) and reads (--suppressions).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "result/findings.h"

namespace simtlab::studies {

struct Suppression {
  std::vector<std::string> rules;  // patterns; none: any
  std::string kernel, file, text, reason;
  std::uint32_t line = 0;  // 0: any
  std::string from;        // "suppressions.toml:3", for messages
};

// Either form. Throws Error(bad_input): "check-suppression", "toml-syntax", and as read_file.
std::vector<Suppression> read_suppressions(const std::string& file, std::vector<std::string>& warnings);
std::vector<Suppression> suppressions_from(std::string_view text, const std::string& file);
// Of compute-sanitizer. Records that name neither a function nor a file of device code are left out and said
// in `warnings`.
std::vector<Suppression> sanitizer_suppressions(std::string_view xml, const std::string& file,
                                                std::vector<std::string>& warnings);

// Whether it is about this finding. folder: where the run was.
bool suppresses(const Suppression& suppression, const result::Finding& finding, const std::string& folder);

}  // namespace simtlab::studies

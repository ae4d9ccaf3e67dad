// What an observed kernel adds to the text report: cycles per instruction, memory chart, roofline, waits of
// loads, hottest lines.
#pragma once

#include <string>

#include "report/report.h"

namespace simtlab::report {

// Empty for a kernel that was not observed (--lines).
std::string profile_text(const result::KernelResult& kernel, const TextOptions& options);

// "saxpy.cu:12", or "kernel.ptx line 40" as far as it is known.
std::string place_of(const result::LineProfile& line);
// The reason that took most of a line's slots, issue aside; empty if none did.
// What is shown of it: its source, else its machine code or PTX.
const std::string& text_of(const result::LineProfile& line);
std::string top_stall(const result::LineProfile& line, const result::Profile& profile, double& share);

}  // namespace simtlab::report

// What an observed kernel adds to the text report: cycles per instruction, memory chart, roofline, waits of
// loads, hottest lines.
#pragma once

#include <string>
#include <string_view>

#include "report/report.h"

namespace simtlab::report {

// Empty for a kernel that was not observed (--lines).
std::string profile_text(const result::KernelResult& kernel, const TextOptions& options);

// "saxpy.cu:12", or "kernel.ptx line 40" as far as it is known.
std::string place_of(const result::LineProfile& line);
// What is shown of it: its source, else its machine code or PTX.
const std::string& text_of(const result::LineProfile& line);
// The text of a line, printable, with one blank where it has several, or tabs.
std::string shown_code(std::string_view text);
// The reason that took most of a line's slots, issue aside; empty if none did.
std::string top_stall(const result::LineProfile& line, const result::Profile& profile, double& share);

}  // namespace simtlab::report

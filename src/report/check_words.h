// Words that the reports of `simtlab check` have in common.
#pragma once

#include <string>
#include <vector>

#include "report/check.h"

namespace simtlab::report {

const char* level_name(result::Level level);           // "error", "warning"
std::string check_of(const result::Finding& finding);  // of its rule: "races"

// "tile.cu:21:5"; of a finding without a source line "PTX line 12 of kernel.ptx". Files below the run's
// folder are named from there. Empty: nobody knows.
std::string place_words(const result::CodePlace& place, const result::Result& result);
// Relative to the run's folder where it is below it.
std::string file_words(const std::string& file, const result::Result& result);
// "block (0,0,0), thread (3,0,0): write of 4 bytes, value 7"; "the host: ..." of launch 0.
std::string access_words(const result::Access& access);
std::string triple(const std::uint32_t (&values)[3]);  // "(3,0,0)"

// Sentences behind the message: where in memory, what is missing, what was tried, how often, how to see it
// again, what to do. Heading and text.
std::vector<std::pair<std::string, std::string>> remarks(const result::Finding& finding);

// All of it in one paragraph of plain text, for readers that show no more.
std::string finding_paragraph(const result::Finding& finding, const result::Result& result);

// "2 errors, 1 warning in 3 kernels (7 launches); suppressed 1, known 2".
std::string summary_words(const CheckReport& report);
// "no race, no bad access, ... in this run" of what was looked for; empty where something was found.
std::string nothing_found_words(const CheckReport& report);

// Kernels that ran, by name, each once, in the order of their first launch.
std::vector<std::string> checked_kernels(const result::Result& result);

// Text of an element or an attribute of XML: no character that XML has no place for.
std::string xml_escaped(std::string_view text);

}  // namespace simtlab::report

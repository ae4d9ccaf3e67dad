// Sections of the HTML report. Each is empty where the result lacks what it shows.
#pragma once

#include <string>

#include "report/html.h"

namespace simtlab::report {

// A kernel of a run: speed of light, roofline, stalls, lines, memory, loads, occupancy, series.
std::string html_kernel(const result::KernelResult& kernel, const HtmlOptions& options);
std::string html_profile(const result::KernelResult& kernel);  // --lines
std::string html_series(const result::KernelResult& kernel);   // --series
std::string html_memory_chart(const result::KernelResult& kernel);
std::string html_roofline(const result::KernelResult& kernel);
std::string html_occupancy(const result::KernelResult& kernel, const HtmlOptions& options);

std::string html_cache(const result::KernelResult& kernel);  // tables of a cache study
std::string html_dram(const result::Result& result);         // losses, latency over load
std::string html_probe(const result::Result& result);        // levels of a curve
// Findings of a probe, and every curve that it measured
std::string html_curves(const result::Result& result);
// Policies, mixes, launches over time, interference
std::string html_corun(const result::Result& result);
// Warps and blocks of SMs in a window of time
std::string html_sm_timeline(const result::Result& result);
std::string html_predictions(const result::KernelResult& kernel);  // models side by side
std::string html_validation(const result::Result& result);         // simulated over measured
std::string html_program(const result::Result& result);            // kernels over time
std::string html_not_modelled(const result::KernelResult& kernel);
// Any table of the result that no chart shows.
std::string html_other_table(const result::Table& table);

}  // namespace simtlab::report

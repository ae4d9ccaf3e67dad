// The result file: schema 1 (docs/json.md). Written byte for byte the same for the same result; of a repeated
// run only manifest.start_time, wall_time_s, host, command, working_directory and the host.* metrics of
// `total` may differ.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "result/metrics.h"

namespace simtlab::result {

inline constexpr int json_schema = 1;
// Larger than any result: 4096 kernels with every metric are 50 MB.
inline constexpr std::uint64_t max_json_bytes = std::uint64_t{256} << 20;

std::string to_json(const Result& result);

// A JSON string literal: control characters escaped, bytes that are not UTF-8 replaced by U+FFFD.
std::string json_string(std::string_view text);

// Reads what to_json wrote. Hostile input is an Error(bad_input, "result-json") with line and column or the
// path of the member ("kernels[3].metrics.gpu.time"); a newer schema is Error(bad_input, "result-schema").
Result result_from_json(std::string_view text, const std::string& file);

// Writes `result` as `path`, or, if that exists (a program that started several processes), as `path`.1,
// `path`.2, ...: nothing is ever overwritten and a reader never sees half a file. Returns the name used.
// Throws Error(failure).
std::string write_result_file(const std::string& path, const Result& result);

}  // namespace simtlab::result

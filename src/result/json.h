// The result file: schema 1 (docs/reference/json.md). Equal results give equal bytes; of a repeated run only
// manifest.start_time, wall_time_s, host, command, working_directory and the host.* metrics of `total` may
// differ.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "result/metrics.h"

namespace simtlab::result {

inline constexpr int json_schema = 1;
// Larger than any result: 4096 kernels with every metric are 50 MB.
inline constexpr std::uint64_t max_json_bytes = std::uint64_t{256} << 20;

std::string to_json(const Result& result);

// A result in two files: the JSON, whose name is given without a folder, and the large parts (beside.h) in
// columns_name in the folder of the JSON. That name holds a hash of its content, so a result never meets the
// columns of another result.
struct ResultFiles {
  std::string json;
  std::string columns, columns_name;  // both empty: everything is in the JSON
};
ResultFiles to_files(const Result& result, const std::string& name);

// A JSON string literal: control characters escaped, bytes that are not UTF-8 replaced by U+FFFD.
std::string json_string(std::string_view text);

// Reads what to_json wrote. Hostile input is an Error(bad_input, "result-json") with line and column or the
// path of the member ("kernels[3].metrics.gpu.time"); a newer schema is Error(bad_input, "result-schema").
// The large parts are asked of `beside` by their names; without `beside` a result that has them is
// Error(bad_input, "result-columns").
using OpenBeside = std::function<std::string(const std::string& name)>;
Result result_from_json(std::string_view text, const std::string& file, const OpenBeside& beside = {});

// Reads a file that save_result_file or write_result_file wrote, with the columns beside it. Throws as
// read_file and result_from_json.
Result read_result_file(const std::filesystem::path& path);
// For a text that was read from `path`.
OpenBeside beside_of(std::filesystem::path path);

// Replaces `path` in one step, with the columns of the old result. A path that is not a regular file gets the
// whole result as one JSON. Throws Error(failure, "file-write").
void save_result_file(const std::filesystem::path& path, const Result& result);

// Removes the file and the columns beside it, as far as they exist.
void remove_result_file(const std::filesystem::path& path);

// Writes `result` as `path`, or, if that exists (a program that started several processes), as `path`.1,
// `path`.2, ...: nothing is ever overwritten and a reader never sees half a file. Returns the name used.
// Throws Error(failure).
std::string write_result_file(const std::string& path, const Result& result);

}  // namespace simtlab::result

// Result files: JSON, and what is large beside it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "result/columns.h"
#include "result/json.h"

namespace simtlab::result {
namespace {

namespace fs = std::filesystem;

// Where what stands beside `path` is: links are followed, as in writing.
fs::path folder_of(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  const fs::path folder = (error ? path : real).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// The name after `"beside": {"file": ` at the end of a result, where the writer puts it; empty: nothing is
// beside.
std::string name_beside(const fs::path& path) {
  constexpr std::streamoff tail = 1024;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const std::streamoff size = in.tellg();
  std::string text(static_cast<std::size_t>(std::min(size, tail)), '\0');
  in.seekg(size - static_cast<std::streamoff>(text.size()));
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  constexpr std::string_view key = "\n  \"beside\": {\"file\": \"";
  const std::size_t at = text.rfind(key);
  if (at == std::string::npos) return {};
  const std::string name = text.substr(at + key.size(), text.find('"', at + key.size()) - at - key.size());
  // Only files with names that this code gives are removed.
  const std::string own = path.filename().string() + ".";
  constexpr std::size_t hash = 16;
  if (!name.starts_with(own) || name.size() != own.size() + hash + 4 || !name.ends_with(".npz") ||
      name.find_first_not_of("0123456789abcdef", own.size()) != own.size() + hash)
    return {};
  return name;
}

void remove_beside(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  if (!name.empty()) fs::remove(folder / name, ignored);
}

}  // namespace

OpenBeside beside_of(fs::path path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  return [path = std::move(path)](const std::string& name) -> std::string {
    try {
      return read_file(folder_of(path) / name, max_columns_bytes, "file beside the result");
    } catch (const Error& e) {
      if (e.id() != "file-missing") throw;
      throw Error(
          ExitCode::bad_input, "result-columns",
          Diagnostic{fmt::format("its longest tables stand in {}, which is not beside it", shown(name)),
                     {path.string(), 0, 0},
                     {},
                     "put the two files into one folder, or make the result again"});
    }
  };
}

Result read_result_file(const fs::path& path) {
  return result_from_json(read_file(path, max_json_bytes, "result file"), path.string(), beside_of(path));
}

void save_result_file(const fs::path& path, const Result& result) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    write_file_atomically(path, to_json(result));
    return;
  }
  const fs::path target = fs::exists(status) ? fs::canonical(path, ignored) : path;
  const fs::path folder = folder_of(target);
  const std::string before = name_beside(target);
  const ResultFiles files = to_files(result, target.filename().string());
  // First the columns, under a name of their own: a reader then always finds both files of one result.
  if (!files.columns.empty()) write_file_atomically(folder / files.columns_name, files.columns);
  try {
    write_file_atomically(path, files.json);
  } catch (...) {
    if (files.columns_name != before) remove_beside(folder, files.columns_name);
    throw;
  }
  if (files.columns_name != before) remove_beside(folder, before);
}

void remove_result_file(const fs::path& path) {
  std::error_code ignored;
  const std::string beside = name_beside(path);
  const fs::path folder = folder_of(path);
  fs::remove(path, ignored);
  remove_beside(folder, beside);
}

std::string write_result_file(const std::string& path, const Result& result) {
  const std::string temporary = fmt::format("{}.tmp.{}", path, ::getpid());
  const fs::path folder = folder_of(path);
  constexpr unsigned most = 10000;
  std::error_code ignored;
  for (unsigned i = 0; i < most; ++i) {
    const std::string name = i == 0 ? path : fmt::format("{}.{}", path, i);
    if (fs::exists(fs::symlink_status(name, ignored))) continue;
    const ResultFiles files = to_files(result, fs::path(name).filename().string());
    int reason = 0;
    try {
      if (!files.columns.empty()) write_file_atomically(folder / files.columns_name, files.columns);
      write_file_atomically(temporary, files.json);
      // link() fails if the name exists by now: no other process's result is replaced.
      reason = ::link(temporary.c_str(), name.c_str()) == 0 ? 0 : errno;
      ::unlink(temporary.c_str());
    } catch (...) {
      remove_beside(folder, files.columns_name);
      throw;
    }
    if (reason == 0) return name;
    remove_beside(folder, files.columns_name);
    if (reason != EEXIST)
      throw Error(ExitCode::failure, "file-write",
                  fmt::format("cannot write result file {}: {}", name, std::strerror(reason)));
  }
  throw Error(ExitCode::failure, "file-write",
              fmt::format("there are already {} result files {}.*", most, path));
}

}  // namespace simtlab::result

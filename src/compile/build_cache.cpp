#include "compile/build_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/private_folder.h"
#include "base/shown.h"

namespace simtlab::compile {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kLargestManifest = std::uint64_t{16} << 20;

// Empty if the file cannot be read.
std::string content_of(const fs::path& file) {
  try {
    return hash_file(file);
  } catch (const Error&) { return {}; }
}

}  // namespace

fs::path cache_folder(fs::path folder) {
  const PrivateFolder found = open_private_folder(folder, {});
  if (found.fault == FolderFault::none) return folder;
  const bool absent = found.fault == FolderFault::missing || found.fault == FolderFault::cannot_make;
  const bool broken = absent && found.error != EACCES && found.error != EPERM;  // no permission is missing
  const char* hint = "set SIMTLAB_CACHE to a folder of your own";
  if (found.fault == FolderFault::open)
    hint = "chmod 700 it if all that is in it is yours, or set SIMTLAB_CACHE to a folder of your own";
  throw Error(broken ? ExitCode::failure : ExitCode::unavailable, "cache-folder",
              fmt::format("the cache folder {}: {}", shown(folder.string()), found.why), hint);
}

BuildCache::BuildCache(fs::path folder) : folder_(cache_folder(std::move(folder))) {}

std::optional<fs::path> BuildCache::find(const std::string& key) const {
  const fs::path manifest = folder_ / (key + ".manifest");
  if (!is_own_file(manifest)) return std::nullopt;
  std::string text;
  try {
    text = read_file(manifest, kLargestManifest, "cache manifest");
  } catch (const Error&) {
    return std::nullopt;  // replaced or removed meanwhile: compile again
  }
  std::istringstream lines(text);
  std::string product, line;
  if (!std::getline(lines, product) || product.empty() || product.find('/') != std::string::npos)
    return std::nullopt;
  while (std::getline(lines, line)) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos || content_of(line.substr(blank + 1)) != line.substr(0, blank))
      return std::nullopt;
  }
  const fs::path file = folder_ / product;
  // Truncated by a full disk, say
  if (!is_own_file(file) || content_of(file) != file.stem().string()) return std::nullopt;
  return file;
}

std::vector<fs::path> BuildCache::read_for(const std::string& key) const {
  std::istringstream lines(read_file(folder_ / (key + ".manifest"), kLargestManifest, "cache manifest"));
  std::vector<fs::path> out;
  std::string line;
  std::getline(lines, line);  // the product
  while (std::getline(lines, line)) out.emplace_back(line.substr(line.find(' ') + 1));
  return out;
}

fs::path BuildCache::store(const std::string& key, const fs::path& product,
                           const std::vector<fs::path>& read) const {
  const std::string name = hash_file(product) + product.extension().string();
  std::string text = name + "\n";
  for (const fs::path& file : read) text += content_of(file) + " " + file.string() + "\n";
  std::error_code code;
  fs::rename(product, folder_ / name, code);
  if (code) cannot_write(folder_ / name, code.value());
  write_file_atomically(folder_ / (key + ".manifest"), text);
  return folder_ / name;
}

Error no_room(const fs::path& cache, const std::string& what) {
  return {ExitCode::failure, "cache-full", what + " failed: no room in the cache folder " + cache.string(),
          "make room there, or let SIMTLAB_CACHE name a folder on another disk"};
}

ScratchFolder::ScratchFolder(const fs::path& parent) try : folder_(parent) {
} catch (const std::system_error& e) {
  throw Error(ExitCode::failure, "cache-folder",
              fmt::format("cannot write in {}: {}", shown(parent.string()), e.what()),
              "set SIMTLAB_CACHE to a folder that you may write");
}

std::vector<fs::path> read_dependencies(const std::string& text) {
  std::vector<fs::path> files;
  std::string word;
  bool in_target = true;
  const auto finish = [&] {
    if (!word.empty() && !in_target) files.emplace_back(word);
    if (!word.empty() && in_target && word.back() == ':') in_target = false;
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && (next == '\n' || next == '\r')) {
      finish();
      i += next == '\r' && i + 2 < text.size() && text[i + 2] == '\n' ? 2 : 1;  // the line goes on
    } else if (c == '\\' && (next == ' ' || next == '#' || next == '\\')) {
      word += next;
      ++i;
    } else if (c == '$' && next == '$') {
      word += '$';
      ++i;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      finish();
    } else if (c == '\n') {
      finish();
      in_target = true;
    } else {
      word += c;
    }
  }
  finish();
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

}  // namespace simtlab::compile

#include "frontend/build_cache.h"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"

namespace simtlab::frontend {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kLargestManifest = std::uint64_t{16} << 20;

// Empty if the file cannot be read.
std::string content_of(const fs::path& file) {
  try {
    return hash_file(file);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

BuildCache::BuildCache(fs::path folder) : folder_(std::move(folder)) {
  std::error_code ec;
  fs::create_directories(folder_, ec);
  if (!fs::is_directory(folder_))
    throw Error(ExitCode::failure, "cache-folder",
                "cannot make the cache folder " + folder_.string() + ": " + ec.message(),
                "set SIMTLAB_CACHE to a folder that you may write");
}

std::optional<fs::path> BuildCache::find(const std::string& key) const {
  const fs::path manifest = folder_ / (key + ".manifest");
  std::error_code ec;
  if (!fs::exists(manifest, ec)) return std::nullopt;
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
  if (content_of(file) != file.stem().string()) return std::nullopt;  // truncated by a full disk, say
  return file;
}

fs::path BuildCache::store(const std::string& key, const fs::path& product,
                           const std::vector<fs::path>& read) const {
  const std::string name = hash_file(product) + product.extension().string();
  std::string text = name + "\n";
  for (const fs::path& file : read) text += content_of(file) + " " + file.string() + "\n";
  fs::rename(product, folder_ / name);
  write_file_atomically(folder_ / (key + ".manifest"), text);
  return folder_ / name;
}

Error no_room(const fs::path& cache, const std::string& what) {
  return {ExitCode::failure, "cache-full", what + " failed: no room in the cache folder " + cache.string(),
          "make room there, or let SIMTLAB_CACHE name a folder on another disk"};
}

ScratchFolder::ScratchFolder(const fs::path& parent) {
  std::string pattern = (parent / "tmp-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr)
    throw Error(ExitCode::failure, "cache-folder",
                "cannot write in " + parent.string() + ": " + std::strerror(errno),
                "set SIMTLAB_CACHE to a folder that you may write");
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ec;
  fs::remove_all(path_, ec);
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

}  // namespace simtlab::frontend

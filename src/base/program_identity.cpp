#include "base/program_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"

namespace simtlab {
namespace {

namespace fs = std::filesystem;

// A larger file has no content that is known
constexpr std::uint64_t most_hashed = std::uint64_t{256} << 20;
constexpr std::uint64_t most_words = 1 << 20;
constexpr std::size_t most_kept = 1024;

// Files that were hashed before, as long as they are the same.
class Hashes {
 public:
  std::string of(const fs::path& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
    if (static_cast<std::uint64_t>(info.st_size) > most_hashed) return {};
    const Key key{info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    std::string hash;
    try {
      hash = hash_file(file);
    } catch (const Error&) {
      return {};  // nobody may read it
    }
    if (known_.size() == most_kept) known_.clear();
    return known_[key] = hash;
  }

 private:
  using Key = std::tuple<dev_t, ino_t, off_t, time_t, long>;
  std::mutex mutex_;
  std::map<Key, std::string> known_;
};

std::string content_of(const fs::path& file) {
  static Hashes& hashes = *new Hashes;  // results are also written while statics are destroyed
  return hashes.of(file);
}

std::vector<std::string> words_of(const fs::path& process) {
  std::vector<std::string> out;
  try {
    const std::string text = read_file(process / "cmdline", most_words);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\0', at), text.size());
      out.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  } catch (const Error&) {}
  return out;
}

// "#!/usr/bin/env python3" is of python3, and "t.py" of python3.12.
bool is_script_of(const fs::path& file, const std::string& interpreter) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return false;
  constexpr std::pair<const char*, const char*> kinds[] = {
      {".py", "python"}, {".py", "pypy"}, {".sh", "sh"},   {".sh", "bash"}, {".sh", "dash"},
      {".pl", "perl"},   {".rb", "ruby"}, {".js", "node"}, {".lua", "lua"}, {".jl", "julia"}};
  for (const auto& [end, name] : kinds)
    if (file.extension() == end && interpreter.starts_with(name)) return true;
  std::string line(128, '\0');
  try {
    FileReader reader(file);
    line.resize(reader.read(line.data(), line.size()));
  } catch (const Error&) { return false; }
  line.resize(std::min(line.find('\n'), line.size()));
  return line.starts_with("#!") &&
         fs::path(line.substr(line.find_last_of(" /") + 1)).filename() == interpreter;
}

}  // namespace

std::string program_name(const fs::path& file) {
  const std::string end = file.extension().string();
  for (const char* made_of : {".cu", ".cl", ".ptx", ".simt"})
    if (end == made_of) return file.stem().string();
  return file.filename().string();
}

ProgramIdentity identity_of_process(pid_t pid) {
  const fs::path process = fmt::format("/proc/{}", pid);
  std::error_code failed;
  const fs::path executable = fs::read_symlink(process / "exe", failed);
  const std::vector<std::string> words = words_of(process);
  ProgramIdentity out;
  if (failed && words.empty()) return out;
  const std::string first = words.empty() ? std::string() : fs::path(words.front()).filename().string();
  out.name = program_name(first.empty() ? executable : fs::path(first));
  out.content = content_of(process / "exe");  // also of a file that has been replaced since
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].empty() || words[i].front() == '-') continue;
    const fs::path file = process / "cwd" / words[i];
    if (!is_script_of(file, first) && !is_script_of(file, executable.filename().string())) continue;
    const std::string script = content_of(file);
    out.name = program_name(words[i]);
    out.content = out.content.empty() || script.empty() ? std::string() : hash_bytes(out.content + script);
    break;
  }
  return out;
}

}  // namespace simtlab

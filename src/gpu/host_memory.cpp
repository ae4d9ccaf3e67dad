#include "gpu/host_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace simtlab::gpu {
namespace {

constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();

std::uint64_t number_in(const char* path) {
  std::ifstream in(path);
  std::uint64_t value = 0;
  return in >> value ? value : unknown;  // "max" is not a number: unlimited
}

std::uint64_t available_on_host() {
  std::ifstream in("/proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  for (std::string rest; in >> key >> kib; std::getline(in, rest))
    if (key == "MemAvailable:") return kib * 1024;
  return unknown;
}

std::uint64_t available_in_cgroup() {
  const std::uint64_t most = number_in("/sys/fs/cgroup/memory.max");
  const std::uint64_t used = number_in("/sys/fs/cgroup/memory.current");
  if (most == unknown || used == unknown) return unknown;
  return most > used ? most - used : 0;
}

}  // namespace

std::uint64_t default_memory_limit() {
  const std::uint64_t available = std::min(available_on_host(), available_in_cgroup());
  return available == unknown ? std::uint64_t{1} << 30 : available / 4 * 3;
}

}  // namespace simtlab::gpu

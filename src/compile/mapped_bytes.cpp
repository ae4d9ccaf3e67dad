#include "compile/mapped_bytes.h"

#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>

namespace simtlab::compile {

std::size_t mapped_bytes(const void* start) {
  const auto first = reinterpret_cast<std::uintptr_t>(start);
  std::ifstream table("/proc/self/maps");
  if (!table) return SIZE_MAX;
  // Lines "55d0c000-55d0d000 r--p ...", ordered by address.
  std::uintptr_t end = first;
  for (std::string line; std::getline(table, line);) {
    std::uintptr_t from = 0, to = 0;
    const char* const last = line.data() + line.size();
    const auto [dash, bad_from] = std::from_chars(line.data(), last, from, 16);
    if (bad_from != std::errc() || dash == last) continue;
    const auto [blank, bad_to] = std::from_chars(dash + 1, last, to, 16);
    if (bad_to != std::errc() || last - blank < 2 || to <= end) continue;
    if (from > end || blank[1] != 'r') break;
    end = to;
  }
  return end - first;
}

}  // namespace simtlab::compile

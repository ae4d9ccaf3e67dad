// Single accesses of threads, and the instructions of warps that they come from.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "exec/executor.h"

namespace simtlab::stream::access_text {

// Where in its loops an access was made: (label, iteration) of each, the outermost first.
struct LoopPlace {
  std::array<std::uint32_t, 3> loops{};  // label << 16 | iteration; 0: none
  unsigned depth = 0;
  bool operator==(const LoopPlace&) const = default;
};

struct Access {
  std::uint64_t address = 0;
  std::uint32_t instruction = 0;  // in the order of the text
  enum class Kind : std::uint8_t { read, write, barrier } kind = Kind::read;
  LoopPlace place;
};

// Whether a comes before b where both are next in threads of one warp: by the iterations of the loops that
// both are in, then in the order of the text.
bool before(const Access& a, const Access& b);

// The accesses of one group: of each thread, in its order.
struct Group {
  std::vector<std::vector<Access>> threads;
};

// One kernel: groups in the order of their numbers.
struct Launch {
  exec::Dim3 grid, block;
  std::vector<Group> groups;
};

// As a kernel of Accel-Sim's format: a warp waits for what it loads before its next access. stop: looked at
// between groups; throws Error(interrupted).
std::string warp_text(const Launch& launch, const std::string& name, const volatile bool* stop);

}  // namespace simtlab::stream::access_text

// What SMs and the memory system send each other. The only way between them is the interconnect.
#pragma once

#include <array>
#include <cstdint>

#include "memory/time.h"

namespace simtlab::timing {

using memory::Cycle;
using memory::FixedCycles;
using memory::never;

enum class RequestKind : std::uint8_t { read, write, atomic };

// What the SM does with the answer.
enum class Route : std::uint8_t {
  l1,        // fills L1 and wakes who waits in its miss registers
  direct,    // belongs to one load (tag), past L1
  constant,  // fills the constant cache
  store,     // acknowledges a store or reduction of a warp (tag: StoreTag)
};

struct Request {
  std::uint64_t line = 0;                // 128-byte line of global memory
  std::array<std::uint32_t, 4> bytes{};  // writes: bytes of each sector
  std::uint32_t tag = 0;
  std::uint16_t sm = 0;
  std::uint8_t launch = 0;  // who asks: slot of the launch (launch.h)
  RequestKind kind = RequestKind::read;
  Route route = Route::direct;
  std::uint8_t sectors = 0;
  std::uint8_t lanes = 0;         // atomics: lanes to perform
  std::uint8_t same_address = 0;  // atomics: most lanes on one address
  bool returns = false;           // atomics: data comes back
  bool crossed = false;           // came from another part of L2, where its answer goes first
};

// Whether the data of a write comes with a mask: some of its sectors are written in part. That of atomics
// always.
inline bool masked(const Request& request) {
  if (request.kind != RequestKind::write) return request.kind == RequestKind::atomic;
  for (unsigned s = 0; s < 4; ++s)
    if ((request.sectors >> s & 1) != 0 && request.bytes[s] != ~0u) return true;
  return false;
}

struct TimedRequest {
  Cycle at = 0;  // arrival at the slice's side of the network
  Request request;
};

struct Reply {
  Cycle at = 0;  // arrival at the SM
  std::uint64_t line = 0;
  std::uint32_t tag = 0;
  Route route = Route::direct;
  std::uint8_t sectors = 0;
  std::uint8_t launch = 0;  // who asked: slot of the launch
};

}  // namespace simtlab::timing

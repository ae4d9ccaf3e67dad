// The daemon's ears: any packets, from three connections, and any notes of theirs, end in messages or in
// connections that are closed; counts stay consistent.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "corun/live/core.h"

using namespace simtlab;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corun::live::Caps caps;
  caps.clients = 4;
  caps.kernels = 8;
  caps.waiting = 8;
  caps.names = 8;
  caps.log_lines = 64;
  corun::live::Core core(*corun::find_policy("mps"), corun::Settings{}, caps);
  corun::live::ClientId clients[3] = {};
  std::uint64_t now = 0;
  // A byte for who speaks, two for the length, and so on.
  while (size >= 3) {
    corun::live::ClientId& who = clients[data[0] % 3];
    const std::size_t length = std::min<std::size_t>(size - 3, data[1] + 256u * data[2]);
    if (!core.knows(who)) who = core.connect(1, now);
    const corun::live::Decoded decoded = corun::live::decode(std::as_bytes(std::span(data + 3, length)));
    const bool note = data[0] >= 128 && decoded.message &&
                      (std::holds_alternative<corun::live::Request>(*decoded.message) ||
                       std::holds_alternative<corun::live::Done>(*decoded.message));
    if (note)
      core.noted(who, *decoded.message, ++now);
    else if (decoded.message)
      core.receive(who, *decoded.message, ++now);
    else
      core.malformed(who, decoded.fault, ++now);
    for (const corun::live::Core::Output& one : core.take()) {
      corun::live::Packet packet;
      corun::live::encode(one.message, packet);
      if (!corun::live::decode(packet.span()).message) std::abort();
    }
    const corun::live::Totals t = core.stats(0, now).totals;
    if (t.requests != t.done + t.cancelled + t.lost + t.running + t.waiting || t.running > t.limit)
      std::abort();
    for (const corun::live::ClientId id : core.may_go())
      if (!core.knows(id)) std::abort();
    data += 3 + length;
    size -= 3 + length;
  }
  return 0;
}

// What comes from the daemon: one packet at a time, and the descriptor that came with it. Of the thread that
// reads.
#pragma once

#include <cstddef>

#include "corun/live/lookout.h"
#include "corun/live/protocol.h"

namespace simtlab::corun::live {

class Inbox {
 public:
  // What is there, without waiting: the bytes of the packet; 0: nothing; negative: the connection is gone.
  std::ptrdiff_t receive(int socket) { return receive_packet(socket, packet_, &passed_); }
  // Looks for a while, and then waits for one.
  std::ptrdiff_t wait(int socket) {
    std::ptrdiff_t got = 0;
    if (!lookout_.look([&] { return (got = receive(socket)) != 0; }))
      got = receive_packet(socket, packet_, &passed_, true);
    return got;
  }
  Decoded decoded() const { return decode(packet_.span()); }
  Descriptor& passed() { return passed_; }

 private:
  Packet packet_{};
  Lookout lookout_;
  Descriptor passed_;
};

}  // namespace simtlab::corun::live

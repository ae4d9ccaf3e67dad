// The way to a daemon of the user: a directory of the user's own and sockets in it.
//
// The directory belongs to the user and is closed to all others (0700), so whatever lies in it was put there
// by the user. It is opened component by component, never through a symbolic link, and everything in it is
// named relative to the open directory.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/descriptor.h"

namespace simtlab::gpu::shared {

inline constexpr std::size_t most_bytes = 8192;  // of a packet
struct Packet {
  std::array<std::byte, most_bytes> bytes;
  std::size_t size = 0;
  std::span<const std::byte> span() const { return {bytes.data(), size}; }
};

using simtlab::Descriptor;

struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
};
Peer peer_of(int socket);  // as the kernel says; Error(failure "corun-socket") if it does not

// $SIMTLAB_CORUN_DIR, else simtlab-corun in $XDG_RUNTIME_DIR, else /tmp/simtlab-corun-UID.
std::filesystem::path default_directory();

// Throws Error(unavailable "corun-directory"): it is missing (and not to be made), a link, someone else's, or
// open to others.
Descriptor open_directory(const std::filesystem::path& path, bool make);

// The daemon's end. The lock is held as long as it lives: one daemon a directory. Throws Error(unavailable
// "corun-busy") if there is one.
struct Listener {
  std::string name;
  Descriptor directory, lock, socket;
  Listener(const std::filesystem::path& path, int backlog, std::string name = "socket");
  ~Listener();  // removes the socket's name
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
};

// A connection to the daemon of that directory, whose end must be of the same user; none: not there (errno
// says why).
Descriptor connect_to(const std::filesystem::path& path, const std::string& name = "socket");

enum class Sent { yes, full, gone };
// Never waits, raises no signal. pass: a descriptor to send along; -1: none.
Sent send_packet(int socket, std::span<const std::byte> bytes, int pass = -1);
// Bytes received; 0: nothing there now; -1: the other end is gone. Longer packets than fit are cut, and come
// as most_bytes + 1. passed: where a descriptor that came along is kept; null: none is accepted. wait: until
// there is something, or a signal or the socket's own time limit comes.
std::ptrdiff_t receive_packet(int socket, Packet& into, Descriptor* passed = nullptr, bool wait = false);
// As many as are there and fit, without waiting: how many; -1: the other end is gone. One without bytes, the
// last of them: it is gone after what came before. Longer packets than fit have the size most_bytes + 1.
inline constexpr std::size_t most_received = 16;
int receive_packets(int socket, std::span<Packet, most_received> into);

}  // namespace simtlab::gpu::shared

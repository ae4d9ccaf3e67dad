#include "gpu/shared/socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/private_folder.h"
#include "base/shown.h"

namespace simtlab::gpu::shared {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why, const std::string& hint) {
  throw Error(ExitCode::unavailable, "corun-directory", fmt::format("{}: {}", shown(path.string()), why),
              hint);
}

// Through the open directory: no length limit of a path, and nobody can exchange the directory meanwhile.
sockaddr_un address_in(int directory, const std::string& socket) {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  const std::string name = fmt::format("/proc/self/fd/{}/{}", directory, socket);
  std::memcpy(out.sun_path, name.c_str(), name.size() + 1);
  return out;
}

Descriptor seqpacket() {
  return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

}  // namespace

Peer peer_of(int socket) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    throw Error(ExitCode::failure, "corun-socket",
                fmt::format("the peer's credentials: {}", std::strerror(errno)));
  return {who.pid, who.uid};
}

fs::path default_directory() {
  for (const auto& [name, below] :
       {std::pair{"SIMTLAB_CORUN_DIR", ""}, std::pair{"XDG_RUNTIME_DIR", "simtlab-corun"}})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
      return *below == '\0' ? fs::path(value) : fs::path(value) / below;
  return fmt::format("/tmp/simtlab-corun-{}", ::getuid());
}

Descriptor open_directory(const fs::path& path, bool make) {
  const FolderRule rule{make ? FolderRule::Make::last : FolderRule::Make::nothing, true, false};
  PrivateFolder folder = open_private_folder(path, rule);
  switch (folder.fault) {
    case FolderFault::none: break;
    case FolderFault::missing: refuse(path, folder.why, "is the daemon running? simtlab corun serve");
    case FolderFault::cannot_make: refuse(path, folder.why, "give another directory with --directory");
    case FolderFault::link: refuse(path, folder.why, "give the path without links");
    case FolderFault::foreign: refuse(path, folder.why, "give a directory of your own with --directory");
    case FolderFault::open: refuse(path, folder.why, "chmod 700 it, or give another with --directory");
  }
  return std::move(folder.descriptor);
}

Listener::Listener(const fs::path& path, int backlog, std::string socket_name)
    : name(std::move(socket_name)), directory(open_directory(path, true)) {
  lock = Descriptor(
      ::openat(directory.get(), (name + ".lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock) refuse(path, fmt::format("its file '{}.lock': {}", name, std::strerror(errno)), "");
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error(ExitCode::unavailable, "corun-busy",
                fmt::format("a daemon runs already in {}", shown(path.string())),
                "stop it, or give this one its own --directory");
  ::unlinkat(directory.get(), name.c_str(), 0);  // left by a daemon that was killed
  socket = seqpacket();
  const sockaddr_un address = address_in(directory.get(), name);
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::fchmodat(directory.get(), name.c_str(), 0600, 0) != 0 || ::listen(socket.get(), backlog) != 0)
    throw Error(ExitCode::failure, "corun-socket",
                fmt::format("{}: the socket: {}", shown(path.string()), std::strerror(errno)));
}

Listener::~Listener() {
  if (socket) ::unlinkat(directory.get(), name.c_str(), 0);
}

Descriptor connect_to(const fs::path& path, const std::string& name) {
  Descriptor directory;
  try {
    directory = open_directory(path, false);
  } catch (const Error&) {
    errno = ENOENT;
    return {};
  }
  Descriptor out = seqpacket();
  const sockaddr_un address = address_in(directory.get(), name);
  if (!out) return {};
  if (::connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  if (peer_of(out.get()).uid != ::geteuid()) {
    errno = EPERM;
    return {};
  }
  return out;
}

namespace {

Sent unsent() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ENOMEM ? Sent::full
                                                                                        : Sent::gone;
}

}  // namespace

Sent send_packet(int socket, std::span<const std::byte> bytes, int pass) {
  for (; pass < 0;) {
    if (::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return Sent::yes;
    if (errno != EINTR) return unsent();
  }
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &pass, sizeof pass);
  for (;;) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return Sent::yes;
    if (errno != EINTR) return unsent();
  }
}

int receive_packets(int socket, std::span<Packet, most_received> into) {
  std::array<mmsghdr, most_received> messages{};
  std::array<iovec, most_received> parts;
  for (std::size_t i = 0; i < most_received; ++i) {
    parts[i] = {into[i].bytes.data(), into[i].bytes.size()};
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  for (;;) {
    const int got = ::recvmmsg(socket, messages.data(), most_received, MSG_DONTWAIT, nullptr);
    if (got < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
    for (int i = 0; i < got; ++i) {
      const auto at = static_cast<std::size_t>(i);
      into[at].size =
          (messages[at].msg_hdr.msg_flags & MSG_TRUNC) != 0 ? most_bytes + 1 : messages[at].msg_len;
      if (messages[at].msg_len == 0) return i + 1;
    }
    return got;
  }
}

std::ptrdiff_t receive_packet(int socket, Packet& into, Descriptor* passed, bool wait) {
  for (;;) {
    iovec part{into.bytes.data(), into.bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    if (passed != nullptr) message.msg_control = control, message.msg_controllen = sizeof control;
    const ssize_t got = ::recvmsg(socket, &message, (wait ? 0 : MSG_DONTWAIT) | MSG_TRUNC | MSG_CMSG_CLOEXEC);
    if (got > 0) {
      if (passed != nullptr) {
        *passed = {};
        for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
             header = CMSG_NXTHDR(&message, header)) {
          if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
          int fd = -1;
          std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
          *passed = Descriptor(fd);
        }
      }
      into.size = std::min<std::size_t>(static_cast<std::size_t>(got), most_bytes);
      return got > static_cast<ssize_t>(most_bytes) ? static_cast<std::ptrdiff_t>(most_bytes) + 1 : got;
    }
    if (got == 0) return -1;  // hang-up; a packet without bytes is no message either
    // ECONNRESET is told once, if the other end went without having read everything: what it said before is
    // still there.
    if (errno == ECONNRESET || (errno == EINTR && !wait)) continue;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
  }
}

}  // namespace simtlab::gpu::shared

// The daemon's loop: one thread, epoll, non-blocking sockets. All rules are in Core; this is only bytes, time
// and limits of each connection.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "corun/live/core.h"
#include "corun/live/progress.h"
#include "corun/live/ring.h"

namespace simtlab::corun::live {

struct ServerOptions {
  std::filesystem::path directory;
  Caps caps;
  FindProfile find_profile;
  Identify identify;
  double messages_per_second = 200000;  // of a client, over time; more of them wait in its socket
  std::uint32_t burst = 4096;
  std::uint32_t most_unread = 1024;  // messages to a client that does not read; then its connection ends
  std::uint64_t hello_within_ns = 5'000'000'000;
  // A client that holds a grant, while others wait, and does nothing for so long is passed over; 0: never.
  std::uint64_t grant_limit_ns = 10'000'000'000;
  // A client that takes no processor time may wait for a simulated GPU: only stopped ones do nothing
  bool clients_sleep = false;
  std::function<Peer(int socket)> peer = peer_of;
  std::function<std::optional<Activity>(pid_t)> activity = activity_of;
};

class Server {
 public:
  // Throws Error(unavailable) if the directory cannot be used.
  Server(const corun::Policy& policy, const corun::Settings& settings, ServerOptions options);
  ~Server();
  Core& core() { return core_; }
  // Until stop() is called, from any thread or from a signal handler, or `ended`, which is asked after each
  // wait (of a second at most), says so.
  void run(const std::function<bool()>& ended = {});
  void stop();
  // Nanoseconds since the daemon began.
  std::uint64_t now_ns() const;

 private:
  struct Connection {
    Descriptor socket;
    ClientId client = 0;
    std::deque<Packet> unsent;
    double tokens = 0;
    std::uint64_t since_ns = 0, tokens_at_ns = 0;
    bool reads = true, writes = false;  // what epoll watches for
    bool closing = false;               // after what is unsent
    Ring ring;
    std::uint32_t heard = 0;  // messages
    Watch watch;
  };

  void accept_all();
  void serve(Connection& connection);
  bool has_token(Connection& connection, std::uint64_t now) const;
  void settle();
  void read_notes();
  void let_go();
  void deliver();
  void send(Connection& connection, const Message& message);
  void flush(Connection& connection);
  void watch(Connection& connection);
  void lose(ClientId client);
  int wait_ms() const;
  void tend();
  void look_for_progress(std::uint64_t now);
  std::uint64_t tend_every_ns() const;

  ServerOptions options_;
  Core core_;
  Listener listener_;
  Descriptor epoll_, wake_;
  std::map<ClientId, Connection> connections_;
  std::vector<ClientId> gone_;
  std::vector<ClientId> watched_;  // when progress was looked for last
  Packet packet_{};
  std::array<Packet, gpu::shared::most_received> packets_;  // of a client, before others have their turn
  std::uint64_t begin_ns_ = 0;
  std::uint32_t throttled_ = 0;
  struct Note {
    std::uint64_t at_ns = 0;
    ClientId client = 0;
    Message message;
  };
  std::vector<ClientId> free_;  // they may launch without asking
  std::vector<Note> notes_;     // what they did, when it was last looked at
};

}  // namespace simtlab::corun::live

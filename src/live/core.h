// The daemon without its sockets: what each message of each client changes, and what is to be sent. No clock, no I/O: time comes with
// every call, so that all of it can be checked state by state.
//
// A launch waits, is granted when corun::Scheduler says so, and ends by Done, by Cancel, or with its client. Whatever a client does wrong
// ends that client and nobody else.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "corun/scheduler.h"
#include "live/protocol.h"

namespace simtlab::live {

struct Caps {
  std::uint32_t clients = 512;
  std::uint32_t kernels = 4096;        // names of a client
  std::uint32_t names = 65536;         // of all clients ever; further kernels share one
  std::uint32_t waiting = 1024;        // requests of a client
  std::uint64_t log_lines = 65536;     // kept for who asks
};

using ClientId = std::uint32_t;        // from 1, never used again

// What is known of a program's kernel; nothing: unknown, and its time is learnt from launches that ran alone. Kernels of equal names are one
// kernel: the first program that has it is asked for.
using FindProfile = std::function<std::optional<corun::Profile>(const std::string& program, const std::string& kernel)>;

class Core {
 public:
  Core(const corun::Policy& policy, const corun::Settings& settings, const Caps& caps, FindProfile find_profile = {});

  struct Output {
    ClientId client = 0;
    Message message;
    bool close = false;                // after the message
  };

  // 0: too many; the connection is to be closed.
  ClientId connect(std::int32_t pid, std::uint64_t now_ns);
  void receive(ClientId client, const Message& message, std::uint64_t now_ns);
  // What a client that was let go has done by itself (ring.h): a Request that was granted before it came, or a Done.
  void noted(ClientId client, const Message& message, std::uint64_t now_ns);
  // Clients whose next launch would be granted at once whatever the others of them do: they may go by themselves. Those that launched last come first.
  std::vector<ClientId> may_go() const;
  // Bytes that are no message.
  void malformed(ClientId client, const char* why, std::uint64_t now_ns) { refuse(client, Refusal::malformed, why, now_ns); }
  void refuse(ClientId client, Refusal reason, const std::string& why, std::uint64_t now_ns);
  // The connection is gone; nothing is sent to it any more.
  void disconnect(ClientId client, std::uint64_t now_ns);
  bool greeted(ClientId client) const;
  bool knows(ClientId client) const { return clients_.contains(client); }
  std::size_t clients() const { return clients_.size(); }

  // Of the daemon, if it has one: a simulated GPU's name, told in statistics.
  void set_device(std::string device) { device_ = std::move(device); }

  // What is to be done now, in this order.
  std::vector<Output> take() { return std::exchange(out_, {}); }

  Stats stats(std::uint32_t first, std::uint64_t now_ns) const;
  Log log(std::uint64_t from) const;
  // Called with each line of the decision log (corun/log.h) from now on.
  std::function<void(std::string_view line)> on_decision;

  // Launches that a process waits for: one more, or fewer.
  std::function<void(std::int32_t pid, int change)> on_waiting;

  // A launch's way, for a timeline: granted and ended.
  struct Span {
    ClientId client = 0;
    std::int32_t pid = 0;
    std::string program, kernel;
    std::uint64_t stream = 0, sequence = 0, asked_ns = 0, granted_ns = 0, ended_ns = 0, gpu_ns = 0;
    bool lost = false, alone = false;    // alone: nothing else was on the GPU meanwhile, and its time is known
    Request what;                        // its shape
    std::uint32_t registers = 0, shared_bytes = 0;   // of the code; 0: not known
  };
  std::function<void(const Span&)> on_span;

 private:
  struct Pending {
    corun::Sequence launch = 0;
    std::uint64_t asked_ns = 0, granted_ns = 0;
    bool granted = false;
    std::uint64_t alone_since = 0;       // grants in all when it was granted, if it ran alone then; else 0
    Request what;
    std::uint32_t device = 0;            // of the scheduler
  };
  struct Kernel {
    corun::KernelId id = 0;
    std::string name;
    std::uint32_t registers = 0, shared_bytes = 0;
  };
  struct Client {
    std::int32_t pid = 0;
    bool greeted = false, joined = false, shares = false;
    std::string program;
    std::vector<Kernel> kernels;
    std::uint64_t last_sequence = 0;
    std::uint32_t last_kernel = 0;
    std::map<std::uint64_t, Pending> pending;   // by sequence
    std::uint32_t waiting = 0, running = 0;
    std::uint64_t grants = 0, done = 0, waited_ns = 0, gpu_ns = 0;
  };
  struct Place {
    ClientId client = 0;
    std::uint64_t sequence = 0;
  };

  void on(ClientId id, Client& client, const Hello& m, std::uint64_t now_ns);
  void on(ClientId id, Client& client, const Register& m, std::uint64_t now_ns);
  void on(ClientId id, Client& client, const Request& m, std::uint64_t now_ns);
  void on(ClientId id, Client& client, const Done& m, std::uint64_t now_ns);
  void on(ClientId id, Client& client, const Cancel& m, std::uint64_t now_ns);
  void on(ClientId id, Client& client, const Bye& m, std::uint64_t now_ns);
  void on(ClientId id, Client& client, const StatsRequest& m, std::uint64_t now_ns);
  void on(ClientId id, Client& client, const LogRequest& m, std::uint64_t now_ns);
  template <typename Reply>
  void on(ClientId id, Client&, const Reply&, std::uint64_t now_ns) { refuse(id, Refusal::out_of_order, "a reply of the daemon", now_ns); }

  void finish(ClientId id, Client& client, std::uint64_t sequence, std::uint64_t now_ns, std::uint64_t gpu_ns, bool lost, bool alone = false);
  void tell(ClientId id, const Client& client, const Pending& pending, std::uint64_t now_ns, std::uint64_t gpu_ns, bool lost, bool alone) const;
  void learn(const Kernel& kernel, double gpu_ns, std::uint64_t now_ns);
  void decide(std::uint64_t now_ns);
  void drop(ClientId id, std::uint64_t now_ns);
  void keep_line(std::string_view line);
  void launches_now(ClientId id, const Client& client);
  void waits(const Client& client, int change) const {
    if (on_waiting) on_waiting(client.pid, change);
  }
  std::uint32_t device_number(std::uint32_t id);
  ClientRow row(ClientId id, const Client& client) const;

  Caps caps_;
  FindProfile find_profile_;
  Totals totals_;
  std::string device_;
  std::deque<std::string> lines_;
  std::uint64_t first_line_ = 0;
  corun::Scheduler scheduler_;           // after the log that it writes
  std::map<ClientId, Client> clients_;
  std::unordered_map<corun::Sequence, Place> launches_;
  std::unordered_map<std::string, corun::KernelId> names_;
  std::vector<std::uint32_t> device_ids_;   // as clients know them, by the scheduler's number
  static constexpr std::size_t most_recent = 16;
  std::vector<ClientId> recent_;         // that share, the one that launched last in front
  ClientId next_client_ = 1;
  std::vector<Output> out_;
};

}  // namespace simtlab::live

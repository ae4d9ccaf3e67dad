// The daemon without its sockets: what each message of each client changes, and what is to be sent. No clock,
// no I/O: time comes with every call, so that all of it can be checked state by state.
//
// A launch waits, is granted when corun::Scheduler says so, and ends by Done, by Cancel, or with its client.
// Whatever a client does wrong ends that client and nobody else.
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

#include "corun/live/kernels.h"
#include "corun/live/protocol.h"
#include "corun/live/results.h"
#include "corun/scheduler.h"

namespace simtlab::corun::live {

struct Caps {
  std::uint32_t clients = 512;
  std::uint32_t kernels = 4096;  // names of a client
  // Of all clients ever: programs, and kernels with their shapes; further ones share one
  std::uint32_t names = 65536;
  std::uint32_t shapes = 4096;      // of a client that are found at once; others by their names
  std::uint32_t waiting = 1024;     // requests of a client
  std::uint64_t log_lines = 65536;  // kept for who asks
};

using ClientId = std::uint32_t;  // from 1, never used again

// Which program a process runs; `said` is what it calls itself.
using Identify = std::function<ProgramIdentity(std::int32_t pid, const std::string& said)>;

class Core {
 public:
  Core(const corun::Policy& policy, const corun::Settings& settings, const Caps& caps,
       FindProfile find_profile = {}, Identify identify = {});

  struct Output {
    ClientId client = 0;
    Message message;
    bool close = false;  // after the message
  };

  // 0: too many; the connection is to be closed.
  ClientId connect(std::int32_t pid, std::uint64_t now_ns);
  void receive(ClientId client, const Message& message, std::uint64_t now_ns);
  // What a client that was let go has done by itself (ring.h): a Request that was granted before it came, or
  // a Done.
  void noted(ClientId client, const Message& message, std::uint64_t now_ns);
  // Clients whose next launch would be granted at once whatever the others of them do: they may go by
  // themselves. Those that launched last come first.
  std::vector<ClientId> may_go() const;
  // Bytes that are no message.
  void malformed(ClientId client, const char* why, std::uint64_t now_ns) {
    refuse(client, Refusal::malformed, why, now_ns);
  }
  void refuse(ClientId client, Refusal reason, const std::string& why, std::uint64_t now_ns);
  // The connection is gone; nothing is sent to it any more.
  void disconnect(ClientId client, std::uint64_t now_ns);
  bool greeted(ClientId client) const;
  bool knows(ClientId client) const { return clients_.contains(client); }
  std::size_t clients() const { return clients_.size(); }

  // Clients that were granted something that has not ended, while another client waits: whoever watches them
  // may find one that makes no progress.
  struct Holder {
    ClientId client = 0;
    std::int32_t pid = 0;
    std::uint64_t since_ns = 0;  // of its oldest grant
    bool holds = true;           // something was granted to it that has not ended
  };
  std::vector<Holder> holders() const;
  // Clients that were granted nothing and wait: a stopped one would hold its next grant for nothing.
  std::vector<Holder> waiters() const;
  std::vector<Holder> passed() const;  // clients that are passed over
  // Its slots are free and nothing is granted to it until it is back; that it is as soon as anything is heard
  // of it.
  void pass_over(ClientId client, std::uint64_t now_ns);
  void back(ClientId client, std::uint64_t now_ns);
  std::function<void(const ClientRow& client, bool over)> on_passed;

  // The daemon's simulated GPU, if it has one.
  struct SimulatedGpu {
    std::string name;  // told in statistics
    // Its time: when launches come and are granted is told by it, too.
    std::function<std::uint64_t()> clock;
    // What it counted of the kernel that a process had on it from begin_ns to end_ns of its clock; none: it
    // was another thing, or is forgotten. Kernels are learnt from it.
    std::function<std::optional<corun::Profile>(std::int32_t pid, std::uint64_t begin_ns,
                                                std::uint64_t end_ns)>
        profile;
  };
  SimulatedGpu gpu;
  // Kernels in the profiles that find_profile looks through, told in statistics.
  void set_profiles(std::uint32_t kernels) { totals_.profiles = kernels; }
  // Called with each kernel of which the policy does not know what it decides by.
  void on_unknown(std::function<void(const std::string& kernel)> call) {
    kernels_.on_unknown = std::move(call);
  }

  // What is to be done now, in this order.
  std::vector<Output> take() { return std::exchange(out_, {}); }

  Stats stats(std::uint32_t first, std::uint64_t now_ns) const;
  Log log(std::uint64_t from) const;
  Applications applications(std::uint32_t first) const;
  // Called with each line of the decision log (corun/log.h) from now on.
  std::function<void(std::string_view line)> on_decision;

  // Called with the policy and the settings that decide from now on, after an Adjust that changed them.
  std::function<void(const corun::Policy& policy, const corun::Settings& settings)> on_adjusted;

  // Launches that a process waits for: one more, or fewer.
  std::function<void(std::int32_t pid, int change)> on_waiting;

  // A launch's way, for a timeline: granted and ended.
  struct Span {
    ClientId client = 0;
    std::int32_t pid = 0;
    std::string program, kernel;
    std::uint64_t stream = 0, sequence = 0, asked_ns = 0, granted_ns = 0, ended_ns = 0, gpu_ns = 0;
    // Alone: nothing else was on the GPU meanwhile, and its time is known
    bool lost = false, alone = false;
    ProgramIdentity identity;
    corun::LaunchShape shape;
    std::uint32_t registers = 0;  // of the code; 0: not known
    // By the clock of the daemon's simulated GPU; on_device: it has one and knows them.
    bool on_device = false;
    std::uint64_t device_asked_ns = 0, device_begin_ns = 0, device_end_ns = 0;
  };
  std::function<void(const Span&)> on_span;

 private:
  struct Pending {
    corun::Sequence launch = 0;
    std::uint64_t asked_ns = 0, granted_ns = 0;
    std::uint64_t device_asked_ns = 0;
    bool granted = false;
    std::uint64_t alone_since = 0;  // grants in all when it was granted, if it ran alone then; else 0
    bool passed = false;            // its client was passed over since: it has no slots
    corun::KernelId kernel = 0;
    Request what;
    std::uint32_t device = 0;  // of the scheduler
  };
  struct Kernel {
    std::string name;
    std::uint32_t registers = 0, shared_bytes = 0;
    std::map<corun::LaunchShape, corun::KernelId> shapes;
  };
  struct Client {
    std::int32_t pid = 0;
    bool greeted = false, joined = false, shares = false, passed = false;
    std::string program;  // as it calls itself
    std::int32_t priority = 0;
    ProgramNumber number = 0;  // once it has joined
    std::size_t shapes = 0;
    std::vector<Kernel> kernels;
    std::uint64_t last_sequence = 0;
    std::uint32_t last_kernel = 0;
    std::map<std::uint64_t, Pending> pending;              // by sequence
    std::uint32_t waiting = 0, running = 0, slotless = 0;  // slotless: of those that run
    Work work;
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
  void on(ClientId id, Client& client, const ApplicationsRequest& m, std::uint64_t now_ns);
  void on(ClientId id, Client& client, const Adjust& m, std::uint64_t now_ns);
  template <typename Reply>
  void on(ClientId id, Client&, const Reply&, std::uint64_t now_ns) {
    refuse(id, Refusal::out_of_order, "a reply of the daemon", now_ns);
  }

  void finish(ClientId id, Client& client, const Done& m, std::uint64_t now_ns, bool lost,
              bool alone = false);
  void tell(ClientId id, const Client& client, const Pending& pending, const Done& m, std::uint64_t now_ns,
            bool lost, bool alone) const;
  corun::KernelId kernel_of(Client& client, const Request& m, std::uint64_t now_ns);
  void join(ClientId id, Client& client, std::uint64_t now_ns);
  // A launch that was granted no longer runs.
  void count_down(const Pending& pending);
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
  Identify identify_;
  Totals totals_;
  std::deque<std::string> lines_;
  std::uint64_t first_line_ = 0;
  corun::Scheduler scheduler_;  // after the log that it writes
  Kernels kernels_;
  Results results_;
  std::map<ClientId, Client> clients_;
  std::unordered_map<corun::Sequence, Place> launches_;
  std::vector<std::uint32_t> device_ids_;  // as clients know them, by the scheduler's number
  static constexpr std::size_t most_recent = 16;
  std::vector<ClientId> recent_;  // that share, the one that launched last in front
  ClientId next_client_ = 1;
  std::vector<Output> out_;
};

}  // namespace simtlab::corun::live

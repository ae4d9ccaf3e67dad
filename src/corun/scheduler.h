// Turns events into grants: queues of the streams, facts of the clients, the limit. Every host (fast model,
// cycle-level simulator, daemon) uses this class and no other; the policy only chooses.
//
// Events carry the host's time. A host tells what has happened and then calls decide(), once. All events
// between two decisions count as of the time of the first of them, and as later than the decision before: so
// a decision falls where time goes on, and a log can be replayed.
//
// Guarantees, whatever the policy: a launch is granted at most once, the order within a stream is kept (a
// launch becomes visible to the policy when the one before it in its stream has ended), no grant takes the
// slots in use of a device beyond the limit.
//
// Devices do not know of each other: each has the limit for itself, and a policy decides for each with the
// launches and the facts of that device alone.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "corun/log.h"
#include "corun/policy.h"

namespace simtlab::corun {

struct Grant {
  Sequence sequence = 0;
  ClientId client = 0;
  StreamId stream = 0;
  KernelId kernel = 0;
  Time waited = 0;  // since it could go
};

class Scheduler {
 public:
  // `log` may be empty. Throws Error(usage, "corun-policy") for a limit of 0.
  Scheduler(const Policy& policy, const Settings& settings, LineSink log = {});
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // What a client does that it may not (join twice, launch before it joined, end what does not run) throws
  // Error(bad_input, "corun-event") and changes nothing.
  //
  // A kernel, by its name; null: unknown. Again when more is known of it; launches that wait already see it.
  // Equal names are one kernel.
  KernelId kernel(Time now, std::string_view name, const Profile* profile);
  const Profile* profile(KernelId kernel) const;  // null: unknown
  std::size_t kernels() const { return kernel_ids_.size(); }
  const std::string& kernel_name(KernelId kernel) const;
  void join(Time now, ClientId client, std::int32_t priority = 0);
  // device: from 0, as close as possible; Error beyond most_devices.
  static constexpr std::uint32_t most_devices = 64;
  Sequence launch(Time now, ClientId client, StreamId stream, KernelId kernel, std::uint32_t slots = 1,
                  std::uint32_t device = 0);
  // gpu_time: what it took on the GPU, for policies that count it.
  void end(Time now, Sequence sequence, Time gpu_time);
  // A launch that waits is withdrawn.
  void cancel(Time now, Sequence sequence);
  // The client has gone or died: what waits is dropped; what runs frees its slots at once, or, with drain,
  // when the host says that it has ended.
  void leave(Time now, ClientId client, bool drain = false);
  // The client makes no progress and is passed over: what runs of it holds no slots any more until its end,
  // and what waits of it is not granted before it is back. Its launches keep their order. Passing over who is
  // passed over already, or back who is not, changes nothing.
  void pass_over(Time now, ClientId client);
  void back(Time now, ClientId client);

  // Another policy or other settings, for the decisions from now on. What waits keeps its place, and what
  // runs runs on: after a smaller limit more may run than it says, until enough have ended. What would change
  // nothing is no event. Throws Error(usage, "corun-policy") for a limit of 0.
  void set(Time now, const Policy& policy, const Settings& settings);

  // The grants, in their order, as of the time of the events since the decision before; valid until the next
  // call. None without events.
  std::span<const Grant> decide();

  // Null: unknown, gone, or not on that device
  const Client* find(ClientId client, std::uint32_t device = 0) const;
  bool waits(Sequence sequence) const { return places_.contains(sequence); }
  bool runs(Sequence sequence) const;  // also of a client that is passed over
  // Alone on its device; grants(device): how many there have been.
  bool runs_alone(std::uint32_t device) const;
  std::uint64_t grants(std::uint32_t device) const;
  std::size_t clients() const { return clients_; }
  std::size_t waiting() const { return queued_; }  // all launches, those behind others of their stream too
  // On all devices.
  std::size_t running() const;
  std::uint32_t used_slots() const;
  // With no more of them in use, counting those of launches that have yet to come, whoever comes goes at
  // once.
  std::uint32_t all_go() const {
    return policy_->all_go != nullptr ? std::min(policy_->all_go(settings_), settings_.limit) : 1;
  }
  std::uint64_t grants() const { return grants_; }
  const Settings& settings() const { return settings_; }
  const Policy& policy() const { return *policy_; }

 private:
  struct Kernel;
  struct Queued;
  struct Stream;
  struct Member;
  struct Device;

  Time advance(Time now);
  Member& member(ClientId client);
  void make_ready(Time now, Member& member, StreamId stream, Stream& s);
  void drop_waiting(Sequence sequence);
  Device& device(std::uint32_t number);
  static Client& facts(Member& member, std::uint32_t device);
  void decide_on(Device& device);
  Launch take_running(Sequence sequence);

  const Policy* policy_;
  Settings settings_;
  LineSink log_;
  // Those that left stay while something of theirs drains
  std::map<ClientId, std::unique_ptr<Member>> members_;
  std::unordered_map<std::string, KernelId> kernel_ids_;
  std::deque<Kernel> kernels_;  // by id - 1; its elements stay where they are
  std::deque<Device> devices_;  // the first one always is
  // Granted, of clients that are or were passed over: without slots
  std::vector<Launch> passed_;
  std::unordered_map<Sequence, std::pair<ClientId, StreamId>> places_;  // of all that wait
  std::vector<Grant> granted_;
  std::size_t clients_ = 0, queued_ = 0;
  std::uint64_t grants_ = 0;
  Sequence next_ = 1;
  Time now_ = 0;
  bool began_ = false, decided_ = true;  // decided_: no event since
};

}  // namespace simtlab::corun

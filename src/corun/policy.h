// Policies: which of the waiting launches may go to the GPU now. One file a policy, policies/NAME.cpp, which
// gives a Policy policy_NAME. A new one is a new file: the build makes the list (cmake/registry.cmake).
//
// A policy is a pure function of what it is shown: no clock, no input or output, nothing kept from one call
// to the next. What it needs of the past (who was served last, how long somebody has waited) is among the
// facts of the clients, which corun::Scheduler (scheduler.h) keeps. So the same events give the same grants
// in every host.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corun/launch_shape.h"
#include "corun/profile.h"

namespace simtlab::corun {

using Time = std::uint64_t;  // nanoseconds, from whenever the host began
using ClientId = std::uint32_t;
using StreamId = std::uint64_t;
using KernelId = std::uint32_t;
using Sequence = std::uint64_t;  // of launches in the order in which they came; from 1

// What is known of a client (one process) on one device, whoever decides.
struct Client {
  ClientId id = 0;
  std::int32_t priority = 0;  // above 0: served before those at or below it (policy priority)
  Time joined = 0;
  std::uint64_t grants = 0;      // launches that were granted
  std::uint64_t last_grant = 0;  // the number, over all clients, of its latest grant; 0: none yet
  Time turn_began = 0;           // when it was granted something after somebody else had been
  // Of granted launches, between the moment they could have gone and their grant
  Time waited = 0;
  Time gpu_time = 0;  // of ended launches
  // Of the same, alone on the GPU, as far as profiles know; their own gpu_time otherwise
  double solo_time = 0;
  std::uint32_t running = 0;  // launches
  std::uint32_t waiting = 0;  // launches that could go: one a stream
};

// A launch that waits or runs. Of each stream only the first is shown: it goes once the one before it has
// ended.
struct Launch {
  Sequence sequence = 0;
  const Client* client = nullptr;
  StreamId stream = 0;
  KernelId kernel = 0;
  const Profile* profile = nullptr;  // null: unknown
  // Blocks, threads, shared memory; null: it has none that is known (a graph)
  const LaunchShape* shape = nullptr;
  std::uint32_t device = 0;  // a policy sees launches of one alone
  // Of the limit; more than 1: kernels that must go together (a graph, a cooperative group)
  std::uint32_t slots = 1;
  Time ready = 0;                   // since when it could go
  std::uint64_t grants_before = 0;  // that had been given, to anybody, when it became ready
};

struct Settings {
  std::uint32_t limit = 8;                            // slots: launches at a time
  std::optional<std::uint32_t> light = std::nullopt;  // M of shark; absent: limit - 1
  // Grants to others after which a launch goes first (shark-aging, bandwidth-budget)
  std::uint64_t aging = 64;
  Time quantum = 30'000'000;  // of exclusive: 30 ms
  double l2_cap = 380e9;      // bytes/s (bandwidth-budget); the defaults are the maxima of the
  double dram_cap = 250e9;    // thesis's micro-benchmarks on a Titan X
  // Share of memory stalls from which a kernel is of the memory class (complementary)
  double memory_class = 0.3;
  // Slots of clients without priority while one with priority is running
  std::uint32_t best_effort = 1;
  bool operator==(const Settings&) const = default;
};

struct View {
  Time now = 0;
  const Settings* settings = nullptr;
  std::span<const Launch> waiting;  // in the order of their sequence
  std::span<const Launch> running;  // in the order of their grants
  std::uint64_t grants = 0;         // given so far
  std::uint32_t used = 0;           // slots of running

  // Grants to others since it could go.
  std::uint64_t overtaken(const Launch& launch) const { return grants - launch.grants_before; }
};

// What a policy answers: places in View::waiting, in the order of the grants. It knows which are taken and
// what is left.
class Grants {
 public:
  void reset(const View& view);
  // A unit of more kernels than there are slots runs alone.
  bool fits(const Launch& launch) const { return slots_of(launch) <= free_; }
  bool taken(std::size_t waiting) const { return taken_[waiting] != 0; }
  std::uint32_t free() const { return free_; }
  // False, and nothing is granted, if it doesn't fit: a policy ends then, so that nobody overtakes a unit
  // just for being smaller.
  bool take(std::size_t waiting);
  std::span<const std::uint32_t> chosen() const { return chosen_; }
  std::uint32_t slots_of(const Launch& launch) const { return launch.slots < limit_ ? launch.slots : limit_; }

 private:
  std::span<const Launch> waiting_;
  std::uint32_t limit_ = 0, free_ = 0;
  std::vector<std::uint8_t> taken_;
  std::vector<std::uint32_t> chosen_;
};

// Values of a kernel's profile that a policy may decide by. A set of them is their sum.
enum Knowledge : unsigned {
  knows_nothing = 0,
  knows_time = 1,
  knows_l2 = 2,
  knows_dram = 4,
  knows_stalls = 8
};
unsigned known_of(const Profile* profile);    // null: nothing
std::string knowledge_text(unsigned values);  // "L2 bandwidth, memory stalls"

struct Policy {
  std::string_view name;  // "shark"
  std::string_view doc;   // one sentence
  void (*decide)(const View& view, Grants& grants);
  std::string_view options = {};  // of the command line, separated by blanks, that it looks at: "--aging"
  // With no more active launches than this, of a slot each and of a client each, every one goes at once,
  // whatever came before. Null: 1, which holds for all.
  std::uint32_t (*all_go)(const Settings& settings) = nullptr;
  unsigned needs = knows_nothing;  // what it decides by
  // What it does with a kernel of which that is not known: the rest of "a kernel that nobody knows ..."
  std::string_view unknown = {};
};
// Whether the policy looks at that option of the command line.
bool looks_at(const Policy& policy, std::string_view option);
std::span<const Policy* const> policies();         // in the order of their files' names
const Policy* find_policy(std::string_view name);  // null if there is none
// The same, throwing Error(usage, "corun-policy") with the nearest name.
const Policy& policy(std::string_view name);

}  // namespace simtlab::corun

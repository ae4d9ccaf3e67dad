#include "corun/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/shown.h"

namespace simtlab::corun {
namespace {

constexpr std::size_t longest_name = 4096;

[[noreturn]] void impossible(const std::string& message) {
  throw Error(ExitCode::bad_input, "corun-event", message);
}

void check_limit(const Settings& settings) {
  if (settings.limit == 0)
    throw Error(ExitCode::usage, "corun-policy", "a limit of 0 launches would let nothing run",
                "give a limit of 1 or more");
}

}  // namespace

struct Scheduler::Kernel {
  std::string name;
  Profile profile;
  bool known = false;
  std::optional<LaunchShape> shape;
  // By its name; else that of a profile which is of this very launch.
  void find_shape() {
    shape = shape_in(name);
    if (!shape && known && !profile.nearest && profile.grid && profile.block)
      shape = LaunchShape{*profile.grid, *profile.block,
                          static_cast<std::uint64_t>(profile.shared_bytes.value_or(0))};
  }
};

struct Scheduler::Queued {
  Sequence sequence = 0;
  KernelId kernel = 0;
  std::uint32_t slots = 1, device = 0;
};

struct Scheduler::Stream {
  std::deque<Queued> queue;  // the first one is ready on its device unless `busy`
  bool busy = false;         // its latest granted launch runs
};

struct Scheduler::Device {
  std::vector<Launch> ready;    // in the order of their sequence
  std::vector<Launch> running;  // in the order of their grants
  Grants choice;
  std::uint32_t used = 0;
  std::uint64_t grants = 0;

  void free(std::size_t place, std::uint32_t limit) {
    used -= std::min(running[place].slots, limit);
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(place));
  }
};

struct Scheduler::Member {
  std::deque<Client> facts;                      // by device; they stay where they are
  std::unordered_map<StreamId, Stream> streams;  // with something that waits or runs
  bool gone = false;                             // left; something of it still runs
  bool passed = false;                           // passed over
  bool runs() const {
    return std::ranges::any_of(facts, [](const Client& c) { return c.running > 0; });
  }
};

Scheduler::Scheduler(const Policy& policy, const Settings& settings, LineSink log)
    : policy_(&policy), settings_(settings), log_(std::move(log)) {
  check_limit(settings_);
  device(0).running.reserve(settings_.limit < 4096 ? settings_.limit : 4096);
  if (log_) {
    log_(log_heading);
    log_(policy_line(*policy_, settings_));
  }
}

Scheduler::~Scheduler() = default;

Time Scheduler::advance(Time now) {
  if (decided_) now_ = began_ ? std::max(now, now_ + 1) : now;
  began_ = true;
  decided_ = false;
  return now_;
}

Scheduler::Member& Scheduler::member(ClientId client) {
  const auto at = members_.find(client);
  if (at == members_.end() || at->second->gone) impossible(fmt::format("client {} has not joined", client));
  return *at->second;
}

const Client* Scheduler::find(ClientId client, std::uint32_t device) const {
  const auto at = members_.find(client);
  return at == members_.end() || at->second->gone || device >= at->second->facts.size()
             ? nullptr
             : &at->second->facts[device];
}

Scheduler::Device& Scheduler::device(std::uint32_t number) {
  while (devices_.size() <= number) devices_.emplace_back();
  return devices_[number];
}

Client& Scheduler::facts(Member& m, std::uint32_t device) {
  while (m.facts.size() <= device) {
    Client& made = m.facts.emplace_back();
    made.id = m.facts.front().id;
    made.priority = m.facts.front().priority;
    made.joined = m.facts.front().joined;
  }
  return m.facts[device];
}

bool Scheduler::runs(Sequence sequence) const {
  const auto is = [sequence](const Launch& launch) { return launch.sequence == sequence; };
  return std::ranges::any_of(passed_, is) ||
         std::ranges::any_of(devices_, [&](const Device& d) { return std::ranges::any_of(d.running, is); });
}

bool Scheduler::runs_alone(std::uint32_t device) const {
  return device < devices_.size() && devices_[device].running.size() == 1;
}

std::uint64_t Scheduler::grants(std::uint32_t device) const {
  return device < devices_.size() ? devices_[device].grants : 0;
}

std::size_t Scheduler::running() const {
  std::size_t out = 0;
  for (const Device& d : devices_) out += d.running.size();
  return out;
}

std::uint32_t Scheduler::used_slots() const {
  std::uint32_t out = 0;
  for (const Device& d : devices_) out += d.used;
  return out;
}

const Profile* Scheduler::profile(KernelId kernel) const {
  return kernel == 0 || kernel > kernels_.size() || !kernels_[kernel - 1].known
             ? nullptr
             : &kernels_[kernel - 1].profile;
}

const std::string& Scheduler::kernel_name(KernelId kernel) const { return kernels_.at(kernel - 1).name; }

// ---- events

KernelId Scheduler::kernel(Time now, std::string_view name, const Profile* profile) {
  if (name.empty() || name.size() > longest_name)
    impossible(fmt::format("a kernel's name has 1 to {} bytes, this one {}", longest_name, name.size()));
  const auto [at, is_new] =
      kernel_ids_.try_emplace(shown(name, longest_name), static_cast<KernelId>(kernels_.size() + 1));
  if (is_new) kernels_.push_back({at->first, {}, false, {}}), kernels_.back().find_shape();
  Kernel& k = kernels_[at->second - 1];
  // Nothing new
  if (!is_new && (profile == nullptr || (k.known && k.profile == *profile))) return at->second;
  if (profile != nullptr) {
    k.profile = *profile;
    k.known = true;
    k.find_shape();
    const LaunchShape* const shape = k.shape ? &*k.shape : nullptr;
    const auto tell = [&](std::vector<Launch>& list) {
      for (Launch& launch : list)
        if (launch.kernel == at->second) launch.profile = &k.profile, launch.shape = shape;
    };
    for (Device& d : devices_) tell(d.ready), tell(d.running);
    tell(passed_);
  }
  now = advance(now);
  if (log_) log_(kernel_line(now, at->second, k.name, profile));
  return at->second;
}

void Scheduler::join(Time now, ClientId client, std::int32_t priority) {
  if (members_.contains(client)) impossible(fmt::format("client {} has joined already", client));
  now = advance(now);
  auto made = std::make_unique<Member>();
  Client& first = made->facts.emplace_back();
  first.id = client;
  first.priority = priority;
  first.joined = now;
  members_.emplace(client, std::move(made));
  ++clients_;
  if (log_) log_(fmt::format("{} join {} priority={}", now, client, priority));
}

Sequence Scheduler::launch(Time now, ClientId client, StreamId stream, KernelId kernel, std::uint32_t slots,
                           std::uint32_t device) {
  Member& m = member(client);
  if (kernel == 0 || kernel > kernels_.size())
    impossible(fmt::format("client {} launches kernel {}, which nobody has named", client, kernel));
  if (slots == 0) impossible(fmt::format("client {} launches a unit of no kernels", client));
  if (device >= most_devices)
    impossible(
        fmt::format("client {} launches on device {}: there are at most {}", client, device, most_devices));
  now = advance(now);
  const Sequence sequence = next_++;
  Stream& s = m.streams[stream];
  s.queue.push_back({sequence, kernel, slots, device});
  places_.emplace(sequence, std::pair{client, stream});
  ++queued_;
  if (log_)
    log_(fmt::format("{} launch {} client={} stream={} kernel={} slots={}{}", now, sequence, client, stream,
                     kernel, slots, device == 0 ? "" : fmt::format(" device={}", device)));
  if (s.queue.size() == 1 && !s.busy) make_ready(now, m, stream, s);
  return sequence;
}

void Scheduler::make_ready(Time now, Member& m, StreamId stream, Stream& s) {
  if (m.passed) return;
  const Queued& first = s.queue.front();
  Launch launch;
  launch.sequence = first.sequence;
  Device& d = device(first.device);
  Client& client = facts(m, first.device);
  launch.client = &client;
  launch.device = first.device;
  launch.stream = stream;
  launch.kernel = first.kernel;
  launch.profile = profile(first.kernel);
  const std::optional<LaunchShape>& shape = kernels_[first.kernel - 1].shape;
  launch.shape = shape ? &*shape : nullptr;
  launch.slots = first.slots;
  launch.ready = now;
  launch.grants_before = d.grants;
  const auto at = std::ranges::upper_bound(d.ready, first.sequence, {}, &Launch::sequence);
  d.ready.insert(at, launch);
  ++client.waiting;
}

// With its slots, if it has any.
Launch Scheduler::take_running(Sequence sequence) {
  for (Device& d : devices_) {
    const auto at = std::ranges::find(d.running, sequence, &Launch::sequence);
    if (at == d.running.end()) continue;
    const Launch launch = *at;
    --facts(*members_.at(launch.client->id), launch.device).running;
    d.free(static_cast<std::size_t>(at - d.running.begin()), settings_.limit);
    return launch;
  }
  const auto at = std::ranges::find(passed_, sequence, &Launch::sequence);
  const Launch launch = *at;
  passed_.erase(at);
  return launch;
}

void Scheduler::end(Time now, Sequence sequence, Time gpu_time) {
  if (!runs(sequence)) impossible(fmt::format("launch {} ends, but does not run", sequence));
  now = advance(now);
  const Launch launch = take_running(sequence);
  if (log_) log_(fmt::format("{} end {} gpu={}", now, sequence, gpu_time));
  const auto owner = members_.find(launch.client->id);
  Member& m = *owner->second;
  Client& client = facts(m, launch.device);
  client.gpu_time += gpu_time;
  client.solo_time += launch.profile != nullptr && launch.profile->time_ns ? *launch.profile->time_ns
                                                                           : static_cast<double>(gpu_time);
  if (m.gone) {
    if (!m.runs()) members_.erase(owner);
    return;
  }
  const auto stream = m.streams.find(launch.stream);
  stream->second.busy = false;
  if (stream->second.queue.empty()) {
    m.streams.erase(stream);
  } else {
    make_ready(now, m, stream->first, stream->second);
  }
}

void Scheduler::drop_waiting(Sequence sequence) {
  places_.erase(sequence);
  --queued_;
}

void Scheduler::cancel(Time now, Sequence sequence) {
  const auto place = places_.find(sequence);
  if (place == places_.end()) impossible(fmt::format("launch {} is withdrawn, but does not wait", sequence));
  now = advance(now);
  const auto [client, id] = place->second;
  Member& m = *members_.at(client);
  const auto stream = m.streams.find(id);
  Stream& s = stream->second;
  const bool first = !s.busy && s.queue.front().sequence == sequence;
  const std::uint32_t on = std::ranges::find(s.queue, sequence, &Queued::sequence)->device;
  std::erase_if(s.queue, [&](const Queued& q) { return q.sequence == sequence; });
  drop_waiting(sequence);
  if (log_) log_(fmt::format("{} cancel {}", now, sequence));
  if (first && !m.passed) {
    std::erase_if(device(on).ready, [&](const Launch& launch) { return launch.sequence == sequence; });
    --facts(m, on).waiting;
    if (!s.queue.empty()) make_ready(now, m, id, s);
  }
  if (s.queue.empty() && !s.busy) m.streams.erase(stream);
}

void Scheduler::leave(Time now, ClientId client, bool drain) {
  Member& m = member(client);
  now = advance(now);
  if (log_) log_(fmt::format("{} leave {}{}", now, client, drain ? " drain" : ""));
  const auto its = [&](const Launch& launch) { return launch.client->id == client; };
  for (Device& d : devices_) std::erase_if(d.ready, its);
  std::erase_if(passed_, its);
  for (const auto& [id, s] : m.streams)
    for (const Queued& q : s.queue) drop_waiting(q.sequence);
  m.streams.clear();
  for (Client& c : m.facts) c.waiting = 0;
  --clients_;
  if (drain && m.runs()) {
    m.gone = true;
    return;
  }
  for (Device& d : devices_)
    for (std::size_t i = d.running.size(); i-- > 0;)
      if (its(d.running[i])) d.free(i, settings_.limit);
  members_.erase(client);
}

void Scheduler::pass_over(Time now, ClientId client) {
  Member& m = member(client);
  if (m.passed) return;
  now = advance(now);
  m.passed = true;
  if (log_) log_(fmt::format("{} pass {}", now, client));
  const auto its = [&](const Launch& launch) { return launch.client->id == client; };
  for (Device& d : devices_) {
    std::ranges::copy_if(d.running, std::back_inserter(passed_), its);
    for (std::size_t i = d.running.size(); i-- > 0;)
      if (its(d.running[i])) d.free(i, settings_.limit);
    std::erase_if(d.ready, its);
  }
  for (Client& c : m.facts) c.running = c.waiting = 0;
}

// What ran meanwhile goes on without slots: they are others' by now.
void Scheduler::back(Time now, ClientId client) {
  Member& m = member(client);
  if (!m.passed) return;
  now = advance(now);
  m.passed = false;
  if (log_) log_(fmt::format("{} back {}", now, client));
  std::vector<StreamId> streams;  // in an order that a replay has, too
  for (const auto& [id, s] : m.streams)
    if (!s.busy && !s.queue.empty()) streams.push_back(id);
  std::ranges::sort(streams);
  for (const StreamId id : streams) make_ready(now, m, id, m.streams.at(id));
}

void Scheduler::set(Time now, const Policy& policy, const Settings& settings) {
  check_limit(settings);
  const std::string line = policy_line(policy, settings);
  if (line == policy_line(*policy_, settings_)) return;
  now = advance(now);
  policy_ = &policy;
  settings_ = settings;
  // A unit of more kernels than the limit has slots takes as many as there are.
  for (Device& d : devices_) {
    d.used = 0;
    for (const Launch& launch : d.running) d.used += std::min(launch.slots, settings_.limit);
  }
  if (log_) log_(fmt::format("{} {}", now, line));
}

// ---- decisions

std::span<const Grant> Scheduler::decide() {
  granted_.clear();
  if (std::exchange(decided_, true)) return granted_;
  for (Device& d : devices_)
    if (!d.ready.empty() && d.used < settings_.limit) decide_on(d);
  return granted_;
}

void Scheduler::decide_on(Device& d) {
  const Time now = now_;
  const View view{now, &settings_, d.ready, d.running, d.grants, d.used};
  d.choice.reset(view);
  policy_->decide(view, d.choice);
  for (const std::uint32_t place : d.choice.chosen()) {
    Launch& launch = d.ready[place];
    Member& m = *members_.at(launch.client->id);
    Client& c = facts(m, launch.device);
    if (c.last_grant == 0 || c.last_grant != d.grants) c.turn_began = now;
    ++grants_;
    c.last_grant = ++d.grants;
    ++c.grants, ++c.running, --c.waiting;
    const Time waited = now - launch.ready;
    c.waited += waited;
    Stream& s = m.streams.at(launch.stream);
    s.queue.pop_front();
    s.busy = true;
    drop_waiting(launch.sequence);
    d.used += std::min(launch.slots, settings_.limit);
    granted_.push_back({launch.sequence, c.id, launch.stream, launch.kernel, waited});
    if (log_) log_(fmt::format("{} grant {}", now, launch.sequence));
    d.running.push_back(launch);
    launch.client = nullptr;  // goes
  }
  std::erase_if(d.ready, [](const Launch& launch) { return launch.client == nullptr; });
}

}  // namespace simtlab::corun

#include "corun/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/shown.h"

namespace simtlab::corun {
namespace {

constexpr std::size_t longest_name = 4096;

[[noreturn]] void impossible(const std::string& message) { throw Error(ExitCode::bad_input, "corun-event", message); }

}  // namespace

struct Scheduler::Kernel {
  std::string name;
  Profile profile;
  bool known = false;
};

struct Scheduler::Queued {
  Sequence sequence = 0;
  KernelId kernel = 0;
  std::uint32_t slots = 1;
};

struct Scheduler::Stream {
  std::deque<Queued> queue;   // the first one is in ready_ unless `busy`
  bool busy = false;          // its latest granted launch runs
};

struct Scheduler::Member {
  Client client;
  std::unordered_map<StreamId, Stream> streams;   // with something that waits or runs
  bool gone = false;                              // left; something of it still runs
};

Scheduler::Scheduler(const Policy& policy, const Settings& settings, LineSink log) : policy_(policy), settings_(settings), log_(std::move(log)) {
  if (settings_.limit == 0) throw Error(ExitCode::usage, "corun-policy", "a limit of 0 launches would let nothing run", "give a limit of 1 or more");
  running_.reserve(settings_.limit < 4096 ? settings_.limit : 4096);
  if (log_) {
    log_(log_heading);
    log_(policy_line(policy_, settings_));
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

const Client* Scheduler::find(ClientId client) const {
  const auto at = members_.find(client);
  return at == members_.end() || at->second->gone ? nullptr : &at->second->client;
}

bool Scheduler::runs(Sequence sequence) const { return std::ranges::find(running_, sequence, &Launch::sequence) != running_.end(); }

const Profile* Scheduler::profile(KernelId kernel) const {
  return kernel == 0 || kernel > kernels_.size() || !kernels_[kernel - 1].known ? nullptr : &kernels_[kernel - 1].profile;
}

// ---- events

KernelId Scheduler::kernel(Time now, std::string_view name, const Profile* profile) {
  if (name.empty() || name.size() > longest_name) impossible(fmt::format("a kernel's name has 1 to {} bytes, this one {}", longest_name, name.size()));
  const auto [at, is_new] = kernel_ids_.try_emplace(shown(name, longest_name), static_cast<KernelId>(kernels_.size() + 1));
  if (is_new) kernels_.push_back({at->first, {}, false});
  Kernel& k = kernels_[at->second - 1];
  if (!is_new && (profile == nullptr || (k.known && k.profile == *profile))) return at->second;   // nothing new
  if (profile != nullptr) {
    k.profile = *profile;
    k.known = true;
    for (auto* const list : {&ready_, &running_})
      for (Launch& launch : *list)
        if (launch.kernel == at->second) launch.profile = &k.profile;
  }
  now = advance(now);
  if (log_) log_(kernel_line(now, at->second, k.name, profile));
  return at->second;
}

void Scheduler::join(Time now, ClientId client, std::int32_t priority) {
  if (members_.contains(client)) impossible(fmt::format("client {} has joined already", client));
  now = advance(now);
  auto made = std::make_unique<Member>();
  made->client.id = client;
  made->client.priority = priority;
  made->client.joined = now;
  members_.emplace(client, std::move(made));
  ++clients_;
  if (log_) log_(fmt::format("{} join {} priority={}", now, client, priority));
}

Sequence Scheduler::launch(Time now, ClientId client, StreamId stream, KernelId kernel, std::uint32_t slots) {
  Member& m = member(client);
  if (kernel == 0 || kernel > kernels_.size()) impossible(fmt::format("client {} launches kernel {}, which nobody has named", client, kernel));
  if (slots == 0) impossible(fmt::format("client {} launches a unit of no kernels", client));
  now = advance(now);
  const Sequence sequence = next_++;
  Stream& s = m.streams[stream];
  s.queue.push_back({sequence, kernel, slots});
  places_.emplace(sequence, std::pair{client, stream});
  ++queued_;
  if (log_) log_(fmt::format("{} launch {} client={} stream={} kernel={} slots={}", now, sequence, client, stream, kernel, slots));
  if (s.queue.size() == 1 && !s.busy) make_ready(now, m, stream, s);
  return sequence;
}

void Scheduler::make_ready(Time now, Member& m, StreamId stream, Stream& s) {
  const Queued& first = s.queue.front();
  Launch launch;
  launch.sequence = first.sequence;
  launch.client = &m.client;
  launch.stream = stream;
  launch.kernel = first.kernel;
  launch.profile = profile(first.kernel);
  launch.slots = first.slots;
  launch.ready = now;
  launch.grants_before = grants_;
  const auto at = std::ranges::upper_bound(ready_, first.sequence, {}, &Launch::sequence);
  ready_.insert(at, launch);
  ++m.client.waiting;
}

void Scheduler::free_running(std::size_t place) {
  used_ -= std::min(running_[place].slots, settings_.limit);
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(place));
}

void Scheduler::end(Time now, Sequence sequence, Time gpu_time) {
  const auto at = std::ranges::find(running_, sequence, &Launch::sequence);
  if (at == running_.end()) impossible(fmt::format("launch {} ends, but does not run", sequence));
  now = advance(now);
  const Launch launch = *at;
  free_running(static_cast<std::size_t>(at - running_.begin()));
  if (log_) log_(fmt::format("{} end {} gpu={}", now, sequence, gpu_time));
  const auto owner = members_.find(launch.client->id);
  Member& m = *owner->second;
  --m.client.running;
  m.client.gpu_time += gpu_time;
  m.client.solo_time += launch.profile != nullptr && launch.profile->time_ns ? *launch.profile->time_ns : static_cast<double>(gpu_time);
  if (m.gone) {
    if (m.client.running == 0) members_.erase(owner);
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
  std::erase_if(s.queue, [&](const Queued& q) { return q.sequence == sequence; });
  drop_waiting(sequence);
  if (log_) log_(fmt::format("{} cancel {}", now, sequence));
  if (first) {
    std::erase_if(ready_, [&](const Launch& launch) { return launch.sequence == sequence; });
    --m.client.waiting;
    if (!s.queue.empty()) make_ready(now, m, id, s);
  }
  if (s.queue.empty() && !s.busy) m.streams.erase(stream);
}

void Scheduler::leave(Time now, ClientId client, bool drain) {
  Member& m = member(client);
  now = advance(now);
  if (log_) log_(fmt::format("{} leave {}{}", now, client, drain ? " drain" : ""));
  const auto its = [&](const Launch& launch) { return launch.client == &m.client; };
  std::erase_if(ready_, its);
  for (const auto& [id, s] : m.streams)
    for (const Queued& q : s.queue) drop_waiting(q.sequence);
  m.streams.clear();
  m.client.waiting = 0;
  --clients_;
  if (drain && m.client.running > 0) {
    m.gone = true;
    return;
  }
  for (std::size_t i = running_.size(); i-- > 0;)
    if (its(running_[i])) free_running(i);
  members_.erase(client);
}

// ---- decisions

std::span<const Grant> Scheduler::decide() {
  granted_.clear();
  if (std::exchange(decided_, true) || ready_.empty() || used_ >= settings_.limit) return granted_;
  const Time now = now_;
  const View view{now, &settings_, ready_, running_, grants_, used_};
  choice_.reset(view);
  policy_.decide(view, choice_);
  for (const std::uint32_t place : choice_.chosen()) {
    Launch& launch = ready_[place];
    Member& m = *members_.at(launch.client->id);
    Client& c = m.client;
    if (c.last_grant == 0 || c.last_grant != grants_) c.turn_began = now;
    c.last_grant = ++grants_;
    ++c.grants, ++c.running, --c.waiting;
    const Time waited = now - launch.ready;
    c.waited += waited;
    Stream& s = m.streams.at(launch.stream);
    s.queue.pop_front();
    s.busy = true;
    drop_waiting(launch.sequence);
    used_ += std::min(launch.slots, settings_.limit);
    granted_.push_back({launch.sequence, c.id, launch.stream, launch.kernel, waited});
    if (log_) log_(fmt::format("{} grant {}", now, launch.sequence));
    running_.push_back(launch);
    launch.client = nullptr;   // goes
  }
  std::erase_if(ready_, [](const Launch& launch) { return launch.client == nullptr; });
  return granted_;
}

}  // namespace simtlab::corun

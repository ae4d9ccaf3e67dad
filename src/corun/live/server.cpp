#include "corun/live/server.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "corun/live/clock.h"
#include "corun/live/lookout.h"

namespace simtlab::corun::live {
namespace {

constexpr std::uint64_t for_listener = ~std::uint64_t{0}, for_wake = for_listener - 1;
constexpr int tend_every_ms = 1000, look_every_ms = 10;
constexpr std::uint64_t looks_of_a_grant = 4;  // until its limit

bool add(int epoll, int fd, std::uint32_t events, std::uint64_t what) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = what;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

Server::Server(const corun::Policy& policy, const corun::Settings& settings, ServerOptions options)
    : options_(std::move(options)),
      core_(policy, settings, options_.caps, options_.find_profile, options_.identify),
      listener_(options_.directory, 512),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      begin_ns_(clock_ns()) {
  if (!epoll_ || !wake_ || !add(epoll_.get(), listener_.socket.get(), EPOLLIN, for_listener) ||
      !add(epoll_.get(), wake_.get(), EPOLLIN, for_wake))
    throw Error(ExitCode::failure, "corun-socket", fmt::format("epoll: {}", std::strerror(errno)));
}

Server::~Server() = default;

std::uint64_t Server::now_ns() const { return clock_ns() - begin_ns_; }

void Server::stop() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wake_.get(), &one, sizeof one);
}

void Server::run(const std::function<bool()>& ended) {
  std::array<epoll_event, 64> events;
  std::uint64_t tended = now_ns();
  Lookout lookout;
  const auto wait = [&](int milliseconds) {
    return ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), milliseconds);
  };
  for (int count = 0;;) {
    // Who has just said something may soon say more.
    if (count == 0 || !lookout.look([&] { return (count = wait(0)) != 0; })) count = wait(wait_ms());
    if (count < 0 && errno != EINTR)
      throw Error(ExitCode::failure, "corun-socket", fmt::format("epoll: {}", std::strerror(errno)));
    for (int i = 0; i < count; ++i) {
      const std::uint64_t what = events[static_cast<std::size_t>(i)].data.u64;
      if (what == for_wake) {
        settle();
        return deliver();
      }
      if (what == for_listener) {
        accept_all();
        continue;
      }
      auto at = connections_.find(static_cast<ClientId>(what));
      if (at == connections_.end()) continue;
      const std::uint32_t flags = events[static_cast<std::size_t>(i)].events;
      if ((flags & EPOLLOUT) != 0) {
        flush(at->second);
        deliver();  // it may be lost by that
        at = connections_.find(static_cast<ClientId>(what));
        if (at == connections_.end()) continue;
      }
      // What came before the hang-up still counts: it is read to its end.
      if ((flags & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0) serve(at->second);
      deliver();
    }
    let_go();
    if (throttled_ != 0 || !notes_.empty() || now_ns() - tended > tend_every_ns()) {
      tended = now_ns();
      tend();
    }
    if (ended && ended()) return;
  }
}

void Server::accept_all() {
  for (;;) {
    Descriptor socket(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;  // none, or no descriptor left: it stays in the queue
    Peer peer;
    try {
      peer = options_.peer(socket.get());
    } catch (const Error&) {
      continue;  // of which nobody knows whose it is
    }
    // Another user can't reach the directory; whoever gets here anyway (a descriptor passed on) is not heard.
    if (peer.uid != ::geteuid()) continue;
    const ClientId id = core_.connect(peer.pid, now_ns());
    if (id == 0) {
      encode(Refused{Refusal::too_many, fmt::format("the daemon serves {} clients", options_.caps.clients)},
             packet_);
      send_packet(socket.get(), packet_.span());
      continue;
    }
    Connection& c = connections_[id];
    c.socket = std::move(socket);
    c.client = id;
    c.tokens = options_.burst;
    c.since_ns = c.tokens_at_ns = now_ns();
    if (!add(epoll_.get(), c.socket.get(), EPOLLIN | EPOLLRDHUP, id)) lose(id);
  }
}

// Tokens come with time and go with messages.
bool Server::has_token(Connection& c, std::uint64_t now) const {
  c.tokens = std::min<double>(options_.burst, c.tokens + static_cast<double>(now - c.tokens_at_ns) * 1e-9 *
                                                             options_.messages_per_second);
  c.tokens_at_ns = now;
  return c.tokens >= 1;
}

void Server::serve(Connection& c) {
  const ClientId id = c.client;
  const std::uint64_t now = now_ns();
  if (!has_token(c, now)) {
    if (c.reads) c.reads = false, ++throttled_, watch(c);
    return;
  }
  const int got = receive_packets(c.socket.get(), packets_);
  if (got < 0) return lose(id);
  for (int i = 0; i < got && !c.closing; ++i) {
    const Packet& packet = packets_[static_cast<std::size_t>(i)];
    if (packet.size == 0) return lose(id);
    c.tokens -= 1;
    ++c.heard;
    settle();
    const Decoded decoded = packet.size > most_bytes ? Decoded{std::nullopt, "longer than a message may be"}
                                                     : decode(packet.span());
    if (decoded.message)
      core_.receive(id, *decoded.message, now);
    else
      core_.malformed(id, decoded.fault, now);
    let_go();  // before the answer: who gets that may go on at once, before this thread does
    deliver();
    if (!connections_.contains(id)) return;
  }
}

// Nobody goes by himself any more, and what they did is known.
void Server::settle() {
  if (free_.empty()) return;
  for (const ClientId id : free_) connections_.at(id).ring.stop();
  read_notes();
  free_.clear();
}

// In the order of their times, whoever wrote them.
void Server::read_notes() {
  const std::uint64_t now = now_ns();
  notes_.clear();
  for (const ClientId id : free_) {
    const bool good = connections_.at(id).ring.read([&](const Message& message, std::uint64_t at_ns) {
      notes_.push_back({std::clamp(at_ns, begin_ns_, begin_ns_ + now) - begin_ns_, id, message});
    });
    if (!good) core_.malformed(id, "notes that make no sense", now);
  }
  if (free_.size() > 1) std::ranges::stable_sort(notes_, {}, &Note::at_ns);
  for (const Note& note : notes_) core_.noted(note.client, note.message, note.at_ns);
}

void Server::let_go() {
  if (!free_.empty()) return;
  for (const ClientId id : core_.may_go()) {
    Connection& c = connections_.at(id);
    if (c.closing || !c.unsent.empty()) continue;
    if (!c.ring) {
      c.ring = Ring::make();
      encode(Grant{0, Ring::slots}, packet_);
      if (!c.ring || send_packet(c.socket.get(), packet_.span(), c.ring.file()) != Sent::yes) {
        c.ring.close();
        continue;
      }
      c.ring.passed_on();
    }
    c.ring.let_go(c.heard);
    free_.push_back(id);
  }
}

// Sends what the core has to say. A client that is lost meanwhile may let others come forward: until nothing
// is left.
void Server::deliver() {
  for (std::vector<Core::Output> all = core_.take(); !all.empty(); all = core_.take()) {
    for (const Core::Output& one : all) {
      const auto at = connections_.find(one.client);
      if (at == connections_.end()) continue;
      send(at->second, one.message);
      if (one.close) at->second.closing = true;
      if (at->second.closing && at->second.unsent.empty()) gone_.push_back(one.client);
    }
    for (const ClientId id : std::exchange(gone_, {})) lose(id);
  }
}

void Server::send(Connection& c, const Message& message) {
  Packet packet;
  encode(message, packet);
  if (c.unsent.empty()) {
    const Sent sent = send_packet(c.socket.get(), packet.span());
    if (sent == Sent::yes) return;
    if (sent == Sent::gone) return gone_.push_back(c.client);
  }
  if (c.unsent.size() >= options_.most_unread) return gone_.push_back(c.client);
  c.unsent.push_back(packet);
  watch(c);
}

void Server::flush(Connection& c) {
  while (!c.unsent.empty()) {
    const Sent sent = send_packet(c.socket.get(), c.unsent.front().span());
    if (sent == Sent::full) return;
    if (sent == Sent::gone) return lose(c.client);
    c.unsent.pop_front();
  }
  if (c.closing) return lose(c.client);
  watch(c);
}

void Server::watch(Connection& c) {
  epoll_event event{};
  event.events = EPOLLRDHUP | (c.reads && !c.closing ? EPOLLIN : 0u) | (c.unsent.empty() ? 0u : EPOLLOUT);
  event.data.u64 = c.client;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, c.socket.get(), &event);
}

void Server::lose(ClientId id) {
  if (std::ranges::find(free_, id) != free_.end()) settle();  // what it did before it went
  const auto at = connections_.find(id);
  if (at == connections_.end()) return;
  if (!at->second.reads) --throttled_;
  connections_.erase(at);  // closes it, which also takes it out of epoll
  core_.disconnect(id, now_ns());
}

int Server::wait_ms() const {
  return throttled_ != 0   ? 1
         : !notes_.empty() ? look_every_ms
                           : static_cast<int>(tend_every_ns() / 1'000'000);
}

std::uint64_t Server::tend_every_ns() const {
  constexpr std::uint64_t longest = std::uint64_t{tend_every_ms} * 1'000'000;
  return options_.grant_limit_ns == 0
             ? longest
             : std::clamp<std::uint64_t>(options_.grant_limit_ns / looks_of_a_grant, 1'000'000, longest);
}

// Who holds a grant, keeps others waiting and does nothing is passed over, and who does something again is
// back. While there is such a one, those that wait are looked at, too: of a thousand clients half may be
// stopped, and each of them would hold a grant until the limit, one after the other. Who waits sleeps: only
// being stopped counts.
void Server::look_for_progress(std::uint64_t now) {
  if (options_.grant_limit_ns == 0) return;
  const auto idle_since = [&](const Core::Holder& holder) {
    Connection& c = connections_.at(holder.client);
    return c.watch.idle_since(options_.activity(holder.pid), c.heard, options_.clients_sleep || !holder.holds,
                              now);
  };
  const std::vector<Core::Holder> passed = core_.passed();
  std::vector<Core::Holder> watched = core_.holders();
  std::vector<std::uint64_t> idle;
  for (const Core::Holder& holder : watched) idle.push_back(idle_since(holder));
  if (std::ranges::any_of(idle, [&](std::uint64_t since) { return since < now; }))
    for (const Core::Holder& waiter : core_.waiters())
      watched.push_back(waiter), idle.push_back(idle_since(waiter));
  std::vector<ClientId> looked_at;
  for (const std::vector<Core::Holder>* list : {&std::as_const(watched), &passed})
    for (const Core::Holder& holder : *list) looked_at.push_back(holder.client);
  std::ranges::sort(looked_at);
  for (const ClientId before : std::exchange(watched_, looked_at))
    if (const auto at = connections_.find(before);
        at != connections_.end() && !std::ranges::binary_search(watched_, before))
      at->second.watch.forget();
  // Those that wait first: what becomes free is for nobody of them.
  for (std::size_t i = watched.size(); i-- > 0;) {
    if (now - std::min(now, std::max(idle[i], watched[i].since_ns)) < options_.grant_limit_ns) continue;
    settle();  // what it did by itself is known before
    core_.pass_over(watched[i].client, now_ns());
  }
  for (const Core::Holder& over : passed)
    if (idle_since(over) == now) core_.back(over.client, now);
}

// Clients that were too fast may go on; connections that say nothing end.
void Server::tend() {
  read_notes();
  const std::uint64_t now = now_ns();
  std::vector<ClientId> silent;
  for (auto& [id, c] : connections_) {
    if (!c.reads && has_token(c, now)) {
      c.reads = true, --throttled_;
      watch(c);
    }
    if (now - c.since_ns > options_.hello_within_ns && !c.closing && !core_.greeted(id)) silent.push_back(id);
  }
  look_for_progress(now);
  for (const ClientId id : silent) core_.refuse(id, Refusal::too_fast, "no Hello in time", now);
  deliver();
}

}  // namespace simtlab::corun::live

#include "corun/live/client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>

#include "corun/live/clock.h"

namespace simtlab::corun::live {
namespace {

// For a daemon that accepts but does not answer, or does not read
constexpr int patience_ms = 1000;
// Before a launch that waits for another one of its own looks whether the daemon is there
constexpr std::uint64_t longest_wait_ns = 100'000'000;

// False: not within the time.
bool ready(int fd, short events, int milliseconds) {
  pollfd one{fd, events, 0};
  const std::uint64_t end = clock_ns() + static_cast<std::uint64_t>(milliseconds) * 1'000'000;
  for (;;) {
    const std::uint64_t now = clock_ns();
    const int got = ::poll(&one, 1, now >= end ? 0 : static_cast<int>((end - now) / 1'000'000 + 1));
    if (got > 0) return true;
    if (got == 0 || errno != EINTR) return false;
  }
}

// From here on recv waits; with deadlines not for ever, so that they are looked at in between. Sends never
// wait (MSG_DONTWAIT).
void let_receive_wait(int fd, bool deadlines) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  if (!deadlines) return;  // a timer each time
  const timeval tick{0, 200'000};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tick, sizeof tick);
}

}  // namespace

std::uint32_t Client::kernel(std::string_view name, std::uint32_t registers, std::uint32_t shared_bytes) {
  const Lock lock(mutex_);
  return kernels_.add(name, registers, shared_bytes);
}

Client::Ticket Client::gate(Request launch) {
  Lock lock(mutex_);
  const std::uint64_t deadline =
      options_.wait_limit_ns == 0 ? ~std::uint64_t{0} : clock_ns() + options_.wait_limit_ns;
  for (;;) {
    if (go_alone(lock, launch, deadline)) return {launch.sequence, connection_, false};
    Ticket ticket;
    if (ensure_connected(lock) && ask(lock, launch, deadline, ticket)) return ticket;
    if (!options_.strict || left_ || clock_ns() >= deadline) {
      ++counts_.ungated;
      return {0, 0, clock_ns() >= deadline};
    }
    wake_.wait_for(lock, std::chrono::nanoseconds(options_.retry_ns));
  }
}

// False: the connection is lost.
bool Client::ask(Lock& lock, Request& launch, std::uint64_t deadline, Ticket& ticket) {
  Waiter waiter{next_sequence_++};
  const std::uint32_t connection = connection_;
  launch.sequence = waiter.sequence;
  if (!kernels_.tell([this](const Register& kernel) { return send(kernel); }) || !send(launch)) return false;
  waiters_.push_back(&waiter);
  await(lock, waiter, deadline);
  std::erase(waiters_, &waiter);
  if (waiter.state == State::lost) return false;
  if (waiter.state == State::granted) {
    ++counts_.gated;
    if (connected() && connection == connection_) flying_.push_back({waiter.sequence, launch.stream});
    ticket = {waiter.sequence, connection, false};
  } else {  // waited for too long
    send(Cancel{waiter.sequence});
    ticket.overdue = true;
    ++counts_.overdue;
  }
  return true;
}

// False: it is to ask. Whatever is not plain (another thread waits, another stream runs, a kernel is new) is
// the daemon's to decide.
bool Client::go_alone(Lock& lock, Request& launch, std::uint64_t deadline) {
  if (!ring_ || !await_own(lock, launch.stream, deadline) || !kernels_.all_told()) return false;
  launch.sequence = next_sequence_;
  if (!ring_.note(launch, clock_ns(), sent_)) return false;
  ++next_sequence_;
  ++counts_.gated, ++counts_.noted;
  flying_.push_back({launch.sequence, launch.stream});
  return true;
}

// Until nothing of ours runs; false: that is not to be waited for here.
bool Client::await_own(Lock& lock, std::uint64_t stream, std::uint64_t deadline) {
  for (;;) {
    // A daemon that has died or has something to say comes first.
    if (!listen() || !ring_ || !waiters_.empty() || !ring_.may_go(sent_)) return false;
    if (flying_.empty()) return true;
    if (std::ranges::any_of(flying_, [&](const Flying& f) { return f.stream != stream; })) return false;
    const std::uint64_t now = clock_ns();
    if (now >= deadline) return false;
    ++await_own_;
    wake_.wait_for(lock, std::chrono::nanoseconds(std::min(deadline - now, longest_wait_ns)));
    --await_own_;
  }
}

// Takes what has come, without waiting; false: there is no connection.
bool Client::listen() {
  while (connected() && !reading_) {
    const std::ptrdiff_t got = inbox_.receive(socket_.get());
    if (got == 0) return true;
    heard(got);
  }
  return connected();
}

void Client::done(const Ticket& ticket, std::uint64_t gpu_ns, bool failed, Span span) {
  if (!ticket) return;
  const Lock lock(mutex_);
  if (!connected() || ticket.connection != connection_) return;
  std::erase_if(flying_, [&](const Flying& f) { return f.sequence == ticket.sequence; });
  const Done end{ticket.sequence, gpu_ns, failed, span.begin_ns, span.end_ns};
  if (!ring_ || !ring_.note_end(end, clock_ns())) send(end);
  if (await_own_ != 0) wake_.notify_all();
}

void Client::leave() {
  const Lock lock(mutex_);
  left_ = true;
  if (connected()) send(Bye{});
  lose();
}

Client::Counts Client::counts() {
  const Lock lock(mutex_);
  return counts_;
}

// Other threads of the parent don't exist here, so nobody reads and nobody waits. The mutex was locked by
// this thread before the fork, but threads that waited for it or on the condition are gone without a trace:
// both are made anew.
void Client::after_fork_in_child() {
  new (&mutex_) std::mutex;
  new (&wake_) std::condition_variable;
  waiters_.clear();
  flying_.clear();
  await_own_ = 0;
  ring_.abandon();
  ring_.close();
  reading_ = false;
  // The parent's connection stays: only this end's name for it goes
  socket_.close();
  connected_.store(false);
  next_try_ns_ = 0;
  ++connection_;  // tickets of the parent are not ours
}

bool Client::ensure_connected(Lock& lock) {
  if (connected()) return true;
  if (left_ || reading_) return false;  // the thread that reads has yet to learn of the end
  const std::uint64_t now = clock_ns();
  if (now < next_try_ns_) return false;
  next_try_ns_ = now + options_.retry_ns;
  socket_ = connect_to(options_.directory);
  if (!socket_ || !greet()) {
    socket_.close();
    return false;
  }
  static_cast<void>(lock);
  let_receive_wait(socket_.get(), options_.wait_limit_ns != 0);
  connected_.store(true);
  kernels_.begin_connection();
  ++connection_;
  ++counts_.connections;
  wake_.notify_all();
  return true;
}

bool Client::greet() {
  encode(Hello{protocol_version, protocol_version, options_.shares, options_.program, options_.priority},
         out_);
  sent_ = 1;
  if (send_packet(socket_.get(), out_.span()) != Sent::yes || !ready(socket_.get(), POLLIN, patience_ms))
    return false;
  const std::ptrdiff_t got = inbox_.receive(socket_.get());
  if (got <= 0 || got > static_cast<std::ptrdiff_t>(most_bytes)) return false;
  const Decoded decoded = inbox_.decoded();
  return decoded.message && std::holds_alternative<Welcome>(*decoded.message);
}

bool Client::send(const Message& message) {
  if (!connected()) return false;
  encode(message, out_);
  for (;;) {
    const Sent sent = send_packet(socket_.get(), out_.span());
    if (sent == Sent::yes) return ++sent_, true;
    if (sent == Sent::gone || !ready(socket_.get(), POLLOUT, patience_ms)) break;
  }
  lose();
  return false;
}

// Everybody who waits is told; the descriptor stays until nobody reads from it.
void Client::lose() {
  if (!connected()) return;
  connected_.store(false);
  ring_.close();
  flying_.clear();
  ::shutdown(socket_.get(), SHUT_RDWR);
  for (Waiter* waiter : waiters_)
    if (waiter->state == State::waits) waiter->state = State::lost;
  wake_.notify_all();
}

void Client::await(Lock& lock, Waiter& waiter, std::uint64_t deadline_ns) {
  while (waiter.state == State::waits) {
    const std::uint64_t now = clock_ns();
    if (now >= deadline_ns) return wake_.notify_all();
    if (!reading_)
      read_one(lock);
    else if (deadline_ns == ~std::uint64_t{0})
      wake_.wait(lock);
    else
      wake_.wait_for(lock, std::chrono::nanoseconds(deadline_ns - now));
  }
  // Somebody else must read now.
  if (!waiters_.empty()) wake_.notify_all();
}

void Client::read_one(Lock& lock) {
  reading_ = true;
  const int fd = socket_.get();
  lock.unlock();
  const std::ptrdiff_t got = inbox_.wait(fd);
  lock.lock();
  reading_ = false;
  if (got != 0) heard(got);
}

void Client::heard(std::ptrdiff_t got) {
  if (got < 0) return lose();
  const Decoded decoded = inbox_.decoded();
  if (got <= static_cast<std::ptrdiff_t>(most_bytes) && decoded.message)
    take(*decoded.message);
  else
    lose();
}

void Client::take(const Message& message) {
  if (const auto* grant = std::get_if<Grant>(&message)) {
    if (grant->credits != 0) {
      ring_ = Ring::of(inbox_.passed());
      inbox_.passed().close();
      return;
    }
    for (Waiter* waiter : waiters_)
      if (waiter->sequence == grant->sequence) waiter->state = State::granted;
    return wake_.notify_all();
  }
  if (std::holds_alternative<Refused>(message) || std::holds_alternative<Bye>(message)) lose();
}

}  // namespace simtlab::corun::live

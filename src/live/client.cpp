#include "live/client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>

#include "live/clock.h"

namespace simtlab::live {
namespace {

constexpr int patience_ms = 1000;                // for a daemon that accepts but does not answer, or does not read

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

// From here on recv waits, but not for ever: deadlines are looked at in between. Sends never wait (MSG_DONTWAIT).
void let_receive_wait(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  const timeval tick{0, 200'000};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tick, sizeof tick);
}

}  // namespace

std::uint32_t Client::kernel(std::string_view name, std::uint32_t registers, std::uint32_t shared_bytes) {
  const Lock lock(mutex_);
  if (kernels_.size() == most_kernels) return most_kernels - 1;
  if (kernels_.size() == most_kernels - 1) kernels_.push_back({"(other kernels)", 0, 0});
  else kernels_.push_back({std::string(name.substr(0, most_name)), registers, shared_bytes});
  return static_cast<std::uint32_t>(kernels_.size() - 1);
}

Client::Ticket Client::gate(Request launch) {
  Lock lock(mutex_);
  const std::uint64_t deadline = options_.wait_limit_ns == 0 ? ~std::uint64_t{0} : clock_ns() + options_.wait_limit_ns;
  for (;;) {
    if (ensure_connected(lock)) {
      Waiter waiter{next_sequence_++};
      const std::uint32_t connection = connection_;
      launch.sequence = waiter.sequence;
      while (registered_ < kernels_.size() && send(Register{registered_, kernels_[registered_].registers, kernels_[registered_].shared_bytes, kernels_[registered_].name})) ++registered_;
      if (registered_ == kernels_.size() && send(launch)) {
        waiters_.push_back(&waiter);
        await(lock, waiter, deadline);
        std::erase(waiters_, &waiter);
        if (waiter.state == State::granted) {
          ++counts_.gated;
          return {waiter.sequence, connection};
        }
        if (waiter.state == State::waits) {   // for too long
          send(Cancel{waiter.sequence});
          ++counts_.overdue;
          return {};
        }
      }
    }
    if (!options_.strict || left_ || clock_ns() >= deadline) {
      ++counts_.ungated;
      return {};
    }
    wake_.wait_for(lock, std::chrono::nanoseconds(options_.retry_ns));
  }
}

void Client::done(const Ticket& ticket, std::uint64_t gpu_ns, bool failed) {
  if (!ticket) return;
  const Lock lock(mutex_);
  if (connected() && ticket.connection == connection_) send(Done{ticket.sequence, gpu_ns, failed});
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

// Other threads of the parent don't exist here, so nobody reads and nobody waits. The mutex was locked by this thread before the fork, but
// threads that waited for it or on the condition are gone without a trace: both are made anew.
void Client::after_fork_in_child() {
  new (&mutex_) std::mutex;
  new (&wake_) std::condition_variable;
  waiters_.clear();
  reading_ = false;
  socket_.close();                               // the parent's connection stays: only this end's name for it goes
  connected_.store(false);
  next_try_ns_ = 0;
  ++connection_;                                 // tickets of the parent are not ours
}

bool Client::ensure_connected(Lock& lock) {
  if (connected()) return true;
  if (left_ || reading_) return false;           // the thread that reads has yet to learn of the end
  const std::uint64_t now = clock_ns();
  if (now < next_try_ns_) return false;
  next_try_ns_ = now + options_.retry_ns;
  socket_ = connect_to(options_.directory);
  if (!socket_ || !greet()) {
    socket_.close();
    return false;
  }
  static_cast<void>(lock);
  let_receive_wait(socket_.get());
  connected_.store(true);
  registered_ = 0;
  ++connection_;
  ++counts_.connections;
  wake_.notify_all();
  return true;
}

bool Client::greet() {
  encode(Hello{protocol_version, protocol_version, options_.program}, out_);
  if (send_packet(socket_.get(), out_.span()) != Sent::yes || !ready(socket_.get(), POLLIN, patience_ms)) return false;
  const std::ptrdiff_t got = receive_packet(socket_.get(), in_);
  if (got <= 0 || got > static_cast<std::ptrdiff_t>(most_bytes)) return false;
  const Decoded decoded = decode(in_.span());
  return decoded.message && std::holds_alternative<Welcome>(*decoded.message);
}

bool Client::send(const Message& message) {
  if (!connected()) return false;
  encode(message, out_);
  for (;;) {
    const Sent sent = send_packet(socket_.get(), out_.span());
    if (sent == Sent::yes) return true;
    if (sent == Sent::gone || !ready(socket_.get(), POLLOUT, patience_ms)) break;
  }
  lose();
  return false;
}

// Everybody who waits is told; the descriptor stays until nobody reads from it.
void Client::lose() {
  if (!connected()) return;
  connected_.store(false);
  ::shutdown(socket_.get(), SHUT_RDWR);
  for (Waiter* waiter : waiters_)
    if (waiter->state == State::waits) waiter->state = State::lost;
  wake_.notify_all();
}

void Client::await(Lock& lock, Waiter& waiter, std::uint64_t deadline_ns) {
  while (waiter.state == State::waits) {
    const std::uint64_t now = clock_ns();
    if (now >= deadline_ns) return wake_.notify_all();
    if (!reading_) read_one(lock);
    else if (deadline_ns == ~std::uint64_t{0}) wake_.wait(lock);
    else wake_.wait_for(lock, std::chrono::nanoseconds(deadline_ns - now));
  }
  // Somebody else must read now.
  if (!waiters_.empty()) wake_.notify_all();
}

void Client::read_one(Lock& lock) {
  reading_ = true;
  const int fd = socket_.get();
  lock.unlock();
  const ssize_t got = ::recv(fd, in_.bytes.data(), in_.bytes.size(), 0);
  const int error = errno;
  lock.lock();
  reading_ = false;
  if (got < 0 && (error == EINTR || error == EAGAIN || error == EWOULDBLOCK)) return;
  if (got <= 0) return lose();
  in_.size = static_cast<std::size_t>(got);
  const Decoded decoded = decode(in_.span());
  if (decoded.message) take(*decoded.message);
  else lose();
}

void Client::take(const Message& message) {
  if (const auto* grant = std::get_if<Grant>(&message)) {
    for (Waiter* waiter : waiters_)
      if (waiter->sequence == grant->sequence) waiter->state = State::granted;
    return wake_.notify_all();
  }
  if (std::holds_alternative<Refused>(message) || std::holds_alternative<Bye>(message)) lose();
}

}  // namespace simtlab::live

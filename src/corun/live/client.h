// The gated program's end. Any thread may ask and waits by itself: no thread of ours, no signal, no
// descriptor that a child inherits across exec.
//
// The connection is made at the first launch and again when it was lost. While there is none, launches go on
// ungated, or with `strict` wait for the daemon. Of several threads that wait, one reads the socket and wakes
// the others. While nobody else is gated, launches that follow one another go without asking and are noted in
// a memory that the daemon reads (ring.h).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "corun/live/inbox.h"
#include "corun/live/kernel_names.h"
#include "corun/live/protocol.h"
#include "corun/live/ring.h"

namespace simtlab::corun::live {

struct ClientOptions {
  std::filesystem::path directory;
  std::string program;
  std::int32_t priority = 0;  // above 0: served first by the policy priority
  bool strict = false;
  std::uint64_t wait_limit_ns = 0;       // a launch that waits longer goes ungated; 0: no limit
  std::uint64_t retry_ns = 100'000'000;  // between two attempts to connect
  bool shares = true;                    // goes without asking when it may (ring.h)
};

class Client {
 public:
  explicit Client(ClientOptions options) : options_(std::move(options)) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // A number for the kernel's name, for Launch::kernel.
  std::uint32_t kernel(std::string_view name, std::uint32_t registers = 0, std::uint32_t shared_bytes = 0);

  struct Ticket {
    std::uint64_t sequence = 0;  // 0: ungated, nothing is to be told
    std::uint32_t connection = 0;
    bool overdue = false;  // ungated: it has waited for too long
    explicit operator bool() const { return sequence != 0; }
  };
  // Waits until the launch may be made. launch.sequence is filled in here.
  Ticket gate(Request launch);
  // span: of a simulated GPU, when the launch began and ended by its clock.
  struct Span {
    std::uint64_t begin_ns = 0, end_ns = 0;
  };
  void done(const Ticket& ticket, std::uint64_t gpu_ns, bool failed, Span span = {0, 0});
  // Says goodbye; whatever comes later is ungated (or waits, with strict). For the end of the process.
  void leave();
  bool connected() const { return connected_.load(std::memory_order_relaxed); }

  struct Counts {
    // Noted: of those gated, without asking
    std::uint64_t gated = 0, noted = 0, ungated = 0, overdue = 0, connections = 0;
  };
  Counts counts();

  // pthread_atfork: the child has no connection, and no threads that wait.
  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child();

 private:
  enum class State : std::uint8_t { waits, granted, lost };
  struct Waiter {
    std::uint64_t sequence = 0;
    State state = State::waits;
  };
  using Lock = std::unique_lock<std::mutex>;

  struct Flying {
    std::uint64_t sequence = 0, stream = 0;
  };
  bool ensure_connected(Lock& lock);
  bool ask(Lock& lock, Request& launch, std::uint64_t deadline_ns, Ticket& ticket);
  bool go_alone(Lock& lock, Request& launch, std::uint64_t deadline_ns);
  bool await_own(Lock& lock, std::uint64_t stream, std::uint64_t deadline_ns);
  bool listen();
  bool greet();
  bool send(const Message& message);
  void lose();
  void await(Lock& lock, Waiter& waiter, std::uint64_t deadline_ns);
  void read_one(Lock& lock);
  void heard(std::ptrdiff_t got);
  void take(const Message& message);

  ClientOptions options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Descriptor socket_;
  std::atomic<bool> connected_{false};
  bool reading_ = false;  // a thread is in recv, without the lock
  bool left_ = false;
  std::uint32_t connection_ = 0;  // how many there have been
  std::uint64_t next_sequence_ = 1, next_try_ns_ = 0;
  KernelNames kernels_;
  std::vector<Waiter*> waiters_;
  std::vector<Flying> flying_;  // granted, not done, on this connection
  unsigned await_own_ = 0;      // threads that wait for them
  Ring ring_;
  std::uint32_t sent_ = 0;  // messages, on this connection
  Counts counts_;
  Packet out_{};
  Inbox inbox_;  // of the thread that reads
};

}  // namespace simtlab::corun::live

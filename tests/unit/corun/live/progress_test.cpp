// Clients that hold a grant and do nothing: who is passed over, who is not, and what happens when one comes
// back.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "corun/log.h"
#include "live_daemon.h"

namespace simtlab::corun::live {
namespace {

constexpr std::uint64_t limit_ns = 100'000'000;

bool soon(const std::function<bool()>& is_so) {
  for (int i = 0; i < 2000 && !is_so(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return is_so();
}

// A daemon with one slot to which all clients look alike: as `ticks` and `stopped` say.
struct Watched {
  Watched() {
    ServerOptions options;
    options.grant_limit_ns = limit_ns;
    options.activity = [this](pid_t) {
      return std::optional(Activity{stopped, ticks_move ? ++ticks : ticks.load()});
    };
    daemon.emplace(folder.path, "mps", 1, options);
  }
  Folder folder;
  std::atomic<bool> stopped{false}, ticks_move{false};
  std::atomic<std::uint64_t> ticks{0};
  std::optional<Running> daemon;
};

bool granted(Raw& who, std::uint64_t sequence, int milliseconds = 5000) {
  const std::optional<Message> heard = who.hear(milliseconds);
  const Grant* grant = heard ? std::get_if<Grant>(&*heard) : nullptr;
  return grant != nullptr && grant->sequence == sequence;
}

void demand(Raw& who, std::uint64_t sequence, std::uint64_t stream = 0) {
  Request request;
  request.sequence = sequence;
  request.stream = stream;
  ASSERT_TRUE(who.say(request));
}

TEST(LiveProgress, AClientThatDoesNothingIsPassedOverAndItsEndCounts) {
  Watched w;
  Raw holder(w.folder.path), other(w.folder.path);
  ASSERT_TRUE(holder.greet() && other.greet());
  demand(holder, 1);
  ASSERT_TRUE(granted(holder, 1));
  demand(other, 1);
  EXPECT_TRUE(granted(other, 1)) << "after the limit, though the first one has not ended";
  other.say(Done{1, 5, false});
  holder.say(Done{1, 5, false});
  demand(holder, 2);
  EXPECT_TRUE(granted(holder, 2)) << "it is back";
  holder.say(Done{2, 5, false});
  holder.say(Bye{}), other.say(Bye{});
  soon([&] { return !holder.hear(100).has_value(); });
  const Totals t = w.daemon->end();
  EXPECT_EQ(t.passes, 1u);
  EXPECT_EQ(t.done, 3u);
  EXPECT_EQ(t.running + t.passed + t.waiting + t.lost, 0u);
  EXPECT_EQ(corun::replay(w.daemon->log, "log").difference, "");
}

TEST(LiveProgress, WhoIsAtWorkOrKeepsNobodyWaitingIsLeftAlone) {
  Watched w;
  Raw holder(w.folder.path), other(w.folder.path);
  ASSERT_TRUE(holder.greet() && other.greet());
  demand(holder, 1);
  ASSERT_TRUE(granted(holder, 1));
  std::this_thread::sleep_for(std::chrono::nanoseconds(4 * limit_ns));
  w.ticks_move = true;
  demand(other, 1);
  EXPECT_FALSE(granted(other, 1, 600)) << "a long kernel of a process that looks for its end";
  w.stopped = true;
  EXPECT_TRUE(granted(other, 1)) << "a stopped process does nothing, whatever its counters say";
  EXPECT_EQ(w.daemon->end().passes, 1u);
}

// Of a thousand clients every second one is stopped. All stopped ones are passed over at about the same time,
// not one after the other; they are served when they go on.
TEST(LiveProgress, OfAThousandClientsHalfAreStopped) {
  constexpr int clients = 1000;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < 2 * clients + 100) GTEST_SKIP() << "too few descriptors: " << files.rlim_cur;
  Folder folder;
  std::atomic<bool> half_stopped{true};
  std::atomic<pid_t> next{1};
  ServerOptions options;
  options.caps.clients = clients;
  options.grant_limit_ns = limit_ns;
  options.peer = [&](int socket) { return Peer{next++, peer_of(socket).uid}; };
  options.activity = [&](pid_t pid) { return std::optional(Activity{half_stopped && pid % 2 == 1, 0}); };
  options.clients_sleep = true;
  Running daemon(folder.path, "mps", 4, options);
  std::vector<std::unique_ptr<Raw>> all;
  for (int i = 0; i < clients; ++i) {
    all.push_back(std::make_unique<Raw>(folder.path));
    ASSERT_TRUE(all.back()->greet()) << i;
  }
  for (auto& one : all) demand(*one, 1);
  // The first one is number 1.
  const auto serve = [&](int first) {
    int served = 0;
    for (int i = first; i < clients; i += 2) {
      if (!granted(*all[static_cast<std::size_t>(i)], 1)) break;
      ++served, all[static_cast<std::size_t>(i)]->say(Done{1, 5, false});
    }
    return served;
  };
  EXPECT_EQ(serve(1), clients / 2) << "those that are not stopped";
  half_stopped = false;
  EXPECT_EQ(serve(0), clients / 2) << "the others, once they go on";
  for (auto& one : all) one->say(Bye{});
  soon([&] { return !all.back()->hear(100).has_value(); });
  const Totals t = daemon.end();
  // The last ones hold a slot that nobody else wants any more.
  EXPECT_GE(t.passes, static_cast<std::uint64_t>(clients / 2 - 4));
  EXPECT_LE(t.passes, static_cast<std::uint64_t>(clients / 2 + 20)) << "once each";
  EXPECT_EQ(t.grants, static_cast<std::uint64_t>(clients));
  EXPECT_EQ(t.running + t.waiting, 0u);
  EXPECT_EQ(corun::replay(daemon.log, "log").difference, "");
}

TEST(LiveProgress, ZeroMeansNever) {
  Folder folder;
  ServerOptions options;
  options.grant_limit_ns = 0;
  options.activity = [](pid_t) { return std::optional(Activity{true, 0}); };
  Running daemon(folder.path, "mps", 1, options);
  Raw holder(folder.path), other(folder.path);
  ASSERT_TRUE(holder.greet() && other.greet());
  demand(holder, 1);
  ASSERT_TRUE(granted(holder, 1));
  demand(other, 1);
  EXPECT_FALSE(granted(other, 1, 1500));
}

// A process that is stopped by a signal, as the system tells it, goes without asking before: what it did is
// known, and it comes back by itself.
TEST(LiveProgress, AStoppedProcessComesBackWhenItGoesOn) {
  Folder folder;
  ServerOptions options;
  options.grant_limit_ns = 500'000'000;
  Running daemon(folder.path, "mps", 1, options);
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Client client(to(folder.path));
    client.kernel("k");
    for (int i = 0; i < 50; ++i) client.done(client.gate({}), 5, false);
    const Client::Ticket held = client.gate({});
    if (::write(ready[1], "x", 1) != 1) ::_exit(2);
    ::raise(SIGSTOP);
    client.done(held, 5, false);
    for (int i = 0; i < 50; ++i) client.done(client.gate({}), 5, false);
    client.leave();
    ::_exit(client.counts().gated == 101 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  Client other(to(folder.path));
  other.kernel("k");
  for (int i = 0; i < 20; ++i) {
    const Client::Ticket ticket = other.gate({});
    ASSERT_TRUE(ticket);
    other.done(ticket, 5, false);
  }
  ::kill(child, SIGCONT);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  other.leave();
  ::close(ready[0]), ::close(ready[1]);
  const Totals t = daemon.end();
  EXPECT_EQ(t.passes, 1u);
  EXPECT_EQ(t.done, 121u);
  EXPECT_EQ(t.lost + t.running + t.passed, 0u);
  EXPECT_EQ(corun::replay(daemon.log, "log").difference, "");
}

TEST(LiveProgress, TheSystemTellsOfStoppedAndOfBusyProcesses) {
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) asm volatile("");
  EXPECT_TRUE(soon([&] { return activity_of(child)->processor_ticks > 3; }));
  EXPECT_FALSE(activity_of(child)->stopped);
  ::kill(child, SIGSTOP);
  EXPECT_TRUE(soon([&] { return activity_of(child)->stopped; }));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(activity_of(child).has_value());
}

}  // namespace
}  // namespace simtlab::corun::live

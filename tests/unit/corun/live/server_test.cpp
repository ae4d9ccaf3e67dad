// Daemon and clients over real sockets, in one process: threads, faults, hostile peers.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "base/error.h"
#include "corun/log.h"
#include "live_daemon.h"

namespace simtlab::corun::live {
namespace {

namespace fs = std::filesystem;

TEST(LiveServer, ThreadsOfAClientAreServedSideBySide) {
  Folder folder;
  Running daemon(folder.path, "mps", 3);
  Client client(to(folder.path));
  const std::uint32_t kernel = client.kernel("k");
  std::atomic<int> inside{0}, most{0};
  std::vector<std::thread> threads;
  constexpr std::uint64_t each = 200, count = 8;
  for (std::uint64_t t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < each; ++i) {
        Request request;
        request.stream = t;
        request.kernel = kernel;
        const Client::Ticket ticket = client.gate(request);
        ASSERT_TRUE(ticket);
        const int now = ++inside;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {}
        --inside;
        client.done(ticket, 5, false);
      }
    });
  for (std::thread& t : threads) t.join();
  client.leave();
  const Totals totals = daemon.end();
  EXPECT_EQ(totals.grants, each * count);
  EXPECT_EQ(totals.done, each * count);
  EXPECT_EQ(totals.running, 0u);
  EXPECT_LE(most, 3);
  const corun::Replayed again = corun::replay(daemon.log, "log");
  EXPECT_EQ(again.difference, "");
  EXPECT_EQ(again.grants, each * count);
}

TEST(LiveServer, WithoutADaemonLaunchesGoOn) {
  Folder folder;
  Client client(to(folder.path));
  EXPECT_FALSE(client.gate({}));
  EXPECT_EQ(client.counts().ungated, 1u);
}

TEST(LiveServer, ADaemonThatDiesReleasesWhoWaitsAndANewOneTakesOver) {
  Folder folder;
  auto daemon = std::make_unique<Running>(folder.path, "mps", 1);
  Client holder(to(folder.path)), waiter(to(folder.path));
  holder.kernel("k"), waiter.kernel("k");
  const Client::Ticket held = holder.gate({});
  ASSERT_TRUE(held);
  std::thread waiting([&] { EXPECT_FALSE(waiter.gate({})); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  daemon.reset();
  waiting.join();
  holder.done(held, 1, false);  // nobody listens; nothing happens
  daemon = std::make_unique<Running>(folder.path, "mps", 1);
  Client::Ticket again;
  for (int i = 0; i < 500 && !again; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    again = waiter.gate({});
  }
  EXPECT_TRUE(again);
  EXPECT_EQ(waiter.counts().connections, 2u);
  waiter.done(again, 1, false);
}

TEST(LiveServer, StrictClientsWaitForTheDaemon) {
  Folder folder;
  Client client(to(folder.path, true));
  client.kernel("k");
  std::atomic<bool> granted{false};
  std::thread waiting([&] { granted = static_cast<bool>(client.gate({})); });
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_FALSE(granted);
  Running daemon(folder.path);
  waiting.join();
  EXPECT_TRUE(granted);
}

TEST(LiveServer, WhoWaitsTooLongGoesUngatedAndItIsCounted) {
  Folder folder;
  Running daemon(folder.path, "mps", 1);
  Client holder(to(folder.path));
  holder.kernel("k");
  ASSERT_TRUE(holder.gate({}));
  ClientOptions options = to(folder.path);
  options.wait_limit_ns = 50'000'000;
  Client impatient(options);
  impatient.kernel("k");
  EXPECT_FALSE(impatient.gate({}));
  EXPECT_EQ(impatient.counts().overdue, 1u);
  impatient.leave();
  EXPECT_EQ(daemon.end().cancelled, 1u);
}

TEST(LiveServer, AForkedChildHasAConnectionOfItsOwn) {
  Folder folder;
  Running daemon(folder.path, "mps", 8);
  Client client(to(folder.path));
  client.kernel("k");
  const Client::Ticket mine = client.gate({});
  ASSERT_TRUE(mine);
  client.before_fork();
  const pid_t child = ::fork();
  if (child == 0) {
    client.after_fork_in_child();
    client.done(mine, 1, false);  // not the child's
    const Client::Ticket own = client.gate({});
    client.done(own, 1, false);
    client.leave();
    ::_exit(own ? 0 : 1);
  }
  client.after_fork_in_parent();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  client.done(mine, 1, false);
  client.leave();
  const Totals totals = daemon.end();
  EXPECT_EQ(totals.connections, 2u);
  EXPECT_EQ(totals.done, 2u);
}

TEST(LiveServer, AClientKilledAtAnyStepHarmsNobody) {
  Folder folder;
  Running daemon(folder.path, "mps", 1);
  Raw other(folder.path);
  ASSERT_TRUE(other.greet());
  std::uint64_t sequence = 0;
  for (int step = 0; step < 7; ++step) {
    {
      Raw victim(folder.path);  // its socket closes at every stage of a launch
      if (step >= 1) victim.say(Hello{protocol_version, protocol_version, false, "victim"});
      if (step >= 2) victim.say(Register{0, 0, 0, "k"});
      Request request;
      request.sequence = 1;
      if (step >= 3) victim.say(request);
      if (step >= 4) victim.hear(), victim.hear();
      request.sequence = 2;
      if (step >= 5) victim.say(request);
      if (step >= 6) victim.say(Done{1, 1, false});
    }
    Request request;
    request.sequence = ++sequence;
    ASSERT_TRUE(other.say(request));
    const std::optional<Message> answer = other.hear();
    ASSERT_TRUE(answer && std::holds_alternative<Grant>(*answer))
        << "after a client that was killed at step " << step;
    other.say(Done{sequence, 1, false});
  }
  const Totals totals = daemon.end();
  EXPECT_EQ(totals.running, 0u);
  EXPECT_EQ(totals.waiting, 0u);
}

TEST(LiveServer, GarbageAndHalfMessagesEndTheirConnection) {
  Folder folder;
  Running daemon(folder.path);
  Packet whole;
  encode(Hello{protocol_version, protocol_version, false, "x"}, whole);
  const std::string good(reinterpret_cast<const char*>(whole.bytes.data()), whole.size);
  for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n"), good.substr(0, 20), good.substr(0, 4),
                                   std::string(100000, 'A'), good + "x"}) {
    Raw peer(folder.path);
    ASSERT_TRUE(peer.socket);
    ASSERT_TRUE(peer.bytes(bytes));
    const std::optional<Message> answer = peer.hear();
    ASSERT_TRUE(answer && std::holds_alternative<Refused>(*answer)) << bytes.size();
    EXPECT_FALSE(peer.hear(1000)) << "and then it is closed";
  }
  Raw fine(folder.path);
  EXPECT_TRUE(fine.greet());
}

TEST(LiveServer, PeersOfAnotherUserAreNotHeard) {
  Folder folder;
  ServerOptions options;
  std::atomic<uid_t> pretend{::geteuid() + 1};
  options.peer = [&](int socket) { return Peer{peer_of(socket).pid, pretend}; };
  Running daemon(folder.path, "mps", 8, options);
  Raw hostile(folder.path);
  ASSERT_TRUE(hostile.socket);
  hostile.say(Hello{protocol_version, protocol_version, false, "hostile"});
  EXPECT_FALSE(hostile.hear(2000));
  pretend = ::geteuid();
  Raw friendly(folder.path);
  EXPECT_TRUE(friendly.greet());
  EXPECT_EQ(daemon.end().connections, 1u);
}

TEST(LiveServer, ASlowReaderIsLetGo) {
  Folder folder;
  ServerOptions options;
  options.most_unread = 50;
  Running daemon(folder.path, "mps", 8, options);
  Raw slow(folder.path), good(folder.path);
  ASSERT_TRUE(slow.greet() && good.greet());
  for (int i = 0; i < 100000; ++i)
    if (!slow.say(StatsRequest{0})) {
      pollfd one{slow.socket.get(), POLLOUT, 0};
      if (::poll(&one, 1, 200) <= 0 || (one.revents & (POLLERR | POLLHUP)) != 0) break;
    }
  EXPECT_TRUE(good.say(StatsRequest{0}));
  const std::optional<Message> answer = good.hear();
  ASSERT_TRUE(answer);
  EXPECT_EQ(std::get<Stats>(*answer).totals.clients, 1u);
}

TEST(LiveServer, ATooFastClientWaitsInItsSocketAndOthersAreServed) {
  Folder folder;
  ServerOptions options;
  options.messages_per_second = 1000;
  options.burst = 10;
  Running daemon(folder.path, "mps", 8, options);
  Raw fast(folder.path), good(folder.path);
  ASSERT_TRUE(fast.greet() && good.greet());
  int sent = 0;
  while (sent < 5000 && fast.say(Cancel{1})) ++sent;
  ASSERT_GT(sent, 50);
  EXPECT_TRUE(good.say(StatsRequest{0}));
  EXPECT_TRUE(good.hear(3000));
  EXPECT_TRUE(fast.say(StatsRequest{0}) || true);
  EXPECT_EQ(daemon.end().clients, 2u) << "it is slowed, not ended";
}

TEST(LiveServer, ManyConnectionsAndNoMore) {
  Folder folder;
  ServerOptions options;
  options.caps.clients = 500;
  Running daemon(folder.path, "mps", 8, options);
  std::vector<std::unique_ptr<Raw>> all;
  for (int i = 0; i < 500; ++i) {
    all.push_back(std::make_unique<Raw>(folder.path));
    ASSERT_TRUE(all.back()->greet()) << i;
  }
  Raw late(folder.path);
  const std::optional<Message> answer = late.hear();
  ASSERT_TRUE(answer);
  EXPECT_EQ(std::get<Refused>(*answer).reason, Refusal::too_many);
  for (auto& one : all) {
    Request request;
    request.sequence = 1;
    ASSERT_TRUE(one->say(request));
  }
  std::uint64_t grants = 0;
  for (auto& one : all)
    if (const std::optional<Message> got = one->hear(5000); got && std::holds_alternative<Grant>(*got))
      ++grants, one->say(Done{1, 1, false});
  EXPECT_EQ(grants, 500u) << "each end lets the next go";
}

TEST(LiveServer, WhoSaysNothingIsLetGo) {
  Folder folder;
  ServerOptions options;
  options.hello_within_ns = 1'000'000;
  Running daemon(folder.path, "mps", 8, options);
  Raw silent(folder.path);
  ASSERT_TRUE(silent.socket);
  const std::optional<Message> answer = silent.hear(5000);
  ASSERT_TRUE(answer && std::holds_alternative<Refused>(*answer));
}

TEST(LiveSocket, TheDirectoryIsTheUsersOwnAndNoLinkIsFollowed) {
  Folder folder;
  const fs::path base = folder.path.parent_path();
  const auto refused = [](const fs::path& path) {
    try {
      open_directory(path, true);
      return false;
    } catch (const Error& e) {
      EXPECT_EQ(e.id(), "corun-directory");
      EXPECT_EQ(e.code(), ExitCode::unavailable);
      return true;
    }
  };
  EXPECT_FALSE(refused(base / "fine"));
  struct stat info {};
  ASSERT_EQ(::stat((base / "fine").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  fs::create_directory_symlink(base / "fine", base / "link");
  EXPECT_TRUE(refused(base / "link"));
  EXPECT_TRUE(refused(base / "link" / "below"));
  ASSERT_EQ(::chmod((base / "fine").c_str(), 0750), 0);
  EXPECT_TRUE(refused(base / "fine"));
  EXPECT_TRUE(refused(base / "no" / "such"));
  EXPECT_TRUE(refused("/"));  // of root, or open to all
}

TEST(LiveSocket, OneDaemonADirectoryAndTheRestOfADeadOneIsNoHindrance) {
  Folder folder;
  {
    Listener first(folder.path, 8);
    try {
      Listener second(folder.path, 8);
      FAIL();
    } catch (const Error& e) { EXPECT_EQ(e.id(), "corun-busy"); }
  }
  std::ofstream(folder.path / "socket") << "left behind";
  Listener again(folder.path, 8);
  EXPECT_TRUE(connect_to(folder.path));
}

}  // namespace
}  // namespace simtlab::corun::live

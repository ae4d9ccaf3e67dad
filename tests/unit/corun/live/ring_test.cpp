// Launches that go without asking: the memory, the daemon's word for it, and what holds whatever the clients
// do.
#include "corun/live/ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "corun/log.h"
#include "live_daemon.h"

namespace simtlab::corun::live {
namespace {

Request launch_of(std::uint64_t sequence) {
  Request out;
  out.sequence = sequence;
  return out;
}

std::vector<std::uint64_t> sequences_in(Ring& ring) {
  std::vector<std::uint64_t> out;
  EXPECT_TRUE(ring.read(
      [&](const Message& message, std::uint64_t) { out.push_back(std::get<Request>(message).sequence); }));
  return out;
}

TEST(LiveRing, WhatIsNotedIsReadOnceAndNothingAfterTheWordIsTakenBack) {
  Ring daemon = Ring::make();
  ASSERT_TRUE(daemon);
  const Descriptor file(::dup(daemon.file()));
  Ring client = Ring::of(file);
  ASSERT_TRUE(client);
  EXPECT_FALSE(client.note(launch_of(1), 5, 0)) << "it has not been let go";
  daemon.let_go(3);
  EXPECT_FALSE(client.note(launch_of(1), 5, 4)) << "it has sent something that the daemon had not read";
  EXPECT_FALSE(client.may_go(4));
  EXPECT_TRUE(client.note(launch_of(1), 5, 3));
  EXPECT_TRUE(client.note(launch_of(2), 6, 3));
  EXPECT_EQ(sequences_in(daemon), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_TRUE(client.note(launch_of(3), 7, 3));
  daemon.stop();
  EXPECT_FALSE(client.note(launch_of(4), 8, 3));
  EXPECT_FALSE(client.note_end({3, 1, false}, 8));
  EXPECT_EQ(sequences_in(daemon), std::vector<std::uint64_t>{3});
  EXPECT_EQ(sequences_in(daemon), std::vector<std::uint64_t>{});
}

TEST(LiveRing, AFullOneTakesNoMore) {
  Ring daemon = Ring::make();
  const Descriptor file(::dup(daemon.file()));
  Ring client = Ring::of(file);
  daemon.let_go(0);
  for (int round = 0; round < 3; ++round) {
    std::uint64_t fit = 0;
    while (client.note(launch_of(fit + 1), fit, 0)) ++fit;
    EXPECT_EQ(fit, Ring::slots);
    EXPECT_EQ(sequences_in(daemon).size(), Ring::slots);
  }
}

TEST(LiveRing, FilesThatAreNoneAreRefused) {
  EXPECT_FALSE(Ring::of(Descriptor()));
  const Descriptor small(::memfd_create("small", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(small.get(), 4096), 0);
  EXPECT_FALSE(Ring::of(small));
  // Of the right size, but whoever made it could cut it, and kill who reads it.
  Ring ring = Ring::make();
  const off_t size = ::lseek(ring.file(), 0, SEEK_END);
  const Descriptor open(::memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(open.get(), size), 0);
  EXPECT_FALSE(Ring::of(open));
  EXPECT_NE(::ftruncate(ring.file(), 0), 0);
}

void launch_many(Client& client, std::uint64_t count, std::uint64_t stream = 0) {
  Request request;
  request.stream = stream;
  for (std::uint64_t i = 0; i < count; ++i) client.done(client.gate(request), 1, false);
}

// The daemon may take its time with its word.
void launch_until_noted(Client& client) {
  for (int i = 0; i < 10000 && client.counts().noted == 0; ++i) launch_many(client, 1);
  ASSERT_GT(client.counts().noted, 0u);
}

TEST(LiveFree, AClientThatIsAloneDoesNotAskAndEveryLaunchIsKnown) {
  Folder folder;
  Running daemon(folder.path, "exclusive", 1);
  Client client(to(folder.path));
  client.kernel("k");
  launch_many(client, 5000);
  EXPECT_GT(client.counts().noted, 1000u);
  EXPECT_EQ(client.counts().gated, 5000u);
  client.leave();
  const Totals totals = daemon.end();
  EXPECT_EQ(totals.grants, 5000u);
  EXPECT_EQ(totals.done, 5000u);
  EXPECT_EQ(totals.lost, 0u);
  const corun::Replayed again = corun::replay(daemon.log, "log");
  EXPECT_EQ(again.difference, "");
  EXPECT_EQ(again.grants, 5000u);
}

TEST(LiveFree, ItIsSeenWithoutBeingAsked) {
  Folder folder;
  Running daemon(folder.path);
  Client client(to(folder.path));
  client.kernel("k");
  launch_until_noted(client);
  Raw who(folder.path);
  ASSERT_TRUE(who.say(Hello{protocol_version, protocol_version, false, "top"}) && who.hear());
  ASSERT_TRUE(who.say(StatsRequest{0}));
  const std::optional<Message> answer = who.hear();
  ASSERT_TRUE(answer);
  EXPECT_EQ(std::get<Stats>(*answer).totals.done, client.counts().gated);
}

// As launches of one stream have it: the next goes once the one before has ended. Two streams are the
// daemon's affair.
TEST(LiveFree, ALaunchWaitsForTheOneBeforeItInItsStream) {
  Folder folder;
  Running daemon(folder.path);
  Client client(to(folder.path));
  client.kernel("k");
  launch_many(client, 10);
  const Client::Ticket first = client.gate({});
  std::atomic<bool> second{false};
  std::thread waiting([&] { client.done(client.gate({}), 1, false), second = true; });
  launch_many(client, 10, 7);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(second);
  client.done(first, 1, false);
  waiting.join();
  client.leave();
  const Totals totals = daemon.end();
  EXPECT_EQ(totals.done, 22u);
  EXPECT_EQ(corun::replay(daemon.log, "log").difference, "");
}

// Clients come, launch, pause and go, with one stream and with two: the limit holds at every moment, and the
// log repeats itself.
void check_crowd(const char* policy, std::uint32_t limit) {
  Folder folder;
  Running daemon(folder.path, policy, limit);
  std::atomic<std::uint32_t> inside{0}, most{0};
  std::atomic<std::uint64_t> noted{0}, gated{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      Rng rng(t + 1);
      for (int life = 0; life < 3; ++life) {
        Client client(to(folder.path));
        client.kernel("k" + std::to_string(t));
        for (std::uint64_t i = 5 + rng.below(60); i > 0; --i) {
          Request request;
          request.stream = rng.below(2);
          const Client::Ticket ticket = client.gate(request);
          ASSERT_TRUE(ticket);
          const std::uint32_t now = ++inside;
          for (std::uint32_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {}
          if (rng.below(4) == 0) std::this_thread::yield();
          --inside;
          client.done(ticket, 5, false);
          if (rng.below(20) == 0) std::this_thread::sleep_for(std::chrono::microseconds(rng.below(500)));
        }
        noted += client.counts().noted, gated += client.counts().gated;
        if (rng.below(2) == 0) client.leave();
      }
    });
  for (std::thread& t : threads) t.join();
  const Totals totals = daemon.end();
  EXPECT_LE(most, limit) << policy;
  EXPECT_GT(noted, 0u) << policy;
  EXPECT_EQ(totals.grants, gated) << policy;
  EXPECT_EQ(totals.requests, totals.done + totals.lost + totals.cancelled) << policy;
  EXPECT_EQ(totals.refused, 0u) << policy;
  const corun::Replayed again = corun::replay(daemon.log, "log");
  EXPECT_EQ(again.difference, "") << policy;
  EXPECT_EQ(again.grants, gated) << policy;
}

TEST(LiveFree, NoCrowdBreaksTheLimitOrTheLog) {
  for (const corun::Policy* policy : corun::policies())
    for (const std::uint32_t limit : {1u, 3u}) check_crowd(std::string(policy->name).c_str(), limit);
}

TEST(LiveFree, ADaemonThatDiesIsNoticedAtTheNextLaunch) {
  Folder folder;
  auto daemon = std::make_unique<Running>(folder.path);
  Client client(to(folder.path));
  client.kernel("k");
  launch_until_noted(client);
  daemon.reset();
  EXPECT_FALSE(client.gate({}));
  EXPECT_EQ(client.counts().ungated, 1u);
}

// Killed while it is let go: what it launched is known, and its slots are free.
TEST(LiveFree, AClientThatIsKilledHarmsNobody) {
  Folder folder;
  Running daemon(folder.path, "mps", 1);
  for (int launches = 0; launches < 6; ++launches) {
    const pid_t child = ::fork();
    if (child == 0) {
      Client client(to(folder.path));
      client.kernel("k");
      launch_many(client, 30);
      for (int i = 0; i < launches % 2; ++i) static_cast<void>(client.gate({}));
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    Client other(to(folder.path));
    other.kernel("k");
    launch_many(other, 3);
    EXPECT_EQ(other.counts().gated, 3u);
    other.leave();
  }
  const Totals totals = daemon.end();
  EXPECT_EQ(totals.done, 6u * 33);
  EXPECT_EQ(totals.lost, 3u);
  EXPECT_EQ(totals.running, 0u);
  EXPECT_EQ(corun::replay(daemon.log, "log").difference, "");
}

TEST(LiveFree, AChildDoesNotGoOnItsParentsWord) {
  Folder folder;
  Running daemon(folder.path, "mps", 8);
  Client client(to(folder.path));
  client.kernel("k");
  launch_many(client, 20);
  client.before_fork();
  const pid_t child = ::fork();
  if (child == 0) {
    client.after_fork_in_child();
    launch_many(client, 20);
    client.leave();
    ::_exit(0);
  }
  client.after_fork_in_parent();
  launch_many(client, 20);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  client.leave();
  const Totals totals = daemon.end();
  EXPECT_EQ(totals.done, 60u);
  EXPECT_EQ(totals.connections, 2u);
}

// A peer that gets the memory and writes what it likes into it.
struct Hostile {
  explicit Hostile(const std::filesystem::path& directory) : socket(connect_to(directory)) {
    say(Hello{protocol_version, protocol_version, true, "hostile"});
    say(Register{0, 0, 0, "k"});
    say(launch_of(1));
    say(Done{1, 1, false});
    while (const std::optional<Message> got = hear())
      if (const auto* grant = std::get_if<Grant>(&*got); grant != nullptr && grant->credits != 0) break;
    size = ::lseek(file.get(), 0, SEEK_END);
    words = static_cast<std::atomic<std::uint64_t>*>(
        ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
  }
  ~Hostile() { ::munmap(words, static_cast<std::size_t>(size)); }
  void say(const Message& message) {
    Packet packet;
    encode(message, packet);
    send_packet(socket.get(), packet.span());
  }
  std::optional<Message> hear() {
    pollfd one{socket.get(), POLLIN, 0};
    if (::poll(&one, 1, 5000) <= 0) return std::nullopt;
    Packet packet;
    if (receive_packet(socket.get(), packet, &file) <= 0) return std::nullopt;
    return decode(packet.span()).message;
  }
  bool refused() {
    say(Cancel{99});
    while (const std::optional<Message> got = hear())
      if (std::holds_alternative<Refused>(*got)) return true;
    return false;
  }
  Descriptor socket, file;
  off_t size = 0;
  std::atomic<std::uint64_t>* words = nullptr;
};

TEST(LiveFree, GarbageInTheMemoryEndsItsConnectionAndNobodyElses) {
  Folder folder;
  Running daemon(folder.path);
  Raw fine(folder.path);
  ASSERT_TRUE(fine.greet());
  {
    Hostile far(folder.path);  // more notes than there is room for
    far.words[0] += 2ull * 5000;
    EXPECT_TRUE(far.refused());
  }
  {
    Hostile garbage(folder.path);  // notes that are no messages
    std::memset(static_cast<void*>(garbage.words + 8), 0x5a, 4096);
    garbage.words[0] += 2 * 3;
    EXPECT_TRUE(garbage.refused());
  }
  {
    Hostile many(folder.path);  // launches that nobody let go: more at once than the limit
    const Descriptor file(::dup(many.file.get()));
    Ring ring = Ring::of(file);
    ASSERT_TRUE(ring);
    while (!ring.may_go(4)) std::this_thread::yield();  // its four messages have been read
    for (std::uint64_t i = 0; i < 20; ++i) {
      Request request = launch_of(2 + i);
      request.stream = i;
      EXPECT_TRUE(ring.note(request, 0, 4));
    }
    EXPECT_TRUE(many.refused());
  }
  EXPECT_TRUE(fine.say(StatsRequest{0}));
  const std::optional<Message> answer = fine.hear();
  ASSERT_TRUE(answer);
  EXPECT_EQ(std::get<Stats>(*answer).totals.running, 0u);
}

}  // namespace
}  // namespace simtlab::corun::live

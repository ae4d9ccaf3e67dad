// What gating costs: the daemon's decision, and a launch's way to the daemon and back over its socket.
// Figures of the host machine.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "corun/live/client.h"
#include "corun/live/server.h"

using namespace simtlab;

namespace {

corun::Settings limit_of(std::uint32_t limit) {
  corun::Settings out;
  out.limit = limit;
  return out;
}

// One launch ends and another client's goes, with 64 clients that all want to.
void decision(benchmark::State& state) {
  const corun::Policy& policy = *corun::policies()[static_cast<std::size_t>(state.range(0))];
  corun::live::Core core(policy, limit_of(8), {});
  constexpr std::uint32_t clients = 64;
  std::uint64_t now = 0;
  std::vector<std::uint64_t> next(clients + 1, 2);
  std::vector<corun::live::ClientId> running;
  const auto ask = [&](corun::live::ClientId id, std::uint64_t sequence) {
    corun::live::Request request;
    request.sequence = sequence;
    core.receive(id, request, ++now);
  };
  for (std::uint32_t i = 0; i < clients; ++i) {
    const corun::live::ClientId id = core.connect(1, now);
    core.receive(
        id, corun::live::Hello{corun::live::protocol_version, corun::live::protocol_version, false, "bench"},
        now);
    core.receive(id, corun::live::Register{0, 0, 0, "kernel" + std::to_string(i)}, now);
    ask(id, 1);
  }
  std::vector<std::pair<corun::live::ClientId, std::uint64_t>> granted;
  const auto hear = [&] {
    for (const corun::live::Core::Output& one : core.take())
      if (const auto* grant = std::get_if<corun::live::Grant>(&one.message))
        granted.emplace_back(one.client, grant->sequence);
  };
  hear();
  for (auto _ : state) {
    const auto [id, sequence] = granted.front();
    granted.erase(granted.begin());
    core.receive(id, corun::live::Done{sequence, 1000 + id, false}, ++now);
    ask(id, next[id]++);
    hear();
  }
  state.SetLabel(std::string(policy.name) + ", 64 clients: an end, a request, a grant");
}
BENCHMARK(decision)->DenseRange(0, 9);

// A daemon in a process of its own, as it is in earnest.
struct Daemon {
  Daemon() {
    char name[] = "/tmp/simtlab-bench-XXXXXX";
    base = ::mkdtemp(name);
    pid = ::fork();
    if (pid == 0) {
      corun::live::ServerOptions options;
      options.directory = base / "run";
      options.messages_per_second = 1e9;
      corun::live::Server(*corun::find_policy("mps"), limit_of(8), options).run();
      ::_exit(0);
    }
  }
  ~Daemon() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    std::filesystem::remove_all(base);
  }
  std::filesystem::path base;
  pid_t pid = 0;
};

corun::live::ClientOptions to(const Daemon& daemon, bool shares) {
  corun::live::ClientOptions out;
  out.directory = daemon.base / "run";
  out.program = "bench";
  out.retry_ns = 1'000'000;
  out.shares = shares;
  return out;
}

// Until it is there, and has launched: then it is a client for the policy, whatever it does later.
void connect(corun::live::Client& client, corun::live::Request& request) {
  request.kernel = client.kernel("k");
  while (!client.connected()) client.done(client.gate(request), 1, false);
}

// What a launch waits for its grant, while others are clients of the daemon, too (they launch nothing): let
// go by the daemon, or asking each time, as it does where the policy has something to decide.
void gated_launch(benchmark::State& state) {
  const Daemon daemon;
  const bool shares = state.range(1) == 0;
  corun::live::Client client(to(daemon, shares));
  corun::live::Request request;
  std::vector<std::unique_ptr<corun::live::Client>> others;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    others.push_back(std::make_unique<corun::live::Client>(to(daemon, shares)));
    connect(*others.back(), request);
  }
  connect(client, request);
  std::vector<double> took;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    const corun::live::Client::Ticket ticket = client.gate(request);
    took.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    client.done(ticket, 1, false);
  }
  std::ranges::sort(took);
  state.counters["p50_us"] = took[took.size() / 2];
  state.counters["p99_us"] = took[took.size() * 99 / 100];
  state.SetLabel(fmt::format("{} beside {} others", shares ? "let go" : "asked for", others.size()));
}
BENCHMARK(gated_launch)->ArgsProduct({{0, 31}, {0, 1}})->Iterations(60000)->UseRealTime();

}  // namespace

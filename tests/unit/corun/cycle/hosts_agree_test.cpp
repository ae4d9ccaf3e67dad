// One trace of events, three hosts: the cycle-level GPU that it comes from, the frame of the fast host, the
// daemon. The same decisions.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <sstream>

#include "corun/live/core.h"
#include "corun/log.h"
#include "small_gpu.h"

namespace simtlab::corun::cycle {
namespace {

using corun::Time;

// Launches take what a log says.
class Scripted final : public corun::Machine {
 public:
  explicit Scripted(std::vector<std::deque<Time>> took) : took_(std::move(took)) {}
  void begin(std::size_t process, std::uint64_t, Time now) override {
    running_.emplace_back(now + took_[process].front(), process);
    took_[process].pop_front();
  }
  Time advance(Time, Time until, std::vector<std::size_t>& ended) override {
    const auto first = std::ranges::min_element(running_);
    if (first->first > until) return until;
    const Time at = first->first;
    ended.push_back(first->second);
    running_.erase(first);
    return at;
  }

 private:
  std::vector<std::deque<Time>> took_;
  std::vector<std::pair<Time, std::size_t>> running_;
};

struct Line {
  Time time = 0;
  std::string what, text;
  std::uint64_t number = 0, client = 0, gpu = 0;
};

std::uint64_t after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? 0 : std::stoull(text.substr(at + key.size()));
}

std::vector<Line> lines_of(const std::string& log) {
  std::vector<Line> out;
  std::istringstream in(log);
  std::string text;
  std::getline(in, text), std::getline(in, text);
  while (std::getline(in, text)) {
    Line line;
    std::istringstream words(text);
    words >> line.time >> line.what >> line.number;
    line.text = text;
    line.client = after(text, "client=");
    line.gpu = after(text, "gpu=");
    out.push_back(line);
  }
  return out;
}

// Launches, ends and grants: what is decided, and on what. A daemon's programs come and go by other words.
// Kernels by the number of their client and the order in which it launched them first: the daemon numbers
// kernels when they are launched.
std::string decisions(const std::string& log) {
  std::string out;
  std::map<std::uint64_t, std::map<std::string, std::size_t>> kernels;
  for (const Line& line : lines_of(log)) {
    if (line.what != "launch" && line.what != "end" && line.what != "grant") continue;
    std::string text = line.text;
    if (const std::size_t at = text.find("kernel="); at != std::string::npos) {
      const std::size_t end = text.find(' ', at);
      auto& its = kernels[line.client];
      text.replace(
          at, end - at,
          "kernel " + std::to_string(its.try_emplace(text.substr(at, end - at), its.size()).first->second));
    }
    out += text + "\n";
  }
  return out;
}

struct Mix {
  Host host;
  std::vector<corun::Workload> workloads;
  Mix() : workloads(host.workloads({"both", "memory", "compute", "both", "memory"})) {
    // The host's own time keeps events apart: the daemon decides after each message, the others after all of
    // one time.
    for (std::size_t p = 0; p < workloads.size(); ++p)
      workloads[p].start_ns = static_cast<double>(1000 + 137 * p),
      workloads[p].gap_ns = static_cast<double>(501 + 97 * p);
  }
};

corun::HostOptions logging_to(std::string& log) {
  corun::HostOptions out;
  out.settings.limit = 2;
  out.log = [&log](std::string_view line) { log.append(line) += '\n'; };
  return out;
}

std::string fast_log(const Mix& mix, const corun::Policy& policy, const std::string& log) {
  std::vector<std::deque<Time>> took(mix.workloads.size());
  std::map<std::uint64_t, std::uint64_t> client_of;
  for (const Line& line : lines_of(log)) {
    if (line.what == "launch") client_of[line.number] = line.client;
    if (line.what == "end") took[client_of.at(line.number) - 1].push_back(line.gpu);
  }
  std::string out;
  Scripted machine(std::move(took));
  corun::run_mix(mix.workloads, policy, logging_to(out), machine);
  return out;
}

std::string live_log(const Mix& mix, const corun::Policy& policy, const std::string& log) {
  std::string settings_log;
  corun::live::Core core(
      policy, logging_to(settings_log).settings, {},
      [&](const ProgramIdentity& program, const std::string& kernel,
          const corun::LaunchShape&) -> std::optional<corun::Profile> {
        return mix.host.cycle.profiles().find(program.name, kernel.substr(program.name.size() + 1))->profile;
      });
  std::string out = core.log(0).text;
  core.on_decision = [&out](std::string_view line) { out.append(line) += '\n'; };
  std::uint64_t now = 0;
  for (const corun::Workload& w : mix.workloads) {
    ++now;
    const corun::live::ClientId id = core.connect(static_cast<std::int32_t>(now), now);
    core.receive(
        id, corun::live::Hello{corun::live::protocol_version, corun::live::protocol_version, false, w.name},
        ++now);
    for (std::uint32_t k = 0; k < w.sequence.size(); ++k)
      core.receive(id, corun::live::Register{k, 0, 0, w.name + "/" + w.sequence[k].kernel}, ++now);
  }
  std::map<std::uint64_t, std::uint64_t> client_of;
  std::vector<std::uint64_t> asked(mix.workloads.size() + 1);
  for (const Line& line : lines_of(log)) {
    const auto client =
        static_cast<corun::live::ClientId>(line.what == "end" ? client_of.at(line.number) : line.client);
    if (line.what == "launch") {
      client_of[line.number] = client;
      corun::live::Request request;
      request.sequence = line.number;
      request.kernel =
          static_cast<std::uint32_t>(asked[client]++ % mix.workloads[client - 1].sequence.size());
      core.receive(client, request, line.time);
    } else if (line.what == "end") {
      // "failed": nothing is learnt from its time
      core.receive(client, corun::live::Done{line.number, line.gpu, true}, line.time);
    } else if (line.what == "leave") {
      core.receive(static_cast<corun::live::ClientId>(line.number), corun::live::Bye{}, line.time);
    }
    core.take();
  }
  return out;
}

TEST(Hosts, DecideTheSameOnTheSameEvents) {
  const Mix mix;
  for (const corun::Policy* policy : corun::policies()) {
    std::string log;
    const corun::MixResult result = mix.host.cycle.run(mix.workloads, *policy, logging_to(log));
    std::uint64_t launches = 0;
    for (const corun::ApplicationResult& a : result.applications) launches += a.launches;
    EXPECT_EQ(launches, 17u);
    const corun::Replayed again = corun::replay(log, "log");
    EXPECT_EQ(again.difference, "") << policy->name;
    EXPECT_EQ(again.grants, launches);
    EXPECT_EQ(fast_log(mix, *policy, log), log) << policy->name;
    EXPECT_EQ(decisions(live_log(mix, *policy, log)), decisions(log)) << policy->name;
  }
}

}  // namespace
}  // namespace simtlab::corun::cycle

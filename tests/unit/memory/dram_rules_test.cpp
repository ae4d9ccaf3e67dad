// Every technology under every controller, asleep and awake: whatever the controller sends goes through the
// rule checker, and every request is answered exactly once.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "memory/dram/checker.h"
#include "memory/dram/own_channels.h"

namespace simtlab::memory::dram {
namespace {

using device::MemoryController;
using device::Technology;

// Under sanitizers, which are ten times slower, the point is their findings: fewer requests show them too.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t requests = 150;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr std::uint64_t requests = 150;
#else
constexpr std::uint64_t requests = 1500;
#endif
#else
constexpr std::uint64_t requests = 1500;
#endif

enum class Variant { plain, power_down, self_refresh, per_bank };
enum class Traffic { stream, random, conflicts, sparse, bursts };

// False: the technology has no such thing.
bool vary(Technology& t, MemoryController& c, Variant variant) {
  switch (variant) {
    case Variant::plain: return true;
    case Variant::power_down:
      t.organisation.ranks = 2;
      t.timing.trtrs = std::max(t.timing.trtrs, 1u);
      c.upkeep.power_down_after = 30;
      c.queues.turn_ahead = 12;
      return true;
    case Variant::self_refresh:
      t.organisation.ranks = 2;
      c.upkeep.power_down_after = 20;
      c.upkeep.self_refresh_after = 500;
      c.page.policy = "timeout";
      return true;
    case Variant::per_bank:
      t.refresh = device::Refresh::per_bank;
      c.page.policy = "adaptive";
      c.schedule.kind = "par_bs";
      c.queues.turn_ahead = 24;
      return t.timing.trfc_pb != 0;
  }
  return false;
}

class Sender {
 public:
  Sender(OwnChannels& memory, Traffic traffic) : memory_(memory), traffic_(traffic) {}

  void send(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const Access access = next(i);
      const auto channel = static_cast<std::uint32_t>(i % memory_.count());
      go_to(now_ + gap());
      while (!memory_.accepts(channel, access)) go_to(std::max(now_, memory_.next_event()) + 1);
      memory_.add(channel, access, now_);
    }
    while (memory_.next_event() != never) go_to(memory_.next_event() + 1);
    go_to(now_ + 20 * requests);  // idle: refreshes go on
  }
  const std::vector<Completion>& done() const { return done_; }
  Cycle now() const { return now_; }

 private:
  void go_to(Cycle cycle) { memory_.advance(now_ = cycle, done_); }
  Cycle gap() {
    if (traffic_ == Traffic::sparse) return random_() % 200;
    if (traffic_ == Traffic::bursts) return random_() % 50 == 0 ? random_() % 30000 : 1;
    return 1;
  }
  Access next(std::uint64_t i) {
    const std::uint64_t bytes = memory_.channel_bytes(), step = memory_.access_bytes();
    Access access{.write = traffic_ != Traffic::stream && random_() % 3 == 0, .tag = i};
    access.source = static_cast<std::uint32_t>(i % 3);
    access.address = traffic_ == Traffic::stream      ? i / 2 * step
                     : traffic_ == Traffic::conflicts ? i / 2 % 64 * step + i / 128 % 3 * (bytes / 4)
                                                      : random_() % bytes;
    return access;
  }

  OwnChannels& memory_;
  Traffic traffic_;
  std::mt19937_64 random_{11};
  std::vector<Completion> done_;
  Cycle now_ = 0;
};

void expect_sound(const Technology& t, const MemoryController& c, Traffic traffic) {
  OwnChannels memory(t, c, 2);
  ChannelsChecker checker(t);
  memory.record(&checker);
  constexpr std::uint64_t count = requests;
  Sender sender(memory, traffic);
  sender.send(count);
  const Report report = memory.report(sender.now());
  checker.finish(sender.now());
  EXPECT_FALSE(checker.violation()) << checker.violation()->message;
  std::vector<unsigned> times(count);
  for (const Completion& each : sender.done()) ++times.at(each.tag);
  EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](unsigned n) { return n == 1; }))
      << "lost or done twice";
  for (const RankActivity& rank : report.ranks)
    EXPECT_EQ(rank.clocks(), sender.now()) << "each clock in one state";
}

class EveryCommand : public testing::TestWithParam<std::string> {};

TEST_P(EveryCommand, KeepsTheRules) {
  const Technology technology = device::load_technology(GetParam()).technology;
  for (const std::string& name : device::list_memory_controllers()) {
    const MemoryController controller = device::load_memory_controller(name).controller;
    for (const Variant variant :
         {Variant::plain, Variant::power_down, Variant::self_refresh, Variant::per_bank})
      for (const Traffic traffic :
           {Traffic::stream, Traffic::random, Traffic::conflicts, Traffic::sparse, Traffic::bursts}) {
        SCOPED_TRACE(name + ", variant " + std::to_string(static_cast<int>(variant)) + ", traffic " +
                     std::to_string(static_cast<int>(traffic)));
        Technology t = technology;
        MemoryController c = controller;
        if (vary(t, c, variant)) expect_sound(t, c, traffic);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryCommand, testing::ValuesIn(device::list_technologies()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace simtlab::memory::dram

// A model check: every order in which three clients can join, ask, give up, end and die (once each, and come back), with grants that are
// still on their way. States that were seen are not gone on from; what is checked holds in all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "live/core.h"

namespace simtlab::live {
namespace {

enum class Phase : char { away = 'a', joined = 'j', asked = 'r', granted = 'g', finished = 'f' };
enum Action : std::uint8_t { join, ask, hear, done, cancel, bye, crash, actions };
constexpr unsigned clients = 3;

// The daemon and three clients, each of whom knows only what it has heard.
struct World {
  World(const char* policy, std::uint32_t limit) : limit(limit), core(corun::policy(policy), settings(limit), {}) {}
  static corun::Settings settings(std::uint32_t limit) {
    corun::Settings out;
    out.limit = limit;
    return out;
  }

  struct One {
    Phase phase = Phase::away;
    ClientId id = 0;
    bool on_its_way = false;   // a grant
    unsigned lives = 2;
    std::uint64_t order = 0;   // of its request among all
  };

  bool possible(unsigned who, Action action) const {
    const One& c = all[who];
    switch (action) {
      case join: return c.phase == Phase::away && c.lives != 0;
      case ask: return c.phase == Phase::joined;
      case hear: return c.phase == Phase::asked && c.on_its_way;
      case done: return c.phase == Phase::granted;
      case cancel: return c.phase == Phase::asked;
      case bye: return c.phase == Phase::joined || c.phase == Phase::granted;
      case crash: return c.id != 0;
      default: return false;
    }
  }

  void step(unsigned who, Action action) {
    One& c = all[who];
    ++now;
    switch (action) {
      case join:
        c.id = core.connect(static_cast<std::int32_t>(who), now);
        core.receive(c.id, Hello{protocol_version, protocol_version, false, "app"}, now);
        core.receive(c.id, Register{0, 0, 0, std::string(1, static_cast<char>('k' + who))}, now);
        c.phase = Phase::joined;
        break;
      case ask: {
        Request request;
        request.sequence = 1;
        c.phase = Phase::asked;
        c.order = now;
        core.receive(c.id, request, now);
        break;
      }
      case hear: c.phase = Phase::granted, c.on_its_way = false; break;
      case done: core.receive(c.id, Done{1, 10, false}, now), c.phase = Phase::finished; break;
      case cancel: core.receive(c.id, Cancel{1}, now), c.phase = Phase::finished, c.on_its_way = false; break;
      case bye: core.receive(c.id, Bye{}, now), end(c); break;
      case crash: core.disconnect(c.id, now), end(c); break;
      default: break;
    }
    for (const Core::Output& one : core.take()) {
      const auto* grant = std::get_if<Grant>(&one.message);
      const auto to = std::ranges::find(all, one.client, &One::id);
      if (std::holds_alternative<Refused>(one.message)) fault = "a client that did nothing wrong was refused";
      if (grant == nullptr) continue;
      if (to == all.end() || to->phase != Phase::asked || to->on_its_way) fault = "a grant that nobody waits for, or a second one";
      else to->on_its_way = true;
    }
  }
  static void end(One& c) {
    c.phase = Phase::away;
    c.id = 0;
    c.on_its_way = false;
    --c.lives;
  }

  // What is wrong; empty if nothing.
  std::string wrong() const {
    if (!fault.empty()) return fault;
    const Totals t = core.stats(0, now).totals;
    unsigned waiting = 0, running = 0;
    for (const One& c : all) {
      running += c.phase == Phase::granted || c.on_its_way;
      waiting += c.phase == Phase::asked && !c.on_its_way;
    }
    if (t.running > limit) return "more run than the limit allows";
    if (t.running != running || t.waiting != waiting) return "daemon and clients disagree on what runs and waits";
    if (waiting != 0 && running < limit) return "somebody waits although there is room";
    if (t.requests != t.done + t.cancelled + t.lost + t.running + t.waiting) return "a launch is lost";
    return {};
  }

  // All that matters for what may happen next: ids and requests only by their order.
  std::string state() const {
    std::string out;
    for (const One& c : all) {
      out += static_cast<char>(c.phase);
      out += static_cast<char>('0' + c.lives);
      out += c.on_its_way ? '!' : '.';
      for (const One& other : all) out += other.id < c.id ? '<' : '-';
      if (c.phase == Phase::asked || c.phase == Phase::granted)
        for (const One& other : all) out += (other.phase == Phase::asked || other.phase == Phase::granted) && other.order < c.order ? '<' : '-';
    }
    return out;
  }

  std::uint32_t limit;
  Core core;
  std::array<One, clients> all;
  std::uint64_t now = 0;
  std::string fault;
};

using Path = std::vector<std::uint8_t>;

void check_all(const char* policy, std::uint32_t limit, std::size_t least) {
  std::set<std::string> seen;
  std::vector<Path> open = {{}};
  std::size_t steps = 0;
  while (!open.empty()) {
    const Path path = std::move(open.back());
    open.pop_back();
    const auto replayed = [&] {
      auto world = std::make_unique<World>(policy, limit);
      for (const std::uint8_t at : path) world->step(at / actions, static_cast<Action>(at % actions));
      return world;
    };
    const std::unique_ptr<World> here = replayed();
    for (std::uint8_t next = 0; next < clients * actions; ++next) {
      if (!here->possible(next / actions, static_cast<Action>(next % actions))) continue;
      const std::unique_ptr<World> there = replayed();
      World& world = *there;
      world.step(next / actions, static_cast<Action>(next % actions));
      ++steps;
      std::string trail;
      for (const std::uint8_t at : path) trail += std::to_string(at) + " ";
      ASSERT_EQ(world.wrong(), "") << policy << " limit " << limit << " after " << trail << int{next};
      if (!seen.insert(world.state()).second) continue;
      Path longer = path;
      longer.push_back(next);
      open.push_back(std::move(longer));
    }
  }
  EXPECT_GT(seen.size(), least) << steps << " steps";
  testing::Test::RecordProperty("states", static_cast<int>(seen.size()));
}

TEST(LiveModel, NoOrderOfThreeClientsBreaksTheProtocolWithOneSlot) { check_all("mps", 1, 1000); }
TEST(LiveModel, NoOrderOfThreeClientsBreaksTheProtocolWithTwoSlots) { check_all("mps", 2, 1000); }
TEST(LiveModel, NoOrderOfThreeClientsBreaksTheProtocolUnderShark) { check_all("shark", 2, 1000); }

// The check sees what it should: with a limit that it does not know of, it fails.
TEST(LiveModel, TheCheckSeesALimitThatIsExceeded) {
  World world("mps", 2);
  world.limit = 1;
  for (const unsigned who : {0u, 1u}) world.step(who, join), world.step(who, ask);
  EXPECT_EQ(world.wrong(), "more run than the limit allows");
}

}  // namespace
}  // namespace simtlab::live

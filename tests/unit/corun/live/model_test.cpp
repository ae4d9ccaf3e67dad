// A model check: every order in which three clients can join, ask, give up, end and die (once each, and come
// back), with grants that are still on their way. States that were seen are not gone on from; what is checked
// holds in all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "corun/live/core.h"

namespace simtlab::corun::live {
namespace {

enum class Phase : char { away = 'a', joined = 'j', asked = 'r', granted = 'g', finished = 'f' };
// Go: launch without asking; stall: passed over
enum Action : std::uint8_t { join, ask, go, hear, done, cancel, bye, crash, stall, wake, actions };
constexpr unsigned clients = 3;

// The daemon and three clients, each of whom knows only what it has heard.
struct World {
  // shares: clients go by themselves when they may.
  World(const char* policy, std::uint32_t limit, bool shares = false)
      : limit(limit), shares(shares), core(corun::policy(policy), settings(limit), {}) {
    all[0].stalls = 1;  // one that may be passed over, in whatever place it comes
    if (shares)
      for (One& c : all) c.lives = 1, c.launches = 2;
  }
  static corun::Settings settings(std::uint32_t limit) {
    corun::Settings out;
    out.limit = limit;
    return out;
  }

  struct One {
    Phase phase = Phase::away;
    ClientId id = 0;
    bool on_its_way = false;           // a grant
    bool passed = false;               // over: until it says something, or the daemon sees it at work (wake)
    bool slotless = false;             // its launch was granted before that
    unsigned stalls = 0;               // yet to come
    unsigned lives = 2, launches = 1;  // yet to come; launches: of a life
    std::uint64_t sequence = 0;
    std::uint64_t order = 0;  // of its request among all
  };

  bool possible(unsigned who, Action action) const {
    const One& c = all[who];
    switch (action) {
      case join: return c.phase == Phase::away && c.lives != 0;
      case ask: return c.phase == Phase::joined && c.launches != 0;
      case go: return c.phase == Phase::joined && c.launches != 0 && is_free(c);
      case hear: return c.phase == Phase::asked && c.on_its_way;
      case done: return c.phase == Phase::granted;
      case cancel: return c.phase == Phase::asked;
      case bye: return c.phase == Phase::joined || c.phase == Phase::granted;
      case crash: return c.id != 0;
      case stall: return !c.passed && c.stalls != 0 && is_holder(c);
      case wake: return c.passed;
      default: return false;
    }
  }

  void step(unsigned who, Action action) {
    One& c = all[who];
    ++now;
    bool noted = action == go || action == hear;
    switch (action) {
      case join:
        c.id = core.connect(static_cast<std::int32_t>(who), now);
        core.receive(c.id, Hello{protocol_version, protocol_version, shares, "app"}, now);
        core.receive(c.id, Register{0, 0, 0, std::string(1, static_cast<char>('k' + who))}, now);
        c.phase = Phase::joined;
        if (!shares) c.launches = 1;
        break;
      case ask: {
        c.phase = Phase::asked;
        core.receive(c.id, next_launch(c), now);
        break;
      }
      case go: {
        c.phase = Phase::granted;
        core.noted(c.id, next_launch(c), now);
        break;
      }
      case hear: c.phase = Phase::granted, c.on_its_way = false; break;
      case done: {
        const Done end{c.sequence, 10, false};
        if (is_free(c))
          core.noted(c.id, end, now), noted = true;
        else
          core.receive(c.id, end, now);
        c.phase = c.launches != 0 ? Phase::joined : Phase::finished;
        break;
      }
      case cancel:
        core.receive(c.id, Cancel{c.sequence}, now),
            c.phase = c.launches != 0 ? Phase::joined : Phase::finished, c.on_its_way = false;
        break;
      case bye: core.receive(c.id, Bye{}, now), end(c); break;
      case crash: core.disconnect(c.id, now), end(c); break;
      case stall: core.pass_over(c.id, now), c.passed = c.slotless = true, --c.stalls; break;
      case wake: core.back(c.id, now), c.passed = false; break;
      default: break;
    }
    for (const Core::Output& one : core.take()) {
      const auto* grant = std::get_if<Grant>(&one.message);
      const auto to = std::ranges::find(all, one.client, &One::id);
      if (std::holds_alternative<Refused>(one.message)) fault = "a client that did nothing wrong was refused";
      if (grant == nullptr) continue;
      if (to == all.end() || to->phase != Phase::asked || to->on_its_way)
        fault = "a grant that nobody waits for, or a second one";
      else
        to->on_its_way = true;
    }
    if (action != stall && action != hear && c.passed) c.passed = false;  // it was heard
    if (c.phase != Phase::granted && !c.on_its_way) c.slotless = false;
    // The daemon says anew who may go whenever it has heard something, and not for what is noted.
    if (!noted) free = core.may_go();
  }
  bool is_holder(const One& c) const {
    for (const Core::Holder& holder : core.holders())
      if (holder.client == c.id) return true;
    return false;
  }
  bool is_free(const One& c) const { return std::ranges::find(free, c.id) != free.end(); }
  Request next_launch(One& c) {
    Request out;
    out.sequence = ++c.sequence;
    --c.launches;
    c.order = now;
    return out;
  }
  static void end(One& c) {
    c.phase = Phase::away;
    c.id = 0;
    c.on_its_way = c.passed = c.slotless = false;
    c.sequence = 0;
    --c.lives;
  }

  // What is wrong; empty if nothing.
  std::string wrong() const {
    if (!fault.empty()) return fault;
    const Totals t = core.stats(0, now).totals;
    unsigned waiting = 0, running = 0, passed = 0, may_be_granted = 0;
    for (const One& c : all) {
      const bool runs = c.phase == Phase::granted || c.on_its_way;
      running += runs && !c.slotless;
      passed += runs && c.slotless;
      waiting += c.phase == Phase::asked && !c.on_its_way;
      may_be_granted += c.phase == Phase::asked && !c.on_its_way && !c.passed;
    }
    if (t.running > limit) return "more run than the limit allows";
    if (t.running != running || t.waiting != waiting || t.passed != passed)
      return "daemon and clients disagree on what runs and waits";
    if (may_be_granted != 0 && running < limit) return "somebody waits although there is room";
    if (t.requests != t.done + t.cancelled + t.lost + t.running + t.waiting + t.passed)
      return "a launch is lost";
    return {};
  }

  // All that matters for what may happen next: ids and requests only by their order.
  std::string state() const {
    std::string out;
    for (const One& c : all) {
      out += static_cast<char>(c.phase);
      out += static_cast<char>('0' + c.lives);
      out += static_cast<char>('0' + c.launches);
      out += is_free(c) ? 'f' : '.';
      out += c.on_its_way ? '!' : '.';
      out += c.passed ? 'p' : '.';
      out += c.slotless ? 's' : '.';
      out += static_cast<char>('0' + c.stalls);
      for (const One& other : all) out += other.id < c.id ? '<' : '-';
      if (c.phase == Phase::asked || c.phase == Phase::granted)
        for (const One& other : all)
          out += (other.phase == Phase::asked || other.phase == Phase::granted) && other.order < c.order
                     ? '<'
                     : '-';
    }
    return out;
  }

  std::uint32_t limit;
  bool shares;
  std::vector<ClientId> free;
  Core core;
  std::array<One, clients> all;
  std::uint64_t now = 0;
  std::string fault;
};

using Path = std::vector<std::uint8_t>;

void check_all(const char* policy, std::uint32_t limit, std::size_t least, bool shares = false) {
  std::set<std::string> seen;
  std::vector<Path> open = {{}};
  std::size_t steps = 0, went = 0, stalled = 0;
  while (!open.empty()) {
    const Path path = std::move(open.back());
    open.pop_back();
    const auto replayed = [&] {
      auto world = std::make_unique<World>(policy, limit, shares);
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
      went += next % actions == go;
      stalled += next % actions == stall;
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
  EXPECT_EQ(went != 0, shares);
  EXPECT_EQ(stalled != 0, limit < clients) << "somebody has to wait for it";
  testing::Test::RecordProperty("states", static_cast<int>(seen.size()));
}

TEST(LiveModel, NoOrderOfThreeClientsBreaksTheProtocolWithOneSlot) { check_all("mps", 1, 1000); }
TEST(LiveModel, NoOrderOfThreeClientsBreaksTheProtocolWithTwoSlots) { check_all("mps", 2, 1000); }
TEST(LiveModel, NoOrderOfThreeClientsBreaksTheProtocolUnderShark) { check_all("shark", 2, 1000); }

// Clients that go without asking while they may, in any order beside those that ask, give up and die.
TEST(LiveModel, NoOrderOfClientsThatGoByThemselvesBreaksTheLimit) {
  check_all("mps", 1, 1000, true);
  check_all("mps", 2, 1000, true);
  check_all("shark", 3, 1000, true);
  check_all("exclusive", 1, 1000, true);
}

// The check sees what it should: with a limit that it does not know of, it fails.
TEST(LiveModel, TheCheckSeesALimitThatIsExceeded) {
  World world("mps", 2);
  world.limit = 1;
  for (const unsigned who : {0u, 1u}) world.step(who, join), world.step(who, ask);
  EXPECT_EQ(world.wrong(), "more run than the limit allows");
}

}  // namespace
}  // namespace simtlab::corun::live

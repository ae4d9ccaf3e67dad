// Races against an oracle: random traces of accesses and synchronisation, told to the detector one after
// another and to full vector clocks that remember every access.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "check/races.h"

namespace simtlab::check {
namespace {

constexpr unsigned blocks = 2, warps = 2, lanes = 32, threads = blocks * warps * lanes;
constexpr std::uint64_t words = 6, room = 160,
                        base = 1 << 20;  // room: words that rows of wide accesses reach

// Of how many bytes accesses are.
enum class Sizes : std::uint8_t { words, wide, bytes };

using Vector = std::array<std::uint32_t, threads>;

struct Oracle {
  struct Past {
    unsigned thread;
    std::uint32_t when;
    bool writes, strong;
  };
  std::array<Vector, threads> knows{};
  std::map<std::uint64_t, std::vector<Past>> past;  // by place: global words, then shared ones of each block
  // Of atomics with fences: what a place has been released with; what a thread has seen, and released last
  std::map<std::uint64_t, Vector> released;
  std::array<Vector, threads> seen{}, fenced{};
  std::array<bool, threads> has_fenced{};
  // Of fences in sequence: what a thread released last, and what those who met with it did
  std::array<Vector, threads> in_sequence{}, left{};
  bool observes = false;  // atomics are before what follows later atomics at their place

  Oracle() {
    for (unsigned t = 0; t < threads; ++t) knows[t][t] = 1;
  }
  static void join(Vector& into, const Vector& from) {
    for (unsigned i = 0; i < threads; ++i) into[i] = std::max(into[i], from[i]);
  }
  // Whether it races with anything before it.
  bool access(unsigned t, std::uint64_t place, bool writes, bool strong) {
    bool race = false;
    bool before = false;  // an atomic between it and this access is ordered before this access
    std::vector<Past>& all = past[place];
    for (auto p = all.rbegin(); p != all.rend(); ++p) {
      const bool ordered = p->thread == t || knows[t][p->thread] >= p->when;
      if ((writes || p->writes) && !(strong && p->strong) && !ordered && !(p->strong && before)) race = true;
      before = before || (observes && p->strong && ordered);
    }
    all.push_back({t, knows[t][t], writes, strong});
    return race;
  }
  void meet(const std::vector<unsigned>& who) {
    Vector all{}, all_left{};
    for (const unsigned t : who) {
      join(all, knows[t]);
      join(all_left, left[t]);
      join(all_left, in_sequence[t]);
    }
    for (const unsigned t : who) {
      join(knows[t], all);
      join(left[t], all_left);
      ++knows[t][t];
    }
  }
  void fence(unsigned t, bool sequence) {
    join(knows[t], seen[t]);
    fenced[t] = knows[t];
    in_sequence[t] = sequence ? knows[t] : Vector{};
    has_fenced[t] = true;
    ++knows[t][t];
  }
  void atomic(unsigned t, std::uint64_t place) {
    join(seen[t], released[place]);
    if (has_fenced[t]) join(released[place], fenced[t]);
    join(released[place], left[t]);
  }
};

struct Sink final : RaceSink {
  unsigned races = 0;
  void race(const Race& race) override {
    races += race.why == Race::Why::unordered || race.why == Race::Why::unfenced;
  }
};

class Traces : public testing::TestWithParam<bool> {};

// Module and function that only give sites an instruction.
struct Code {
  ptx::Function function;
  Sites sites;
  static constexpr unsigned sizes = 5;  // 1 to 16 bytes
  std::array<std::uint32_t, sizes> read{}, write{};
  std::uint32_t atomic = 0;
  Code() {
    function.code.resize(2 * sizes + 1);
    Site site;
    site.function = &function;
    for (unsigned i = 0; i < sizes; ++i) {
      site.bytes = static_cast<std::uint16_t>(1u << i);
      site.pc = 2 * i, site.reads = true, site.writes = false;
      read[i] = sites.add(site);
      ++site.pc, site.reads = false, site.writes = true;
      write[i] = sites.add(site);
    }
    function.code[2 * sizes].op = ptx::Op::atom;
    site.pc = 2 * sizes, site.bytes = 4;
    site.reads = site.atomic = site.strong = true;
    site.scope = ptx::Scope::gpu;
    atomic = sites.add(site);
  }
};

// One trace up to its first race; whether both say the same at every step.
void compare(unsigned seed, bool fine, Sizes sizes) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  Code code;
  Shadow shadow(base, room * 4);
  Sink sink;
  // In every second trace clocks that nobody needs are collected all the time.
  Races races(shadow, code.sites, sink, seed % 2 == 0 ? 1 : std::size_t{32} << 20);
  races.all_is_over();
  const std::uint32_t launch = races.begin_launch({});
  std::array<Races::Block, blocks> state;
  for (unsigned b = 0; b < blocks; ++b)
    races.begin_block(state[b], launch, b, warps, warps * lanes, room * 4, fine);
  Oracle oracle;
  oracle.observes = fine;
  const auto thread = [](unsigned b, unsigned w, unsigned lane) { return (b * warps + w) * lanes + lane; };
  const unsigned steps = 40 + pick(200);
  for (unsigned step = 0; step < steps; ++step) {
    const unsigned b = pick(blocks), w = pick(warps);
    const unsigned what = pick(fine ? 16 : 12);
    if (what < 8) {  // an access by some lanes
      Going going;
      going.warp = w;
      const unsigned kind = pick(4);
      const bool atomic = kind == 1 && pick(2) == 0, writes = kind == 0;
      const unsigned size = atomic || sizes == Sizes::words ? 2
                            : sizes == Sizes::wide          ? 2 + pick(3)
                                                            : pick(3);
      going.site = atomic ? code.atomic : writes ? code.write[size] : code.read[size];
      const bool shared = pick(2) == 0;
      going.space = shared ? ptx::Space::shared : ptx::Space::global;
      going.bytes = 1u << size;
      const unsigned form = pick(sizes == Sizes::words ? 4 : 6);
      going.lanes = form == 0 ? 1u << pick(32) : form == 1 ? ~0u : static_cast<std::uint32_t>(random());
      if (going.lanes == 0) going.lanes = 1;
      const bool row = form >= 4;                        // side by side
      if (writes && !row) going.lanes = 1u << pick(32);  // several would race at once
      std::uint64_t addresses[32];
      const unsigned places = std::max(1u, static_cast<unsigned>(words) * 4 >> size), together = pick(places);
      for (unsigned lane = 0; lane < 32; ++lane)
        addresses[lane] = (shared ? 0 : base) + (std::uint64_t{row         ? together + lane
                                                               : form == 2 ? pick(places)
                                                               : form == 3 ? (lane / 4) % places
                                                                           : together}
                                                 << size);
      going.addresses = addresses;
      const unsigned before = sink.races;
      races.access(state[b], going);
      bool race = false;
      for (unsigned lane = 0; lane < 32; ++lane) {
        if ((going.lanes >> lane & 1) == 0) continue;
        const std::uint64_t place = addresses[lane] + (shared ? (b + 1) * 4096 : 0);
        const unsigned t = thread(b, w, lane);
        for (unsigned i = 0; i < going.bytes; i += sizes == Sizes::bytes ? 1 : 4)
          race = oracle.access(t, place + i, writes || atomic, atomic) || race;
        if (fine && atomic) oracle.atomic(t, place);
      }
      ASSERT_EQ(sink.races != before, race) << "step " << step;
      if (race) return;
    } else if (what < 10) {  // a barrier of the block
      std::vector<unsigned> who;
      for (unsigned i = 0; i < warps * lanes; ++i) who.push_back(b * warps * lanes + i);
      races.barrier(state[b]);
      oracle.meet(who);
    } else if (what < 12) {  // of the warp
      std::vector<unsigned> who;
      for (unsigned lane = 0; lane < lanes; ++lane) who.push_back(thread(b, w, lane));
      races.sync_warp(state[b], w, ~0u, ~0u);
      oracle.meet(who);
    } else if (what == 12) {  // of some lanes
      const auto some = static_cast<std::uint32_t>(random()) | 1u;
      std::vector<unsigned> who;
      for (unsigned lane = 0; lane < lanes; ++lane)
        if ((some >> lane & 1) != 0) who.push_back(thread(b, w, lane));
      races.sync_warp(state[b], w, some, ~0u);
      oracle.meet(who);
    } else if (what < 15) {  // fences
      const auto some = pick(2) == 0 ? 1u << pick(32) : static_cast<std::uint32_t>(random()) | 1u;
      const bool sequence = pick(2) == 0;
      races.fence(state[b], w, some, ptx::Scope::gpu, sequence);
      for (unsigned lane = 0; lane < lanes; ++lane)
        if ((some >> lane & 1) != 0) oracle.fence(thread(b, w, lane), sequence);
    } else {  // a barrier of two warps that has a number
      std::vector<unsigned> who;
      for (unsigned i = 0; i < warps; ++i) races.arrive(state[b], 1, i, ~0u, true);
      races.go_on(state[b], 1);
      for (unsigned i = 0; i < warps * lanes; ++i) who.push_back(b * warps * lanes + i);
      oracle.meet(who);
    }
  }
}

void compare_many(bool fine) {
  for (const Sizes sizes : {Sizes::words, Sizes::wide, Sizes::bytes})
    for (unsigned seed = 0; seed < (sizes == Sizes::words ? 3000u : 1000u); ++seed) {
      compare(seed, fine, sizes);
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(RacesOracle, barriers_of_blocks_and_warps_order_what_full_vector_clocks_order) { compare_many(false); }
TEST(RacesOracle, fences_atomics_masks_and_numbered_barriers_do_as_well) { compare_many(true); }

// What readers of a launch that is over have left are numbers of lists and sites that are gone.
TEST(Races, what_is_left_of_a_launch_that_is_over_is_not_looked_up) {
  Shadow shadow(base, room * 4);
  Sink sink;
  auto code = std::make_unique<Code>();
  Races races(shadow, code->sites, sink);
  races.all_is_over();
  {
    std::array<Races::Block, blocks> state;
    const std::uint32_t launch = races.begin_launch({});
    for (unsigned b = 0; b < blocks; ++b)
      races.begin_block(state[b], launch, b, warps, warps * lanes, 64, true);
    // Lists with great numbers: atomics of single lanes, one after another, at many places
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (std::uint64_t word = 0; word < room; ++word) {
        std::array<std::uint64_t, lanes> addresses{};
        addresses[lane] = base + word * 4;
        const unsigned b = lane % blocks;
        races.access(state[b], {0, 1u << lane, code->atomic, ptx::Space::global, addresses.data(), 4});
      }
  }
  races.all_is_over();
  code->sites.clear();
  Code less;
  Sites& sites = code->sites;
  Site site = less.sites.at(less.atomic);
  const std::uint32_t atomic = sites.add(site);
  site.atomic = site.strong = site.reads = false, site.writes = true;
  const std::uint32_t store = sites.add(site);
  Races::Block block;
  races.begin_block(block, races.begin_launch({}), 0, warps, warps * lanes, 64, true);
  std::array<std::uint64_t, lanes> addresses{};
  for (std::uint64_t word = 0; word < room; ++word) {
    addresses[0] = base + word * 4;
    for (const std::uint32_t site_number : {atomic, store})
      races.access(block, {0, 1, site_number, ptx::Space::global, addresses.data(), 4});
  }
  EXPECT_EQ(sink.races, 0u);
}

}  // namespace
}  // namespace simtlab::check

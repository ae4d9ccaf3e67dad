// shfl, vote, match, redux, elect and activemask.
#include <algorithm>
#include <cmath>
#include <limits>

#include "arith_support.h"

namespace arith {
namespace {

using ptx::AtomOp;
using ptx::ShflMode;
using ptx::VoteMode;

bool in(u32 mask, unsigned lane) { return (mask >> lane & 1) != 0; }
const u32 masks[] = {0xffffffffu, 0x0000ffffu, 0xf0f0f0f1u, 0x80000001u, 0x00000010u};

// The lane that shfl reads, by the manual's pseudo code in signed integers; valid: inside the segment.
struct Source {
  int lane;
  bool valid;
};
Source shuffle(ShflMode mode, int lane, u64 b, u64 c) {
  const int bval = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31),
            segment = static_cast<int>(c >> 8 & 31);
  const int max_lane = (lane & segment) | (clamp & ~segment & 31), min_lane = lane & segment;
  int j = 0;
  bool valid = false;
  switch (mode) {
    case ShflMode::up:
      j = lane - bval;
      valid = j >= max_lane;
      break;
    case ShflMode::down:
      j = lane + bval;
      valid = j <= max_lane;
      break;
    case ShflMode::bfly:
      j = lane ^ bval;
      valid = j <= max_lane;
      break;
    default:
      j = min_lane | (bval & ~segment & 31);
      valid = j <= max_lane;
      break;
  }
  return {valid ? j : lane, valid};
}

TEST(WarpHandlers, shfl_reads_the_lane_that_the_mode_names) {
  Random random(11);
  for (const ShflMode mode : {ShflMode::up, ShflMode::down, ShflMode::bfly, ShflMode::idx})
    for (const u64 width : {32u, 16u, 8u, 4u, 2u, 1u})
      for (unsigned distance = 0; distance < 33; ++distance)
        for (const bool lanes_differ : {false, true}) {
          Form form{.op = Op::shfl,
                    .type = Type::b32,
                    .sources = {Type::b32, Type::b32, Type::b32, Type::b32},
                    .result = Type::b32,
                    .predicate_results = 1};
          form.mods.shfl = mode;
          Warp warp;
          for (u64 lane = 0; lane < 32; ++lane) {
            warp.sources[0][lane] = random.next() & 0xffffffffu;
            warp.sources[1][lane] = lanes_differ ? random.below(64) : distance;
            warp.sources[2][lane] = (32 - width) << 8 | (mode == ShflMode::up ? 0 : 31);
            warp.sources[3][lane] = 0xffffffffu;
          }
          for (const u32 mask : masks)
            for (const InstructionSet& isa : instruction_sets()) {
              const Outcome out = execute(isa, form, warp, mask, distance % 2 == 0 ? 0 : -1);
              for (unsigned lane = 0; lane < 32; ++lane) {
                if (!in(mask, lane)) continue;
                const Source from =
                    shuffle(mode, static_cast<int>(lane), warp.sources[1][lane], warp.sources[2][lane]);
                ASSERT_EQ(warp.sources[0][static_cast<std::size_t>(from.lane)], out.d[lane])
                    << isa.name << " lane " << lane;
                ASSERT_EQ(from.valid, in(out.p, lane)) << isa.name << " lane " << lane;
              }
            }
        }
}

// Member masks: one of all lanes, or two tiles of 16 lanes that run the instruction together.
u64 members(bool tiles, unsigned lane) { return !tiles ? 0xffffffffu : lane < 16 ? 0xffffu : 0xffff0000u; }
u32 group_of(bool tiles, unsigned lane, u32 mask) { return static_cast<u32>(members(tiles, lane)) & mask; }

TEST(WarpHandlers, vote_counts_only_the_lanes_that_take_part) {
  Random random(12);
  for (const VoteMode mode : {VoteMode::all, VoteMode::any, VoteMode::uni, VoteMode::ballot})
    for (const bool tiles : {false, true})
      for (const u32 mask : masks)
        for (unsigned round = 0; round < 8; ++round) {
          const bool ballot = mode == VoteMode::ballot;
          Form form{.op = Op::vote,
                    .type = ballot ? Type::b32 : Type::pred,
                    .sources = {Type::b32},
                    .result = ballot ? Type::b32 : Type::none,
                    .predicate_results = ballot ? 0u : 1u,
                    .predicate_sources = 1};
          form.mods.vote = mode;
          Warp warp;
          warp.predicates[0] = round == 0 ? 0 : round == 1 ? ~0u : static_cast<u32>(random.next());
          for (unsigned lane = 0; lane < 32; ++lane) warp.sources[0][lane] = members(tiles, lane);
          for (const InstructionSet& isa : instruction_sets()) {
            const Outcome out = execute(isa, form, warp, mask);
            for (unsigned lane = 0; lane < 32; ++lane) {
              if (!in(mask, lane)) continue;
              const u32 group = group_of(tiles, lane, mask), votes = warp.predicates[0] & group;
              if (ballot) {
                ASSERT_EQ(votes, out.d[lane]) << isa.name;
              } else {
                ASSERT_EQ(mode == VoteMode::all   ? votes == group
                          : mode == VoteMode::any ? votes != 0
                                                  : votes == group || votes == 0,
                          in(out.p, lane))
                    << isa.name;
              }
            }
          }
        }
}

TEST(WarpHandlers, match_finds_equal_values) {
  Random random(13);
  for (const Type type : {Type::b32, Type::b64})
    for (const bool all : {false, true})
      for (const bool tiles : {false, true})
        for (const u32 mask : masks)
          for (unsigned kinds = 1; kinds < 6; ++kinds) {
            Form form{.op = Op::match,
                      .type = type,
                      .sources = {type, Type::b32},
                      .result = Type::b32,
                      .predicate_results = all ? 1u : 0u};
            form.mods.all = all;
            Warp warp;
            for (unsigned lane = 0; lane < 32; ++lane) {
              const u64 kind = random.below(kinds);
              warp.sources[0][lane] = type == Type::b64 ? kind << 40 | 5 : kind * 77;
              warp.sources[1][lane] = members(tiles, lane);
            }
            for (const InstructionSet& isa : instruction_sets()) {
              const Outcome out = execute(isa, form, warp, mask);
              for (unsigned lane = 0; lane < 32; ++lane) {
                if (!in(mask, lane)) continue;
                const u32 group = group_of(tiles, lane, mask);
                u32 equal = 0;
                for (unsigned other = 0; other < 32; ++other)
                  if (in(group, other) && warp.sources[0][other] == warp.sources[0][lane])
                    equal |= 1u << other;
                ASSERT_EQ(all ? (equal == group ? group : 0) : equal, out.d[lane]) << isa.name;
                if (all) { ASSERT_EQ(equal == group, in(out.p, lane)) << isa.name; }
              }
            }
          }
}

TEST(WarpHandlers, redux_folds_each_group) {
  Random random(14);
  const struct {
    Type type;
    AtomOp op;
  } forms[] = {{Type::u32, AtomOp::add},  {Type::s32, AtomOp::add}, {Type::u32, AtomOp::min},
               {Type::s32, AtomOp::min},  {Type::u32, AtomOp::max}, {Type::s32, AtomOp::max},
               {Type::b32, AtomOp::and_}, {Type::b32, AtomOp::or_}, {Type::b32, AtomOp::xor_}};
  for (const auto& [type, op] : forms)
    for (const bool tiles : {false, true})
      for (const u32 mask : masks) {
        Form form{.op = Op::redux, .type = type, .sources = {type, Type::b32}, .result = type};
        form.mods.atom = op;
        Warp warp;
        for (unsigned lane = 0; lane < 32; ++lane) {
          warp.sources[0][lane] = sample(random, type);
          warp.sources[1][lane] = members(tiles, lane);
        }
        for (const InstructionSet& isa : instruction_sets()) {
          const Outcome out = execute(isa, form, warp, mask);
          for (unsigned lane = 0; lane < 32; ++lane) {
            if (!in(mask, lane)) continue;
            std::vector<u32> v;
            for (unsigned other = 0; other < 32; ++other)
              if (in(group_of(tiles, lane, mask), other))
                v.push_back(static_cast<u32>(warp.sources[0][other]));
            u32 want = v[0];
            const bool by_sign = type == Type::s32;
            auto less = [&](u32 a, u32 b) {
              return by_sign ? static_cast<s32>(a) < static_cast<s32>(b) : a < b;
            };
            if (op == AtomOp::min)
              want = *std::min_element(v.begin(), v.end(), less);
            else if (op == AtomOp::max)
              want = *std::max_element(v.begin(), v.end(), less);
            else
              for (std::size_t i = 1; i < v.size(); ++i)
                want = op == AtomOp::add    ? want + v[i]
                       : op == AtomOp::and_ ? want & v[i]
                       : op == AtomOp::or_  ? want | v[i]
                                            : want ^ v[i];
            ASSERT_EQ(want, out.d[lane]) << isa.name;
          }
        }
      }
}

TEST(WarpHandlers, redux_of_floats_skips_nan_unless_asked_for) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const struct {
    AtomOp op;
    bool abs, nan;
    float want;
  } cases[] = {{AtomOp::min, false, false, -8},
               {AtomOp::max, false, false, 4},
               {AtomOp::min, true, false, 0},
               {AtomOp::max, true, false, 8},
               {AtomOp::max, false, true, nan}};
  for (const auto& [op, abs, keeps_nan, want] : cases) {
    Form form{.op = Op::redux, .type = Type::f32, .sources = {Type::f32, Type::b32}, .result = Type::f32};
    form.mods.atom = op;
    form.mods.abs = abs;
    form.mods.nan = keeps_nan;
    Warp warp;
    for (u64 lane = 0; lane < 32; ++lane) {
      warp.sources[0][lane] = lane == 3   ? bits(nan)
                              : lane == 5 ? bits(-8.0f)
                              : lane == 9 ? bits(4.0f)
                                          : bits(0.0f);
      warp.sources[1][lane] = 0xffffffffu;
    }
    for (const InstructionSet& isa : instruction_sets())
      EXPECT_EQ(std::isnan(want) ? 0x7fffffffu : bits(want), execute(isa, form, warp, ~0u).d[31]) << isa.name;
  }
}

TEST(WarpHandlers, activemask_and_elect_name_the_active_lanes) {
  for (const u32 mask : masks)
    for (const InstructionSet& isa : instruction_sets()) {
      const Outcome active =
          execute(isa, {.op = Op::activemask, .type = Type::b32, .result = Type::b32}, {}, mask);
      Warp warp;
      warp.sources[0].fill(0xffffffffu);
      const Outcome elected = execute(isa,
                                      {.op = Op::elect,
                                       .type = Type::b32,
                                       .sources = {Type::b32},
                                       .result = Type::b32,
                                       .predicate_results = 1},
                                      warp, mask);
      const unsigned leader = static_cast<unsigned>(__builtin_ctz(mask));
      for (unsigned lane = 0; lane < 32; ++lane) {
        if (!in(mask, lane)) continue;
        EXPECT_EQ(mask, active.d[lane]) << isa.name;
        EXPECT_EQ(leader, elected.d[lane]) << isa.name;
        EXPECT_EQ(lane == leader, in(elected.p, lane)) << isa.name;
      }
    }
}

}  // namespace
}  // namespace arith

// Post-dominators against a naive definition on random graphs, and reconvergence points of real shapes.
#include "ptx/cfg.h"

#include <gtest/gtest.h>

#include <random>

#include "helpers.h"

namespace simtlab::ptx {
namespace {

using namespace test;

// A function of n blocks of one branch each, made at random: bra, guarded bra, brx or nothing, and a return
// at the end.
Function random_function(std::mt19937& rng, std::uint32_t n) {
  Function f;
  auto any = [&](std::uint32_t below) { return static_cast<std::uint32_t>(rng() % below); };
  for (std::uint32_t i = 0; i < n; ++i) {
    Inst inst;
    switch (any(6)) {
      case 0:
        inst.op = Op::bra;
        inst.target = any(n + 1);
        break;
      case 1:
      case 2:
        inst.op = Op::bra;
        inst.target = any(n + 1);
        inst.guard.kind = OperandKind::pred;
        break;
      case 3:
        inst.op = Op::brx;
        inst.target = static_cast<std::uint32_t>(f.branch_tables.size());
        f.branch_tables.push_back({any(n + 1), any(n + 1), any(n + 1)});
        break;
      case 4:
        inst.op = any(8) == 0 ? Op::exit : Op::add;
        if (inst.op == Op::exit) inst.guard.kind = OperandKind::pred;
        break;
      default: inst.op = Op::add;
    }
    f.code.push_back(inst);
  }
  Inst ret;
  ret.op = Op::ret;
  f.code.push_back(ret);
  return f;
}

std::vector<std::vector<std::uint32_t>> successors_of(const Cfg& cfg) {
  std::vector<std::vector<std::uint32_t>> out(cfg.blocks.size() + 1);
  for (std::uint32_t b = 0; b <= cfg.blocks.size(); ++b)
    for (std::uint32_t e = cfg.successor_start[b]; e < cfg.successor_start[b + 1]; ++e)
      out[b].push_back(cfg.successors[e]);
  return out;
}

bool reaches(const std::vector<std::vector<std::uint32_t>>& graph, std::uint32_t from, std::uint32_t to,
             std::uint32_t without) {
  if (from == without) return false;
  std::vector<bool> seen(graph.size(), false);
  std::vector<std::uint32_t> work{from};
  seen[from] = true;
  while (!work.empty()) {
    const std::uint32_t v = work.back();
    work.pop_back();
    if (v == to) return true;
    for (const std::uint32_t w : graph[v])
      if (w != without && !seen[w]) seen[w] = true, work.push_back(w);
  }
  return false;
}

// d post-dominates v if v can't reach the exit without it; the immediate one is post-dominated by all others.
std::uint32_t naive_immediate(const std::vector<std::vector<std::uint32_t>>& graph, std::uint32_t v,
                              std::uint32_t exit) {
  std::vector<std::uint32_t> strict;
  for (std::uint32_t d = 0; d <= exit; ++d)
    if (d != v && (d == exit || !reaches(graph, v, exit, d))) strict.push_back(d);
  for (const std::uint32_t d : strict) {
    bool nearest = true;
    for (const std::uint32_t other : strict)
      if (other != d && other != exit && reaches(graph, d, exit, other)) nearest = false;
    if (nearest) return d;
  }
  return exit;
}

TEST(PostDominators, AgreeWithTheDefinitionOnRandomGraphs) {
  std::mt19937 rng(7);
  for (int round = 0; round < 400; ++round) {
    const Function f = random_function(rng, 2 + static_cast<std::uint32_t>(round) % 30);
    const Cfg cfg = build_cfg(f);
    const auto graph = successors_of(cfg);
    const auto post = immediate_post_dominators(cfg);
    for (std::uint32_t b = 0; b < cfg.exit(); ++b) {
      ASSERT_TRUE(reaches(graph, b, cfg.exit(), no_pc))
          << "every block leads to the exit, endless loops by an extra edge";
      ASSERT_EQ(post[b], naive_immediate(graph, b, cfg.exit())) << "round " << round << " block " << b;
    }
  }
}

// Branches that share a table go through one node of the graph; lanes meet where they would with a table
// each.
TEST(PostDominators, SharedTablesChangeNothing) {
  std::mt19937 rng(7);
  auto any = [&](std::uint32_t below) { return static_cast<std::uint32_t>(rng() % below); };
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t n = 5 + any(30);
    Function shared;
    for (int t = 0; t < 3; ++t) shared.branch_tables.push_back({any(n + 1), any(n + 1), any(n + 1), n});
    for (std::uint32_t i = 0; i < n; ++i) {
      Inst inst;
      const std::uint32_t kind = any(5);
      inst.op = kind < 2 ? Op::brx : kind == 2 ? Op::bra : Op::add;
      if (kind < 2) inst.target = any(3);
      if (kind == 2) inst.target = any(n + 1);
      if (kind == 2 || any(3) == 0) inst.guard.kind = OperandKind::pred;
      shared.code.push_back(inst);
    }
    Inst ret;
    ret.op = Op::ret;
    shared.code.push_back(ret);
    Function apart = shared;
    apart.branch_tables.clear();
    for (Inst& inst : apart.code) {
      if (inst.op != Op::brx) continue;
      apart.branch_tables.push_back(shared.branch_tables[inst.target]);
      inst.target = static_cast<std::uint32_t>(apart.branch_tables.size() - 1);
    }
    set_reconvergence(shared, build_cfg(shared));
    set_reconvergence(apart, build_cfg(apart));
    for (std::size_t pc = 0; pc < shared.code.size(); ++pc)
      ASSERT_EQ(shared.code[pc].reconverge, apart.code[pc].reconverge) << "round " << round << " pc " << pc;
  }
}

TEST(PostDominators, IfElseMeetsBehindBoth) {
  const auto k = load_kernel(
      "@%p1 bra ELSE; mov.u32 %r1, 1; bra END; ELSE: mov.u32 %r1, 2; END: mov.u32 %r2, %r1; ret;");
  EXPECT_EQ(k[0].target, 3u);
  EXPECT_EQ(k[0].reconverge, 4u);
}

TEST(PostDominators, LoopMeetsBehindItself) {
  const auto k = load_kernel("TOP: add.u32 %r1, %r1, 1; @%p1 bra TOP; mov.u32 %r2, 0; ret;");
  EXPECT_EQ(k[1].reconverge, 2u);
}

TEST(PostDominators, LanesThatLeaveDontMeet) {
  const auto k = load_kernel("@%p1 bra OUT; mov.u32 %r1, 1; ret; OUT: exit;");
  EXPECT_EQ(k[0].reconverge, no_pc);
}

TEST(PostDominators, AnEndlessLoopHasAPlaceToMeet) {
  const auto k = load_kernel("TOP: @%p1 bra SKIP; add.u32 %r1, %r1, 1; SKIP: add.u32 %r2, %r2, 1; bra TOP;");
  EXPECT_EQ(k[0].reconverge, 2u);
}

TEST(PostDominators, SwitchMeetsBehindAllCases) {
  const auto k = load_kernel(
      "T: .branchtargets A, B, C; brx.idx %r1, T; A: mov.u32 %r2, 1; bra E; B: mov.u32 %r2, 2; bra E; C: "
      "mov.u32 %r2, 3; E: ret;");
  EXPECT_EQ(k[0].reconverge, 6u);
}

TEST(PostDominators, LongChainsAreFast) {
  std::vector<std::vector<std::uint32_t>> chain(300'000);
  for (std::uint32_t i = 0; i + 1 < chain.size(); ++i) chain[i] = {i + 1, (i * 7919u) % (i + 1)};
  const auto idom = dominators(chain, 0);
  EXPECT_EQ(idom[299'999], 299'998u);
}

}  // namespace
}  // namespace simtlab::ptx

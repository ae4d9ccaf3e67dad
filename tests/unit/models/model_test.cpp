// What the models answer: the papers' figures, cases, floors, invariants.
#include "models/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "reference_cases.h"

namespace simtlab::models {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using C = Counts;

const Model& model_named(std::string_view name) { return name == "mwp-cwp" ? mwp_cwp() : mwp_cwp_2012(); }

Counts counts_of(std::string_view name) {
  const auto& all = reference_cases();
  const auto found = std::ranges::find(all, name, &ReferenceCase::name);
  EXPECT_NE(found, all.end()) << name;
  Inputs in = parse_counts(found->counts, std::string(name));
  complete(in, nullptr);
  require(in, model_named(found->model));
  return in.counts;
}

double value_of(const Evaluation& e, std::string_view name) {
  const auto found = std::ranges::find(e.terms, name, &Term::name);
  EXPECT_NE(found, e.terms.end()) << "no term " << name;
  return found == e.terms.end() ? 0 : found->value;
}

bool has_note(const Prediction& p, std::string_view text) {
  return std::ranges::any_of(p.evaluation.notes,
                             [&](const std::string& n) { return n.find(text) != std::string::npos; });
}

void expect_terms(const Evaluation& e, const std::vector<Expected>& expected, const std::string& where) {
  EXPECT_FALSE(expected.empty());
  // Differences of large numbers (T'_mem of sim-synthetic-1) are exact to the rounding of what they are
  // differences of.
  for (const Expected& x : expected)
    EXPECT_NEAR(value_of(e, x.name), x.value, std::max(1e-9 * std::abs(x.value), 1e-9))
        << where << ": " << x.name;
}

TEST(ReferenceCases, EveryValueOfEveryCaseUnderBothRules) {
  ASSERT_EQ(reference_cases().size(), 9u);
  for (const ReferenceCase& c : reference_cases()) {
    const Counts counts = counts_of(c.name);
    const Model& model = model_named(c.model);
    const Evaluation order = model.evaluate(counts, Rule::order), paper = model.evaluate(counts, Rule::paper);
    expect_terms(order, c.order, std::string(c.name) + ", order");
    expect_terms(paper, c.paper, std::string(c.name) + ", paper");
    if (c.order_case == 0) continue;
    EXPECT_THAT(order.which_case, StartsWith(std::to_string(c.order_case) + ":")) << c.name;
    EXPECT_THAT(paper.which_case, StartsWith(std::to_string(c.paper_case) + ":")) << c.name;
  }
}

TEST(ReferenceCases, TheWorkedExampleIsWithinTheRoundingOfThePaper) {
  const Prediction p = predict(mwp_cwp(), counts_of("hk2009-worked-example"), Rule::paper);
  EXPECT_NEAR(p.cycles, 50728.1875, 1e-6);
  EXPECT_NEAR(p.cycles, 50738, 0.0005 * 50738);
  EXPECT_NEAR(p.time_ns, 50728.1875, 1e-6);  // at 1 GHz
  EXPECT_FALSE(p.below_floor);
}

TEST(Floor, IsTheIssueOfTheInstructionsOrTheTransferOfTheBytes) {
  const Prediction p = predict(mwp_cwp(), counts_of("hk2009-worked-example"), Rule::order);
  EXPECT_DOUBLE_EQ(p.evaluation.compute_floor, 132.0 * 4 * 80 / 16);
  EXPECT_DOUBLE_EQ(p.evaluation.bandwidth_floor, 128.0 * 6 * 4 * 80 / 80);
  EXPECT_EQ(p.floor_by, "bandwidth");
  EXPECT_DOUBLE_EQ(p.floor, 3072);
}

TEST(Floor, TheTrapOfThePaperIsReportedButCalledImpossible) {
  const Counts c = counts_of("hk-compute-bound-trap");
  const Prediction paper = predict(mwp_cwp(), c, Rule::paper);
  EXPECT_NEAR(paper.cycles, 23675.2917, 1e-3);
  EXPECT_TRUE(paper.below_floor);
  EXPECT_DOUBLE_EQ(paper.floor, 160480);
  EXPECT_TRUE(has_note(paper, "impossible"));
  EXPECT_TRUE(has_note(paper, "--rule order"));
  const Prediction order = predict(mwp_cwp(), c, Rule::order);
  EXPECT_DOUBLE_EQ(order.cycles, 160900);
  EXPECT_FALSE(order.below_floor);
}

// CWP just above MWP = 2.28: case 2 gives about 60 % of what issuing the instructions takes.
TEST(Floor, ReplacesAnImpossibleAnswerOfTheDefaultRule) {
  Counts c = counts_of("hk2009-worked-example");
  c.comp_insts = 838;  // CWP = (4380 + 3376) / 3376 = 2.297
  const Prediction p = predict(mwp_cwp(), c, Rule::order);
  ASSERT_TRUE(p.below_floor) << p.evaluation.which_case << " " << p.evaluation.cycles << " " << p.floor;
  EXPECT_LT(p.evaluation.cycles, p.floor);
  EXPECT_EQ(p.cycles, p.floor);
  EXPECT_TRUE(has_note(p, "The floor is reported instead"));
  EXPECT_EQ(p.evaluation.which_case, "2: CWP >= MWP; less than the floor");
  EXPECT_THAT(p.evaluation.limit,
              StartsWith(p.floor_by == "compute" ? "the issue of the instructions, the floor"
                                                 : "the transfer of the bytes, the floor"));
}

TEST(Floor, NoCountsOfTheDefaultRuleAreAnsweredBelowIt) {
  const Counts base = counts_of("hk-mixed-coalescing");
  for (double comp = 1; comp < 1e5; comp *= 3)
    for (double coal = 0; coal < 100; coal = coal * 4 + 1)
      for (double bandwidth = 1; bandwidth < 1e4; bandwidth *= 7) {
        Counts c = base;
        c.comp_insts = comp;
        c.coal_mem_insts = coal;
        c.mem_bandwidth = bandwidth;
        const Prediction p = predict(mwp_cwp(), c, Rule::order);
        ASSERT_TRUE(std::isfinite(p.cycles));
        ASSERT_GE(p.cycles, p.floor * (1 - 1e-9));
      }
}

TEST(MwpCwp, WithoutMemoryOnlyComputationCounts) {
  Counts c = counts_of("hk2009-worked-example");
  c.uncoal_mem_insts = 0;
  const Prediction p = predict(mwp_cwp(), c, Rule::order);
  EXPECT_DOUBLE_EQ(p.cycles, 4.0 * 27 * 20);
  EXPECT_THAT(p.evaluation.which_case, HasSubstr("no memory"));
  // Undefined, not zero
  EXPECT_TRUE(std::ranges::none_of(p.evaluation.terms, [](const Term& t) { return t.name == "MWP"; }));
  EXPECT_TRUE(has_note(p, "Barriers cost nothing here"));
}

TEST(MwpCwp, TheTermThatLimitsIsNamed) {
  EXPECT_THAT(mwp_cwp().evaluate(counts_of("hk2009-worked-example"), Rule::order).limit,
              StartsWith("departure"));
  EXPECT_THAT(mwp_cwp().evaluate(counts_of("hk-case3"), Rule::order).limit, StartsWith("issue"));
  EXPECT_THAT(mwp_cwp().evaluate(counts_of("hk-case1-one-warp"), Rule::order).limit, StartsWith("latency"));
  Counts narrow = counts_of("hk2009-worked-example");
  narrow.mem_bandwidth = 4;
  EXPECT_THAT(mwp_cwp().evaluate(narrow, Rule::order).limit, StartsWith("bandwidth"));
  Counts waiting = counts_of("hk2009-worked-example");
  waiting.synch_insts = 100;
  EXPECT_THAT(mwp_cwp().evaluate(waiting, Rule::order).limit, StartsWith("barriers"));
}

// Very narrow memory: MWP below 1 must not turn the cost of barriers negative.
TEST(MwpCwp, NoTermIsNegativeWhenMemoryServesLessThanOneWarp) {
  Counts c = counts_of("hk2009-worked-example");
  c.mem_bandwidth = 0.5;
  const Prediction p = predict(mwp_cwp(), c, Rule::order);
  EXPECT_LT(value_of(p.evaluation, "MWP"), 1);
  for (const Term& t : p.evaluation.terms) EXPECT_GE(t.value, 0) << t.name;
  EXPECT_TRUE(has_note(p, "MWP is below 1"));
  EXPECT_GE(p.cycles, p.floor * (1 - 1e-9));
}

TEST(Extension, InvariantsOfTheTimeAndTheIdentityOfTheBenefits) {
  for (const char* name : {"sim-synthetic-1", "sim-synthetic-2"})
    for (double miss = 0; miss <= 1; miss += 0.25)
      for (double n = 1; n <= 64; n *= 2)
        for (double gamma : {0.0, 1.0, 64.0}) {
          Counts c = counts_of(name);
          c.miss_ratio = miss;
          c.n = n;
          c.gamma = gamma;
          const Evaluation e = mwp_cwp_2012().evaluate(c, Rule::order);
          const auto v = [&](const char* term) { return value_of(e, term); };
          const double most = std::min(v("T_comp"), v("T_mem")), slack = 1e-9 * (v("T_comp") + v("T_mem"));
          EXPECT_GE(v("T_overlap"), 0);
          EXPECT_LE(v("T_overlap"), most + slack);
          EXPECT_GE(v("T_exec"), std::max(v("T_comp"), v("T_mem")) - slack);
          EXPECT_LE(v("T_exec"), v("T_comp") + v("T_mem") + slack);
          EXPECT_NEAR(v("T_fp") + v("B_fp") + v("B_itilp") + v("B_serial"), v("T_comp"), slack);
          for (const Benefit& b : e.benefits) EXPECT_GE(b.cycles, 0) << b.name;
        }
}

TEST(Extension, ANegativeBenefitIsTakenAsZeroAndSaid) {
  Counts c = counts_of("sim-synthetic-1");
  c.fp_insts = c.insts;
  c.fp_lat = 2 * c.avg_inst_lat;
  const Prediction p = predict(mwp_cwp_2012(), c, Rule::order);
  EXPECT_EQ(value_of(p.evaluation, "B_fp"), 0);
  EXPECT_TRUE(has_note(p, "B_fp would be"));
}

TEST(Extension, WhatIsRecalledIsMarked) {
  const Evaluation e = mwp_cwp_2012().evaluate(counts_of("sim-synthetic-2"), Rule::order);
  const auto evidence = [&](std::string_view name) {
    return std::ranges::find(e.terms, name, &Term::name)->evidence;
  };
  for (const char* name : {"O_sync", "O_SFU", "W_serial", "T_overlap", "T_exec", "B_memlp", "B_fp", "B_itilp",
                           "B_serial", "T_comp"})
    EXPECT_EQ(evidence(name), Evidence::recalled) << name;
  for (const char* name : {"ITILP", "AMAT", "T_mem"}) EXPECT_EQ(evidence(name), Evidence::secondary) << name;
  for (const char* name : {"MWP_peak_bw", "CWP"}) EXPECT_EQ(evidence(name), Evidence::verified) << name;
}

TEST(Extension, WithoutMemoryTheTimeIsThatOfComputation) {
  Counts c = counts_of("sim-synthetic-1");
  c.mem_insts = c.useful_bytes = 0;
  const Evaluation e = mwp_cwp_2012().evaluate(c, Rule::order);
  EXPECT_EQ(value_of(e, "T_mem"), 0);
  EXPECT_EQ(e.cycles, value_of(e, "T_comp"));
}

TEST(Extension, MoreUsefulBytesThanTheTimeAllowsRaiseTheAnswerToTheFloor) {
  Counts c = counts_of("sim-synthetic-1");
  c.useful_bytes *= 10;
  const Prediction p = predict(mwp_cwp_2012(), c, Rule::paper);  // the rule is the other model's
  EXPECT_TRUE(p.below_floor);
  EXPECT_EQ(p.cycles, p.floor);
  EXPECT_EQ(p.floor_by, "bandwidth");
}

TEST(Sensitivity, IsTheChangeOfTheTimeForTenPerCentMore) {
  const Counts c = counts_of("hk2009-worked-example");
  const Prediction p = predict(mwp_cwp(), c, Rule::order);
  const auto of = [&](std::string_view name) {
    return std::ranges::find(p.sensitivity, name, &Sensitivity::parameter)->change;
  };
  Counts more = c;
  more.departure_del_uncoal *= 1.1;
  EXPECT_NEAR(of("departure_del_uncoal"), mwp_cwp().evaluate(more, Rule::order).cycles / p.cycles - 1, 1e-12);
  EXPECT_NEAR(of("freq"), 1 / 1.1 - 1, 1e-12);  // bandwidth is not what limits
  EXPECT_EQ(of("departure_del_coal"), 0);       // no coalesced accesses
  EXPECT_EQ(p.sensitivity.size(), 7u);          // machine parameters only
  EXPECT_TRUE(std::ranges::is_sorted(
      p.sensitivity, [](const auto& a, const auto& b) { return std::abs(a.change) > std::abs(b.change); }));
}

}  // namespace
}  // namespace simtlab::models

// The rule checker: every rule one clock early (named) and on the clock (accepted), for every technology.
#include "memory/dram/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace simtlab::memory::dram {
namespace {

using device::Technology;
using ::testing::HasSubstr;
using Timing = Technology::Timing;

struct Step {
  Cycle at = 0;
  Command command = Command::act;
  std::uint8_t rank = 0, group = 0, bank = 0, pseudo = 0;
  std::uint32_t row = 0, column = 0;
};

CommandRecord record(const Step& s) {
  return {.at = s.at,
          .command = s.command,
          .pseudo = s.pseudo,
          .rank = s.rank,
          .group = s.group,
          .bank = s.bank,
          .channel = 0,
          .row = s.row,
          .column = s.column};
}

std::optional<Violation> check(const Technology& t, const std::vector<Step>& steps) {
  CommandChecker checker(t);
  for (const Step& step : steps) checker.command(record(step));
  if (!checker.violation()) { EXPECT_EQ(checker.commands(), steps.size()); }
  return checker.violation();
}

// The technology with two of everything and all kinds of refresh.
Technology widened(const std::string& name) {
  Technology t = device::load_technology(name).technology;
  t.organisation.ranks = 2;
  t.organisation.pseudo_channels = 2;
  t.organisation.bank_groups = std::max(t.organisation.bank_groups, 2u);
  t.refresh = device::Refresh::all_bank;
  t.timing.trefi = 1000000;
  if (t.timing.trfc == 0) t.timing.trfc = 100;
  if (t.timing.trfc_pb == 0) t.timing.trfc_pb = 50;
  return t;
}

// One rule: what came before, the command that is too early, and the first clock at which it may come.
struct Case {
  const char* name;
  const char* rule;
  std::function<void(Timing&)> stretch;  // makes this rule the one that binds
  std::function<std::vector<Step>(const Timing&)> before;
  Step last;
  std::function<Cycle(const Timing&)> earliest;
};

constexpr Cycle long_after = 20000;  // all that was
constexpr Cycle more = 3000;         // longer than any other rule asks for
using enum Command;

std::vector<Step> opened(const Timing&) {
  return {{0, act}, {1000, act, 0, 0, 1}, {2000, act, 0, 1}, {3000, act, 1}};
}
std::function<std::vector<Step>(const Timing&)> opened_then(Command command) {
  return [command](const Timing& t) {
    std::vector<Step> steps = opened(t);
    steps.push_back({long_after, command});
    return steps;
  };
}
std::function<std::vector<Step>(const Timing&)> only(std::vector<Step> steps) {
  return [steps](const Timing&) { return steps; };
}

const std::vector<Case>& cases() {
  const auto trcd_r = [](Timing& t) { t.trcd_read += more; };
  const auto trcd_w = [](Timing& t) { t.trcd_write += more; };
  const auto tras = [](Timing& t) { t.tras += more; };
  const auto trtp = [](Timing& t) { t.trtp += more; };
  const auto twr = [](Timing& t) { t.twr += more; };
  const auto trp = [](Timing& t) { t.trp += more; };
  const auto trfc = [](Timing& t) { t.trfc += more; };
  const auto trfc_pb = [](Timing& t) { t.trfc_pb += more; };
  const auto trtrs = [](Timing& t) { t.trtrs += more; };
  const auto after_act = [](std::uint32_t Timing::*member) {
    return [member](const Timing& t) { return Cycle{t.*member}; };
  };
  const auto after = [](std::uint32_t Timing::*member) {
    return [member](const Timing& t) { return long_after + t.*member; };
  };
  const auto write_end = [](const Timing& t) { return Cycle{t.cwl} + t.burst; };
  const auto written = [=](std::uint32_t Timing::*member) {
    return [=](const Timing& t) { return long_after + write_end(t) + t.*member; };
  };
  const auto precharged = only({{0, act}, {long_after, pre}});
  const auto all_precharged = only({{0, act}, {long_after, prea}});
  const auto refreshed = only({{long_after, ref}});
  const auto refreshed_bank = only({{long_after, refpb}});
  static const std::vector<Case> all = {
      {"read", "tRCD_R", trcd_r, only({{0, act}}), {0, rd}, after_act(&Timing::trcd_read)},
      {"read_and_precharge", "tRCD_R", trcd_r, only({{0, act}}), {0, rda}, after_act(&Timing::trcd_read)},
      {"write", "tRCD_W", trcd_w, only({{0, act}}), {0, wr}, after_act(&Timing::trcd_write)},
      {"write_and_precharge", "tRCD_W", trcd_w, only({{0, act}}), {0, wra}, after_act(&Timing::trcd_write)},
      {"open_long_enough", "tRAS", tras, only({{0, act}}), {0, pre}, after_act(&Timing::tras)},
      {"open_long_enough_for_all", "tRAS", tras, only({{0, act}}), {0, prea}, after_act(&Timing::tras)},
      {"read_to_precharge", "tRTP", trtp, opened_then(rd), {0, pre}, after(&Timing::trtp)},
      {"read_to_precharge_of_all", "tRTP", trtp, opened_then(rd), {0, prea}, after(&Timing::trtp)},
      {"write_recovery", "tWR", twr, opened_then(wr), {0, pre}, written(&Timing::twr)},
      {"write_recovery_of_all", "tWR", twr, opened_then(wr), {0, prea}, written(&Timing::twr)},
      {"row_cycle",
       "tRC",
       [](Timing& t) { t.trc += more; },
       [](const Timing& t) {
         return std::vector<Step>{{0, act}, {t.tras, pre}};
       },
       {0, act},
       after_act(&Timing::trc)},
      {"precharge_to_activation", "tRP", trp, precharged, {0, act}, after(&Timing::trp)},
      {"precharge_to_bank_refresh", "tRP", trp, precharged, {0, refpb}, after(&Timing::trp)},
      {"precharge_to_refresh", "tRP", trp, precharged, {0, ref}, after(&Timing::trp)},
      {"precharge_to_self_refresh", "tRP", trp, precharged, {0, sre}, after(&Timing::trp)},
      {"precharge_of_all_to_activation", "tRP", trp, all_precharged, {0, act, 0, 1}, after(&Timing::trp)},
      {"precharge_of_all_to_bank_refresh", "tRP", trp, all_precharged, {0, refpb, 0, 1}, after(&Timing::trp)},
      {"precharge_of_all_to_refresh", "tRP", trp, all_precharged, {0, ref}, after(&Timing::trp)},
      {"precharge_of_all_to_self_refresh", "tRP", trp, all_precharged, {0, sre}, after(&Timing::trp)},
      {"read_with_precharge",
       "tRP",
       trp,
       opened_then(rda),
       {0, act},
       [](const Timing& t) { return long_after + t.trtp + t.trp; }},
      {"read_with_precharge_to_refresh",
       "tRP",
       trp,
       only({{0, act}, {long_after, rda}}),
       {0, ref},
       [](const Timing& t) { return long_after + t.trtp + t.trp; }},
      {"early_read_with_precharge_waits_for_tRAS",
       "tRP",
       [](Timing& t) {
         t.tras += more;
         t.trp += more;
       },
       [](const Timing& t) {
         return std::vector<Step>{{0, act}, {t.trcd_read, rda}};
       },
       {0, act},
       [](const Timing& t) { return Cycle{t.tras} + t.trp; }},
      {"write_with_precharge",
       "tRP",
       trp,
       opened_then(wra),
       {0, act},
       [=](const Timing& t) { return long_after + write_end(t) + t.twr + t.trp; }},
      {"refresh_to_activation", "tRFC", trfc, refreshed, {0, act, 0, 1}, after(&Timing::trfc)},
      {"refresh_to_refresh", "tRFC", trfc, refreshed, {0, ref}, after(&Timing::trfc)},
      {"refresh_to_bank_refresh", "tRFC", trfc, refreshed, {0, refpb}, after(&Timing::trfc)},
      {"refresh_to_self_refresh", "tRFC", trfc, refreshed, {0, sre}, after(&Timing::trfc)},
      {"bank_refresh_to_activation", "tRFC_pb", trfc_pb, refreshed_bank, {0, act}, after(&Timing::trfc_pb)},
      {"bank_refresh_to_the_same", "tRFC_pb", trfc_pb, refreshed_bank, {0, refpb}, after(&Timing::trfc_pb)},
      {"bank_refresh_to_refresh", "tRFC_pb", trfc_pb, refreshed_bank, {0, ref}, after(&Timing::trfc_pb)},
      {"bank_refresh_to_self_refresh", "tRFC_pb", trfc_pb, refreshed_bank, {0, sre}, after(&Timing::trfc_pb)},
      {"reads_of_a_group",
       "tCCD_L",
       [](Timing& t) { t.tccd_l += more; },
       opened_then(rd),
       {0, rd, 0, 0, 1},
       after(&Timing::tccd_l)},
      {"writes_of_a_group",
       "tCCD_L",
       [](Timing& t) { t.tccd_l += more; },
       opened_then(wr),
       {0, wr, 0, 0, 1},
       after(&Timing::tccd_l)},
      {"reads_of_a_bank",
       "tCCD_L",
       [](Timing& t) { t.tccd_l += more; },
       opened_then(rd),
       {0, rda},
       after(&Timing::tccd_l)},
      {"reads_of_a_rank",
       "tCCD_S",
       [](Timing& t) { t.tccd_s += more; },
       opened_then(rd),
       {0, rd, 0, 1},
       after(&Timing::tccd_s)},
      {"writes_of_a_rank",
       "tCCD_S",
       [](Timing& t) { t.tccd_s += more; },
       opened_then(wr),
       {0, wr, 0, 1},
       after(&Timing::tccd_s)},
      {"write_to_read_in_a_group",
       "tWTR_L",
       [](Timing& t) { t.twtr_l += more; },
       opened_then(wr),
       {0, rd, 0, 0, 1},
       written(&Timing::twtr_l)},
      {"write_to_read_in_a_rank",
       "tWTR_S",
       [](Timing& t) { t.twtr_s += more; },
       opened_then(wr),
       {0, rd, 0, 1},
       written(&Timing::twtr_s)},
      {"writes_of_a_group",
       "tCCD_L_W",
       [](Timing& t) { t.tccd_l_write = t.tccd_l + more; },
       opened_then(wr),
       {0, wr, 0, 0, 1},
       after(&Timing::tccd_l_write)},
      {"read_to_write_of_its_own",
       "tRTW",
       [](Timing& t) { t.trtw = more; },
       opened_then(rd),
       {0, wr, 0, 1},
       after(&Timing::trtw)},
      {"read_to_write",
       "tRTW",
       trtrs,
       opened_then(rd),
       {0, wr, 0, 1},
       [](const Timing& t) { return long_after + t.cl + t.burst + t.trtrs - t.cwl; }},
      {"activations_of_a_group",
       "tRRD_L",
       [](Timing& t) { t.trrd_l += more; },
       only({{0, act}}),
       {0, act, 0, 0, 1},
       after_act(&Timing::trrd_l)},
      {"activations_of_a_rank",
       "tRRD_S",
       [](Timing& t) { t.trrd_s += more; },
       only({{0, act}}),
       {0, act, 0, 1},
       after_act(&Timing::trrd_s)},
      {"five_activations",
       "tFAW",
       [](Timing& t) { t.tfaw = 50 * more; },
       only({{0, act}, {1000, act, 0, 0, 1}, {2000, act, 0, 1, 0}, {3000, act, 0, 1, 1}, {long_after, pre}}),
       {0, act},
       after_act(&Timing::tfaw)},
      {"rank_switch_of_reads",
       "tRTRS",
       trtrs,
       opened_then(rd),
       {0, rd, 1},
       [](const Timing& t) { return long_after + t.burst + t.trtrs; }},
      {"rank_switch_read_to_write",
       "tRTRS",
       trtrs,
       opened_then(rd),
       {0, wr, 1},
       [](const Timing& t) { return long_after + t.cl + t.burst + t.trtrs - t.cwl; }},
      {"rank_switch_write_to_read",
       "tRTRS",
       trtrs,
       opened_then(wr),
       {0, rd, 1},
       [=](const Timing& t) { return long_after + write_end(t) + t.trtrs - t.cl; }},
      {"shortest_power_down",
       "tCKE",
       [](Timing& t) { t.tcke += more; },
       only({{long_after, pde}}),
       {0, pdx},
       after(&Timing::tcke)},
      {"shortest_self_refresh",
       "tCKE",
       [](Timing& t) { t.tcke += more; },
       only({{long_after, sre}}),
       {0, srx},
       after(&Timing::tcke)},
      {"power_down_to_activation",
       "tXP",
       [](Timing& t) { t.txp += more; },
       only({{100, pde}, {long_after, pdx}}),
       {0, act},
       after(&Timing::txp)},
      {"power_down_to_read",
       "tXP",
       [](Timing& t) { t.txp += more; },
       only({{0, act}, {1000, pde}, {long_after, pdx}}),
       {0, rd},
       after(&Timing::txp)},
      {"power_down_to_refresh",
       "tXP",
       [](Timing& t) { t.txp += more; },
       only({{100, pde}, {long_after, pdx}}),
       {0, ref},
       after(&Timing::txp)},
      {"self_refresh_to_activation",
       "tXS",
       [](Timing& t) { t.txs += more; },
       only({{100, sre}, {long_after, srx}}),
       {0, act},
       after(&Timing::txs)},
      {"self_refresh_to_power_down",
       "tXS",
       [](Timing& t) { t.txs += more; },
       only({{100, sre}, {long_after, srx}}),
       {0, pde},
       after(&Timing::txs)},
      {"read_to_power_down",
       "tRDPDEN",
       [](Timing& t) { t.cl += more; },
       opened_then(rd),
       {0, pde},
       [](const Timing& t) { return long_after + t.cl + t.burst; }},
      {"write_to_power_down", "tWRPDEN", twr, opened_then(wra), {0, pde}, written(&Timing::twr)},
      {"transfers",
       "data bus",
       [](Timing& t) {
         t.burst += more;
         t.tccd_s = 1;
       },
       opened_then(rd),
       {0, rd, 0, 1},
       after(&Timing::burst)},
      {"transfers_of_writes_to_two_ranks",
       "data bus",
       [](Timing& t) { t.burst += more; },
       opened_then(wr),
       {0, wr, 1},
       after(&Timing::burst)},
  };
  return all;
}

class EveryRule : public testing::TestWithParam<std::string> {};

TEST_P(EveryRule, is_broken_one_clock_early_and_kept_on_the_clock) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    Technology t = widened(GetParam());
    c.stretch(t.timing);
    std::vector<Step> steps = c.before(t.timing);
    Step last = c.last;
    last.at = c.earliest(t.timing);
    steps.push_back(last);
    const std::optional<Violation> on_time = check(t, steps);
    ASSERT_FALSE(on_time) << on_time->message;
    --steps.back().at;
    const std::optional<Violation> early = check(t, steps);
    ASSERT_TRUE(early);
    EXPECT_EQ(early->rule, c.rule) << early->message;
    EXPECT_EQ(early->command.at, steps.back().at);
    if (early->earlier) { EXPECT_EQ(early->distance, early->limit - 1) << early->message; }
    // The same clock far from where the rule holds: another pseudo-channel has banks and data pins of its
    // own.
    steps.back().pseudo = 1;
    if (steps.back().command == act) { EXPECT_FALSE(check(t, steps)); }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryRule, testing::ValuesIn(device::list_technologies()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Each rule of the table is the subject of a case above: a new one needs its test.
TEST(CommandChecker, HasACaseForEveryRule) {
  std::set<std::string> tested;
  for (const Case& c : cases()) tested.insert(c.rule);
  for (const Rule& rule : rules_of(widened("ddr4-2400")))
    EXPECT_TRUE(tested.contains(std::string(rule.name))) << rule.name;
}

TEST(CommandChecker, NamesBothCommandsTheirCyclesAndTheLimit) {
  const Technology t = device::load_technology("ddr4-2400").technology;
  const auto v = check(t, {{95, act, 0, 1, 2, 0, 7}, {105, rd, 0, 1, 2, 0, 7}});
  ASSERT_TRUE(v);
  EXPECT_EQ(v->message, "tRCD_R: RD at 105 comes 10 clocks after ACT at 95 of bank 0.0.1.2; at least 17");
  EXPECT_EQ(v->limit, 17);
  const auto group = check(t, {{95, act, 0, 1, 2}, {100, act, 0, 1, 3}});
  ASSERT_TRUE(group);
  EXPECT_EQ(group->message,
            "tRRD_L: ACT at 100 of bank 0.0.1.3 comes 5 clocks after ACT at 95 of bank 0.0.1.2; at least 6");
  const auto automatic = check(t, {{0, act}, {100, rda}, {120, act}});
  ASSERT_TRUE(automatic);
  EXPECT_EQ(
      automatic->message,
      "tRP: ACT at 120 comes 11 clocks after the automatic precharge at 109 of bank 0.0.0.0; at least 17");
}

TEST(CommandChecker, RowsAreOpenedBeforeTheyAreUsedAndClosedBeforeTheNext) {
  const Technology t = widened("ddr4-2400");
  const auto rule_of = [&](const std::vector<Step>& steps) {
    const auto v = check(t, steps);
    return v ? v->message : "kept";
  };
  EXPECT_THAT(rule_of({{0, rd}}), HasSubstr("row state: RD at 0 of bank 0.0.0.0 finds the bank closed"));
  EXPECT_THAT(rule_of({{0, act}, {1000, wr, 0, 0, 1}}), HasSubstr("finds the bank closed"));
  EXPECT_THAT(rule_of({{0, act, 0, 0, 0, 0, 5}, {1000, rd, 0, 0, 0, 0, 6}}),
              HasSubstr("is for row 0x6, but row 0x5 is open"));
  EXPECT_THAT(rule_of({{0, act, 0, 0, 0, 0, 5}, {1000, act}}),
              HasSubstr("ACT at 1000 of bank 0.0.0.0 finds row 0x5 open"));
  EXPECT_THAT(rule_of({{0, act}, {1000, rda}, {2000, rd}}), HasSubstr("finds the bank closed"));
  EXPECT_THAT(rule_of({{0, act}, {1000, pre}, {2000, rd}}), HasSubstr("finds the bank closed"));
  EXPECT_THAT(rule_of({{0, act}, {1000, ref}}), HasSubstr("REF at 1000 of rank 0.0 finds 1 bank open"));
  EXPECT_THAT(rule_of({{0, act}, {1000, act, 0, 1}, {2000, sre}}), HasSubstr("finds 2 banks open"));
  EXPECT_THAT(rule_of({{0, act}, {1000, refpb}}), HasSubstr("finds row 0x0 open"));
  EXPECT_EQ(rule_of({{0, act}, {1000, refpb, 0, 0, 1}}), "kept");
  EXPECT_EQ(rule_of({{0, act}, {1000, ref, 1}}), "kept");
  EXPECT_EQ(rule_of({{0, act}, {1000, act, 0, 1}, {2000, prea}, {3000, ref}}), "kept");
  EXPECT_EQ(rule_of({{0, pre}, {1000, pre}, {2000, act}}), "kept") << "a precharge of a closed bank";
}

TEST(CommandChecker, NothingComesToARankThatSleeps) {
  const Technology t = widened("ddr4-2400");
  const auto rule_of = [&](const std::vector<Step>& steps) {
    const auto v = check(t, steps);
    return v ? v->rule : "kept";
  };
  for (const Command c : {act, pre, prea, ref, refpb, pde, sre, srx})
    EXPECT_EQ(rule_of({{0, pde}, {5000, c}}), c == srx ? "self-refresh" : "power-down") << name(c);
  for (const Command c : {act, pre, prea, ref, refpb, pde, sre, pdx})
    EXPECT_EQ(rule_of({{0, sre}, {5000, c}}), c == pdx ? "power-down" : "self-refresh") << name(c);
  EXPECT_EQ(rule_of({{0, pdx}}), "power-down");
  EXPECT_EQ(rule_of({{0, srx}}), "self-refresh");
  EXPECT_EQ(rule_of({{0, pde}, {5000, act, 1}}), "kept") << "another rank";
  EXPECT_EQ(rule_of({{0, pde}, {5000, act, 0, 0, 0, 1}}), "kept") << "another pseudo-channel";
}

TEST(CommandChecker, TheCommandBusCarriesOneCommandOrOneOfEachKind) {
  Technology t = widened("hbm2-2000");
  const std::vector<Step> row_and_column = {{0, act}, {1000, rd}, {1000, act, 1}};
  const std::vector<Step> rows = {{0, act}, {0, act, 0, 0, 0, 1}},
                          columns = {{0, act}, {1, act, 0, 0, 0, 1}, {1000, rd}, {1000, rd, 0, 0, 0, 1}};
  t.dual_issue = true;
  EXPECT_FALSE(check(t, row_and_column));
  EXPECT_THAT(
      check(t, rows)->message,
      HasSubstr("command bus: ACT at 0 of bank 1.0.0.0 comes in the same clock as ACT at 0 of bank 0.0.0.0"));
  EXPECT_EQ(check(t, columns)->rule, "command bus");
  // Both kinds alternate: what was before the last command counts, too.
  EXPECT_EQ(check(t, {{0, act}, {1000, rd}, {1000, act, 1}, {1000, rd, 0, 0, 0, 0, 0, 1}})->rule,
            "command bus");
  t.dual_issue = false;
  EXPECT_EQ(check(t, row_and_column)->rule, "command bus");
}

TEST(CommandChecker, CommandsOfTwoClocksHoldTheCommandBus) {
  Technology t = widened("hbm2-2000");
  t.dual_issue = true;
  t.act_clocks = 2;
  const auto after_act = [&](Cycle at) { return check(t, {{0, act}, {at, act, 0, 0, 0, 1}}); };
  EXPECT_THAT(after_act(1)->message,
              HasSubstr("command bus: ACT at 1 of bank 1.0.0.0 comes 1 clocks after ACT at 0 of "
                        "bank 0.0.0.0, which takes 2"));
  EXPECT_FALSE(after_act(2));
  t.act_clocks = 1;
  EXPECT_FALSE(after_act(1));
  t.column_clocks = 2;
  const std::vector<Step> columns = {{0, act}, {1, act, 0, 0, 0, 1}, {1000, rd}, {1001, rd, 0, 0, 0, 1}};
  EXPECT_EQ(check(t, columns)->rule, "command bus");
  EXPECT_FALSE(check(t, {{0, act}, {1000, rd}, {1001, act, 1}})) << "the bus of rows";
  t.dual_issue = false;
  EXPECT_EQ(check(t, {{0, act}, {1000, rd}, {1001, act, 1}})->rule, "command bus");
}

TEST(CommandChecker, TimeGoesForwardsAndPlacesExist) {
  const Technology t = device::load_technology("ddr4-2400").technology;
  EXPECT_EQ(check(t, {{100, act}, {99, act, 0, 1}})->rule, "order");
  EXPECT_THAT(check(t, {{0, act, 1}})->message,
              HasSubstr("address: ACT at 0 of bank 0.1.0.0 names rank 1; there are 1"));
  EXPECT_EQ(check(t, {{0, act, 0, 4}})->rule, "address");
  EXPECT_EQ(check(t, {{0, act, 0, 0, 4}})->rule, "address");
  EXPECT_EQ(check(t, {{0, act, 0, 0, 0, 1}})->rule, "address");
  EXPECT_EQ(check(t, {{0, act, 0, 0, 0, 0, 65536}})->rule, "address");
  EXPECT_EQ(check(t, {{0, act}, {100, rd, 0, 0, 0, 0, 0, 128}})->rule, "address");
  EXPECT_FALSE(check(t, {{0, act}, {100, rd, 0, 0, 0, 0, 0, 127}}));
}

TEST(CommandChecker, ARankIsRefreshedAtLeastEveryNineIntervals) {
  Technology t = widened("ddr4-2400");
  t.timing.trefi = 9360;
  const Cycle most = 9 * 9360;
  EXPECT_FALSE(check(t, {{most, ref}}));
  EXPECT_THAT(check(t, {{most + 1, ref}})->message,
              HasSubstr("tREFI: REF at 84241 of rank 0.0 comes 84241 clocks after the last refresh, which "
                        "was due by 84240"));
  EXPECT_EQ(check(t, {{1000, ref}, {1000 + most + 1, act}})->rule, "tREFI");
  EXPECT_FALSE(check(t, {{1000, ref}, {1000 + most, act}}));
  EXPECT_FALSE(check(t, {{1000, sre}, {5 * most, srx}, {5 * most + 1000, act}})) << "it refreshes itself";
  CommandChecker end(t);
  end.command(record({1000, ref}));
  end.finish(most);
  EXPECT_FALSE(end.violation());
  end.finish(most + 1);
  ASSERT_TRUE(end.violation());
  EXPECT_EQ(end.violation()->message,
            "tREFI: rank 0.1 was not refreshed from 0 to the end at 84241; due by 84240");
}

TEST(CommandChecker, SingleBanksAreRefreshedAtLeastEveryNineIntervals) {
  Technology t = widened("ddr4-2400");
  t.timing.trefi = 9360;
  t.refresh = device::Refresh::per_bank;
  const Cycle most = 9 * 9360;
  EXPECT_FALSE(check(t, {{1000, refpb}, {1000 + most, act}}));
  EXPECT_EQ(check(t, {{1000, refpb}, {1000 + most + 1, act}})->rule, "tREFI");
  EXPECT_EQ(check(t, {{1000, refpb}, {most + 1, act, 0, 0, 1}})->rule, "tREFI");
  EXPECT_FALSE(check(t, {{1000, ref}, {1000 + most, act, 0, 0, 1}}));
  t.refresh = device::Refresh::none;
  EXPECT_FALSE(check(t, {{100 * most, act}}));
  EXPECT_EQ(check(t, {{0, ref}})->rule, "REF");
  EXPECT_EQ(check(t, {{0, refpb}})->rule, "REFPB");
}

// A row after another in one bank, each command at the first clock that all rules allow.
std::vector<Step> tightest(const Technology& technology) {
  const Timing& t = technology.timing;
  std::vector<Step> steps;
  Cycle now = 0;
  for (std::uint32_t row = 0; row < 20; ++row) {
    const Cycle read = now + t.trcd_read, close = std::max<Cycle>(now + t.tras, read + t.tccd_l + t.trtp);
    for (const Step& s : {Step{now, act, 0, 0, 0, 0, row}, Step{read, rd, 0, 0, 0, 0, row},
                          Step{read + t.tccd_l, rd, 0, 0, 0, 0, row, 1}, Step{close, pre}})
      steps.push_back(s);
    now = std::max<Cycle>(close + t.trp, now + t.trc);
  }
  return steps;
}

class Mutations : public testing::TestWithParam<std::string> {};

TEST_P(Mutations, OfATightTraceAreNoticed) {
  const Technology t = device::load_technology(GetParam()).technology;
  const std::vector<Step> sound = tightest(t);
  ASSERT_FALSE(check(t, sound)) << check(t, sound)->message;
  for (std::size_t i = 1; i < sound.size(); ++i) {
    std::vector<Step> hurried = sound;
    // From here on all is one clock earlier.
    for (std::size_t k = i; k < hurried.size(); ++k) --hurried[k].at;
    EXPECT_TRUE(check(t, hurried)) << name(sound[i].command) << " number " << i;
    std::vector<Step> dropped = sound;
    dropped.erase(dropped.begin() + static_cast<std::ptrdiff_t>(i));
    if (sound[i].command == act || (sound[i].command == pre && i + 1 < sound.size())) {
      EXPECT_EQ(check(t, dropped)->rule, "row state");
    }
    std::vector<Step> other_row = sound;
    other_row[i].row ^= 1;
    if (sound[i].command != pre) { EXPECT_EQ(check(t, other_row)->rule, "row state"); }
    std::vector<Step> twice = sound;
    twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(i), sound[i]);
    EXPECT_TRUE(check(t, twice));
  }
}

INSTANTIATE_TEST_SUITE_P(Technologies, Mutations,
                         testing::Values("ddr2-800", "ddr4-2400", "gddr6-14000", "hbm2-2000", "lpddr5-6400"),
                         [](const auto& info) { return "number" + std::to_string(info.index); });

TEST(ChannelsChecker, KeepsChannelsApart) {
  ChannelsChecker checker(device::load_technology("ddr4-2400").technology);
  CommandRecord a = record({100, act}), b = a;
  b.channel = 1;
  checker.command(a);
  checker.command(b);
  EXPECT_FALSE(checker.violation());
  EXPECT_EQ(checker.channels(), 2u);
  EXPECT_EQ(checker.commands(), 2u);
  a.at = 101;
  a.command = rd;
  checker.command(a);
  EXPECT_EQ(checker.violation()->rule, "tRCD_R");
}

}  // namespace
}  // namespace simtlab::memory::dram

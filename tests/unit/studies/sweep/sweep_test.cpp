// Axes, constraints, designs and what is made of results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/shell.h"
#include "studies/sweep/analysis.h"
#include "studies/sweep/comparison.h"
#include "studies/sweep/difference.h"
#include "studies/sweep/study.h"
#include "studies/sweep/study_file.h"

namespace simtlab::studies::sweep {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;

Axis axis_from(const std::string& text) { return parse_axis(text, {"--axis", "sweep-axis", ""}); }
std::vector<std::string> values_from(const std::string& text) { return axis_from("a=" + text).values; }

TEST(SweepAxis, lists_steps_and_doublings) {
  EXPECT_THAT(values_from("[hbm2,hbm3]"), ElementsAre("hbm2", "hbm3"));
  EXPECT_THAT(values_from("[60:132:36]"), ElementsAre("60", "96", "132"));
  EXPECT_THAT(values_from("[60:131:36]"), ElementsAre("60", "96"));
  EXPECT_THAT(values_from("16K:64K"), ElementsAre("16K", "32K", "64K"));
  EXPECT_THAT(values_from("[0.1:0.5:0.2]"), ElementsAre("0.1", "0.3", "0.5"));
  EXPECT_THAT(values_from("1,4:8,lru"), ElementsAre("1", "4", "8", "lru"));
  EXPECT_THAT(values_from("plugin:lib.so?config=x"), ElementsAre("plugin:lib.so?config=x"));
}

TEST(SweepAxis, what_is_no_axis_is_refused) {
  for (const char* text :
       {"a",         "a=",       "=1",          "a=[1",           "a=1]",       "a=,",
        "a=9:1",     "a=9:1:2",  "a=1:9:0",     "a=1:9:-1",       "a=0:8",      "a=1:x",
        "a=5..5",    "a=1..2,3", "a=-1..2 log", "a=1:99999999:1", "a=nan:10:1", "a=inf:10:1",
        "a=-INF:10", "a=nan..3", "a=6o:132:12"})
    EXPECT_THROW(axis_from(text), Error) << text;
  // Words with a colon or dots stay words.
  EXPECT_THAT(values_from("reduce:1,a.b..c,k:x:y,nano:1"),
              ElementsAre("reduce:1", "a.b..c", "k:x:y", "nano:1"));
}

TEST(SweepAxis, quantities_are_numbers) {
  EXPECT_EQ(number_of("16K"), 16384);
  EXPECT_EQ(number_of("128 KiB"), 131072);
  EXPECT_EQ(number_of("1.4 GHz"), 1.4e9);
  EXPECT_EQ(number_of("0.5"), 0.5);
  EXPECT_EQ(number_of("hbm2"), std::nullopt);
  EXPECT_EQ(number_of("2-way"), std::nullopt);
}

TEST(SweepAxis, ranges_reach_both_ends) {
  const Range whole{1, 3, true, false, ""};
  EXPECT_EQ(drawn(whole, 0), "1");
  EXPECT_EQ(drawn(whole, 0.34), "2");
  EXPECT_EQ(drawn(whole, 0.9999999), "3");
  EXPECT_EQ(drawn({1, 2, false, false, " GHz"}, 0.5), "1.5 GHz");
  EXPECT_EQ(drawn({1, 100, false, true, ""}, 0.5), "10");
}

bool fits(const std::string& text, const std::vector<std::string>& values = {"100", "hbm2", "128 KiB"}) {
  return Constraint(text, {"sm.count", "dram", "l1.bytes"}).holds(values);
}

TEST(SweepConstraint, precedence_and_comparisons) {
  EXPECT_TRUE(fits("sm.count * 2 + 1 == 201"));
  EXPECT_TRUE(fits("1 + sm.count * 2 == 201 and dram == 'hbm2'"));
  EXPECT_TRUE(fits("dram == 'ddr4' and dram == 'x' or sm.count < 101"));
  EXPECT_FALSE(fits("dram == 'ddr4' and (dram == 'x' or sm.count < 101)"));
  EXPECT_TRUE(fits("not dram == 'ddr4'"));
  EXPECT_TRUE(fits("l1.bytes <= 128 KiB and l1.bytes > 100K"));
  EXPECT_TRUE(fits("-sm.count < 0 && sm.count % 7 = 2"));
  EXPECT_TRUE(fits("`sm.count` / 8 == 12.5 || dram != 'hbm2'"));
  EXPECT_FALSE(fits("sm.count > 9", {"10x", "", ""})) << "as text 1 comes before 9";
}

TEST(SweepConstraint, hostile_texts) {
  for (const std::string& text :
       {std::string("sm.count <"), std::string("(sm.count"), std::string("sm.count 1"), std::string("'open"),
        std::string("@"), std::string(), std::string("and"), std::string(5000, '('),
        std::string(200, '-') + "1", std::string(3000, '!') + "1"})
    EXPECT_THROW(Constraint(text, {"sm.count"}), Error) << text.substr(0, 20);
  EXPECT_THROW(fits("dram + 1 > 2"), Error);
  EXPECT_THROW(fits("1 / (sm.count - 100) > 0"), Error);
  try {
    Constraint("sm.cuont > 1", {"sm.count"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.format(), HasSubstr("did you mean 'sm.count'?"));
    EXPECT_EQ(e.diagnostics().front().pos.column, 1u);
  }
}

Study study_with(std::vector<Axis> axes, Design design = Design::cartesian, std::uint64_t points = 0) {
  Study s;
  s.command = {"run"};
  s.axes = std::move(axes);
  s.bindings.assign(s.axes.size(), Binding::setting);
  s.design = design, s.points = points;
  return s;
}
std::vector<std::vector<std::string>> expanded(const Study& s) {
  std::vector<std::vector<std::string>> out;
  expand(s, [&](const Combination& c) { out.push_back(c.values); });
  return out;
}

TEST(SweepDesign, cartesian_has_the_last_axis_fastest) {
  EXPECT_THAT(expanded(study_with({axis_from("a=1,2"), axis_from("b=x,y")})),
              ElementsAre(ElementsAre("1", "x"), ElementsAre("1", "y"), ElementsAre("2", "x"),
                          ElementsAre("2", "y")));
  EXPECT_EQ(expanded(study_with({})).size(), 1u) << "no axis: one point";
}

TEST(SweepDesign, latin_hypercube_draws_from_each_part_once) {
  const Study s = study_with({axis_from("a=0.0..1.0"), axis_from("b=p,q,r,s")}, Design::latin_hypercube, 100);
  std::set<int> parts;
  std::map<std::string, int> words;
  for (const auto& values : expanded(s))
    parts.insert(static_cast<int>(std::stod(values[0]) * 100)), ++words[values[1]];
  EXPECT_EQ(parts.size(), 100u);
  for (const auto& [word, n] : words) EXPECT_EQ(n, 25) << word;
}

TEST(SweepDesign, random_points_differ_and_repeat_with_their_seed) {
  Study s = study_with({axis_from("a=1..10"), axis_from("b=1..10")}, Design::random, 90);
  const auto first = expanded(s);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 90u);
  EXPECT_EQ(first, expanded(s));
  s.seed = 1;
  EXPECT_NE(first, expanded(s));
}

TEST(SweepDesign, commands_of_points) {
  Study s = study_with(
      {axis_from("kernel=k.ptx"), axis_from("gpu=v100"), axis_from("sm.count=4"), axis_from("n=64")});
  s.command = {"run", "{kernel}", "--", "./app", "size={n}"};
  s.bindings = {Binding::words, Binding::option, Binding::setting, Binding::placeholder};
  s.takes_seed = [](const auto&, const auto&) { return true; };
  EXPECT_THAT(point_command(s, {"k.ptx --launch l.toml", "v100", "4", "64"}, 7),
              ElementsAre("run", "k.ptx", "--launch", "l.toml", "--gpu=v100", "--set", "sm.count=4",
                          "--seed=7", "--", "./app", "size=64"));
}

TEST(SweepDesign, sizes_of_device_keys_have_a_unit) {
  Study s = study_with({axis_from("l2.bytes=[512K:1024K]"), axis_from("n=64K"), axis_from("l1.ways=4")});
  s.command = {"run", "k.ptx", "--", "{n}"};
  s.bindings = {Binding::setting, Binding::placeholder, Binding::setting};
  EXPECT_THAT(point_command(s, {"512K", "64K", "4"}, 0),
              ElementsAre("run", "k.ptx", "--set", "l2.bytes=512 KiB", "--set", "l1.ways=4", "--", "64K"));
}

// Every combination of a value with and without `--` and options, in a command with and without: simtlab's
// words, options of axes, the program's.
TEST(SweepDesign, commands_of_values_with_dashes) {
  Study s = study_with({axis_from("kernel=k"), axis_from("gpu=v100"), axis_from("sm.count=4"),
                        axis_from("lines=true"), axis_from("n=64")});
  s.bindings = {Binding::words, Binding::option, Binding::setting, Binding::flag, Binding::placeholder};
  s.takes_seed = [](const auto&, const auto&) { return true; };
  const auto point = [&](std::vector<std::string> command, const std::string& value) {
    s.command = std::move(command);
    return shell_words(point_command(s, {value, "v100", "4", "true", "64"}, 7));
  };
  const std::string options = " --gpu=v100 --set sm.count=4 --lines --seed=7";
  const std::vector<std::pair<std::string, std::string>> values = {
      // of the axis: simtlab's words, the program's
      {"a.cu", ""},
      {"a.cu --regs 32", ""},
      {"a.cu", "20000"},
      {"a.cu --regs 32", "20000 -- --gpu=x"},
      {"", "./app 5"}};
  for (const auto& [own, program] : values) {
    const std::string value = own + (program.empty() ? "" : " -- " + program);
    const std::string first = own.empty() ? "" : " " + own, dashes = program.empty() ? "" : " -- " + program;
    EXPECT_EQ(point({"run", "{kernel}"}, value), "run" + first + options + dashes);
    EXPECT_EQ(point({"run", "{kernel}", "--mode", "functional"}, value),
              "run" + first + " --mode functional" + options + dashes);
    EXPECT_EQ(point({"run", "--mode", "functional", "{kernel}"}, value),
              "run --mode functional" + first + options + dashes);
    EXPECT_EQ(point({"run", "{kernel}", "--mode", "functional", "--", "size={n}", "--seed", "1"}, value),
              "run" + first + " --mode functional" + options + " -- " +
                  (program.empty() ? "" : program + " ") + "size=64 --seed 1");
    // Behind the command's own `--` all is the program's.
    EXPECT_EQ(
        point({"run", "--mode", "functional", "--", "./app", "{kernel}", "{n}"}, value),
        "run --mode functional" + options + " -- ./app " + (own.empty() ? "-- " + program : value) + " 64");
  }
  EXPECT_EQ(point({"run", "{kernel}"}, "a.cu --"), "run a.cu" + options + " --");
  const std::vector<std::string> words = {"run", "a", "--", "b", "--", "c"};
  EXPECT_THAT(std::vector(own_words(words).begin(), own_words(words).end()), ElementsAre("run", "a"));
}

TEST(SweepDesign, differences_are_told_in_words) {
  const auto study = [] {
    Study s = study_with({axis_from("gpu=v100,a100"), axis_from("l2.bytes=4MiB,8MiB")});
    s.command = {"run", "a.ptx"};
    s.bindings = {Binding::option, Binding::setting};
    s.folder = "/x";
    return s;
  };
  const std::string there = definition(study());
  const auto told = [&](const auto& change) {
    Study other = study();
    change(other);
    return differences(there, definition(other));
  };
  EXPECT_THAT(told([](Study&) {}), ElementsAre());
  EXPECT_THAT(told([](Study& o) {
                o.axes[1].values = {"4 MiB", "8 MiB"};
              }),
              ElementsAre())
      << "blanks before a unit mean nothing";
  EXPECT_THAT(told([](Study& o) {
                o.axes[0].values = {"v100", "h100"};
              }),
              ElementsAre("axis 'gpu' has v100, a100 there and v100, h100 here"));
  EXPECT_THAT(told([](Study& o) { o.axes.pop_back(), o.bindings.pop_back(); }),
              ElementsAre("axis 'l2.bytes' is there and not here"));
  EXPECT_THAT(
      told([](Study& o) { std::swap(o.axes[0], o.axes[1]), std::swap(o.bindings[0], o.bindings[1]); }),
      ElementsAre("the axes have another order"));
  EXPECT_THAT(told([](Study& o) { o.bindings[0] = Binding::placeholder; }),
              ElementsAre("axis 'gpu' reaches the command in another way"));
  EXPECT_THAT(told([](Study& o) {
                o.command = {"run", "b.ptx"};
              }),
              ElementsAre("its command is `simtlab run a.ptx` there and `simtlab run b.ptx` here"));
  EXPECT_THAT(told([](Study& o) { o.folder = "/y"; }), ElementsAre("its folder is /x there and /y here"));
  EXPECT_THAT(told([](Study& o) { o.design = Design::zip; }),
              ElementsAre("its design is cartesian there and zip here"));
  EXPECT_THAT(told([](Study& o) { o.repeats = 3, o.seed = 9; }),
              ElementsAre("it has 1 repeats there and 3 here", "it has 0 as its seed there and 9 here"));
  EXPECT_THAT(told([](Study& o) {
                o.constraints.emplace_back("l2.bytes < 8", std::vector<std::string>{"gpu", "l2.bytes"});
              }),
              ElementsAre("the constraint \"l2.bytes < 8\" is here and not there"));
  EXPECT_THAT(told([](Study& o) { o.axes[0] = axis_from("gpu=1..4"); }),
              ElementsAre("axis 'gpu' has v100, a100 there and 1 to 4 here"));
  EXPECT_THAT(differences("{}", there), ElementsAre("what the database says of its study cannot be read"));
}

TEST(SweepFile, axes_keep_the_order_of_the_file) {
  const StudyFile f = read_study(
      "[axes]\nzeta = [1]\nsm.count = { from = 1, to = 3, step = 1 }\nalpha = \"1..5\"\nsm.clock = [\"1 "
      "GHz\"]\n",
      "s.toml");
  std::vector<std::string> names;
  for (const Axis& a : f.study.axes) names.push_back(a.name);
  EXPECT_THAT(names, ElementsAre("zeta", "sm.count", "alpha", "sm.clock"));
  EXPECT_THAT(f.study.axes[1].values, ElementsAre("1", "2", "3"));
  EXPECT_TRUE(f.study.axes[2].range->whole);
}

// A study of three axes in which the time is 2 a + noise of b's interaction with nothing, c has no effect.
result::Study found_study() {
  result::Study s;
  s.axes = {"a", "c"};
  s.metrics = {{"gpu.time", "ns", result::StudyMetric::Goal::minimise, false},
               {"a", "", result::StudyMetric::Goal::minimise, true}};
  for (const int a : {1, 2, 4})
    for (const char* c : {"x", "y"}) {
      result::StudyCombination one;
      one.values = {std::to_string(a), c};
      one.figures = {result::figure_of({8.0 / a}), result::figure_of({static_cast<double>(a)})};
      s.combinations.push_back(one);
    }
  return s;
}

TEST(SweepAnalysis, a_figure_is_the_median_of_its_repeats) {
  const result::StudyFigure three = result::figure_of({9, 2, 1});
  EXPECT_EQ(three.median, 2) << "one odd seed does not move it";
  EXPECT_EQ(three.mean, 4);
  EXPECT_DOUBLE_EQ(three.deviation, std::sqrt((25.0 + 4 + 9) / 2));
  EXPECT_DOUBLE_EQ(three.spread(), three.deviation / 2);
  EXPECT_TRUE(three.differs());
  EXPECT_EQ(std::pair(three.low, three.high), std::pair(1.0, 9.0));
  const result::StudyFigure even = result::figure_of({4, result::no_value, 1, 2, 3});
  EXPECT_EQ(even.median, 2.5) << "a repeat without the metric does not count";
  const result::StudyFigure same = result::figure_of({5, 5});
  EXPECT_FALSE(same.differs());
  EXPECT_EQ(same.spread(), 0);
  EXPECT_EQ(result::figure_of({7}).median, 7);
  EXPECT_TRUE(std::isnan(result::figure_of({7}).deviation));
  EXPECT_DOUBLE_EQ(result::figure_of({-4, -2}).spread(), std::sqrt(2.0) / 3) << "of its size";
  EXPECT_TRUE(std::isnan(result::figure_of({-1, 0, 2}).spread())) << "nothing is a share of 0";
  for (const auto& none : {std::vector<double>(), std::vector<double>{result::no_value}}) {
    EXPECT_TRUE(std::isnan(result::figure_of(none).median));
    EXPECT_TRUE(std::isnan(result::figure_of(none).spread()));
    EXPECT_FALSE(result::figure_of(none).differs());
  }
}

TEST(SweepAnalysis, front_of_two_goals) {
  result::Study s = found_study();
  s.combinations[0].figures[0].median = 9;  // a=1 c=x is beaten by a=1 c=y
  mark_front(s);
  std::vector<bool> front;
  for (const auto& c : s.combinations) front.push_back(c.on_front);
  EXPECT_THAT(front, ElementsAre(false, true, true, true, true, true)) << "equals are both on it";
}

TEST(SweepAnalysis, effects_and_elasticity) {
  result::Study s = found_study();
  find_effects(s);
  ASSERT_EQ(s.effects.size(), 2u);
  EXPECT_EQ(s.effects[0].axis, 0u) << "the largest first";
  EXPECT_NEAR(s.effects[0].share, 1, 1e-12);
  EXPECT_NEAR(s.effects[0].rank_correlation, -1, 1e-12);
  EXPECT_NEAR(s.effects[0].elasticity, -1, 1e-12);
  EXPECT_NEAR(s.effects[1].share, 0, 1e-12);
  EXPECT_TRUE(std::isnan(s.effects[1].rank_correlation)) << "words have no order";
}

// Kernels of very different length under two memories and two widths; the time of a memory is what its name
// says.
result::Study kernels_study() {
  result::Study s;
  s.axes = {"kernel", "dram", "width"};
  s.metrics = {{"gpu.time", "ns", result::StudyMetric::Goal::minimise, false},
               {"gpu.ipc", "1", result::StudyMetric::Goal::none, false},
               {"gpu.stall", "cycles", result::StudyMetric::Goal::none, false}};
  for (const auto& [kernel, length] : {std::pair("short", 1.0), std::pair("long", 1e6)})
    for (const auto& [dram, time] : {std::pair("slow", 8.0), std::pair("fast", 2.0)})
      for (const double width : {1.0, 2.0}) {
        result::StudyCombination one;
        one.values = {kernel, dram, std::to_string(static_cast<int>(width))};
        for (const double v :
             {length * time / width, width / time, std::string(kernel) == "short" ? 0 : time})
          one.figures.push_back(result::figure_of({v}));
        s.combinations.push_back(one);
      }
  return s;
}

TEST(SweepComparison, a_row_a_kernel_beside_the_first_values) {
  result::Study s = kernels_study();
  compare_kernels(s, {});
  ASSERT_EQ(s.comparisons.size(), 3u);
  const result::StudyComparison& time = s.comparisons[0];
  EXPECT_TRUE(time.speed_up);
  EXPECT_EQ(time.baseline, 0u);
  EXPECT_THAT(time.columns, ElementsAre("slow 1", "slow 2", "fast 1", "fast 2"));
  EXPECT_THAT(time.axes, ElementsAre(1u, 2u));
  EXPECT_EQ(time.choices[3][0].text, "fast");
  EXPECT_TRUE(std::isnan(time.choices[3][0].number)) << "a word";
  EXPECT_EQ(time.choices[3][1].number, 2);
  EXPECT_THAT(time.rows[1].values, ElementsAre(8e6, 4e6, 2e6, 1e6));
  ASSERT_EQ(time.rows.size(), 2u);
  EXPECT_EQ(time.rows[1].kernel, "long");
  EXPECT_DOUBLE_EQ(time.rows[1].base, 8e6);
  for (const auto& row : time.rows) EXPECT_THAT(row.ratios, ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(time.mean, ElementsAre(DoubleEq(1), DoubleEq(2), DoubleEq(4), DoubleEq(8)));
  EXPECT_EQ(time.in_mean, 2u);
  EXPECT_FALSE(s.comparisons[1].speed_up);
  EXPECT_THAT(s.comparisons[1].rows[0].ratios, ElementsAre(1, 2, 4, 8)) << "of the ratio value / baseline";
  const result::StudyComparison& stall = s.comparisons[2];
  EXPECT_TRUE(std::isnan(stall.rows[0].ratios[1])) << "nothing is a multiple of 0";
  EXPECT_EQ(stall.in_mean, 1u);
  EXPECT_THAT(stall.mean, ElementsAre(DoubleEq(1), DoubleEq(1), DoubleEq(0.25), DoubleEq(0.25)));
}

TEST(SweepComparison, the_baseline_may_be_named) {
  result::Study s = kernels_study();
  compare_kernels(s, {"dram=fast", "width=2"});
  EXPECT_EQ(s.comparisons[0].baseline, 3u);
  EXPECT_THAT(s.comparisons[0].rows[0].ratios, ElementsAre(0.125, 0.25, 0.5, 1));
  for (const char* wrong : {"dram", "dram=none", "kernel=long", "sm.count=4", "=", ""}) {
    try {
      compare_kernels(s, {wrong});
      ADD_FAILURE() << wrong;
    } catch (const Error& e) { EXPECT_EQ(e.id(), "sweep-baseline") << wrong; }
  }
}

TEST(SweepComparison, there_is_none_without_kernels_or_a_baseline) {
  result::Study s = found_study();
  compare_kernels(s, {});
  EXPECT_TRUE(s.comparisons.empty());
  compare_kernels(s, {"a=2"});
  ASSERT_EQ(s.comparisons.size(), 1u) << "an axis as a goal is none of the metrics";
  EXPECT_EQ(s.comparisons[0].rows.size(), 1u);
  result::Study one = kernels_study();
  std::erase_if(one.combinations, [](const auto& c) { return c.values[1] != "slow" || c.values[2] != "1"; });
  compare_kernels(one, {});
  EXPECT_TRUE(one.comparisons.empty()) << "nothing to compare with";
}

TEST(SweepAnalysis, kernels_of_unlike_length_weigh_the_same) {
  result::Study s = kernels_study();
  find_effects(s);
  ASSERT_GE(s.effects.size(), 2u);
  EXPECT_EQ(s.axes[s.effects[0].axis], "dram");
  EXPECT_TRUE(s.effects[0].of_kernel_mean);
  // Times 8, 4, 2, 1: mean 3.75
  EXPECT_NEAR(s.effects[0].levels[0].mean, 6 / 3.75, 1e-12);
  EXPECT_NEAR(s.effects[0].levels[1].mean, 1.5 / 3.75, 1e-12);
  for (const auto& e : s.effects)
    EXPECT_FALSE(e.axis == 0 && e.metric == 0) << "the kernels' own lengths say nothing";
}

TEST(SweepAnalysis, many_values_are_grouped) {
  result::Study s;
  s.axes = {"a"};
  s.metrics = {{"gpu.time", "ns", result::StudyMetric::Goal::none, false}};
  for (int i = 0; i < 80; ++i)
    s.combinations.push_back(
        {0, 1, {std::to_string(i)}, {result::figure_of({static_cast<double>(i)})}, false});
  find_effects(s);
  ASSERT_EQ(s.effects.size(), 1u);
  ASSERT_EQ(s.effects[0].levels.size(), 8u);
  EXPECT_EQ(s.effects[0].levels[0].label, "0 to 9");
  EXPECT_EQ(s.effects[0].levels[7].count, 10u);
  EXPECT_NEAR(s.effects[0].levels[0].mean, 4.5, 1e-12);
}

}  // namespace
}  // namespace simtlab::studies::sweep

// What a counts file may say, what is made of it, and what is refused.
#include "models/counts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "device/catalogue.h"
#include "models/model.h"
#include "models/result.h"
#include "reference_cases.h"

namespace simtlab::models {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using C = Counts;

std::string refusal(std::string_view text, const device::Device* gpu = nullptr,
                    const char* id = "counts-file") {
  try {
    Inputs in = parse_counts(text, "c.toml");
    complete(in, gpu);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::bad_input);
    EXPECT_EQ(e.id(), id) << e.format();
    return e.format();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

Inputs inputs_of(std::string_view text, const device::Device* gpu = nullptr) {
  Inputs in = parse_counts(text, "c.toml");
  complete(in, gpu);
  return in;
}

TEST(Symbols, AreUniqueSaidInASentenceAndHaveARange) {
  std::set<std::string_view> names;
  for (const Symbol& s : symbols()) {
    EXPECT_TRUE(names.insert(s.key).second) << s.key;
    EXPECT_FALSE(s.doc.empty() || s.unit.empty()) << s.key;
    EXPECT_FALSE(s.doc.ends_with(".")) << s.key;
    EXPECT_LE(s.minimum, s.maximum) << s.key;
    // Where a line begins may lie below zero; nothing else does.
    EXPECT_TRUE(s.minimum >= 0 || s.member == &C::dram_lat_at_none) << s.key;
  }
  // Every member but the code has a key.
  EXPECT_EQ(symbols().size() * sizeof(double) + sizeof(Mix) + sizeof(Counts::trace), sizeof(Counts));
}

// Nothing is asked for that no model looks at: what models do not need themselves fills in what they do.
TEST(Symbols, EachIsNeededByAModelOrFillsInOthers) {
  constexpr double C::*fills_in[] = {&C::active_lanes, &C::sector_bytes,        &C::line_bytes,
                                     &C::warp_latency, &C::warp_memory_wait,    &C::sampled_latency,
                                     &C::barrier_lat,  &C::dram_lat_per_thread, &C::dram_lat_at_none};
  for (const Symbol& s : symbols()) {
    const auto of = [&](std::span<double C::*const> members) {
      return std::ranges::find(members, s.member) != members.end();
    };
    EXPECT_TRUE(
        of(fills_in) ||
        std::ranges::any_of(models(), [&](const Model* m) { return of(m->needs()) || of(m->uses()); }))
        << s.key;
  }
}

TEST(CountsFile, KeepsEachValueWithItsPlace) {
  const Inputs in = inputs_of("# a kernel\nfreq = 1.35\n\nblocks = 80\n");
  EXPECT_EQ(in.counts.freq, 1.35);
  EXPECT_EQ(in.counts.blocks, 80);
  EXPECT_EQ(in.source(&C::blocks).text, "c.toml:4");
  EXPECT_FALSE(in.has(&C::mem_ld));
}

TEST(CountsFile, UnknownKeysNameTheNearest) {
  EXPECT_THAT(refusal("freq = 1\nmem_bandwith = 80\n"),
              AllOf(HasSubstr("c.toml:2:16: error: unknown symbol 'mem_bandwith'"),
                    HasSubstr("did you mean 'mem_bandwidth'?")));
  EXPECT_THAT(refusal("zzzzzzzzzzzz = 80\n"), HasSubstr("docs/concepts/models.md lists the symbols"));
  EXPECT_THAT(refusal("[sm]\ncount = 80\n"), HasSubstr("unknown symbol 'sm.count'"));
  EXPECT_THAT(refusal("[freq]\n"), HasSubstr("freq"));
}

TEST(CountsFile, ValuesThatAreNoneAreRefusedWhereTheyStand) {
  for (const auto& [value, says] : {std::pair{"-1", "freq: -1 is not from 0.001 to 100"},
                                    {"0", "freq is 0, with which no model has an answer"},
                                    {"nan", "is no finite number"},
                                    {"-nan", "is no finite number"},
                                    {"inf", "is no finite number"},
                                    {"1e300", "is not from"},
                                    {"\"1 GHz\"", "'1 GHz' is no number"},
                                    {"true", "is no number"},
                                    {"[1, 2]", "an array is no value"},
                                    {"2026-01-01", "no value"}}) {
    const std::string text = refusal(fmt::format("blocks = 1\nfreq = {}\n", value));
    EXPECT_THAT(text, AllOf(HasSubstr("c.toml:2:8: error: "), HasSubstr(says), HasSubstr("hint: "))) << value;
  }
  EXPECT_THAT(refusal("blocks = 1.5\n"), HasSubstr("1.5 is no whole number"));
  EXPECT_THAT(refusal("miss_ratio = 1.01\n"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(refusal("coal_mem_insts = 1e-300\n"), HasSubstr("neither 0 nor at least 1e-09"));
  EXPECT_THAT(refusal("coal_per_mw = 2\n"), HasSubstr("the equations know only 1"));
}

TEST(CountsFile, EverySymbolRefusesWhatIsBeyondItsRange) {
  for (const Symbol& s : symbols())
    for (const double value : {std::min(-1.0, s.minimum * 2 - 1), s.maximum * 2 + 1})
      EXPECT_THAT(refusal(fmt::format("{} = {:f}\n", s.key, value)), HasSubstr(std::string(s.key)));
}

// The corners of the ranges, where quotients are largest.
TEST(CountsFile, WhatIsAcceptedHasAFiniteAnswer) {
  for (unsigned corner = 0; corner < 64; ++corner) {
    Counts c;
    unsigned i = 0;
    for (const Symbol& s : symbols())
      c.*s.member = (corner >> (i++ % 6) & 1) != 0 ? s.maximum : std::max(s.minimum, 1e-9);
    for (const Model* model : models())
      for (const Rule rule : {Rule::order, Rule::paper}) {
        const Prediction p = predict(*model, c, rule);
        EXPECT_TRUE(std::isfinite(p.cycles) && std::isfinite(p.time_ns) && std::isfinite(p.floor))
            << model->name() << " " << corner;
        for (const Term& t : p.evaluation.terms) EXPECT_TRUE(std::isfinite(t.value)) << t.name;
        for (const Sensitivity& s : p.sensitivity) EXPECT_TRUE(std::isfinite(s.change)) << s.parameter;
      }
  }
}

TEST(CountsFile, AllThatIsWrongIsSaidAtOnce) {
  EXPECT_THAT(refusal("freq = 0\nblocks = -1\nfoo = 1\n"),
              AllOf(HasSubstr("c.toml:1"), HasSubstr("c.toml:2"), HasSubstr("c.toml:3")));
}

TEST(CountsFile, WhatIsNoTomlIsRefusedWithItsPlace) {
  EXPECT_THAT(refusal("freq = \n", nullptr, "toml-syntax"), HasSubstr("c.toml:1"));
  EXPECT_THAT(refusal("freq = 1\nfreq = 2\n", nullptr, "toml-syntax"), HasSubstr("c.toml:2"));
  EXPECT_THAT(refusal("\xff", nullptr, "text-encoding"), HasSubstr("c.toml:1"));
}

// Equation 7.1 of Sanchez: 0.466 X - 1911.2 over the threads on the GPU.
TEST(Complete, TheLineOfDramsLatencyUnderLoad) {
  const device::Device k40 = device::load_device("k40").device;
  const std::string line = "dram_lat_per_thread = 0.466\ndram_lat_at_none = -1911.2\n";
  const auto latency = [&](const std::string& launch, const device::Device* gpu) {
    const Inputs in = inputs_of(line + launch, gpu);
    EXPECT_EQ(in.counts.mem_ld, in.counts.dram_lat);
    return in.counts.dram_lat;
  };
  EXPECT_NEAR(latency("blocks = 20\nthreads_per_block = 896\n", nullptr), 0.466 * 17920 - 1911.2, 1e-9);
  EXPECT_NEAR(latency("blocks = 20\nthreads_per_block = 896\n", &k40), 0.466 * 17920 - 1911.2, 1e-9);
  // As many as are on the GPU at once
  EXPECT_NEAR(latency("blocks = 3000\nthreads_per_block = 1024\nactive_blocks_per_sm = 2\n", &k40),
              0.466 * 30720 - 1911.2, 1e-9);
  // Below the latency of one access it says nothing
  EXPECT_EQ(latency("blocks = 1\nthreads_per_block = 1024\n", &k40), k40.dram.latency);
  EXPECT_EQ(latency("blocks = 1\nthreads_per_block = 1024\n", nullptr), 1);
  EXPECT_EQ(inputs_of("blocks = 20\n", &k40).counts.dram_lat, k40.dram.latency);
  EXPECT_THAT(refusal("dram_lat_per_thread = 0.5\n", nullptr, "counts-contradiction"), HasSubstr("no line"));
  EXPECT_THAT(refusal("dram_lat_at_none = 0.5\n", nullptr, "counts-contradiction"), HasSubstr("no line"));
  EXPECT_THAT(refusal(line, nullptr, "counts-contradiction"), HasSubstr("number of threads"));
  EXPECT_THAT(
      refusal(line + "dram_lat = 400\nblocks = 1\nthreads_per_block = 32\n", nullptr, "counts-contradiction"),
      HasSubstr("both say"));
}

TEST(Complete, OneQuantityUnderTwoNames) {
  const Inputs in = inputs_of("mem_bandwidth = 80\ndram_lat = 400\nthreads_per_warp = 16\n");
  EXPECT_EQ(in.counts.mem_peak_bandwidth, 80);
  EXPECT_EQ(in.counts.mem_ld, 400);
  EXPECT_EQ(in.counts.warp_size, 16);
  EXPECT_EQ(in.source(&C::mem_ld).text, "derived: dram_lat");
  EXPECT_THAT(refusal("mem_bandwidth = 80\nmem_peak_bandwidth = 90\n", nullptr, "counts-contradiction"),
              AllOf(HasSubstr("c.toml:2"), HasSubstr("both name the same quantity")));
}

TEST(Complete, WarpsFollowFromTheLaunch) {
  const Inputs in =
      inputs_of("blocks = 10\nthreads_per_block = 100\nactive_blocks_per_sm = 2\nactive_sms = 4\n");
  EXPECT_EQ(in.counts.n, 8);
  EXPECT_EQ(in.counts.total_warps, 40);
  EXPECT_THAT(
      refusal("blocks = 10\nthreads_per_block = 100\ntotal_warps = 30\n", nullptr, "counts-contradiction"),
      HasSubstr("c.toml:3"));
}

TEST(Complete, LaunchesThatCannotBeAreRefused) {
  EXPECT_THAT(refusal("blocks = 3\nactive_sms = 4\n", nullptr, "counts-contradiction"),
              AllOf(HasSubstr("c.toml:2"), HasSubstr("only 3 blocks")));
  EXPECT_THAT(
      refusal("blocks = 80\nactive_sms = 16\nactive_blocks_per_sm = 6\n", nullptr, "counts-contradiction"),
      HasSubstr("ceil(blocks / active_sms)"));
  EXPECT_THAT(refusal("insts = 10\nmem_insts = 11\n", nullptr, "counts-contradiction"),
              HasSubstr("c.toml:2"));
  EXPECT_THAT(refusal("mem_insts = 1\nuseful_bytes = 0\n", nullptr, "counts-contradiction"),
              HasSubstr("useful_bytes"));
  EXPECT_THAT(
      refusal("comp_insts = 0\ncoal_mem_insts = 0\nuncoal_mem_insts = 0\n", nullptr, "counts-contradiction"),
      HasSubstr("without instructions"));
}

TEST(Complete, AGpuGivesWhatTheFileDoesNotSay) {
  const device::Device gpu = device::load_device("v100").device;
  const Inputs in = inputs_of("freq = 1\nblocks = 40\n", &gpu);
  EXPECT_EQ(in.counts.freq, 1);  // the file wins
  EXPECT_EQ(in.source(&C::freq).text, "c.toml:1");
  EXPECT_DOUBLE_EQ(in.counts.mem_bandwidth, gpu.dram.bandwidth * 1e-9);
  EXPECT_EQ(in.counts.mem_ld, gpu.dram.latency);
  EXPECT_EQ(in.source(&C::mem_ld).text, "gpu v100 (dram.latency)");
  EXPECT_EQ(in.counts.active_sms, 40);  // fewer blocks than SMs
  EXPECT_EQ(in.counts.simd_width, 64);
  EXPECT_EQ(in.counts.issue_cycles, 0.5);        // 64 lanes for 32 threads; four schedulers would manage 0.25
  EXPECT_EQ(in.counts.departure_del_coal, 2);    // a line of 128 bytes through a port of 64
  EXPECT_EQ(in.counts.departure_del_uncoal, 1);  // a pass of L1; a sector takes half as long
  EXPECT_THAT(in.source(&C::departure_del_coal).text, HasSubstr("derived: max("));
  EXPECT_FALSE(in.has(&C::gamma));
  EXPECT_THAT(refusal("threads_per_block = 1024\nactive_blocks_per_sm = 3\n", &gpu, "counts-contradiction"),
              HasSubstr("sm.max_warps"));
  EXPECT_THAT(refusal("blocks = 1000\nactive_sms = 81\n", &gpu, "counts-contradiction"),
              AllOf(HasSubstr("c.toml:2"), HasSubstr("v100 has 80")));
}

TEST(Complete, EveryDeviceFileGivesAPositiveMachine) {
  for (const std::string& name : device::list_devices()) {
    const device::Device gpu = device::load_device(name).device;
    const Inputs in = inputs_of("blocks = 100000\n", &gpu);
    for (const auto member : {&C::freq, &C::mem_bandwidth, &C::mem_ld, &C::simd_width, &C::sfu_width,
                              &C::fp_lat, &C::hit_lat, &C::issue_cycles, &C::active_sms})
      EXPECT_TRUE(in.has(member)) << name << ": " << symbol(member).key;
  }
}

TEST(Require, NamesEveryMissingSymbolWithItsMeaningAndRemedy) {
  const Inputs in = inputs_of("blocks = 10\nfreq = 1\n");
  try {
    require(in, mwp_cwp());
    FAIL() << "nothing is missing";
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "counts-missing");
    EXPECT_EQ(e.diagnostics().size(), missing(in, mwp_cwp()).size());
    EXPECT_THAT(e.format(), AllOf(HasSubstr("c.toml:2:1"),
                                  HasSubstr("mem_ld is missing, which model mwp-cwp needs: DRAM latency"),
                                  HasSubstr("add a line mem_ld = NUMBER (in cycles), or give --gpu NAME"),
                                  HasSubstr("add a line comp_insts = NUMBER\n")));
  }
}

constexpr std::string_view mixed = R"(blocks = 100
threads_per_block = 256
active_blocks_per_sm = 2
ilp = 2
mlp = 4
l1_bytes = 1228800
lines_per_access = 2
l1_miss_ratio = 0.5
l2_miss_ratio = 0.4
[class.fp32]
insts = 10
[class.load]
insts = 8
[class.store]
insts = 4
[class.control]
insts = 2
[class.shared]
insts = 6
latency = 30
[class.barrier]
insts = 1
)";

TEST(Mix, KeepsEachCellWithItsPlace) {
  const Inputs in = parse_counts(mixed, "c.toml");
  EXPECT_TRUE(in.has_mix());
  EXPECT_EQ(in.counts.mix.insts[class_index("fp32")], 10);
  EXPECT_EQ(in.mix_source(mix_symbols()[0], class_index("fp32")).text, "c.toml:11");
  EXPECT_TRUE(std::isnan(in.counts.mix.latency[class_index("fp32")]));
  EXPECT_FALSE(parse_counts("freq = 1\n", "c.toml").has_mix());
}

TEST(Mix, WrongCellsAreRefusedWithTheNearestName) {
  EXPECT_THAT(refusal("[class.fp332]\ninsts = 1\n"),
              AllOf(HasSubstr("c.toml:2"), HasSubstr("unknown symbol 'class.fp332.insts'"),
                    HasSubstr("did you mean 'fp32'?")));
  EXPECT_THAT(refusal("[class.fp32]\ninst = 1\n"), HasSubstr("did you mean 'insts'?"));
  EXPECT_THAT(refusal("[class.fp32]\ninsts = -1\n"), HasSubstr("class.fp32.insts: -1 is not from 0"));
  EXPECT_THAT(refusal("[class.fp32]\nlatency = 0\n"), HasSubstr("class.fp32.latency is 0"));
  EXPECT_THAT(refusal("[class.fp32]\nlatency = '4'\n"), HasSubstr("is no number"));
  EXPECT_THAT(refusal("class = 1\n"), HasSubstr("unknown symbol"));
  EXPECT_THAT(refusal("class.fp32 = 1\n"), HasSubstr("unknown symbol"));
}

TEST(Mix, GivesTheCountsOfBothModels) {
  const device::Device gpu = device::load_device("v100").device;
  const Inputs in = inputs_of(mixed, &gpu);
  const Counts& c = in.counts;
  EXPECT_EQ(c.insts, 31);
  EXPECT_EQ(c.mem_insts, 12);
  EXPECT_EQ(c.comp_insts, 19);
  EXPECT_EQ(c.fp_insts, 10);
  EXPECT_EQ(c.sfu_insts, 0);
  EXPECT_EQ(c.sync_insts, 1);
  EXPECT_EQ(c.synch_insts, 1);
  EXPECT_EQ(c.shared_insts, 6);
  EXPECT_EQ(c.mix.insts[class_index("fp64")], 0);       // a mix is complete
  EXPECT_EQ(c.mix.latency[class_index("shared")], 30);  // the file wins
  EXPECT_EQ(c.mix.latency[class_index("barrier")], gpu.sm.barrier_latency);
  const double fp32 = gpu.latency[class_index("fp32")],
               serial = 2 * gpu.sm.branch_latency + gpu.sm.barrier_latency;
  EXPECT_DOUBLE_EQ(c.avg_inst_lat, (10 * fp32 + 6 * 30 + serial) / 19);
  EXPECT_DOUBLE_EQ(c.chain_cycles, (10 * fp32 + 6 * 30) / 2 + serial + 12);
  EXPECT_EQ(c.chain_accesses, 2);     // stores are not waited for
  EXPECT_EQ(c.uncoal_mem_insts, 12);  // two lines each
  EXPECT_EQ(c.coal_mem_insts, 0);
  EXPECT_EQ(c.uncoal_per_mw, 2);
  EXPECT_EQ(c.load_bytes_per_warp, 128);
  EXPECT_EQ(c.transaction_size, 64);
  EXPECT_EQ(c.miss_ratio, 0.2);
  EXPECT_DOUBLE_EQ(c.hit_lat, 0.5 * gpu.l1.latency + 0.5 * 0.6 * gpu.l2.latency);
  // A barrier takes its latency and that of the last arrival once for the 16 warps of an SM.
  EXPECT_EQ(c.barrier_lat, gpu.sm.barrier_latency + 2);
  EXPECT_NEAR(c.gamma * (c.dram_lat + c.delta) * 12 / 31, c.barrier_lat / 16, 1e-12);
  EXPECT_THAT(in.source(&C::insts).text, "derived: sum of the classes");
}

TEST(Mix, WhatTheFileSaysStays) {
  const Inputs in = inputs_of("insts = 40\ncomp_insts = 7\ngamma = 3\n" + std::string(mixed));
  EXPECT_EQ(in.counts.insts, 40);
  EXPECT_EQ(in.counts.comp_insts, 7);
  EXPECT_EQ(in.counts.gamma, 3);
}

TEST(Mix, WithoutBarriersOrMemoryNothingIsLeftOpen) {
  const device::Device gpu = device::load_device("v100").device;
  const Inputs in = inputs_of(
      "blocks = 10\nthreads_per_block = 64\nactive_blocks_per_sm = 1\nilp = 1\nmlp = 1\n[class.fp32]\ninsts "
      "= 5\n",
      &gpu);
  EXPECT_EQ(in.counts.gamma, 0);
  EXPECT_EQ(in.counts.dram_bytes, 0);
  for (const Model* model : {&mwp_cwp(), &mwp_cwp_2012()})
    EXPECT_TRUE(missing(in, *model).empty()) << missing(in, *model).front();
}

TEST(Result, HoldsMetricsTermsAndTheOriginOfEachCount) {
  const Inputs in = inputs_of(reference_cases().front().counts);
  const std::vector<Prediction> predictions = {predict(mwp_cwp(), in.counts, Rule::order)};
  const std::vector<Skipped> skipped = {{"mwp-cwp-2012", "Not evaluated."}};
  const result::KernelResult k = to_result("tiled", in.counts, predictions, skipped);
  EXPECT_NEAR(*k.metrics.get("predict.mwp-cwp.cycles"), 50728.1875, 1e-6);
  EXPECT_FALSE(k.metrics.get("predict.mwp-cwp-2012.cycles"));
  EXPECT_EQ(k.grid[0], 80u);
  EXPECT_EQ(k.block[0], 128u);
  EXPECT_EQ(result::find(k.tables, "predictions")->rows.size(), 1u);
  EXPECT_EQ(result::find(k.tables, "terms")->rows.size(), predictions[0].evaluation.terms.size());
  for (const result::Table& t : k.tables)
    for (const auto& row : t.rows)
      EXPECT_EQ(row.size(), result::find_table(t.name)->columns.size()) << t.name;
  const std::vector<result::ConfigValue> shown = to_configuration(in);
  const auto latency = std::ranges::find(shown, "mem_ld", &result::ConfigValue::key);
  ASSERT_NE(latency, shown.end());
  EXPECT_EQ(latency->value, "420 cycles");
  EXPECT_THAT(latency->origin, HasSubstr("c.toml:"));
}

}  // namespace
}  // namespace simtlab::models

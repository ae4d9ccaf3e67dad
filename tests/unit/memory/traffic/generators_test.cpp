#include "memory/traffic/generators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "device/technology.h"
#include "memory/traffic/latencies.h"
#include "memory/traffic/places.h"
#include "texts.h"

namespace simtlab::memory::traffic {
namespace {

using memory::dram::AddressMapping;

std::vector<Access> made(const char* name, const GeneratorOptions& options) {
  return all(*generate(name, options));
}

std::string error_of(const char* name, const GeneratorOptions& options) {
  try {
    generate(name, options);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::usage);
    return e.id();
  }
  return "";
}

AddressMapping ddr4(const char* hash = "") {
  return {device::load_technology("ddr4-3200").technology, 2, "ro-ra-ba-bg-co-pc-ch", hash};
}

TEST(Generators, stream_and_stride_wrap_at_the_footprint) {
  GeneratorOptions o;
  o.requests = 5;
  o.footprint = 3 * 64 + 10;
  const auto stream = made("stream", o);
  EXPECT_EQ(stream[2].address, 128u);
  EXPECT_EQ(stream[3].address, 0u);
  o.footprint = 10000;
  const auto stride = made("stride", o);
  EXPECT_EQ(stride[2].address, 8192u);
  EXPECT_EQ(stride[3].address, 3u * 4096 - 10000);
}

TEST(Generators, copy_reads_a_line_and_writes_its_twin) {
  GeneratorOptions o;
  o.requests = 6;
  o.footprint = 256;
  const auto copy = made("copy", o);
  EXPECT_FALSE(copy[0].write);
  EXPECT_TRUE(copy[1].write);
  EXPECT_EQ(copy[1].address, 128u);
  EXPECT_EQ(copy[2].address, 64u);
  EXPECT_EQ(copy[3].address, 192u);
  EXPECT_EQ(copy[4].address, 0u);
}

TEST(Generators, random_is_the_seed_s_and_keeps_to_share_and_footprint) {
  GeneratorOptions o;
  o.requests = 20000;
  o.footprint = 1 << 20;
  o.read_share = 0.7;
  const auto first = made("random", o), again = made("random", o);
  std::size_t reads = 0, same = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    reads += !first[i].write;
    same += first[i].address == again[i].address && first[i].write == again[i].write;
    EXPECT_LT(first[i].address, o.footprint);
    EXPECT_EQ(first[i].address % 64, 0u);
  }
  EXPECT_EQ(same, first.size());
  EXPECT_NEAR(static_cast<double>(reads) / 20000, 0.7, 0.02);
  o.seed = 1;
  EXPECT_NE(made("random", o)[0].address, first[0].address);
  o.read_share = 0;
  EXPECT_TRUE(made("random", o)[0].write);
}

TEST(Generators, conflict_stays_in_one_bank_and_changes_the_row_each_time) {
  for (const char* hash : {"", "bg^=ro ba^=ro:2 ch^=ro"}) {
    const AddressMapping mapping = ddr4(hash);
    GeneratorOptions o;
    o.requests = 100;
    o.mapping = &mapping;
    std::set<std::uint32_t> rows;
    for (const Access& a : made("conflict", o)) {
      const memory::dram::Place place = mapping.decode(a.address);
      rows.insert(place.row);
      EXPECT_EQ(place.channel + place.rank + place.group + place.bank, 0u);
    }
    EXPECT_EQ(rows.size(), 100u);
  }
}

TEST(Generators, an_interval_makes_timed_traffic) {
  GeneratorOptions o;
  o.interval = 7;
  EXPECT_EQ(generate("random", o)->pace(), Pace::timed);
  EXPECT_EQ(made("random", o)[3].cycle, 21u);
  o.interval = 0;
  EXPECT_EQ(generate("random", o)->pace(), Pace::eager);
  EXPECT_EQ(generate("pointer-chase", o)->pace(), Pace::chased);
}

TEST(Generators, refuse_what_makes_no_traffic) {
  GeneratorOptions none, o;
  none.requests = 0;
  EXPECT_EQ(error_of("stream", none), "generate-option");
  o.read_share = 1.5;
  EXPECT_EQ(error_of("stream", o), "generate-option");
  o = {};
  o.footprint = 63;
  EXPECT_EQ(error_of("random", o), "generate-option");
  o.footprint = 64;
  EXPECT_EQ(error_of("copy", o), "generate-option");
  o = {};
  o.capacity = 1 << 20;
  o.footprint = 1 << 21;
  EXPECT_EQ(error_of("random", o), "generate-option");
  o = {};
  o.stride = 0;
  EXPECT_EQ(error_of("stride", o), "generate-option");
  EXPECT_EQ(error_of("conflict", {}), "generate-option");
  o = {};
  o.interval = ~std::uint64_t{0};
  EXPECT_EQ(error_of("stream", o), "generate-option");
  o.interval = 5;
  EXPECT_EQ(error_of("pointer-chase", o), "generate-option");
  EXPECT_EQ(error_of("streams", {}), "generate-unknown");
}

TEST(Places, are_the_addresses_of_the_mapping) {
  const AddressMapping mapping = ddr4();
  const Places places(mapping);
  const auto trace = reader("R 1,0,2,3,100,5\nR 1,2,3,100,5\nR 1,0,4,3,100,5\nR 1,2\n");
  Access access;
  const std::uint64_t expected =
      mapping.encode({.channel = 1, .row = 100, .column = 5, .group = 2, .bank = 3});
  for (int i = 0; i < 2; ++i) {
    trace->next(access);
    EXPECT_EQ(places.address(access, *trace), expected);
  }
  for (const char* message : {"bank group 4 of a memory that has 4", "a place of 2 levels"}) {
    trace->next(access);
    try {
      places.address(access, *trace);
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.id(), "trace-place");
      EXPECT_THAT(e.format(), ::testing::HasSubstr(message));
      EXPECT_GE(e.diagnostics().front().pos.line, 3u);
    }
  }
}

TEST(Latencies, percentiles_are_exact_below_4096_and_near_above) {
  Latencies l;
  for (std::uint64_t i = 1; i <= 1000; ++i) l.add(i);
  EXPECT_EQ(l.percentile(0.5), 500u);
  EXPECT_EQ(l.percentile(0.99), 990u);
  EXPECT_EQ(l.percentile(1), 1000u);
  EXPECT_EQ(l.percentile(0), 1u);
  EXPECT_EQ(l.least(), 1u);
  EXPECT_EQ(l.mean(), 500.5);
  Latencies large;
  for (const std::uint64_t i : {std::uint64_t{4096}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    Latencies one;
    one.add(i);
    EXPECT_EQ(one.percentile(0.5), i);
    large.merge(one);
  }
  EXPECT_EQ(large.count(), 3u);
  EXPECT_EQ(large.percentile(0.5), std::uint64_t{1} << 40);
  std::uint64_t seen = 0;
  large.each([&](std::uint64_t from, std::uint64_t to, std::uint64_t count) {
    EXPECT_LE(from, to);
    seen += count;
  });
  EXPECT_EQ(seen, 3u);
  EXPECT_EQ(Latencies().percentile(0.5), 0u);
}

}  // namespace
}  // namespace simtlab::memory::traffic

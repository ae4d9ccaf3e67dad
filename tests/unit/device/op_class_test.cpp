// The table of operation classes is complete: each row has what those who read it need, and none contradicts
// itself.
#include "device/op_class.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "device/catalogue.h"
#include "device/consistency.h"
#include "device/parameters.h"

namespace simtlab::device {
namespace {

class OpClasses : public testing::TestWithParam<std::size_t> {
 protected:
  OpClass op_class() const { return static_cast<OpClass>(GetParam()); }
  const OpClassTraits& of() const { return traits(op_class()); }
};

TEST_P(OpClasses, SaysWhatIsInItAndHasAnOpcode) {
  EXPECT_FALSE(of().operations.empty());
  EXPECT_FALSE(of().sass.empty());
  EXPECT_LT(static_cast<std::size_t>(of().pipe), pipe_count);
}

TEST_P(OpClasses, HasItsKeysInDeviceFiles) {
  const std::string name(name_of(op_class()));
  EXPECT_NE(find_parameter("throughput." + name), nullptr);
  EXPECT_EQ(find_parameter("latency." + name) != nullptr, of().latency_at.empty());
  if (!of().latency_at.empty() && of().latency_at != no_latency) {
    EXPECT_NE(find_parameter(of().latency_at), nullptr);
  }
}

TEST_P(OpClasses, IsArithmeticOrSomethingElse) {
  if (of().is_arithmetic) {
    EXPECT_EQ(of().access, Access::none);
    EXPECT_FALSE(traits(of().pipe).shared_by_sm);
  }
  if (of().counted_as == Counted::floating) { EXPECT_NE(of().precision, Precision::none); }
  if (of().body != OpClass::count_) { EXPECT_EQ(traits(of().body).precision, of().precision); }
  if (of().lanes != Lanes::of_pipe) { EXPECT_TRUE(of().is_arithmetic); }
}

TEST_P(OpClasses, TakesTheValuesOfAnotherOnlyIfThatHasItsOwn) {
  if (of().like == OpClass::count_) return;
  EXPECT_NE(of().like, op_class());
  EXPECT_EQ(traits(of().like).like, OpClass::count_);
  EXPECT_TRUE(find_parameter("throughput." + std::string(name_of(op_class())))->optional);
}

TEST_P(OpClasses, HasALatencyWhereTheTableSays) {
  setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1);
  const Device d = load_device("v100").device;
  if (of().latency_at == no_latency) {
    EXPECT_EQ(d.latency[GetParam()], 0);
    return;
  }
  EXPECT_GT(d.latency[GetParam()], 0);
  if (of().latency_at == "sm.branch_latency") { EXPECT_EQ(d.latency[GetParam()], d.sm.branch_latency); }
  if (of().latency_at == "l1.latency") { EXPECT_EQ(d.latency[GetParam()], d.l1.latency); }
}

INSTANTIATE_TEST_SUITE_P(All, OpClasses, testing::Range(std::size_t{0}, op_class_count),
                         [](const auto& info) { return std::string(op_class_names[info.param]); });

TEST(OpClassTable, NamesEveryClassOnce) {
  EXPECT_EQ(std::set(op_class_names.begin(), op_class_names.end()).size(), op_class_count);
  EXPECT_EQ(name_of(OpClass::fp32_div), "fp32_div");
  EXPECT_EQ(name_of(OpClass::count_), "?");
}

// Traces store a class as its place in the table: rows are added at the end.
TEST(OpClassTable, BeginsWithTheClassesOfTraceVersion3InTheirOrder) {
  std::string names;
  for (std::size_t i = 0; i < 27; ++i) names += std::string(op_class_names[i]) + " ";
  EXPECT_EQ(names,
            "int_alu int_mul int_div bit fp16 fp32 fp32_div fp32_sqrt fp64 fp64_div fp64_sqrt sfu convert "
            "convert64 shuffle vote control "
            "barrier fence load store shared constant atomic shared_atomic texture async_copy ");
}

TEST(OpClassTable, DividesTheClassesAmongTheUnitsOfTheModels) {
  std::set<unsigned> places;
  for (const PipeTraits& p : pipe_traits) {
    EXPECT_EQ(p.unit.empty(), p.unit_place == 0);
    EXPECT_EQ(p.unit.empty(), p.unit_doc.empty());
    if (p.unit_place != 0) { EXPECT_TRUE(places.insert(p.unit_place).second) << p.unit; }
  }
}

class PipeOf : public testing::Test {
 protected:
  void set(OpClass c, double rate) { rates_[index(c)] = rate; }
  std::array<double, op_class_count> rates_ = [] {
    std::array<double, op_class_count> all{};
    all.fill(64);
    return all;
  }();
};

TEST_F(PipeOf, IntegersHaveLanesOfTheirOwnUnlessTheCoresAreShared) {
  EXPECT_EQ(pipe_of(OpClass::int_alu, true, rates_), Pipe::fma);
  EXPECT_EQ(pipe_of(OpClass::int_alu, false, rates_), Pipe::alu);
  EXPECT_EQ(pipe_of(OpClass::bit, false, rates_), Pipe::alu);
  EXPECT_EQ(pipe_of(OpClass::int_mul, false, rates_), Pipe::fma);
}

TEST_F(PipeOf, WhatIsSlowerThanHalfTheCoresHasUnitsOfItsOwn) {
  for (const OpClass c : {OpClass::int_mul, OpClass::bit}) {
    set(c, 32);
    EXPECT_NE(pipe_of(c, false, rates_), Pipe::slow_int);
    set(c, 31);
    EXPECT_EQ(pipe_of(c, false, rates_), Pipe::slow_int);
    set(c, std::nan(""));
    EXPECT_EQ(pipe_of(c, true, rates_), Pipe::slow_int);
  }
  // Bit operations stand beside the integers where these have their own lanes.
  set(OpClass::bit, 40), set(OpClass::fp32, 128);
  EXPECT_EQ(pipe_of(OpClass::bit, false, rates_), Pipe::alu);
  EXPECT_EQ(pipe_of(OpClass::bit, true, rates_), Pipe::slow_int);
}

TEST_F(PipeOf, ConversionsOf64BitsAreDoneByFp64UnitsThatAreAsFast) {
  EXPECT_EQ(pipe_of(OpClass::convert64, false, rates_), Pipe::fp64);
  set(OpClass::fp64, 2);
  EXPECT_EQ(pipe_of(OpClass::convert64, false, rates_), Pipe::xu);
  EXPECT_EQ(pipe_of(OpClass::fp64, false, rates_), Pipe::fp64);
}

}  // namespace
}  // namespace simtlab::device

#include "device/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "device/parameters.h"

namespace simtlab::device {
namespace {

using testing::Contains;
using testing::HasSubstr;

class ShippedDevice : public testing::TestWithParam<std::string> {};

TEST_P(ShippedDevice, loads_with_a_source_or_the_reason_of_an_estimate_for_every_value) {
  try {
    const LoadedDevice loaded = load_device(GetParam());
    EXPECT_EQ(loaded.device.name, GetParam());
    ASSERT_GE(loaded.entries.size(), parameters().size());  // and what describes its memory
    for (const Entry& entry : loaded.entries) {
      if (entry.origin.layer == "default" || entry.origin.layer == "technology" ||
          entry.origin.layer == "controller")
        continue;
      EXPECT_EQ(entry.origin.layer, "device") << entry.key;
      EXPECT_GT(entry.origin.source.size(), 3U) << entry.key;
      EXPECT_THAT(entry.origin.where, testing::MatchesRegex(".*\\.toml:[0-9]+")) << entry.key;
    }
  } catch (const Error& e) { FAIL() << e.format(); }
}

TEST_P(ShippedDevice, obeys_the_order_of_the_memory_hierarchy) {
  const Device d = load_device(GetParam()).device;
  EXPECT_LT(d.l1.latency, d.l2.latency);
  EXPECT_LT(d.l2.latency, d.dram.latency);
  EXPECT_LE(d.constant.latency, d.l2.latency);
  EXPECT_GE(d.l2.bytes_per_cycle * d.sm_clock_hz, d.dram.bandwidth);
  EXPECT_GE(d.l1.bytes_per_cycle * d.sm.count, d.l2.bytes_per_cycle);
  EXPECT_GE(d.interconnect.sm_bytes_per_cycle * d.sm.count, d.l2.bytes_per_cycle * 0.99);
  // What one SM may have outstanding covers its share of the memory bandwidth (Little's law).
  const double bytes_per_cycle = d.dram.bandwidth / d.sm_clock_hz / d.sm.count;
  EXPECT_GE(static_cast<double>(d.l1.mshr_entries) * d.l1.line_bytes, bytes_per_cycle * d.dram.latency);
}

TEST_P(ShippedDevice, has_no_operation_without_a_rate) {
  const Device d = load_device(GetParam()).device;
  for (std::size_t i = 0; i < op_class_names.size(); ++i) {
    EXPECT_GT(d.throughput[i], 0) << op_class_names[i];
    if (op_class_names[i] != "store") { EXPECT_GT(d.latency[i], 0) << op_class_names[i]; }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, ShippedDevice, testing::ValuesIn(list_devices()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
});

TEST(Catalogue, has_the_nine_gpus) {
  EXPECT_THAT(list_devices(), testing::IsSupersetOf({"gtx460", "gtx480", "k40", "titanx-maxwell", "v100",
                                                     "rtx2060", "a100", "h100", "h200"}));
}

TEST(Catalogue, knows_aliases_and_ignores_case) {
  EXPECT_EQ(load_device("titanx").device.name, "titanx-maxwell");
  EXPECT_EQ(load_device("H100").device.name, "h100");
}

TEST(Catalogue, SIMTLAB_DATA_replaces_the_data_files_and_must_name_some) {
  struct Variable {
    explicit Variable(const char* value) { ::setenv("SIMTLAB_DATA", value, 1); }
    ~Variable() { ::unsetenv("SIMTLAB_DATA"); }
  };
  const std::filesystem::path usual = data_directory();
  EXPECT_TRUE(std::filesystem::exists(usual / "devices" / "h100.toml"));
  {
    const Variable variable("/nonexistent");
    try {
      load_device("h100");
      FAIL() << "accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.id(), "data-directory");
      EXPECT_THAT(e.format(), HasSubstr("SIMTLAB_DATA is /nonexistent"));
    }
  }
  const Variable variable(usual.c_str());
  EXPECT_EQ(data_directory(), usual);
}

// The device's own partitions divide its slices; another memory brings channels of its own, any number of
// them.
TEST(Catalogue, slices_need_not_be_divisible_among_the_channels_of_another_memory) {
  const auto with = [](std::vector<Setting> settings) {
    for (Setting& setting : settings) setting.origin = {"command line", "--set", "", false};
    return load_device("gtx480", settings).device;
  };
  const Device eight =
      with({{"dram.model", "hbm-1000", {}}, {"dram.channels", "8", {}}, {"l2.slices", "8", {}}});
  EXPECT_EQ(eight.l2_slices, 8U);
  EXPECT_EQ(eight.dram.partitions, 8U);
  EXPECT_EQ(with({{"dram.model", "hbm-1000", {}}, {"dram.channels", "18", {}}}).l2_slices, 12U);
  EXPECT_THROW(with({{"l2.slices", "8", {}}}), Error);
}

TEST(Catalogue, suggests_the_nearest_device) {
  try {
    load_device("h10");
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::bad_input);
    EXPECT_EQ(e.id(), "device-unknown");
    EXPECT_THAT(e.format(), HasSubstr("did you mean 'h100'?"));
    EXPECT_THAT(e.format(), HasSubstr("gtx480"));
  }
}

}  // namespace
}  // namespace simtlab::device

// What device files say of measured values is read back.
#include "probe/device_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device/catalogue.h"

namespace simtlab::probe {
namespace {

TEST(ProbeDeviceFile, IntervalsAreReadBackFromSources) {
  Findings found;
  found.measured("l1.latency", 36, "cycles", {35.25, 36.5}, "a chase; 90 % interval 1 to 2", 9, "l1.chase");
  found.exact("l1.ways", 4, "", "told");
  const std::string text = device_file(found,
                                       {.board = "a board",
                                        .driver = "a driver",
                                        .clocks = "",
                                        .date = "",
                                        .tool = "simtlab 1",
                                        .base_name = ""},
                                       Loans(found, nullptr, {}))
                               .text;
  const auto source_of = [&](const std::string& key) {
    const std::size_t at = text.find("\n" + key + " = "), begin = text.find("source = \"", at) + 10;
    return text.substr(begin, text.find('"', begin) - begin);
  };
  EXPECT_FALSE(is_exact(source_of("latency")));
  // The last, which is the file's own
  EXPECT_EQ(interval_in(source_of("latency")), (Interval{35.25, 36.5}));
  EXPECT_TRUE(is_exact(source_of("ways")));
  EXPECT_EQ(interval_in(source_of("ways")), std::nullopt);
}

TEST(ProbeDeviceFile, SourcesOfOthersSayNoInterval) {
  for (const char* source :
       {"", "book; 95 % interval 3 to 4", "probe: 95 % interval", "probe: a; 95 % interval 3",
        "probe: a; 95 % interval x to 4", "probe: a; 95 % interval 3 to x", "probe: a; 95 % interval 5 to 4",
        "probe: a; 95 % interval nan to 4"})
    EXPECT_EQ(interval_in(source), std::nullopt) << source;
  EXPECT_FALSE(is_exact("book: probe: "));
}

TEST(ProbeDeviceFile, WhatWasNotRepeatedHasNoInterval) {
  Findings found;
  found.once("l1.latency", 36, "cycles", "a line", 9, "l1.chase");
  found.measured("l2.latency", 180, "cycles", {180, 180}, "a chase", 1);
  for (const char* key : {"l1.latency", "l2.latency"}) EXPECT_FALSE(found.find(key)->has_interval()) << key;
  const std::string text = device_file(found,
                                       {.board = "a board",
                                        .driver = "a driver",
                                        .clocks = "",
                                        .date = "",
                                        .tool = "simtlab 1",
                                        .base_name = ""},
                                       Loans(found, nullptr, {}))
                               .text;
  for (const char* source : {"probe: a line; not repeated, so without an interval, curve l1.chase",
                             "probe: a chase; not repeated, so without an interval"}) {
    EXPECT_NE(text.find(fmt::format("source = \"{}\"", source)), std::string::npos) << text;
    EXPECT_EQ(interval_in(source), std::nullopt);
    EXPECT_FALSE(is_exact(source));
  }
}

}  // namespace
}  // namespace simtlab::probe

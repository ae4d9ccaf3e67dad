// Which shipped device lends a probed file what was not measured.
#include "probe/base.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/consistency.h"
#include "device/parameters.h"
#include "gpu/board/board.h"
#include "probe/device_file.h"

namespace simtlab::probe {
namespace {

using testing::HasSubstr;

gpu::BoardFacts board(int major, int minor, std::uint32_t sms = 10, std::uint64_t memory = 0,
                      std::string name = "some board") {
  gpu::BoardFacts out;
  out.name = std::move(name);
  out.cc_major = major, out.cc_minor = minor;
  out.sms = sms;
  out.memory_bytes = memory;
  return out;
}

// The nearest, and why it is no more than that.
struct Base {
  std::string name, remark;
};
Base nearest_device(const gpu::BoardFacts& facts) {
  const std::vector<Lender> all = nearest_devices(facts);
  EXPECT_GE(all.size(), 9u);
  return {all.front().name, remark_on(all.front(), facts)};
}

class ProbeBase : public testing::Test {
 protected:
  ProbeBase() { setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1); }
};

TEST_F(ProbeBase, EveryShippedDeviceLendsToItself) {
  ASSERT_GE(device::list_devices().size(), 9u);
  for (const std::string& name : device::list_devices()) {
    const device::Device d = device::load_device(name).device;
    const Base base = nearest_device(board(d.cc_major, d.cc_minor, d.sm.count, d.dram.bytes, d.product));
    EXPECT_EQ(base.name, name);
    EXPECT_EQ(base.remark, "");
  }
}

TEST_F(ProbeBase, OthersHaveTheNearestCapability) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  EXPECT_EQ(nearest_device(board(2, 1)).name, "gtx460");
  EXPECT_EQ(nearest_device(board(7, 5, 72)).name, "rtx2060");
  EXPECT_EQ(nearest_device(board(7, 0, 80)).name, "v100");
  EXPECT_EQ(nearest_device(board(8, 0, 108)).name, "a100");
  EXPECT_EQ(nearest_device(board(8, 6, 84)).remark, "");
  EXPECT_EQ(nearest_device(board(9, 0, 132, 80 * gib)).name, "h100")
      << "of the same capability and as many SMs: by memory";
  EXPECT_EQ(nearest_device(board(9, 0, 132, 141 * gib)).name, "h200");
  EXPECT_EQ(nearest_device(board(9, 0, 114, 80 * gib)).remark, "");
}

TEST_F(ProbeBase, WhatIsOnlyTheNearestSaysSo) {
  const Base ada = nearest_device(board(8, 9, 142)), kepler = nearest_device(board(3, 0)),
             volta = nearest_device(board(7, 2));
  EXPECT_THAT(ada.name, testing::AnyOf("a40", "rtxa6000"));
  EXPECT_EQ(ada.remark,
            "no shipped device has compute capability 8.9; " + ada.name + " has 8.6, the nearest of 8.x");
  EXPECT_EQ(kepler.name, "k40");
  EXPECT_EQ(volta.name, "v100");
  const Base pascal = nearest_device(board(6, 0)), blackwell = nearest_device(board(12, 0, 170)),
             tesla = nearest_device(board(1, 3));
  EXPECT_EQ(pascal.name, "titanxp");
  EXPECT_EQ(pascal.remark,
            "no shipped device has compute capability 6.0; titanxp has 6.1, the nearest of 6.x");
  EXPECT_THAT(blackwell.name, testing::AnyOf("h100", "h200"));
  EXPECT_THAT(blackwell.remark, HasSubstr("is of the generation of compute capability 12.0"));
  EXPECT_THAT(tesla.name, testing::AnyOf("gtx480", "gtx580"));
}

// Of each key the file says where it is from, and counts.
TEST_F(ProbeBase, AFileIsCompleteAndMarksWhatWasLent) {
  Findings found;
  found.exact("shared.latency", 30, "cycles", "told");
  found.exact("l1.latency", 77, "cycles", "told");
  const std::vector<Lender> lenders = nearest_devices(board(3, 5));
  ASSERT_EQ(lenders.front().name, "k40");
  const Provenance provenance{.board = "a board",
                              .driver = "a driver",
                              .clocks = "",
                              .date = "",
                              .tool = "simtlab 1",
                              .base_name = "k40",
                              .base_remark = "no more than near"};
  Provenance without = provenance;
  without.base_name = "";
  const DeviceFile file = device_file(found, provenance, Loans(found, &lenders.front(), lenders)),
                   alone = device_file(found, without, Loans(found, nullptr, {}));
  EXPECT_EQ(file.measured, 2u);
  EXPECT_EQ(alone.measured, 2u);
  ASSERT_EQ(file.lent.size(), 1u);
  EXPECT_GT(file.lent[0].second, 70u);
  EXPECT_EQ(file.missing, 0u);
  EXPECT_TRUE(alone.lent.empty());
  EXPECT_GT(alone.missing, 70u);
  EXPECT_THAT(file.text, HasSubstr("taken from k40 (no more than near) and marked as an estimate"));
  std::size_t sources = 0, estimates = 0;
  for (std::size_t at = 0; (at = file.text.find(", source = \"probe: ", at)) != std::string::npos; ++at)
    ++sources;
  for (std::size_t at = 0;
       (at = file.text.find(", estimated = \"not measured; as k40", at)) != std::string::npos; ++at)
    ++estimates;
  EXPECT_EQ(sources, file.measured);
  EXPECT_EQ(estimates, file.lent[0].second);
}

// Whatever each device's probes found alone, and whoever lends the rest: what is written has no
// contradictions, and measured values stay where anybody's go with them.
TEST_F(ProbeBase, WhatIsLentGoesTogetherWithWhatWasMeasured) {
  const std::vector<std::string> groups = {"l1.",       "l2.",           "sm.",  "dram.",       "shared.",
                                           "constant.", "interconnect.", "tlb.", "instruction."};
  const std::vector<Lender> all = nearest_devices(board(7, 0));
  std::size_t given_way = 0, files = 0;
  for (const Lender& of : all)
    for (const std::string& group : groups)
      for (const Lender& base : all) {
        SCOPED_TRACE(fmt::format("{} of {}, the rest of {}", group, of.name, base.name));
        Findings found;
        for (const device::Entry& e : of.device.entries)
          if (e.key.starts_with(group) && e.value != "unknown" && device::find_parameter(e.key) != nullptr)
            found.word(e.key, e.value, "told");
        const Loans loans(found, &base, all);
        device::Device device;
        for (const device::Parameter& parameter : device::parameters()) {
          const Finding* f = found.find(parameter.key);
          const Loan* loan = loans.find(parameter.key);
          const std::string value = loan != nullptr              ? loan->value
                                    : f != nullptr && f->known() ? file_value(parameter, *f)
                                                                 : parameter.default_value;
          if (!value.empty()) device::store(parameter, value, device);
        }
        EXPECT_EQ(device::contradictions(device).size(), 0u);
        ++files;
        for (const auto& [key, loan] : loans.all()) given_way += loan.instead_of.empty() ? 0 : 1;
      }
  EXPECT_LT(given_way, files / 4) << "measured values that went together with nobody's";
}

}  // namespace
}  // namespace simtlab::probe

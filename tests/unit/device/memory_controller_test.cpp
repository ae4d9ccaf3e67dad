// Memory controllers: what is shipped is sound, and what a file may not say is refused at its place.
#include "device/memory_controller.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <variant>

#include "base/error.h"
#include "base/files.h"
#include "base/rng.h"
#include "device/memory_controller_keys.h"

namespace simtlab::device {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(MemoryControllers, have_a_source_or_the_reason_of_an_estimate_for_every_value) {
  for (const std::string& name : list_memory_controllers()) {
    try {
      const LoadedMemoryController loaded = load_memory_controller(name);
      EXPECT_EQ(loaded.controller.name, name);
      EXPECT_EQ(loaded.entries.size(), memory_controller_keys().size()) << name;
      for (const Entry& entry : loaded.entries) {
        EXPECT_EQ(entry.origin.layer, "controller") << entry.key;
        EXPECT_GT(entry.origin.source.size(), 3U) << entry.key;
        EXPECT_THAT(entry.origin.where, testing::MatchesRegex(".*\\.toml:[0-9]+")) << entry.key;
        // A source that is not in [sources] would be shown as its bare abbreviation.
        if (!entry.origin.estimated) {
          EXPECT_THAT(entry.origin.source, testing::AnyOf(HasSubstr("DRAMsim3 ("), HasSubstr("DRAMSim2 ("),
                                                          HasSubstr("Ramulator"), HasSubstr("GPGPU-Sim 4")))
              << name << " " << entry.key;
        }
      }
      EXPECT_THAT(loaded.pattern_at.file, HasSubstr(".toml"));
      EXPECT_GT(loaded.pattern_at.line, 0U);
    } catch (const Error& e) { ADD_FAILURE() << e.format(); }
  }
}

TEST(MemoryControllers, match_the_peers_they_are_named_after) {
  EXPECT_THAT(list_memory_controllers(),
              testing::IsSupersetOf(
                  {"closed_page", "default", "dramsim2", "dramsim3", "fcfs", "gpu-frfcfs", "ramulator2"}));
  const MemoryController ramulator = load_memory_controller("ramulator2").controller;
  EXPECT_EQ(ramulator.schedule.kind, "oldest_ready");
  EXPECT_EQ(ramulator.queues.read, 32U);
  // 26 writes of 32 begin a drain, 6 end it.
  EXPECT_LT(ramulator.queues.high * 32, 26);
  EXPECT_GT(ramulator.queues.high * 32, 25);
  EXPECT_LT(ramulator.queues.low * 32, 7);
  EXPECT_GT(ramulator.queues.low * 32, 6);
  EXPECT_TRUE(ramulator.queues.frees_at_activation);
  EXPECT_TRUE(ramulator.upkeep.blocks_channel);
  EXPECT_FALSE(ramulator.upkeep.staggered);
  EXPECT_EQ(ramulator.latency.read, 1U);
  EXPECT_EQ(ramulator.latency.write_done, WriteDone::issued);
  const MemoryController dramsim = load_memory_controller("dramsim3").controller;
  EXPECT_EQ(dramsim.queues.style, QueueStyle::per_bank);
  EXPECT_EQ(dramsim.queues.bank, 8U);
  // A full queue begins a drain, or more than 8 writes while the queues of the banks are empty.
  EXPECT_EQ(dramsim.queues.high * 32, 32);
  EXPECT_EQ(dramsim.queues.low * 32, 8);
  EXPECT_EQ(dramsim.latency.read, 1U);  // and a clock for the move to the queue of the bank
  EXPECT_EQ(dramsim.schedule.kind, "round_robin");
  EXPECT_EQ(dramsim.schedule.parameters.at("row_hit_cap"), 4U);
  EXPECT_FALSE(dramsim.upkeep.precharge_all);
  EXPECT_TRUE(dramsim.queues.merge_reads);
  EXPECT_EQ(dramsim.latency.write_done, WriteDone::accepted);
  EXPECT_EQ(load_memory_controller("fcfs").controller.schedule.kind, "fcfs");
  EXPECT_EQ(load_memory_controller("closed_page").controller.page.policy, "closed");
  EXPECT_EQ(load_memory_controller("gpu-frfcfs").controller.queues.style, QueueStyle::unified);
}

TEST(MemoryControllers, suggest_the_nearest_name) {
  try {
    load_memory_controller("dramsim4");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "controller-unknown");
    EXPECT_THAT(e.format(), HasSubstr("did you mean 'dramsim"));
  }
  EXPECT_THROW(load_memory_controller("ddr4-2400"), Error) << "a technology is no controller";
}

TEST(MemoryControllerKeys, are_documented_and_fill_different_members) {
  struct Address {
    const void* operator()(Capability) const { return nullptr; }
    const void* operator()(PolicyChoice c) const { return c.name; }
    const void* operator()(const void* member) const { return member; }
  };
  MemoryController c;
  std::set<const void*> members;
  std::set<std::string> names;
  for (const KeyOf<MemoryController>& key : memory_controller_keys()) {
    EXPECT_TRUE(names.insert(key.key).second) << key.key;
    EXPECT_TRUE(members.insert(std::visit(Address{}, key.field(c))).second)
        << key.key << " hides another key";
    EXPECT_NE(key.doc.back(), '.') << key.key;
  }
  const std::string reference = memory_controller_reference();
  const std::string page =
      read_file(std::string(SIMTLAB_SOURCE_DIR) + "/docs/reference/memory-files.md", 1 << 20);
  EXPECT_THAT(page, HasSubstr(reference)) << "docs/reference/memory-files.md is stale: replace its table by\n"
                                          << reference;
}

TEST(MemoryControllerKeys, what_show_prints_store_reads_back) {
  for (const std::string& name : list_memory_controllers()) {
    const MemoryController c = load_memory_controller(name).controller;
    MemoryController copy;
    for (const auto& key : memory_controller_keys()) store(key, show(key, c), copy);
    for (const auto& key : memory_controller_keys())
      EXPECT_EQ(show(key, copy), show(key, c)) << name << " " << key.key;
  }
}

class MemoryControllerFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "simtlab-controller-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(std::string_view text) {
    const fs::path path = folder_ / "mine.toml";
    write_file_atomically(path, text);
    return path.string();
  }
  // The default with one value of `table` changed.
  std::string error_with(const std::string& table, const std::string& key, const std::string& value) {
    try {
      load_memory_controller(write(fmt::format(
          "inherits = \"default\"\n[{}]\n{} = {{ value = {}, estimated = \"test\" }}\n", table, key, value)));
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_input);
      EXPECT_THAT(e.format(), HasSubstr("mine.toml:3:"));
      return e.format();
    }
    ADD_FAILURE() << "accepted: " << key << " = " << value;
    return {};
  }

  fs::path folder_;
};

TEST_F(MemoryControllerFile, contradictions_and_values_out_of_range_are_refused_at_their_line) {
  EXPECT_THAT(error_with("queues", "low", "0.75"),
              HasSubstr("queues.low = 0.75: is not below queues.high, 0.75"));
  EXPECT_THAT(error_with("queues", "high", "1.5"), HasSubstr("out of range"));
  EXPECT_THAT(error_with("queues", "read", "0"), HasSubstr("out of range"));
  EXPECT_THAT(error_with("queues", "write", "100000"), HasSubstr("out of range"));
  EXPECT_THAT(error_with("queues", "style", "\"per_rank\""), HasSubstr("did you mean 'per_bank'?"));
  EXPECT_THAT(error_with("schedule", "kind", "\"frfcfs\""), HasSubstr("did you mean 'fr_fcfs'?"));
  EXPECT_THAT(error_with("schedule", "kind", "\"frfcfs\""),
              HasSubstr("allowed: fcfs or fr_fcfs or fr_fcfs_cap or oldest_ready or par_bs or round_robin"));
  EXPECT_THAT(error_with("page", "policy", "\"half\""),
              HasSubstr("allowed: adaptive or closed or open or timeout"));
  EXPECT_THAT(error_with("schedule", "kinds", "\"fcfs\""), HasSubstr("did you mean 'schedule.kind'?"));
  EXPECT_THAT(error_with("schedule", "row_hit_cap", "0"), HasSubstr("out of range"));
  EXPECT_THAT(error_with("page", "timeout", "200"), HasSubstr("has no unit"));
  EXPECT_THAT(error_with("latency", "write_done", "\"posted\""), HasSubstr("accepted or issued or written"));
  EXPECT_THAT(error_with("upkeep", "staggered", "1"), HasSubstr("is not true or false"));
}

TEST_F(MemoryControllerFile, what_depends_on_another_value_is_checked_together) {
  const auto set = [](const char* key, const char* value) {
    return Setting{key, value, {"command line", fmt::format("--set {}={}", key, value), "", false}};
  };
  const auto refused = [&](const std::vector<Setting>& settings) -> std::string {
    try {
      load_memory_controller("default", settings);
    } catch (const Error& e) { return e.format(); }
    return "accepted";
  };
  EXPECT_EQ(refused({set("queues.bank", "0")}), "accepted");
  EXPECT_THAT(refused({set("queues.bank", "0"), set("queues.style", "per_bank")}),
              HasSubstr("queues.bank = 0: but queues.style = \"per_bank\" needs entries in them"));
  EXPECT_EQ(refused({set("upkeep.self_refresh_after", "100 cycles")}), "accepted");
  EXPECT_THAT(
      refused({set("upkeep.self_refresh_after", "100 cycles"), set("upkeep.power_down_after", "100 cycles")}),
      HasSubstr("--set upkeep.self_refresh_after=100 cycles"));
  // What the chosen policy does not read.
  EXPECT_THAT(
      refused({set("schedule.batch_cap", "3")}),
      HasSubstr("schedule.batch_cap = 3: has no effect: schedule.kind = \"fr_fcfs_cap\" does not read it"));
  EXPECT_THAT(refused({set("schedule.batch_cap", "3")}), HasSubstr("or choose par_bs"));
  EXPECT_THAT(refused({set("schedule.kind", "par_bs"), set("schedule.row_hit_cap", "3")}),
              HasSubstr("or choose fr_fcfs_cap or round_robin"));
  EXPECT_EQ(refused({set("schedule.kind", "par_bs"), set("schedule.batch_cap", "3")}), "accepted");
  EXPECT_THAT(refused({set("page.timeout", "300 cycles")}), HasSubstr("or choose adaptive or timeout"));
  EXPECT_EQ(refused({set("page.timeout", "300 cycles"), set("page.policy", "timeout")}), "accepted");
  const LoadedMemoryController mine = load_memory_controller("default", {set("mapping.pattern", "ro-co-ch")});
  EXPECT_EQ(mine.pattern_at.file, "--set mapping.pattern=ro-co-ch");
}

TEST_F(MemoryControllerFile, damaged_files_give_an_error_or_a_sound_controller_never_a_crash) {
  const std::string sound = read_file(data_directory() / "controllers" / "dramsim3.toml", 1 << 20);
  Rng rng(7);
  for (int i = 0; i < 300; ++i) {
    std::string text = sound;
    for (int k = 0; k < 3; ++k) text[rng.below(text.size())] = static_cast<char>(rng.below(128));
    try {
      const MemoryController c = load_memory_controller(write(text)).controller;
      EXPECT_LT(c.queues.low, c.queues.high);
      EXPECT_GT(c.queues.read, 0U);
    } catch (const Error& e) { EXPECT_EQ(e.code(), ExitCode::bad_input) << e.format(); }
  }
}

}  // namespace
}  // namespace simtlab::device

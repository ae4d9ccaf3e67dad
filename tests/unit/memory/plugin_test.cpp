#include "memory/dram/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "memory/channel_memory.h"

namespace simtlab::memory::dram {
namespace {

using testing::HasSubstr;

std::string library(const std::string& name) {
  return std::string(SIMTLAB_BINARY_DIR) + "/plugins/" + name + ".so";
}

PluginConfig behaviour(const std::string& does, std::uint32_t channels = 1) {
  return {library("behaviours"), does, channels, 1000};
}

// Drives reads and writes through it as a GPU would; returns how many were done.
std::size_t drive(const PluginConfig& config, Cycle* end = nullptr) {
  auto channels = std::make_unique<PluginChannels>(config);
  const std::uint32_t count = channels->count();
  const PluginChannels& plugin = *channels;
  ChannelMemory dram({.partitions = count,
                      .clock_period = 1000,
                      .path = 5,
                      .request_queue = 64,
                      .return_queue = 64,
                      .return_bytes_per_cycle = 64},
                     std::move(channels));
  std::vector<MemoryDone> done;
  std::size_t finished = 0;
  for (std::uint32_t round = 0; round < 20; ++round) {
    for (std::uint32_t p = 0; p < count; ++p)
      dram.push(
          {.partition = p, .line = round, .sectors = 0xf, .write = round % 3 == 0, .tag = round * 100 + p},
          round * 7);
    dram.advance(round * 7, done);
  }
  for (Cycle now = dram.next_event(); now != never; now = dram.next_event()) {
    dram.advance(now, done);
    if (end != nullptr) *end = now;
  }
  for (const MemoryDone& d : done) finished += d.tag != no_tag;
  plugin.statistics();
  return finished;
}

Error error_of(const PluginConfig& config) {
  try {
    drive(config);
  } catch (const Error& e) {
    EXPECT_FALSE(e.diagnostics().front().hint.empty()) << "an error names the remedy: " << e.what();
    return e;
  }
  ADD_FAILURE() << config.config << " raised no error";
  return Error(ExitCode::ok, "none", "none");
}

TEST(Plugin, EveryAccessOfSeveralInstancesIsAnsweredOnce) {
  Cycle hinted = 0, polled = 0;
  EXPECT_EQ(drive(behaviour("fixed", 3), &hinted), 60u);
  EXPECT_EQ(drive(behaviour("polled", 3), &polled), 60u);
  EXPECT_EQ(hinted, polled) << "the hint about the next event saves work and changes nothing";
  EXPECT_EQ(drive(behaviour("wide")), 20u);
}

TEST(Plugin, AReadIsDoneWithTheLatencyOfThePlugin) {
  PluginChannels plugin(behaviour("fixed"));
  EXPECT_EQ(plugin.clock_period(), 2000);
  EXPECT_EQ(plugin.access_bytes(), 32u);
  EXPECT_EQ(plugin.peak_bytes_per_second(), 16e9);
  std::vector<Completion> done;
  ASSERT_TRUE(plugin.accepts(0, {}));
  plugin.add(0, {.address = 64, .tag = 7}, 100);
  EXPECT_EQ(plugin.next_event(), 120u);
  plugin.advance(120, done);
  EXPECT_TRUE(done.empty());
  plugin.advance(121, done);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].at, 120u);
  EXPECT_EQ(done[0].tag, 7u);
  EXPECT_EQ(plugin.next_event(), never);
}

TEST(Plugin, CompletionsOfSeveralChannelsComeByCycleThenChannel) {
  PluginChannels plugin(behaviour("fixed", 3));
  for (const std::uint32_t channel : {2u, 0u, 1u})
    plugin.add(channel, {.tag = channel}, channel == 0 ? 5 : 4);
  std::vector<Completion> done;
  plugin.advance(100, done);
  ASSERT_EQ(done.size(), 3u);
  EXPECT_EQ(done[0].channel, 1u);
  EXPECT_EQ(done[1].channel, 2u);
  EXPECT_EQ(done[2].channel, 0u);
}

TEST(Plugin, StatisticsOfChannelsAreAddedAveragedOrTheMost) {
  PluginChannels plugin(behaviour("fixed", 2));
  plugin.add(0, {.tag = 1}, 10);
  plugin.add(1, {.tag = 2}, 30);
  plugin.add(1, {.tag = 3}, 30);
  std::map<std::string, NamedStatistic> s;
  for (const NamedStatistic& value : plugin.statistics()) s[value.name] = value;
  EXPECT_EQ(s["accesses"].value, 3);
  EXPECT_EQ(s["energy"].value, 7.5);
  EXPECT_EQ(s["energy"].unit, "pJ");
  EXPECT_EQ(s["load"].value, 0.5);
  EXPECT_EQ(s["load"].unit, "1");
  EXPECT_EQ(s["last_clock"].value, 30);
}

TEST(Plugin, AfterARestartItIsAsNew) {
  PluginChannels plugin(behaviour("fixed"));
  plugin.add(0, {.tag = 1}, 1000);
  plugin.restart();
  EXPECT_EQ(plugin.next_event(), never);
  plugin.add(0, {.tag = 2}, 3);
  std::vector<Completion> done;
  plugin.advance(50, done);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].tag, 2u);
  EXPECT_EQ(done[0].at, 23u);
  EXPECT_EQ(plugin.statistics()[0].value, 1);
  PluginChannels broken(behaviour("reset-fails"));
  broken.add(0, {}, 1);
  EXPECT_THROW(broken.restart(), Error);
}

// The example has no reset(): it is destroyed and created.
TEST(Plugin, TheExampleWorksAndRestarts) {
  PluginChannels plugin({library("fixed_latency"), "latency=30,room=2", 1, 1000});
  for (int round = 0; round < 2; ++round) {
    plugin.add(0, {.tag = 1}, 5);
    plugin.add(0, {.tag = 2}, 5);
    EXPECT_FALSE(plugin.accepts(0, {}));
    std::vector<Completion> done;
    plugin.advance(100, done);
    ASSERT_EQ(done.size(), 2u);
    EXPECT_EQ(done[0].at, 35u);
    EXPECT_EQ(done[1].at, 36u);
    EXPECT_EQ(plugin.statistics()[0].value, 2);
    plugin.restart();
  }
  const Error e = error_of({library("fixed_latency"), "speed=9", 1, 1000});
  EXPECT_EQ(e.id(), "plugin-create");
  EXPECT_THAT(e.what(), HasSubstr("'speed=9' is not of the form latency=40,room=32"));
}

TEST(Plugin, WhatIsNoPluginIsRefused) {
  EXPECT_EQ(error_of({"/nowhere/at/all.so", "", 1, 1000}).id(), "plugin-missing");
  EXPECT_EQ(error_of({__FILE__, "", 1, 1000}).id(), "plugin-missing");
  EXPECT_EQ(error_of({library("no_symbol"), "", 1, 1000}).id(), "plugin-symbol");
  EXPECT_EQ(error_of({library("no_function"), "", 1, 1000}).id(), "plugin-fault");
  const Error version = error_of({library("wrong_version"), "", 1, 1000});
  EXPECT_EQ(version.id(), "plugin-version");
  EXPECT_EQ(version.code(), ExitCode::unsupported);
  EXPECT_THAT(version.what(), HasSubstr("version 2 of the interface, this simtlab has 1"));
}

TEST(Plugin, AFailedCreationGivesItsReason) {
  for (const char* does : {"create-fails", "create-fails-silently"})
    EXPECT_EQ(error_of(behaviour(does)).code(), ExitCode::bad_input);
  EXPECT_THAT(error_of(behaviour("create-fails")).what(), HasSubstr("no such chip: 'create-fails'"));
  EXPECT_THAT(error_of(behaviour("second-channel-fails", 2)).what(),
              HasSubstr("one channel is all there is"));
}

TEST(Plugin, AStalledOneIsGivenUp) {
  for (const auto& [does, says] :
       {std::pair{"silent", "has not answered"}, std::pair{"refuses", "has refused an access"}}) {
    const Error e = error_of(behaviour(does));
    EXPECT_EQ(e.id(), "plugin-stalled");
    EXPECT_EQ(e.code(), ExitCode::failure);
    EXPECT_THAT(e.what(), HasSubstr(says));
  }
}

TEST(Plugin, EachBreachOfTheInterfaceIsNamed) {
  for (const auto& [does, says] :
       std::map<std::string, std::string>{{"create-throws", "create threw an exception: no such chip"},
                                          {"info-fails", "info failed: the chip is on fire"},
                                          {"no-clock", "clock period of 0 ps"},
                                          {"no-access", "0 bytes"},
                                          {"accept-throws", "will_accept threw an exception"},
                                          {"add-throws", "add threw an exception: full after all"},
                                          {"add-fails", "add failed after will_accept had said yes"},
                                          {"advance-throws", "advance threw an exception: out of order"},
                                          {"advance-fails", "failed: the chip is on fire"},
                                          {"unknown-id", "which it was never given"},
                                          {"twice", "as done twice"},
                                          {"early", "as done in clock 0, while it runs"},
                                          {"late", "while it runs"},
                                          {"hint-in-the-past", "next_event says"},
                                          {"hint-never", "nothing will happen, with"},
                                          {"statistics-throw", "statistics threw an exception"},
                                          {"statistics-null", "the name of its statistic 0"},
                                          {"statistics-nan", "statistic ratio is not finite"},
                                          {"statistics-many", "100000 statistics"}}) {
    const Error e = error_of(behaviour(does));
    EXPECT_EQ(e.id(), "plugin-fault") << does;
    EXPECT_EQ(e.code(), ExitCode::failure) << does;
    EXPECT_THAT(e.what(), HasSubstr(says)) << does;
    EXPECT_THAT(e.what(), HasSubstr("behaviours.so")) << does;
  }
  EXPECT_EQ(error_of(behaviour("odd-access")).id(), "dram-access");
}

}  // namespace
}  // namespace simtlab::memory::dram

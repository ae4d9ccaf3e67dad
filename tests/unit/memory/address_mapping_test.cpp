#include "memory/dram/address_mapping.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "device/memory_controller.h"

namespace simtlab::memory::dram {
namespace {

using ::testing::HasSubstr;

// 2 x 2 x 2 x 4 places of 8 rows with 4 columns of 64 bytes: small enough to visit all of it.
device::Technology small_memory() {
  device::Technology t;
  t.name = "small";
  t.organisation = {.channel_width = 64,
                    .device_width = 8,
                    .pseudo_channels = 1,
                    .ranks = 2,
                    .bank_groups = 2,
                    .banks_per_group = 4,
                    .rows = 8,
                    .row_bytes = 256,
                    .burst_length = 8};
  return t;
}

std::string refusal(const device::Technology& t, std::uint32_t channels, std::string_view pattern,
                    std::string_view hash = {}) {
  try {
    AddressMapping(t, channels, pattern, hash, {"my.toml", 7, 3}, {"my.toml", 8, 3});
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "dram-mapping");
    EXPECT_EQ(e.code(), ExitCode::bad_input);
    EXPECT_FALSE(e.diagnostics().front().hint.empty());
    return e.format();
  }
  return "accepted";
}

// Every access of the memory has a place of its own within the counts, and the way back leads home.
void expect_bijection(const AddressMapping& m) {
  using Key = std::array<std::uint32_t, 7>;
  std::set<Key> seen;
  for (std::uint64_t address = 0; address < m.capacity(); address += m.access_bytes()) {
    const Place p = m.decode(address);
    const Key key = {p.channel, p.pseudo, p.rank, p.group, p.bank, p.row, p.column};
    for (std::size_t i = 0; i < map_fields; ++i) ASSERT_LT(key[i], m.count(static_cast<MapField>(i)));
    ASSERT_TRUE(seen.insert(key).second) << "place of " << address << " is another's, too";
    ASSERT_EQ(m.encode(p), address);
    const ChannelAddress split = m.split(address + m.access_bytes() - 1);
    ASSERT_EQ(split.channel, p.channel);
    ASSERT_LT(split.local, m.channel_bytes());
    ASSERT_EQ(m.join(split), address + m.access_bytes() - 1);
    Place local = m.decode_local(split.local);
    ASSERT_EQ(m.encode_local(local), split.local - (m.access_bytes() - 1));
    local.channel = p.channel;
    ASSERT_EQ(local, p);
  }
  EXPECT_EQ(seen.size(), m.capacity() / m.access_bytes());
}

TEST(AddressMapping, PiecesAreWrittenFromTheMostSignificantBitsDown) {
  const AddressMapping m(small_memory(), 2, "ro-ra-co:1-ba-bg-co:1-ch", "");
  const Place last{.channel = 1, .row = 7, .column = 3, .pseudo = 0, .rank = 1, .group = 1, .bank = 3};
  EXPECT_EQ(m.decode(m.capacity() - 1), last);
  EXPECT_EQ(m.decode(64), (Place{.channel = 1}));
  EXPECT_EQ(m.decode(128), (Place{.column = 1}));
  EXPECT_EQ(m.decode(256), (Place{.group = 1}));
  EXPECT_EQ(m.decode(512), (Place{.bank = 1}));
  EXPECT_EQ(m.decode(2048), (Place{.column = 2}));
  EXPECT_EQ(m.decode(4096), (Place{.rank = 1}));
  EXPECT_EQ(m.decode(8192), (Place{.row = 1}));
  EXPECT_EQ(m.capacity(), 8192u * 8);
  EXPECT_EQ(m.channel_bytes(), 4096u * 8);
}

TEST(AddressMapping, AFieldWithOneValueMayStandOrNot) {
  device::Technology t = small_memory();
  t.organisation.ranks = 1;
  const AddressMapping with(t, 1, "ro-ra-ba-bg-co-pc-ch", ""), without(t, 1, "ro-ba-bg-co", "");
  for (std::uint64_t a = 0; a < with.capacity(); a += 64) EXPECT_EQ(with.decode(a), without.decode(a));
}

TEST(AddressMapping, SixChannelsAndThreeStacksAreDigits) {
  device::Technology t = small_memory();
  t.organisation.ranks = 3;
  const AddressMapping m(t, 6, "ro-ra-ba-bg-co-ch", "");
  EXPECT_EQ(m.decode(5 * 64), (Place{.channel = 5}));
  EXPECT_EQ(m.decode(6 * 64), (Place{.column = 1}));
  expect_bijection(m);
  // 12 = 3 x 4: the low two bits apart from the rest.
  expect_bijection(AddressMapping(t, 12, "ro-ch-ra-ba-bg-co-ch:2", "ch^=ro ra^=ro ba^=ro"));
}

TEST(AddressMapping, AHashUsesTheLowBitsOfTheOtherFieldAndItsShift) {
  const AddressMapping m(small_memory(), 2, "ro-ra-ba-bg-co-ch", "bg^=ro ba^=ro:1 ch^=ba");
  const auto row = [&](std::uint32_t r) { return m.decode(m.capacity() / 8 * r); };
  EXPECT_EQ(row(1), (Place{.row = 1, .group = 1}));
  EXPECT_EQ(row(2), (Place{.row = 2, .bank = 1}));
  EXPECT_EQ(row(7), (Place{.row = 7, .group = 1, .bank = 3}));
  // The source is the bank before hashing, which is 0 in all of these.
  EXPECT_EQ(row(2).channel, 0u);
  const Place third_bank = m.decode(3 * 2 * 4 * 2 * 64);
  EXPECT_EQ(third_bank.bank, 3);
  EXPECT_EQ(third_bank.channel, 1u);
}

TEST(AddressMapping, AnyPatternAndAnyCountsAreOneToOne) {
  std::mt19937 random(20240);
  const auto upto = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n) + 1; };
  for (int round = 0; round < 60; ++round) {
    device::Technology t = small_memory();
    t.organisation.pseudo_channels = upto(2);
    t.organisation.ranks = upto(3);
    t.organisation.bank_groups = upto(4);
    t.organisation.banks_per_group = upto(4);
    t.organisation.rows = upto(12);
    t.organisation.row_bytes = 64u << (random() % 4);
    t.organisation.burst_length = 8u >> (random() % 2);
    const std::uint32_t channels = upto(7);
    std::vector<std::string> pieces = {"ch", "pc", "ra", "bg", "ba", "ro", "co"};
    if (t.organisation.row_bytes >= 256) pieces.emplace_back("co:1");
    if (channels % 2 == 0) pieces.emplace_back("ch:1");
    if (t.organisation.rows % 4 == 0) pieces.emplace_back("ro:2");
    std::shuffle(pieces.begin(), pieces.end(), random);
    std::string pattern;
    for (const std::string& piece : pieces) pattern += (pattern.empty() ? "" : "-") + piece;
    const char* const hashes[] = {"", "bg^=ro ba^=ro ch^=ro", "ch^=ba bg^=ba ba^=ro:1 pc^=co",
                                  "ra^=co co^=ro:2 ch^=co"};
    const std::string hash = hashes[random() % 4];
    SCOPED_TRACE(pattern + " " + hash);
    expect_bijection(AddressMapping(t, channels, pattern, hash));
  }
}

TEST(AddressMapping, EveryTechnologyTakesTheUsualPatterns) {
  std::mt19937_64 random(7);
  for (const std::string& name : device::list_technologies()) {
    SCOPED_TRACE(name);
    const device::Technology t = device::load_technology(name).technology;
    for (const char* pattern :
         {"ro-ra-ba-bg-co-pc-ch", "ch-ra-ba-bg-pc-ro-co", "ro-co-ra-ba-bg-co:1-pc-ch"}) {
      const AddressMapping m(t, 6, pattern, "bg^=ro ba^=ro:2 pc^=ro ch^=ro");
      EXPECT_EQ(m.channel_bytes(), std::uint64_t{t.organisation.pseudo_channels} * t.organisation.ranks *
                                       t.banks() * t.organisation.rows * t.organisation.row_bytes);
      for (int i = 0; i < 2000; ++i) {
        const std::uint64_t address = random() % m.capacity() / m.access_bytes() * m.access_bytes();
        ASSERT_EQ(m.encode(m.decode(address)), address);
      }
    }
  }
}

// A controller file is written without a memory in mind: its pattern must fit each of them.
TEST(AddressMapping, TheMappingOfEveryControllerFitsEveryTechnology) {
  for (const std::string& controller : device::list_memory_controllers()) {
    const device::LoadedMemoryController loaded = device::load_memory_controller(controller);
    for (const std::string& name : device::list_technologies()) {
      SCOPED_TRACE(controller + " " + name);
      const device::Technology t = device::load_technology(name).technology;
      for (const std::uint32_t channels : {1u, 6u, 8u, 12u, 18u}) {
        const AddressMapping m(t, channels, loaded.controller.mapping.pattern, loaded.controller.mapping.hash,
                               loaded.pattern_at, loaded.hash_at);
        EXPECT_EQ(m.encode(m.decode(m.capacity() / 3 / 64 * 64)), m.capacity() / 3 / 64 * 64);
      }
    }
  }
}

// Neighbours of a stream, at the same time under way, find different bank groups.
TEST(AddressMapping, TheDefaultSpreadsAStreamOverChannelsAndBankGroups) {
  const auto c = device::load_memory_controller("default").controller;
  const device::Technology t = device::load_technology("ddr4-2400").technology;
  const AddressMapping m(t, 6, c.mapping.pattern, c.mapping.hash);
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (std::uint64_t i = 0; i < 24; ++i) {
    const Place p = m.decode(i * m.access_bytes());
    seen.insert({p.channel, p.group});
  }
  EXPECT_EQ(seen.size(), 24u);
}

// A piece of bytes has as many bits of the column as the burst leaves.
TEST(AddressMapping, APieceOfBytesIsAsManyBitsAsTheBurstLeaves) {
  for (const std::string& name : device::list_technologies()) {
    SCOPED_TRACE(name);
    const device::Technology t = device::load_technology(name).technology;
    for (const std::uint32_t bytes : {16u, 64u, 128u, 256u}) {
      const AddressMapping m(t, 6, fmt::format("ro-ra-co-ba-bg-pc-ch-co:{}B", bytes), "bg^=ro ch^=ro");
      for (std::uint64_t run = 0; run < 200; ++run) {
        const Place first = m.decode(run * bytes / m.access_bytes() * m.access_bytes());
        for (std::uint64_t at = 0; at < bytes; at += m.access_bytes()) {
          Place place = m.decode(run * bytes + at);
          EXPECT_EQ(place.column - first.column, at / m.access_bytes());
          place.column = first.column;
          ASSERT_EQ(place, first);
        }
      }
    }
  }
}

// A line that takes two bursts opens one row, under each controller of ours. `gpu` is for lines of 128 bytes,
// and of two pseudo-channels each takes a half.
TEST(AddressMapping, ALineOf64BytesLiesInOneRowOfEveryTechnology) {
  for (const char* controller : {"default", "fcfs", "closed_page", "gpu-frfcfs", "gpu"}) {
    const auto c = device::load_memory_controller(controller).controller;
    for (const std::string& name : device::list_technologies()) {
      SCOPED_TRACE(std::string(controller) + " " + name);
      const device::Technology t = device::load_technology(name).technology;
      const AddressMapping m(t, 1, c.mapping.pattern, c.mapping.hash);
      std::set<std::tuple<std::uint32_t, std::uint8_t, std::uint8_t, std::uint8_t>> rows;
      for (std::uint64_t at = 0; at < 64; at += m.access_bytes()) {
        const Place p = m.decode(64 * 1000 + at);
        rows.insert({p.row, p.group, p.bank, p.pseudo});
      }
      const bool halves = std::string(controller) == "gpu" && t.organisation.pseudo_channels == 2;
      EXPECT_EQ(rows.size(), halves ? 2u : 1u);
    }
  }
}

// Strides that are powers of two send everything to one channel unless it is hashed.
TEST(AddressMapping, HashingSpreadsStridesOverChannelsAndBanks) {
  const device::Technology t = device::load_technology("hbm2-2000").technology;
  const auto places = [&](const char* hash, std::uint64_t stride) {
    const AddressMapping m(t, 8, "ro-ra-ba-bg-co-pc-ch", hash);
    std::map<std::uint32_t, int> channels;
    for (std::uint64_t i = 0; i < 512; ++i) ++channels[m.decode(i * stride).channel];
    return channels;
  };
  EXPECT_EQ(places("", 32).size(), 8u);
  const std::uint64_t row = 8ull * 2 * 1024 * 16;  // all banks, pseudo-channels and channels
  EXPECT_EQ(places("", row).size(), 1u);
  const auto hashed = places("ch^=ro bg^=ro", row);
  ASSERT_EQ(hashed.size(), 8u);
  for (const auto& [channel, count] : hashed) EXPECT_EQ(count, 64) << channel;
}

TEST(AddressMapping, AStreamSpreadsEvenlyOverSixChannels) {
  const device::Technology t = device::load_technology("gddr6-14000").technology;
  const AddressMapping m(t, 6, "ro-ra-ba-bg-co-pc-ch", "bg^=ro ba^=ro ch^=ro");
  std::map<std::uint32_t, int> channels;
  for (std::uint64_t i = 0; i < 6000; ++i) ++channels[m.decode(i * m.access_bytes()).channel];
  ASSERT_EQ(channels.size(), 6u);
  for (const auto& [channel, count] : channels) EXPECT_EQ(count, 1000) << channel;
}

TEST(AddressMapping, WhatIsLostIsNamed) {
  EXPECT_THAT(refusal(small_memory(), 2, "ro-ba-bg-co-ch"), HasSubstr("my.toml:7:3: error"));
  EXPECT_THAT(refusal(small_memory(), 2, "ro-ba-bg-co-ch"),
              HasSubstr("ra (rank) is lost: it has 2 values (1 bit), the pattern none of it"));
  EXPECT_THAT(refusal(small_memory(), 2, "ro-ra-ba-bg-co:1-ch"),
              HasSubstr("co (column) is lost: it has 4 values (2 bits), the pattern only 2"));
  EXPECT_THAT(refusal(small_memory(), 6, "ro-ra-ba-bg-co-ch:1"),
              HasSubstr("ch (channel) is lost: it has 6 values, the pattern only 2"));
}

TEST(AddressMapping, WhatIsRepeatedIsNamed) {
  EXPECT_THAT(refusal(small_memory(), 2, "ro-ra-ba-bg-co-ch-ba"), HasSubstr("ba (bank) is repeated"));
  EXPECT_THAT(
      refusal(small_memory(), 2, "ro-ra-ba-bg-co:2-co:1-ch"),
      HasSubstr("co (column) is repeated: its pieces have 3 bits, but there are only 4 values (2 bits)"));
  EXPECT_THAT(refusal(small_memory(), 6, "ro-ra-ba-bg-co-ch-ch:2"),
              HasSubstr("6 values, which 2 bits can't divide"));
}

TEST(AddressMapping, WhatCantBeReadIsRefused) {
  EXPECT_THAT(refusal(small_memory(), 2, ""), HasSubstr("there is no field ''"));
  EXPECT_THAT(refusal(small_memory(), 2, "ro-xx-ch"), HasSubstr("there is no field 'xx'"));
  for (const char* piece : {"co:", "co:0", "co:32", "co:x", "co:1x", "co:-1", "co:99999999999"})
    EXPECT_THAT(refusal(small_memory(), 2, std::string("ro-ra-ba-bg-ch-co-") + piece), HasSubstr("error"));
  for (const char* piece : {"co:B", "co:0B", "co:48B", "co:xB", "co:2097152B", "co:99999999999B"})
    EXPECT_THAT(refusal(small_memory(), 2, std::string("ro-ra-ba-bg-ch-co-") + piece),
                HasSubstr("has no size"));
  EXPECT_THAT(refusal(small_memory(), 2, "ro:64B-ra-ba-bg-ch-co"), HasSubstr("only a column has"));
  EXPECT_THAT(refusal(small_memory(), 2, "ro-ra-ba-bg-ch-co-co:1048576B"), HasSubstr("is repeated"));
  std::string many = "ro";
  for (int i = 0; i < 1000; ++i) many += "-ch:1";
  EXPECT_THAT(refusal(small_memory(), 2, many), HasSubstr("more than 24 pieces"));
  EXPECT_THAT(refusal(small_memory(), 0, "ro"), HasSubstr("0 memory channels"));
}

TEST(AddressMapping, HashesThatAreNotOneToOneAreRefused) {
  const auto hash = [](std::string_view text) {
    return refusal(small_memory(), 2, "ro-ra-ba-bg-co-ch", text);
  };
  EXPECT_EQ(hash("bg^=ba ba^=ro  "), "accepted");
  EXPECT_EQ(hash("none"), "accepted");
  EXPECT_THAT(hash("ba^=ba"), HasSubstr("my.toml:8:3: error"));
  EXPECT_THAT(hash("ba^=ba"), HasSubstr("ba depends on itself"));
  EXPECT_THAT(hash("bg^=ba ba^=ro ro^=bg"), HasSubstr("depends on itself"));
  EXPECT_THAT(hash("bg^=ch"), HasSubstr("hashes with the channel"));
  EXPECT_THAT(hash("bg=ro"), HasSubstr("'bg=ro' is no term"));
  EXPECT_THAT(hash("bg^=ro:32"), HasSubstr("has no shift"));
  EXPECT_THAT(hash("bg^=rx"), HasSubstr("no field 'rx'"));
}

TEST(AddressMapping, MoreThanAddressesReachIsRefused) {
  device::Technology t = small_memory();
  t.organisation = {.channel_width = 64,
                    .device_width = 8,
                    .pseudo_channels = 16,
                    .ranks = 64,
                    .bank_groups = 64,
                    .banks_per_group = 64,
                    .rows = 1 << 24,
                    .row_bytes = 1 << 20,
                    .burst_length = 8};
  EXPECT_THAT(refusal(t, 1, "ro-ra-ba-bg-co-pc-ch"), HasSubstr("more than addresses reach"));
}

TEST(AddressMapping, AnAddressBeyondTheMemoryIsRefusedWithItsPlace) {
  const AddressMapping m(small_memory(), 2, "ro-ra-ba-bg-co-ch", "");
  EXPECT_NO_THROW(m.require(m.capacity() - 1));
  try {
    m.require(m.capacity(), {"trace.txt", 12, 1});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "dram-address");
    EXPECT_EQ(e.code(), ExitCode::bad_input);
    EXPECT_THAT(e.format(),
                HasSubstr("trace.txt:12:1: error: address 0x10000 is beyond the memory of 0x10000 bytes"));
  }
  EXPECT_EQ(m.decode(m.capacity() + 64), m.decode(64));  // unchecked: modulo
}

}  // namespace
}  // namespace simtlab::memory::dram

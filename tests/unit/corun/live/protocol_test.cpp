// What goes over the wire: every message comes back as it was; everything else is refused with a reason.
#include "corun/live/protocol.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace simtlab::corun::live {
namespace {

std::vector<Message> wire_samples() {
  Stats stats;
  stats.totals.policy = "shark";
  stats.totals.requests = 7;
  for (unsigned i = 0; i < most_rows; ++i)
    stats.rows.push_back({i, 100, 1, 2, 3, 4, 5, 6, std::string(64, 'p'), std::string(64, 'k'), i % 2 == 0});
  Applications applications{16, {}};
  for (unsigned i = 0; i < most_applications; ++i)
    applications.rows.push_back(
        {i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1.5, 0.25, -3.5, std::string(64, 'p'), std::string(128, 'k')});
  Request request;
  request.sequence = 1ull << 40;
  request.stream = ~0ull;
  request.grid[2] = 65535;
  request.unit = Unit::graph;
  return {Hello{1, 3, true, "heartwall", -7},
          Register{2, 32, 4096, "_Z3fooPf"},
          request,
          Done{9, 1234, true, 77, 1311},
          Cancel{3},
          Bye{},
          StatsRequest{32},
          LogRequest{1ull << 33},
          Welcome{1, 5, 1024},
          Grant{9, 3},
          Refused{Refusal::too_fast, "slow down"},
          stats,
          Log{1, 3, "a\nb\n"},
          ApplicationsRequest{48},
          applications,
          Adjust{"shark", 4, {}, 1, 64, {}, 1e9, {}, 0.5},
          Adjusted{"policy mps limit=8", "policy shark limit=4"}};
}

TEST(LiveProtocol, EveryMessageComesBackAsItWas) {
  const std::vector<Message> samples = wire_samples();
  ASSERT_EQ(samples.size(), std::variant_size_v<Message>);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    ASSERT_EQ(samples[i].index(), i) << "one sample of each type, in order";
    Packet packet;
    encode(samples[i], packet);
    const Decoded decoded = decode(packet.span());
    ASSERT_TRUE(decoded.message) << name_of(samples[i]) << ": " << decoded.fault;
    EXPECT_TRUE(*decoded.message == samples[i]) << name_of(samples[i]);
  }
}

TEST(LiveProtocol, HalfMessagesAndLongerOnesAreRefused) {
  for (const Message& sample : wire_samples()) {
    Packet packet;
    encode(sample, packet);
    for (std::size_t size = 0; size < packet.size; ++size) {
      const Decoded cut = decode({packet.bytes.data(), size});
      EXPECT_FALSE(cut.message) << name_of(sample) << " cut to " << size;
      EXPECT_NE(cut.fault, nullptr);
      // The same with a size that agrees: only the content tells.
      if (size < header_bytes) continue;
      Packet shorter = packet;
      const auto stated = static_cast<std::uint32_t>(size);
      std::memcpy(shorter.bytes.data() + 8, &stated, sizeof stated);
      EXPECT_FALSE(decode({shorter.bytes.data(), size}).message) << name_of(sample) << " of " << size;
    }
    if (packet.size == most_bytes) continue;
    Packet longer = packet;
    longer.bytes[longer.size++] = std::byte{0};
    const auto stated = static_cast<std::uint32_t>(longer.size);
    std::memcpy(longer.bytes.data() + 8, &stated, sizeof stated);
    EXPECT_FALSE(decode(longer.span()).message) << name_of(sample) << " with a byte more";
  }
}

TEST(LiveProtocol, HeadersOfOthersAreRefused) {
  Packet packet;
  encode(Bye{}, packet);
  for (const std::size_t at : {0u, 4u, 6u, 12u}) {
    Packet other = packet;
    other.bytes[at] ^= std::byte{0xff};
    EXPECT_FALSE(decode(other.span()).message) << "byte " << at;
  }
}

TEST(LiveProtocol, ValuesOutOfRangeAreRefused) {
  Packet packet;
  encode(Request{}, packet);
  packet.bytes[packet.size - 1] = std::byte{3};  // a unit that does not exist
  EXPECT_FALSE(decode(packet.span()).message);
  encode(Done{}, packet);
  packet.bytes[packet.size - 1] = std::byte{2};  // a flag
  EXPECT_FALSE(decode(packet.span()).message);
  encode(Done{1, 2, false, 9, 8}, packet);  // an end before its beginning
  EXPECT_FALSE(decode(packet.span()).message);
}

TEST(LiveProtocol, AValueThatIsNotGivenIsNone) {
  Packet packet;
  encode(Adjust{}, packet);
  EXPECT_TRUE(decode(packet.span()).message);
  packet.bytes[packet.size - 1] = std::byte{1};  // a share that is said not to be there
  EXPECT_FALSE(decode(packet.span()).message);
  encode(Adjust{}, packet);
  packet.bytes[packet.size - sizeof(double) - 1] = std::byte{2};  // neither there nor not
  EXPECT_FALSE(decode(packet.span()).message);
}

TEST(LiveProtocol, LongNamesAreCutByTheSender) {
  Packet packet;
  encode(Register{0, 0, 0, std::string(100000, 'x')}, packet);
  const Decoded decoded = decode(packet.span());
  ASSERT_TRUE(decoded.message);
  EXPECT_EQ(std::get<Register>(*decoded.message).name.size(), most_name);
}

TEST(LiveProtocol, AnyBytesGiveAMessageOrAReason) {
  std::mt19937 random(7);
  for (const Message& sample : wire_samples()) {
    Packet packet;
    encode(sample, packet);
    for (int round = 0; round < 2000; ++round) {
      Packet other = packet;
      for (unsigned flips = 1 + random() % 4; flips != 0; --flips)
        other.bytes[random() % other.size] = static_cast<std::byte>(random());
      const Decoded decoded = decode(other.span());
      EXPECT_NE(decoded.message.has_value(), decoded.fault != nullptr);
      if (!decoded.message) continue;
      Packet again;
      encode(*decoded.message, again);
      EXPECT_EQ(std::memcmp(again.bytes.data(), other.bytes.data(), other.size), 0)
          << "one form for each message";
    }
  }
}

}  // namespace
}  // namespace simtlab::corun::live

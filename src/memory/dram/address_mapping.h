// Where in a memory an address lies: channel, pseudo-channel, rank, bank group, bank, row and column.
//
// A pattern names the parts from the most to the least significant bits of the address: "ro-ba-bg-co-ch" puts
// neighbouring accesses into different channels. Fields: ch channel, pc pseudo-channel, ra rank, bg bank
// group, ba bank in the group, ro row, co column (accesses of one burst within a row). Below all of them is
// the byte within an access.
//
// A field may be split: in "ro-co:3-ba-bg-co:2-pc-ch", `co:3` are three bits of the column and stand higher
// in it than `co:2`: the pieces of a field are written from its most to its least significant bits. A piece
// without a number takes all that the others of its field leave. A field with one value may be left out.
// `co:64B` are the bits of the column that 64 neighbouring bytes differ in: one for bursts of 32 bytes, none
// for bursts of 64. As the lowest piece it keeps a line of 64 bytes in one row of every memory.
// Counts need not be powers of two (6 channels, 3 stack IDs): the address is a number in mixed radix, and
// each piece one of its digits.
//
// A hash spreads rows over banks and channels: "bg^=ro ba^=ro:2 ch^=ro" replaces the bank group by its
// exclusive or with the low bits of the row, the bank by that with the row shifted right by two. Sources are
// the digits before hashing; where the count of the target is no power of two, (value + source) modulo count
// takes the place of the exclusive or. Every mapping is one to one: encode(decode(address)) == address, less
// the byte within the access.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/technology.h"
#include "memory/dram/mapping_pattern.h"

namespace simtlab::memory::dram {

struct Place {
  std::uint32_t channel = 0, row = 0, column = 0;
  std::uint8_t pseudo = 0, rank = 0, group = 0, bank = 0;
  bool operator==(const Place&) const = default;
};
static_assert(sizeof(Place) == 2 * sizeof(std::uint64_t), "two words, without gaps");

struct ChannelAddress {
  std::uint32_t channel = 0;
  std::uint64_t local = 0;  // bytes within the channel
};

class AddressMapping {
 public:
  // where: of the pattern, for messages. Throws Error(bad_input, "dram-mapping") with what is lost or
  // repeated.
  AddressMapping(const device::Technology& technology, std::uint32_t channels, std::string_view pattern,
                 std::string_view hash, const SourcePos& where = {}, const SourcePos& hash_where = {});

  // An address from capacity() on is taken modulo it.
  Place decode(std::uint64_t address) const;
  std::uint64_t encode(const Place& place) const;

  // The address within a channel is made of the same pattern without the channel's pieces, so that
  // decode(address) == decode_local(split(address).local) with split(address).channel.
  ChannelAddress split(std::uint64_t address) const;
  std::uint64_t join(ChannelAddress address) const;
  Place decode_local(std::uint64_t local) const;  // its channel is 0
  std::uint64_t encode_local(const Place& place) const;

  // Throws Error(bad_input, "dram-address") for an address beyond the memory. where: of the address.
  void require(std::uint64_t address, const SourcePos& where = {}) const;

  std::uint32_t channels() const { return count(MapField::channel); }
  std::uint32_t access_bytes() const { return access_bytes_; }
  std::uint64_t channel_bytes() const { return channel_bytes_; }
  std::uint64_t capacity() const { return channel_bytes_ * channels(); }
  std::uint32_t count(MapField field) const { return counts_[static_cast<std::size_t>(field)]; }

 private:
  using Digits = std::array<std::uint32_t, map_fields>;

  // One digit of a number in mixed radix.
  struct Segment {
    std::uint64_t radix = 1;
    std::uint64_t weight = 1;  // of the digit in its field, or in the address within the channel
    std::uint8_t field = 0;
    std::uint8_t shift = 0;  // log2 of the radix
    bool power = true;       // radix is a power of two
  };
  struct Hash {
    std::uint8_t target = 0, source = 0, shift = 0;
    bool power = true;
    std::uint32_t count = 1;  // of the target
  };

  static std::uint64_t take(std::uint64_t& rest, const Segment& segment);
  void build_segments(const std::vector<Piece>& pieces);
  void build_hash(const std::vector<HashTerm>& terms);
  std::uint64_t number(std::uint64_t address) const;  // of the access
  Digits digits_of(std::uint64_t local) const;        // before hashing
  Place place_of(std::uint64_t local) const;          // decode_local(), digit by digit
  void build_places();
  static std::uint32_t hashed(std::uint32_t value, const Hash& hash, std::uint32_t source);
  static std::uint32_t unhashed(std::uint32_t value, const Hash& hash, std::uint32_t source);
  Digits unhash(const Place& place) const;
  std::uint64_t local_of(const Digits& digits) const;
  std::uint32_t channel_hash(std::uint32_t channel, std::uint64_t local, bool undo) const;

  Counts counts_{};
  std::uint32_t access_bytes_ = 1;
  std::uint8_t access_shift_ = 0;
  bool access_power_ = true;
  std::uint64_t channel_bytes_ = 0;
  // The same of local_ by masks, while no radix before is anything but a power of two.
  struct Masked {
    std::uint64_t mask = 0;
    std::uint32_t weight = 1;
    std::uint8_t shift = 0, field = 0;
  };
  std::vector<Masked> masked_;  // empty: not all are powers of two
  // Where all are, each bit of an access's number sets bits of its place whatever the others are: its place
  // is the exclusive or of those of its groups of `group_bits`, which stand here from the least significant
  // up.
  using Words = std::array<std::uint64_t, 2>;  // a Place
  static constexpr unsigned group_bits = 5;
  std::vector<std::array<Words, 1u << group_bits>> places_;
  std::vector<Segment> local_;  // from the least significant digit up, without the channel's
  std::vector<Segment> split_;  // the same with them; digits of one address in one piece
  std::vector<Hash> hash_;      // of other targets than the channel, in the order of application
  std::vector<Hash> channel_hash_;
};

}  // namespace simtlab::memory::dram

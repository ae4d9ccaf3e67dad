#include "memory/dram/address_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace simtlab::memory::dram {
namespace {

constexpr auto channel_field = static_cast<std::uint8_t>(MapField::channel);

Counts counts_of(const device::Technology& technology, std::uint32_t channels) {
  const device::Technology::Organisation& o = technology.organisation;
  return {channels,
          o.pseudo_channels,
          o.ranks,
          o.bank_groups,
          o.banks_per_group,
          o.rows,
          o.row_bytes / technology.burst_bytes()};
}

}  // namespace

AddressMapping::AddressMapping(const device::Technology& technology, std::uint32_t channels,
                               std::string_view pattern, std::string_view hash, const SourcePos& where,
                               const SourcePos& hash_where) {
  const auto refuse = [&](std::string message, std::string hint) {
    throw Error(ExitCode::bad_input, "dram-mapping",
                Diagnostic{std::move(message), where, {}, std::move(hint)});
  };
  if (channels == 0 || channels > 65536)
    refuse(fmt::format("{} memory channels", channels), "ask for 1 to 65536 channels");
  counts_ = counts_of(technology, channels);
  access_bytes_ = technology.burst_bytes();
  access_power_ = std::has_single_bit(access_bytes_);
  access_shift_ = static_cast<std::uint8_t>(std::countr_zero(access_bytes_));
  double bytes = access_bytes_;
  for (const std::uint32_t count : counts_) bytes *= count;
  if (bytes > 0x1p62)
    refuse(fmt::format("{} channels of {} hold {:.3g} bytes, more than addresses reach", channels,
                       technology.name.empty() ? "this memory" : technology.name, bytes),
           "ask for fewer channels, ranks, banks or rows");
  channel_bytes_ = access_bytes_;
  for (std::size_t i = 0; i < map_fields; ++i)
    if (i != channel_field) channel_bytes_ *= counts_[i];
  build_segments(parse_pattern(pattern, counts_, access_bytes_, where));
  build_hash(parse_hash(hash, hash_where));
  build_places();
}

void AddressMapping::build_segments(const std::vector<Piece>& pieces) {
  std::array<std::uint64_t, map_fields> weight;  // of the next digit of each field
  weight.fill(1);
  std::uint64_t local_weight = 1;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    Segment segment;
    segment.radix = piece->radix;
    segment.field = static_cast<std::uint8_t>(piece->field);
    segment.shift = static_cast<std::uint8_t>(std::countr_zero(segment.radix));
    segment.power = std::has_single_bit(segment.radix);
    segment.weight = weight[segment.field];
    weight[segment.field] *= segment.radix;
    const bool of_channel = segment.field == channel_field;
    if (!of_channel) local_.push_back(segment);
    // Neighbours that stay in the channel are one digit of the split.
    const bool same = !of_channel && !split_.empty() && split_.back().field != channel_field;
    if (same) {
      Segment& run = split_.back();
      run.radix *= segment.radix;
      run.power = std::has_single_bit(run.radix);
      run.shift = static_cast<std::uint8_t>(std::countr_zero(run.radix));
    } else {
      if (!of_channel) segment.weight = local_weight;
      split_.push_back(segment);
    }
    if (!of_channel) local_weight *= segment.radix;
  }
  unsigned shift = 0;
  for (const Segment& segment : local_) {
    if (!segment.power) return masked_.clear();
    if (segment.radix == 1) continue;
    masked_.push_back({segment.radix - 1, static_cast<std::uint32_t>(segment.weight),
                       static_cast<std::uint8_t>(shift), segment.field});
    shift += segment.shift;
  }
}

void AddressMapping::build_hash(const std::vector<HashTerm>& terms) {
  for (const HashTerm& term : terms) {
    const std::uint32_t count = counts_[static_cast<std::size_t>(term.target)];
    if (count == 1) continue;
    const Hash hash{static_cast<std::uint8_t>(term.target), static_cast<std::uint8_t>(term.source),
                    static_cast<std::uint8_t>(term.shift), std::has_single_bit(count), count};
    (term.target == MapField::channel ? channel_hash_ : hash_).push_back(hash);
  }
}

void AddressMapping::build_places() {
  unsigned bits = 0;
  for (const Masked& m : masked_) bits += static_cast<unsigned>(std::popcount(m.mask));
  places_.resize((bits + group_bits - 1) / group_bits);
  unsigned shift = 0;
  for (auto& places : places_) {
    for (std::uint64_t digit = 0; digit < places.size(); ++digit)
      places[digit] = std::bit_cast<Words>(place_of((digit << shift) * access_bytes_));
    shift += group_bits;
  }
}

std::uint64_t AddressMapping::number(std::uint64_t address) const {
  return access_power_ ? address >> access_shift_ : address / access_bytes_;
}

std::uint64_t AddressMapping::take(std::uint64_t& rest, const Segment& segment) {
  std::uint64_t digit = 0;
  if (segment.power) {
    digit = rest & (segment.radix - 1);
    rest >>= segment.shift;
  } else {
    const std::uint64_t above = rest / segment.radix;
    digit = rest - above * segment.radix;
    rest = above;
  }
  return digit;
}

AddressMapping::Digits AddressMapping::digits_of(std::uint64_t local) const {
  Digits digits{};
  std::uint64_t rest = number(local);
  if (!masked_.empty()) {
    for (const Masked& m : masked_)
      digits[m.field] += static_cast<std::uint32_t>((rest >> m.shift) & m.mask) * m.weight;
    return digits;
  }
  for (const Segment& segment : local_)
    digits[segment.field] += static_cast<std::uint32_t>(take(rest, segment) * segment.weight);
  return digits;
}

std::uint32_t AddressMapping::hashed(std::uint32_t value, const Hash& hash, std::uint32_t source) {
  source >>= hash.shift;
  if (hash.power) return value ^ (source & (hash.count - 1));
  return static_cast<std::uint32_t>((std::uint64_t{value} + source) % hash.count);
}

std::uint32_t AddressMapping::unhashed(std::uint32_t value, const Hash& hash, std::uint32_t source) {
  if (hash.power) return hashed(value, hash, source);
  source = (source >> hash.shift) % hash.count;
  return value >= source ? value - source : value + hash.count - source;
}

Place AddressMapping::decode_local(std::uint64_t local) const {
  if (places_.empty()) return place_of(local);
  std::uint64_t rest = number(local);
  Words words{};
  for (const auto& places : places_) {
    const Words& part = places[rest % places.size()];
    words[0] ^= part[0];
    words[1] ^= part[1];
    rest >>= group_bits;
  }
  return std::bit_cast<Place>(words);
}

Place AddressMapping::place_of(std::uint64_t local) const {
  Digits digits = digits_of(local);
  for (const Hash& hash : hash_) digits[hash.target] = hashed(digits[hash.target], hash, digits[hash.source]);
  const auto byte = [&](MapField field) {
    return static_cast<std::uint8_t>(digits[static_cast<std::size_t>(field)]);
  };
  return {.channel = 0,
          .row = digits[static_cast<std::size_t>(MapField::row)],
          .column = digits[static_cast<std::size_t>(MapField::column)],
          .pseudo = byte(MapField::pseudo),
          .rank = byte(MapField::rank),
          .group = byte(MapField::group),
          .bank = byte(MapField::bank)};
}

AddressMapping::Digits AddressMapping::unhash(const Place& place) const {
  Digits digits = {0, place.pseudo, place.rank, place.group, place.bank, place.row, place.column};
  for (auto hash = hash_.rbegin(); hash != hash_.rend(); ++hash)
    digits[hash->target] = unhashed(digits[hash->target], *hash, digits[hash->source]);
  return digits;
}

std::uint64_t AddressMapping::local_of(const Digits& digits) const {
  std::uint64_t local = 0, scale = 1;
  for (const Segment& segment : local_) {
    local += digits[segment.field] / segment.weight % segment.radix * scale;
    scale *= segment.radix;
  }
  return local * access_bytes_;
}

std::uint64_t AddressMapping::encode_local(const Place& place) const { return local_of(unhash(place)); }

std::uint32_t AddressMapping::channel_hash(std::uint32_t channel, std::uint64_t local, bool undo) const {
  if (channel_hash_.empty()) return channel;
  const Digits digits = digits_of(local);
  for (const Hash& hash : channel_hash_)
    channel =
        undo ? unhashed(channel, hash, digits[hash.source]) : hashed(channel, hash, digits[hash.source]);
  return channel;
}

ChannelAddress AddressMapping::split(std::uint64_t address) const {
  std::uint64_t rest = number(address);
  const std::uint64_t within = address - rest * access_bytes_;
  std::uint64_t channel = 0, local = 0;
  for (const Segment& segment : split_) {
    const std::uint64_t part = take(rest, segment) * segment.weight;
    (segment.field == channel_field ? channel : local) += part;
  }
  local = local * access_bytes_ + within;
  return {channel_hash(static_cast<std::uint32_t>(channel), local, false), local};
}

std::uint64_t AddressMapping::join(ChannelAddress address) const {
  const std::uint32_t channel = channel_hash(address.channel, address.local, true);
  const std::uint64_t local = number(address.local);
  std::uint64_t whole = 0, scale = 1;
  for (const Segment& segment : split_) {
    const std::uint64_t value = segment.field == channel_field ? channel : local;
    whole += value / segment.weight % segment.radix * scale;
    scale *= segment.radix;
  }
  return whole * access_bytes_ + (address.local - local * access_bytes_);
}

Place AddressMapping::decode(std::uint64_t address) const {
  const ChannelAddress where = split(address);
  Place place = decode_local(where.local);
  place.channel = where.channel;
  return place;
}

std::uint64_t AddressMapping::encode(const Place& place) const {
  return join({place.channel, encode_local(place)});
}

void AddressMapping::require(std::uint64_t address, const SourcePos& where) const {
  if (address < capacity()) return;
  throw Error(
      ExitCode::bad_input, "dram-address",
      Diagnostic{fmt::format("address {:#x} is beyond the memory of {:#x} bytes", address, capacity()),
                 where,
                 {},
                 "use more channels or ranks, or a technology with more rows"});
}

}  // namespace simtlab::memory::dram
